"""A sentence transformer's forward pass in numpy: all-MiniLM-L6-v2, six layers of 384 numbers per piece.

The architecture is BERT's (Devlin et al., arXiv:1810.04805), the mean over the pieces and the length of 1 are those of
sentence-transformers (Reimers and Gurevych, arXiv:1908.10084). The texts of a batch stand behind each other without
padding; only the attention looks at each by itself, so that a text's vector does not depend on its neighbours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bot.embed.wordpiece import WordPieces

Floats = NDArray[np.float32]

SIZE = 384
HEADS = 12
BATCH = 1024  # pieces that go through the layers together: enough to keep the processor busy, few enough for its cache

_NARROW = SIZE // HEADS
_EPSILON = np.float32(1e-12)  # of the layer norm, as the model's configuration has it


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer norm's scale and shift."""

    scale: Floats
    shift: Floats


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights as (in, out), and what is added."""

    weights: Floats
    shift: Floats

    def __call__(self, rows: Floats) -> Floats:
        """Return the rows, multiplied and shifted."""
        made: Floats = rows @ self.weights
        made += self.shift
        return made


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: `ask` gives query, key and value behind each other, the query divided by the root of a head's size."""

    ask: Linear
    gather: Linear
    after_attention: Norm
    widen: Linear
    narrow: Linear
    after: Norm


@dataclass(frozen=True, slots=True)
class MiniLm:
    """The model, ready to use: `table` has a row per piece in steps of 8 bits, `scales` what to multiply each with."""

    words: WordPieces
    table: NDArray[np.int8]
    scales: Floats
    places: Floats
    first: Norm
    layers: tuple[Layer, ...]

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return a row of length 1 per text; one without a word gets zeros."""
        numbers = [self.words.numbers(text) for text in texts]
        made = np.zeros((len(texts), SIZE), np.float32)
        order = [at for at in sorted(range(len(texts)), key=lambda at: len(numbers[at])) if len(numbers[at]) > 2]
        for batch in _batches(order, numbers):
            made[batch] = self.forward([numbers[at] for at in batch])
        return made

    def forward(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Return a row of length 1 per text of pieces, all read together."""
        lengths = [len(text) for text in texts]
        ends = np.cumsum([0, *lengths])
        flat = np.concatenate([np.asarray(text) for text in texts])
        rows: Floats = self.table[flat] * self.scales[flat, None]
        rows += np.concatenate([self.places[:length] for length in lengths])
        normed(rows, self.first)
        for layer in self.layers:
            rows = _through(layer, rows, ends)
        return unit(np.stack([rows[start:end].mean(axis=0) for start, end in pairwise(ends)]))


def unit(rows: Floats) -> Floats:
    """Return the rows with length 1; zeros stay zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    made: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return made


def normed(rows: Floats, norm: Norm) -> None:
    """Give each row the mean 0 and the variance 1, then scale and shift it; in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
    rows *= 1 / np.sqrt(variance + _EPSILON)
    rows *= norm.scale
    rows += norm.shift


def _batches(order: Sequence[int], numbers: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    batch: list[int] = []
    pieces = 0
    for at in order:
        if batch and pieces + len(numbers[at]) > BATCH:
            yield batch
            batch, pieces = [], 0
        batch.append(at)
        pieces += len(numbers[at])
    if batch:
        yield batch


def _through(layer: Layer, rows: Floats, ends: NDArray[np.int64]) -> Floats:
    made = layer.gather(_attended(layer.ask(rows), ends))
    made += rows
    normed(made, layer.after_attention)
    wide = layer.widen(made)
    _gelu(wide)
    deep = layer.narrow(wide)
    deep += made
    normed(deep, layer.after)
    return deep


def _attended(asked: Floats, ends: NDArray[np.int64]) -> Floats:
    made = np.empty((len(asked), SIZE), np.float32)
    for start, end in pairwise(ends):
        # Query, key and value; heads; pieces; numbers.
        parts = asked[start:end].reshape(end - start, 3, HEADS, _NARROW).transpose(1, 2, 0, 3)
        near = np.matmul(parts[0], parts[1].transpose(0, 2, 1))
        near -= near.max(axis=2, keepdims=True)
        np.exp(near, out=near)
        near /= near.sum(axis=2, keepdims=True)
        made[start:end] = np.matmul(near, parts[2]).transpose(1, 0, 2).reshape(end - start, SIZE)
    return made


def _gelu(wide: Floats) -> None:
    """Multiply each by the normal distribution's share below it, in the tanh form of Hendrycks and Gimpel, 2016."""
    inner = wide * wide
    inner *= np.float32(0.044715 * sqrt(2 / np.pi))
    inner += np.float32(sqrt(2 / np.pi))
    inner *= wide
    np.tanh(inner, out=inner)
    inner += 1
    inner *= np.float32(0.5)
    wide *= inner
