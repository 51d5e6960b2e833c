"""Says what each sentence of an abstract is for: a small network that reads the sentences, and a chain over them.

The weights were learned by `training/roles.py` from CSAbstruct (Cohan et al., 2019; Apache-2.0), for abstracts of medicine
from PubMedQA (Jin et al., 2019; MIT), and for the words from arXiv's abstracts (CC0); docs/decisions/0030-roles.md says what
they reach.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from bot.summarise.chain import Matrix, marginals
from bot.summarise.network import Network, read, weighed
from bot.summarise.shipped import read_from

ROLES = ("background", "objective", "method", "result", "other")
RESULT = ROLES.index("result")

SHIPPED = Path(__file__).parent / "models" / "roles.npz"


def score(sentences: Sequence[str]) -> Matrix:
    """Return how likely each sentence has each role: one row per sentence, columns as in ROLES, rows sum to 1."""
    return probabilities(sentences, _network())


def probabilities(sentences: Sequence[str], network: Network) -> Matrix:
    """Return what `score` returns, by another network."""
    if not sentences:
        return np.zeros((0, len(ROLES)))
    return marginals(*weighed(sentences, network))


@cache
def _network() -> Network:
    return read_from(SHIPPED, role_model)


def role_model(path: Path) -> Network:
    """Return the network at `path`; raises ValueError for one that tells other kinds of sentences apart."""
    network = read(path)
    if len(network.out_bias) != len(ROLES):
        raise ValueError(f"a network of {len(network.out_bias)} roles")
    return network
