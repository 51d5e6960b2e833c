"""Where the items within some dates stand, and that a search within dates looks at nothing else."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

import pytest
from sqlite_utils import Database

from bot.models import Item
from bot.query.parse import parse
from bot.store.sqlite.search.best import Span
from bot.store.sqlite.search.find import find
from bot.store.sqlite.search.window import Window, window_of
from tests.bot.query.generate import NOW
from tests.contract.indexed import indexed
from tests.contract.records import paper


def aged(days: Sequence[int]) -> list[Item]:
    return [
        paper(number, abstract="a common word", published=NOW - timedelta(days=age)) for number, age in enumerate(days, 1)
    ]


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("word published:7d", Window(2, 6)),
        ("published:>7d word", Window(0, 5)),
        ("published:7d published:>1d", Window(2, 4)),
        ("published:7d published:>7d", Window(0, 0)),
        ("word published:1900-01-01..1900-01-02", Window(0, 0)),
        ("word updated:7d", Window(2, 6)),
        ("updated:<1900-01-01 published:>7d", Window(0, 0)),
        ("stars:>3", None),
        ("word OR published:7d", None),
        ("word", None),
    ],
)
def test_all_items_within_the_dates_stand_in_their_window_whenever_they_were_stored(
    text: str, window: Window | None
) -> None:
    db = indexed(aged([90, 30, 1, 3, 60, 0]), NOW)
    assert window_of(db, parse(text).tree, NOW) == window
    db.close()


def test_within_dates_that_hold_very_many_only_the_last_of_them_is_looked_for() -> None:
    db = indexed(aged([90, 3, 60, 80, 1]), NOW)
    wide = partial(window_of, db, now=NOW, widest=2)
    assert wide(parse("published:>7d").tree) == Window(0, 4)
    assert wide(parse("published:99d").tree) == Window(0, 5)
    assert wide(parse("published:2d").tree) == Window(4, 5), "these are few"
    db.close()


@pytest.mark.parametrize("text", ["word published:7d", "-other published:7d sort:stars"])
def test_what_is_older_costs_a_search_within_dates_nothing(text: str) -> None:
    few, many = (indexed(aged([99] * older + [3] * 20), NOW) for older in (200, 2000))
    assert steps(many, text) < 1.5 * steps(few, text)
    for db in (few, many):
        assert find(db, parse(text), NOW, Span(50)).total == 20
        db.close()


def steps(db: Database, text: str) -> int:
    """Return the steps of SQLite's virtual machine that a search takes, in tens."""
    taken = 0

    def tick() -> bool:
        nonlocal taken
        taken += 1
        return False

    db.conn.set_progress_handler(tick, 10)
    find(db, parse(text), NOW, Span(10))
    db.conn.set_progress_handler(None, 0)
    return taken
