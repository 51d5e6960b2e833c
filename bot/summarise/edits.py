"""Light edits that make a sentence stand by itself and leave its meaning, its numbers and its names as they are.

1. White space is folded, a bullet in front goes.
2. A connective in front goes, which pointed at a sentence that is not shown: `However, the cost …` → `The cost …`,
   `To address this gap, we propose X` → `We propose X`.
3. `In this paper, we propose X` → `Proposes X`; `This paper proposes X` → `Proposes X`. Only when the sentence has one verb
   of the authors: `We propose X and evaluate it` stays, and so does whatever says `we` or `our` a second time.
4. More than 45 words: cut at the last clause border before, marked with an ellipsis. Never cut: a tail with a figure in it,
   inside a bracket, or a sentence without such a border.
5. An address at the end goes, with the word that leads to it: `Our code is available at https://…` → `Our code is
   available.` The item's links are shown beside its summary.
6. A sentence without an end mark gets a full stop.
"""

import re

LONGEST = 45  # words of one sentence; the mean of an abstract's sentences is about 22
_SHORTEST_REST = 3  # words that are left when an address goes: fewer say nothing without it
_SHORTEST_CUT = 15  # words that a cut leaves at least

_BULLET = re.compile(r"^(?:[-*•·‣–]+|\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])[.)])\s+")
_CONNECTIVE = re.compile(
    r"^(?:however|moreover|furthermore|additionally|in addition|nevertheless|nonetheless|thus|therefore|hence|consequently|"
    r"accordingly|to this end|to that end|on the other hand|meanwhile|specifically|in particular|notably|finally|lastly|"
    r"overall|besides|also|yet|here|in this (?:paper|work|article|study|report|letter|survey|thesis)|"
    r"(?:to|towards?) this (?:end|goal)|"
    r"(?:motivated by|based on|inspired by) (?:this|these)(?: (?:observation|insight|finding)s?)?|"
    r"to (?:address|overcome|tackle|solve|mitigate|bridge|fill|close|alleviate|resolve) (?:this|these|such)"
    r"(?: (?:gap|challenge|issue|problem|limitation|difficult|shortcoming|concern|bottleneck|drawback|need)\w*)?|"
    r"as a result), +(?=\S)",
    re.IGNORECASE,
)
_PAPER = re.compile(
    r"^(?:this|the present) (?:paper|work|article|study|report|letter|survey|thesis) "
    r"((?:\w+ly )?(?:propos|introduc|present|develop|describ|investigat|stud|analy[sz]|explor|examin|evaluat|review|survey|"
    r"address|provid|offer|argu|demonstrat|show|report|formulat|consider|discuss|compar)(?:e?s|ies)) ",
    re.IGNORECASE,
)
_VERBS = """
    propose present introduce develop design describe study investigate analyse analyze explore examine evaluate show
    demonstrate find provide offer build construct create formulate address consider release report argue prove establish
    derive extend apply compare devise review survey discuss characterise characterize
"""
_BARE_VERBS = f"""
    {_VERBS}
    use train test implement validate verify discover conduct perform run collect employ leverage adopt utilize
    utilise integrate combine measure identify observe conclude achieve obtain improve outperform illustrate highlight
    outline suggest give make take reveal benchmark assess quantify estimate learn model solve generalize generalise
    optimize optimise simulate deploy open-source answer confirm focus rely seek aim set call define enable allow let
    help reduce incorporate compute generate infer exploit replace treat view cast frame do are have
"""


def _third_person(verb: str) -> str:
    if verb.endswith(("dy", "ply")):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("ss", "sh")) else f"{verb}s"


_SINGULAR = {verb: _third_person(verb) for verb in _VERBS.split()}
# `We finally show` and `we also show` count the sentences of the abstract, so the adverb goes too.
_WE = re.compile(
    r"^we (?:(?:finally|additionally|firstly|secondly|lastly|also|further|then|first|thus|therefore|here) )?"
    rf"((?:\w+ly )?)({'|'.join(_SINGULAR)}) (?=\S)",
    re.IGNORECASE,
)
_AUTHORS_AGAIN = re.compile(r"\b(?:we|us|our|ours|ourselves)\b", re.IGNORECASE)
# A bare verb after `and` would still have the dropped `we` as its subject.
_SECOND_VERB = re.compile(
    r"(?:\b(?:and|or|but|then)|,)\s+(?:(?:\w+ly|then|also|further|thus|thereby|in turn)\s+)*"
    rf"(?:{'|'.join(_BARE_VERBS.split())})\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?: (?:at|from|via|on|in|under|here))?:? *[(\[]?https?://[^\s)\]]+[)\]]?[.!]?$", re.IGNORECASE)
_BORDER = re.compile(
    r"; |\s[—–]\s|, (?=(?:while|whereas|which|thereby|thus|making|enabling|leading|resulting|allowing|although|but|so that|"
    r"where|because|since|yet)\b)"
)


def edited(sentence: str, names: frozenset[str] = frozenset()) -> str:
    """Return the sentence as it can stand by itself. `names` are written in lower case even at a sentence's beginning."""
    text = _BULLET.sub("", " ".join(sentence.split()))
    text = _without_connective(text, names)
    text = _without_authors(text)
    text = _shortened(_without_address(text))
    return f"{text}." if text[-1:].isalnum() or text[-1:] in ")%" else text


def _without_connective(text: str, names: frozenset[str]) -> str:
    match = _CONNECTIVE.match(text)
    if match is None:
        return text
    return _capitalised(text[match.end() :], names)


def _capitalised(text: str, names: frozenset[str]) -> str:
    word = re.match(r"\w*", text)
    first = word.group() if word else ""
    following = text[len(first) : len(first) + 1]
    is_plain = first.isalpha() and first == first.lower() and first not in names and following in {" ", ",", "-", "'", "’"}
    return text[:1].upper() + text[1:] if is_plain else text


def _without_authors(text: str) -> str:
    paper = _PAPER.match(text)
    if paper is not None and not _AUTHORS_AGAIN.search(text):
        rest = text[paper.end(1) :]
        return text if _goes_on(rest) else paper.group(1).capitalize() + rest
    match = _WE.match(text)
    if match is None or _AUTHORS_AGAIN.search(text, match.end()) or _SECOND_VERB.search(text, match.end()):
        return text
    adverb, verb = match.group(1), match.group(2).lower()
    return (adverb + _SINGULAR[verb]).capitalize() + text[match.end(2) :]


def _goes_on(rest: str) -> bool:
    """Whether the paper is the subject of a second verb: `This paper presents X and shows Y` keeps its subject."""
    return re.search(r"\band (?:\w+ly )?(?:it |\w+(?:ses|tes|zes|pes|ves|ws|ps|rs|nds) )", rest) is not None


def _without_address(text: str) -> str:
    kept = _ADDRESS.sub("", text)
    return text if kept == text or len(kept.split()) < _SHORTEST_REST else f"{kept.rstrip(' ,;:')}."


def _shortened(text: str) -> str:
    if len(text.split()) <= LONGEST:
        return text
    borders = [match.start() for match in _BORDER.finditer(text) if _may_cut(text, match.start())]
    return f"{text[: borders[-1]].rstrip(' ,;')} …" if borders else text


def _may_cut(text: str, at: int) -> bool:
    kept, tail = text[:at], text[at:]
    return (
        _SHORTEST_CUT <= len(kept.split()) <= LONGEST
        and not re.search(r"\d", tail)
        and all(kept.count(opened) == kept.count(closed) for opened, closed in ("()", "[]", "{}", "“”"))
    )
