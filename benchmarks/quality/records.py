"""The judged files of a folder: gzipped JSON lines, named SET[.PART].jsonl.gz."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]

_ENDING = ".jsonl.gz"
_PARTS = ("train", "dev", "val", "validation", "test")
_HALVES = ("", *(f".{part}" for part in _PARTS))
_SPLIT = ("csabstruct", "csabstracts", "pubmedqa_l", "aclsum", "scholar_inbox_highlights", "scitldr_a")
SEARCHED = ("scifact", "cacm", "cranfield")
KNOWN = frozenset(
    [
        *(f"{name}{half}" for name in _SPLIT for half in _HALVES),
        *(f"{name}.{part}" for name in SEARCHED for part in ("corpus", "queries", *_PARTS)),
        *(f"csfcube.{part}" for part in ("corpus", "anns")),
        *(f"goldstandard.{part}" for part in ("papers", "profiles", "ratings")),
    ]
)
_SCREENED = "slr."  # what follows names the review


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of judged files."""

    path: Path

    def names(self) -> list[str]:
        """Return the names of its packed files, without their ending."""
        return sorted(path.name.removesuffix(_ENDING) for path in self.path.glob(f"*{_ENDING}"))

    def unknown(self) -> list[str]:
        """Return the names of those that nothing here evaluates."""
        return [name for name in self.names() if name not in KNOWN and not name.startswith(_SCREENED)]

    def has(self, *names: str) -> bool:
        """Say whether all of these are there."""
        return set(names) <= set(self.names())

    def parts(self, name: str) -> list[str]:
        """Return the files of a set: `scitldr_a.dev`, `scitldr_a.test`."""
        return [each for each in self.names() if each in KNOWN and each.partition(".")[0] == name]

    def screened(self) -> list[str]:
        """Return the screening sets."""
        return [name for name in self.names() if name.startswith(_SCREENED)]

    def records(self, name: str) -> list[Record]:
        """Return the records of a file."""
        return list(self._lines(name))

    def all(self, names: Sequence[str]) -> list[Record]:
        """Return the records of several files, one after the other."""
        return [record for name in names for record in self._lines(name)]

    def _lines(self, name: str) -> Iterator[Record]:
        with gzip.open(self.path / f"{name}{_ENDING}", "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


def of_test(name: str) -> bool:
    """Say whether a file is a test half: nothing that ships was trained on one."""
    return name.endswith(".test")
