"""Finds where a sentence may end before its own end, so that what is left is complete.

A border of clauses is such a place: `, which …`, `; …`, ` by doing …`; and with more loss one inside a clause. A condition
(`if`, `when`, `unless`) is no border, nor what turns against the sentence (`but`, `although`); a pair (`not only … but`),
a bracket and a list that is announced (`two parts: …`) stay whole, and no verb, noun or adjective ends it that asks for
what would follow.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.summarise.english.anaphora_patterns import words
from bot.summarise.english.leads import FOUND, closed, finding
from bot.summarise.english.prefilter import Screened
from bot.summarise.english.third_person import FINITE, begins_with_verb

BRACKET = Screened(r" \((?!(?:[1-9]|[ivx]{1,4}|[a-h])\))(?:[^()]|\([^()]*\))*\)(?!\w)|(?<=\w)\[[^\]]*\]")
# What is not complete without what follows: `in response | to`, `on par | with`, `purely | by`.
_ENDS = re.compile(
    r"in (?:conjunction|response|contrast|comparison|terms|addition|accordance|combination|relation|regards?|respect|light|"
    r"favou?r|spite|view|front|order|exchange|return|lieu|line|tandem|case|hope|fact)|on (?:par|top)|"
    r"with (?:respect|regard|access|reference)|(?:\S+—)?for (?:example|instance)|to lie|even \w+ing|falls? short|"
    r"as (?:well|opposed|part|long|soon|far)|by means|"
    r"(?:the|a|its|their|this|that) (?:extent|degree|way|amount|lack|role|impact|effect|influence|reliance|emphasis|sake|"
    r"ability|tendency|potential|interest|need|use|basis|result|function)|"
    r"\S+ (?:due|such|according|thanks|owing|prior|subject|up|purely|primarily|mainly|largely|solely|typically|partly|"
    r"simply|specifically|particularly|especially|potentially|selectively|often|ever|even|however|though|thereby|together|away|along|"
    r"close|closer|also|then|thus|hence|usually|merely|exclusively|jointly)",
    re.IGNORECASE,
)
_PRESENTS = re.compile(
    r"(?:The authors |This (?:paper|work|study|article) )?(?:\w+ly )?(?:propos|introduc|present|develop|design|describ|"
    r"build|construct|creat|releas|offer|provid|devis|implement|establish|contribut|curat|formulat|deriv)(?:e?s|e|)\b",
    re.IGNORECASE,
)
# `Presents Tidy: a cache for pages`, not `two parts: a cache`
_NAMED = re.compile(rf"(?i:{_PRESENTS.pattern}) (?:[\w’'/.+-]+ ){{0,6}}?[A-Z][\w+-]*: an? [^,:]*$")
_HANGS_ON = {
    "to": r"alternatives?|approach|solutions?|access|attention|exposure|contributions?|adaptation|transition|contender|"
    r"barriers?|tendency|potential|path|steps?|way|addition|shift|code|key|gap|threat|extension|relevance|resistance|"
    r"sensitivity|attachment|parallel|contrary|little",
    "in": r"interest|role|success|advances|progress|gaps?|gains|experience|rise|trend|shift|increase|decrease|changes?",
    "on": r"reliance|impacts?|influence|effects?|focus|emphasis|research|attacks?|work|insights|light|burden",
    "for": r"scenario|potential|promise|demand|need|way|basis|foundation|implications|support|hope|search|avenues|"
    r"guidelines|insights",
    "with": r"problems?|issues?|interaction|interference|alignment|agreement|consistency|compatib\w+|integration|"
    r"associated|comparison",
    "from": r"shift|transition|gap|departure|distinction",
    "under": r"areas?",
}
# `shows that caches | trained on pages fail`
_TELLS = re.compile(
    rf"{FOUND}|argu(?:es?|ed)|suggest(?:s|ed)?|indicate[sd]?|hypothesi[sz]es?|conclud(?:es?|ed)|report(?:s|ed)?|"
    r"ensur(?:es|ing)|conjectures?|recommends?|advocates?|propos(?:es?|ed)|"
    r"evidence|idea|insight|fact|hypothesis|claim|so|showing|demonstrating|finding|revealing|proving|suggesting|"
    r"indicating",
    re.IGNORECASE,
)
_HANGING = {word: re.compile(nouns, re.IGNORECASE) for word, nouns in _HANGS_ON.items()}
_NOUNS = re.compile(
    r"(?:results|models|uses?|designs|studies|measures|estimates|benchmarks|tests|samples|reports|surveys|supports|reviews|"
    r"approaches|works|costs|needs|gains|aims|frames|maps|sets|classes|views|predictions)"
)
# `a cache | trained on pages`, `, centred on pages`
_DONE = (
    r"(?!testbed|(?:result|contribut|correspond|differ|rang|occurr|emerg|succeed|fail|remain|appear|consist|benefit|"
    r"suffer)ed\b)\w+ed"
)
_BEHIND_DONE = "on|by|from|with|for|to|in|into|as|at|using|via|through|of|between|across"
_BESIDE = re.compile(
    r"; |\.\.\.|\s(?:[–—-]|--)\s|—|"
    r", (?=(?:and |thus |thereby |while |without |yet |all |each )?(?:which|whose|where|who|in which|with which|for which|"
    r"thereby|thus|hence|(?!during|according|regarding|ranging)\w+ing|such as|including|e\.g\.|i\.e\.|namely|while|whereas|"
    r"with|without|even|particularly|especially|notably|as well as|along with|compared|relative|so|from|through|by|via|"
    r"using|because|since|both|as|ranging|up to|an?|the|respectively|across|on|in|for|at|under|often|most|based|driven|"
    r"guided|followed|accompanied|together|rather than|despite|to|"
    rf"\w+ed (?:{_BEHIND_DONE}))\b)|(?<!both), (?=and\b)"
)
_PHRASE = re.compile(
    r" (?=(?:while \w+ing|by (?:\w+ly )?\w+ing|through|via|"
    r"using|without|compared (?:to|with)|relative to|in order to|as well as|"
    r"such as|including|based on|across|in comparison|with respect to|in terms of|alongside|along with|throughout|"
    r"ranging from|even|especially|particularly|despite|because|since|whereas|while|during|thereby|thus|so that|"
    r"rather than|against|at the cost|over (?:the|existing|prior|previous|state|strong|baseline)|within|leading to|"
    r"(?<!decision )making|enabling|allowing)\b)"
)
_PREPOSITION = re.compile(
    r"(?<!,) (?=(?:for|on|in|with|under|from|at|among|to|and \w+s (?:it|the|its|an?)|"
    rf"{_DONE} (?:{_BEHIND_DONE}))\b(?!-))"
)
# `and reduces`: what is said second of the subject; `that reduces`: of what the authors propose
_SECOND = re.compile(rf"(?<!,) (?=and (?:\w+ly |also )?(?!{_NOUNS.pattern}){FINITE} )")
_WHICH = re.compile(r" (?=that (?:\w+ly |can |also )?\w+s )")
_LIMITS = re.compile(r"[,;]? ?(?:but|yet|although|though|however|if|unless|when|only|except|provided|not)\b", re.IGNORECASE)
_TURNS = re.compile(r"(?:, (?:but|yet)(?! also)|; however)\b")
_TURNS_ON = re.compile(r"[^,;]* but (?!also\b|rather\b)")  # ` on pages but fail on tables`
_VERB_NEXT = re.compile(rf" and (?:\w+ly )+{FINITE} | \w+ed\b")  # of an adverb: `benchmark effectively | and widely tests`
_COUNTS = Screened(
    r"\b(?:two|three|four|five|six|seven|several|following|key|first|\(1\)|\(i\)|\(a\))(?: [\w-]+){0,4}[:,]?$"
)
_BARE_FIGURE = re.compile(r"[a-z](?:ing|ed|s) [~<>+-]{0,2}\d+(?:\.\d+)?$")  # `achieving +3.1 | on pages`
_UNNAMED = Screened(
    r"\b(?:fac(?:es?|ing)|suffers? from|poses?|encounters?|has|have) (?:[\w-]+ ){0,2}"
    r"(?:challenges|limitations|issues|problems|shortcomings|drawbacks)$|"
    r"\b(?:address|fill|bridg|clos|tackl|overcom|mitigat)\w* (?:the|this|these|such) (?:[\w-]+ )?"
    r"(?:gaps?|challenges?|issues?|problems?|limitations?)$"
)
_UNNAMED_THINGS = words(
    "challenge challenges limitation limitations issue issues problem problems shortcomings drawbacks gap gaps"
)
_MADE_TO = Screened(  # `allows users to …`
    r"\b(?:allow|enabl|help|let|requir|caus|forc|encourag|train|teach|guid|prompt|induc|empower|lead|us|abilit|fail|attempt|"
    r"need|able|capab|learn|tend|seek|struggl|aim|want|begin|continu|how|way|order|likely|prone|whether)"
    r"(?:e?s|ed|ing|e|y|les?)?(?: [\w-]+){0,5}$"
)
# `assigns agents | to facilities`, `turns passive models | from`: a verb whose object is not all that it asks for
_SPLIT = {
    word: Screened(rf"\b(?:{verbs})(?: [\w’'-]+){{0,4}}$", re.IGNORECASE)
    for word, verbs in {
        "to": r"(?:assign|expos|attribut|subject|confin|relegat|delegat|devot|entrust|bring|dedicat)(?:e?s|ed|ing|e|)|maps?|"
        r"mapping",
        "from": r"(?:transform|turn|convert|shift|evolv|transition|distinguish|differentiat|prevent)(?:s|es|ed|ing|e|)",
        "with": r"(?:align|replac|bridg|equip|endow|associat|confront|pair|match)(?:s|es|ed|ing|e|)|"
        r"provid(?:es?|ing) (?:users|readers|people|them)",
        "on": r"(?:keeps?|keeping|kept)",
        "at": r"(?:keeps?|keeping|kept)",
        "under": r"(?:keeps?|keeping|kept)",
    }.items()
}
_MORE_OF_IT = re.compile(r"\ban? (?:[\w.%-]+ ){0,2}(?:increase|decrease|reduction|improvement|drop|gain|rise)$")
# Words that need what follows them: of a border within a clause, and before a preposition.
_NEEDS_MORE = words(
    """is are was were be been and or but of the a an than that not more less by to for in on with from trained compared
    compare evaluated based such as only also can may will must at its their this these those while using via through without
    even both either between has have had into over under about which who when where if up out each every any rather
    instead particularly especially including across obtained made tested no one two three four five several key main
    closest albeit before after remain remains i.e. e.g."""
)
_TAKES = re.compile(
    r"\w+ed|\w+ing|(?:rel|appl)ies|depends?|focus(?:es)?|works?|operates?|results?|consists?|leads?|performs?|rests?|builds?|"
    r"acts?|serves?|aims?|adapts?|generali[sz]es?|compares?|differs?|deals?|accounts?|scales?|most|known|similar|due|able|"
    r"built|run|held|kept|set|put|left|according|how|what|why|whether|very|so|\w+ly|new|novel|first|all|other|various|different|\w+[ai]ble|"
    r"hints?|points?|lies?|gets?|captures?|connects?|attests?|robust|comparable|competitive|equivalent|related|relevant|responsible|suitable|sensitive|prone|subject|crucial|"
    r"dependent|independent|reliant|inconsistent|analogous|consistent|orthogonal|insufficient|suited|valid|optimal|suboptimal|effective|ineffective|"
    r"efficient|inefficient|useful|beneficial|harmful|expensive|costly|ideal|linear|distinct|identical|equal|invariant|inherent|"
    r"specific|relative|indispensable|sufficient|proportional|capable|blind|simpler?|better|worse|best|closer|faster|slower|larger|smaller|higher|lower|far|"
    r"(?:align|interact|respond|correspond|adher|engag|participat|excel|cop|var|defend|differentiat|distinguish|switch|stem|"
    r"aris|emerg|bring|converg|coincid|pos|contribut|exist|persist|occur|interact)(?:e?s|ies|y|e)?|"
    r"struggles?|suffers?|fails?|difficult|hard|easy|easier|harder|necessary|critical|essential|important|shows?|finds?|demonstrates?|proposes?|suggests?|provides?|offers?|introduces?|presents?",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being|remains?)(?: \w+ly| not| also)* [\w-]+$")
_ENDS_IN_VERB = re.compile(rf"(?:{FINITE}|\w+ed)")
_PAIRS = tuple(
    (Screened(one), re.compile(other))
    for one, other in (
        (r"\bnot only\b", r"\bbut\b"),
        (r"\b(?:both|between)\b", r"\band\b"),
        (r"\b(?:either|whether)\b", r"\b(?:or|can|is|are)\b"),
        (
            (
                r"\bfrom (?:(?:an? |the )?(?:\w+ ){1,2}of )?[~\d.%$-]+|"
                r"\b(?:shift|transition|mov|chang|switch|rang)\w* from\b|"
                r"\b(?:transfer|refram|convert|translat)\w* (?:[\w-]+ ){1,5}from\b"
            ),
            r"\b(?:in)?to\b",
        ),
        (r"\b(?:combin|integrat)(?:e|es|ing)\b", r"\b(?:and|with|into)\b|,"),
        (r"\b(?:equip|endow|empower)(?:s|p?ing)?\b", r"\b(?:with|to|by)\b"),
        (r"\bcompar(?:e|es|ing)\b", r"\b(?:and|with|to|against|across)\b"),
    )
)
_OPENING = re.compile(
    r"(?:by|through|using|with|to|in|on|for|from|under|at|while|although|though|when|if|as|since|because|given|despite|"
    r"unlike|based|across|compared|beyond|after|over|among|during|within|without|following|rather|instead|whereas|"
    r"applied|evaluated|tested|trained|inspired|motivated|built|drawn|paired|designed|combined|\w+ing)\b",
    re.IGNORECASE,
)
_DASH = re.compile(r"\s?(?:\s(?:[–—-]|--)\s|—)")
_IF = Screened(r"\b(?:if|unless|when)\b")
_JOINED = re.compile(r"(?:and|which|where|who|while|with|without|by|using|a|an|the|\w+ing)\b")
# `while A does this, B`: the clause that it leads to must be there.
_SUBORDINATE = Screened(
    r"(?:^|that |, )(?:while|although|though|when|if|since|because|whereas) [^,]*, (?P<main>.*)$", re.IGNORECASE
)
_ANOTHER = Screened(
    r"(?:(?:, (?:while|whereas|because|since)|\bbut|\band that|"
    r"(?P<whole>\bwhere|, yet(?! (?:\w+ly )?(?:effective|efficient|powerful|simple|accurate|flexible|principled|practical|"
    r"scalable|expressive)\b))) (?=[^,;]*$)|; however,? (?=[^;]*$))(?P<clause>.*)$"
)
# `A; on B`, `A, and, under B`: a clause that has begun
_BEGUN_AGAIN = re.compile(r"; (?P<clause>[^;]*)$")
_AND_ASIDE = re.compile(r", (?:and|but|that), [^,]*$|, (?:\w+ly )?\w+ing$")
# What leads to a clause that has not begun yet.
_ALTHOUGH = re.compile(
    r"(?:^|\bthat )(?:although|though|while|if|when|since|because|due to|given) (?!do\b|does\b|is\b|are\b|can\b)[^,]*$",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"(?:(?:\w+ly|also|still|even) )*(?:\w+ed|(?!achieving)\w+ing|\w+s|are|not|also|with|in|at|to|for|by|only)\b"
)
_SUBJECT = re.compile(r"\w+ing\b")
_STATES = re.compile(r"[^,;]* (?:remains?|is|are|was|were|requires?|poses?|can|has|have)\b")
_VERB = re.compile(rf"(?<=[\w)’',] ){FINITE}\b")
# `commonly used metrics`
_OF_A_NOUN = Screened(
    r"\b(?:commonly|widely|frequently|previously|newly|recently|publicly|traditionally)[ -]\w+ed(?= [a-z])"
)
# `results obtained through tables`: whoever obtains them would need to say what
_OF_WHAT = Screened(
    r"\b(?:obtained|proposed|developed|generated|introduced|produced|presented|reported|collected|designed|created|trained|"
    r"used|built|derived|extracted) (?=(?:by|through|via|using|from|with|on|in|for)\b)"
)
_CLAUSE_NEXT = re.compile(
    rf", and (?:\w+ly )?(?:the |it |they |an? |its )?(?:[\w-]+ ){{0,3}}{FINITE} ",
)
_LISTED = re.compile(r", (?:[\w-]+ ){0,5}?[\w-]+(?:,|(?:,? and|,? or)\b)(?! \w+(?:s|ed) )")
_NOT_LISTED = re.compile(
    r", (?:which|while|whereas|thereby|thus|where|who|because|since|so|with|without|such as|including)\b|"
    r", \w+ing (?:the|an?|it|its|their|that)\b"
)
_DID = re.compile(rf"(?:\w+ly )?{FINITE}\b|\w+ed \d")
_DOES_MORE = re.compile(r", (?:\w+ly )?\w+ing\b")  # no member of a list where none before it is such
_DOES = re.compile(r"\b\w+ing\b[^,]*$")
_COST = {_BESIDE: 0.2, _PHRASE: 0.5, _SECOND: 0.6, _WHICH: 0.6, _PREPOSITION: 1.2}


class Ending(NamedTuple):
    """Where a text may end: at its own end, or in front of a border of clauses."""

    cost: float
    words: int
    start: int
    border: re.Pattern[str] | None


def endings(text: str) -> Iterator[Ending]:
    """Yield the text's own end, and every border at which it might end; `is_complete` says whether it may."""
    words = text.split()
    spaced = " ".join(words) == text  # one space between any two
    yield Ending(0.0, len(words), len(text), None)
    for border, cost in _COST.items():
        for match in border.finditer(text):
            start = match.start()
            kept = kept_before(text, start)
            yield Ending(cost, kept.count(" ") + 1 if spaced else len(kept.split()), start, border)


