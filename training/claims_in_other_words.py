"""Says a sentence in other words that leave it as true as it was, so that learning sees more than copies.

Openings are cut, "we" becomes "the authors", words are exchanged for others of the same meaning, words that only praise are
left out, clauses change places, right figures are told in words, and nouns give way to general ones.
"""

import random
import re

from bot.summarise.llm.number_words import NUMBERS
from bot.summarise.llm.opposites import denies, ends, extent

_OPENING = re.compile(
    r"^(?:In this (?:paper|work|letter|study|article), |However, |Moreover, |Furthermore, |Specifically, |Additionally, |"
    r"To this end, |(?:Extensive |Our |Experimental |Empirical )?(?:experiments?|results?|evaluations?)[^,]{0,40}? "
    r"(?:show|demonstrate|indicate|reveal|suggest)s? that )",
    re.IGNORECASE,
)
_WE = re.compile(r"\b[Ww]e (?:also |further |then )?(?=[a-z]+)")
_PRAISE = re.compile(
    r"\b(?:novel|extensive|comprehensive|significantly|substantially|remarkably|effectively|efficiently|challenging|new|"
    r"powerful|highly|various|different|diverse|crucial|critical|respectively|simultaneously|directly|explicitly) "
)
_ASIDE = re.compile(r" \([^()]{1,60}\)")
_MEANINGS = """
    propose/present introduce/propose method/approach approach/technique framework/system demonstrate/show
    achieve/reach achieves/attains utilize/use leverage/exploit leverages/uses enables/allows improve/raise
    improves/raises outperforms/beats outperform/beat surpasses/beats reduces/lowers reducing/cutting reduced/lowered
    increases/raises increased/grew increasing/growing significant/large performance/results evaluate/test dataset/data
    benchmark/test images/pictures requires/needs require/need requiring/needing existing/earlier prior/earlier
    previous/earlier obtain/get employ/use address/tackle challenge/difficulty problem/difficulty limitation/weakness
    via/through however/but additionally/also generate/produce large/big faster/quicker higher/greater lower/smaller
    comparable/similar accuracy/precision understanding/grasp capture/represent identify/find identifies/finds
    robust/reliable construct/build constructs/builds preserving/keeping preserve/keep maintaining/keeping
    provides/gives provide/give remains/stays often/frequently lack/miss fail/cannot fails/cannot difficult/hard
    across/over compared/relative costly/expensive explore/study investigate/study develop/build mitigate/lessen
    eliminate/remove eliminates/removes eliminating/removing
"""
_OTHER = dict(pair.split("/") for pair in _MEANINGS.split())
_GENERAL_WORDS = """
    thing part piece kind setting stage issue aspect side tool way form unit item scheme basis source point matter case
"""
_GENERAL = tuple(_GENERAL_WORDS.split())
_SPELT = {number: word for word, number in NUMBERS.items() if len(number) < 3}
_SMALL_NUMBER = re.compile(r"(?<![\w.,%-])\d{1,2}(?= [a-z]{4})")
_RATIOS = ((re.compile(r"\b50 ?%"), "half"), (re.compile(r"\b2(?:\.0)? ?(?:x|×|times)(?!\w)"), "twice"))


def reworded(said: str, chance: random.Random) -> str:
    """Return the sentence in other words."""
    told = _OPENING.sub("", said)
    told = _WE.sub("the authors ", told)
    if chance.random() < 0.5:
        told = _ASIDE.sub("", told)
    told = _PRAISE.sub(lambda match: "" if chance.random() < 0.6 else match.group(), told)
    told = re.sub(r"[A-Za-z-]+", lambda match: _exchanged(match.group(), chance), told)
    told = _SMALL_NUMBER.sub(lambda match: _SPELT.get(match.group(), match.group()), told) if chance.random() < 0.5 else told
    for pattern, word in _RATIOS:
        told = pattern.sub(word, told)
    told = _turned(told, chance)
    return told[:1].upper() + told[1:]


def _exchanged(word: str, chance: random.Random) -> str:
    if word in _OTHER:
        return _OTHER[word] if chance.random() < 0.6 else word
    plain = len(word) > 5 and word.islower() and "-" not in word and not word.endswith("ly")
    if plain and chance.random() < 0.12 and not (ends(word) or denies(word) or extent(word)):
        return chance.choice(_GENERAL) + ("s" if word.endswith("s") else "")
    return word


def _turned(told: str, chance: random.Random) -> str:
    first, comma, second = told.rstrip(". ").partition(", ")
    apart = comma and "," not in second and min(len(first.split()), len(second.split())) > 3
    if not apart or chance.random() < 0.5 or second.startswith(("and ", "or ", "but ", "which ", "where ")):
        return told
    return f"{second[:1].upper()}{second[1:]}, {first[:1].lower()}{first[1:]}."
