from datetime import timedelta

from bot.models import Reading
from bot.rank.trending import LEAST, rising, upvotes_in_words
from tests.conftest import NOW
from tests.fakes.works import paper, repo


def read(days_ago: int, stars: int | None = None, upvotes: int | None = None) -> Reading:
    return Reading((NOW - timedelta(days=days_ago)).date(), stars=stars, upvotes=upvotes)


def test_what_gains_most_stars_a_day_comes_first() -> None:
    slow, fast, young = repo("a/slow"), repo("a/fast"), repo("a/young", published=NOW - timedelta(days=2), stars=5000)
    readings = {slow.key: [read(6, 100), read(0, 700)], fast.key: [read(2, 100), read(1, 1300)]}

    found = rising([slow, fast, young], readings, NOW)

    assert [(each.item.title, each.said) for each in found] == [
        ("a/young", "★ +5,000 since it was created"),
        ("a/fast", "★ +1,200 in 1 day"),
        ("a/slow", "★ +600 in 6 days"),
    ]


def test_what_nobody_counted_twice_of_late_does_not_rise() -> None:
    once, stale, still, little = repo("a/once"), repo("a/stale"), repo("a/still"), repo("a/little")
    readings = {
        once.key: [read(0, 900)],
        stale.key: [read(7, 100), read(5, 900)],
        still.key: [read(3, 100), read(0, 90)],
        little.key: [read(1, 100), read(0, 100 + LEAST - 1)],
    }

    assert rising([once, stale, still, little, repo("a/unread"), paper("2606.01234")], readings, NOW) == []


def test_lists_forks_and_archives_are_no_trend() -> None:
    some = [repo("a/awesome-gpu"), repo("a/fork", fork=True), repo("a/old", archived=True), repo("a/gone", withdrawn=True)]

    assert rising(some, {each.key: [read(1, 10), read(0, 900)] for each in some}, NOW) == []


def test_what_upvotes_gained_is_said_where_it_is_known() -> None:
    assert upvotes_in_words([], NOW) == ""
    assert upvotes_in_words([read(2, upvotes=83), read(0, upvotes=123)], NOW) == "▲ +40 in 2 days"
    assert upvotes_in_words([read(2, upvotes=123), read(0, upvotes=123)], NOW) == ""