def kept_before(text: str, start: int) -> str:
    """Return what stands before the place, without the signs at its end."""
    return text[:start].rstrip(" ,;:")


def is_complete(kept: str, tail: str, border: re.Pattern[str]) -> bool:
    """Say whether what stands before the border is complete without the rest."""
    last = kept.rpartition(" ")[2].lower()
    return not (
        last in _NEEDS_MORE
        or _STRAY.fullmatch(tail)
        or _MEASURE.match(tail)  # `achieves performance | on par with others`
        or _hangs(kept)
        or _hangs_on(kept, last, tail)
        or _LIMITS.match(tail)
        or _TURNS.search(tail)
        or (_TURNS_ON.match(tail) and "not only" not in tail)
        or (border is _PREPOSITION and _TAKES.fullmatch(last))
        or (border is not _BESIDE and _goes_with_another(kept, tail))
        or _is_half_a_range(kept, tail)
        or (border is not _BESIDE and _IF.search(kept))
        or (
            ": " in kept and not tail.startswith(";") and not _is_clause(kept.rpartition(": ")[2]) and not _NAMED.match(kept)
        )
        or (_DASH.search(f"{kept} ") and _DASH.search(tail))
        or kept.endswith((" -", "–", "—"))
        or (border is _WHICH and not _PRESENTS.match(kept))
        or (tail.startswith(" to ") and _MADE_TO.search(BRACKET.sub("", kept)))
        or (tail.startswith(" in ") and _MORE_OF_IT.search(kept))
        or _is_split(kept, last, tail)
        or _COUNTS.search(kept)
        or (last[-1:].isdigit() and _BARE_FIGURE.search(kept))
        or (last in _UNNAMED_THINGS and _UNNAMED.search(kept))
        or not closed(kept)
        or any(_is_half(kept, one, other) for one, other in _PAIRS)
        or _is_listed(kept, tail)
        or _is_half_a_list(kept, tail)
        or _lacks_object(kept, last)
        or not _has_verb(kept)
        or _begins_another(kept, tail)
    )


