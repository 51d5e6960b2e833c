"""The small network that reads the sentences of a text: words as vectors, three at a time, and each sentence beside its two
neighbours. What it finds goes into the chain of `bot.summarise.chain`.

A sentence is the largest and the mean answer of each window to its words (Kim, "Convolutional neural networks for sentence
classification", 2014), joined by where it stands; a hidden layer reads it with the sentence before and the one after.

Abstracts of medicine are written by customs of their own, and so are the labels that people gave them. So they have a last
layer and a chain of their own over the same windows; both are mixed as the words of the whole text tell the field.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bot.summarise.chain import Matrix
from bot.summarise.clues import BETWEEN, FACTS, Floats, Places, numbered, standing

_LARGEST = 127  # of 8 bits
_WEIGHTS = ("vectors", "windows", "hidden", "out", "medical_out")
_PLAIN = ("windows_bias", "hidden_bias", "out_bias", "transitions", "medical_bias", "medical_transitions", "medical")


class Network(NamedTuple):
    """The words it knows with their vectors, and the weights of each layer."""

    words: Mapping[str, int]
    vectors: Floats  # words x size
    windows: Floats  # three words, one after the other, x windows
    windows_bias: Floats
    hidden: Floats  # three sentences, one after the other, x hidden
    hidden_bias: Floats
    out: Floats  # hidden and the sentence itself x kinds
    out_bias: Floats
    transitions: Floats  # kinds x kinds
    medical_out: Floats  # the last layer and the chain for medicine
    medical_bias: Floats
    medical_transitions: Floats
    medical: Floats  # what tells medicine: one number for each of what a text is about, and one more


class Weighed(NamedTuple):
    """What the chain is made of: logarithms of weights."""

    emissions: Matrix  # sentences x kinds
    transitions: Matrix  # kinds x kinds


class Seen(NamedTuple):
    """A text as the last layer sees it."""

    last: Floats  # sentences x (hidden and the sentence itself)
    about: Floats  # what it speaks of: the mean of what the windows answer to its sentences, and of its words' vectors


def weighed(sentences: Sequence[str], network: Network) -> Weighed:
    """Return what the network finds in the sentences of a text, of which there is one at least."""
    places, lengths = numbered(sentences, network.words)
    last, about = seen(places, lengths, standing(lengths), network)
    medical = float(np.exp(-np.logaddexp(0.0, -float(about @ network.medical[:-1] + network.medical[-1]))))
    found = (1 - medical) * (last @ network.out + network.out_bias).astype(np.float64)
    found += medical * (last @ network.medical_out + network.medical_bias)
    chain = (1 - medical) * network.transitions.astype(np.float64) + medical * network.medical_transitions
    return Weighed(found, chain)


def seen(places: Places, lengths: Places, stands: Floats, network: Network) -> Seen:
    """Return a text as the last layer sees it, given what `numbered` and `standing` say of it."""
    answers = _heard(places, lengths, network)
    read = np.concatenate([answers, stands], axis=1)
    none = np.zeros_like(read[:1])
    beside = np.concatenate([np.concatenate([none, read[:-1]]), read, np.concatenate([read[1:], none])], axis=1)
    hidden = np.tanh(beside @ network.hidden + network.hidden_bias)
    words = network.vectors[places[places != BETWEEN]]
    return Seen(np.concatenate([hidden, read], axis=1), np.concatenate([answers.mean(axis=0), words.mean(axis=0)]))


def _heard(places: Places, lengths: Places, network: Network) -> Floats:
    """Per sentence, what each window answered at most and on the whole."""
    vectors, at = network.vectors[places], np.flatnonzero(places != BETWEEN)
    three = np.concatenate([vectors[at - 1], vectors[at], vectors[at + 1]], axis=1)
    answers = np.maximum(three @ network.windows + network.windows_bias, 0)
    starts = np.cumsum(lengths) - lengths
    whole = np.add.reduceat(answers, starts) / (2 * np.sqrt(lengths))[:, None].astype(np.float32)
    found: Floats = np.concatenate([np.maximum.reduceat(answers, starts), whole], axis=1)
    return found


def write(network: Network, path: Path) -> None:
    """Write `network` to `path`: weights of 8 bits, with the size of a step for each row."""
    arrays: dict[str, npt.NDArray[np.generic]] = {"words": np.frombuffer("\n".join(network.words).encode(), dtype=np.uint8)}
    for name in _WEIGHTS:
        rows: Floats = getattr(network, name)
        steps = (np.abs(rows).max(axis=1, keepdims=True) / _LARGEST).astype(np.float32)
        arrays[name] = np.rint(rows / np.where(steps, steps, 1)).astype(np.int8)
        arrays[f"{name}_step"] = steps
    arrays.update({name: getattr(network, name) for name in _PLAIN})
    np.savez_compressed(path, allow_pickle=False, **arrays)


def read(path: Path) -> Network:
    """Return the network that `write` wrote; raises ValueError where its layers do not fit one another."""
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode().split("\n")
        layers = {name: _whole(arrays[name], arrays[f"{name}_step"]) for name in _WEIGHTS}
        plain = {name: arrays[name] for name in _PLAIN}
    network = Network(words={word: place for place, word in enumerate(words)}, **layers, **plain)
    if _shapes(network) != _fitting(network):
        raise ValueError(f"layers of {_shapes(network)}")
    return network


def _whole(steps: npt.NDArray[np.int8], sizes: Floats) -> Floats:
    if sizes.shape != (len(steps), 1):
        raise ValueError(f"{len(steps)} rows with steps of {sizes.shape}")
    whole: Floats = steps.astype(np.float32) * sizes
    return whole


def _shapes(network: Network) -> dict[str, tuple[int, ...]]:
    return {name: getattr(network, name).shape for name in (*_WEIGHTS, *_PLAIN)}


def _fitting(network: Network) -> dict[str, tuple[int, ...]]:
    """The shapes that layers of these sizes must have."""
    size, windows = network.vectors.shape[1], len(network.windows_bias)
    hidden, kinds = len(network.hidden_bias), len(network.out_bias)
    read = 2 * windows + FACTS  # what is read of a sentence
    return {
        "vectors": (len(network.words), size),
        "windows": (3 * size, windows),
        "hidden": (3 * read, hidden),
        **dict.fromkeys(("out", "medical_out"), (hidden + read, kinds)),
        "windows_bias": (windows,),
        "hidden_bias": (hidden,),
        **dict.fromkeys(("out_bias", "medical_bias"), (kinds,)),
        **dict.fromkeys(("transitions", "medical_transitions"), (kinds, kinds)),
        "medical": (2 * windows + size + 1,),
    }
