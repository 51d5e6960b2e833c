"""While nobody is heard in a chat, it is said since when and why."""

from datetime import UTC, datetime, timedelta

from adapters.chat.connection import Outage

BEGUN = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)


def test_an_outage_begins_with_the_service_and_ends_when_people_are_heard() -> None:
    outage = Outage("Slack", lambda: BEGUN)
    assert outage.lasts
    assert outage.sentence() == "Slack is not heard since 2026-04-01 09:00 UTC: it is being connected. It is tried again."
    outage.end()
    assert (outage.lasts, outage.sentence()) == (False, "")


def test_a_new_reason_leaves_the_beginning_as_it_was() -> None:
    moments = iter((BEGUN, BEGUN + timedelta(hours=1), BEGUN + timedelta(hours=2)))
    outage = Outage("Discord", lambda: next(moments))
    outage.begin("the token was not taken")
    assert outage.sentence().startswith("Discord is not heard since 2026-04-01 09:00 UTC: the token was not taken.")
    outage.end()
    outage.begin("the connection was closed")
    outage.begin("it failed again")
    assert outage.sentence().startswith("Discord is not heard since 2026-04-01 10:00 UTC: it failed again.")
