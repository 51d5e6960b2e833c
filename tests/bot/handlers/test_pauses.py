from datetime import UTC, datetime, timedelta

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

    await monday.ask("pause kv")
    await monday.at(monday.now + timedelta(days=3)).ask("resume kv")

    (after,) = await ada.here()
    assert after.baseline == datetime(2026, 4, 6, 12, tzinfo=UTC)  # when the last digest was due


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

    assert "Paused until somebody resumes it: The channel is archived." in said(await ada.ask("list")).splitlines()
    await ada.ask("resume kv")
    assert (await ada.here())[0].paused_because == ""
