"""What is shown of abstracts that were marked by reading (`benchmarks/quality/marked/README.md` has the rules).

A part that is shown is right when a sentence that it rests on has a marked span for that part and its text has at least 60
% of that span's telling words; a second figure asks of a span of more than 25 words, which no part may have, as many as 25
of its words would have on average. Of each part: right, of the abstracts that have one, and of those of which one is shown;
shown, of those that have none. Of why it matters, too, how many of those that have one are shown one, right or not. The
headline result is right where the gist or the evidence has it; "on the card", where any line of a card made for no topic
does. Whether an abstract tells no result, in words either: the AUC of its highest score for Evidence, and of its roles.
Denials: of other abstracts that were once said to name no problem or no result, how many still are, and of these how many
have none. How far two readers agree, on the abstracts that were marked twice: the sentences' letters (and Cohen's kappa of
these), whether there is a part, and where both found one, whether the second's best sentence is among the first's. Those
of `fresh.jsonl` make a set of their own: `marked twice, fresh`.

`--half aside` and `--half fresh` measure those that nothing was chosen by (README.md says when each was first opened);
without it, the development half; `--half further` measures 90 others, marked before their summaries were seen. A text
that may not be kept here is found in ACLSum's files by its id, its hash checked; those that are not there are left out, and
the count says so.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.figures import Figure, of_scores, of_sums, of_values
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import Floats, Truths, auc
from benchmarks.quality.records import Folder, Record
from bot.digest.card import entry
from bot.models import PARTS, Item, Kind, Ranked
from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS
from bot.summarise.choice.candidates import MOST_WORDS
from bot.summarise.choice.roles import RESULT, role_probabilities
from bot.summarise.choice.scoring import EVIDENCE, METHOD, PROBLEM, WHY, part_scores
from bot.summarise.english.sentences import split
from bot.summarise.extractive import extract
from bot.summarise.short_gist import short_gist

LETTERS = {PROBLEM: "p", METHOD: "m", EVIDENCE: "e", WHY: "w"}
HEADLINE = "h"
KINDS = "BPIADRCVFLK"  # what a sentence mainly is

_CERTAIN = 1 - 1e-9
_ENOUGH = 0.6  # of a span's telling words
_STEM = 7  # letters by which two forms of a word are told to be one
_REACH_SHOWN = {PROBLEM: 0.85, METHOD: 0.92, EVIDENCE: 0.88, WHY: 0.85}
_REACH_WHY, _REACH_HEADLINE = 0.6, 0.8
_REACH_DENIED = 0.9  # its lower bound

Spans = Sequence[tuple[str, str]]  # of each, the sentence in which it stands, and its own words


@dataclass(frozen=True)
class Marked:
    """An abstract, and the spans that were marked in it by the letters of the rules."""

    title: str
    text: str
    spans: Mapping[str, Spans]

    @cached_property
    def item(self) -> Item:
        """The abstract as a paper."""
        return Item(key="url:marked", kind=Kind.PAPER, title=self.title, abstract=self.text)


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the figures of the half that was asked for, and the agreement of two readers."""
    path = given.marked / f"{given.half}.jsonl"
    if path.exists():
        found = read(path, given.folder)
        if found:
            yield from _figures(f"marked, {given.half}", found)
            yield from _no_result(f"marked, {given.half}", found)
    yield from _denials(_lines(given.marked / "denied.jsonl"))
    for name, file, halves in _TWICE:
        yield from _agreement(name, given.marked, file, halves)


# --- reading


def read(path: Path, folder: Folder) -> list[Marked]:
    """Return the marked abstracts of a file whose text is there; raises ValueError where it is another than was marked."""
    records = _lines(path)
    kept = _elsewhere(folder) if any("sentences" not in record for record in records) else {}
    return [found for record in records if (found := _marked(record, kept))]