def _hangs(kept: str) -> bool:
    """Whether its last words are not complete: `in response | to caches`, `, a scenario | of caches`."""
    *_, before, one, other = ("", *kept.rsplit(None, 3))
    return _ENDS.fullmatch(f"{one} {other}") is not None or (before[-1:] == "," and one in {"a", "an", "the"})


_MEASURE = re.compile(r" (?:on par|comparable|competitive|equal|equivalent|similar|close|superior|inferior) (?:with|to)\b")
_STRAY = re.compile(r"(?: (?:for|on|in|with|under|from|at|to)\b)?[\s.?!]*")  # a preposition that nothing follows


def _is_split(kept: str, last: str, tail: str) -> bool:
    """Whether an adverb is parted from its verb, `effectively | and widely tests`, or a verb from what it asks for."""
    if last.endswith("ly") and _VERB_NEXT.match(tail):
        return True
    wants = _SPLIT.get(tail[1:].partition(" ")[0])
    return wants is not None and wants.search(kept) is not None


def _hangs_on(kept: str, last: str, tail: str) -> bool:
    """Whether its last noun asks for what is cut off, `an alternative | to caches`, or its last clause for its verb."""
    if tail[0] == " ":
        wants = _HANGING.get(tail.split(None, 1)[0])
        if wants is not None and wants.fullmatch(last):
            return True
    if " that " not in kept:
        return False
    before, _, clause = kept.rpartition(" that ")
    told = _TELLS.fullmatch(before.rpartition(" ")[2])
    return told is not None and all(_NOUNS.fullmatch(verb.group()) for verb in _VERB.finditer(f" {clause}"))


