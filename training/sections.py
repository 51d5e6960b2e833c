"""Reads the roles of sentences off abstracts that name their sections, as those of medicine do."""

from collections.abc import Mapping
from typing import Any

from bot.summarise.english.sentences import split

Record = Mapping[str, Any]

_SECTIONS = (  # the first that a heading holds says its role, other headings are left out
    ("RESULT", "result"), ("FINDING", "result"), ("CONCLUSION", "result"),
    ("METHOD", "method"), ("DESIGN", "method"), ("SETTING", "method"), ("PATIENT", "method"), ("PARTICIPANT", "method"),
    ("MEASURE", "method"), ("INTERVENTION", "method"), ("SUBJECT", "method"),
    ("BACKGROUND", "background"), ("INTRODUCTION", "background"), ("CONTEXT", "background"),
    ("OBJECTIVE", "objective"), ("PURPOSE", "objective"), ("AIM", "objective"),
)  # fmt: skip


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
