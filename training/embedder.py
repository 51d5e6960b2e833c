"""Writes all-MiniLM-L6-v2 (Apache-2.0) as it ships: 8 bits per weight, 6 per number of the word-piece table.

The pieces that hardly any paper of the corpora has are left out; what only they could write is cut into shorter ones.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.embed.minilm import HEADS, SIZE, Floats
from bot.embed.shipped import LAYERS
from bot.embed.wordpiece import LONGEST, WordPieces
from training.sources import Sources

FEWEST = 3  # papers that must have a piece: below, it is a name's or a typing error's

_WHOLE = 1024  # pieces; no abstract has more
_MARKS = frozenset({"[PAD]", "[UNK]", "[CLS]", "[SEP]"})
_TYPES: Mapping[str, Any] = {"F32": np.float32, "I64": np.int64}
_SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)  # of a row's highest number that its steps may reach to


def build(sources: Sources, target: Path) -> None:
    """Write the model."""
    weights = safetensors(sources.minilm("model.safetensors"))
    pieces = sources.minilm("vocab.txt").decode().splitlines()
    kept = kept_pieces(pieces, sources)
    arrays: dict[str, NDArray[Any]] = {"pieces": written([pieces[at] for at in kept])}
    steps, arrays["table_scales"] = stepped(weights["embeddings.word_embeddings.weight"][kept], 31)
    arrays["table"] = tightened(steps)
    # All texts are of one kind here, so its row is the same for every place.
    places = (
        weights["embeddings.position_embeddings.weight"][:LONGEST] + weights["embeddings.token_type_embeddings.weight"][0]
    )
    arrays["places"], arrays["places_scales"] = stepped(places, 127)
    arrays["norm"] = _norm(weights, "embeddings.LayerNorm")
    for at in range(LAYERS):
        arrays |= {f"{name}{at}": array for name, array in _layer(weights, f"encoder.layer.{at}").items()}
    np.savez(target, allow_pickle=False, **arrays)


def safetensors(raw: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file in the safetensors format: a length, a JSON header, the numbers."""
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + length])
    body = memoryview(raw)[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], _TYPES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def kept_pieces(pieces: Sequence[str], sources: Sources) -> list[int]:
    """Return the numbers of the marks, of all single characters, and of the pieces that enough papers have."""
    words = WordPieces(pieces)
    counts = np.zeros(len(pieces), np.int64)
    for paper in sources.papers():
        counts[np.unique(words.numbers(f"{paper['title']}. {paper['abstract']}", _WHOLE))] += 1
    # The papers are of computer science; these abstracts are of medicine (PubMedQA, MIT), and each of their pieces stays.
    for record in sources.quality("pubmedqa_l"):
        counts[words.numbers(" ".join(record["contexts"]), _WHOLE)] += FEWEST
    single = (at for at, piece in enumerate(pieces) if len(piece.removeprefix("##")) == 1 or piece in _MARKS)
    return sorted({*single, *np.flatnonzero(counts >= FEWEST).tolist()})


def written(pieces: Sequence[str]) -> NDArray[np.uint8]:
    """Return the pieces one a line."""
    return np.frombuffer("\n".join(pieces).encode(), np.uint8)


def stepped(rows: Floats, steps: int) -> tuple[NDArray[np.int8], Floats]:
    """Return each row in whole steps from -`steps` to `steps`, and the step that leaves the smallest squared error."""
    highest = np.abs(rows).max(axis=1)
    best, least = np.zeros(len(rows), np.float32), np.full(len(rows), np.inf)
    for share in _SHARES:
        scales = (highest * (share / steps)).astype(np.float32)
        made = _in_steps(rows, scales, steps) * scales[:, None]
        error = np.square(made - rows, dtype=np.float64).sum(axis=1)
        best, least = np.where(error < least, scales, best), np.minimum(error, least)
    return _in_steps(rows, best, steps), best


def tightened(steps: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return steps from -31 to 31 as bot.embed.shipped.loosened reads them: each four in three bytes."""
    first, second, third, fourth = np.moveaxis((steps + 32).astype(np.uint8).reshape(len(steps), -1, 4), 2, 0)
    tight = np.stack([first << 2 | second >> 4, (second & 15) << 4 | third >> 2, (third & 3) << 6 | fourth], axis=2)
    return tight.reshape(len(steps), -1)


def _in_steps(rows: Floats, scales: Floats, steps: int) -> NDArray[np.int8]:
    made = np.rint(rows / np.where(scales > 0, scales, 1)[:, None])
    return np.clip(made, -steps, steps).astype(np.int8)


def _norm(weights: Mapping[str, NDArray[Any]], name: str) -> Floats:
    return np.stack([weights[f"{name}.weight"], weights[f"{name}.bias"]])


def _layer(weights: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """Query, key and value stand in one; the query is divided by the root of a head's size once and for all."""
    asked = [f"{name}.attention.self.{each}" for each in ("query", "key", "value")]
    parts = [1 / np.sqrt(np.float32(SIZE // HEADS)), np.float32(1), np.float32(1)]
    linear = {
        "ask": tuple(
            np.concatenate([weights[f"{each}.{kind}"] * part for each, part in zip(asked, parts, strict=True)])
            for kind in ("weight", "bias")
        ),
        **{
            short: (weights[f"{name}.{long}.dense.weight"], weights[f"{name}.{long}.dense.bias"])
            for short, long in (("gather", "attention.output"), ("widen", "intermediate"), ("narrow", "output"))
        },
    }
    made: dict[str, NDArray[Any]] = {
        "norm_attention": _norm(weights, f"{name}.attention.output.LayerNorm"),
        "norm": _norm(weights, f"{name}.output.LayerNorm"),
    }
    for short, (weight, shift) in linear.items():
        made[short], made[f"{short}_scales"] = stepped(weight, 127)
        made[f"{short}_shift"] = shift
    return made
