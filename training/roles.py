"""Learns the model that `bot.summarise.choice.roles` reads: a small network and a chain over the sentences of an abstract.

Taught on both published parts of CSAbstruct for development (Cohan et al., 2019; Apache-2.0; 1,963 abstracts, 13,359
sentences), and for the customs of medicine on the structured abstracts of PubMedQA (Jin et al., 2019; MIT; 1,000
abstracts); its words start from `training/words.npz` (arXiv's abstracts, metadata CC0).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bot.summarise.choice.roles import ROLES, Matrix, Network, probabilities_by, write_network
from bot.summarise.english.sentences import split
from training import words
from training.medicine import with_medicine
from training.network import Text, text_of, train
from training.sources import Sources

Record = Mapping[str, Any]  # `sents`, `labels`, `medical` where it is of medicine

_SEED = 7
_SECTIONS = (  # the first that a heading holds says its role, other headings are left out
    ("RESULT", "result"), ("FINDING", "result"), ("CONCLUSION", "result"),
    ("METHOD", "method"), ("DESIGN", "method"), ("SETTING", "method"), ("PATIENT", "method"), ("PARTICIPANT", "method"),
    ("MEASURE", "method"), ("INTERVENTION", "method"), ("SUBJECT", "method"),
    ("BACKGROUND", "background"), ("INTRODUCTION", "background"), ("CONTEXT", "background"),
    ("OBJECTIVE", "objective"), ("PURPOSE", "objective"), ("AIM", "objective"),
)  # fmt: skip


def build(sources: Sources, target: Path) -> None:
    """Learn from CSAbstruct and PubMedQA and write the model to `target`."""
    names = ("csabstruct.train", "csabstruct.dev")
    records = [record for name in names for record in sources.quality(name)]
    write_network(learn([*records, *map(of_medicine, sources.quality("pubmedqa_l"))]), target)


def of_medicine(record: Record) -> Record:
    """Return an abstract of PubMedQA as the network is taught it."""
    return {**structured(record), "medical": True}


def structured(record: Record) -> dict[str, list[str]]:
    """Return the sentences (`sents`) of an abstract of PubMedQA, each with the role of its section (`labels`).

    The headings are left out, so what a sentence is for must be told by its words. PubMedQA (Jin et al., 2019; MIT) has
    the sections as `contexts`, their headings as `labels`, and the last one as `conclusion`.
    """
    found: dict[str, list[str]] = {"sents": [], "labels": []}
    for text, heading in zip([*record["contexts"], record["conclusion"]], [*record["labels"], "CONCLUSION"], strict=True):
        role = next((role for word, role in _SECTIONS if word in heading), None)
        if role:
            sentences = split(text)
            found["sents"] += sentences
            found["labels"] += [role] * len(sentences)
    return found


def learn(records: Sequence[Record]) -> Network:
    """Return a network that learned the roles of the sentences of `records`, of which those of medicine may be none."""
    places, vectors = words.read()
    texts, medical = (
        [_text(one, places) for one in records if bool(one.get("medical")) == is_so] for is_so in (False, True)
    )
    network = train(texts, places, vectors)
    return with_medicine(network, medical, texts) if medical else network


def _text(record: Record, places: Mapping[str, int]) -> Text:
    return text_of(record["sents"], [ROLES.index(label) for label in record["labels"]], places, len(ROLES))


def cross_validated(records: Sequence[Record], folds: int = 5) -> list[Matrix]:
    """Return per record the probabilities of its sentences' roles by a model that learned from the other folds alone."""
    found: list[Matrix] = [np.zeros((0, len(ROLES)))] * len(records)
    for held, network in _by_folds(records, folds):
        for at in held:
            found[at] = probabilities_by(records[at]["sents"], network)
    return found


def _by_folds(records: Sequence[Record], folds: int) -> Iterator[tuple[list[int], Network]]:
    """Per fold, what was held back of each field and what was learned from the others."""
    medical = np.array([bool(record.get("medical")) for record in records])
    fields = [np.flatnonzero(medical == is_so) for is_so in (False, True)]
    orders = [field[np.random.default_rng(_SEED).permutation(len(field))] for field in fields]
    for fold in range(folds):
        held = [int(at) for order in orders for at in order[fold::folds]]
        others = frozenset(range(len(records))) - frozenset(held)
        yield held, learn([records[at] for at in sorted(others)])