def _lines(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _elsewhere(folder: Folder) -> dict[str, Record]:
    return {f"acl:{record['id']}": record for record in folder.all(folder.parts("aclsum"))}


def _marked(record: Record, kept: Mapping[str, Record]) -> Marked | None:
    """The record with its text, None where that is not there."""
    title, sentences = record.get("title") or "", record.get("sentences")
    if sentences is None:
        if record["id"] not in kept:
            return None
        title, sentences = kept[record["id"]].get("title") or "", kept[record["id"]]["sentences"]["abstract"]
        if sha256("\n".join(sentences).encode()).hexdigest() != record["sha256"]:
            raise ValueError(f"the text of {record['id']} is another than the one that was marked")
    marks = record["marks"]
    spans = {letter: [_span(span, sentences) for span in marks[letter]] for letter in (*LETTERS.values(), HEADLINE)}
    return Marked(title, " ".join(sentences), spans)


def _span(span: Sequence[Any], sentences: Sequence[str]) -> tuple[str, str]:
    """`[n]`, `[n, "words"]`, or `[n, begin, end]` in characters of that sentence."""
    sentence = sentences[span[0]]
    if len(span) == 1:
        return sentence, sentence
    return sentence, span[1] if isinstance(span[1], str) else sentence[span[1] : span[2]]


# --- what is shown


def is_right(text: str, quotes: Sequence[str], spans: Spans, *, most: int = 0) -> bool:
    """Say whether a text that rests on these sentences says one of the marked spans, or `most` words' worth of it."""
    said = _telling(text)
    return any(
        _is_of(quotes, sentence)
        and _share(_telling(words), said) >= _ENOUGH * (min(1.0, most / max(1, len(words.split()))) if most else 1.0)
        for sentence, words in spans
    )


def _is_of(quotes: Sequence[str], sentence: str) -> bool:
    """A sentence may have been split otherwise when it was marked."""
    return any(quote in sentence or sentence in quote for quote in quotes)


def _telling(text: str) -> set[str]:
    return {word[:_STEM] for word in tokens(text) if word not in STOPWORDS}


def _share(wanted: set[str], said: set[str]) -> float:
    return len(wanted & said) / len(wanted) if wanted else 1.0


def _figures(name: str, found: Sequence[Marked]) -> Iterator[Figure]:
    summaries = [extract(each.item) for each in found]
    for column, part in enumerate(PARTS):
        spans = [each.spans[LETTERS[part]] for each in found]
        parts = [summary.parts[column] for summary in summaries]
        right = [each.found and is_right(each.text, each.quotes, own) for each, own in zip(parts, spans, strict=True)]
        yield from _of_part(name, part, [each.found for each in parts], right, [bool(own) for own in spans])
        held = [
            is_right(each.text, each.quotes, own, most=MOST_WORDS)
            for each, own in zip(parts, spans, strict=True)
            if each.found
        ]
        if held:
            yield _share_of(name, f"{part.lower()}, right as far as {MOST_WORDS} words go, of those shown", held)
    yield from _headlines(name, found, [summary.parts[PARTS.index(EVIDENCE)] for summary in summaries])


def _of_part(name: str, part: str, shown: Sequence[bool], right: Sequence[bool], there: Sequence[bool]) -> Iterator[Figure]:
    held = [at for at, holds in enumerate(there) if holds]
    without = [at for at, holds in enumerate(there) if not holds]
    told = [at for at, holds in enumerate(shown) if holds]
    low = part.lower()
    if held and part == WHY:
        yield _share_of(name, f"{low}, shown, of those that have one", [shown[at] for at in held], _REACH_WHY)
    if held:
        yield _share_of(name, f"{low}, right, of those that have one", [right[at] for at in held])
    if told:
        yield _share_of(name, f"{low}, right, of those shown", [right[at] for at in told], _REACH_SHOWN[part])
    if without:
        yield _share_of(name, f"{low}, shown, of those that have none", [shown[at] for at in without], lower=True)


def _headlines(name: str, found: Sequence[Marked], evidence: Sequence[Any]) -> Iterator[Figure]:
    gists, either, cards = [], [], []
    for each, part in zip(found, evidence, strict=True):
        spans = each.spans[HEADLINE]
        if not spans:
            continue
        gist = short_gist(each.item)
        gists.append(is_right(gist.text, [gist.quote], spans))
        either.append(gists[-1] or (part.found and is_right(part.text, part.quotes, spans)))
        card = entry(Ranked(each.item, 0.0), extract(each.item)).card
        cards.append(gists[-1] or any(is_right(line.text, line.quotes, spans) for line in card))
    if either:
        yield _share_of(name, "headline, right in gist or evidence", either, _REACH_HEADLINE)
        yield _share_of(name, "headline, right in the gist", gists)
        yield _share_of(name, "headline, right on the card", cards)


def _share_of(name: str, figure: str, values: Sequence[bool], reach: float | None = None, *, lower: bool = False) -> Figure:
    ours = [of_values("ours", values)]
    return Figure(name, figure, ours, (), len(values), "abstracts", reach, percent=True, lower=lower)


def _no_result(name: str, found: Sequence[Marked]) -> Iterator[Figure]:
    """How well the lack of any result is told."""
    without: Truths = np.array([not each.spans[LETTERS[EVIDENCE]] for each in found])
    if without.all() or not without.any():
        return
    texts = [split(each.text) for each in found]
    best = [part_scores(text, each.title)[:, PARTS.index(EVIDENCE)].max() for text, each in zip(texts, found, strict=True)]
    likely = [np.log1p(-np.minimum(role_probabilities(text)[:, RESULT], _CERTAIN)).sum() for text in texts]
    scores = {"by the score for Evidence": -np.array(best), "by the roles": np.array(likely)}
    results = [of_scores(method, each, without, auc) for method, each in scores.items()]
    yield Figure(name, "no result reported, AUC", results, (), len(found), "abstracts")


# --- what is denied

_DENIES = re.compile(r"\b(?:does not|reports? no|names? no)\b")  # not `No abstract was available.`
_ASKED = {"problem": PROBLEM, "result": EVIDENCE}


def _denials(records: Sequence[Record]) -> Iterator[Figure]:
    """How many of those that were denied a part still are, and how often that is true."""
    for asked, part in _ASKED.items():
        of = [record for record in records if record["asked"] == asked]
        denied = [_is_denied(Marked(record["title"], " ".join(record["sentences"]), {}).item, part) for record in of]
        if of:
            yield _share_of("denied", f"{asked}, denied", denied)
        true = [not record["there"] for record, holds in zip(of, denied, strict=True) if holds]
        if true:
            yield _share_of("denied", f"{asked}, true where denied", true, _REACH_DENIED)


def _is_denied(item: Item, part: str) -> bool:
    """Whether the summary says in words that the part is not there; a part that is left out is not denied."""
    told = extract(item).parts[PARTS.index(part)]
    return not told.found and _DENIES.search(told.text) is not None


# --- two readers


_TWICE = (  # of each set, its name, the second reader's file, and the first's
    ("marked twice", "second", ("development", "aside")),
    ("marked twice, fresh", "second_fresh", ("fresh",)),
)


def _agreement(name: str, folder: Path, file: str, halves: Sequence[str]) -> Iterator[Figure]:
    """How far the second reader's marks in a file are those of the same abstracts in these halves."""
    again = {record["id"]: record["marks"] for record in _lines(folder / f"{file}.jsonl")}
    marks = {record["id"]: record["marks"] for half in halves for record in _lines(folder / f"{half}.jsonl")}
    pairs = [(marks[key], own) for key, own in again.items() if key in marks]
    if not pairs:
        return
    tables = np.array([_confusion(one["l"], other["l"]) for one, other in pairs])
    for figure, kind, percent in (("letters of sentences agree", _alike, True), ("kappa of the letters", _kappa, False)):
        yield Figure(name, figure, [of_sums("readers", tables, kind)], (), len(pairs), "abstracts", percent=percent)
    for part, letter in {**LETTERS, "Headline": HEADLINE}.items():
        there = [bool(one[letter]) == bool(other[letter]) for one, other in pairs]
        both = [
            other[letter][0][0] in {span[0] for span in one[letter]} for one, other in pairs if one[letter] and other[letter]
        ]
        yield _share_of(name, f"{part.lower()}, both say whether there is one", there)
        if both:
            yield _share_of(name, f"{part.lower()}, the second's best is among the first's", both)


def _confusion(one: str, other: str) -> Floats:
    counts = Counter(zip(one, other, strict=True))
    return np.array([[counts[left, right] for right in KINDS] for left in KINDS], float)


def _alike(tables: Floats) -> Floats:
    right = np.diagonal(tables, axis1=-2, axis2=-1).sum(axis=-1)
    return np.asarray(right / tables.sum(axis=(-2, -1)), float)


def _kappa(tables: Floats) -> Floats:
    """Agreement beyond chance (Cohen, 1960)."""
    total = tables.sum(axis=(-2, -1))
    by_chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / total**2
    return np.asarray((_alike(tables) - by_chance) / np.maximum(1 - by_chance, 1e-9), float)
