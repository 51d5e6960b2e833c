"""Says what `these models`, `such data sets` and `this protocol` are inside a sentence, by the sentence before it.

Only where that sentence has the noun once, with words before it that say which: `Search agents answer questions. RL trains
these agents` → `RL trains search agents`; `They enforce internal activations. We bound these activations` → `… the internal
activations`. The words begin the sentence or stand after an article, a preposition or a known verb: after `can`, `often` or
`methods` the first of them may be a verb. What stands with an `and` before it may be half of what is meant, what stands
after `such as` or in brackets is an example: both are left alone.
"""

import re
from collections.abc import Sequence

from bot.summarise.english.anaphora_patterns import AUTHORS, GENERIC, OWN


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_POINTED = re.compile(
    # Several: what follows is hardly ever the noun itself. `This dense …`: only where the sentence, or a clause, goes on.
    r"(?<=[a-z,:(] )(?:(?P<which>these|such) (?P<several>[a-z][a-z-]{2,}(?<![suai])s)\b(?! (?:as|that|who|of|in|from)\b)|"
    r"this (?P<one>[a-z][a-z-]{3,}(?<!s))(?=[.,;:)]| (?:and|or|but|to|by|via|through|we|has|does|which|while|when|as)\b))"
    r"(?!['’])"
)
# What says nothing about which ones: before them the words that do, end.
_EMPTY = _words(
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
_VERBS = _words(
    """obtain extract form learn curate require formulate prevent build produce yield generate capture encode provide
    offer use propose introduce present develop design create construct combine integrate leverage exploit employ
    apply train optimize optimise predict select sample model map make take give get need contain include involve
    consider address solve improve reduce increase enable allow support help represent share exhibit show face pose
    identify detect find derive compute define release collect annotate evaluate compare study analyze analyse explore
    enforce impose add remove replace satisfy achieve outperform process handle transform convert treat view align
    fuse aggregate inject adapt leave let keep set run"""
)
# Where a noun with its words begins, and no verb: a verb that no list knows may follow any other word.
_LEADS = _words(
    """a an the its their our my your his her each every any no another various different existing current recent new novel
    several multiple numerous diverse certain traditional conventional modern two three four five six as
    of in for with by on from at across under between within over into via without about against toward towards despite
    among beyond around per versus is are was were be has have had when while if because since although though whether"""
)
# What may stand between those and the words that say which.
_PALE = _words(
    """key main major common specific particular similar related additional important critical significant emerging promising
    proposed resulting corresponding underlying powerful standard typical fundamental core simple effective comprehensive
    extensive large-scale"""
)
_NOUNS_TOO = _words(
    """form model map sample view process address set run need design study release support increase share show face pose use
    construct extract capture exploit fuse train feature treat display compare"""
)
_PLURAL = re.compile(r".*[a-z](?<![suiSUI])s$|(?:data|people|humanity|media|criteria|children|men|women)$", re.IGNORECASE)
# Examples of the noun that the sentence is about, and what stands beside it.
_EXAMPLES = re.compile(
    r"(?:\b(?:especially|particularly|notably|namely|such as|like|including|particular|i\.e\.|e\.g\.),?|[-–—(]) "
    r"?(?:(?:the|an?|its|their|some|many|most|recent|modern|new|novel) )*$",
    re.IGNORECASE,
)
_DASH = re.compile(r" -{1,3} |[–—]")
# Alone, these say no more than the noun does.
_WEAK = _words(
    """large small available considerable right distinct essential primary representative efficient strong severe complex
    formal systematic final single good high-quality unique whole entire rich great vast wide early initial local
    global million billion thousand hundred"""
)
_WORD = re.compile(r"[A-Za-z][\w-]*$")
# `such as`, `those who`, `this is`, `this year` point at nothing before them.
_ANY = re.compile(
    r"(?<=[a-z,:(] )(?:these|such|this|those) "
    r"(?!(?:as|an?|is|was|can|may|will|who|which|that|of|in|to|end|year|time|way|day)\b)(?P<what>[\w-]+"
    r"(?: (?!(?:is|are|was|were|has|have|can|may|by|for|in|of|to|on|with|and|or|that|which|as)\b)[\w-]+){0,2})"
)
_SIGNS = (" this", " these", " such", " those", " its", " their", " them")  # without one, no pattern is tried
_BARE = re.compile(
    r"\b(?:address|tackle|mitigate|overcome|solve|resolve|alleviate|achieve|do|to|of|via|from|given) (?:this|these)"
    r"(?=[,.;]| by\b| via\b| through\b)|"
    r"^(?:[A-Z]\w+ly )?[A-Z]\w+ing (?:its|their|them)\b|^(?:Due to|Because of|Given) (?:its|their)\b"
)
_MOST = 4  # words that say which
_PLAIN = _words(
    """large deep small multimodal multi-modal diffusion latent foundation vision vision-language language graph neural
    generative autoregressive video image text speech search sign pre-trained pretrained text-to-image reasoning
    machine reward world visual medical clinical autonomous conversational federated reinforcement spiking mobile
    social digital online synthetic human physical semantic sparse dense quantum wireless biological molecular protein
    network smart embodied"""
)


def named_inside(text: str, before: str) -> str | None:
    """Return the sentence with what its first such words point at in their place; None where that is not certain."""
    match = _POINTED.search(text)
    if match is None:
        return None
    noun = match["several"] or match["one"]
    name = "" if _is_said_in(noun, text[: match.start()]) else which(noun, before)
    if not name or (_has_name(name) and _has_name(text[1 : match.start()])):
        return None
    first = before[: len(name)].lower() == name.lower()
    of_all = first or (noun in GENERIC and not AUTHORS.search(before))
    the = "" if match["which"] == "such" or (match["several"] and of_all) else "the "
    return f"{text[: match.start()]}{the}{name} {noun}{text[match.end() :]}"


def points_inside(text: str) -> bool:
    """Say whether `these tasks`, `this`, `its` inside a sentence can only mean something that another sentence says."""
    if not any(sign in text for sign in _SIGNS):
        return False
    return _BARE.search(text) is not None or any(
        not OWN.match(text, match.start()) and not _said_before(match, text) for match in _ANY.finditer(text)
    )


def _said_before(match: re.Match[str], text: str) -> bool:
    words = [word for word in match["what"].split() if word.lower() not in _EMPTY] or ["?"]
    before = text[: match.start()].lower()
    return any(word.lower()[: max(4, len(word) - 3)] in before for word in words)


def which(noun: str, before: str) -> str:
    """Return the words before the noun that say which, as they are written inside a sentence.

    "" where it stands there more than once, or alone, or in an enumeration.
    """
    said = _which(noun, before) if noun not in _EMPTY else ""
    return _lowered(said) if said and before.startswith(said) else said


def _which(noun: str, before: str) -> str:
    stem = noun.removesuffix("s")
    places = [found.span() for found in re.finditer(rf"(?<![\w-]){re.escape(stem)}\w*", before, re.IGNORECASE)]
    if len(places) != 1 or before[slice(*places[0])] != noun:
        return ""
    ahead = before[: places[0][0]]
    words = ahead.split(" ")[:-1]
    said: list[str] = []
    while words and _says_which(words[-1]) and len(said) < _MOST:
        said.insert(0, words.pop())
    name = " ".join(said)
    unclear = all(word.lower() in _WEAK for word in said) or any(map(_PLURAL.match, said)) or not _leads(words)
    return "" if unclear or _stands_beside(ahead.removesuffix(" ").removesuffix(name)) else name


def _leads(words: Sequence[str]) -> bool:
    """Whether a noun with its words begins after these: at the beginning, after an article, a preposition, a known verb."""
    last = next((word for word in map(str.lower, reversed(words)) if word not in _PALE), "the")
    stem = last.removesuffix("s")
    known = last in _LEADS or last in _VERBS or (stem in _VERBS and stem not in _NOUNS_TOO) or last.endswith(("'s", "’s"))
    return known or re.fullmatch(r"[a-z-]{3,}(?:ed|ing)|\d[\d,.]*", last) is not None


def _stands_beside(ahead: str) -> bool:
    """Whether what follows is an example, or stands in a bracket or between dashes: not what the sentence is about."""
    inside = ahead.count("(") > ahead.count(")") or len(_DASH.findall(ahead)) % 2 == 1
    return inside or _EXAMPLES.search(ahead) is not None


def _says_which(word: str) -> bool:
    low = word.lower()
    plain = _WORD.match(word) is not None and low not in _EMPTY and low.removesuffix("s") not in _VERBS and low not in _VERBS
    return plain and ("-" in low or not low.endswith(("ing", "ed", "ly", "es")))


def _lowered(which: str) -> str:
    """What begins a sentence as it is written inside one; "" where that cannot be told."""
    first, _, rest = which.partition(" ")
    if any(sign.isupper() for sign in first[1:]):
        return which
    return f"{first.lower()} {rest}".rstrip() if first.lower() in _PLAIN else ""


def _is_said_in(noun: str, text: str) -> bool:
    return noun.rstrip("s").lower() in text.lower()


def _has_name(text: str) -> bool:
    return any(sign.isupper() for sign in text)
