from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import Item, Reading, Release
from bot.rank import ItemIndex
from bot.rank.events import CREATED, RELEASED, events, in_words, is_newly_released
from tests.bot.rank.make import NOW, paper, repo

DAY = timedelta(days=1)
OLD = NOW - 2000 * DAY


def stars(*counts: tuple[int, int | None]) -> list[Reading]:
    return [Reading(NOW.date() - timedelta(days=ago), stars=count) for ago, count in counts]


def released(tag: str, ago: timedelta = DAY, *, prerelease: bool = False) -> Item:
    return repo("a/b", published=OLD, release=Release(tag=tag, published=NOW - ago, prerelease=prerelease))


def said(item: Item, readings: list[Reading] | None = None, its_paper: Item | None = None) -> str:
    return in_words(events(item, readings or [], NOW, its_paper))


def test_a_famous_repository_that_was_pushed_today_has_no_event() -> None:
    famous = repo("a/b", published=OLD, updated=NOW, stars=190_000, forks=30_000)
    assert said(famous, stars((3, 189_700), (2, 189_800), (1, 189_900), (0, 190_000))) == ""


# --- created


@pytest.mark.parametrize(
    ("days", "count", "words"),
    [
        (0, 20, "created today, ★20"),
        (0, 19, ""),
        (4, 310, "created 4 days ago, ★310"),
        (4, 19, ""),
        (10, 49, ""),
        (10, 50, "created 10 days ago, ★50"),
        (15, 9000, ""),
        (-3, 9000, ""),
    ],
)
def test_a_new_repository_is_news_while_it_rises(days: int, count: int, words: str) -> None:
    assert said(repo("a/b", published=NOW - days * DAY, stars=count)) == words


def test_of_a_repository_of_unknown_age_or_stars_nothing_is_made_up() -> None:
    assert said(repo("a/b", stars=500)) == said(repo("a/b", published=NOW)) == ""


# --- released


@pytest.mark.parametrize("tag", ["v0.9", "v2.1.0", "3.0", "core==1.4.0", "v4", "release-2.0", "2026.6", "pkg@12.0.0"])
def test_a_release_is_news_for_a_week(tag: str) -> None:
    assert said(released(tag)) == f"released {tag} yesterday"
    assert said(released(tag, RELEASED)) == f"released {tag} 7 days ago"
    assert said(released(tag, RELEASED + DAY)) == said(released(tag, -3 * DAY)) == ""


@pytest.mark.parametrize(
    "tag", ["v2.1.1", "0.11.4", "core==1.4.2", "2026.06.14", "b5712", "nightly", "", "20260614", "weekly-12"]
)
def test_a_correction_a_build_and_a_date_are_no_release_to_be_told_of(tag: str) -> None:
    assert said(released(tag)) == ""


@pytest.mark.parametrize(
    "tag", ["v2.0.0-rc1", "v2.0rc1", "1.0.0-alpha.3", "v3.0-beta", "2.0.0.dev1", "v1.0b2", "v2.0-preview"]
)
def test_what_is_not_finished_is_not_released(tag: str) -> None:
    assert said(released(tag)) == said(released("v2.0", prerelease=True)) == ""


def test_a_tag_that_would_fill_the_line_is_left_out() -> None:
    assert said(released("v2.0.0-" + "linux-" * 9)) == "released a version yesterday"


# --- stars


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        (((3, 4000), (0, 5200)), "★ +1,200 in 3 days"),
        (((9, 100), (2, 4000), (1, 4100), (0, 5200)), "★ +1,200 in 2 days"),
        (((1, 40), (0, 90)), "★ +50 in 1 day"),
        (((1, 40), (0, 89)), ""),  # few
        (((3, 100_000), (0, 104_999)), ""),  # few beside those that stood
        (((3, 100_000), (0, 105_000)), "★ +5,000 in 3 days"),
        (((5, 100), (4, 5000)), ""),  # long ago
        (((9, 100), (0, 5000)), ""),  # nobody knows when
        (((1, None), (0, 5000)), ""),
        (((3, 5000), (0, 100)), ""),
        ((), ""),
    ],
)
def test_a_jump_in_stars_is_one_of_the_last_days_and_of_its_size(
    readings: tuple[tuple[int, int | None], ...], words: str
) -> None:
    assert said(repo("a/b", published=OLD, stars=5000), stars(*readings)) == words


# --- code of a paper


