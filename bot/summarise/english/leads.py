"""Finds where a sentence goes on behind what leads to it: to a finding (`Experiments show that B`), to its main clause.

Where that is not certain, no place is found.
"""

import re

from bot.summarise.english.anaphora_patterns import words
from bot.summarise.english.prefilter import Screened
from bot.summarise.english.third_person import FINITE, begins_with_verb

FOUND = (
    r"(?:show(?:s|n|ed)?|(?:demonstrat|prov|observ|validat)(?:es?|ed)|(?:reveal|confirm)(?:s|ed)?|finds?|found|"
    r"establish(?:es|ed)?)"
)
_FINDING = Screened(
    rf"(?:(?!we\b)[\w’'/,()-]+ ){{0,18}}?(?:also |\w+ly )?{FOUND}(?: (?:\w+ly|both|here))?(?:,? that,?|,) (?=[\w“\"])",
    re.IGNORECASE,
)
_WHOSE = re.compile(
    r"^(?:\w+ly )?(?:show|demonstrat|reveal|confirm|find|prov|observ|validat|establish)\w*\b|\b(?:authors?|experiments?|"
    r"experimental|results?|evaluations?|analys[ei]s|study|studies|findings?|simulations?|tests?|benchmarks?|ablations?|"
    r"measurements|work|paper|comparisons?|investigation|observations?|experience)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:by|through|using|with|unlike|despite|while|although|though|beyond|extensive|rather than|instead of|to|"
    r"in (?:extensive |our |the )?(?:experiments?|evaluations?|tests?)|as|experiments|via|together|alongside|"
    r"in addition to|afterwards|when (?:evaluated|tested|benchmarked)|in (?:the|this) (?:paper|work|study)|given|because|"
    r"since|drawn|built|\w+ing|\w+ed)\b[^;:]*?, ",
    re.IGNORECASE,
)
# `Experiments show gains of 3%, | gains of 4%`: what it shows goes on
_REPORTS = re.compile(rf"(?:extensive )?(?:\w+ )?experiments\b.* {FOUND} ", re.IGNORECASE)
_PLACE = re.compile(r"(?:on|in|across|over|for|at|within|among|during|throughout|from)\b[^;:]*?, ", re.IGNORECASE)
# `with gains up to 8 points`, `an ability crucial for use cases`: no verb behind such a word.
_NO_VERB_BEHIND = "".join(rf"(?<!\b{word} )" for word in words("with of for in by the a an its their on and"))
# `models trained on pages`, of which a verb of their own follows
_NO_PARTICIPLE = (
    r"(?!(?:trained|used|applied|developed|designed|collected|obtained|generated|learned|built|created|produced) "
    r"(?:on|with|by|from|for|via|using|in|to)\b)"
)
_CLAUSE = re.compile(
    rf"(?!{FINITE} )(?:(?:the|a|an) )?(?:[\w’'/.+%()-]+ ){{1,6}}?{_NO_VERB_BEHIND}{_NO_PARTICIPLE}{FINITE}(?= )"
)
_NOT_BEGUN = re.compile(
    r"(?:\d+|so|yet|because|since|and|or|but|which|who|whose|where|while|as|that|is|are|was|were|to|by|with|without|especially|particularly|when|if|for|"
    r"in|on|at|from|under|than|even (?:when|if|though|with|without|in|on|under|for)|"
    # `existing methods fail` and `sizing caches remains costly`, but not `sizing caches, they`.
    r"(?!existing|prevailing|emerging|remaining|underlying)[a-z]+ing(?!(?:(?! (?:which|that|who) )[^,])*"
    r" (?:remains|is|requires|poses|can)\b))\b"
)
# `where efficiency, | scale and cost are paramount`: the clause that has begun still needs its verb.
_PENDING = Screened(rf", (?:in )?(?:where|which|who|whose)\b(?!.*\b{FINITE}\b)")
_BRACKETS = ("()", "[]", "{}", "“”")


def finding(sentence: str, at: int = 0) -> int:
    """Return where the finding begins that the sentence leads to from `at` on (`Tests show that B`), 0 where to none."""
    found = _FINDING.match(sentence[at:])
    return at + found.end() if found and _WHOSE.search(found.group()) else 0


def main_clause(sentence: str, at: int = 0) -> int:
    """Return where the main clause begins behind what leads to it (`While A, B`), 0 where that is not certain."""
    return _main_clause(sentence, _LEAD, at)


def behind_place(sentence: str, at: int = 0) -> int:
    """Return where the main clause begins behind where it holds (`On five machines, B`), 0 where none is certain."""
    return _main_clause(sentence, _PLACE, at)


def _main_clause(sentence: str, lead: re.Pattern[str], at: int) -> int:
    rest = sentence[at:]
    if not lead.match(rest) or begins_with_verb(rest):
        return 0
    for comma in re.finditer(r", ", rest):
        behind = rest[comma.end() :]
        led = rest[: comma.start()]
        if begins_clause(behind) and closed(led) and not _PENDING.search(led) and not _REPORTS.match(led):
            return at + comma.end()
    return 0


def begins_clause(text: str) -> bool:
    """Say whether the text begins with a subject and its verb, as far as words tell."""
    return _CLAUSE.match(text) is not None and _NOT_BEGUN.match(text) is None


def closed(text: str) -> bool:
    """Say whether every bracket and quotation of the text is closed."""
    return all(text.count(pair[0]) == text.count(pair[1]) for pair in _BRACKETS) and text.count('"') % 2 == 0
