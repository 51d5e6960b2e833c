"""Takes off what stands in front of a sentence and belongs to what went before: bullets, headings, connectives.

`- `, `2) `, `Methods: `, `However, `, `To address this gap, `, `In this paper, `; and the same inside: `The cost, however,
is high`, `It also reveals`. What the authors do something for goes, too, where it only points: `To evaluate these skills, we
build X`. A condition is none of these: `Under this assumption, it converges` and `In these systems, tasks
wait` keep their beginning.
"""

import re
from functools import lru_cache

from bot.summarise.english.prefilter import Screened


def _one_of(words: str, between: str | None = None) -> str:
    """A pattern for any of the words, or of the phrases between commas."""
    return f"(?:{'|'.join(' '.join(word.split()) for word in words.split(between))})"


# With the small pictures that stand before a point: ✅, 🚀.
_BULLET = re.compile(
    r"^(?:[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]+|[-*•·‣–]+|\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])[.)])\s+"
)
_HEADINGS = _one_of(
    """backgrounds? objectives? aims? purpose motivation methods? methodology approach results? findings conclusions?
    significance introduction discussion contributions? problem solution impact context evaluation design implications
    materials"""
)
_HEADING = re.compile(
    rf"^(?:(?i:(?:main |key )?{_HEADINGS}(?: (?:and|&) {_HEADINGS}| statement)?(?: ?[:—–]| -))|"
    r"(?:BACKGROUND|OBJECTIVES?|AIMS?|PURPOSE|METHODS?|RESULTS?|FINDINGS|CONCLUSIONS?|SIGNIFICANCE|"
    r"INTRODUCTION)\.?) (?=\S)"
)
_PROBLEM = _one_of(
    """gap challenge issue problem limitation difficult shortcoming concern bottleneck drawback need question trade-?off
    obstacle hurdle deficienc weakness inefficienc constraint void risk barrier phenomen demand task goal aim end purpose
    objective direction"""
)
_GROUND = _one_of(
    """observation insight finding idea intuition principle result analys[ei]s foundation motivation concept success
    framework dataset resource benchmark pipeline approach method technique strategy mechanism corpus tool system paradigm
    perspective formulation progress advance potential promise popularity importance development improvement benefit effort
    capabilit understanding theor model view basis mind spirit context light regard respect end way manner fashion aim reason
    purpose vein line direction"""
)
# `In these systems, tasks wait` holds for these systems alone; `in these respects` limits nothing.
_RESPECT = _one_of("context light regard respect end way manner fashion aim reason purpose vein line direction spirit view")
_THESE = r"(?:this|these|such|those|that|the above|above|the aforementioned|its|their)"
_SOURCE = (
    r"(?:(?:based|building|built|drawing|relying) (?:up)?on|(?:motivated|inspired|guided|driven|informed) by|leveraging|"
    r"using|given|in light of) (?:this|these|such|those) (?:[a-z-]+ ){0,2}(?:[a-z-]+ and )?[a-z-]+, (?=(?:we|I)\b)"
)
_PAPER = _one_of(
    """paper, work, article, study, report, letter, survey, thesis, contribution, chapter, research, position paper, review,
    technical report, manuscript, note""",
    ",",
)
_ADVERB = _one_of(
    """however, moreover, furthermore, additionally, in addition, further, further still, nevertheless, nonetheless, thus,
    therefore, hence, consequently, accordingly, as a result, as a consequence, on the other hand, on the one hand,
    on the contrary, meanwhile, concurrently, simultaneously, at the same time, specifically, more specifically,
    more precisely, more concretely, concretely, in particular, particularly, notably, importantly, more importantly,
    most importantly, crucially, critically, remarkably, strikingly, surprisingly, interestingly, unfortunately, fortunately,
    finally, lastly, overall, altogether, taken together, together, collectively, ultimately, in summary, in short, in sum,
    in conclusion, in fact, in turn, in contrast, in comparison, in response, in parallel, in this way, in doing so,
    in this context, in this regard, in this sense, by contrast, by doing so, by comparison, to summarize, to summarise,
    to conclude, to do so, to do this, besides, also, yet, still, here, instead, rather, indeed, conversely, similarly,
    likewise, as such, for example, for instance, for this reason, this way, that said, more broadly, more generally, next,
    then, subsequently, first, firstly, first of all, second, secondly, third, thirdly, fourth, fifth, on this basis,
    last but not least""",
    ",",
)
_SOLVE = _one_of(
    """address, overcome, tackle, solve, mitigate, bridge, fill, close, alleviate, resolve, counter, counteract, combat,
    remedy, meet, achieve, accomplish, answer, support, realize, realise, enable, facilitate, handle, circumvent, study,
    investigate, explore, ameliorate, test, validate, verify, demonstrate, remove, surmount, escape, avoid, cope with,
    deal with, account for, go beyond, move beyond, contend with, adapt to""",
    ",",
)
# `To evaluate these skills, we build X`: what for, another sentence says. Of all but the authors it would be a condition.
_PURPOSE = (
    r"(?:in order )?to (?:[a-z-]+ ){1,7}?(?:this|these|such|those|that)(?: [a-z-]+){0,4}, "
    r"(?=(?:we|I|the authors|this (?:paper|work|study)|our)\b)"
)
_CONNECTIVE = re.compile(
    r"^(?:(?:and|but|yet),? (?!another\b|again\b|to\b|for\b)(?=[\w’'])|(?:so|or) (?=(?:we|the|it|this|these|they|in|our)\b)|"
    rf"{_PURPOSE}|{_SOURCE}|(?:to|towards?) (?:this|that) (?:end|aim|goal) (?=(?:we|I)\b)|(?:{_ADVERB}|"
    rf"in (?:this|the present|the current) {_PAPER}|(?:to|towards?) (?:this|that|these|those) (?:end|goal|aim)s?|"
    rf"(?:motivated|inspired|guided|driven) by {_THESE}(?: [\w-]+){{0,3}}|"
    rf"(?:based|building|drawing|relying) (?:up)?on {_THESE}(?: [\w-]+)?(?: {_GROUND}\w*)?|"
    r"(?!given that,)(?:with|given|in light of|in view of|in response to|despite|because of|due to|owing to|leveraging|"
    rf"using|following|exploiting|through) {_THESE}(?: (?:[\w-]+ )?(?:{_GROUND}|{_PROBLEM})\w*)?(?: in mind)?|"
    rf"despite {_THESE}(?: [\w-]+){{1,3}}|(?:alongside|besides|in addition to|along with) {_THESE}(?: [\w-]+){{0,2}}|"
    rf"(?:in|for) {_THESE} (?:[\w-]+ )?{_RESPECT}s?|"
    rf"(?:in order |aiming |seeking )?to (?:\w+ly )?{_SOLVE} {_THESE}(?: [\w-]+){{0,2}}?(?: {_PROBLEM}\w*)?)"
    r"(?:[,:]+ +(?=\S)|,(?=we\b))|"
    r"(?:thus|hence|therefore|however|moreover|furthermore|consequently) "
    r"(?=(?:we|the|most|many|existing|current|there|these|this|they|it|our|such)\b)|"
    r"(?:then|now|next|second|secondly|third|thirdly|finally|lastly|also|notably|importantly) (?=(?:we|I)\b)|"
    rf"(?:here|in (?:this|the present) {_PAPER}) (?=(?:we|I)\b))",
    re.IGNORECASE,
)
# `It also reveals` counts the sentences of the abstract, as `The cost, however, is high` answers one.
_REPORTS = _one_of(
    """show demonstrat reveal confirm suggest indicat improv highlight validat enhanc support enabl provid establish introduc
    propos present develop extend achiev reduc increas illustrat underscor verif prov boost complicat limit exacerbat motivat
    strengthen outperform optimiz analyz analys evaluat investigat explor"""
)
_ASIDE = _one_of("however therefore thus moreover furthermore nevertheless nonetheless hence consequently")
_BETWEEN = Screened(rf", {_ASIDE},(?= )")
_INSIDE = Screened(
    rf"^((?:[\w()'’-]+ ){{0,7}}[\w()'’-]+)(?:"
    rf"(?<!but)(?<!only)(?<!and) (?:also|further|furthermore|additionally|moreover)(?= {_REPORTS}(?:e?s|e?d|e|ies|"
    rf"ied)?\b)|(?<!and) (?:thus|therefore|hence)(?= (?:{_REPORTS}(?:e?s|e|ies)?)\b))",
    re.IGNORECASE,
)
_MOST_CONNECTIVES = 3  # `Finally, to this end, in this paper, we …`


@lru_cache(maxsize=256)  # a text's parts and its gist ask for the same
def strip_opening(sentence: str, names: frozenset[str] = frozenset()) -> str:
    """Return the sentence without bullet, heading and connectives; `names` keep their lower case in front."""
    text = _without(_BULLET, " ".join(sentence.split()), names)
    text = _without(_HEADING, text, names)
    for _ in range(_MOST_CONNECTIVES):
        before = text
        text = _without(_CONNECTIVE, _without(_BULLET, text, names), names)
        if text == before:
            break
    return _BETWEEN.sub("", _INSIDE.sub(r"\1", text))


def _without(opening: re.Pattern[str], text: str, names: frozenset[str]) -> str:
    match = opening.match(text)
    return text if match is None else _capitalised(text[match.end() :], names)


def _capitalised(text: str, names: frozenset[str]) -> str:
    word = re.match(r"\w*", text)
    first = word.group() if word else ""
    following = text[len(first) : len(first) + 1]
    is_plain = first.isalpha() and first == first.lower() and first not in names and following in {" ", ",", "-", "'", "’"}
    return text[:1].upper() + text[1:] if is_plain else text
