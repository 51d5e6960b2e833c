"""Fits the small table to what the transformer says of titles, sentences and abstracts of the corpora (arXiv, CC0).

Each piece starts from the transformer's vector of that piece alone; ridge regression towards there, by conjugate gradients,
makes the weighted sum of a text's pieces land where the transformer puts the text. Then as few directions are kept as fit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.embed.minilm import SIZE, Floats, MiniLm
from bot.embed.shipped import minilm_of, weighted
from training.embedder import stepped, tightened
from training.sources import Sources

# One of so many papers gives its title, a sentence, its whole abstract: about as much reading for each.
TITLES, SENTENCES, ABSTRACTS = 10, 25, 200
KEPT = 200  # directions of 384
PENALTY = 1.0  # in texts: what holds a piece where it started
ROUNDS = 10

_CHUNK = 512  # texts that are read, and kept, together


def build(sources: Sources, target: Path) -> None:
    """Write the table; the transformer is read from beside it."""
    with np.load(target.parent / "minilm.npz", allow_pickle=False) as file:
        model, pieces = minilm_of(file), file["pieces"]
    texts = list(chosen(sources.papers()))
    wanted = read(model, texts, sources.cache)
    counts = Counts([model.words.numbers(text)[1:-1] for text in texts], len(model.table))
    centre = wanted.mean(axis=0, dtype=np.float64).astype(np.float32)
    fitted = fit(counts, wanted - centre, started(model, counts))
    rows, turn = narrowed(fitted, counts.often)
    steps, scales = stepped(rows, 31)
    np.savez(
        target,
        allow_pickle=False,
        pieces=pieces,
        rows=tightened(steps),
        scales=scales,
        turn=turn.astype(np.float16),
        centre=centre,
    )


def chosen(papers: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what the table learns from."""
    for at, paper in enumerate(papers):
        title, abstract = " ".join(paper["title"].split()), " ".join(paper["abstract"].split())
        if at % TITLES == 0:
            yield title
        if at % SENTENCES == 0:
            sentences = abstract.split(". ")
            yield sentences[(at // SENTENCES) % len(sentences)]
        if at % ABSTRACTS == 0:
            yield f"{title}. {abstract}"


def read(model: MiniLm, texts: Sequence[str], cache: Path | None) -> Floats:
    """Return the transformer's vectors; with a folder `cache`, those that were read before are taken from there."""
    name = sha256(model.table.tobytes() + model.layers[0].ask.weights.tobytes()).hexdigest()[:12]
    # By length first: texts of one length go through the layers in full batches.
    order = sorted(range(len(texts)), key=lambda at: (len(texts[at]) // 64, at))
    made = np.zeros((len(texts), SIZE), np.float32)
    for start in range(0, len(order), _CHUNK):
        chunk = order[start : start + _CHUNK]
        made[chunk] = _kept(model, [texts[at] for at in chunk], cache and cache / f"vectors-{name}")
    return made


def _kept(model: MiniLm, texts: Sequence[str], folder: Path | None) -> Floats:
    if folder is None:
        return model.encode(texts)
    path = folder / f"{sha256(chr(0).join(texts).encode()).hexdigest()[:24]}.npy"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, model.encode(texts))
    kept: Floats = np.load(path, allow_pickle=False)
    return kept


@dataclass(frozen=True, slots=True)
class _Rows:
    """A sparse matrix by its rows: `starts` of each row that has any, in `columns` and `values`."""

    there: NDArray[np.int64]
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Floats
    height: int

    def times(self, dense: Floats) -> Floats:
        """Return the product."""
        made = np.zeros((self.height, dense.shape[1]), np.float32)
        for row, start, end in zip(self.there, self.starts, [*self.starts[1:], len(self.columns)], strict=True):
            made[row] = self.values[start:end] @ dense[self.columns[start:end]]
        return made


class Counts:
    """Which pieces each text has, weighted, each text's row of length 1."""

    def __init__(self, texts: Sequence[Sequence[int]], pieces: int) -> None:
        each = [weighted(text) for text in texts]
        texts_of = np.repeat(np.arange(len(texts)), [len(which) for which, _ in each])
        pieces_of = np.concatenate([which for which, _ in each])
        values = np.concatenate([weights for _, weights in each])
        self.often: NDArray[np.int64] = np.bincount(pieces_of, minlength=pieces)
        self.by_text = _sparse(texts_of, pieces_of, values, len(texts))
        turned = np.argsort(pieces_of, kind="stable")
        self.by_piece = _sparse(pieces_of[turned], texts_of[turned], values[turned], pieces)


def _sparse(rows: NDArray[np.int64], columns: NDArray[np.int64], values: Floats, height: int) -> _Rows:
    there, starts = np.unique(rows, return_index=True)
    return _Rows(there, starts, columns, values, height)


def started(model: MiniLm, counts: Counts) -> Floats:
    """Return the transformer's vector of each piece alone, the common ones weaker (Arora et al., 2017)."""
    first, last = model.words.numbers("")
    alone = np.concatenate(
        [
            model.forward([[first, piece, last] for piece in range(some, min(some + _CHUNK, len(model.table)))])
            for some in range(0, len(model.table), _CHUNK)
        ]
    )
    share = counts.often / counts.often.sum()
    made: Floats = (alone - share.astype(np.float32) @ alone) * (1e-3 / (1e-3 + share))[:, None].astype(np.float32)
    return made


def fit(counts: Counts, wanted: Floats, start: Floats) -> Floats:
    """Return the table that gives the texts their vectors best, `PENALTY` holding it to `start` (Hestenes and Stiefel)."""
    guess = counts.by_text.times(start)
    start = start * np.float32((guess * wanted).sum() / np.square(guess).sum())
    table = start.copy()
    rest = counts.by_piece.times(wanted - counts.by_text.times(table))
    step = rest.copy()
    power = _sums(rest)
    for _ in range(ROUNDS):
        image = counts.by_piece.times(counts.by_text.times(step)) + np.float32(PENALTY) * step
        length = power / np.maximum(np.einsum("ij,ij->j", step, image, dtype=np.float64), 1e-30)
        table += step * length.astype(np.float32)
        rest -= image * length.astype(np.float32)
        power, before = _sums(rest), power
        step = rest + step * (power / np.maximum(before, 1e-30)).astype(np.float32)
    return table


def _sums(rows: Floats) -> NDArray[np.float64]:
    made: NDArray[np.float64] = np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
    return made


def narrowed(table: Floats, often: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the table in its `KEPT` strongest directions, common pieces counting more, and what turns it back."""
    weighted = table.astype(np.float64) * np.sqrt(often + 1.0)[:, None]
    _, directions = np.linalg.eigh(weighted.T @ weighted)
    turn = directions[:, ::-1][:, :KEPT].T
    return (table @ turn.T).astype(np.float32), turn.astype(np.float32)
