"""What is installed is locked: each package with one version and the hashes of its files, from the public index."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.sbom import LockedPackage, locked_packages

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = tuple(f"requirements{each}.lock" for each in ("", "-mcp", "-search", "-postgres", "-build", "-dev"))


def text_of(lock: str) -> str:
    return (ROOT / lock).read_text(encoding="utf-8")


def packages_of(lock: str) -> dict[str, LockedPackage]:
    return {package.name: package for package in locked_packages(text_of(lock))}


def asked_for(lock: str) -> list[Requirement]:
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    extras = project["optional-dependencies"]
    build = [*PROJECT["build-system"]["requires"], *groups["build"]]
    texts = {
        "requirements.lock": project["dependencies"],
        **{f"requirements-{name}.lock": [*project["dependencies"], *extra] for name, extra in extras.items()},
        "requirements-build.lock": build,
        "requirements-dev.lock": [
            *project["dependencies"],
            *build,
            *(each for each in groups["dev"] if isinstance(each, str)),
        ],
    }
    return [Requirement(text) for text in texts[lock]]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_packages_with_hashes_and_nothing_else(lock: str) -> None:
    lines = [line.rstrip(" \\") for line in text_of(lock).splitlines() if not line.lstrip().startswith("#")]
    allowed = r"|    --hash=sha256:[0-9a-f]{64}|[a-z0-9-]+==[\w.]+( ; [\w' .=!<>()]+)?|--only-binary :all:"
    packages = list(locked_packages(text_of(lock)))

    assert [line for line in lines if not re.fullmatch(allowed, line)] == []
    assert (
        len(packages)
        == len({package.name for package in packages})
        == sum("==" in line.partition(" ;")[0] for line in lines)
    )
    assert sum(len(package.hashes) for package in packages) == sum("--hash" in line for line in lines)
    assert [package.name for package in packages if not package.hashes] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_what_the_project_asks_for_is_locked_within_what_it_allows(lock: str) -> None:
    packages, asked = packages_of(lock), asked_for(lock)

    assert len(asked) >= 3
    for requirement in asked:
        assert requirement.specifier.contains(packages[canonicalize_name(requirement.name)].version), requirement


@pytest.mark.parametrize("lock", LOCKS)
def test_what_a_locked_package_needs_here_is_locked_too(lock: str) -> None:
    packages = packages_of(lock)
    for name in packages:
        try:
            needed = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:  # for another Python or system
            continue
        for each in needed:
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                assert each.specifier.contains(packages[canonicalize_name(each.name)].version, prereleases=True), (
                    name,
                    each,
                )


def test_every_lock_says_the_same_version_of_a_package() -> None:
    whole = {name: (package.version, package.hashes) for name, package in packages_of("requirements-dev.lock").items()}
    for lock in ("requirements.lock", "requirements-mcp.lock", "requirements-build.lock"):
        assert {name: (each.version, each.hashes) for name, each in packages_of(lock).items()}.items() <= whole.items()


def test_whoever_is_told_why_a_package_is_locked_finds_who_needs_it() -> None:
    packages = packages_of("requirements.lock")

    assert packages["audioop-lts"].marker == 'python_full_version >= "3.13"'
    assert packages["aiosignal"].required_by == ("aiohttp",)
    assert {"broadsheet", "discord-py"} <= set(packages["aiohttp"].required_by)
    assert {name for each in packages.values() for name in each.required_by} <= {*packages, "broadsheet"}
    assert [name for name, each in packages.items() if not each.required_by] == []


@pytest.mark.parametrize("text", ["a\n", "a>=1\n", "a>=1,<2\n"])
def test_a_package_without_one_version_is_no_locked_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"single version|unpack"):
        list(locked_packages(text))


@pytest.mark.parametrize("file", ["Dockerfile", "Makefile", ".ci/run"])
def test_nothing_is_installed_but_by_its_hash_or_what_was_built_here(file: str) -> None:
    lines = [
        line.strip()
        for line in text_of(file).splitlines()
        if re.search(r"\bpip\b.*\b(install|wheel|download) |PIP\) ", line) and not line.startswith(("#", "PIP"))
    ]
    # uv alone is by its version, as it writes the hashes; what is tried before it is locked goes into a folder of its own.
    held = r"--require-hashes|\$\(LOCKED\)|--no-deps|\$\(UV\)|^@\$\(NEWEST\)/bin/\S+ -m pip .* \$\(NEWEST_LIBRARIES\)$"

    assert len(lines) >= 2
    assert [line for line in lines if not re.search(held, line)] == []


def test_the_container_finds_what_it_copies_and_both_its_stages_are_of_one_image() -> None:
    ignored, dockerfile = text_of(".dockerignore").splitlines(), text_of("Dockerfile")
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE) for name in line.split()]
    images = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)

    assert len(copied) >= 8
    assert [name for name in copied if f"!{name}" not in ignored or not (ROOT / name).exists()] == []
    assert (len(images), len(set(images))) == (2, 1)
    assert re.fullmatch(r"python:[\w.-]+(@sha256:[0-9a-f]{64})?", images[0])
