"""One entry of a digest as it is shown: its gist for the list, and its card of at most 90 words. Pure.

A card has the gist, the parts that the text says and the gist does not, and why the item is here. What is not found is left
out without a word. All of it can be made again from the item, its summary and its reasons; nothing of it is stored.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from bot.models import Entry, Item, Kind, Ranked, ScorePart, Summary, SummaryPart
from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS
from bot.summarise.choice.candidates import CONSEQUENCE, TURN, candidates
from bot.summarise.choice.headline import figures, measures
from bot.summarise.choice.scoring import EVIDENCE, PROBLEM, WHY
from bot.summarise.choice.why import may_be_shown
from bot.summarise.english.anaphora import Resolved
from bot.summarise.english.sentences import split
from bot.summarise.english.shortening import Statement, statements
from bot.summarise.extractive import MADE_BY, parts_without
from bot.summarise.short_gist import ShortGist, short_gists

MOST_WORDS = 90  # of a card: gist, parts with their names, and why it is here; title and byline are not counted
_WHY_HERE = 2  # "Why here" itself
_FEWEST = (8, 5)  # words of a sentence that is shortened; fewer where it would be broken off otherwise
_LEAST_BROKEN = 12  # words of a sentence that is broken off beside whole ones
_TURNED = 0.2  # what the second half of `A, yet B` costs as a shorter form of it, as the border of a clause does
_SAME = 0.6  # of a sentence's words that tell something, in the gist: the gist has said it

# That the work is to be had is shown beside the title; which language a repository has, too.
_KNOWN = re.compile(
    r"(?:[\w’'-]+ ){0,9}?(?:codes?|models?|weights|data|data ?sets?|corpus|implementation|software|tool(?:kit)?|"
    r"librar(?:y|ies)|package|benchmark|demo|scripts|resources)\b.{0,60}\b(?:available|open[- ]sourced?|released)\b|"
    r"(?:Releases|Open-sources|The authors (?:will |have )?(?:release|open-source)|Written (?:mainly )?in)\b",
    re.IGNORECASE,
)
_LONGEST_KNOWN = 22  # words
# `Extensive experiments demonstrate the effectiveness of the method`: evidence that measures and compares nothing.
_NO_EVIDENCE = re.compile(
    r"(?!.*\d)(?!.*\b(?:outperform|surpass|exceed|improv|reduc|better|higher|lower|faster|fewer|state-of-the-art)).*"
    r"\b(?:demonstrat|validat|show|confirm|highlight|verif|prov|establish|underscor)\w* (?:the |its )?(?:\w+ ){0,2}?"
    r"(?:effectiveness|efficacy|efficiency|superiority|validity|feasibility|robustness|applicability|generali[sz]ability)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)  # many channels are posted the same on a morning; 2 MB
def entry(ranked: Ranked, summary: Summary, partner: Item | None = None) -> Entry:
    """Return the entry of an item with its gist, its card and why it is here. It computes: not on the event loop."""
    why = why_here(ranked)
    room = MOST_WORDS - (_words(why) + _WHY_HERE if why else 0)
    gist, parts = _said(ranked.item, summary, short_gists(ranked.item, asked_phrases(ranked)), room)
    return Entry(ranked, summary, partner, gist=gist.text, card=parts, why_here=why)


def _said(item: Item, summary: Summary, gists: Sequence[ShortGist], room: int) -> tuple[ShortGist, tuple[SummaryPart, ...]]:
    """The best gist and the parts beside it; where they show none of the text's figures, the next gist that has one."""
    best, *others = gists
    parts = _beside(item, summary, best, room)
    if not measures(best.text) and not any(measures(part.text) for part in parts):
        told = next((gist for gist in others if measures(gist.text)), best)
        parts = parts if told is best else _beside(item, summary, told, room)
        best = told
    return best, parts


def _beside(item: Item, summary: Summary, gist: ShortGist, room: int) -> tuple[SummaryPart, ...]:
    return _fitted([_Shown.of(part) for part in _unsaid(item, summary, gist)], room - _words(gist.text))


def _words(text: str) -> int:
    return len(text.split())


