"""The digest of the base image, from a registry on a real socket."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from release.pin_image import NotResolved, main, parts_of, pin, resolve

DIGEST = "sha256:" + "0123456789abcdef" * 4
LIST = "application/vnd.oci.image.index.v1+json"
SCOPE = "repository:library/python:pull"


@dataclass
class Registry:
    """What a registry answers, as Docker Hub does: a challenge, a token for it, the digest."""

    address: str = ""
    open: bool = False  # as a registry of one's own, without tokens
    challenge: str = 'Bearer realm="http://{address}/token",service="registry.test",scope="{scope}"'
    token: tuple[int, str] = (200, json.dumps({"token": "t0k3n", "expires_in": 300}))
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Docker-Content-Digest": DIGEST, "Content-Type": LIST})
    asked: list[str] = field(default_factory=list)

    @property
    def image(self) -> str:
        return f"{self.address}/library/python:3.13-slim"


@pytest.fixture
def registry() -> Iterator[Registry]:
    told = Registry()

    class Answers(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
            """Say nothing."""

        def do_HEAD(self) -> None:
            told.asked.append(f"HEAD {self.path}")
            if self.path != "/v2/library/python/manifests/3.13-slim":
                self._answer(404, {})
            elif not told.open and self.headers.get("Authorization") != "Bearer t0k3n":
                challenge = told.challenge.format(address=told.address, scope=SCOPE)
                self._answer(401, {"WWW-Authenticate": challenge} if challenge else {})
            else:
                assert LIST in self.headers["Accept"]
                self._answer(told.status, told.headers)

        def do_GET(self) -> None:
            told.asked.append(f"GET {self.path}")
            asked = parse_qs(urlsplit(self.path).query)
            right = asked == {"service": ["registry.test"], "scope": [SCOPE]} and "Authorization" not in self.headers
            status, body = told.token if right else (400, "")
            self._answer(status, {"Content-Type": "application/json"}, body)

        def _answer(self, status: int, headers: dict[str, str], body: str = "") -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        told.address = f"127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield told
        server.shutdown()
        thread.join()


@pytest.fixture
def dockerfile(registry: Registry, tmp_path: Path) -> Path:
    path = tmp_path / "Dockerfile"
    path.write_text(
        f"# Two stages.\nFROM {registry.image} AS build\nRUN true\n\nFROM {registry.image}\nRUN echo FROM here\n"
    )
    return path


def test_both_stages_get_the_digest_that_the_registry_gives_for_a_token(registry: Registry, dockerfile: Path) -> None:
    pinned = f"{registry.image}@{DIGEST}"

    assert pin(dockerfile) == DIGEST
    assert dockerfile.read_text() == (
        f"# Two stages.\nFROM {pinned} AS build\nRUN true\n\nFROM {pinned}\nRUN echo FROM here\n"
    )
    assert [line.partition("?")[0] for line in registry.asked] == [
        "HEAD /v2/library/python/manifests/3.13-slim",
        "GET /token",
        "HEAD /v2/library/python/manifests/3.13-slim",
    ]


def test_a_registry_without_tokens_and_one_that_names_them_otherwise_are_understood(registry: Registry) -> None:
    registry.token = (200, json.dumps({"access_token": "t0k3n"}))
    assert resolve(registry.image) == DIGEST
    registry.open = True
    assert resolve(registry.image) == DIGEST


def test_a_digest_that_stands_there_gives_way_to_that_of_today(registry: Registry, dockerfile: Path) -> None:
    pin(dockerfile)
    registry.headers["Docker-Content-Digest"] = later = "sha256:" + "f" * 64
    pin(dockerfile)

    assert dockerfile.read_text().count(f"{registry.image}@{later}") == 2
    assert DIGEST not in dockerfile.read_text()


def without(name: str) -> dict[str, str]:
    return {key: value for key, value in Registry().headers.items() if key != name}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"status": 404}, "HTTP 404"),
        ({"status": 429}, "HTTP 429"),
        ({"status": 307, "headers": {"Location": "http://127.0.0.1:9/"}}, "HTTP 307"),
        ({"headers": without("Docker-Content-Digest")}, "no digest"),
        ({"headers": {"Docker-Content-Digest": DIGEST[:-1], "Content-Type": LIST}}, "no digest"),
        ({"headers": {"Docker-Content-Digest": f"{DIGEST} AS build", "Content-Type": LIST}}, "no digest"),
        ({"headers": {"Docker-Content-Digest": "sha512:" + "0" * 128, "Content-Type": LIST}}, "no digest"),
        (
            {"headers": {"Docker-Content-Digest": DIGEST, "Content-Type": "application/vnd.oci.image.manifest.v1+json"}},
            "one system's image",
        ),
        ({"token": (503, "")}, "no token"),
        ({"token": (200, "not JSON")}, "no token"),
        ({"token": (200, "[]")}, "no token"),
        ({"token": (200, '{"token": "another"}')}, "HTTP 401"),
        ({"challenge": ""}, "not understood"),
        ({"challenge": 'Basic realm="registry"'}, "not understood"),
        ({"challenge": 'Bearer realm="file:///etc/passwd"'}, "not understood"),
    ],
)
def test_what_was_not_resolved_is_told_and_never_written(
    registry: Registry, dockerfile: Path, wrong: dict[str, object], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = dockerfile.read_text()
    for name, value in wrong.items():
        setattr(registry, name, value)

    assert main(dockerfile) == 1
    assert dockerfile.read_text() == before
    out, err = capsys.readouterr()
    assert (out, told in err, err.endswith("is left as it was.\n")) == ("", True, True), err


@pytest.mark.parametrize(
    "lines", [(), ("FROM a:1", "FROM b:1"), ("FROM a:1", "FROM --platform=linux/amd64 a:1"), ("FROM a",)]
)
def test_a_dockerfile_of_another_form_is_left_as_it_was(tmp_path: Path, lines: tuple[str, ...]) -> None:
    path = tmp_path / "Dockerfile"
    path.write_text("\n".join(lines))
    with pytest.raises(NotResolved, match=r"one image|no tag"):
        pin(path)
    assert path.read_text() == "\n".join(lines)


def test_where_nobody_answers_it_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "Dockerfile"
    path.write_text("FROM 127.0.0.1:9/python:3\n")

    assert main(path) == 1
    assert "127.0.0.1:9 cannot be asked for 127.0.0.1:9/python:3" in capsys.readouterr().err
    assert main(tmp_path / "missing") == 1
    assert path.read_text() == "FROM 127.0.0.1:9/python:3\n"


@pytest.mark.parametrize("image", ["[::1:x/y:1", "xn--.com/a:b"])
def test_what_is_no_address_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path, image: str) -> None:
    path = tmp_path / "Dockerfile"
    path.write_text(f"FROM {image}\n")

    assert main(path) == 1
    assert f"cannot be asked for {image}" in capsys.readouterr().err


def test_an_image_without_a_registry_is_docker_hubs() -> None:
    assert parts_of("python:3.13-slim") == ("registry-1.docker.io", "library/python", "3.13-slim")
    assert parts_of("grafana/k6:1") == ("registry-1.docker.io", "grafana/k6", "1")
    assert parts_of("ghcr.io/a/b:1") == ("ghcr.io", "a/b", "1")
