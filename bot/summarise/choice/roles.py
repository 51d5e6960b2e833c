"""Says what each sentence of an abstract is for: a small network that reads the sentences, and a chain over them.

Words are vectors, read three at a time; a sentence is the largest and the mean answer of each window to its words (Kim,
"Convolutional neural networks for sentence classification", 2014), joined by where it stands; a hidden layer reads it with
the sentence before and the one after. Over what that finds lies a linear-chain conditional random field (Lafferty, McCallum
and Pereira, 2001): what each sentence is likely to be, given all of them.

Abstracts of medicine are written by customs of their own, and so are the labels that people gave them. So they have a last
layer and a chain of their own over the same windows; both are mixed as the words of the whole text tell the field.

The weights were learned by `training/roles.py` from CSAbstruct (Cohan et al., 2019; Apache-2.0), for abstracts of medicine
from PubMedQA (Jin et al., 2019; MIT), and for the words from arXiv's abstracts (CC0); docs/decisions/0030-roles.md says what
they reach.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bot.summarise.choice.model_file import read_model

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]

ROLES = ("background", "objective", "method", "result", "other")
RESULT = ROLES.index("result")
# How many numbers the layers before the last one say of a sentence: the hidden layer, what the windows answer at most and on
# the whole, and the mean of its words' vectors.
READ = {"hidden": 128, "windows": 192, "words": 64}

SHIPPED = Path(__file__).parents[1] / "models" / "roles.npz"

PADDING, UNKNOWN = 0, 1  # indices in the list of words that no word has
NUMBER = "0"  # stands for every number
LONGEST = 60  # words of a sentence that are read

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][a-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]|_")
_FIRST, _LAST, _COUNT, _TENTHS = 10, 10, 15, 11  # how many of each kind of feature there are
POSITION_FEATURES = _FIRST + _LAST + _COUNT + _TENTHS + 2

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


class ChainWeights(NamedTuple):
    """What the chain is made of: logarithms of weights."""

    emissions: Matrix  # sentences x kinds
    transitions: Matrix  # kinds x kinds


class Encoding(NamedTuple):
    """A text as the last layer sees it."""

    last: Floats  # sentences x (hidden and the sentence itself)
    about: Floats  # what it speaks of: the mean of what the windows answer to its sentences, and of its words' vectors
    read: Floats  # sentences x (hidden, what the windows answer, the mean of its words' vectors)


class Reading(NamedTuple):
    """What the network makes of the sentences of a text, a row for each."""

    roles: Matrix  # how likely it has each role: columns as in ROLES, rows sum to 1
    read: Matrix  # what the layers before the last one say of it: columns in the order of READ


def role_probabilities(sentences: Sequence[str]) -> Matrix:
    """Return how likely each sentence has each role: one row per sentence, columns as in ROLES, rows sum to 1."""
    return reading(sentences).roles


def probabilities_by(sentences: Sequence[str], network: Network) -> Matrix:
    """Return what `role_probabilities` returns, by another network."""
    return _reading_by(sentences, network).roles


def reading(sentences: Sequence[str]) -> Reading:
    """Return what the shipped network makes of each sentence."""
    return _reading_by(sentences, _network())


def _reading_by(sentences: Sequence[str], network: Network) -> Reading:
    if not sentences:
        return Reading(np.zeros((0, len(ROLES))), np.zeros((0, sum(READ.values()))))
    encoded = _encoded(sentences, network)
    return Reading(marginals(*_chain(encoded, network)), encoded.read.astype(np.float64))


@cache
def _network() -> Network:
    return read_model(SHIPPED, role_model)


def role_model(path: Path) -> Network:
    """Return the network at `path`; raises ValueError for one of other roles or of other layers."""
    network = read_network(path)
    read = [len(network.hidden_bias), 2 * len(network.windows_bias), network.vectors.shape[1]]
    if len(network.out_bias) != len(ROLES) or read != [*READ.values()]:
        raise ValueError(f"a network of {len(network.out_bias)} roles and layers of {read}")
    return network


# --- words and places


def tokens(sentence: str) -> list[str]:
    """Return the words and marks of a sentence in lower case; every number is the same one."""
    return [NUMBER if token[0].isdigit() else token for token in _TOKEN.findall(sentence.lower())]


def word_indices(sentences: Sequence[str], words: Mapping[str, int]) -> tuple[Indices, Indices]:
    """Return the indices of all words, with PADDING before, between and after the sentences, and how many each sentence has.

    A sentence without any word has one that is not known.
    """
    read = [[words.get(token, UNKNOWN) for token in tokens(sentence)[:LONGEST]] or [UNKNOWN] for sentence in sentences]
    indices = [index for sentence in read for index in (PADDING, *sentence)]
    return np.array([*indices, PADDING]), np.array([len(sentence) for sentence in read])


def position_features(lengths: Indices) -> Floats:
    """Return where each sentence stands: one row of POSITION_FEATURES per sentence, given the number of words of each."""
    return np.array([_position(at, len(lengths), int(length)) for at, length in enumerate(lengths)], dtype=np.float32)


@lru_cache(maxsize=1 << 12)
def _position(at: int, count: int, length: int) -> tuple[float, ...]:
    """Each end of the text has its own count, since "third" and "last but one" say different things."""
    way = at / max(1, count - 1)
    features = [0.0] * POSITION_FEATURES
    features[min(at, _FIRST - 1)] = 1.0
    features[_FIRST + min(count - 1 - at, _LAST - 1)] = 1.0
    features[_FIRST + _LAST + min(count, _COUNT) - 1] = 1.0
    features[_FIRST + _LAST + _COUNT + int((_TENTHS - 1) * way)] = 1.0
    features[-2:] = way, length / LONGEST * 2
    return tuple(features)


# --- the network and the chain


def chain_weights(sentences: Sequence[str], network: Network) -> ChainWeights:
    """Return what the network finds in the sentences of a text, of which there is one at least."""
    return _chain(_encoded(sentences, network), network)


def _encoded(sentences: Sequence[str], network: Network) -> Encoding:
    indices, lengths = word_indices(sentences, network.words)
    return encode(indices, lengths, position_features(lengths), network)


def _chain(encoded: Encoding, network: Network) -> ChainWeights:
    last, about = encoded.last, encoded.about
    medical = float(np.exp(-np.logaddexp(0.0, -float(about @ network.medical[:-1] + network.medical[-1]))))
    found = (1 - medical) * (last @ network.out + network.out_bias).astype(np.float64)
    found += medical * (last @ network.medical_out + network.medical_bias)
    chain = (1 - medical) * network.transitions.astype(np.float64) + medical * network.medical_transitions
    return ChainWeights(found, chain)


def encode(indices: Indices, lengths: Indices, positions: Floats, network: Network) -> Encoding:
    """Return a text as the last layer sees it, given what `word_indices` and `position_features` say of it."""
    answers = _convolve(indices, lengths, network)
    read = np.concatenate([answers, positions], axis=1)
    none = np.zeros_like(read[:1])
    beside = np.concatenate([np.concatenate([none, read[:-1]]), read, np.concatenate([read[1:], none])], axis=1)
    hidden = np.tanh(beside @ network.hidden + network.hidden_bias)
    words = network.vectors[indices[indices != PADDING]]
    own = np.add.reduceat(words, np.cumsum(lengths) - lengths) / lengths[:, None].astype(np.float32)
    return Encoding(
        np.concatenate([hidden, read], axis=1),
        np.concatenate([answers.mean(axis=0), words.mean(axis=0)]),
        np.concatenate([hidden, answers, own], axis=1),
    )


def _convolve(indices: Indices, lengths: Indices, network: Network) -> Floats:
    """Per sentence, what each window answered at most and on the whole."""
    vectors, at = network.vectors[indices], np.flatnonzero(indices != PADDING)
    three = np.concatenate([vectors[at - 1], vectors[at], vectors[at + 1]], axis=1)
    answers = np.maximum(three @ network.windows + network.windows_bias, 0)
    starts = np.cumsum(lengths) - lengths
    whole = np.add.reduceat(answers, starts) / (2 * np.sqrt(lengths))[:, None].astype(np.float32)
    found: Floats = np.concatenate([np.maximum.reduceat(answers, starts), whole], axis=1)
    return found


def marginals(emissions: Matrix, transitions: Matrix) -> Matrix:
    """Return how likely each sentence is of each kind: rows as in `emissions`, each of sum 1.

    `emissions` has a row per sentence and a column per kind, `transitions` a row per kind of a sentence and a column per
    kind of the next; both are logarithms of weights.
    """
    here = np.exp(emissions - emissions.max(axis=1, keepdims=True))
    follows = np.exp(transitions)
    ahead, behind = np.empty_like(here), np.ones_like(here)
    ahead[0] = here[0] / here[0].sum()
    for at in range(1, len(here)):
        ahead[at] = (ahead[at - 1] @ follows) * here[at]
        ahead[at] /= ahead[at].sum()
    for at in range(len(here) - 2, -1, -1):
        behind[at] = follows @ (here[at + 1] * behind[at + 1])
        behind[at] /= behind[at].sum()
    likely: Matrix = ahead * behind
    normalised: Matrix = likely / likely.sum(axis=1, keepdims=True)
    return normalised


# --- the file


def write_network(network: Network, path: Path) -> None:
    """Write `network` to `path`: weights of 8 bits, with the size of a step for each row."""
    arrays: dict[str, npt.NDArray[np.generic]] = {"words": np.frombuffer("\n".join(network.words).encode(), dtype=np.uint8)}
    for name in _WEIGHTS:
        rows: Floats = getattr(network, name)
        steps = (np.abs(rows).max(axis=1, keepdims=True) / _LARGEST).astype(np.float32)
        arrays[name] = np.rint(rows / np.where(steps, steps, 1)).astype(np.int8)
        arrays[f"{name}_step"] = steps
    arrays.update({name: getattr(network, name) for name in _PLAIN})
    np.savez_compressed(path, allow_pickle=False, **arrays)


def read_network(path: Path) -> Network:
    """Return the network that `write_network` wrote; raises ValueError where its layers do not fit one another."""
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
    read = 2 * windows + POSITION_FEATURES  # what is read of a sentence
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
