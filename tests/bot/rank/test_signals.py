from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import Item, Reading
from bot.rank import signals
from bot.rank.events import Event
from bot.rank.signals import (
    DayScale,
    community_reason,
    community_signals,
    community_value,
    day_scale,
    freshness_reason,
    freshness_value,
    readable_since,
)
from tests.bot.rank.make import NOW, paper, repo

TODAY = NOW.date()
DAY = timedelta(days=1)


def stars(*counts: tuple[int, int | None]) -> list[Reading]:
    return [Reading(TODAY - timedelta(days=ago), stars=count) for ago, count in counts]


def said(item: Item, readings: list[Reading] | None = None) -> str:
    return community_reason(item, community_signals(item, readings or [], NOW))


def fresh(item: Item, *happened: Event) -> float:
    return freshness_value(item, happened, NOW)


def fresh_words(item: Item, *happened: Event) -> str:
    return freshness_reason(item, happened, NOW)


def worth(item: Item, readings: list[Reading] | None = None, day: DayScale | None = None) -> float:
    return community_value(item, community_signals(item, readings or [], NOW), day or DayScale())


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
    few, some, many = (worth(paper("A", upvotes=count, appeared=NOW), day=DayScale(1000.0)) for count in (9, 99, 999))
    assert many - some == pytest.approx(some - few, rel=0.01)


def test_what_much_is_follows_a_lively_day_and_never_a_quiet_one() -> None:
    lively = [community_signals(paper("A", upvotes=votes, appeared=NOW), [], NOW) for votes in (*[5] * 50, *[200] * 10)]
    assert day_scale(lively).upvotes == 200
    assert day_scale([community_signals(paper("A", upvotes=3, appeared=NOW), [], NOW)]) == DayScale() == day_scale([])


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
    assert signals.days_since(NOW + timedelta(days=2), NOW) == 0
    assert signals.days_since(None, NOW) is None
    assert community_signals(paper("A", upvotes=3, appeared=NOW + timedelta(days=2)), [Reading(date.max)], NOW).upvotes == 3


# --- freshness


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, "new today"), (1, "new yesterday"), (2, "2 days old"), (7, "7 days old"), (8, ""), (-1, "new today")],
)
def test_a_paper_says_how_old_it_is_while_it_is_news(days: int, words: str) -> None:
    assert fresh_words(paper("A", published=NOW - days * DAY)) == words


def test_a_paper_is_half_as_fresh_after_three_days() -> None:
    assert fresh(paper("A", published=NOW)) == 1
    assert fresh(paper("A", published=NOW - 3 * DAY)) == pytest.approx(0.5)


def test_a_paper_is_as_new_as_its_announcement() -> None:
    assert readable_since(paper("A", published=NOW - 4 * DAY, appeared=NOW)) == NOW


def test_a_new_version_does_not_make_a_paper_new() -> None:
    replaced = paper("A", published=NOW - 400 * DAY, appeared=NOW, announce="replace-cross")
    assert readable_since(replaced) == NOW - 400 * DAY
    assert fresh_words(replaced) == ""


def test_without_any_date_but_ours_it_is_as_new_as_to_us_and_without_that_not_fresh() -> None:
    assert readable_since(paper("A", published=None, seen=NOW)) == NOW
    assert fresh(paper("A", published=None)) == 0
    assert fresh_words(paper("A", published=None)) == ""


def test_what_lies_in_the_future_is_no_fresher_than_now() -> None:
    assert fresh(paper("A", published=NOW + DAY)) == 1


def test_a_repository_is_as_fresh_as_what_happened_to_it_and_a_push_is_nothing() -> None:
    pushed = repo("a/b", published=NOW - 2000 * DAY, updated=NOW, stars=90_000)
    event = Event(NOW - 3 * DAY, "released v2.0 3 days ago")
    assert (fresh(pushed), fresh_words(pushed)) == (0, "")
    assert fresh(pushed, event) == pytest.approx(0.5)
    assert fresh_words(pushed, event) == "released v2.0 3 days ago"
    assert fresh(pushed, event, Event(NOW, "★ +900 in 3 days")) == 1


def test_stars_that_an_event_tells_are_not_told_twice() -> None:
    gained, stood = stars((3, 1000), (0, 1412)), stars((0, 310))
    jump, created = Event(NOW, "★ +412 in 3 days"), Event(NOW, "created today, ★310")
    item = repo("a/b", stars=1412)
    assert community_reason(item, community_signals(item, gained, NOW), (jump,)) == ""
    assert community_reason(item, community_signals(item, gained, NOW), (created,)) == "412 stars in 3 days"
    assert community_reason(item, community_signals(item, stood, NOW), (created,)) == ""
