"""What queries would cost in an index of a million papers, and what is left of those that cost too much."""

from typing import cast

import pytest
from tantivy import Searcher

from bot.models import And, Tree
from bot.query.parse import parse
from bot.store.index.effort import MOST, Effort

_ITEMS = 1_000_000


class Counts:
    """As a searcher's: function words stand in all abstracts, of other words each begins like some hundreds of others."""

    num_docs = _ITEMS

    def __init__(self) -> None:
        self.looked_for: list[str] = []

    def doc_freq(self, field: str, token: str) -> int:
        often = {"of": 950_000, "the": 980_000, "model": 850_000}
        return often.get(token, 3_000) // (1 if field in ("abstract", "label", "beginning") else 10)

    def terms_with_prefix(self, field: str, prefix: str, limit: int) -> list[tuple[str, int]]:
        self.looked_for.append(prefix)
        number = 20_000 if prefix == "many" else 300 * 8 ** max(0, 4 - len(prefix))
        return [(f"{prefix}{at}", 40) for at in range(min(limit, number))]


def left(text: str) -> Tree:
    return Effort(cast("Searcher", Counts())).affordable(parse(text).tree)


@pytest.mark.parametrize(
    "text",
    [
        "model of the",
        " ".join(["the", "of", "model"] * 20),
        "(a* OR b*) cat:cs.CR published:7d",
        "comp* tran* title:mode*",
        '"of the"',
        '"language model" -"of it"',
        "published:30d stars:>5 -model",
        "id:2504.01* id:github:a*",
        " OR ".join(f"w{at}" for at in range(60)),
    ],
)
def test_what_people_ask_is_answered_whole(text: str) -> None:
    assert left(text) == parse(text).tree


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("abs:a* model", "model"),
        ("id:2* model", "model"),
        ("id:arxi* model", "model"),
        ("id:arxiv:25* cat:cs.LG", "cat:cs.LG"),
        ("kv-many* gpu", "gpu"),
        ('"of the" OR "the of" OR "the the"', ""),
        ('"of the" ("the of" OR "of model" OR "of it") sort:new', '"of the"'),
    ],
)
def test_of_what_costs_too_much_the_most_costly_parts_are_left_out(text: str, rest: str) -> None:
    parts = left(text)
    expected = parse(rest).tree if rest else And(())
    assert parts == (expected if isinstance(expected, And) else And((expected,)))


def test_words_that_begin_with_a_letter_or_two_are_not_counted_among_very_many_items() -> None:
    counts = Counts()
    effort = Effort(cast("Searcher", counts))
    assert effort.of(parse("abs:a* OR id:2*").tree) > MOST
    assert counts.looked_for == []
