"""Holds a model's sentences against the text that they are about.

A part is grounded when every number and every proper name in it stands in the source, when enough of its words do, and when
it neither repeats itself nor changes language. What is normalised: 1,000 = 1000, 1.50 = 1.5, 1.45× = 1.45x = 1.45-fold,
5% = 5 percent, 109B = 109 billion, thirty-one = 31. A number that carries %, × or a magnitude must have it in the source.
A name of three letters or more may be short for words of the source (HMM), one
of two letters where it is a usual one (RL); or a name spells out what is short there. Ratios in words (half, twice, tenfold,
an order of magnitude) must be told by the source in words or by its numbers. What is said of numbers and names is not
seen here, but by `bot.summarise.llm.claims`. Not seen: a name as a sentence's first word that looks like an ordinary word.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from decimal import Decimal, InvalidOperation

from bot.summarise.english.language import reads_as_english
from bot.summarise.english.sentences import split
from bot.summarise.llm.number_words import in_figures, unfounded_ratios
from bot.summarise.llm.openers import is_listed, opens

MOST_SENTENCES, MOST_WORDS = 2, 60
_LEAST_SHARED = 0.25  # of a part's longer words stand in the source (by their beginnings); people keep 0.7
_LEAST_VARIED = 0.4  # different words among all words; normal prose of 60 words has over 0.6
_LEAST_KNOWN = 0.5  # of the words of a part that does not read as English stand in its English source
_LONGER = 4  # letters
_ANY_WORD = re.compile(r"[^\W_]+")
_BEGINNING = 5  # letters by which two words count as one: optimise, optimising

_NUMBER = re.compile(
    r"(?<![\w.])(?P<from>\d[\d,.]*\s?(?:-|–|to)\s?)?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?|\d[\d.,]*\d|\.\d+)"
    r"\s?-?(?P<unit>%|percent\b|per cent\b|×|x(?![a-z])|times\b|fold\b|[kmbt]\b|(?:thousand|[mbtr]+illion)\b)?",
    re.IGNORECASE,
)
_UNITS = {"percent": "%", "per cent": "%", "×": "x", "times": "x", "fold": "x"}
_UNITS |= {"thousand": "k", "million": "m", "billion": "b", "trillion": "t"}
_PAIR = re.compile(r"\bboth\b", re.IGNORECASE)  # which is told as two
_BARE_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

_TOKEN = re.compile(r"[^\W_][\w’'+.-]*")

_APART_TEXT = """
    we is are was were to by it as on at our can has its not but via or from with that this these those which where when
    while have been their they also such than then into using based
"""
_APART = frozenset(_APART_TEXT.split())  # words that no abbreviation spans, as it does "of" and "and"
_SHORT_APART = "|".join(sorted(word for word in _APART if len(word) < _LONGER))
_PLAIN_WORD = re.compile(rf"[^\W\d_]{{4,}}|[.,;:!?()]|\b(?:{_SHORT_APART})\b")
_ABBREVIATION = re.compile(r"[A-Z]{2,6}s?")
_SHORT_NAME = re.compile(r"\b[A-Z]{2,6}s?\b")
_PLAIN_PAIR = 2  # letters: two fit words of almost every text, so that the usual ones are listed with their words
_PAIRS = {
    "ai": ("artificial intelligence",), "ml": ("machine learning",), "dl": ("deep learning",),
    "rl": ("reinforcement learning",), "fl": ("federated learning",), "cl": ("continual learning", "contrastive learning"),
    "nn": ("neural network",), "lm": ("language model",), "vi": ("variational inference",),
    "kd": ("knowledge distillation",), "gp": ("gaussian process",), "bo": ("bayesian optimi",),
    "ir": ("information retrieval",), "mt": ("machine translation",), "qa": ("question answering",),
    "ie": ("information extraction",), "kg": ("knowledge graph",), "cv": ("computer vision",),
    "dp": ("differential privacy", "dynamic programming"), "ci": ("confidence interval", "continuous integration"),
}  # fmt: skip
_SPELT_OUT = re.compile(r"(?:[A-Z][a-z]+[\s-]){1,5}[A-Z][a-z]+")

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_STRIPPED = re.compile(
    r"(?:https?|ftp|javascript|data|mailto|slack|discord):\S+|www\.\S+|<[@#!/a-z][^<>\n]{0,300}>|[`*]+|~~|\|\||^#+\s|"
    r"(?<!\w)_+|_+(?!\w)",
    re.IGNORECASE | re.MULTILINE,
)
_HIDDEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f]")
_MENTION = re.compile(r"(?<!\w)@(?=\w)|@(?=everyone|here|channel)", re.IGNORECASE)


def clean(text: str) -> str:
    """Return the part as plain text: no links, mentions or markup, at most two sentences and 60 words; "" without a word."""
    plain = _STRIPPED.sub(" ", _LINK.sub(r"\1", _HIDDEN.sub("", text)))
    plain = _MENTION.sub("", plain)
    kept: list[str] = []
    for sentence in split(" ".join(plain.split()))[:MOST_SENTENCES]:
        if kept and len(" ".join([*kept, sentence]).split()) > MOST_WORDS:
            break
        kept.append(sentence)
    words = " ".join(kept).split()
    if not _ANY_WORD.search(plain):
        return ""
    return " ".join(words) if len(words) <= MOST_WORDS else " ".join(words[:MOST_WORDS]) + " …"


def faults(part: str, source: str) -> list[str]:
    """Return what is wrong with the part, in words; nothing when it is grounded in `source`."""
    found = [f"the number {number}" for number in _missing_numbers(part, source)]
    found += [f"the name {name}" for name in _missing_names(part, source)]
    if _shared(part, source) < _LEAST_SHARED:
        found.append("words that the text does not have")
    words = part.lower().split()
    if len(words) >= 12 and len(set(words)) < _LEAST_VARIED * len(words):
        found.append("a repetition")
    if _in_another_language(part, source):
        found.append("another language")
    return found


def nearest_sentences(part: str, sentences: Sequence[str], most: int = MOST_SENTENCES) -> tuple[str, ...]:
    """Return the source sentences closest in words to each sentence of the part, in the source's order."""
    chosen: set[int] = set()
    bags = [Counter(_stems(sentence)) for sentence in sentences]
    for said in split(part)[:most]:
        bag = Counter(_stems(said))
        scores = [_likeness(bag, other) for other in bags]
        if scores and max(scores) > 0:
            chosen.add(scores.index(max(scores)))
    return tuple(sentences[at] for at in sorted(chosen))


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def _stems(text: str) -> list[str]:
    return [word[:_BEGINNING] for word in re.findall(r"[^\W_]+", text.casefold()) if len(word) >= _LONGER]


