"""`make pin-image`: write into the Dockerfile which image its tag names now, by the digest that the registry gives.

The registry is asked as a client of OCI images asks it: https://distribution.github.io/distribution/spec/api/ and
https://distribution.github.io/distribution/spec/auth/token/, without an account.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from bot.atomic_file import write_whole

# An image for several systems is a list of them; the digest of one system's alone would break every other build.
_LISTS = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
_FROM = re.compile(
    r"^(?P<head>FROM\s+)(?P<image>[^\s@]+)(?:@\S+)?(?P<tail>(?:\s+AS\s+\S+)?)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_PATIENCE = 30.0  # seconds for each answer


class NotResolved(Exception):  # noqa: N818 - the name says what happened
    """Why there is no digest to be written."""


def pin(dockerfile: Path) -> str:
    """Write the digest behind the image of every stage and return it; raises NotResolved, and leaves the file as it was."""
    text = dockerfile.read_text(encoding="utf-8")
    images = {found["image"] for found in _FROM.finditer(text)}
    if len(images) != 1 or len(_FROM.findall(text)) != len(re.findall(r"^FROM\b", text, re.MULTILINE | re.IGNORECASE)):
        raise NotResolved(f"{dockerfile} has not one image for all its stages, but: {', '.join(sorted(images)) or 'none'}")
    digest = resolve(*images)
    write_whole(dockerfile, _FROM.sub(rf"\g<head>\g<image>@{digest}\g<tail>", text), mode=0o666)
    return digest


def resolve(image: str) -> str:
    """Return the digest that the registry gives for the image, as "python:3.13-slim"; raises NotResolved."""
    host, repository, tag = parts_of(image)
    scheme = "http" if host.startswith(("127.0.0.1:", "localhost:")) else "https"
    address = f"{scheme}://{host}/v2/{repository}/manifests/{tag}"
    headers = {"Accept": ", ".join(_LISTS)}
    try:
        with httpx.Client(timeout=_PATIENCE) as client:
            answer = client.head(address, headers=headers)
            if answer.status_code == httpx.codes.UNAUTHORIZED:
                token = _token(client, answer.headers, scheme)
                answer = client.head(address, headers=headers | {"Authorization": f"Bearer {token}"})
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise NotResolved(f"{host} cannot be asked for {image}: {str(error) or type(error).__name__}") from error
    return _digest(answer, image, host)


def parts_of(image: str) -> tuple[str, str, str]:
    """Return registry, repository and tag; Docker Hub's where no registry is named."""
    first, _, rest = image.partition("/")
    has_host = bool(rest) and (first == "localhost" or "." in first or ":" in first)
    host, path = (first, rest) if has_host else ("registry-1.docker.io", image)
    repository, _, tag = path.partition(":")
    if not tag:
        raise NotResolved(f"{image} names no tag")
    return host, repository if has_host or "/" in repository else f"library/{repository}", tag


def _token(client: httpx.Client, headers: Mapping[str, str], scheme: str) -> str:
    """Fetch a token for what the registry's challenge asks for."""
    challenge = headers.get("WWW-Authenticate", "")
    asked = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    realm = asked.pop("realm", "")
    if not challenge.lower().startswith("bearer ") or not realm.startswith(f"{scheme}://"):
        raise NotResolved(f"the registry asks for what is not understood: {challenge!r}")
    answer = client.get(realm, params={name: asked[name] for name in ("service", "scope") if name in asked})
    try:
        told = answer.json() if answer.status_code == httpx.codes.OK else {}
        token = str(told.get("token") or told.get("access_token") or "")
    except (ValueError, AttributeError):
        token = ""
    if not token:
        raise NotResolved(f"{realm} gave no token: HTTP {answer.status_code}")
    return token


def _digest(answer: httpx.Response, image: str, host: str) -> str:
    if answer.status_code != httpx.codes.OK:
        raise NotResolved(f"{host} answered HTTP {answer.status_code} for {image}")
    if answer.headers.get("Content-Type", "").partition(";")[0].strip() not in _LISTS:
        raise NotResolved(f"{host} gave one system's image for {image}, not the list of all")
    digest: str = answer.headers.get("Docker-Content-Digest", "")
    if not _DIGEST.fullmatch(digest):
        raise NotResolved(f"{host} gave no digest for {image}, but {digest!r}")
    return digest


def main(dockerfile: Path) -> int:
    """Pin the image of the Dockerfile and say so; return the exit status."""
    try:
        print(f"{dockerfile} names {pin(dockerfile)} now")
    except (NotResolved, OSError) as error:
        print(f"{error}; {dockerfile} is left as it was.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
