"""Lists in an order of their own: how little is looked through for them, and where it ends."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlite_utils import Database

from bot.query.match import matches
from bot.query.parse import parse
from bot.store.sqlite.items import hydrate
from bot.store.sqlite.search.best import Answer, Span
from bot.store.sqlite.search.cost import Costs
from bot.store.sqlite.search.effort import Effort
from bot.store.sqlite.search.find import find
from tests.bot.query.generate import NOW
from tests.contract.indexed import indexed
from tests.contract.records import paper

ITEMS = [
    paper(
        number,
        abstract="the of the model of the" if number % 2 else "of the learning",
        published=NOW - timedelta(days=(number * 37 % 400) / 4),
        stars=number % 11 if number % 7 == 0 else None,
    )
    for number in range(1, 3001)
]


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    made = indexed(ITEMS, NOW)
    yield made
    made.close()


def found(db: Database, text: str, effort: Effort = Effort(), span: Span = Span(10)) -> Answer:  # noqa: B008 - frozen
    return find(db, parse(text), NOW, span, effort)


@pytest.mark.parametrize("sort", ["new", "stars", "upvotes"])
@pytest.mark.parametrize(
    "text", ["model", "-model", '"of the model"', "the -learning", "kind:paper", "stars:>3", "published:40d model"]
)
def test_a_list_of_many_is_that_of_all_in_its_order(db: Database, text: str, sort: str) -> None:
    query = parse(f"{text} sort:{sort}")
    fitting = [item for item in ITEMS if matches(query.tree, item, NOW)]
    if sort == "stars":
        fitting.sort(key=lambda item: (item.stars is not None, item.stars, item.published, item.key), reverse=True)
    else:
        fitting.sort(key=lambda item: (item.published, item.key), reverse=True)
    for offset in (0, 7, 400):
        page = found(db, f"{text} sort:{sort}", span=Span(10, offset))
        items = hydrate(db, [number for number, _ in page.scored])
        assert [items[number].key for number, _ in page.scored] == [item.key for item in fitting[offset : offset + 10]]
        assert (page.total, page.examined) == (min(1001, len(fitting)), 0)


@pytest.mark.parametrize(
    "text", ['"the of the model of the of the" sort:new', '"of of" sort:stars', "-the sort:new", "model learning sort:new"]
)
def test_what_nothing_or_little_has_is_looked_for_among_those_stored_last_alone(db: Database, text: str) -> None:
    whole, part = found(db, text), found(db, text, Effort(reads=1))
    assert (whole.scored, whole.total, whole.examined) == ([], 0, 0)
    assert (part.scored, part.total) == ([], None)
    assert 0 < part.examined < len(ITEMS)
    assert part == found(db, text, Effort(reads=1)), "it ends at the same place every time"


def test_a_page_of_a_list_that_is_long_costs_the_same_however_long_it_is() -> None:
    items = [paper(number, abstract="of the", published=NOW - timedelta(hours=3000 - number)) for number in range(3000)]
    few, many = indexed(items[-1500:], NOW), indexed(items, NOW)
    assert steps(many, "of sort:new") < 1.2 * steps(few, "of sort:new")
    for each in (few, many):
        each.close()


def steps(db: Database, text: str) -> int:
    """Return the steps of SQLite's virtual machine that a search takes, in tens."""
    taken = 0

    def tick() -> bool:
        nonlocal taken
        taken += 1
        return False

    db.conn.set_progress_handler(tick, 10)
    assert found(db, text, Effort(stretch=50)).total == 1001
    db.conn.set_progress_handler(None, 0)
    return taken


def test_a_list_costs_what_the_shortest_of_its_words_lets_it_cost(db: Database) -> None:
    costs = Costs(db)
    the, rare = costs.of(parse("the").tree), costs.of(parse("zebra").tree)
    assert rare <= the
    assert costs.of(parse("the OR of").tree) > the
    assert costs.of(parse("the zebra").tree) <= costs.of(parse("the of").tree)
    assert costs.of(parse('"of the"').tree) > the
    assert costs.whole(parse("-the").tree) > costs.of(parse("the").tree)
