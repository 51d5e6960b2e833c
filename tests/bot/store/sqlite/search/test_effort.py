"""What a search may cost: where it stops, what it answers then, and what is left as it was."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import pytest
from sqlite_utils import Database

from bot.errors import UsageError
from bot.models import And, Item, Page, Query, Tree
from bot.query.match import matches
from bot.query.parse import parse
from bot.store.sqlite.search.effort import Effort, affordable
from bot.store.sqlite.search.index import SqliteIndex
from tests.bot.query.generate import NOW
from tests.contract.indexed import indexed
from tests.contract.records import paper
from tests.stores.direct import Direct, answer

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ITEMS = [
    paper(number, abstract=" ".join(f"{letter}{number * 7 % 13}word" for letter in LETTERS), categories=("cs.LG",))
    for number in range(400)
] + [paper(400, abstract="zebra", categories=("cs.CR",)), paper(401, title="A rare okapi", categories=("cs.CR",))]

NO_PAGES = Effort(pages=0, items=20)
NO_READS = Effort(reads=0, items=20)
NO_STEPS = Effort(steps=0, items=20, tick=50)


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    made = indexed(ITEMS, NOW)
    yield made
    made.close()


def asked(db: Database, text: str, effort: Effort, offset: int = 0, mark: str = "", limit: int = 5) -> Page:
    return answer(SqliteIndex(Direct(db), effort).search(parse(text), NOW, limit=limit, offset=offset, mark=mark))


def keys(page: Page) -> list[str]:
    return [hit.item.key for hit in page.hits]


def statements(db: Database, text: str, effort: Effort) -> str:
    """Return all that SQLite is told for a search."""
    told: list[str] = []
    db.conn.set_trace_callback(told.append)
    asked(db, text, effort)
    db.conn.set_trace_callback(None)
    return "\n".join(told)


@pytest.mark.parametrize("text", ["(a* OR b*) cat:cs.CR published:7d sort:new", "a* sort:new", "author:x* okapi sort:stars"])
def test_a_costly_beginning_is_tried_on_the_items_that_satisfy_the_rest_and_not_looked_up(db: Database, text: str) -> None:
    assert "*" in statements(db, text, Effort())
    told = statements(db, text, NO_PAGES)
    assert '"a"*' not in told
    assert '"x"*' not in told
    page = asked(db, text, NO_PAGES)
    assert keys(page) == keys(asked(db, text, Effort()))
    assert page.examined == 0, "nothing was left out"


def test_a_search_that_finds_too_little_among_what_was_looked_at_says_how_many_these_were(db: Database) -> None:
    page = asked(db, "z1w* sort:new", NO_PAGES)
    assert (keys(page) != [], page.examined, page.more) == (True, 20, False)
    assert asked(db, "nosuch* sort:new", NO_PAGES).examined == 20
    assert asked(db, "nosuch* cat:cs.CR sort:new", NO_PAGES).examined == 0, "there are only two of these"


def test_the_costliest_parts_are_left_out_first(db: Database) -> None:
    pages = {beginning: _least(db, parse(f"{beginning}*").tree) for beginning in ("a", "z1w")}
    assert pages["a"] > pages["z1w"]
    tree = parse("a* z1w* cat:cs.LG").tree
    assert isinstance(tree, And)
    assert affordable(db, tree, pages["z1w"]) == And(tree.parts[1:])
    assert affordable(db, tree, pages["a"] + pages["z1w"]) == tree


def _least(db: Database, tree: Tree) -> int:
    return next(pages for pages in range(1000) if affordable(db, tree, pages) == tree)


@pytest.mark.parametrize(
    "text",
    ["a1word sort:new", "-a1word sort:stars", "a1word b1word", "okapi a1word cat:cs.CR", "(a1word OR b2word) -c3word"],
)
def test_a_search_whose_steps_are_used_up_answers_in_part(db: Database, text: str) -> None:
    query, found = parse(text), asked(db, text, NO_STEPS)
    assert found.examined == 20
    assert not any(_misses(query, hit.item) for hit in found.hits)


def _misses(query: Query, item: Item) -> bool:
    return query.sort != "best" and not matches(query.tree, item, NOW)


def test_pages_of_a_part_repeat_nothing_and_say_that_they_are_a_part(db: Database) -> None:
    index, seen = SqliteIndex(Direct(db), NO_STEPS), list[str]()
    query, mark = parse("-a1word sort:new"), ""
    for offset in range(0, 40, 5):
        page = answer(index.search(query, NOW, limit=5, offset=offset, mark=mark))
        seen += keys(page)
        mark = page.mark
        assert page.examined == 20
    assert len(seen) == len(set(seen)) == 40


def test_what_stopped_one_search_stops_no_other(db: Database) -> None:
    assert asked(db, "-a1word sort:stars", NO_STEPS).examined
    steps = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 100000) select max(i) from n"
    assert db.execute(steps).fetchone() == (100_000,)
    page = asked(db, "-a1word sort:stars", Effort(), limit=1000)
    assert (page.examined, len(page.hits)) == (0, sum(matches(parse("-a1word").tree, item, NOW) for item in ITEMS))


COMMON = [
    paper(number, abstract="of the model" if number % 3 else "of the kernel model", published=NOW) for number in range(2000)
]
FEW_READS = Effort(reads=12, few=0)


@pytest.mark.parametrize("text", ["of the model", "the kernel model", 'model "of the kernel"', "kernel stars:>0"])
def test_a_search_for_common_words_looks_at_those_stored_last_and_says_so_unless_these_are_enough(text: str) -> None:
    made = indexed(COMMON, NOW)
    whole, part = asked(made, text, Effort()), asked(made, text, FEW_READS)
    every = set(keys(asked(made, text, Effort(), limit=3000)))
    assert set(keys(part)) <= every
    assert (len(part.hits), part.total) in {(5, None), (0, None)} if part.examined else (5, whole.total)
    assert part == asked(made, text, FEW_READS)
    relevance = [hit.relevance for hit in part.hits]
    assert relevance == sorted(relevance, reverse=True)
    made.close()


def test_what_relevance_is_worked_out_of_are_the_words_that_tell_most(db: Database) -> None:
    made = indexed([*COMMON, paper(9000, title="A model of one zebra", published=NOW)], NOW)
    effort = Effort(reads=60, few=0)
    assert keys(asked(made, "of zebra model", effort, limit=1)) == ["arxiv:2604.09000"]
    for offset in (0, 5, 300):
        some = asked(made, "of model", effort, offset)
        assert (len(some.hits), some.examined) == (5, 0)
    made.close()


def test_what_cannot_be_counted_in_part_is_refused_with_what_to_do(db: Database) -> None:
    for effort, text in ((NO_STEPS, "-a1word"), (NO_PAGES, "a*"), (NO_READS, "a1word OR b1word")):
        index, tree = SqliteIndex(Direct(db), effort), parse(text).tree
        for count in (partial(index.count, tree, NOW), partial(index.matching, tree, NOW, since=NOW - timedelta(days=999))):
            with pytest.raises(UsageError) as told:
                answer(count())
            assert "too much effort" in str(told.value)
            assert "Narrow it" in told.value.hint
    assert answer(SqliteIndex(Direct(db), Effort()).count(parse("okapi").tree, NOW)) == 1


def test_the_same_search_stops_at_the_same_place_every_time(db: Database) -> None:
    answers = [asked(db, "a1word -b2word sort:new", Effort(steps=4_000, items=20, tick=100)) for _ in range(5)]
    assert len({(tuple(keys(page)), page.examined) for page in answers}) == 1
