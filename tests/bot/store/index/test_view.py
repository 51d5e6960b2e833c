"""What the index beside the database finds, by whichever of its ways is the cheaper."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from tantivy import IndexWriter

from bot.models import And, Item, Query, Term
from bot.models.queries import COUNTED
from bot.query.match import matches
from bot.query.parse import parse
from bot.store.index.documents import document, opened, schema
from bot.store.index.view import SoughtInView, View
from bot.store.rules.search_terms import split
from bot.store.rules.titles import lift
from tests.conftest import NOW
from tests.contract.records import paper

_HEAP = 15_000_000  # the least that tantivy takes
_ITEMS = 1_300
GONE = range(5, _ITEMS, 10)  # ids that are in the lists, and in the index no more


def _paper(number: int) -> Item:
    words = ["even" if number % 2 == 0 else "odd", *(["third"] if number % 3 == 0 else []), f"n{number % 40}"]
    return paper(
        number,
        title=f"Common {' '.join(words)}",
        abstract="filler " * (number % 13),
        published=NOW - timedelta(days=number % 500),
        seen=NOW,
    )


@pytest.fixture(scope="module")
def view() -> Iterator[View]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        index = opened(str(Path(folder)), schema())
        writer: IndexWriter = index.writer(_HEAP, 1)
        for number in range(1, _ITEMS + 1):
            writer.add_document(document(number, _paper(number)))
        writer.commit()
        for number in GONE:
            writer.delete_documents_by_term("id", number)
        writer.commit()
        index.reload()
        yield View(index)


def _sought(view: View, text: str, last: int | None = None) -> SoughtInView:
    query: Query = parse(text)
    words, rest = split(query.tree)
    return view.sought(words, rest, NOW, last, _ITEMS)


def _ids(having: Sequence[int]) -> list[int]:
    return [number for number in having if number not in GONE]


@pytest.mark.parametrize("condition", ["published:>30d", "published:7d", "published:499d -n3*", "n7*", "cat:nothing"])
@pytest.mark.parametrize("number", [1, 20, 5_000])
@pytest.mark.parametrize("last", [None, 700])
def test_the_first_of_some_ids_for_which_a_condition_holds_are_the_same_however_they_are_looked_up(
    view: View, condition: str, number: int, last: int | None
) -> None:
    sought = _sought(view, f"common {condition}", last)
    held = set(sought.holding().tolist())
    among = np.random.default_rng(7).permutation(np.arange(1, _ITEMS + 1, dtype=np.int64))
    expected = [at for at, each in enumerate(among.tolist()) if each in held][:number]
    assert sought.first_holding(among, number).tolist() == expected


def test_without_a_condition_the_first_of_some_ids_are_those(view: View) -> None:
    assert _sought(view, "common").first_holding(np.array([3, 1, 2]), 2).tolist() == [0, 1]


@pytest.mark.parametrize("text", ["common", "even", "common even", "third published:400d", "odd -third", "even n2"])
def test_as_many_are_counted_as_there_are(view: View, text: str) -> None:
    query = parse(text)
    having = view.ids(view.condition(query.tree, NOW))
    sought = _sought(view, text)
    for _ in range(2):  # before the best were looked for, and after
        assert sought.total(set()) == min(COUNTED + 1, len(having))
        assert sought.total({_ITEMS + 1}) == min(COUNTED + 1, len(having) + 1)
        assert {each for each, _ in sought.whole(_ITEMS)} == set(having)


def test_what_is_gone_is_not_counted_and_does_not_count_as_sure(view: View) -> None:
    assert view.number_of_items == _ITEMS - len(GONE)
    assert view.at_least("best", "common") == _ITEMS - len(GONE)
    assert view.at_least("best", "odd") <= len(_ids(range(1, _ITEMS + 1, 2)))
    assert view.at_least("best", "nothing") == 0


@pytest.mark.parametrize("number", [3, 30, 400])
def test_what_has_some_of_the_words_is_the_same_however_its_best_are_found(view: View, number: int) -> None:
    sought = _sought(view, "n2 n4 even")
    every, _ = sought.some(_ITEMS, fewer=True)
    some, _ = sought.some(number, fewer=True)
    assert len(every) > 30
    assert [score for _, score in some] == pytest.approx([score for _, score in every[:number]])
    assert set(some) <= set(every)


def test_titles_with_every_word_are_found_among_the_best(view: View) -> None:
    sought = _sought(view, "even third")
    best = [each for each, _ in sought.whole(50)]
    assert set(best) <= set(sought.titled(50))
    assert sought.appeared([*best, 0]) == {each: _micros(each) for each in best}


def _micros(number: int) -> int:
    return int(_paper(number).published.timestamp()) * 1_000_000  # type: ignore[union-attr] # it has one


def test_a_phrase_whose_last_word_may_be_one_of_very_many_is_left_out_and_one_of_fewer_is_found(tmp_path: Path) -> None:
    index = opened(str(tmp_path), schema())
    writer = index.writer(_HEAP, 1)
    for number, beginning in enumerate("st", 1):
        words = " ".join(f"{beginning}{at}" for at in range((17_000, 3_000)[number - 1]))
        writer.add_document(document(number, paper(number, abstract=f"kv {words}")))
    writer.commit()
    index.reload()
    view = View(index)
    many, fewer = Term("kv-s", prefix=True), Term("kv-t", prefix=True)
    assert view.affordable(And((many, fewer))) == And((fewer,))
    assert view.ids(view.condition(fewer, NOW)) == [2]


@pytest.mark.parametrize("text", ["c*", "comm*", "fille*", "n3*", "n39*", "xyz*", "xyzz*", "title:c*"])
def test_short_and_long_beginnings_find_the_words_that_begin_so(view: View, text: str) -> None:
    tree = parse(text).tree
    expected = [number for number in range(1, _ITEMS + 1) if matches(tree, _paper(number), NOW)]
    assert sorted(view.ids(view.condition(tree, NOW))) == _ids(expected)


def test_one_word_is_looked_for_in_titles_that_have_it_as_several(tmp_path: Path) -> None:
    index = opened(str(tmp_path), schema())
    writer = index.writer(_HEAP, 1)
    titles = (
        "Multi-SWE-bench: A Benchmark",
        "Multiswebench",
        "A Multi-SWE-bench",
        "Multi tasks of MultiSWEbench",
        "Nothing",
    )
    for number, title in enumerate(titles, 1):
        writer.add_document(document(number, paper(number, title=title)))
    writer.commit()
    index.reload()
    sought = _sought(View(index), "multiswebench")
    assert {each for each, _ in sought.whole(9)} == {1, 2, 3, 4}
    found = sought.titled(9)
    assert {number for number, title in enumerate(titles, 1) if lift(title, split(parse("multiswebench").tree)[0])} == {1, 3}
    assert {1, 3} <= set(found) <= {1, 3, 4}


def test_a_word_that_most_items_have_counts_nothing_beside_others_as_in_fts5(view: View) -> None:
    both, alone, third = (_sought(view, text).whole(50) for text in ("common n2", "n2", "third n2"))
    assert [each for each, _ in both] == [each for each, _ in alone]
    assert [score for _, score in both] == pytest.approx([score for _, score in alone], rel=1e-5)
    assert third[0][1] > alone[0][1]
