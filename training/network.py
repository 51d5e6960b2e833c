"""Teaches the network of `bot.summarise.choice.roles` by gradient descent, with numpy alone.

What is made small is the negative logarithm of the labels' likelihood under the chain; weights go by Adam (Kingma and Ba,
2015), and parts of what each layer sees are left out at random (dropout: Srivastava et al., 2014).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bot.summarise.choice.roles import (
    PADDING,
    POSITION_FEATURES,
    Floats,
    Indices,
    Matrix,
    Network,
    position_features,
    word_indices,
)

Weights = dict[str, Floats]
Rows = tuple[Indices, Floats]  # of the vectors: which words, and what is so for each

_WINDOWS, _HIDDEN = 96, 128
_EPOCHS, _AT_ONCE = 9, 32  # times that each text is seen; texts per step
_SPEED, _WARM = 0.002, 50  # of a step, and the first steps, which are smaller
_STEEPEST = 5.0  # the length of a gradient, at most
_LEFT_OUT, _LEFT_OUT_VECTORS = 0.4, 0.25
_KEPT, _KEPT_SQUARES = 0.9, 0.999  # of what Adam remembers, from step to step
_TINY = np.float32(1e-8)
_NEVER = -50.0  # the logarithm of odds that are none


@dataclass(frozen=True, slots=True)
class Text:
    """The sentences of a text as the network reads them, and the kind of each as a row of noughts and a one."""

    indices: Indices
    lengths: Indices
    positions: Floats
    targets: Matrix


class Batch:
    """Some texts one after the other, and as rows of sentences, the shorter ones filled up."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.indices = np.concatenate([text.indices for text in texts])
        self.at = np.flatnonzero(self.indices != PADDING)
        lengths = np.concatenate([text.lengths for text in texts])
        self.starts = np.cumsum(lengths) - lengths
        self.owner = np.repeat(np.arange(len(lengths)), lengths)
        self.share = (1 / (2 * np.sqrt(lengths)))[:, None].astype(np.float32)
        self.positions = np.concatenate([text.positions for text in texts])
        self.targets = np.concatenate([text.targets for text in texts])
        counts = np.array([len(text.lengths) for text in texts])
        first = np.cumsum(counts) - counts
        self.after, self.before = np.ones((2, len(lengths), 1), dtype=np.float32)  # whether there is a sentence
        self.before[first] = self.after[first + counts - 1] = 0
        steps = np.arange(counts.max())
        self.there = steps < counts[:, None]
        self.rows = np.where(self.there, first[:, None] + steps, 0)
        self.pairs: Matrix = self.targets[:-1].T @ (self.targets[1:] * self.before[1:])


class _Activations(NamedTuple):
    """What each layer saw and answered, for the way back."""

    three: Floats
    answers: Floats
    largest: Floats
    beside: Floats
    hidden: Floats
    last: Floats
    masks: tuple[Floats, Floats, Floats]  # what was left out of the vectors, the sentences, the hidden layer


def text_of(sentences: Sequence[str], kinds: Sequence[int], words: Mapping[str, int], count: int) -> Text:
    """Return the text of `sentences`, of which each is of one of `count` kinds."""
    indices, lengths = word_indices(sentences, words)
    return Text(indices, lengths, position_features(lengths), np.eye(count)[list(kinds)])


def train(texts: Sequence[Text], words: Mapping[str, int], vectors: Floats, seed: int = 0) -> Network:
    """Return a network that learned from `texts`, starting from the vectors of its words; it knows nothing of medicine."""
    random = np.random.default_rng(seed)
    weights = initial_weights(vectors, texts[0].targets.shape[1], random)
    memory, squares = ({name: np.zeros_like(one) for name, one in weights.items()} for _ in range(2))
    batches = len(texts) // _AT_ONCE + 1
    steps = _EPOCHS * batches
    for step in range(steps):
        if step % batches == 0:
            order = np.array_split(random.permutation(len(texts)), batches)
        _, gradients = loss_and_gradients(weights, Batch([texts[at] for at in order[step % batches]]), random)
        speed = _SPEED * min(1.0, 3 * (1 - step / steps), (step + 1) / _WARM)
        _move(weights, gradients, memory, squares, step + 1, speed)
    return Network(words=words, **weights, **_unmedical(weights))