def _begins_another(kept: str, tail: str) -> bool:
    """Whether it ends in a clause of which the verb was cut off: `…, while a single agent | without it stops`."""
    if _AND_ASIDE.search(kept) or _ALTHOUGH.search(BRACKET.sub("", kept)):
        return True
    again = _BEGUN_AGAIN.search(kept)
    if again and ": " not in kept and not _VERB.search(f"; {again['clause']}"):
        return True
    another = _ANOTHER.search(kept)
    if another is None or _VERB.search(f" {another['clause']}"):
        return False
    if another["whole"]:
        return True
    # `but sizing caches | by hand remains costly`
    return not _DOING.match(another["clause"]) or (
        _SUBJECT.match(another["clause"]) is not None and _STATES.match(tail) is not None
    )


_OF_A_THING = re.compile(r"^(?:an?|the) (?:[\w-]+ ){0,5}?(?:that|which|who) .*$")  # `a director that paints`


def _is_clause(text: str) -> bool:
    """Whether what follows a colon is no member of a list, and no clause that leads to one that was cut off."""
    said = _OF_A_THING.sub("", text)
    return _VERB.search(said) is not None and not _SUBORDINATE.match(f"{text}, ") and not _OPENING.match(text)


def _is_half(kept: str, one: Screened, other: re.Pattern[str]) -> bool:
    return any(not other.search(kept, found.end()) for found in one.finditer(kept))


