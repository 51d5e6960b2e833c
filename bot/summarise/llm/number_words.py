"""Numbers and ratios told in words: thirty-one, a dozen, half, twice, tenfold, an order of magnitude."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_SMALL = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS_OF_TEN = ("one", *_SMALL[:8])
_TENS_AND_UNITS = {  # thirty-one: 31
    f"{ten}-{unit}": f"{high}{low}"
    for high, ten in enumerate(_TENS, start=2)
    for low, unit in enumerate(_UNITS_OF_TEN, start=1)
}
NUMBERS = {word: str(number) for number, word in enumerate(_SMALL, start=2)}
NUMBERS |= {word: str(number) for number, word in enumerate(_TEENS, start=13)}
NUMBERS |= {word: f"{number}0" for number, word in enumerate(_TENS, start=2)}
NUMBERS |= {"dozen": "12", "hundred": "100", "thousand": "1000"} | _TENS_AND_UNITS
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_TENS_AND_UNITS)})\b|[a-z]+")

# Words that are a factor or, with a share, a percentage by themselves, wherever they stand.
FACTORS = {
    **dict.fromkeys(("twice", "double", "doubles", "doubled", "doubling", "twofold", "two-fold"), "2"),
    **dict.fromkeys(("thrice", "triple", "triples", "tripled", "tripling", "threefold", "three-fold"), "3"),
    **dict.fromkeys(("quadruple", "quadruples", "quadrupled", "fourfold", "four-fold"), "4"),
    **dict.fromkeys(("fivefold", "five-fold"), "5"),
    **dict.fromkeys(("tenfold", "ten-fold"), "10"),
    **dict.fromkeys(("hundredfold", "hundred-fold"), "100"),
}
SHARES = dict.fromkeys(("half", "halve", "halves", "halved", "halving"), "50")
_PHRASES = (
    (re.compile(r"\b(?:a|one)[ -]third\b(?= (?:of|as|fewer|less|more|the|in)\b|[.,;]|$)"), 100 / 3),
    (re.compile(r"\btwo[ -]thirds\b"), 200 / 3),
    (re.compile(r"\b(?:a|one)[ -]quarter\b"), 25.0),
    (re.compile(r"\bthree[ -]quarters\b"), 75.0),
)
_MAGNITUDE = re.compile(r"\border(?P<many>s|\(s\))? of magnitude|\borders?-of-magnitude")
_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join((*FACTORS, *SHARES))})(?![\w-])")
_FROM_TO = re.compile(r"\bfrom (?:\w+ )?(\d+(?:\.\d+)?)[%\sx]{0,3}(?:\w+ )?to (?:\w+ )?(\d+(?:\.\d+)?)")
_LOWEST, _HIGHEST = 0.85, 1.3  # times a factor: what is told as "twice"
_NEAR_SHARE = 6.0  # points: what is told as "half"
_MAGNITUDE_LEAST, _MAGNITUDE_MOST, _MANY = 7.0, 15.0, 50.0


class Ratio(NamedTuple):
    """What is told in words, and the factors and the percentages that it may stand for."""

    said: str
    factors: tuple[float, float]
    shares: tuple[float, float]


def in_figures(text: str) -> str:
    """Return the text, which is in lower case, with figures in the place of number words."""
    return _NUMBER_WORD.sub(lambda word: NUMBERS.get(word.group(), word.group()), text)


def unfounded_ratios(part: str, source: str, told: set[tuple[str, str]]) -> list[str]:
    """Return the ratios that the part tells in words and the source neither in words nor by its numbers.

    Both texts are in lower case; `told` are the source's numbers with their units, "x" and "%" among them. A factor may be
    told as one, as the growth of a number from one value to another, or by a percentage that comes to the same.
    """
    claimed = list(_ratios(part))
    if not claimed:
        return []
    words = {(ratio.factors, ratio.shares) for ratio in _ratios(source)}
    factors = {float(value) for value, unit in told if unit == "x" and _is_plain(value)}
    shares = {float(value) for value, unit in told if unit == "%" and _is_plain(value)}
    for before, after in _FROM_TO.findall(source):
        if float(before) and float(after):
            factors |= {float(after) / float(before), float(before) / float(after)}
    return [
        ratio.said
        for ratio in claimed
        if (ratio.factors, ratio.shares) not in words
        and not any(ratio.factors[0] <= factor <= ratio.factors[1] for factor in factors)
        and not any(ratio.shares[0] <= share <= ratio.shares[1] for share in shares)
    ]


def _ratios(text: str) -> Iterator[Ratio]:
    for match in _WORD.finditer(text):
        if match.group() in SHARES:
            yield _share(match.group(), 50.0)
        else:
            factor = float(FACTORS[match.group()])
            more = (factor - 1) * 100
            yield Ratio(match.group(), (factor * _LOWEST, factor * _HIGHEST), (more - _NEAR_SHARE, more + _NEAR_SHARE))
    for pattern, share in _PHRASES:
        yield from (_share(match.group(), share) for match in pattern.finditer(text))
    for match in _MAGNITUDE.finditer(text):
        many = match["many"] == "s" or match.group().startswith("orders-")
        bounds = (_MANY, float("inf")) if many else (_MAGNITUDE_LEAST, _MAGNITUDE_MOST)
        yield Ratio(match.group(), bounds, (bounds[0] * 100, bounds[1] * 100))


def _share(said: str, share: float) -> Ratio:
    """A share stands for percentages near it, and for the factor that leaves so much."""
    return Ratio(said, (100 / share * _LOWEST, 100 / share * 1.15), (share - _NEAR_SHARE, share + _NEAR_SHARE))


def _is_plain(value: str) -> bool:
    return value.replace(".", "", 1).isdigit() and len(value) < 16