# --- what the gist does not say


def _unsaid(item: Item, summary: Summary, gist: ShortGist) -> Iterator[SummaryPart]:
    """Yield the parts that are said, without what the gist has said."""
    parts = summary.parts
    if summary.made_by == MADE_BY and item.kind is not Kind.REPO and any(gist.quote in part.quotes for part in parts):
        parts = _without_its_words(parts, parts_without(item, gist.quote), gist)
    said = _telling(gist.text)
    before: list[set[str]] = [said] if said else []
    for part in parts:
        if not part.found:
            continue
        told = [each for each in split(part.text) if part.name != EVIDENCE or not _NO_EVIDENCE.match(each)]
        kept = [_behind(each, gist) for each in told if _is_new(each, before, gist)]
        before += [_telling(each) for each in kept]
        if kept:
            yield replace(part, text=" ".join(kept))


def _without_its_words(
    parts: Sequence[SummaryPart], others: Sequence[SummaryPart], gist: ShortGist
) -> tuple[SummaryPart, ...]:
    """The parts; in place of one that says what the gist does, the one chosen without the gist's sentence, if it is free.

    Another clause of that sentence stays.
    """
    said = [_telling(gist.text)]
    kept = {part.name: part for part in parts if gist.quote not in part.quotes or _is_new(part.text, said, gist)}
    taken = {each for part in kept.values() for each in part.quotes}
    kept |= {part.name: part for part in others if part.name not in kept and not taken & set(part.quotes)}
    return tuple(kept[part.name] for part in parts if part.name in kept)


def _behind(sentence: str, gist: ShortGist) -> str:
    """Of a sentence that begins as the gist does, what comes of that with a figure: `A, saving 3%` → `A saves 3%`."""
    begun = gist.text.rstrip(".")
    told = candidates([Resolved(sentence, 0)]) if begun and begun in sentence else []
    return next((each.text for each in told if each.kind == CONSEQUENCE and measures(each.text)), sentence)


def _is_new(sentence: str, before: Sequence[set[str]], gist: ShortGist) -> bool:
    """Whether neither the gist nor a sentence before it has said it."""
    if _words(sentence) <= _LONGEST_KNOWN and _KNOWN.match(sentence):
        return False
    own = _telling(sentence)
    another = measures(sentence) and not (measures(gist.text) and _numbers(sentence) & _numbers(gist.text))
    if another:
        before = [said for said in before if said != _telling(gist.text)]  # the same of another figure is another result
    return (
        sentence not in gist.text
        and (another or sentence != gist.quote)
        and not any(len(own & said) >= _SAME * min(len(own), len(said) or len(own)) for said in before)
    )


def _numbers(text: str) -> set[str]:
    return {*_NUMBER.findall(text)}


def _telling(text: str) -> set[str]:
    return {word[:_STEM] for word in tokens(text) if word not in STOPWORDS}


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_STEM = 7  # letters by which two forms of a word are told to be one


# --- 90 words


