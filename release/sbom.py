"""The bill of materials of a wheel, as CycloneDX 1.6 (https://cyclonedx.org): the packages of requirements.lock.

The same wheel and the same environment give the same bytes. Licences are those that installed packages declare: of a package
that this Python or system does not need, none is known.
"""

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

NAME = "broadsheet"
LOCK = Path(__file__).parents[1] / "requirements.lock"
_PACKAGE = re.compile(
    r"^(?P<requirement>[A-Za-z0-9][^#\\\n]*?)(?P<hashes>(?: \\\n +--hash=\S+)*)\n(?P<why>(?: +#.*\n?)*)", re.MULTILINE
)
_EPOCH = 1580601600  # that of hatchling where SOURCE_DATE_EPOCH is not set: 2 February 2020
_TOLD_BY_FILE = {"resvg-py": "MIT"}  # what packages are under that declare nothing, by the licence that they bring
_LONGEST = 80  # a longer text in a package's field License is the licence itself, not its name


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package of a lock: its version, when it is needed, the SHA-256 of each of its files, and who needs it."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    required_by: tuple[str, ...]


def locked_packages(text: str) -> Iterator[LockedPackage]:
    """Yield the packages of a lock as `make lock` writes it; raises ValueError where one has no single version."""
    for found in _PACKAGE.finditer(text):
        requirement = Requirement(found["requirement"])
        [version] = list(requirement.specifier)
        if version.operator != "==":
            raise ValueError(f"{requirement} has no single version")
        yield LockedPackage(
            name=canonicalize_name(requirement.name),
            version=version.version,
            marker=str(requirement.marker or ""),
            hashes=tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", found["hashes"])),
            required_by=tuple(re.findall(r"# +(?:via )?([a-z0-9][a-z0-9-]*)", found["why"].replace("# via\n", ""))),
        )


def bill_of_materials(wheel: Path, lock: str, made_at: datetime) -> str:
    """Return the bill of materials of a wheel that is installed with what the lock says, as JSON; raises OSError."""
    content = hashlib.sha256(wheel.read_bytes()).hexdigest()
    root = Component(
        name=NAME,
        version=str(parse_wheel_filename(wheel.name)[1]),
        type=ComponentType.APPLICATION,
        bom_ref=NAME,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=content)],
        licenses=[LicenseFactory().make_from_string("Apache-2.0")],
    )
    packages = {package.name: package for package in locked_packages(lock)}
    components = {name: _component(package) for name, package in packages.items()}
    serial = uuid5(NAMESPACE_URL, f"{content} {hashlib.sha256(lock.encode()).hexdigest()}")
    bom = Bom(serial_number=serial, metadata=BomMetaData(component=root, timestamp=made_at), components=components.values())
    for needing in (root, *components.values()):
        bom.register_dependency(needing, [components[name] for name in _needed_by(needing.name, packages.values())])
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _needed_by(name: str, packages: Iterable[LockedPackage]) -> list[str]:
    return [package.name for package in packages if name in package.required_by]


def _component(package: LockedPackage) -> Component:
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=each) for each in package.hashes]
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{package.name}=={package.version}",
        purl=PackageURL("pypi", name=package.name, version=package.version),
        licenses=[*_licences(package.name)],
        properties=[Property(name="broadsheet:marker", value=package.marker)] if package.marker else [],
        # One for each file that may be installed: a hash of the component itself would be of one file alone.
        external_references=[
            ExternalReference(
                type=ExternalReferenceType.DISTRIBUTION,
                url=XsUri(f"https://pypi.org/project/{package.name}/{package.version}/#files"),
                hashes=hashes,
            )
        ],
    )


def _licences(name: str) -> Iterator[License]:
    """Yield the licence that the installed package declares: by its expression, its field, or else its classifiers."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return
    short = next((text for name in ("License-Expression", "License") for text in told.get_all(name) or ()), "")
    if 0 < len(short) <= _LONGEST and "\n" not in short:
        yield LicenseFactory().make_from_string(short)
        return
    if name in _TOLD_BY_FILE:
        yield LicenseFactory().make_from_string(_TOLD_BY_FILE[name])
    for classifier in told.get_all("Classifier") or ():
        if classifier.startswith("License :: ") and not classifier.endswith(":: OSI Approved"):
            yield LicenseFactory().make_with_name(classifier.rpartition(" :: ")[2])


def main(folder: Path) -> None:
    """Write the bill of materials beside the wheel in the folder, and print where."""
    [wheel] = folder.glob("*.whl")
    made_at = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or _EPOCH), UTC)
    path = folder / f"{NAME}-{parse_wheel_filename(wheel.name)[1]}.cdx.json"
    path.write_text(bill_of_materials(wheel, LOCK.read_text(encoding="utf-8"), made_at), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