def _unmedical(weights: Weights) -> Weights:
    """The customs of medicine before they are learned: the same as all others, and no text is taken for medicine."""
    medical = np.zeros(2 * _WINDOWS + weights["vectors"].shape[1] + 1, dtype=np.float32)
    medical[-1] = _NEVER
    return {
        "medical_out": weights["out"],
        "medical_bias": weights["out_bias"],
        "medical_transitions": weights["transitions"],
        "medical": medical,
    }


def initial_weights(vectors: Floats, kinds: int, random: np.random.Generator) -> Weights:
    """Return weights that know nothing but the vectors."""
    size = 2 * _WINDOWS + POSITION_FEATURES

    def drawn(rows: int, columns: int) -> Floats:
        found: Floats = (random.uniform(-1, 1, (rows, columns)) / np.sqrt(rows)).astype(np.float32)
        return found

    weights = {
        "vectors": vectors.copy(),
        "windows": drawn(3 * vectors.shape[1], _WINDOWS),
        "hidden": drawn(3 * size, _HIDDEN),
        "out": drawn(_HIDDEN + size, kinds),
        "transitions": np.zeros((kinds, kinds), dtype=np.float32),
    }
    return weights | {
        f"{name}_bias": np.zeros(weights[name].shape[1], dtype=np.float32) for name in ("windows", "hidden", "out")
    }


def loss_and_gradients(
    weights: Weights, batch: Batch, random: np.random.Generator
) -> tuple[float, dict[str, Floats | Rows]]:
    """Return the loss of a sentence, and which way it grows."""
    found, seen = _forward(weights, batch, random)
    chain = weights["transitions"].astype(np.float64)
    likely, pairs, total = expected(found.astype(np.float64)[batch.rows], chain, batch.there)
    off = np.empty(found.shape)
    off[batch.rows[batch.there]] = likely[batch.there]
    off -= batch.targets
    loss = (total - float((batch.targets * found).sum()) - float((batch.pairs * chain).sum())) / len(off)
    back = _backward(weights, batch, seen, (off / len(off)).astype(weights["out"].dtype))
    return loss, {"transitions": ((pairs - batch.pairs) / len(off)).astype(weights["out"].dtype), **back}


def _mask(like: Floats, share: float, random: np.random.Generator) -> Floats:
    kept: Floats = (random.random(like.shape, dtype=np.float32) > share).astype(np.float32)
    return kept / np.float32(1 - share)


def _forward(weights: Weights, batch: Batch, random: np.random.Generator) -> tuple[Floats, _Activations]:
    vectors = weights["vectors"][batch.indices]
    masks = [_mask(vectors, _LEFT_OUT_VECTORS, random)]
    vectors, at = vectors * masks[0], batch.at
    three = np.concatenate([vectors[at - 1], vectors[at], vectors[at + 1]], axis=1)
    answers = np.maximum(three @ weights["windows"] + weights["windows_bias"], 0)
    largest = np.maximum.reduceat(answers, batch.starts)
    heard = np.concatenate([largest, np.add.reduceat(answers, batch.starts) * batch.share], axis=1)
    masks.append(_mask(heard, _LEFT_OUT, random))
    read = np.concatenate([heard * masks[1], batch.positions], axis=1)
    none = np.zeros_like(read[:1])
    before, after = np.concatenate([none, read[:-1]]) * batch.before, np.concatenate([read[1:], none]) * batch.after
    beside = np.concatenate([before, read, after], axis=1)
    hidden = np.tanh(beside @ weights["hidden"] + weights["hidden_bias"])
    masks.append(_mask(hidden, _LEFT_OUT, random))
    last = np.concatenate([hidden * masks[2], read], axis=1)
    return last @ weights["out"] + weights["out_bias"], _Activations(
        three, answers, largest, beside, hidden, last, (masks[0], masks[1], masks[2])
    )