@dataclass(frozen=True, slots=True)
class _Shown:
    """A part on its way to the card: its sentences, and whether they can be shortened further."""

    part: SummaryPart
    sentences: tuple[str, ...]
    fewest: int = _FEWEST[0]
    final: bool = False

    @classmethod
    def of(cls, part: SummaryPart) -> "_Shown":
        return cls(part, tuple(split(part.text)) or (part.text,))

    @property
    def words(self) -> int:
        return sum(map(_words, self.sentences))

    def shorter(self) -> "_Shown":
        """With less to say: its second sentence goes first, then its longest one ends at a border of clauses.

        Evidence keeps all of its figures as long as anything else can be shortened, and then one. A problem that stands
        behind what is well (`A, yet B`) stands alone.
        """
        if len(self.sentences) > 1:
            return replace(self, sentences=self.sentences[:-1])
        (sentence,) = self.sentences
        shorter = (each for each in self._forms(sentence) if self.fewest <= _words(each.text) < self.words)
        fitting = [each for each in shorter if figures(each.text) >= self._figures(sentence)]
        best = max(fitting, key=lambda each: _words(each.text) - 8 * each.cost, default=None)
        return replace(self, final=True) if best is None else replace(self, sentences=(best.text,))

    def _forms(self, sentence: str) -> Iterator[Statement]:
        told = statements(sentence, self.words - 1)
        yield from (each for each in told if self.part.name != WHY or _says_why(each.text, sentence))
        if self.part.name == PROBLEM:
            turned = candidates([Resolved(sentence, 0)])
            yield from (Statement(each.text, _TURNED) for each in turned if each.kind == TURN)

    def _figures(self, sentence: str) -> int:
        """How many figures a shorter form of it must have."""
        if self.part.name != EVIDENCE:
            return 0
        return figures(sentence) if self.fewest == _FEWEST[0] else min(1, figures(sentence))

    def cut(self, most: int) -> "_Shown":
        """With at most so many words, broken off, where nothing hangs in the air."""
        words = " ".join(self.sentences).split()
        if len(words) <= most:
            return self
        kept = " ".join(words[: most - 1])
        return replace(self, sentences=(f"{_HANGS.sub('', kept) or kept} …",))

    def made(self) -> SummaryPart:
        return replace(self.part, text=" ".join(self.sentences))


def _says_why(text: str, sentence: str) -> bool:
    """Whether a shorter form of a reason is one: `crucial for it | , which …`, not `crucial | for navigation`."""
    last = " ".join(text.rstrip(".").split()[-2:])
    before, _, rest = sentence.rpartition(last)
    return bool(before) and rest[:1] in ",;." and may_be_shown(text)


# What a sentence that is broken off does not end with: `models, while …`, `four findings: (i) …`.
_HANGS = re.compile(
    r"(?:[,;:(–—-]*(?: (?:and|or|but|yet|which|that|who|whose|while|when|where|if|as|than|the|an?|of|to|in|into|for|on|with|"
    r"by|from|at|via|is|are|be|can|not|no|more|most|both|such|its|their|these|this|\(?[\w]{1,3}\)))*)+[,;:(–—-]*$"
)


def _fitted(parts: Sequence[_Shown], room: int) -> tuple[SummaryPart, ...]:
    """The parts in so many words, their names counted: the longest is shortened first.

    Where that does not do, why it matters is left out, and only then as few as can be are broken off.
    """
    shown = list(parts)
    for kept in (parts, [each for each in parts if each.part.name != WHY]):
        shown = _shortened(kept, room)
        if _length(shown) <= room:
            return tuple(each.made() for each in shown)
    words, over = [each.words for each in shown], _length(shown) - room
    shares = _one_less(shown, words, over) or _shares(words, sum(words) - over)
    return tuple(each.cut(most).made() for each, most in zip(shown, shares, strict=True) if most > 1)


def _length(parts: Sequence[_Shown]) -> int:
    """How many words the parts have with their names."""
    return sum(each.words + _words(each.part.name) for each in parts)


def _shortened(parts: Sequence[_Shown], room: int) -> list[_Shown]:
    """The parts, the longest one shortened again and again until they have room with their names or nothing can be."""
    shown = list(parts)
    for fewest in _FEWEST:
        shown = [replace(each, fewest=fewest, final=False) for each in shown]
        while _length(shown) > room and not all(each.final for each in shown):
            longest = max((at for at, each in enumerate(shown) if not each.final), key=lambda at: (shown[at].words, -at))
            shown[longest] = shown[longest].shorter()
    return shown


def _one_less(shown: Sequence[_Shown], words: Sequence[int], over: int) -> list[int]:
    """How many words each part may have where one alone is broken off, the evidence last; [] where that says too little."""
    order = sorted(range(len(shown)), key=lambda at: (shown[at].part.name == EVIDENCE, -words[at]))
    at = next((at for at in order if words[at] - over >= _LEAST_BROKEN), None)
    return [] if at is None else [count - over * (place == at) for place, count in enumerate(words)]


