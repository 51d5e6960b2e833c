"""The bill of materials of a wheel."""

import json
import zipfile
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from release.sbom import LOCK, bill_of_materials, locked_packages, main

AT = datetime(2026, 4, 1, 7, tzinfo=UTC)
TEXT = LOCK.read_text(encoding="utf-8")
PACKAGES = {package.name: package for package in locked_packages(TEXT)}


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "broadsheet-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bot/__init__.py", "")
    return path


@pytest.fixture
def bill(wheel: Path) -> dict[str, Any]:
    return dict(json.loads(bill_of_materials(wheel, TEXT, AT)))


def test_it_lists_exactly_what_is_locked_with_versions_and_the_hashes_of_every_file(bill: dict[str, Any]) -> None:
    listed = {
        each["name"]: (
            each["version"],
            each["purl"],
            [found["content"] for found in each["externalReferences"][0]["hashes"]],
        )
        for each in bill["components"]
    }
    assert {name: (version, purl, sorted(hashes)) for name, (version, purl, hashes) in listed.items()} == {
        name: (each.version, f"pkg:pypi/{name}@{each.version}", sorted(each.hashes)) for name, each in PACKAGES.items()
    }
    assert len(bill["components"]) == len(PACKAGES) > 40


def test_it_is_what_the_official_schema_describes(bill: dict[str, Any]) -> None:
    folder = files("cyclonedx.schema") / "_res"
    names = [f"{name}.SNAPSHOT.schema.json" for name in ("bom-1.6", "spdx", "jsf-0.82")]
    schemas = {f"http://cyclonedx.org/schema/{name}": json.loads((folder / name).read_text("utf-8")) for name in names}
    retrieve = schemas.__getitem__  # nothing is fetched
    validator = jsonschema_rs.validator_for(schemas[f"http://cyclonedx.org/schema/{names[0]}"], retriever=retrieve)

    assert [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(bill)] == []
    assert not validator.is_valid(bill | {"components": [{"type": "library"}]})


def test_the_same_wheel_and_lock_give_the_same_bytes_and_another_wheel_others(wheel: Path) -> None:
    first = bill_of_materials(wheel, TEXT, AT)
    assert bill_of_materials(wheel, TEXT, AT) == first
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("adapters/__init__.py", "")
    other = json.loads(bill_of_materials(wheel, TEXT, AT))
    assert other["serialNumber"] != json.loads(first)["serialNumber"]
    assert other["metadata"]["component"]["hashes"] != json.loads(first)["metadata"]["component"]["hashes"]


def test_it_says_whose_it_is_who_needs_whom_and_what_licences_are_known(bill: dict[str, Any]) -> None:
    needed = {each["ref"]: set(each.get("dependsOn", ())) for each in bill["dependencies"]}
    licences = {each["name"]: each.get("licenses") for each in bill["components"]}

    assert (bill["metadata"]["component"]["name"], bill["metadata"]["component"]["version"]) == ("broadsheet", "1.2.3")
    assert bill["metadata"]["timestamp"] == "2026-04-01T07:00:00+00:00"
    assert f"aiohttp=={PACKAGES['aiohttp'].version}" in needed["broadsheet"]
    assert f"yarl=={PACKAGES['yarl'].version}" in needed[f"aiohttp=={PACKAGES['aiohttp'].version}"]
    assert licences["httpx"] == [{"license": {"id": "BSD-3-Clause"}}]
    # What another Python needs is not installed here.
    assert [name for name, known in licences.items() if not known and name != "audioop-lts"] == []


def test_it_is_written_beside_the_wheel_of_the_time_that_the_build_is_given(
    wheel: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1775026800")
    main(wheel.parent)
    written = json.loads((wheel.parent / "broadsheet-1.2.3.cdx.json").read_text(encoding="utf-8"))

    assert written["metadata"]["timestamp"] == "2026-04-01T07:00:00+00:00"
    assert capsys.readouterr().out.endswith("broadsheet-1.2.3.cdx.json\n")
