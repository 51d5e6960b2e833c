from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.handlers.places import LONGEST, Place, read_place, write_place
from bot.handlers.searched import newest_of_any, read_search
from bot.models import And
from bot.query import parse
from bot.store.rules.search_terms import STOPWORDS
from tests.bot.query.generate import trees
from tests.conftest import NOW

PLACES = st.builds(
    Place,
    st.integers(0, 0xFFFF),
    st.integers(0, 2**32 - 1).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.integers(0, 10**16 - 1).map(str) | st.just(""),
)


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("kv cache", "new"),
        ("kv cache sort:best", "best"),
        ("sort:relevance kv", "best"),
        ('kv sort:"best"', "best"),
        ("SORT:BEST kv", "best"),
        ("kv sort:stars", "stars"),
        ('title:"how to sort:best things"', "new"),
        ('"sort:best"', "new"),
    ],
)
def test_a_search_is_newest_first_unless_it_says_otherwise(text: str, sort: str) -> None:
    assert read_search(text).said.sort == sort


@pytest.mark.parametrize(
    ("text", "windowed"),
    [
        ("kv", True),
        ("kv cat:cs.LG -survey", True),
        ("kv published:7d", False),
        ("kv (updated:>2026-01-01 OR stars:>5)", False),
        ("kv -published:<2020", False),
        ("2606.01234", False),
        ("id:github:vllm-project/vllm", False),
        ("kind:repo kv", False),
        ("kind:repo OR kv", True),
    ],
)
def test_the_last_ninety_days_hold_where_nothing_says_a_time(text: str, windowed: bool) -> None:
    assert read_search(text).windowed is windowed


def test_an_empty_search_asks_what_is_sought() -> None:
    with pytest.raises(UsageError, match="What are you looking for") as caught:
        read_search("  ")
    assert caught.value.hint


@given(trees(), st.sampled_from(["new", "best", "stars", "upvotes"]), st.sampled_from(["", "gpu-systems"]))
def test_the_same_search_in_another_order_is_the_same_search(tree: And, sort: str, topic: str) -> None:
    asked = replace(read_search("x"), said=replace(parse("x"), tree=tree, sort="new", topic_of=topic))

    text = asked.sorted(sort)

    if text:
        again = read_search(text).said
        assert (again.sort, again.topic_of) == (sort, topic)
        assert again.tree == parse(asked.sorted("new")).tree


@given(PLACES, st.text())
def test_a_place_reads_back_and_is_short(place: Place, query: str) -> None:
    token = write_place(place, query)

    assert read_place(token, query) == place
    assert len(token) <= LONGEST
    assert not set(token) - set("0123456789abcdef.")


@given(PLACES, st.integers(0, 59), st.characters())
def test_a_damaged_place_and_one_of_another_search_are_refused(place: Place, at: int, other: str) -> None:
    token = write_place(place, "kv")
    damaged = token[:at] + other + token[at + 1 :]

    with pytest.raises(UsageError, match="damaged, or of another search"):
        read_place(token, "cache")
    if damaged != token:
        with pytest.raises(UsageError, match="damaged, or of another search"):
            read_place(damaged, "kv")


@given(st.text())
def test_a_made_up_place_is_refused(token: str) -> None:
    with pytest.raises(UsageError):
        read_place(token, "kv")


def test_ages_are_reckoned_from_the_first_page_on() -> None:
    place = Place(5, NOW - timedelta(days=1), "12")
    assert read_place(write_place(place, "kv"), "kv").asked == NOW - timedelta(days=1)


@pytest.mark.parametrize("word", sorted(STOPWORDS))
def test_what_a_search_for_the_best_match_leaves_out_is_no_telling_word(word: str) -> None:
    assert newest_of_any(parse(f"{word} sort:best")) is None


def test_the_newest_of_any_of_the_words_keeps_what_else_is_asked_for() -> None:
    asked = parse('the cache kernels "exact words" cat:cs.LG m* sort:best')
    newest = newest_of_any(asked)
    assert newest is not None
    assert newest.sort == "new"
    assert newest.tree == parse('"exact words" cat:cs.LG m* (cache OR kernels)').tree
    assert newest_of_any(parse("cache kernels sort:new")) is None
