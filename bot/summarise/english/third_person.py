"""Lets a sentence speak of the authors in the third person, where the authors speak of themselves.

1. `We propose X` → `Proposes X`; `We propose X and evaluate it` → `Proposes X and evaluates it`. Only when every verb of
   the authors can be told from a verb that belongs to something else, and none says `we` again.
2. Otherwise `We …` → `The authors …`, later in the sentence `they`: `We show that we can` → `The authors show that they
   can`. `We live in a world of data` and `we must` speak of everybody and stay.
   A question is everybody's, too: `How can we trust it?`
3. `Our method` → `The method`; `our own`, `our earlier` → `their own`, `their earlier`; `We describe our approach` →
   `Describes the authors' approach`. `Our planet` stays.
4. `This paper proposes X` → `Proposes X`, with one verb.
5. `I argue` → `The author argues`, where rule 1 does not hold.
6. `It allows us to see` → `It makes it possible to see`, `it helps us see` → `it helps to see`, `it gives us insight` →
   `it gives insight`: whether `us` are the authors or everybody need not be known. `It brings us closer` stays.
"""

import re
from functools import lru_cache

from bot.summarise.english.alternation import one_of
from bot.summarise.english.prefilter import Screened

_VERBS = """
    propose present introduce develop design describe study investigate analyse analyze explore examine evaluate show
    demonstrate find provide offer build construct create formulate address consider release report argue prove establish
    derive extend apply compare devise review survey discuss characterise characterize use train test implement validate
    verify discover conduct perform collect employ leverage adopt utilize utilise integrate combine measure identify
    observe conclude achieve obtain illustrate highlight outline suggest reveal benchmark assess quantify estimate
    generalize generalise optimize optimise simulate deploy confirm define formalize formalise curate tackle revisit extract
    pretrain fine-tune summarize summarise categorize categorise hypothesize hypothesise enhance adapt uncover reformulate
    decompose synthesize synthesise advocate refine showcase augment emphasize emphasise classify decouple annotate reframe
    distill mitigate unify rethink reinterpret operationalize repurpose disentangle consolidate eliminate recast redefine
    simplify redesign strengthen standardize streamline reproduce replicate
"""
# Verbs that the authors may be the subject of beside those; many are nouns too, and none begins a sentence by itself.
_MORE_VERBS = """
    improve outperform give make take learn model solve open-source answer focus rely seek aim set call enable allow let
    help reduce incorporate compute generate infer exploit replace treat view cast frame do are have run fine fuse align
    predict add include determine publish share advance project map encode select sample contribute resolve calibrate
    reuse manipulate adjust aggregate execute pose contrast tokenize deduce sketch claim believe hope hypothesise
    retain
"""
_LEADS = "finally|additionally|firstly|secondly|lastly|also|further|then|first|thus|therefore|hence|here|next|subsequently"


def third_person(verb: str) -> str:
    """Return the form of a regular verb that one person's has: `studies`, `establishes`, `plays`."""
    if verb.endswith("y") and verb[-2] not in "aeo":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x")) else f"{verb}s"


_SINGULAR = {verb: third_person(verb) for verb in _VERBS.split()}
_ALL_VERBS = [*_VERBS.split(), *_MORE_VERBS.split()]
_BARE_VERBS, _SINGULAR_VERBS = one_of(_ALL_VERBS), one_of(_SINGULAR)
_NOUNS_MOSTLY = frozenset({"aim", "set", "frame", "view", "cast", "fine", "map", "model", "sample", "project"})


def _forms(verb: str) -> tuple[str, str, str]:
    return verb, third_person(verb), f"{verb}d" if verb.endswith("e") else f"{verb}ed"


_AUXILIARIES = """
    is are was were has have had can cannot could may might must should will would does do did shows makes achieved lacks
    relies becomes reaches matches surpasses takes gives uses
"""
# Of these every form is one, and what `e?s` and `e?d` make of them besides.
_OF_THINGS = """
    remain run gain beat win exceed yield need require cost work allow maintain increase decrease outperform produce capture
    contain support consist dominate deliver attain surpass match suffer fail struggle ignore neglect overlook hinder prevent
    restrict degrade rely lead focus
"""


