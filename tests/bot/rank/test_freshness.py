from datetime import timedelta

import pytest

from bot.rank.freshness import moment, reason, value
from tests.bot.rank.make import NOW, paper, repo

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, "new today"), (1, "new yesterday"), (2, "2 days old"), (7, "7 days old"), (8, ""), (-1, "new today")],
)
def test_a_paper_says_how_old_it_is_while_it_is_news(days: int, words: str) -> None:
    assert reason(paper("A", published=NOW - days * DAY), NOW) == words


def test_a_paper_is_half_as_fresh_after_three_days() -> None:
    assert value(paper("A", published=NOW), NOW) == 1
    assert value(paper("A", published=NOW - 3 * DAY), NOW) == pytest.approx(0.5)


def test_a_paper_is_as_new_as_its_announcement() -> None:
    assert moment(paper("A", published=NOW - 4 * DAY, appeared=NOW)) == NOW


def test_a_new_version_does_not_make_a_paper_new() -> None:
    replaced = paper("A", published=NOW - 400 * DAY, appeared=NOW, announce="replace-cross")
    assert moment(replaced) == NOW - 400 * DAY
    assert reason(replaced, NOW) == ""


def test_without_any_date_but_ours_it_is_as_new_as_to_us_and_without_that_not_fresh() -> None:
    assert moment(paper("A", published=None, seen=NOW)) == NOW
    assert value(paper("A", published=None), NOW) == 0
    assert reason(paper("A", published=None), NOW) == ""


def test_what_lies_in_the_future_is_no_fresher_than_now() -> None:
    assert value(paper("A", published=NOW + DAY), NOW) == 1


def test_a_young_repository_says_when_it_was_made_and_an_old_one_when_it_was_worked_on() -> None:
    assert reason(repo("a/b", published=NOW - 2 * DAY, updated=NOW), NOW) == "created 2 days ago"
    assert reason(repo("a/b", published=NOW - 90 * DAY, updated=NOW - DAY), NOW) == "last push yesterday"
    assert reason(repo("a/b", published=NOW - 90 * DAY, updated=NOW - 60 * DAY), NOW) == ""


def test_recent_work_on_an_old_repository_is_worth_half_of_a_new_one_at_most() -> None:
    old = NOW - 2000 * DAY
    assert value(repo("a/b", published=NOW), NOW) == 1
    assert value(repo("a/b", published=old, updated=NOW), NOW) == pytest.approx(0.5)
    assert value(repo("a/b", published=old, updated=NOW - 14 * DAY), NOW) == pytest.approx(0.25)
    assert value(repo("a/b", published=old, updated=old), NOW) < 0.001