def _goes_with_another(kept: str, tail: str) -> bool:
    """`3% on A and 4% | on B`: the second stands as the first does."""
    word = tail.split()[0]
    before, found, _ = kept.rpartition(" and ")
    return bool(found) and f" {word} " in f"{before} "


_TO_FIGURE = re.compile(r" to [~<>$+-]?\d")
_THE_MORE = re.compile(
    r", the (?:more|less|fewer|better|worse|higher|lower|larger|greater|smaller|faster|slower|easier|harder)\b"
)


def _is_half_a_range(kept: str, tail: str) -> bool:
    """`by 10% | to 20%`, `the closer two are | , the more they are linked`."""
    figure = kept.rpartition(" ")[2]
    counts = figure == "zero" or any(map(str.isdigit, figure[-2:]))
    return _THE_MORE.match(tail) is not None or (_TO_FIGURE.match(tail) is not None and counts)


_ANNOUNCED = Screened(
    r"\b(?:(two|three|four|five|six|seven|eight|nine|ten|[2-9])\b(?!\.\d)|several\b|following\b|key\b|main\b)"
    r"[^:;.]{0,100}: (?!.*: )",
    re.IGNORECASE,
)
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_GOES_ON = re.compile(r"; |, (?:and|or) ")
_BESIDE_IT = re.compile(r",? (?:while|whereas) ")
_FIGURES = re.compile(r" [^,;]*, (?:and |by )?[~<>+-]?\d[\d.]*(?:%|x|×| points)")  # ` in A, 7% in B`
# `+3.1 in A, +5.3 | in B`
_FIGURE_LAST = re.compile(r"\d\S* (?P<of>in|on|for|at|with) [^,]*, (?:and )?[~<>+-]?\d[\d.,]*(?:%|x|×)?$")
_POINT = re.compile(r"\((?:[1-9]|[ivx]{1,4}|[a-h])\)")
_MEMBER = re.compile(r", (?:and |or )?| and | or ")


