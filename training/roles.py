"""Learns the role model that `bot.summarise.roles` reads: a small network and a chain over the sentences of an abstract.

Taught on both published parts of CSAbstruct for development (Cohan et al., 2019; Apache-2.0; 1,963 abstracts, 13,359
sentences); its words start from `training/words.npz` (arXiv's abstracts, metadata CC0).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bot.summarise.chain import Matrix
from bot.summarise.network import Network, write
from bot.summarise.roles import ROLES, probabilities, reported
from training import words
from training.network import taught, text
from training.sources import Sources

Record = Mapping[str, Any]  # of CSAbstruct: `sents`, `labels`

_SEED = 7


def build(sources: Sources, target: Path) -> None:
    """Learn from CSAbstruct and write the model to `target`."""
    write(learned([*sources.quality("csabstruct.train"), *sources.quality("csabstruct.dev")]), target)


def learned(records: Sequence[Record]) -> Network:
    """Return a network that learned the roles of the sentences of `records`."""
    places, vectors = words.read()
    texts = [text(one["sents"], [ROLES.index(label) for label in one["labels"]], places, len(ROLES)) for one in records]
    return taught(texts, places, vectors)


def cross_validated(records: Sequence[Record], folds: int = 5) -> list[Matrix]:
    """Return per record the probabilities of its sentences' roles by a model that learned from the other folds alone."""
    found: list[Matrix] = [np.zeros((0, len(ROLES)))] * len(records)
    for held, network in _by_folds(records, folds):
        for at in held:
            found[at] = probabilities(records[at]["sents"], network)
    return found


def reports_cross_validated(records: Sequence[Record], folds: int = 5) -> list[float]:
    """Return per record how likely it is that it reports results, by a model that learned from the other folds alone."""
    found = [0.0] * len(records)
    for held, network in _by_folds(records, folds):
        for at in held:
            found[at] = reported(records[at]["sents"], network)
    return found


def _by_folds(records: Sequence[Record], folds: int) -> Iterator[tuple[list[int], Network]]:
    """Per fold, what was held back and what was learned from the others."""
    order = np.random.default_rng(_SEED).permutation(len(records)).tolist()
    for fold in range(folds):
        held = order[fold::folds]
        others = frozenset(range(len(records))) - frozenset(held)
        yield held, learned([records[at] for at in sorted(others)])
