"""The sentences of a text and the clauses of them that can stand for a part of its summary by themselves.

Beside each sentence, as `bot.summarise.english.anaphora` explains it:

1. What follows from it, behind a comma: `Tidy sizes itself, enabling caches without an operator` → `Tidy enables caches
   without an operator`. Its subject is the name or the `method` with which the sentence begins, or that it introduces; where
   neither is certain there is none, as in `Proposes Tidy`.
2. What is found, behind what was done: `We run Tidy and show that it saves 3%` → `We show that it saves 3%`.
3. What turns against what stands in front: `While caches are fast, they cost much` has no such clause, since it says of
   `they` alone; `…, existing caches cost much` has.
4. What the work is for, in front of it: `To cut the cost of caches, we propose Tidy` → `The cost of caches`.

And for each of those the rest of its sentence, so that both can be shown, each for another part. Every word of a candidate
stands in its sentence, but a subject put in from the same text, `We` in front of what is found, and a verb's other form.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bot.summarise.english.anaphora import Resolved, dangles, explained, subject_named
from bot.summarise.english.anaphora_patterns import AUTHORS
from bot.summarise.english.leads import begins_clause, main_clause
from bot.summarise.english.prefilter import Screened
from bot.summarise.english.third_person import FINITE, third_person

SENTENCE, CONSEQUENCE, FINDING, TURN, AIM, REST = KINDS = ("sentence", "consequence", "finding", "turn", "aim", "rest")


class Candidate(NamedTuple):
    """What could stand for a part: a sentence or a clause that stands alone, as the authors say it (`We propose`)."""

    text: str
    kind: str  # of KINDS
    place: int  # of its sentence in the text, 0-based
    source: int  # the place of the sentence from which a name was borrowed; its own where none was
    start: int = 0  # where its words begin in the explained sentence, and where they end
    end: int = 0

    def overlaps(self, other: "Candidate") -> bool:
        """Say whether the two have words of the same sentence in common."""
        return self.place == other.place and self.start < other.end and other.start < self.end


MOST_WORDS = 25  # of what is shown of one, where it has a complete form of so many
_FEWEST = 4  # words of a clause
_LONGEST = 1_200  # characters of a sentence that is looked at

# What comes of it, and what is behind it in place of it: `enabling X`, `which allows X`.
_COMES = """
    enable allow make lead facilitate support ensure reduce eliminate avoid remove improve open pave help provide
    offer result save cut lower bring simplify accelerate mitigate prevent turn suggest achieve attain reach yield
    outperform surpass exceed obtain increase enhance boost deliver produce give bridge extend require permit let
    preserve highlight underscore emphasize motivate unlock empower
