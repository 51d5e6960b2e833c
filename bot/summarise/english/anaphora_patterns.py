"""The patterns by which `bot.summarise.english.anaphora` tells what points at another sentence, and what at."""

import re

from bot.summarise.english.prefilter import Screened


def words(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


def _one_of(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_PAPERS = _one_of(
    """paper work study article survey thesis report review letter chapter manuscript dissertation tutorial research
    contribution note overview volume book project"""
)
# Where, with what or to what end: `On ImageNet, it gains 3%`, `To save time, it sleeps`.
PLACED = re.compile(
    r"((?:(?:on|across|compared|evaluated|trained|tested|applied|unlike|at|with|without|under|beyond|through|during|despite|"
    r"after|to|by|using|in|for|from|over|within)\b[^,;:]{0,90}|most notably|empirically|experimentally|theoretically), )"
    r"(?=(?:it|its|they|their|this|these)\b)",
    re.IGNORECASE,
)
POINTER = re.compile(
    # `While this helps, …`, `While efficient, these methods …`
    r"(?:(?:while|although|though|as|since|because|when|if|by|with|unlike|beyond|given|for|in|despite) (?=(?:this|these|"
    r"those|both|it|they|such|its|their)\b)|(?:while|although|though) \w+, (?=(?:these|this|they|it|such)\b)|"
    r"when \w+(?:ed|ing)\b[^,;:]{0,90}, (?=(?:its?|they|their|these|this)\b))?"
    r"(?:this|these|those(?! who\b)|it|they|such(?! as\b)|its|their|"
    r"he|she|both(?!.{0,120}\band\b)|here|there(?:by|in)|the (?:former|latter)|each of (?:these|them)|"
    r"(?:one|another|two|three) such|"
    r"all (?:of )?(?:these|this|them)|(?:one|some|most|none|many) of (?:these|them)|doing so|as such|instead(?! of)|"
    r"for (?:example|instance)|on the other hand|"
    # One of several of which another sentence tells: `In the second stage`, `The third is`; `The first step to it` is not.
    r"(?:(?:in|for|at|during) )?the (?:first|second|third|fourth|fifth|sixth) (?:and (?:final|last) )?(?:stage|step|phase|"
    r"one|case|use case|approach|component|tier|branch|track|task|part|formulation|method|module|setting|is|contribution)"
    r"(?! (?:towards?|to|in)\b| of (?-i:[A-Z]))|(?:first|second|third) is|"
    r"(?:in )?(?:stage|phase|step|tier) (?:\d|one|two|three|i{1,3}))\b(?!-)",
    re.IGNORECASE,
)
# Before a noun, not before a verb: `This enables`, `This can`.
_NO_NOUN = (
    r"(?:is|was|has|does|also|can|may|might|could|will|would|should|must|then|only|not|further|led|made|have|are|were|\w+ly)"
)
_THIS = rf"this(?! (?:\w*(?<![sui])s|{_NO_NOUN})\b)"
OF_ITSELF = re.compile(
    rf"(?:in |with |by )?(?:{_THIS}|the present) (?:[\w-]+ ){{0,2}}{_PAPERS}s?\b|these (?:days|authors)\b", re.IGNORECASE
)
OWN = re.compile(rf"(?:these|such|this|those) (?:[\w-]+ ){{0,2}}{_PAPERS}s?\b", re.IGNORECASE)
EXPLETIVE = re.compile(
    r"(?:(?:to|by|using) [^,]{0,90}, |(?:while|although|though|as|since|because|when|if|given) )?"
    r"it(?:['’]s| )(?:(?:(?<=s)|is|was|has (?:\w+ )?been|remains|becomes|became|seems|appears)\b"
    r".{0,80}?\b(?:that|to|whether|how|if|why|which|what|when|where)|"
    r"turns out|follows|takes|can be (?:\w+ )?(?:shown|seen|proved|proven|argued|noted))\b",
    re.IGNORECASE,
)

_THESE = rf"these(?! {_NO_NOUN}\b)"
_QUALIFIED = r"((?:[\w-]+ ){0,2}?"
RESULTS = re.compile(
    rf"(?:{_THIS}|{_THESE}) {_QUALIFIED}(?:results?|findings?|experiments|evaluations?|outcomes?|conclusions|"
    rf"analys[ei]s|"
    r"observations?|insights|improvements|gains|comparisons?|investigation|(?:lower |upper )?bounds?|theorems?|"
    r"simulations?|figures)\b)",
    re.IGNORECASE,
)
# What a name may stand for; a design or a process is a thing by itself.
_NAMEABLE = _one_of(
    """approach method framework model system algorithm technique strategy architecture pipeline benchmark dataset
    corpus tool toolkit library platform simulator package software network"""
)
_MADE = _one_of(
    """methodology procedure design formulation scheme solution mechanism module representation process protocol objective
    loss estimator setup evaluation extension interface resource collection taxonomy classifier policy controller paradigm"""
)
NAMED_THING = re.compile(rf"this(?: {_NAMEABLE}\b|(?= is the (?:first|largest|only)\b))", re.IGNORECASE)
MADE_THING = re.compile(rf"{_THIS} {_QUALIFIED}(?:{_NAMEABLE}|{_MADE})\b)", re.IGNORECASE)
THING = re.compile(rf"(?:{_THIS}|{_THESE}) {_QUALIFIED}[a-z][\w-]{{2,}})\b", re.IGNORECASE)

OTHERS = re.compile(r"\b(?:recent|prior|previous|existing|earlier|past|traditional|conventional|others?)\b", re.IGNORECASE)
# The work of others, and what it is called afterwards: `Recent studies prune networks. These methods fail.`
WHOSE = re.compile(
    r"\b(?P<whose>existing|previous|prior|current|recent|traditional|conventional|prevailing) (?:[\w-]+ ){0,3}?"
    r"(?:methods|approaches|works?|research|studies|techniques|efforts|advances|advancements|solutions|strategies)\b",
    re.IGNORECASE,
)
THEIRS = re.compile(
    r"(?:all )?these (?P<what>(?:[\w-]+ ){0,2}(?:methods|approaches|techniques|solutions|strategies|works))\b", re.IGNORECASE
)
AUTHORS = Screened(
    r"\b(?:we|our|this (?:paper|work|study|article|research)|proposed?|proposes|introduces|presents)\b", re.IGNORECASE
)

# What the work before it does for somebody: said of the authors' own work, it needs no subject.
_DOES = _one_of(
    """enables allows opens provides offers helps ensures facilitates supports simplifies paves eliminates avoids achieves
    demonstrates shows suggests highlights underscores indicates reveals confirms establishes yields permits saves"""
)
DOES = re.compile(
    rf"(?:this|it) (?=((?:(?:\w+ly|also|thus|thereby|further|in turn) )*)(?:{_DOES}\b|"
    rf"makes it (?:\w+ )?(?:possible|easy|easier|"
    r"feasible|practical|simple|suitable|well-suited)\b))",
    re.IGNORECASE,
)
# A name: words with a capital.
_NAME = r"(?=[\w+.-]*[A-Z])[A-Z0-9][\w+-]*(?:\.\w+)*(?: [A-Z0-9][\w+-]*(?:\.\w+)*){0,3}"
_ENDS = r"(?= ?[,:(—–]| -|\.?$| that\b| which\b| to\b)"
INTRODUCED = re.compile(
    r"(?:\b(?:[Ww]e|paper|work|study|article|research|report|letter|authors) "
    r"(?:(?:\w+ly|also|further|then|first|thus|therefore) )?"
    r"(?:propos|introduc|present|develop|describ|releas|design|build)(?:e|es|s|ed|ing)?) "
    rf"(?:((?:the )?{_NAME}){_ENDS}|(?:a|an|the) [^.,:()]{{3,80}} \(([A-Z][\w+-]*[A-Z0-9]\w*)\))|"
    rf"\b(?:called|named|dubbed|termed|namely) ({_NAME}){_ENDS}|\b[Oo]ur (?:[\w-]+ ){{0,2}}[\w-]+, ({_NAME}),"
)
_STATES = r"(?:(?:\w+ly|also|then|first|often|further) )?" + _one_of(
    """is was has can will uses combines achieves leverages employs introduces consists provides enables integrates learns
    adapts performs outperforms reduces improves predicts generates extends supports comprises contains offers operates
    formulates treats decomposes replaces incorporates selects computes constructs builds applies models captures exploits
    optimizes allows addresses relies works maintains includes runs starts requires aims"""
)
# The work itself: `Our method is …`.
OWN_SUBJECT = re.compile(rf"(?:Our|The|This) (?P<what>(?:proposed |resulting )?(?:{_NAMEABLE}|{_MADE})) {_STATES}\b")
BEGINS_WITH_NAME = re.compile(rf"({_NAME})(?: \([^()]{{1,160}}\))? {_STATES}\b")
LEAD = re.compile(r"(?:[A-Z][a-z]+(?:ed|ing)|By|With|Through|Using) [^,;:]*, ")  # to the main clause
# What joins a sentence, or its first clause, to others: no part of the subject behind it.
_JOINS = "But|And|Yet|So|As|While|Whereas|Although|Though|Since|Because|When|If|Unlike|With|Like"
NO_NAME = re.compile(
    r"(?:The|A|An|This|These|It|They|We|Our|In|On|For|To|By|Each|Every|One|What|However|Here|There|Such|First|Second|"
    rf"Finally|{_JOINS})\b"
)
# The subject with which a sentence begins: one thing, and several.
SINGULAR = re.compile(
    rf"((?!(?:The|A|An|This|Our|Each|Every|In|It|One|What|There|We|Such|No|Any|{_JOINS}) )"
    r"[A-Z][\w-]*(?: [\w-]+(?<!s)){0,3})"
    rf"(?: \([^()]{{1,60}}\))? {_STATES}\b"
)
_NO_VERB = _one_of(
    """of in for with by on to from at and or that which who whose as than not where when such like based across under using
    between within over through into is has was the a an its their these those both all"""
)
PLURAL = re.compile(
    r"((?:[A-Z][\w-]*|[A-Z][\w-]* (?:[\w-]+ ){0,3}?[\w-]+)(?<!ou)s)( \([A-Z][\w-]*s?\))? "
    rf"(?!{_NO_VERB}\b)[a-z]+(?<!ing)(?<!ed)(?<!s)\b"
)
_IN_NO_SUBJECT = _one_of(
    """of in for with by on to from at and or that which the these those this its their such is are as has than we advances?
    thus less success progress results experiments however while although"""
)
NO_SUBJECT = re.compile(rf"\b{_IN_NO_SUBJECT}\b", re.IGNORECASE)
PLURAL_POINTER = re.compile(r"(?:(they)|(their)|these ((?:[\w-]+ ){0,2}?[\w-]+s))\b", re.IGNORECASE)
GENERIC = frozenset(["models", "methods", "approaches", "systems", "techniques", "networks", "algorithms", "agents"])

# Inside a sentence. `such as`, `those who`, `this is`, `this year` point at nothing before them.
INSIDE = re.compile(
    r"(?<=[a-z,:(] )(?:these|such|this|those) "
    r"(?!(?:as|an?|is|was|can|may|will|who|which|that|of|in|to|end|year|time|way|day)\b)(?P<what>[\w-]+"
    r"(?: (?!(?:is|are|was|were|has|have|can|may|by|for|in|of|to|on|with|and|or|that|which|as)\b)[\w-]+){0,2})"
)
BARE_INSIDE = re.compile(
    r"\b(?:address|tackle|mitigate|overcome|solve|resolve|alleviate|achieve|do|to|of|via|from|given) (?:this|these)"
    r"(?=[,.;]| by\b| via\b| through\b)|"
    r"^(?:[A-Z]\w+ly )?[A-Z]\w+ing (?:its|their|them)\b|^(?:Due to|Because of|Given) (?:its|their)\b"
)
SIGNS_INSIDE = (" this", " these", " such", " those", " its", " their", " them")  # without one, no pattern is tried
# What does not say which ones.
UNSPECIFIC = words(
    """a an the of in for with by on to from at and or that which who whose as than not where when such like based across
    under using between within over through into is are was were has have had been be its their our my your his her
    these this those it they we can may might must should will would could however while although also all both many
    most some several various different other another existing current recent new novel more less few each every any
    no own certain diverse multiple numerous first second third key main major common specific particular similar
    related additional despite among via without about against during after before toward towards but yet if so what
    how why do does did often only even still further then important critical significant emerging promising proposed
    resulting corresponding underlying respective prior previous traditional conventional popular modern advanced
    powerful standard typical fundamental core one two three four five six seven eight nine ten hundreds thousands
    whether because since unlike beyond around up per versus simple effective comprehensive extensive large-scale"""
)
