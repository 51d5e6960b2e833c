"""Words that turn a claim around: what denies, what bounds a figure, and words of one scale at its opposite ends."""

from collections.abc import Iterator

# Upper and lower end of each scale; `increas*` is every word that begins so. Two words contradict each other only on one
# scale: a latency that improves is one that is reduced.
_SCALES = (
    (
        """increas* rise* rose rising rais* grow* grew higher highest high more most larg* greater greatest bigger biggest
        longer longest upper* above exceed* maxim* lift* elevat* amplif* enlarg* expand* gain* multipl* doubl*
        tripl* inflat* escalat* majority wider widest taller heavier lengthen* surg* upward* widen* extra
        additional heighten*""",
        """decreas* fall falls fell fallen falling reduc* drop drops dropped dropping declin* lower* less least fewer
        fewest small* lesser shorter* below undercut* minim* cut cuts cutting diminish* shrink* shrank shrunk
        lose loses lost losing loss losses halv* low shorten* lessen* curb* downward* minority narrow* lighter
        alleviat* mitigat* plummet* few smallest tiny""",
    ),
    (
        """improv* better best enhanc* strengthen* outperform* surpass* superior* beat* boost* gain* exceed* benefi* help*
        ameliorat* advanc* excel* win wins winning won succe* refin* good upgrad* favor* outdo* outstrip* leads
        leading""",
        """worse* worst deteriorat* impair* degrad* weaken* underperform* trail* inferior* lag lags lagged lagging hurt*
        harm* lose loses lost losing loss losses fail* undermin* hinder* damag* hamper* poor* bad badly unfavor*
        downgrad* regress*""",
    ),
    (
        "faster fastest quick* accelerat* speed* fast rapid* swift* expedit* hasten* sooner real-time",
        "slow* decelerat* delay* sluggish* prolong* retard* later",
    ),
    ("cheap* inexpensive affordabl* economical* low-cost", "costlier costliest expensive costly pricier dear dearer"),
    (
        "easi* easy simpl* effortless* facilitat* eas* straightforward",
        "hard* difficult* complicat* cumbersome laborious impede* impeding hinder* complex*",
    ),
    ("stronge* strong strongly robust* strengthen* resilien*", "weak* fragil* brittl* vulnerab*"),
    ("positiv* beneficial* helpful* benign", "negativ* harmful* detriment* advers*"),
    ("earli* before preced* sooner", "late* after follow*"),
    ("deep*", "shallow*"),
    ("rich* abundan* plentiful*", "poor* scarc* spars* limited"),
    ("safe* secur*", "risk* unsafe* danger* insecur* vulnerab*"),
    (
        "enabl* allow* permit* encourag* promot* support* facilitat*",
        "prevent* disabl* prohibit* block* inhibit* suppress* forbid* preclud* discourag*",
    ),
    (
        "includ* contain* retain* keep* preserv* introduc* add* requir* need*",
        "exclud* omit* discard* remov* eliminat* avoid*",
    ),
    ("accura* precise* correct* reliabl* right*", "inaccura* imprecise* incorrect* unreliabl* wrong* erroneous*"),
    ("effective* efficien* effectual*", "ineffective* inefficien* ineffectual*"),
    ("stabl* stabili*", "unstabl* destabili* instabilit*"),
    ("consisten*", "inconsisten*"),
    (
        "significant* substantial* considerabl* large* great* marked* major dramatic*",
        "insignificant* negligibl* slight* marginal* small* minor modest*",
    ),
    ("always frequent* often usual* common* typical*", "never rare* seldom infrequent* uncommon"),
    ("all every entire* full* complete*", "some partial* incomplete*"),
    ("same similar* identical* comparabl* equal*", "differ differs dissimilar* distinct* unequal*"),
    ("confirm* prov* support* validat* verif*", "refut* contradict* disprov* invalidat*"),
    ("possible possibl* feasib* able capabl*", "impossib* infeasib* unable incapabl*"),
    ("necessar* needed essential", "unnecessar* unneeded needless* optional"),
    ("known familiar", "unknown unfamiliar"),
    ("supervis*", "unsupervis* self-supervis*"),
    ("linear*", "nonlinear* non-linear*"),
    ("online", "offline"),
    ("static*", "dynamic*"),
    ("explicit*", "implicit*"),
    ("open open-source*", "proprietary closed*"),
    ("local*", "global*"),
    ("single", "multiple several multi-*"),
    ("with", "without"),
    ("align* agree* correspond*", "misalign* disagree* diverge* mismatch*"),
    ("converge*", "diverge*"),
    ("balanc*", "imbalanc* unbalanc* skew*"),
    ("biased", "unbiased debias*"),
    ("public*", "private*"),
)

