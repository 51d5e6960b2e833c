"""The role of each sentence of an abstract."""

import numpy as np

from bot.summarise.roles import ROLES, score

PLAIN = [
    "Caches have become essential in large systems.",
    "However, existing caches remain expensive and difficult to size.",
    "We propose Tidy, a cache that predicts its own size.",
    "It uses a small model that is trained on access traces.",
    "Experiments show that Tidy reduces misses by 31% over the best baseline.",
    "This opens the way to caches that need no operator.",
]


def test_each_row_is_a_distribution_over_the_roles() -> None:
    matrix = score(PLAIN)
    assert matrix.shape == (len(PLAIN), len(ROLES))
    assert np.allclose(matrix.sum(axis=1), 1.0)


def test_the_plain_abstract_gets_the_roles_that_a_reader_gives_it() -> None:
    likeliest = [ROLES[at] for at in score(PLAIN).argmax(axis=1)]
    assert likeliest == ["background", "background", "method", "method", "result", "result"]


def test_no_sentences_give_no_rows() -> None:
    assert score([]).shape == (0, len(ROLES))
