"""What a reader would stumble over in the summaries of real papers, counted, and some of them printed for reading.

    python -m benchmarks.audit --corpus FILE [--count 2000] [--show 60] [--seed 7]

takes `--count` papers of the file by lot, reads their abstracts as the arXiv source does, and prints per part, of the parts
that were found, in per cent:

    dangling    a sentence begins with This, These, It, They, … that points at a sentence which is not shown before it
    we          the authors still speak: we, our, us
    fragment    a sentence of fewer than three words, a heading, one that begins in lower case, or an open bracket
    foreign     a number, or a word with a capital or a digit in it, that the abstract does not have
    cut         an ellipsis at the end
    long        more than 45 words (two sentences: 70)

and how often the part is said to be missing, its mean length in words, and how many summaries say the same twice. Only what
can be counted is: whether a sentence is the right one, `benchmarks.quality` says.
"""

import argparse
import random
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.corpus import papers
from bot.models import PARTS, Item, Summary, SummaryPart
from bot.sources.tex import readable
from bot.summarise.extractive import extract
from bot.summarise.sentences import lower_case_names, split

_SELF = (
    r"(?:[\w-]+ ){0,2}(?:paper|work|study|article|survey|thesis|report|review|letter|chapter|manuscript|project|research)\b"
)
_POINTS = re.compile(
    r"(?:(?:while|although|though|as|since|because|when|if|unlike|given|despite) |(?:while|although) \w+, |"
    r"(?:on|in|for|with|to|by|using|across|compared|unlike|at)\b[^,;:]{0,90}, (?=(?:it|they|this|these)\b))?"
    rf"(?:this(?! {_SELF})|these|those(?! who\b)|they|such(?! as\b)|its|their|he|she|both(?!.{{0,80}}\band\b)|"
    r"it(?! (?:is|has been|was|remains|becomes|turns out)\b.{0,60}\b(?:that|to|whether|how|if|why|which)\b)|"
    r"the (?:former|latter)|instead(?! of)|for (?:example|instance)|on the other hand|however|moreover|therefore|thus)\b",
    re.IGNORECASE,
)
_WE = re.compile(r"\b(?:[Ww]e|[Oo]ur|us|[Oo]urs|ourselves)\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![\w-])(?=\w*[A-Z0-9])\w+")
_LEAST_WORDS, _LONG, _LONG_PAIR = 3, 45, 70  # `Code is available.` is a sentence
_SAME = 0.8  # of the words of the shorter of two parts: they say the same
_COLUMNS = ("missing", "dangling", "we", "fragment", "foreign", "cut", "long")


def stumbles(part: SummaryPart, text: str) -> Iterator[str]:
    """Yield which of the faults the part has; "missing" alone when it was not found."""
    if not part.found:
        yield "missing"
        return
    sentences = split(part.text)
    if any(_POINTS.match(told) for told in sentences if not _follows(told, sentences, part, text)):
        yield "dangling"
    if _WE.search(part.text):
        yield "we"
    if any(map(_is_fragment, sentences, [lower_case_names(text)] * len(sentences))):
        yield "fragment"
    if any(_foreign(told, text) for told in sentences):
        yield "foreign"
    if part.text.endswith("…"):
        yield "cut"
    if len(part.text.split()) > (_LONG if len(part.quotes) == 1 else _LONG_PAIR):
        yield "long"


def _follows(told: str, sentences: Sequence[str], part: SummaryPart, text: str) -> bool:
    """Whether the sentence is the part's second and its first stands right before it in the abstract."""
    if told == sentences[0] or len(part.quotes) < 2:
        return False
    return " ".join(part.quotes) in " ".join(text.split())


def _is_fragment(told: str, names: frozenset[str]) -> bool:
    first = told.split()[0].rstrip(",:;")
    low = first.isalpha() and first.islower() and first not in names
    open_one = told.count("(") > told.count(")")  # more of the other: points such as 1) and ii)
    return low or len(told.split()) < _LEAST_WORDS or told.endswith(":") or open_one


def _foreign(told: str, text: str) -> bool:
    first, _, rest = told.partition(" ")
    numbers = set(_NUMBER.findall(told)) - set(_NUMBER.findall(text))
    names = set(_NAME.findall(rest)) | (set(_NAME.findall(first)) if any(sign.isupper() for sign in first[1:]) else set())
    return bool(numbers or {name for name in names if name not in text and name not in {"The", "They"}})


def says_the_same_twice(summary: Summary) -> bool:
    """Whether a sentence stands in two parts, or two parts have nearly the same words."""
    found = [part.text for part in summary.parts if part.found]
    bags = [set(text.lower().split()) for text in found]
    alike = any(
        len(one & other) > _SAME * min(len(one), len(other)) for at, one in enumerate(bags) for other in bags[at + 1 :]
    )
    told = [sentence for text in found for sentence in split(text)]
    return alike or len(set(told)) < len(told)


def _read(path: Path, count: int, seed: int) -> list[Item]:
    drawn = random.Random(seed).sample(papers(path), count)
    return [replace(item, title=readable(item.title), abstract=readable(item.abstract)) for item in drawn]


def _table(made: Sequence[tuple[Item, Summary]]) -> Iterator[str]:
    yield f"{'':16s}" + "".join(f"{name:>10s}" for name in (*_COLUMNS, "words"))
    for at, name in enumerate(PARTS):
        told = [(summary.parts[at], item.abstract) for item, summary in made]
        counts = Counter(fault for part, text in told for fault in stumbles(part, text))
        found = len(told) - counts["missing"]
        shares = [100 * counts[fault] / (len(told) if fault == "missing" else max(1, found)) for fault in _COLUMNS]
        words = sum(len(part.text.split()) for part, _ in told if part.found) / max(1, found)
        yield f"{name:16s}" + "".join(f"{share:10.1f}" for share in shares) + f"{words:10.1f}"
    same = sum(says_the_same_twice(summary) for _, summary in made)
    whole = sum(len(part.text.split()) for _, summary in made for part in summary.parts) / len(made)
    yield f"{len(made)} summaries, {whole:.0f} words each; {same} say something twice"


def _shown(item: Item, summary: Summary) -> str:
    told = (
        textwrap.fill(
            f"{part.name}: {part.text}  {' '.join(f'<{fault}>' for fault in stumbles(part, item.abstract))}",
            118,
            initial_indent="  ",
            subsequent_indent="    ",
        )
        for part in summary.parts
    )
    return "\n".join((f"\n# {item.title} [{item.key}]", *told))


def main() -> None:
    """Print the table, then the summaries to read."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.audit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    made = [(item, extract(item)) for item in _read(given.corpus, given.count, given.seed)]
    print("\n".join(_table(made)))
    print("\n".join(_shown(*each) for each in made[: given.show]))


if __name__ == "__main__":
    main()
