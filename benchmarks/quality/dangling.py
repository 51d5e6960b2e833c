"""Parts of summaries that begin with a word that points to something outside them: 200 abstracts of the corpus's last month.

A part dangles that begins, after any "However," or "Moreover,", with This, These, Those, It, They, Such, Its or Their, and
goes on with nothing that says what is meant: "This systematic review" and "It is known" do not dangle, "This method" does.
Of the parts that are there. Beside it: how many of all sentences of these abstracts begin so.
"""

import random
import re
from collections.abc import Iterator

from benchmarks.corpus import papers
from benchmarks.quality.figures import Figure, of_shares
from benchmarks.quality.inputs import Inputs
from bot.models import PARTS
from bot.summarise.choice.scoring import PROBLEM, WHY
from bot.summarise.english.sentences import split
from bot.summarise.extractive import extract

_COUNT, _MONTH, _SEED = 200, 4500, 7
_REACH = {PROBLEM: 0.01, WHY: 0.02}
_LEADING = r"(?:(?:however|moreover|furthermore|also|but|and|thus|therefore|hence|in addition|additionally|yet|finally),? )?"
_OWN = r"(?:paper|work|study|article|survey|thesis|review|report)"
_DANGLES = re.compile(
    rf"^{_LEADING}(?:(?:both|all|each) (?:of )?)?(?:this(?! (?:[\w-]+(?<!s) ){{0,2}}{_OWN}\b)|these|those|them|"
    r"they|such(?! as\b)|its|their|it(?! (?:is|was|has been|remains|becomes|seems) (?:\w+ly )?(?:well[- ])?(?:known|"
    r"\w+ (?:to|that|whether|how|for)\b)))\b",
    re.IGNORECASE,
)


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield a figure per part; they need the corpus."""
    if given.corpus is None:
        return
    fresh = [item for item in papers(given.corpus)[-_MONTH:] if len(item.abstract) > 200]
    chosen = random.Random(_SEED).sample(fresh, min(_COUNT, len(fresh)))
    summaries = [extract(item).parts for item in chosen]
    sentences = [split(item.abstract) for item in chosen]
    beside = [of_shares("all sentences", [(float(sum(map(dangles, each))), float(len(each))) for each in sentences])]
    for column, part in enumerate(PARTS):
        parts = [each[column] for each in summaries]
        shares = [(float(each.found and dangles(each.text)), float(each.found)) for each in parts]
        name, reach = f"{part.lower()}, dangling starts", _REACH.get(part)
        ours = [of_shares("ours", shares)]
        yield Figure("fresh abstracts", name, ours, beside, len(chosen), "abstracts", reach, percent=True, lower=True)


def dangles(text: str) -> bool:
    """Say whether the text begins with a word that points to something outside it."""
    return _DANGLES.search(text) is not None