def _is_half_of_figures(kept: str, tail: str) -> bool:
    found = _FIGURE_LAST.search(kept)
    return found is not None and tail.startswith(f" {found['of']} ")


def _is_half_a_list(kept: str, tail: str) -> bool:
    """Whether it has fewer points of a list than it announces: `two parts: a cache | , and a table`."""
    found = _ANNOUNCED.search(kept)
    if found is None:
        return (
            (_FIGURES.match(tail) is not None and kept[-1:] in "%0123456789x")
            or (_POINT.search(kept) is not None and _POINT.search(tail) is not None)
            or (": " in kept and _BESIDE_IT.match(tail) is not None)
            or _is_half_of_figures(kept, tail)
        )
    points = _POINT.split(kept)[1:]
    if len(points) > 1 and _VERB.search(points[0]) and not _VERB.search(points[-1]):
        return True  # `(1) caches fail to sleep, and (2) prompts | of readers cost much`
    if not found[1]:
        return _GOES_ON.search(tail) is not None
    count = _NUMBERS.get(found[1].lower()) or int(found[1])
    listed = BRACKET.sub("", kept[found.end() :])
    if points:
        return len(points) < count
    between = listed.count("; ") if ";" in listed + tail else len(_MEMBER.findall(listed))
    return between + 1 < count