def finite_verbs() -> frozenset[str]:
    """Return the forms of verbs that a subject stands before, as far as words tell: `is`, `gains`, `proposed`."""
    told = (form for verb in _ALL_VERBS if verb not in _NOUNS_MOSTLY for form in _forms(verb))
    things = (verb + ending for verb in _OF_THINGS.split() for ending in ("", "s", "es", "d", "ed"))
    return frozenset([*_AUXILIARIES.split(), *things, *told])


FINITE = one_of(sorted(finite_verbs()))
_PLACED = re.compile(rf"(?:\w+ly )?{one_of(_SINGULAR.values())}\b", re.IGNORECASE)
_PAPER = re.compile(
    r"^(?:this|the present) (?:paper|work|article|study|report|letter|survey|thesis) ((?:\w+ly )?(?:propos|introduc|"
    r"present|develop|describ|investigat|stud|analy[sz]|explor|examin|evaluat|review|survey|address|provid|offer|argu|"
    r"demonstrat|show|report|formulat|consider|discuss|compar)(?:e?s|ies)) ",
    re.IGNORECASE,
)
# `We finally show` and `we also show` count the sentences of the abstract, so the adverb goes too.
_WE = re.compile(rf"^(?:[Ww]e|WE|I) (?:(?:{_LEADS}) )?((?:\w+ly )?)({_SINGULAR_VERBS}) (?=\S)", re.IGNORECASE)
_ORDERED = re.compile(rf"^(We|WE) (?:{_LEADS}) (?=\w)", re.IGNORECASE)
_AGAIN = re.compile(r"\b(?:we|us|ours|ourselves)\b|\bWE\b|(?:(?<=[a-z;:,)] )|(?<=\())We\b")
_OWN = r"(?:own|previous|prior|earlier|past|recent|companion|group|lab|team|knowledge|view|opinion)\b"
_OURS_TOO = re.compile(rf"\bour (?={_OWN})", re.IGNORECASE)
# A bare verb after `and` would still have the dropped `we` as its subject.
_SECOND_VERB = re.compile(
    r"(?:\b(?:and|or|but|then)|,)\s+(?:(?:\w+ly|then|also|further|thus|thereby|in turn)\s+)*"
    rf"({_BARE_VERBS})\b(?!-)",
    re.IGNORECASE,
)
# What lets a bare verb belong to something else than the authors: an infinitive, a modal, a clause of its own.
_OTHER_SUBJECT = re.compile(
    r"\b(?:to|that|which|who|whose|can|could|may|might|must|should|will|would|lets?|helps?|makes?|how|whether|where|"
    r"when|while|what|why|if|as)\b",
    re.IGNORECASE,
)
_OBJECT = re.compile(r" (?:it|its|them|their|that|the|a|an|this|these|how|whether|on|several|two|three|extensive)\b")
_AND_VERB = re.compile(rf"(, and )({_SINGULAR_VERBS})(?={_OBJECT.pattern})")  # after the comma, of nobody else
# What everybody does, not the authors alone: `the data that we produce daily`, `as we move on`, `we must`.
_DOINGS = """
    humans? people live lived inhabit perceive encounter face depend eat speak talk must should need know see risk tend want
    interact communicate travel consume remember spend breathe age move enter transition progress lack become as the
    approach(?!.this\\b) an? it our to
"""
_BY_EVERYBODY = "|".join(_DOINGS.split())
_AUTHORS = Screened(
    r"(?<!the way )(?<!ways )\b(?:we|WE|We)(?= [a-z(])(?! (?:(?:(?!(?:app|re|imp|supp)ly)\w+ly|all|now|still|also) )*"
    rf"(?:{_BY_EVERYBODY}|(?:have|are) (?:seen|witness\w*|come|enter\w*|become|living|used to|only|still|no)|"
    r"were to|can expect|and(?! \w+ly)|"
    r"(?:do not|don't) (?:yet |fully |really )*(?:know|understand|need|have)|(?<=ly )(?:rely|push|turn)|"
    r"(?:rely|move) (?:daily|every|toward|towards|into|from))\b)"
)
_MOVED = Screened(
    r"\b((?:lead|led|inspir|motivat|prompt)\w*|(?:collected|developed|proposed|provided) by) us\b", re.IGNORECASE
)
_QUESTION = re.compile(r"(?:^|(?<=[:] ))[^:?]*\?")  # whom `we` means in it, is open
# `Type I errors`, `“I don't know”` are nobody's.
_ALONE = re.compile(
    rf"(?<![\w“\"'‘&.-])(?<!Type )(?<!Part )(?<!Stage )(?<!Tier )(?<!Phase )I (?P<how>(?:\w+ly |also )?)"
    rf"(?:(?P<odd>have|am|do)|(?P<verb>{_BARE_VERBS})|(?P<as>can|will|may|\w+ed))\b(?!['’])"
)
_SAYS_I = Screened(r"\b(?:I|[Mm]y) ")
_ODD = {"have": "has", "am": "is", "do": "does"}
_MY = Screened(
    r"\b(?:[Mm]y|[Oo]ur) (?=(?:own |main |key |proposed |experimental |empirical )*(?:results?|findings?|approach|methods?|"
    r"work|analys[ei]s|experiments?|models?|framework|study|research|contributions?|thesis|proposal|claims?|evaluations?)\b)"
)
_STILL_WE = Screened(r"\b(?:[Ww]e|WE)\b")
_EVERYBODY = (
    r"(?:daily|everyday|lives|life|world(?! model)|planet|society|societies|universe|solar|galaxy|sun|brains?|"
    r"bod(?:y|ies)|minds?|children|ancestors|species|time|times|era|age|civilization|earth|oceans?|homes?|cities|eyes|senses|future|"
    r"communit(?:y|ies)|selves|economy|economies)\b"
)
# `We describe our approach`: which, nothing before it says.
_OUR_NEW = Screened(
    rf"\b((?:describ|present|introduc|report|outlin|summari[sz])(?:e|es|ed|ing)) our (?!{_OWN})", re.IGNORECASE
)
_OUR = Screened(rf"\b([Oo])ur (?!{_EVERYBODY})({_OWN})?")
_MADE = {"": "make", "e": "make", "s": "makes", "es": "makes", "d": "made", "ed": "made", "ing": "making"}
_ALLOWS = re.compile(r"\b(?:(?:allow|permit|enabl|empower)(s|es|d|ed|ing|e|) us to|(let|lets) us)(?= [a-z])", re.IGNORECASE)
_HELPS = re.compile(r"\b(help(?:s|ed|ing)?) us (?:to )?(?=[a-z])", re.IGNORECASE)
_GIVES = re.compile(
    r"\b(provid(?:e|es|ed|ing)) us with (?=\w)|"
    r"\b(g(?:i|a)v(?:e|es|ing)|offer(?:s|ed|ing)?) us (?=[a-z])",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)  # a text's parts and its gist ask for the same
