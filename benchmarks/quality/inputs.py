"""What a run reads, and what the models that ship were trained on."""

import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.quality.embedding import Embedding
from benchmarks.quality.records import Folder, Record

FOLDS = 5
UNSEEN = "as shipped"
CROSSED = f"cross-validated, {FOLDS} folds"

_ROOT = Path(__file__).parents[2]
MARKED = Path(__file__).parent / "marked"
HALVES = ("development", "further", "aside", "fresh")  # files of that folder; nothing is chosen by the last two


@dataclass(frozen=True, slots=True)
class Inputs:
    """The folder of judged files and what else there is: None is what was not given."""

    folder: Folder
    embedding: Embedding | None = None
    cache: Path | None = None
    corpus: Path | None = None
    hf: Path | None = None
    days: int = 12
    marked: Path = MARKED
    half: str = "development"

    def cross_validated(self, trainer: str, records: Sequence[Record]) -> list[Any]:
        """Return what `training.<trainer>.cross_validated` says of each record by a model that was trained on other records.

        What was found is kept in the cache as long as no code of it changes.
        """
        found = importlib.import_module(f"training.{trainer}").cross_validated
        return self._kept(trainer, records, lambda: [_plain(each) for each in found(records, folds=FOLDS)])

    def _kept(self, name: str, records: Sequence[Record], make: Callable[[], list[Any]]) -> list[Any]:
        if self.cache is None:
            return make()
        digest = sha256(json.dumps(records).encode())
        for path in sorted([*(_ROOT / "training").glob("*.py"), *(_ROOT / "bot" / "summarise").rglob("*.py")]):
            digest.update(path.read_bytes())
        path = self.cache / f"{name}-{digest.hexdigest()[:20]}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(make()), encoding="utf-8")
        return list(json.loads(path.read_text(encoding="utf-8")))


def _plain(value: Any) -> Any:
    """A number, or an array as lists."""
    return value.tolist() if hasattr(value, "tolist") else value
