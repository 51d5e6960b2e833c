"""The small network that reads the sentences of a text: words as vectors, three at a time, and each sentence beside its two
neighbours. What it finds goes into the chain of `bot.summarise.chain`.

A sentence is the largest and the mean answer of each window to its words (Kim, "Convolutional neural networks for sentence
classification", 2014), joined by where it stands; a hidden layer reads it with the sentence before and the one after.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bot.summarise.clues import BETWEEN, Floats, Places, numbered, standing

_LARGEST = 127  # of 8 bits
_WEIGHTS = ("vectors", "windows", "hidden", "out")
_PLAIN = ("windows_bias", "hidden_bias", "out_bias", "transitions")


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


def emissions(sentences: Sequence[str], network: Network) -> npt.NDArray[np.float64]:
    """Return one row per sentence, one column per kind: the logarithm of a weight."""
    places, lengths = numbered(sentences, network.words)
    read = np.concatenate([_heard(places, lengths, network), standing(lengths)], axis=1)
    none = np.zeros_like(read[:1])
    beside = np.concatenate([np.concatenate([none, read[:-1]]), read, np.concatenate([read[1:], none])], axis=1)
    hidden = np.tanh(beside @ network.hidden + network.hidden_bias)
    found = np.concatenate([hidden, read], axis=1) @ network.out + network.out_bias
    return found.astype(np.float64)


def _heard(places: Places, lengths: Places, network: Network) -> Floats:
    """Per sentence, what each window answered at most and on the whole."""
    vectors, at = network.vectors[places], np.flatnonzero(places != BETWEEN)
    three = np.concatenate([vectors[at - 1], vectors[at], vectors[at + 1]], axis=1)
    answers = np.maximum(three @ network.windows + network.windows_bias, 0)
    starts = np.cumsum(lengths) - lengths
    whole = np.add.reduceat(answers, starts) / (2 * np.sqrt(lengths))[:, None].astype(np.float32)
    heard: Floats = np.concatenate([np.maximum.reduceat(answers, starts), whole], axis=1)
    return heard


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
    """Return the network that `write` wrote."""
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode().split("\n")
        layers = {name: arrays[name].astype(np.float32) * arrays[f"{name}_step"] for name in _WEIGHTS}
        plain = {name: arrays[name] for name in _PLAIN}
    return Network(words={word: place for place, word in enumerate(words)}, **layers, **plain)
