"""Whatever is asked, there is an answer: the law of the handlers."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.commands import Command, DeleteTopic, EditTopic, ShowTopic, parse
from bot.handlers.handle import answer
from bot.models import Reply
from tests.bot.commands.generate import commands
from tests.bot.handlers.askers import PAPERS, Waiting, asker
from tests.conftest import NOW

TOPICS = ("kv", "own", "gpu-systems")
COMMANDS = commands()
ITEMS = ("2603.00001", "2603.00004", "KV cache")


@st.composite
def aimed(draw: st.DrawFn) -> Command:
    """A command that more often than not names a topic and an item that there are."""
    command = draw(COMMANDS)
    for field, known in (("topic", TOPICS), ("item", ITEMS)):
        if getattr(command, field, "") and draw(st.integers(0, 3)):
            command = replace(command, **{field: draw(st.sampled_from(known))})
    if isinstance(command, EditTopic | ShowTopic | DeleteTopic) and draw(st.integers(0, 3)):
        command = replace(command, name=draw(st.sampled_from(TOPICS)))
    return command


async def answers(given_commands: list[Command]) -> list[Reply]:
    store = Waiting()
    await store.items.add(PAPERS, NOW - timedelta(hours=2))
    ada = asker(store, NOW)
    for text in (
        "topic create own cache OR GPU",
        "subscribe own",
        "subscribe kv filter kind:paper",
        "more 2603.00001 for kv",
    ):
        await ada.ask(text)
    return [await answer(ada.context, command, ada.actor, ada.now) for command in given_commands]


@given(st.lists(aimed(), min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
def test_any_command_is_answered_and_every_button_can_be_pressed(
    caplog: pytest.LogCaptureFixture, given_commands: list[Command]
) -> None:
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        replies = asyncio.run(answers(given_commands))

    assert not caplog.records
    for reply in replies:
        assert reply.title
        for button in (*reply.buttons, *(button for entry in reply.entries for button in entry.buttons)):
            parse(button.command)