def to_third_person(text: str, *, by_name: bool = False) -> str:
    """Return the sentence with the authors as they are spoken of by others; as it stands where that is not certain.

    `by_name` names them even where their verb could come first.
    """
    if by_name:
        return _by_their_name(text)
    paper = _PAPER.match(text)
    if paper is not None and not _AGAIN.search(text):
        rest = text[paper.end(1) :]
        return _without_our(text if _goes_on(rest) else paper.group(1).capitalize() + rest)
    return _by_their_verb(text) or _by_their_name(text)


def drop_us(text: str) -> str:
    """Return the sentence without those whom something helps or allows to do what it says (rule 6)."""
    if " us " not in text:
        return text

    def made(match: re.Match[str]) -> str:
        form = _MADE[match.group(1).lower()] if match.group(1) is not None else _MADE[match.group(2).lower()[3:]]
        form = form.capitalize() if match.group()[0].isupper() else form
        return f"{form} it possible to"

    text = _ALLOWS.sub(made, text)
    text = _HELPS.sub(r"\1 to ", text)
    return _GIVES.sub(lambda match: f"{match.group(1) or match.group(2)} ", text)


def begins_with_verb(text: str) -> bool:
    """Say whether a sentence in the third person begins as rule 1 makes it: `Proposes`, `Empirically studies`."""
    return _PLACED.match(text) is not None


