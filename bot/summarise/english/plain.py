"""Says in plain words what abstracts say by custom, and nothing else than they say. The authors still speak: `We …`.

1. `We conduct detailed experiments, demonstrating that X wins`, `Experiments are conducted on Y, showing that X wins` →
   `Detailed experiments demonstrate that X wins`, `Experiments on Y show that X wins`. What they are run to show stays an
   aim.
2. `We address this gap by proposing X` → `We propose X`: which gap, another sentence says.
3. `We propose, in this paper, X`, `X is studied in this work.` → `We propose X`, `X is studied.`
4. `It allows us to see` → `It makes it possible to see`, `it helps us see` → `it helps to see`, `it gives us insight` →
   `it gives insight`: whether `us` are the authors or everybody need not be known. `It brings us closer` stays.
5. `Maestro (We use the word as players do.), a cache` → `Maestro, a cache`: an aside in which the authors speak goes, if it
   has no figure.
6. `To the best of our knowledge, we are the first to show X` → `To the best of our knowledge, this work is the first to
   show X`.
7. A word that is written twice, `of the the model`, is written once.
"""

import re

from bot.summarise.english.third_person import third_person

_TRIALS = (
    r"(?:experiments?|experimentations?|evaluations?|study|studies|analys[ei]s|simulations?|tests|comparisons?|ablations|"
    r"investigations?|assessments?)"
)
_RUN = r"(?:conduct|perform|carry out|carri|run|undertake)"
_TELLS = {
    "demonstrating": "demonstrate",
    "showing": "show",
    "revealing": "reveal",
    "confirming": "confirm",
    "validating": "validate",
    "verifying": "verify",
    "indicating": "indicate",
    "highlighting": "highlight",
    "illustrating": "illustrate",
    "suggesting": "suggest",
    "proving": "prove",
    "finding": "find",
    "uncovering": "uncover",
    "establishing": "establish",
}
_TELL = f"(?:{'|'.join(_TELLS.values())})"
_TOLD = (
    r"(?:, (?:thereby |thus |clearly |consistently )?"
    rf"(?P<doing>{'|'.join(_TELLS)})|"
    rf" (?:that|which) (?P<told>{_TELL})e?s?|"
    rf",? and (?:the |our |these )?(?:\w+ )?(?:results|findings|experiments|evaluations) (?P<results>{_TELL}))"
    r"(?= (?:that|the|how|its|our|a|an|key|significant|several|[A-Z]\S*|critical|strong|superior|consistent)\b)"
)
_WHERE = r"(?P<where>(?: [^;:]{1,180}?)?)"
# `, namely X and Y`, `two data sets, X and Y`, `X and Y, two of them`: no further member of an enumeration.
_APPOSED = re.compile(
    r", (?:namely|including|such as|i\.e\.|e\.g\.|with|using|where|from|ranging|covering|an?|both|two|three|four|five|"
    r"which) |\b(?:two|three|four|five|six|seven|eight|nine|ten|several|various|multiple|many|diverse|\d+)\b[^,]*,|"
    r"^[^,]*\b(?:data ?sets|benchmarks|tasks|settings|domains|scenarios|corpora|suites),",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r" \([^()]*\)")
_CONDUCTED = re.compile(
    rf"^(?:we|this (?:paper|work|study)|the authors) (?:also |further |then )?{_RUN}(?:s|es|ed)? "
    rf"(?P<what>(?:[\w'-]+ ){{0,6}}?{_TRIALS})\b{_WHERE}{_TOLD}",
    re.IGNORECASE,
)
_WAS_CONDUCTED = re.compile(
    rf"^(?P<what>(?:[\w'-]+ ){{0,6}}?{_TRIALS}) (?:are|is|were|was|have been|has been) (?:also |then )?"
    rf"(?:conducted|performed|carried out|run)\b{_WHERE}{_TOLD}",
    re.IGNORECASE,
)

_PAPER = r"(?:this|the present|the current) (?:paper|work|article|study|report|survey|thesis|letter)"
_IN_PAPER = re.compile(rf"\bin {_PAPER}|herein\b", re.IGNORECASE)
_HERE = (
    # `introduced in this work` says which; `is introduced in this work` does not.
    (re.compile(rf"(?<=, )in {_PAPER},? (?=(?:we|I|the authors)\b)", re.IGNORECASE), ""),
    (re.compile(rf"^((?:We|I) (?:\w+ly )?\w+),? in {_PAPER},?(?= )"), r"\1"),
    (re.compile(rf"((?:is|are|was|were|been) (?:\w+ly )?\w+),? in {_PAPER}(?=[.,;]|$)"), r"\1"),
    (re.compile(rf"(?<!ed)(?<!wn)(?<!en),? in {_PAPER}(?=\.?$|, an? )"), ""),
    (re.compile(r" herein(?=[.,]|$)"), ""),
)

_DEEDS = """
    propose introduce present develop design construct build create formulate study investigate analyse analyze explore
    examine evaluate provide offer derive extend apply compare use train test implement conduct perform collect employ
    leverage adopt utilise utilize integrate combine measure establish generate exploit decompose reformulate incorporate
    augment adapt optimise optimize formalise formalize curate synthesise synthesize simulate unify
"""
_GERUNDS = {f"{verb.removesuffix('e')}ing": verb for verb in _DEEDS.split()}
_GERUND = "|".join(_GERUNDS)
_WANT = (
    r"(?:challenge|task|gap|issue|problem|limitation|shortcoming|concern|bottleneck|drawback|need|question|trade-?off|difficult(?:y|ies)|"
    r"hurdle|constraint|obstacle|deficienc(?:y|ies)|weakness(?:es)?|inefficienc(?:y|ies))s?"
)
_BY_DOING = re.compile(
    r"(?P<who>^We|^I|^(?:In )?[Tt]his (?:paper|work|study|article|research)|\b(?:that|which)|"
    r"^(?:[A-Z][\w-]*|The (?:[\w-]+ ){1,3}?)(?:framework|method|approach|model)?)"
    r" (?:\w+ly )?(?:address|tackle|overcome|fill|close|bridge|solve|mitigate|resolve)(?P<third>e?s)? "
    rf"(?:this|these|such|those|the above|the aforementioned)(?: (?:[\w-]+ ){{0,2}}{_WANT})? by "
    rf"(?P<how>(?:\w+ly )?)(?P<doing>{_GERUND})\b"
)
_AND_DOING = re.compile(r"(?P<join>,? (?:and|or|then|while)|,) (?:\w+ly |then |also )?(?P<doing>\w+ing)\b")