def _backward(weights: Weights, batch: Batch, seen: _Activations, off: Floats) -> dict[str, Floats | Rows]:
    """The layers in turn, from the last to the first: what each was off by, from what the next one was."""
    last = off @ weights["out"].T
    hidden = last[:, :_HIDDEN] * seen.masks[2] * (1 - seen.hidden**2)
    beside = hidden @ weights["hidden"].T
    size = beside.shape[1] // 3
    read = last[:, _HIDDEN:] + beside[:, size : 2 * size]
    read[:-1] += (beside[:, :size] * batch.before)[1:]
    read[1:] += (beside[:, 2 * size :] * batch.after)[:-1]
    heard = read[:, : 2 * _WINDOWS] * seen.masks[1]
    is_largest = seen.answers == seen.largest[batch.owner]
    answers = is_largest * heard[batch.owner, :_WINDOWS] + (heard[:, _WINDOWS:] * batch.share)[batch.owner]
    answers *= seen.answers > 0
    return {
        "out": seen.last.T @ off,
        "out_bias": off.sum(axis=0),
        "hidden": seen.beside.T @ hidden,
        "hidden_bias": hidden.sum(axis=0),
        "windows": seen.three.T @ answers,
        "windows_bias": answers.sum(axis=0),
        "vectors": _of_words(batch, answers @ weights["windows"].T, seen.masks[0]),
    }


def _of_words(batch: Batch, three: Floats, mask: Floats) -> Rows:
    """Each word's own, from what its three places in a window were off by."""
    size = three.shape[1] // 3
    vectors = np.zeros_like(mask)
    for place in range(3):
        vectors[batch.at + place - 1] += three[:, place * size : (place + 1) * size]
    order = np.argsort(batch.indices, kind="stable")
    words = batch.indices[order]
    starts = np.flatnonzero(np.diff(words, prepend=-1))
    return words[starts], np.add.reduceat((vectors * mask)[order], starts)


def _move(
    weights: Weights, gradients: dict[str, Floats | Rows], memory: Weights, squares: Weights, step: int, speed: float
) -> None:
    """One step of Adam; of the vectors, those of the words that were seen."""
    rows = {name: one if isinstance(one, tuple) else (slice(None), one) for name, one in gradients.items()}
    length = float(np.sqrt(sum(float((one**2).sum()) for _, one in rows.values())))
    shorter = np.float32(min(1.0, _STEEPEST / length))
    kept, kept_squares = np.float32(_KEPT), np.float32(_KEPT_SQUARES)
    for name, (which, steep) in rows.items():
        gradient = steep * shorter
        memory[name][which] = kept * memory[name][which] + (1 - kept) * gradient
        squares[name][which] = kept_squares * squares[name][which] + (1 - kept_squares) * gradient**2
        mean, square = memory[name][which] / (1 - _KEPT**step), squares[name][which] / (1 - _KEPT_SQUARES**step)
        weights[name][which] -= (speed * mean / (np.sqrt(square) + _TINY)).astype(np.float32)


def expected(emissions: Matrix, chain: Matrix, there: npt.NDArray[np.bool_]) -> tuple[Matrix, Matrix, float]:
    """Return what the chain expects of all texts: how likely a sentence is of each kind, how often kinds meet, and the sum.

    `emissions` has the texts, their sentences and the kinds; `there` says which sentences a text has. The sum is that of
    the weights of all chains, as a logarithm.
    """
    largest = emissions.max(axis=2, keepdims=True)
    here = np.where(there[:, :, None], np.exp(emissions - largest), 1.0)
    follows = np.exp(chain)
    ahead, behind, size = np.empty_like(here), np.ones_like(here), np.ones(there.shape)
    for at in range(there.shape[1]):
        now = here[:, at] * (ahead[:, at - 1] @ follows if at else 1.0)
        size[:, at] = np.where(there[:, at], now.sum(axis=1), 1.0)
        ahead[:, at] = np.where(there[:, at, None], now / size[:, at, None], ahead[:, at - 1])
    pairs = np.zeros_like(chain)
    for at in range(there.shape[1] - 1, 0, -1):
        after = np.where(there[:, at, None], here[:, at] * behind[:, at] / size[:, at, None], 0.0)
        pairs += ahead[:, at - 1].T @ after * follows
        behind[:, at - 1] = np.where(there[:, at, None], after @ follows.T, 1.0)
    total = float(np.log(size).sum() + largest[:, :, 0][there].sum())
    return ahead * behind, pairs, total
