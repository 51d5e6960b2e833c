from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import Item, Reading
from bot.rank import community
from bot.rank.community import Day, measure, reason, survey, value
from tests.bot.rank.make import NOW, paper, repo

TODAY = NOW.date()


def stars(*counts: tuple[int, int | None]) -> list[Reading]:
    return [Reading(TODAY - timedelta(days=ago), stars=count) for ago, count in counts]


def said(item: Item, readings: list[Reading] | None = None) -> str:
    return reason(item, measure(item, readings or [], NOW))


def worth(item: Item, readings: list[Reading] | None = None, day: Day | None = None) -> float:
    return value(item, measure(item, readings or [], NOW), day or Day())


def test_upvotes_are_told() -> None:
    assert said(paper("A", upvotes=57, sources=("huggingface",))) == "57 upvotes on Hugging Face"
    assert said(paper("A", upvotes=1)) == "1 upvote on Hugging Face"


def test_a_pick_without_upvotes_is_told() -> None:
    assert said(paper("A", upvotes=0, sources=("arxiv", "huggingface"))) == "picked for Hugging Face Daily Papers"


def test_stars_gained_are_told_with_their_days() -> None:
    assert said(repo("a/b", stars=1412), stars((3, 1000), (1, 1200), (0, 1412))) == "412 stars in 3 days"
    assert said(repo("a/b", stars=1001), stars((1, 1000), (0, 1001))) == "1 star in 1 day"


def test_stars_are_told_as_they_stand_when_nothing_was_gained_or_only_one_day_was_read() -> None:
    assert said(repo("a/b", stars=8985), stars((0, 8985))) == "8,985 stars"
    assert said(repo("a/b", stars=900), stars((2, 950), (0, 900))) == "900 stars"
    assert said(repo("a/b", stars=900), stars((2, None), (0, 900))) == "900 stars"


def test_nothing_known_is_worth_nothing_and_says_nothing() -> None:
    assert (worth(paper("A")), said(paper("A"))) == (0, "")


def test_a_pick_is_worth_something_before_the_first_upvote() -> None:
    assert 0 < worth(paper("A", sources=("huggingface",))) < worth(paper("A", sources=("huggingface",), upvotes=10))


def test_upvotes_of_many_days_count_less_than_those_of_one() -> None:
    fresh = paper("A", upvotes=20, appeared=NOW)
    assert worth(fresh) > worth(paper("A", upvotes=20, appeared=NOW - timedelta(days=5)))


def test_stars_of_a_young_repository_count_by_the_day_without_readings() -> None:
    young = repo("a/b", stars=600, published=NOW - timedelta(days=4))
    assert worth(young) > worth(repo("a/c", stars=600, published=NOW - timedelta(days=900)))


def test_the_scale_is_logarithmic() -> None:
    few, some, many = (worth(paper("A", upvotes=count, appeared=NOW), day=Day(1000.0)) for count in (9, 99, 999))
    assert many - some == pytest.approx(some - few, rel=0.01)


def test_what_much_is_follows_a_lively_day_and_never_a_quiet_one() -> None:
    lively = [measure(paper("A", upvotes=votes, appeared=NOW), [], NOW) for votes in (*[5] * 50, *[200] * 10)]
    assert survey(lively).upvotes == 200
    assert survey([measure(paper("A", upvotes=3, appeared=NOW), [], NOW)]) == Day() == survey([])


@given(
    st.none() | st.integers(-5, 10**7),
    st.none() | st.integers(-5, 10**7),
    st.lists(st.tuples(st.integers(0, 40), st.none() | st.integers(0, 10**7)), max_size=4),
    st.sampled_from(((), ("huggingface",))),
)
def test_the_value_lies_between_0_and_1(
    votes: int | None, stood: int | None, counts: list[tuple[int, int | None]], sources: tuple[str, ...]
) -> None:
    item = repo("a/b", upvotes=votes, stars=stood, sources=sources, published=NOW)
    assert 0 <= worth(item, stars(*counts)) <= 1


def test_age_is_never_less_than_nothing() -> None:
    assert community.age(NOW + timedelta(days=2), NOW) == 0
    assert community.age(None, NOW) is None
    assert measure(paper("A", upvotes=3, appeared=NOW + timedelta(days=2)), [Reading(date.max)], NOW).upvotes == 3