def _shares(words: Sequence[int], room: int) -> list[int]:
    """How many words each part may have so that they have `room` together, the short ones keeping theirs."""
    shares, left = [0] * len(words), room
    for count, at in enumerate(sorted(range(len(words)), key=lambda at: words[at])):
        shares[at] = min(words[at], left // (len(words) - count))
        left -= shares[at]
    return shares


# --- why it is here

_PHRASE = re.compile(r"\*([^*\n]+)\*")
_AGAINST = re.compile(r"(?:^|, )against \*.*")
_MADE = re.compile(r"(?:^|, )((?:by|from) [^,*]+)")
_EXAMPLE = re.compile(r'close to "([^"]*)"(?: and \d+ more)?( you liked)?')
# What happened to a repository, as `bot.rank.events` says it; stars that it gained without being news for it.
_EVENT = re.compile(
    # with other quotation marks in digests of before
    r"code of [\"“](?P<paper>.+?)[\"”](?=, |$)|(?P<event>released .{1,40}? (?:today|yesterday|\d+ days ago)|"
    r"★ \+[\d,]+ in \d+ days?|created (?:today|yesterday|\d+ days ago))|(?P<stars>[\d,]+) stars? in (?P<days>\d+ days?)"
)
_OF_THE_TOPIC = ("phrases", "description", "examples", "feedback")
_MOST_REASONS = 2
_SHORT_TITLE = 40  # characters of an example's


def why_here(ranked: Ranked) -> str:
    """Return the two reasons that count most, as bare words: "KV cache, GPU"; a repository's event before them.

    What is no reason of the team's (freshness, votes, whether there is code) is not among them; "" where none is.
    """
    reasons: list[str] = []
    for reason in _reasons(ranked):
        if not any(reason.casefold() in each.casefold() or each.casefold() in reason.casefold() for each in reasons):
            reasons.append(reason)
    return ", ".join(reasons[:_MOST_REASONS])


def happened(ranked: Ranked) -> str:
    """Return what happened to a repository: "released v0.9 yesterday"; "" where nothing is told, and of what is none."""
    return next(_events(ranked.parts), "") if ranked.item.kind is Kind.REPO else ""


def asked_phrases(ranked: Ranked) -> tuple[str, ...]:
    """Return the topic's phrases that the item has, those that count most first."""
    told = (part.why for part in ranked.parts if part.name == "phrases" and part.value > 0)
    return tuple(phrase for why in told for phrase in _PHRASE.findall(_AGAINST.sub("", why)))


def _reasons(ranked: Ranked) -> Iterator[str]:
    """Every reason in bare words: what happened to a repository most, then those of the topic, then what else happened."""
    events = [*_events(ranked.parts)] if ranked.item.kind is Kind.REPO else []
    yield from events[:1]
    speaking = [part for part in ranked.parts if part.value > 0 and part.name in _OF_THE_TOPIC]
    for part in sorted(speaking, key=lambda part: -part.value):
        yield from _bare(part)
    yield from events[1:]


def _events(parts: Iterable[ScorePart]) -> Iterator[str]:
    for part in sorted(parts, key=lambda part: part.name != "freshness"):
        for found in () if part.name in _OF_THE_TOPIC else _EVENT.finditer(part.why):
            if found["paper"]:
                yield f'code of "{_short(found["paper"])}"'
            else:
                yield found["event"] or f"★ +{found['stars']} in {found['days']}"


def _bare(part: ScorePart) -> Iterator[str]:
    """The part's reasons without what was counted."""
    if part.name == "phrases":
        why = _AGAINST.sub("", part.why)
        yield from (" ".join(found[1].split()) for found in _MADE.finditer(why))
        yield from _PHRASE.findall(why)
    elif found := _EXAMPLE.search(part.why):
        yield f'close to "{_short(found[1])}"{found[2] or ""}'
    elif part.why:
        yield _PHRASE.sub(r"\1", part.why)


def _short(title: str) -> str:
    """`PackForcing` of `PackForcing: Short Video Training …`; a long title up to a word's end."""
    name = title.partition(":")[0]
    if len(name) <= _SHORT_TITLE:
        return name
    return f"{name[:_SHORT_TITLE].rpartition(' ')[0] or name[:_SHORT_TITLE]}…"