_ACTS_ON = re.compile(rf"\b(?:to|authors|we|they)(?: \w+ly| also)? {FINITE}$")


def _lacks_object(kept: str, last: str) -> bool:
    """Whether it ends in a verb without its object: `X has demonstrated`, `an agent to predict`, not `X is trained`."""
    if _ACTS_ON.search(kept):
        return True
    return (
        last[-1:] in "sd"
        and not _NOUNS.fullmatch(last)
        and _ENDS_IN_VERB.fullmatch(last) is not None
        and not _PASSIVE.search(kept)
    )


_GOES_ON_LISTING = re.compile(r"(?:[^,;]*, ){1,4}(?:and|or) | and ")


def _is_member(rest: str) -> bool:
    """Whether what follows a comma may be one of several things: a word alone, or what has no verb and joins nothing."""
    return " " not in rest or (not _JOINED.match(rest) and not _VERB.search(rest))


def _is_listed(kept: str, tail: str) -> bool:
    """Whether the border is between the members of a list."""
    if tail.startswith(", and "):
        return "," in kept or not _CLAUSE_NEXT.match(tail)
    rest = kept.rpartition(", ")[2] if ", " in kept else ""
    if rest and _DID.match(rest) and ", and " in tail:
        return True  # `was lowest in A, approached 10% | in B, and …`
    if rest and _is_member(rest) and _GOES_ON_LISTING.match(tail):
        return True  # `to inject edges, soften noise | by a loss, and …`
    if _DOES_MORE.match(tail) and not _DOES.search(kept):
        return False
    return tail.startswith(", ") and _LISTED.match(tail) is not None and not _NOT_LISTED.match(tail)


def _has_verb(kept: str) -> bool:
    found = finding(kept)
    kept = kept[found:] if found else kept
    led = _SUBORDINATE.search(kept)
    if led and not _VERB.search(led["main"]):
        return False
    if begins_with_verb(kept):
        return True
    kept = _OF_WHAT.sub("", _OF_A_NOUN.sub("", kept))
    said = kept.partition(", ")[2] if _OPENING.match(kept) else kept
    return any(verb.end() < len(said) or not _NOUNS.fullmatch(verb.group()) for verb in _VERB.finditer(said))