"""
_DOUBLED = frozenset(["cut", "let", "permit"])


def _gerund(verb: str) -> str:
    return f"{verb}{verb[-1]}ing" if verb in _DOUBLED else f"{verb.removesuffix('e')}ing"


_DOES = {_gerund(verb): third_person(verb) for verb in _COMES.split()}
_HOW = r"(?:(?:thus|thereby|hence|therefore|in turn|ultimately|consequently|while|and|\w+ly) )*"
_TAIL = Screened(
    rf"(?:(?:, |\s[–—]\s?){_HOW}| (?:thereby|thus) )(?P<ing>{'|'.join(_DOES)}) (?=\S)|"
    r", which (?:\w+ly |in turn |also )?(?P<does>enables|allows|makes|leads|helps|reduces|improves|ensures|facilitates|"
    r"can|may) (?=\S)"
)

_MORE = re.compile(
    rf",? and (?:\w+ly )?(?:{'|'.join(_DOES)}|demonstrating|showing|highlighting|underscoring|establishing|creating) "
)
_COUNTED = re.compile(r"\((?:i|1|a)\)")  # what comes of the first of several points, comes of that alone

# `It is`, `its`: of what another clause says. `it possible to` says what `it` is.
_POINTS = re.compile(r"\b(?:it|its|them|they|their|this|these|those|such|he|she|his|her|both|that)\b")
_IT = re.compile(
    r"\b(?P<it>it|its)\b(?! (?:\w+ )?(?:possible|easier|easy|feasible|harder|difficult|hard|impossible|clear)\b)"
)
_EXPLETIVE = re.compile(r"\bit (?:\w+ )?(?:possible|easier|easy|feasible|harder|difficult|hard|impossible|clear)\b")
_EARLY = 6  # words of a clause among which a pointing word has nothing before it

_FOUND = (
    r"(?:show|demonstrate|find|found|prove|proved|observe|observed|establish|conclude|reveal|report|showed|demonstrated|"
    r"confirm|verify|argue)"
)
_FINDING = Screened(
    rf"(?:,? and|,|;) (?:(?:then|also|further|thereby|thus|\w+ly) )*(?:we )?(?:(?:then|also|further|\w+ly) )*{_FOUND} "
    rf"(?:\w+ly )?(?=that\b|how\b)|"
    r"(?:,|;) (?:(?:thereby|thus|and|\w+ly) )*(?P<ing>showing|demonstrating|finding|proving|revealing|confirming|"
    r"establishing|observing) (?=that\b)"
)
_ACTS = re.compile(r"(?:We|This (?:paper|work|study|article)|The authors|Our)\b")
_LEADS_TURN = re.compile(r"(?:While|Although|Though|Even though|Whereas|Despite|Unlike) ")
_AGAINST = Screened(r"(?:, (?:but|yet|however|though|whereas|while)|; (?:however|but|yet)),? (?=[\w“\"])")
_BY_AUTHORS = re.compile(r"(?:(?:in )?(?:this|our|the present) |we\b|I\b|here\b)", re.IGNORECASE)
_NO_SUBJECT = re.compile(
    rf"(?:(?:\w+ly|still|also|then|often) )*(?:{FINITE}|continue|fail|struggle|suffer|lack|require|tend|rely|need|incur|"
    r"ignore|overlook|neglect|assume|focus|depend|cannot|can|may|must|do|have)\b|(?:at|in|for|with|on)\b|"
    r"(?:[\w-]+ ){0,6}(?:which|who|that)\b"
)
_AIM = re.compile(
    r"(?:In order t|T)o (?:\w+ly )?(?:address|overcome|tackle|mitigate|alleviate|reduce|resolve|solve|avoid|counter|combat|"
    r"eliminate|bridge|fill|remedy|cope with|deal with|handle|close|minimi[sz]e|circumvent) (?P<what>[^,;:]+), "
    r"(?=(?:we|this (?:paper|work|study)|the authors)\b)"
)


def candidates(told: Sequence[Resolved]) -> list[Candidate]:
    """Return what could stand for a part: each explained sentence, and behind it its clauses."""
    found: list[Candidate] = []
    own = False  # what is told from the first on that speaks of the authors' work, is of that
    for at, (text, source) in enumerate(told):
        own = own or AUTHORS.search(text) is not None
        found.append(Candidate(text, SENTENCE, at, source, 0, len(text)))
        if len(text) <= _LONGEST:
            found += _clauses(text, at, source, own=own)
    return found


def _clauses(text: str, at: int, source: int, *, own: bool) -> Iterator[Candidate]:
    found = itertools.chain(_consequence(text, own=own), _finding(text), _turn(text), _aim(text))
    for kind, said, start, end in found:
        if len(said.split()) >= _FEWEST and not dangles(said):
            yield Candidate(said, kind, at, source, start, end)


_Clause = tuple[str, str, int, int]


def _consequence(text: str, *, own: bool) -> Iterator[_Clause]:
    match = next((each for each in _TAIL.finditer(text) if _closed(text[: each.start()])), None)
    if match is None or _COUNTED.search(text):
        return
    more = _MORE.search(text, match.end())  # `…, enabling A and showing B`
    end = more.start() if more else len(text)
    subject = subject_named(text[: match.start()])
    said = _said_alone(match, text[match.end() : end], subject)
    if said and (own or subject):  # of others it would need one
        yield CONSEQUENCE, _ended(said), match.start(), end
        yield REST, _ended(text[: match.start()]), 0, match.start()


def _said_alone(match: re.Match[str], rest: str, subject: str) -> str:
    """The tail with its verb in front, or behind its subject; "" where it points at what is not certain."""
    verb = match["does"] or _DOES[match["ing"]]
    early = " ".join(rest.split()[:_EARLY])
    if _POINTS.search(_EXPLETIVE.sub("", early)):
        pointed = _IT.search(rest)
        if pointed is None or not subject or pointed.start() > len(early):
            return ""
        whose = subject + ("'s" if pointed["it"] == "its" else "")
        rest = rest[: pointed.start()] + _inside(whose) + rest[pointed.end() :]
        subject = ""
    if not subject and verb in {"can", "may"}:
        return ""
    return f"{subject} {verb} {rest}" if subject else f"{verb.capitalize()} {rest}"


def _inside(subject: str) -> str:
    return subject[:1].lower() + subject[1:] if subject.startswith("The ") else subject


def _finding(text: str) -> Iterator[_Clause]:
    match = _FINDING.search(text)
    if match is None or not _ACTS.match(text) or not _closed(text[: match.start()]):
        return
    yield FINDING, f"We show {text[match.end() :]}", match.start(), len(text)
    yield REST, _ended(text[: match.start()]), 0, match.start()


def _turn(text: str) -> Iterator[_Clause]:
    led = _LEADS_TURN.match(text)
    if led:
        at, before = main_clause(text), text[led.end() :]
    else:
        match = _AGAINST.search(text)
        at, before = (match.end(), text) if match and _closed(text[: match.start()]) else (0, "")
    if not at or _BY_AUTHORS.match(text, at) or _NO_SUBJECT.match(text, at) or not begins_clause(text[at:]):
        return
    said = explained(_begun(text[at:]), _begun(before))
    if said:
        yield TURN, said, at, len(text)


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _aim(text: str) -> Iterator[_Clause]:
    match = _AIM.match(text)
    if match is None:
        return
    what = match["what"]
    yield AIM, _ended(_begun(what)), 0, match.end()
    yield REST, _begun(text[match.end() :]), match.end(), len(text)


def _ended(text: str) -> str:
    """The text as a sentence."""
    return f"{text.rstrip(' ,;:–—.')}."


def _closed(text: str) -> bool:
    return all(text.count(one) == text.count(other) for one, other in ("()", "[]", "{}", "“”"))
