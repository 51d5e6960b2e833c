"""Learns vectors of words from the company they keep in arXiv's abstracts (metadata CC0): where the role model starts from.

How much more often two words stand next to each other than by chance (positive pointwise mutual information, contexts at the
power of .75: Levy, Goldberg and Dagan, "Improving distributional similarity with lessons learned from word embeddings",
2015), by place before and after, brought down to a few numbers by a randomised singular value decomposition (Halko,
Martinsson and Tropp, 2011).
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bot.summarise.choice.roles import PADDING, UNKNOWN, Floats, tokens
from training.sources import Sources

SHIPPED = Path(__file__).parent / "words.npz"

_SIZE = 64
_WORDS = 10_000  # the commonest of the corpora
_SELDOM = 3  # times that a further word of the labelled abstracts must occur
_CONTEXTS = 2_000  # the commonest words: what a word is described by
_EVERY = 3  # paper is read
_APART = (-2, -1, 1, 2)  # words
_SPARE, _ROUNDS = 16, 3  # of the decomposition
_SPREAD = 0.5  # of the numbers of a vector
_LARGEST = 127  # of 8 bits
_NAMES = ("<between>", "<unknown>")  # BETWEEN and UNKNOWN

Tokens = Sequence[Sequence[str]]


def build(sources: Sources, target: Path) -> None:
    """Learn from every third paper of the corpora and the words of CSAbstruct, and write the vectors to `target`."""
    texts = [tokens(paper["abstract"]) for at, paper in enumerate(sources.papers()) if at % _EVERY == 0]
    labelled = Counter(
        token for record in sources.quality("csabstruct.train") for one in record["sents"] for token in tokens(one)
    )
    words = _vocabulary(texts, labelled)
    vectors = _decompose(_mutual_information(texts, words))
    vectors *= _SPREAD / vectors.std()
    vectors[PADDING] = 0.0
    steps = (np.abs(vectors).max(axis=1, keepdims=True) / _LARGEST).astype(np.float32)
    quantised = np.rint(vectors / np.where(steps, steps, 1)).astype(np.int8)
    named = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    np.savez_compressed(target, allow_pickle=False, words=named, vectors=quantised, steps=steps)


def read(path: Path = SHIPPED) -> tuple[dict[str, int], Floats]:
    """Return the words with their places, and their vectors."""
    with np.load(path, allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode().split("\n")
        vectors: Floats = arrays["vectors"].astype(np.float32) * arrays["steps"]
    return {word: place for place, word in enumerate(words)}, vectors


def _vocabulary(texts: Tokens, labelled: Counter[str]) -> list[str]:
    common = [word for word, _ in Counter(token for text in texts for token in text).most_common(_WORDS)]
    known = set(common)
    return [*_NAMES, *common, *(word for word, times in labelled.items() if times >= _SELDOM and word not in known)]


def _mutual_information(texts: Tokens, words: Sequence[str]) -> Floats:
    """Per word, and per context and place: how much more often they meet than by chance."""
    places = {word: place for place, word in enumerate(words)}
    gap = [PADDING] * max(_APART)
    read = np.array([place for text in texts for place in (*gap, *(places.get(word, UNKNOWN) for word in text))])
    met = np.concatenate([_cooccurrences(read, apart, len(words)) for apart in _APART], axis=1)
    often = met.sum(axis=0, dtype=np.float64) ** 0.75
    expected = (met.sum(axis=1, dtype=np.float64) + 1.0)[:, None].astype(np.float32) * (often / often.sum()).astype(
        np.float32
    )
    met /= expected + np.float32(1e-9)
    informative: Floats = np.log(np.maximum(met, 1.0, out=met), out=met)
    return informative


def _cooccurrences(read: npt.NDArray[np.int64], apart: int, count: int) -> Floats:
    """How often each context stands `apart` words after each word."""
    one, other = (read[:-apart], read[apart:]) if apart > 0 else (read[-apart:], read[:apart])
    kept = (one > PADDING) & (other > PADDING) & (other < _CONTEXTS)
    pairs = np.bincount(one[kept] * _CONTEXTS + other[kept], minlength=count * _CONTEXTS)
    return pairs.reshape(count, _CONTEXTS).astype(np.float32)


def _decompose(rows: Floats) -> Floats:
    """The rows in few numbers, their products with each other kept as well as can be."""
    random = np.random.default_rng(0).normal(size=(rows.shape[1], _SIZE + _SPARE)).astype(np.float32)
    found = rows @ random
    for _ in range(_ROUNDS):
        found = rows @ (rows.T @ np.linalg.qr(found)[0])
    basis = np.linalg.qr(found)[0]
    left, sizes, _ = np.linalg.svd((rows.T @ basis).T, full_matrices=False)
    vectors: Floats = basis @ left[:, :_SIZE] * np.sqrt(sizes[:_SIZE])
    return vectors
