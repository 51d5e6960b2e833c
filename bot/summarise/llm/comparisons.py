"""Who is said to be ahead of whom: "A outperforms B", "A is faster than B", "A gives lower error compared to B".

What a text proposes goes by many names in it (its own, "we", "our method"), as do those that it is compared with
("baselines", "prior work"): each group counts as one party.
"""

import re
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from bot.summarise.llm.opposites import ends

OWN, OTHERS = "(own)", "(others)"
_OWN_WORDS = frozenset({"we", "our", "ours", "proposed", "it", "this"})
_OTHERS_WORDS_TEXT = """
    baseline baselines existing prior previous conventional state-of-the-art sota current standard traditional
    competitors alternatives counterparts others
"""
_OTHERS_WORDS = frozenset(_OTHERS_WORDS_TEXT.split())
_AHEAD = ("outperform", "surpass", "exceed", "beat", "outdo", "outstrip", "outrank", "outscore")
_BEHIND = ("underperform", "trail", "lag")
_THAN = frozenset({"than", "over", "versus", "against", "vs"})
_COMPARED = frozenset({"compared", "relative", "comparison"})  # with "to", "with" after them
_STOPPERS_TEXT = """
    in on by at for across under while with when where whereas although though because as that which who by during using
    and-then including such yet but
"""
_STOPPERS = frozenset(_STOPPERS_TEXT.split())
_BORDERS = frozenset(",;:().—–")
_VERBS_TEXT = """
    achieves achieve achieved achieving reaches reach reached yields yield obtains attain attains shows show showed
    demonstrates demonstrate gives give delivers deliver offers offer has have provides provide performs perform performed is
    are was were be consistently significantly substantially clearly markedly even always also far much results experiments
    experimental evaluations existing method methods approach approaches model models framework
"""
_VERBS = frozenset(_VERBS_TEXT.split())
_REACH = 8  # words of a side, and between a comparative and its "than"
_MOST = 60  # comparisons of a text: hostile texts repeat themselves
_COMPARATIVE = re.compile(
    r"[a-z]{2,}er|more|less|better|worse|fewer|superior|inferior|improve[sd]?|improving|reduc\w+|lower\w*|cuts?"
)
_NAMED = re.compile(
    r"\b(?:[Pp]ropose|[Ii]ntroduce|[Pp]resent|[Dd]evelop|[Dd]escribe|[Dd]esign|[Cc]all|[Nn]amed|[Dd]ubbed|[Tt]ermed)"
    r"(?:s|ed|ing)?,? (?:\w+ ){0,2}?(?P<name>[A-Z][\w-]*[A-Z0-9][\w-]*)"
)
_TITLE_NAME = re.compile(r"\s*([A-Z][\w.+-]*)(?: [\w.+-]+)?:")

Party = frozenset[str]


class Comparison(NamedTuple):
    """Which words stand for who is said to have more of something, or to be better, and for who has less."""

    ahead: Party
    behind: Party
    scales: frozenset[int]


def own_names(text: str) -> frozenset[str]:
    """Return the names, in lower case, of what the text proposes: what stands before the title's colon, or is introduced."""
    found = {match["name"].lower() for match in _NAMED.finditer(text)}
    title = _TITLE_NAME.match(text.partition("\n")[0])
    return frozenset(found | ({title[1].lower()} if title else set()))


def comparisons(words: Sequence[str], stems: Sequence[str]) -> Iterator[Comparison]:
    """Yield the comparisons of a sentence, given its words in lower case and their stems ("" where a word tells nothing)."""
    for at, word in enumerate(words):
        if word.startswith(_AHEAD):
            scales = frozenset(scale for scale, _ in ends(word))
            left, right = _left(words, stems, at), _right(words, stems, at + 1)
            yield from _ordered(left, right, scales, upper=True)
        elif word.startswith(_BEHIND):
            scales = frozenset(scale for scale, _ in ends(word))
            left, right = _left(words, stems, at), _right(words, stems, at + 1)
            yield from _ordered(left, right, scales, upper=False)
        elif word in _THAN or (word in _COMPARED and words[at + 1 : at + 2] and words[at + 1] in {"to", "with"}):
            yield from _comparative(words, stems, at)


def _comparative(words: Sequence[str], stems: Sequence[str], at: int) -> Iterator[Comparison]:
    for back in range(at - 1, max(-1, at - 1 - _REACH), -1):
        word = words[back]
        if word in {".", ";"}:
            return
        found = ends(word) if _COMPARATIVE.fullmatch(word) else frozenset()
        if found:
            upper = next(iter({end for _, end in found}))
            after = at + (2 if words[at] in _COMPARED else 1)
            left, right = _left(words, stems, back), _right(words, stems, after)
            yield from _ordered(left, right, frozenset(scale for scale, _ in found), upper=upper)
            return


def _ordered(left: Party, right: Party, scales: frozenset[int], *, upper: bool) -> Iterator[Comparison]:
    if left - right and right - left:
        ahead, behind = (left, right) if upper else (right, left)
        yield Comparison(ahead - behind, behind - ahead, scales)


def _left(words: Sequence[str], stems: Sequence[str], end: int) -> Party:
    found: set[str] = set()
    for at in range(end - 1, max(-1, end - 1 - 2 * _REACH), -1):
        joined = words[at] in {"and", "but"}  # of two verbs with one subject, that stands before the first
        if words[at] in _BORDERS or words[at] in {"that", "while", "whereas"} or (found and (joined or end - at > _REACH)):
            break
        found |= _party(words[at], stems[at])
    return frozenset(found)


def _right(words: Sequence[str], stems: Sequence[str], start: int) -> Party:
    found: set[str] = set()
    for at in range(start, min(len(words), start + _REACH)):
        if words[at] in _BORDERS or words[at] in _STOPPERS:
            break
        found |= _party(words[at], stems[at])
    return frozenset(found)


def _party(word: str, stem: str) -> Set[str]:
    if word in _OWN_WORDS:
        return {OWN}
    if word in _OTHERS_WORDS:
        return {OTHERS}
    return {stem} if stem and word not in _VERBS else set()


def renamed(found: Comparison, own: Set[str]) -> Comparison:
    """Return the comparison with one word for each name of what the text proposes; `own` are these names' stems."""
    ahead, behind = (frozenset(OWN if stem in own else stem for stem in side) for side in (found.ahead, found.behind))
    return Comparison(ahead - behind, behind - ahead, found.scales)


def against(claim: Comparison, told: Sequence[Comparison]) -> tuple[float, float]:
    """Return how far a text says it the other way around, from 0 to 1, and whether it says nothing of the two parties."""
    straight = crossed = 0.0
    for other in told[:_MOST]:
        if not claim.scales & other.scales:
            continue
        straight = max(straight, _match(claim.ahead, other.ahead, claim.behind, other.behind))
        crossed = max(crossed, _match(claim.ahead, other.behind, claim.behind, other.ahead))
    if not straight and not crossed and OWN in claim.behind and OTHERS in claim.ahead:
        crossed = 0.5  # nobody writes so of what is proposed
    return max(0.0, crossed - straight), float(not straight and not crossed)


def _match(one: Party, first: Party, other: Party, second: Party) -> float:
    """The share of the parties' words that stand on these sides; half where one side alone has any."""
    left, right = len(one & first) / max(1, len(one)), len(other & second) / max(1, len(other))
    return (left + right) / 2
