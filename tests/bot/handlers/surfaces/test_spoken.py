"""What is answered to a message: its command, one line to a greeting, and no more than anybody can read."""

from datetime import timedelta

import pytest

from bot.commands import TABLE, Command, Help, Search, Show, Similar, Unreadable, heard
from bot.handlers.surfaces.spoken import MessageRate, Turn, answer_heard, for_one_alone, may_be_open, too_many
from bot.models import Reply, ReplyEntry
from tests.conftest import NOW


class Asked:
    """Answers everything with as many entries as it is told, and notes what was asked."""

    def __init__(self, *, finds: bool) -> None:
        self.finds = finds
        self.asked: list[Command | Unreadable] = []

    async def __call__(self, asked: Command | Unreadable) -> Reply:
        self.asked.append(asked)
        found = self.finds and isinstance(asked, Search)
        return Reply(title=type(asked).__name__, entries=(ReplyEntry(title="One"),) if found else ())


async def test_a_greeting_is_answered_in_one_line_without_asking() -> None:
    ask = Asked(finds=True)

    reply = await answer_heard(heard("hi"), ask)

    assert (len(reply.text), [each.command for each in reply.buttons], ask.asked) == (1, ["help"], [])


@pytest.mark.parametrize(("finds", "title"), [(True, "Search"), (False, "Unreadable")])
async def test_a_slip_in_a_command_is_told_where_a_search_for_it_finds_nothing(title: str, *, finds: bool) -> None:
    reply = await answer_heard(heard("subscibe gpu-systems"), Asked(finds=finds))

    assert reply.title == title


def test_openly_is_answered_what_tells_nothing_of_who_asks_and_changes_nothing() -> None:
    openly = {usage.command for usage in TABLE if may_be_open(heard(usage.example))}

    assert openly == {Help, Search, Show, Similar}
    assert may_be_open(heard("hi"))
    assert may_be_open(heard("subscribe"))


def test_what_is_not_answered_openly_is_a_button_away() -> None:
    (button,) = for_one_alone(Search("gpu")).buttons

    assert button.command == "search gpu"


def test_ten_messages_a_minute_of_one_person_are_answered_and_the_next_is_told_once() -> None:
    rate = MessageRate()

    turns = [rate.turn("slack:T1 U1", NOW + timedelta(seconds=number)) for number in range(13)]

    assert turns == [Turn.ANSWERED] * 10 + [Turn.TOLD, Turn.LEFT, Turn.LEFT]
    assert rate.turn("slack:T1 U2", NOW) is Turn.ANSWERED
    assert rate.turn("slack:T1 U1", NOW + timedelta(seconds=75)) is Turn.ANSWERED
    assert "10 messages a minute" in too_many().text[0]


def test_a_clock_that_is_put_back_keeps_nobody_waiting() -> None:
    rate = MessageRate()
    for _ in range(12):
        rate.turn("slack:T1 U1", NOW)

    assert rate.turn("slack:T1 U1", NOW - timedelta(hours=1)) is Turn.ANSWERED