_DENYING_WORDS = """
    not no never without cannot neither nor none nothing hardly scarcely barely unable lack lacks lacking lacked fail fails
    failed failing isn't aren't wasn't weren't doesn't don't didn't can't couldn't won't wouldn't shouldn't hasn't
    haven't
"""
_DENYING = frozenset(_DENYING_WORDS.split())
_UNDENYING_WORDS = """
    able accurate adequate affected appropriate available aware balanced biased capable certain changed clear common
    compatible complete consistent correct dependent differentiable direct effective efficient expected explored familiar
    feasible known labeled likely limited linear necessary paired parametric possible practical precise predictable
    realistic related reliable resolved rigid seen sensitive solved stable structured successful sufficient suitable
    supervised tractable trained trivial uniform visible
"""
_UNDENIED = {
    f"{prefix}{separator}{word}": word
    for word in _UNDENYING_WORDS.split()
    for prefix in ("un", "in", "im", "ir", "non")
    for separator in ("", "-")
}
_HARMS = (
    "break",
    "sacrific",
    "compromis",
    "losing",
    "loss",
    "lose",
    "hurt",
    "harm",
    "degrad",
    "damag",
    "destroy",
    "disturb",
)
_PART, _WHOLE = "part", "whole"
_PARTLY = """
    some most many several few often sometimes partially partly partial mostly mainly largely typically generally usually
    potentially may might nearly almost roughly approximately about average occasionally certain selected only just merely
    limited up
"""
_WHOLLY = """
    all every always each exactly whatever regardless universally
"""
_EXTENTS = dict.fromkeys(_PARTLY.split(), _PART) | dict.fromkeys(_WHOLLY.split(), _WHOLE)
_BOUNDS = {
    "up to": "at most", "at most": "at most", "no more than": "at most", "less than": "at most", "fewer than": "at most",
    "as much as": "at most", "as many as": "at most", "as little as": "at least", "as few as": "at least",
    "maximum of": "at most", "at least": "at least", "more than": "at least", "no less than": "at least",
    "no fewer than": "at least", "minimum of": "at least", "over": "at least", "only": "only", "just": "only",
    "merely": "only", "about": "about", "approximately": "about", "roughly": "about", "around": "about", "nearly": "about",
    "almost": "about", "close to": "about",
}  # fmt: skip


def denies(word: str) -> bool:
    """Say whether a word in lower case denies what follows it."""
    return word in _DENYING or word.endswith(("n't", "n’t"))


def undenied(word: str) -> str:
    """Return what a word in lower case denies by its own beginning or end: "compatible" of "incompatible"; else ""."""
    if word.endswith("-free") and len(word) > len("-free") + 2:
        return word.removesuffix("-free")
    return _UNDENIED.get(word, "")


def harms(word: str) -> bool:
    """Say whether a word in lower case does harm, so that to deny it ("without breaking X") denies nothing after it."""
    return word.startswith(_HARMS)


def extent(word: str) -> str:
    """Return "part" or "whole" where a word in lower case says of how much something holds, else ""."""
    return _EXTENTS.get(word, "")


def ends(word: str) -> frozenset[tuple[int, bool]]:
    """Return the scales at whose upper (True) or lower end a word in lower case lies."""
    found = set(_WORDS.get(word, ()))
    for length in range(3, min(len(word), _LONGEST) + 1):
        found |= _BEGINNINGS.get(word[:length], set())
    return frozenset(found)


def other_ends(word: str) -> list[str]:
    """Return the whole words at the other ends of the scales of a word in lower case."""
    opposite = {(scale, not end) for scale, end in ends(word)}
    return sorted(other for other, found in _WORDS.items() if found & opposite)


def bound(words: str) -> str:
    """Return how words in lower case, which end before a figure, bound it: "at most", "at least", "only", "about" or ""."""
    return next((kind for phrase, kind in _BOUNDS.items() if words.endswith(f" {phrase}")), "")


def _read(*, beginnings: bool) -> dict[str, set[tuple[int, bool]]]:
    found: dict[str, set[tuple[int, bool]]] = {}
    for word, end in _each():
        if word.endswith("*") is beginnings:
            found.setdefault(word.rstrip("*"), set()).add(end)
    return found


def _each() -> Iterator[tuple[str, tuple[int, bool]]]:
    for scale, (upper, lower) in enumerate(_SCALES):
        yield from ((word, (scale, True)) for word in upper.split())
        yield from ((word, (scale, False)) for word in lower.split())


_LONGEST = 16  # letters of the longest beginning
_WORDS, _BEGINNINGS = _read(beginnings=False), _read(beginnings=True)