@pytest.mark.parametrize(
    "name",
    [
        *("o/awesome-go", "o/Awesome-RL-for-LRMs", "o/book", "o/ggplot2-book", "o/CodexGuide", "o/CS-Notes", "o/JavaGuide"),
        *("Introduction-to-Autonomous-Robots/Introduction-to-Autonomous-Robots", "o/iOSInterviewQuestions", "o/fp-course"),
    ],
)
def test_the_stars_of_books_lists_and_interview_questions_are_no_news(name: str) -> None:
    assert said(repo(name, published=OLD, stars=2078), stars((3, 1828), (0, 2078))) == ""
    assert said(repo(name, published=NOW - 4 * DAY, stars=310)) == ""
    released = repo(name, published=OLD, release=Release(tag="v2.0", published=NOW - DAY, prerelease=False))
    assert said(released) == "released v2.0 yesterday"


@pytest.mark.parametrize(
    "name", ["awesome/kernels", "o/exercises-dataset", "o/notebook", "o/guided-diffusion", "o/facebook"]
)
def test_the_stars_of_software_data_and_models_are(name: str) -> None:
    assert said(repo(name, published=OLD, stars=2078), stars((3, 1828), (0, 2078))) == "★ +250 in 3 days"


def test_the_code_of_a_paper_that_was_just_announced_is_news() -> None:
    new = paper("A Cache", appeared=NOW)
    assert said(repo("a/b", published=NOW - 60 * DAY), its_paper=new) == 'code of "A Cache"'
    assert said(repo("a/b"), its_paper=new) == 'code of "A Cache"'
    assert said(repo("a/b", published=OLD, stars=150_000), its_paper=new) == ""  # it was not made for this paper


@pytest.mark.parametrize(
    "other", [{"appeared": NOW - 8 * DAY}, {"withdrawn": True}, {"appeared": NOW, "announce": "replace-cross"}]
)
def test_the_code_of_any_other_paper_is_none(other: dict[str, Any]) -> None:
    assert said(repo("a/b"), its_paper=paper("A Cache", **other)) == ""


def test_the_index_knows_the_paper_whichever_of_the_two_names_the_other() -> None:
    new = paper("A Cache", appeared=NOW)
    pointing, named = repo("a/b", paper=new.key), repo("c/d")
    index = ItemIndex([new, pointing, paper("B", appeared=NOW, repo=named.key), named, repo("e/f", updated=NOW)], {}, NOW)
    assert [in_words(index.events(number)) for number in range(5)] == ["", 'code of "A Cache"', "", 'code of "B"', ""]
    assert [index.is_news(number) for number in range(5)] == [True, True, True, True, False]
    beside = index.beside([pointing, named], {})
    assert [in_words(beside.events(number)) for number in range(2)] == ['code of "A Cache"', 'code of "B"']


# --- all of them


def test_the_two_that_say_most_are_told() -> None:
    item = repo("a/b", published=NOW - 2 * DAY, stars=900, release=Release(tag="v1.0", published=NOW))
    assert said(item, stars((1, 400), (0, 900))) == "released v1.0 today, ★ +500 in 1 day"


def test_a_paper_and_what_was_withdrawn_have_none() -> None:
    assert said(paper("A", published=NOW, stars=999)) == said(repo("a/b", published=NOW, stars=999, withdrawn=True)) == ""


counts = st.none() | st.integers(0, 10**7)
# --- what a collection brings of a stored repository


@pytest.mark.parametrize(
    ("before", "after", "is_news"),
    [
        (None, released("v2.0"), True),
        (released("v1.9"), released("v2.0"), True),
        (released("v2.0", prerelease=True), released("v2.0"), True),
        (released("v2"), released("2.0.0"), False),
        (released("v2.0"), released("v2.0.1"), False),
        (released("v2.0"), released("v2.1rc1"), False),
        (released("v1.9"), released("v2.0", 8 * DAY), False),
        (released("v1.9"), repo("a/b"), False),
    ],
)
def test_a_release_is_new_where_it_is_news_and_another_one_was_known(
    before: Item | None, after: Item, is_news: bool
) -> None:
    assert is_newly_released(after, before or repo("a/b"), NOW) == is_news
    assert not is_newly_released(after, None, NOW), "what is not stored yet has an arrival of its own"


spans = st.none() | st.integers(-40, 4000)


@given(
    spans, spans, counts, st.lists(st.tuples(st.integers(-2, 40), counts), max_size=5), st.text(max_size=30), st.booleans()
)
def test_the_pushes_and_the_standing_stars_of_an_old_repository_never_make_an_event(
    pushed: int | None, made: int | None, count: int | None, read: list[tuple[int, int | None]], tag: str, pre: bool
) -> None:
    times = [None if ago is None else NOW - ago * DAY for ago in (pushed, made)]
    release = Release(tag=tag, published=NOW - 8 * DAY, prerelease=pre)
    item = repo("a/b", updated=times[0], published=times[1], stars=count, release=release)
    found = events(item, stars(*read), NOW)
    assert found == events(repo("a/b", published=times[1], stars=count), stars(*read), NOW)
    assert all("★" in event.said for event in found)
    assert made is None or made <= CREATED.days or not any("created" in event.said for event in found)
