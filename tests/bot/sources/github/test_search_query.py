from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.sources.github.search_query import MAX_LENGTH, check_search, queries

CREATED, PUSHED = date(2026, 3, 1), date(2026, 3, 25)


def test_a_search_is_sent_for_new_and_for_active_repositories() -> None:
    assert queries("topic:cuda", CREATED, PUSHED) == (
        "topic:cuda archived:false created:>=2026-03-01",
        "topic:cuda archived:false pushed:>=2026-03-25",
    )


def test_archived_repositories_forks_and_few_stars_are_ruled_as_asked() -> None:
    assert queries("kv cache", CREATED, PUSHED, archived=True, forks=True, min_stars=5)[0] == (
        "kv cache fork:true stars:>=5 created:>=2026-03-01"
    )


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("x stars:>100", "x stars:>100 archived:false created:>=2026-03-01"),
        ("x archived:true", "x archived:true stars:>=5 created:>=2026-03-01"),
        ("x is:archived", "x is:archived stars:>=5 created:>=2026-03-01"),
        ('"stars:5 created:x"', '"stars:5 created:x" archived:false stars:>=5 created:>=2026-03-01'),
        ("x -stars:1", "x -stars:1 archived:false created:>=2026-03-01"),
    ],
)
def test_what_the_search_says_itself_is_not_added(text: str, sent: str) -> None:
    assert queries(text, CREATED, PUSHED, min_stars=5)[0] == sent


@pytest.mark.parametrize("text", ["x created:>2026-01-01", "x pushed:2026-01-01..2026-02-01"])
def test_a_search_with_days_of_its_own_is_sent_once(text: str) -> None:
    assert queries(text, CREATED, PUSHED) == (f"{text} archived:false",)


@pytest.mark.parametrize(
    "text",
    [
        "topic:cuda",
        "language:C++ stars:10..50",
        'in:name,readme "kv: cache"',
        "a AND b OR c NOT d",
        "user:amd -fork:only",
        "good-first-issues:>2 props.tier:gold",
    ],
)
def test_good_searches_pass(text: str) -> None:
    check_search(text)


def test_an_empty_search_is_refused() -> None:
    with pytest.raises(UsageError, match="is empty"):
        check_search("  ")


def test_a_search_that_is_too_long_is_refused_with_the_room_there_is() -> None:
    with pytest.raises(UsageError, match="has 250 characters; there is room for 220"):
        check_search("x" * 250)
    check_search("x" * 220)


def test_six_operators_are_refused_and_quoted_ones_not_counted() -> None:
    with pytest.raises(UsageError, match="has 6 AND, OR or NOT"):
        check_search("a OR b OR c OR d OR e OR f OR g")
    check_search('a OR b OR c OR d OR e OR f "x OR y"')


def test_an_unknown_qualifier_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="unknown qualifier, langauge:") as caught:
        check_search("cuda -langauge:python")
    assert caught.value.position == 6
    assert caught.value.hint == "did you mean language:?"
    with pytest.raises(UsageError) as caught:
        check_search("http://x.org")
    assert caught.value.hint == "put it in quotes if it is to be found as it stands"


@given(st.text(max_size=300))
def test_any_text_is_taken_or_refused_and_what_is_taken_fits(text: str) -> None:
    try:
        check_search(text, min_stars=3)
    except UsageError:
        return
    assert all(len(query) <= MAX_LENGTH for query in queries(text, CREATED, PUSHED, min_stars=3))
