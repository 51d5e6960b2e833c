from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.handlers.subscriptions.pause import FURTHEST, read_day
from tests.bot.handlers.askers import Asker, button, said, stored


async def test_resuming_what_goes_on_already_leaves_out_no_digest_that_is_late(ada: Asker) -> None:
    await ada.ask("subscribe kv at 12:00")
    await ada.ask("pause kv until 2026-04-03")
    (paused,) = await ada.here()

    reply = await ada.at(ada.now + timedelta(days=4)).ask("resume kv")

    assert reply.title == "KV cache is not paused"
    (subscription,) = await ada.here()
    assert (subscription.paused, subscription.paused_until, subscription.baseline) == (False, None, paused.baseline)


async def test_pausing_for_good_and_resuming(ada: Asker) -> None:
    await ada.ask("subscribe kv at 12:00")

    paused = await ada.ask("pause kv")
    assert paused.title == "KV cache is paused"
    assert paused.text[0] == "Paused until somebody resumes it."
    assert "Paused until somebody resumes it." in said(await ada.ask("list"))
    assert (await ada.ask("pause kv")).title == "KV cache is paused already"

    later = ada.at(ada.now + timedelta(days=9, hours=10))
    resumed = await later.ask(button(paused, "Resume"))
    assert resumed.title == "KV cache goes on"
    assert resumed.text == (
        "The next digest comes Saturday 11 April at 12:00, in 19 hours.",
        "It looks at what has come in since Friday 10 April at 12:00; digests that were due in the pause are left out.",
    )
    (subscription,) = await ada.here()
    assert not subscription.paused
    assert subscription.baseline == datetime(2026, 4, 10, 12, tzinfo=UTC)
    assert (await later.ask("resume kv")).title == "KV cache is not paused"


async def test_a_pause_between_two_digests_loses_nothing(ada: Asker) -> None:
    await ada.ask("subscribe kv weekly at 12:00")
    monday = ada.at(datetime(2026, 4, 6, 13, tzinfo=UTC))
    (before,) = await ada.here()

    await monday.ask("pause kv")
    await monday.at(monday.now + timedelta(days=3)).ask("resume kv")

    (after,) = await ada.here()
    assert (after.baseline, after.baseline_arrival) == (before.baseline, before.baseline_arrival)


async def test_a_pause_before_the_first_digest_brings_nothing_older_than_the_subscription(ada: Asker) -> None:
    await ada.ask("subscribe kv weekly at 12:00")
    await ada.ask("pause kv until 3w")

    await ada.at(ada.now + timedelta(hours=1)).ask("resume kv")

    (after,) = await ada.here()
    assert after.baseline == after.made_at == ada.now


async def test_a_pause_until_a_day_ends_as_that_day_begins_in_the_schedules_zone(ada: Asker) -> None:
    await ada.ask("subscribe kv at 09:00 in Tokyo")

    reply = await ada.ask("pause kv until monday")

    (paused,) = await ada.here()
    assert paused.paused_until == datetime(2026, 4, 5, 15, tzinfo=UTC)
    assert reply.text == (
        "Paused until Monday 6 April at 00:00, in 4 days 8 hours.",
        "The next digest comes Monday 6 April at 09:00, in 4 days 17 hours.",
        "4 digests before it will be left out, and not made up for.",
    )
    assert paused.baseline == datetime(2026, 4, 5, tzinfo=UTC)  # Sunday's was due then
    monday = ada.at(datetime(2026, 4, 5, 15, tzinfo=UTC))
    assert "Paused" not in said(await monday.ask("list"))


async def test_a_shorter_pause_takes_the_place_of_a_longer_one_whole(ada: Asker) -> None:
    await ada.ask("subscribe kv at 12:00")
    await ada.ask("pause kv until 2w")

    await ada.ask("pause kv until tomorrow")

    (paused,) = await ada.here()
    assert paused.paused_until == datetime(2026, 4, 2, tzinfo=UTC)
    assert paused.baseline == datetime(2026, 4, 1, 12, tzinfo=UTC)


