"""What a reader would stumble over in the summaries of real papers, counted, and some of them printed for reading.

    python -m benchmarks.audit --corpus FILE [--count 2000] [--show 60] [--seed 7]

takes `--count` papers of the file by lot, reads their abstracts as the arXiv source does, and prints per part, of the parts
that were found, in per cent:

    dangling    a sentence begins with This, These, It, They, … that points at a sentence which is not shown before it
    inside      this, these or such stands before a noun, inside a sentence, that is nowhere before: not in the title, not in
                what is shown; `this gap` is resolved by any problem that is shown
    we          somebody still speaks: we, our, us, I, my, the authors or everybody
    fragment    a sentence of fewer than three words, a heading, one that begins in lower case, or an open bracket
    listed      the first of several points without the second, or a later one without the first
    address     an address of the web
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
from bot.sources.markup.tex import readable
from bot.summarise.english.sentences import lower_case_names, split
from bot.summarise.extractive import extract

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
_WE = re.compile(r"\b(?:[Ww]e|[Oo]ur|us|[Oo]urs|ourselves|[Mm]y|[Mm]yself)\b|(?<![\w“\"'‘&.-])I (?=[a-z]+\b(?!['’]))")
_INSIDE = re.compile(
    r"(?<=[a-z,:(] )(?:this|these|such|those) (?!(?:as|an?|is|was|are|can|may|will|who|which|that|of|in|to|by|through|way|"
    rf"day|time|year)\b|{_SELF})((?:[\w-]+ ){{0,2}}?[a-z][\w-]{{2,}})(?=[.,;:)]| (?:is|are|was|were|has|have|can|may|by|"
    r"for|in|of|to|on|with|and|or|that|which|as|from|at|when|while|through|via|but|remains?|do|does|often|into|using)\b)"
)
_WANTED = re.compile(
    r"gap|challeng|issue|problem|limit|shortcom|concern|bottleneck|drawback|need|question|trade|difficult|constraint|obstacle"
)
_FIRST = re.compile(r"(?<!\w)\(?(?:1|i|a)\)|: [Ff]irst(?:ly)?\b")
_LATER = re.compile(r"(?<!\w)\(?(?:[2-9]|ii|iii|iv|b|c)\.?\)|\b(?:[Ss]econd(?:ly)?|then|finally|another|other)\b")
_NUMBERED = re.compile(r"[;,.] (?:and )?\(?(?:[2-9]|ii|iii|iv)\.?\)(?: |\W*$)")
_ADDRESS = re.compile(r"https?: ?//|www\.|github\.com")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![\w-])(?=\w*[A-Z0-9])\w+")
_LEAST_WORDS, _LONG, _LONG_PAIR = 3, 45, 70  # `Code is available.` is a sentence
_SAME = 0.8  # of the words of the shorter of two parts: they say the same
COLUMNS = ("missing", "dangling", "inside", "we", "fragment", "listed", "address", "foreign", "cut", "long")


def faults(part: SummaryPart, text: str, before: str = "") -> Iterator[str]:
    """Yield which of the faults the part has; "missing" alone when it was not found.

    `text` is the abstract, `before` what a reader has read: the title and the parts above.
    """
    if not part.found:
        yield "missing"
        return
    sentences, words = split(part.text), len(part.text.split())
    held = {
        "dangling": any(_POINTS.match(told) for told in sentences if not _follows(told, sentences, part, text)),
        "inside": any(_is_open(match, before, part.text) for match in _INSIDE.finditer(part.text)),
        "we": _WE.search(part.text) is not None,
        "fragment": any(map(_is_fragment, sentences, [lower_case_names(text)] * len(sentences))),
        "listed": any(map(_is_half_a_list, sentences)),
        "address": _ADDRESS.search(part.text) is not None,
        "foreign": any(_foreign(told, text) for told in sentences),
        "cut": part.text.endswith("…"),
        "long": words > (_LONG if len(part.quotes) == 1 else _LONG_PAIR),
    }
    yield from (fault for fault, holds in held.items() if holds)


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


def _is_open(match: re.Match[str], before: str, told: str) -> bool:
    words = [word.lower()[: max(4, len(word) - 3)] for word in match.group(1).split()]
    read = f"{before} {told[: match.start()]}".lower()
    return not any(word in read for word in words) and not (before.count("\n") and _WANTED.search(match.group(1)))


def _is_half_a_list(told: str) -> bool:
    first, numbered = _FIRST.search(told), _NUMBERED.search(told)
    only_first = (
        first is not None and told[: first.start()].rstrip().endswith((":", ",")) and not _LATER.search(told, first.end())
    )
    return only_first or (numbered is not None and (first is None or first.start() > numbered.start()))


def _shown_before(item: Item, summary: Summary, at: int) -> str:
    """The title and the parts above, a line each."""
    return "\n".join((item.title, *(part.text for part in summary.parts[:at] if part.found)))


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


def draw(path: Path, count: int, seed: int) -> list[Item]:
    """Return so many papers of the file by lot, read as the arXiv source reads them."""
    found = random.Random(seed).sample(papers(path), count)
    return [replace(item, title=readable(item.title), abstract=readable(item.abstract)) for item in found]


def shares(made: Sequence[tuple[Item, Summary]], at: int) -> list[float]:
    """Return how many of the items' parts at this place have each fault of COLUMNS, in per cent of those that were found."""
    told = [(summary.parts[at], item.abstract, _shown_before(item, summary, at)) for item, summary in made]
    counts = Counter(fault for each in told for fault in faults(*each))
    found = len(told) - counts["missing"]
    return [100 * counts[fault] / (len(told) if fault == "missing" else max(1, found)) for fault in COLUMNS]


def _table(made: Sequence[tuple[Item, Summary]]) -> Iterator[str]:
    yield f"{'':16s}" + "".join(f"{name:>10s}" for name in (*COLUMNS, "words"))
    for at, name in enumerate(PARTS):
        found = [summary.parts[at].text for _, summary in made if summary.parts[at].found]
        words = sum(len(text.split()) for text in found) / max(1, len(found))
        yield f"{name:16s}" + "".join(f"{share:10.1f}" for share in shares(made, at)) + f"{words:10.1f}"
    same = sum(says_the_same_twice(summary) for _, summary in made)
    whole = sum(len(part.text.split()) for _, summary in made for part in summary.parts) / len(made)
    yield f"{len(made)} summaries, {whole:.0f} words each; {same} say something twice"


def _faults(item: Item, summary: Summary, at: int) -> Iterator[str]:
    return faults(summary.parts[at], item.abstract, _shown_before(item, summary, at))


def _shown(item: Item, summary: Summary) -> str:
    told = (
        textwrap.fill(
            f"{part.name}: {part.text}  {' '.join(f'<{fault}>' for fault in _faults(item, summary, at))}",
            118,
            initial_indent="  ",
            subsequent_indent="    ",
        )
        for at, part in enumerate(summary.parts)
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
    made = [(item, extract(item)) for item in draw(given.corpus, given.count, given.seed)]
    print("\n".join(_table(made)))
    print("\n".join(_shown(*each) for each in made[: given.show]))


if __name__ == "__main__":
    main()