_MADE = {"": "make", "e": "make", "s": "makes", "es": "makes", "d": "made", "ed": "made", "ing": "making"}
_ALLOWS = re.compile(r"\b(?:(?:allow|permit|enabl|empower)(s|es|d|ed|ing|e|) us to|(let|lets) us)(?= [a-z])", re.IGNORECASE)
_HELPS = re.compile(r"\b(help(?:s|ed|ing)?) us (?:to )?(?=[a-z])", re.IGNORECASE)
_GIVES = re.compile(
    r"\b(provid(?:e|es|ed|ing)) us with (?=\w)|"
    r"\b(g(?:i|a)v(?:e|es|ing)|offer(?:s|ed|ing)?) us (?=[a-z])",
    re.IGNORECASE,
)
_ASIDE = re.compile(r" \((?:[Ww]e|Here,? we) (?!and\b)[^()\d]{12,}\)(?! (?:is|are|was|were)\b)")
_FIRST = re.compile(
    r"^(To (?:the best of )?our (?:best )?knowledge, )we are the first to (?=[a-z])(?!.*\b(?:[Ww]e|us|ourselves)\b)"
)
_TWICE = re.compile(
    r"\b(the|a|an|of|to|and|is|are|with|for|by|on|in|as|(?!(?:that|very|plus)\b)(?-i:[a-z]){4,}) \1\b(?![-/])", re.IGNORECASE
)


def plainer(text: str) -> str:
    """Return the sentence, in which the authors may still speak, in plainer words."""
    words = text.split(" ")
    if any(map(str.__eq__, words, words[1:])):
        text = _TWICE.sub(r"\1", text)
    if _IN_PAPER.search(text):
        for pattern, kept in _HERE:
            text = pattern.sub(kept, text)
    text = _by_its_deed(_by_its_trials(_FIRST.sub(r"\1this work is the first to ", _ASIDE.sub("", text))))
    return _without_us(text) if " us " in text else text


def _by_its_trials(text: str) -> str:
    """`Detailed experiments on Y show that …`."""
    match = _CONDUCTED.match(text) or _WAS_CONDUCTED.match(text)
    if match is None:
        return text
    if re.search(rf"\band {_TELL}\b", text[match.end() :]):
        return text  # `showing X and find Y`: a verb that still has the authors as its subject
    what, where = match["what"], _closed(match["where"].rstrip(" ,"))
    told = match["told"] or match["results"] or _TELLS[match["doing"].lower()]
    several = what.endswith("s") and not what.endswith("is")
    return f"{what[0].upper()}{what[1:]}{where} {told.lower()}{'' if several else 's'}{text[match.end() :]}"


def _closed(where: str) -> str:
    """`on two sets, namely X and Y,`: the comma that an apposition needs before the verb; an enumeration needs none."""
    told = _IN_BRACKETS.sub("", where)
    _, comma, last = told.rpartition(", ")
    if not comma or (re.search(r"(?:^| )(?:and|or) ", last) and not _APPOSED.search(told)):
        return where
    return f"{where},"


def _by_its_deed(text: str) -> str:
    """`We propose X` for `We address this gap by proposing X`."""
    match = _BY_DOING.search(text)
    rest = _others_done(text[match.end() :], bool(match["third"])) if match else None
    if match is None or rest is None:
        return text
    verb = _finite(match["doing"], third=bool(match["third"]))
    return f"{text[: match.start()]}{match['who']} {match['how']}{verb}{rest}"


def _others_done(rest: str, third: bool) -> str | None:
    """What follows, with what else is done in the same form; None where it is not certain that it is done, too."""
    ends = re.search(r"[;:]|, (?:which|that|thereby|thus|where)\b", rest)
    clause, after = (rest[: ends.start()], rest[ends.start() :]) if ends else (rest, "")
    doings = list(_AND_DOING.finditer(clause))
    joined = [match for match in doings if match["doing"] in _GERUNDS or match["join"] != ","]
    if not joined:
        return rest
    (match,) = joined if len(joined) == 1 else (None,)
    if match is None or match["doing"] not in _GERUNDS or not match["join"].endswith(" and"):
        return None
    place = match.start("doing")
    return f"{clause[:place]}{_finite(match['doing'], third=third)}{clause[match.end() :]}{after}"


def _finite(doing: str, *, third: bool) -> str:
    verb = _GERUNDS[doing]
    return third_person(verb) if third else verb


def _without_us(text: str) -> str:
    def made(match: re.Match[str]) -> str:
        form = _MADE[match.group(1).lower()] if match.group(1) is not None else _MADE[match.group(2).lower()[3:]]
        form = form.capitalize() if match.group()[0].isupper() else form
        return f"{form} it possible to"

    text = _ALLOWS.sub(made, text)
    text = _HELPS.sub(r"\1 to ", text)
    return _GIVES.sub(lambda match: f"{match.group(1) or match.group(2)} ", text)