async def test_a_shorter_pause_with_no_digest_in_it_leaves_none_out(ada: Asker) -> None:
    await ada.ask("subscribe kv weekly")
    await ada.ask("pause kv until 3w")

    reply = await ada.ask("pause kv until tomorrow")

    assert reply.text[1:] == ("The next digest comes Monday 6 April at 09:00, in 5 days 2 hours.",)
    assert (await ada.here())[0].baseline == ada.now


async def test_a_pause_until_midnight_holds_no_digest_of_midnight_back(ada: Asker) -> None:
    await ada.ask("subscribe kv at 00:00")

    reply = await ada.ask("pause kv until 3d")

    assert "The next digest comes Saturday 4 April at 00:00" in said(reply)
    assert "2 digests before it will be left out" in said(reply)


async def test_a_subscription_that_is_changed_while_it_is_paused_stays_paused(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.ask("pause kv")

    reply = await ada.ask("subscribe kv at 10:00")

    assert "Paused until somebody resumes it." in reply.text
    assert "Next: when it is resumed" in said(reply)
    assert "Resume" in [each.label for each in reply.buttons]


async def test_why_something_was_paused_is_told_and_forgotten_when_it_goes_on(ada: Asker) -> None:
    await stored(ada, paused=True, paused_because="The channel is archived.")

    line = "Paused by Broadsheet: The channel is archived. When that is mended, it goes on by itself."
    assert line in said(await ada.ask("list")).splitlines()
    await ada.ask("resume kv")
    assert (await ada.here())[0].paused_because == ""


WEDNESDAY = date(2026, 4, 1)


@pytest.mark.parametrize(
    ("typed", "day"),
    [
        ("2026-12-01", date(2026, 12, 1)),
        ("2026-4-2", date(2026, 4, 2)),
        ("tomorrow", date(2026, 4, 2)),
        ("Tomorrow.", date(2026, 4, 2)),
        ("thursday", date(2026, 4, 2)),
        ("Wed", date(2026, 4, 8)),
        ("tues", date(2026, 4, 7)),
        ("next monday", date(2026, 4, 6)),
        ("on friday", date(2026, 4, 3)),
        ("next week", date(2026, 4, 6)),
        ("next month", date(2026, 5, 1)),
        ("3d", date(2026, 4, 4)),
        ("2w", date(2026, 4, 15)),
        ("1 month", date(2026, 5, 1)),
        ("in 10 days", date(2026, 4, 11)),
        ("for two weeks", date(2026, 4, 15)),
        ("a fortnight", date(2026, 4, 15)),
        ("1 December", date(2026, 12, 1)),
        ("Dec 1", date(2026, 12, 1)),
        ("1st of december 2027", date(2027, 12, 1)),
        ("March 31st", date(2027, 3, 31)),
        ("the 7th of sept", date(2026, 9, 7)),
    ],
)
def test_the_days_that_people_write_are_read(typed: str, day: date) -> None:
    assert read_day(typed, WEDNESDAY) == day


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("2026-04-01", "2026-04-01 is not ahead: today is 2026-04-01"),
        ("2020-01-01", "is not ahead"),
        ("0d", "is not ahead"),
        ("2026-02-30", "no day that I can read"),
        ("30 february", "no day that I can read"),
        ("9999w", "more than two years ahead"),
        ("3000-01-01", "more than two years ahead"),
        ("1 december 0", "no day that I can read"),
        ("whenever", "no day that I can read"),
        ("t", "no day that I can read"),
        ("ma 5", "no day that I can read"),
        ("1.12.", "no day that I can read"),
    ],
)
def test_what_is_no_day_ahead_is_said_to_be_none(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as raised:
        read_day(typed, WEDNESDAY)
    assert raised.value.hint


def test_a_month_later_is_the_last_day_of_a_month_that_is_shorter() -> None:
    assert read_day("1m", date(2027, 1, 31)) == date(2027, 2, 28)


@given(st.text(max_size=30) | st.from_regex(r"[0-9]{0,4}[-. dwm]?[a-z0-9 -]{0,12}", fullmatch=True), st.dates())
def test_any_text_is_a_day_ahead_or_a_usage_error(typed: str, today: date) -> None:
    try:
        day = read_day(typed, today)
    except UsageError:
        return
    assert timedelta(0) < day - today <= FURTHEST
