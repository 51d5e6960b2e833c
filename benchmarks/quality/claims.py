"""How many corrupted claims of a model are caught, and how many true ones are refused.

Claims: the parts that the extractive summary shows of abstracts of the corpus's last month, of which nothing was learned;
each is corrupted in each way that it allows (`benchmarks/quality/corruptions.py`). True claims: the same parts as they are,
and the summaries that people wrote of SciTLDR's and ACLSum's papers, which may say what only the paper says. SciTLDR's that
pass are corrupted as well: a claim in other words than the text's is harder to judge. Paraphrases: true sentences and subtle
falsehoods about other abstracts, written by hand as a good model would write them (`benchmarks/quality/paraphrased`); with
`--half aside`, of the half that nothing was chosen by. Beside it: the check of numbers, names and words alone.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import papers
from benchmarks.quality.corruptions import KINDS, gathered
from benchmarks.quality.figures import Figure, of_shares
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.sentence import references
from bot.models import Item
from bot.summarise.english.sentences import split
from bot.summarise.extractive import extract
from bot.summarise.llm.claims import Source
from bot.summarise.llm.grounding import faults

_COUNT, _MONTH, _SEED = 600, 4500, 11
_SHORTEST = 200  # characters of an abstract
_REACH = {
    "number changed": 0.99,
    "name invented": 0.99,
    "another subject's number": 0.70,
    "negation": 0.80,
    "direction reversed": 0.70,
    "consequence appended": 0.60,
}
_PARAPHRASED = Path(__file__).parent / "paraphrased"
_REFUSED = {"scitldr_a.dev": 0.30, "aclsum.train": 0.25, "aclsum.val": 0.25}


class Claim(NamedTuple):
    """What is said, and the text that it is said of; `of` numbers the text."""

    said: str
    source: str
    of: int


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield a figure per kind of corruption, then those of what is refused though it is true."""
    if given.corpus is not None:
        claims = extracts(chosen(papers(given.corpus)))
        for kind in KINDS:
            yield _figure("fresh abstracts", f"caught: {kind}", corrupted(claims, kind), _REACH.get(kind))
        yield _figure("fresh abstracts", "refused: true extracts", claims, 0.05, lower=True)
    for name in (*given.folder.parts("scitldr_a"), *given.folder.parts("aclsum")):
        claims = list(written(given.folder.records(name)))
        yield _figure(name, "refused: summaries by people", claims, _REFUSED.get(name), lower=True)
        if name.startswith("scitldr_a") and not name.endswith(".train"):
            passing = [claim for claim, refused in zip(claims, _refused(claims)[1], strict=True) if not refused]
            for kind in KINDS:
                yield _figure(name, f"caught in people's words: {kind}", corrupted(passing, kind))
    yield from _paraphrases(given.half)


def paraphrases(half: str) -> Mapping[str, list[Claim]]:
    """Return the sentences written by hand by what is wrong with them; the true ones under ""."""
    found: dict[str, list[Claim]] = {}
    for of, line in enumerate((_PARAPHRASED / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()):
        record = json.loads(line)
        source = f"{record['title']}\n{record['abstract']}"
        for kind, said in [*(("", each) for each in record["true"]), *record["false"]]:
            found.setdefault(kind, []).append(Claim(said, source, of))
    return found


def _paraphrases(half: str) -> Iterator[Figure]:
    name, written_by_hand = f"paraphrases, {half}", paraphrases(half)
    false = {kind: claims for kind, claims in sorted(written_by_hand.items()) if kind}
    yield _figure(name, "refused: true paraphrases", written_by_hand[""], lower=True)
    yield _figure(name, "caught: subtle falsehoods", [claim for claims in false.values() for claim in claims])
    for kind, claims in false.items():
        yield _figure(name, f"caught: {kind}", claims)


def chosen(items: Sequence[Item]) -> list[Item]:
    """Return some of the last month's papers."""
    fresh = [item for item in items[-_MONTH:] if len(item.abstract) > _SHORTEST]
    return random.Random(_SEED).sample(fresh, min(_COUNT, len(fresh)))


def extracts(items: Sequence[Item]) -> list[Claim]:
    """Return the parts that the extractive summaries show."""
    return [
        Claim(part.text, f"{item.title}\n{item.abstract}", of)
        for of, item in enumerate(items)
        for part in extract(item).parts
        if part.found
    ]


def written(records: Sequence[dict[str, object]]) -> Iterator[Claim]:
    """Yield the summaries that people wrote."""
    for of, record in enumerate(records):
        if "source" in record:
            text, told = record["source"], references(record)
        else:
            text, told = record["sentences"]["abstract"], record["summary"].values()  # type: ignore[index, attr-defined]
        source = f"{record.get('title') or ''}\n{' '.join(text)}"  # type: ignore[arg-type]
        yield from (Claim(each, source, of) for each in told if each)


def corrupted(claims: Sequence[Claim], kind: str) -> list[Claim]:
    """Return those of the claims that can be corrupted so, corrupted."""
    elsewhere = gathered([claim.source for claim in claims], [each for claim in claims for each in split(claim.source)])
    chance = random.Random(_SEED)
    made = [(claim, KINDS[kind](claim.said, claim.source, elsewhere, chance)) for claim in claims]
    return [Claim(said, claim.source, claim.of) for claim, said in made if said]


def _figure(name: str, figure: str, claims: Sequence[Claim], reach: float | None = None, *, lower: bool = False) -> Figure:
    tokens, ours = _refused(claims)
    results = [of_shares(method, _by_text(claims, found)) for method, found in (("ours", ours), ("tokens alone", tokens))]
    return Figure(name, figure, results[:1], results[1:], len(claims), "claims", reach, percent=True, lower=lower)


def _refused(claims: Sequence[Claim]) -> tuple[list[bool], list[bool]]:
    """Whether each claim is refused for its numbers, names and words alone, and whether it is refused."""
    tokens = [bool(faults(claim.said, claim.source)) for claim in claims]
    sources = {claim.source: Source(claim.source) for claim in claims}
    return tokens, [
        alone or not sources[claim.source].bears_out(claim.said) for alone, claim in zip(tokens, claims, strict=True)
    ]


def _by_text(claims: Sequence[Claim], found: Sequence[bool]) -> list[tuple[float, float]]:
    """Per text, how many of its claims were found, and how many there are: claims of one text are drawn together."""
    counts: dict[int, tuple[float, float]] = {}
    for claim, one in zip(claims, found, strict=True):
        caught, count = counts.get(claim.of, (0.0, 0.0))
        counts[claim.of] = (caught + one, count + 1)
    return list(counts.values())
