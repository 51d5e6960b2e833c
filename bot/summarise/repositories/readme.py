"""Finds in a README's opening the sentences that stand for the four parts.

An abstract has its parts in an order; a README only says things, and much of it is about taking part, installing and reading
on. So a sentence stands for a part only when its words say such a thing: a lack for the problem, a figure with what was
measured for the evidence, what becomes possible or easier for why it matters. What is found nowhere is not in it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from bot.models import Item
from bot.summarise.choice.parts import choose
from bot.summarise.choice.scoring import EVIDENCE, METHOD, PROBLEM, WHY
from bot.summarise.english.anaphora import dangles, resolve
from bot.summarise.english.language import reads_as_english
from bot.summarise.english.sentences import split

_LONGEST_README = 6_000  # characters
_LEAST_WORDS, _MOST_WORDS = 5, 60  # of a README sentence worth showing: not a heading, not a table
_NOT_PROSE = re.compile(
    r"[|`{}<>=\[\]]|!\[|https?://\S+\s+https?://|^\s*(?:#|\$|pip |npm |git |docker |import )|:$|^[a-z]+ "
)
# What speaks to the reader about taking part, installing, reading on; or about who paid.
_NO_STATEMENT = re.compile(
    r"\b(?:please|donat\w+|sponsor\w*|contribut\w+|welcome|check out|learn more|see (?:the|our|also|below)|click|join|"
    r"fork|follow us|install\w*|mailing list|newsletter|licen[cs]ed?|acknowledg\w+|citation|cite|pull requests?|"
    r"issue tracker|grant|for (?:more|further) (?:details|information)|documentation|docs|note|last updated|README|"
    r"roadmap|coming soon|code of conduct|discord|slack channel|star us|tutorials?|guide|announcement|opinions|sign up|"
    r"help us|read about|we(?:'ve| have) (?:launched|moved|released)|deprecated|subscription|enterprise|appreciated|"
    r"maintainers?)\b|\?$",
    re.IGNORECASE,
)
# What a sentence of a README must say to stand for a part. An abstract has its parts in an order; a README only says things.
_SAYS = {
    PROBLEM: re.compile(
        r"\b(?:hard|difficult\w*|slow|expensive|costly|tedious|error-prone|painful|lack(?:s|ing)?|cannot|limitations?|"
        r"limited|limits|problems?|challeng\w+|bottlenecks?|overheads?|struggle\w*|fail(?:s|ed|ures?)?|suffers?|"
        r"inefficien\w+|insufficient|missing|unable|complicated)\b",
        re.IGNORECASE,
    ),
    METHOD: re.compile(
        r"\b(?:is (?:an?|the)|provides?|offers?|implements?|uses|combines?|supports?|consists?|contains?|includes|"
        r"integrates|builds|extends|propos\w+|introduc\w+|presents?|has)\b",
        re.IGNORECASE,
    ),
    EVIDENCE: re.compile(
        r"\b(?:outperform\w*|(?:achiev|reach|attain)\w* .{0,40}state-of-the-art|faster than|\d[\d.,]*\s?(?:%|×|x\b|"
        r"percent|times\b|fold\b|points?\b|ms\b|tokens/s|fps\b|[GM]B\b))|\d.*\b(?:faster|speed-?up|accuracy|throughput|"
        r"latency|benchmarks?|score|memory)\b|\b(?:accuracy|throughput|latency|benchmarks?|scores?|speed-?up)\b.*\d",
        re.IGNORECASE,
    ),
    WHY: re.compile(
        r"\b(?:enabl(?:es?|ing)|allow(?:s|ing)?|lets?|makes? it (?:possible|easy|easier|simple)|making it|so that|"
        r"without (?:the need|needing|having|any)|help(?:s|ing)?|used (?:by|in)|powers|trusted by|ideal for|"
        r"designed (?:for|to)|useful|simplif\w+|reduc\w+|sav(?:es|ing))\b",
        re.IGNORECASE,
    ),
}
# That a lack is one of what there was before, not of the project itself.
_BEFORE = re.compile(
    r"\b(?:existing|traditional|conventional|current|currently|most|many|often|typically|usually|today|modern|other|"
    r"however|but|yet|although|while|prior|previous|remains?|still)\b",
    re.IGNORECASE,
)
_OF_ITSELF = (
    r"(?:(?:this|the|our) (?:package|library|project|repositor(?:y|ies)|repo|tool|toolkit|framework|module|plugin|"
    r"model)|the authors|proposes|introduces|presents|provides|it is|we)\b"
)
_SOMEBODY = re.compile(
    r"\b(?:you|your|users?|developers?|researchers?|engineers?|teams?|trusted by|used by)\b", re.IGNORECASE
)
_IS_A = re.compile(r"\b(?:is|are) (?:an?|the|our|your)\b|^(?:an?|the) ", re.IGNORECASE)
_ALIKE = 0.7  # of a sentence's longer words stand in the description: it adds nothing


class Excerpt(NamedTuple):
    """A sentence of the README: as it can be shown, and word for word."""

    text: str
    quote: str


def find_parts(item: Item) -> Mapping[str, Excerpt]:
    """Return the sentence for each part that the README's opening speaks of, and nothing for the others.

    It is the one chosen as from an abstract, if its words say such a thing, else the first whose words do.
    """
    prose = _prose(item.readme)
    told = resolve(prose)
    texts = [one.text for one in told]
    chosen = choose(prose, item.title, told)
    said: dict[str, Excerpt] = {}
    taken: set[int] = set()
    for name in (EVIDENCE, PROBLEM, WHY, METHOD):
        best = chosen[name]
        order = (*((best.candidate.place,) if best else ()), *range(len(prose)))
        at = next((at for at in order if at not in taken and _fits(name, texts[at], item)), None)
        if at is not None:
            said[name] = Excerpt(texts[at], prose[at])
            taken.add(at)
    return said


def _fits(name: str, text: str, item: Item) -> bool:
    if dangles(text) or not _SAYS[name].search(text):
        return False
    if name == PROBLEM:
        return _BEFORE.search(text) is not None and _IS_A.search(text) is None
    if name == WHY:
        return _is_of(item, text) or _SOMEBODY.search(text) is not None
    return name != METHOD or (_is_of(item, text) and not _adds_nothing(text, item.abstract))


def _is_of(item: Item, text: str) -> bool:
    """Whether the sentence has the project as its subject, by name or as `this library`."""
    name = re.escape(item.title.rpartition("/")[2])
    return re.match(rf"(?:{name}\b|{_OF_ITSELF})", text, re.IGNORECASE) is not None


def _adds_nothing(text: str, description: str) -> bool:
    words, known = _longer(text), _longer(description)
    return len(words & known) >= _ALIKE * len(words) or len(words & known) >= _ALIKE * max(1, len(known)) > 2


def _longer(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def _prose(readme: str) -> list[str]:
    if not reads_as_english(readme):
        return []
    sentences = (sentence for line in readme[:_LONGEST_README].splitlines() for sentence in split(line))
    return [s for s in sentences if _LEAST_WORDS <= len(s.split()) <= _MOST_WORDS and _is_statement(s)]


def _is_statement(sentence: str) -> bool:
    return _NOT_PROSE.search(sentence) is None and _NO_STATEMENT.search(sentence) is None