def _shared(part: str, source: str) -> float:
    stems = _stems(part)
    there = set(_stems(source))
    return sum(stem in there for stem in stems) / len(stems) if stems else 1.0


def _in_another_language(part: str, source: str) -> bool:
    """Whether the part does not read as what its English source reads as; words that stand in the source say nothing."""
    if not reads_as_english(source) or reads_as_english(part):
        return False
    words = _ANY_WORD.findall(part.casefold())
    there = set(_ANY_WORD.findall(source.casefold()))
    return sum(word in there for word in words) < _LEAST_KNOWN * len(words)


def _missing_numbers(part: str, source: str) -> list[str]:
    told = set(_numbers(source))
    bare = {value for value, _ in told}
    if _PAIR.search(source):
        bare.add("2")
    missing = [
        f"{value}{unit}" for value, unit in _numbers(part) if (value, unit) not in told and (unit or value not in bare)
    ]
    return missing + unfounded_ratios(part.lower(), source.lower(), told)


def _numbers(text: str) -> Iterator[tuple[str, str]]:
    """Every number with its unit ("" for none), and once more those inside identifiers, bare."""
    folded = in_figures(text.lower().replace("\\%", "%"))
    for match in _NUMBER.finditer(folded):
        unit = (match["unit"] or "").strip()
        unit = _UNITS.get(unit, unit)
        yield _value(match["number"]), unit
        if match["from"]:
            yield _value(_BARE_NUMBER.findall(match["from"])[0]), unit
    for found in _BARE_NUMBER.findall(folded):
        yield _value(found), ""


def _value(number: str) -> str:
    plain = re.sub(r",(?=\d{3}(?!\d))", "", number).strip(".,")
    try:
        value = Decimal(plain)
    except InvalidOperation:
        return plain
    return f"{value.normalize():f}" if value.is_finite() else plain


def _missing_names(part: str, source: str) -> list[str]:
    known = set(_forms(source))
    words = _PLAIN_WORD.findall(source.casefold())
    initials, joined = "".join("." if word in _APART else word[0] for word in words), " ".join(words)
    short = {name.removesuffix("s").casefold() for name in _SHORT_NAME.findall(source)}
    spelt = {word.casefold() for run in _SPELT_OUT.findall(part) if _initials(run) in short for word in run.split()}
    return [name for name in _names(part) if not _is_known(name, known, initials, joined) and name.casefold() not in spelt]


def _is_known(name: str, known: Set[str], initials: str, words: str) -> bool:
    """Whether a name, or each capitalised piece of one with hyphens, stands in the source or is short for words of it."""
    if known & set(_folded(name)) or _abbreviates(name, initials, words):
        return True
    pieces = [piece for piece in name.split("-") if piece != piece.lower() and not is_listed(piece.lower())]
    return "-" in name and all(known & set(_folded(piece)) or _abbreviates(piece, initials, words) for piece in pieces)


def _abbreviates(name: str, initials: str, words: str) -> bool:
    """Whether a name is short for words that follow one another in the source: of three letters or more (HMMs), or known."""
    short = name.removesuffix("s").casefold()
    if _ABBREVIATION.fullmatch(name) is None:
        return False
    return short in initials if len(short) > _PLAIN_PAIR else any(each in words for each in _PAIRS.get(short, ()))


def _initials(words: str) -> str:
    return "".join(word[0] for word in re.split(r"[\s-]", words)).casefold()


def _names(part: str) -> Iterator[str]:
    """Tokens that look like names: capitals inside, an inner dot, or a capital where no sentence begins."""
    for sentence in split(part):
        for place, match in enumerate(_TOKEN.finditer(sentence)):
            token = match.group().rstrip(".-'’")
            if not any(letter.isalpha() for letter in token):
                continue
            inner = any(letter.isupper() for letter in token[1:]) or re.search(r"[^\W\d_]\.[^\W\d_]{2}", token)
            if inner or (token[0].isupper() and (place > 0 or not opens(token.lower()))):
                yield token


def _forms(source: str) -> Iterator[str]:
    for match in _TOKEN.finditer(source):
        yield from _folded(match.group())
        for piece in re.split(r"[-.'’+]", match.group()):
            yield from _folded(piece)


def _folded(token: str) -> Iterator[str]:
    """A token without case, possessive, hyphens and plural s; hyphenated ones whole."""
    word = re.sub(r"['’]s?$", "", token.casefold().rstrip(".-'’"))
    whole = re.sub(r"[-.]", "", word)
    yield whole
    if whole.endswith("s"):
        yield whole[:-1]