def _goes_on(rest: str) -> bool:
    """Whether the paper is the subject of a second verb: `This paper presents X and shows Y` keeps its subject."""
    return re.search(r"\band (?:\w+ly )?(?:it |\w+(?:ses|tes|zes|pes|ves|ws|ps|rs|nds) )", rest) is not None


def _by_their_verb(text: str) -> str:
    """`Proposes X`, "" where the authors must be named."""
    match = _WE.match(text)
    if (
        match is None
        or _AGAIN.search(text, match.end())
        or _ALONE.search(text, match.end())
        or _OURS_TOO.search(text, match.end())
    ):
        return ""
    adverb, verb = match.group(1), match.group(2).lower()
    rest = _second_verbs(text[match.end(2) :])
    return _without_our((adverb + _SINGULAR[verb]).capitalize() + rest) if rest else ""


def _second_verbs(rest: str) -> str:
    """What follows the first verb with the authors' other verbs in the third person; "" where one is not certain."""
    told, at = [], 0
    for match in _SECOND_VERB.finditer(rest):
        verb, end = match.group(1), match.end(1)
        alone = match.group().startswith("and") or rest[: match.start()].endswith(",")
        if (
            not alone
            or verb not in _SINGULAR
            or _OTHER_SUBJECT.search(rest, 0, match.start())
            or not _OBJECT.match(rest, end)
        ):
            return ""
        told.append(rest[at : match.start(1)] + _SINGULAR[verb])
        at = end
    return "".join((*told, rest[at:]))


def _by_their_name(text: str) -> str:
    ordered = _ORDERED.match(text)
    text = _by_one_author(f"{ordered[1]} {text[ordered.end() :]}" if ordered else text)
    asked = [match.span() for match in _QUESTION.finditer(text)] if "?" in text else []
    spoken = [match.span() for match in _AUTHORS.finditer(text) if not any(a <= match.start() < b for a, b in asked)]
    if not spoken:
        return _MY.sub(_the, text) if _STILL_WE.search(text) else _without_our(_MOVED.sub(r"\1 the authors", text))
    (start, end), others = spoken[0], spoken[1:]
    before, rest = text[:start], text[end:]
    for a, b in reversed(others):
        rest = f"{rest[: a - end]}they{rest[b - end :]}"
    rest = re.sub(r"\bourselves\b", "themselves", re.sub(r"(?<!let )\bus\b", "them", rest))
    return _without_our(before) + ("the authors" if before else "The authors") + _without_our(rest, "their")


def _by_one_author(text: str) -> str:
    """`The author argues` for `I argue`."""

    def said(match: re.Match[str]) -> str:
        does = match["as"] or _ODD.get(match["odd"]) or third_person(match["verb"])
        return f"{'The' if match.start() == 0 else 'the'} author {match['how']}{does}"

    if not _SAYS_I.search(text):
        return text
    if match := _ALONE.match(text):  # `I study it and show that`: the second verb is the author's, too
        rest = text[match.end() :]
        told = _second_verbs(rest) or _AND_VERB.sub(lambda found: found.group(1) + _SINGULAR[found.group(2)], rest)
        text = text[: match.end()] + told
    return _MY.sub(_the, _ALONE.sub(said, text))


def _the(match: re.Match[str]) -> str:
    return "The " if match.start() == 0 and match.group()[0].isupper() else "the "


def _without_our(text: str, whose: str = "the authors'") -> str:
    def said(match: re.Match[str]) -> str:
        word = f"{whose} {match.group(2)}" if match.group(2) else "the "
        return word[0].upper() + word[1:] if match.group(1) == "O" and match.start() == 0 else word

    return _OUR.sub(said, _OUR_NEW.sub(rf"\1 {whose} ", text))
