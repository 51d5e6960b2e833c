"""What anybody would try first: plain TF-IDF, FTS5 with its own stemmer, a linear SVM per topic."""

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.quality.metrics import Floats, Truths

NEAREST = 3


class Plain:
    """Cosines of plain TF-IDF: words as they stand in lower case, raw frequency times log(N / df)."""

    def __init__(self, texts: Sequence[str]) -> None:
        bags = [Counter(re.findall(r"\w+", text.lower())) for text in texts]
        numbers = {word: number for number, word in enumerate(sorted({word for bag in bags for word in bag}))}
        table = np.zeros((len(bags), len(numbers)), np.float32)
        for row, bag in zip(table, bags, strict=True):
            row[[numbers[word] for word in bag]] = list(bag.values())
        table *= np.log(len(bags) / (table > 0).sum(axis=0))
        table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
        self._table = table
        self._cosines: dict[int, Floats] = {}

    def closeness(self, number: int) -> Floats:
        """Return how close every text is to this one."""
        if number not in self._cosines:
            self._cosines[number] = np.asarray(self._table @ self._table[number], float)
        return self._cosines[number]

    def nearest(self, examples: Sequence[int]) -> Floats:
        """Return every text's mean closeness to its three nearest examples."""
        every = np.sort(np.stack([self.closeness(example) for example in examples]), axis=0)
        return np.asarray(every[-NEAREST:].mean(axis=0), float)

    def centroid(self, examples: Sequence[int]) -> Floats:
        """Return every text's mean closeness to all examples."""
        return np.asarray(np.mean([self.closeness(example) for example in examples], axis=0), float)

    def svm(self, examples: Sequence[int], among: Sequence[int]) -> Floats:
        """Return a linear SVM's decision for every text: the examples against all others of `among`."""
        numbers = np.union1d(np.asarray(examples, np.int64), np.asarray(among, np.int64))
        rows = self._table[numbers]
        found = svm(np.asarray(rows @ rows.T, float), np.isin(numbers, examples))
        return np.asarray(self._table @ (rows.T @ found).astype(np.float32), float)


def svm(inner: Floats, liked: Truths, cost: float = 0.01) -> Floats:
    """Return the dual weights of a linear SVM as arxiv-sanity-lite trains one per topic.

    LinearSVC(class_weight="balanced", C=0.01): half the squared length of w plus the sum of C_i max(0, 1 - y_i w·x_i)², the
    bias as one more feature (whose weight adds the same to every text, and is left out of the order). Solved by Newton's
    method in the dual: O. Chapelle, "Training a Support Vector Machine in the Primal", 2007, algorithm 1. `inner` are the
    products of the texts with each other.
    """
    signs = np.where(liked, 1.0, -1.0)
    costs = cost * len(signs) / 2 / np.where(liked, max(liked.sum(), 1), max((~liked).sum(), 1))
    inner = inner + 1.0
    found = np.zeros(len(signs))
    inside = np.ones(len(signs), bool)
    for _ in range(50):
        (at,) = np.nonzero(inside)
        found[~inside] = 0.0
        found[at] = _solve(inner[np.ix_(at, at)], 1 / (2 * costs[at]), signs[at], found[at])
        before, inside = inside, signs * (inner @ found) < 1
        if np.array_equal(before, inside):
            break
    return found


def _solve(inner: Floats, ridge: Floats, wanted: Floats, start: Floats) -> Floats:
    """Solve (inner + diag(ridge)) x = wanted by conjugate gradients, preconditioned with the diagonal."""
    x = start.copy()
    rest = wanted - inner @ x - ridge * x
    scale = 1 / (ridge + inner.diagonal())
    step = scale * rest
    size = rest @ step
    for _ in range(500):
        if np.abs(rest).max(initial=0.0) < 1e-7:
            break
        image = inner @ step + ridge * step
        length = size / (step @ image)
        x += length * step
        rest -= length * image
        size, before = rest @ (scale * rest), size
        step = scale * rest + size / before * step
    return x


class Porter:
    """FTS5 with the `porter` tokeniser over title and text: the query's words quoted and joined by OR, the title twice."""

    def __init__(self, documents: Sequence[tuple[str, str, str]]) -> None:
        """`documents` are (key, title, text)."""
        self._db = sqlite3.connect(":memory:")
        self._db.execute("create virtual table docs using fts5(key unindexed, title, body, tokenize='porter unicode61')")
        self._db.executemany("insert into docs values (?, ?, ?)", documents)

    def search(self, query: str, limit: int = 10) -> list[str]:
        """Return the keys of the best, by bm25."""
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        sql = "select key from docs where docs match ? order by bm25(docs, 0, 2.0, 1.0) limit ?"
        return [key for (key,) in self._db.execute(sql, [match, limit])] if match else []

    def close(self) -> None:
        """Let go of it."""
        self._db.close()
