"""Whatever is typed, there is an answer, from a store of files too: the short form of benchmarks.commands."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.commands import parse
from bot.errors import UsageError
from bot.models import Reply
from bot.store.sqlite.store import SqliteStore
from tests.bot.commands.lines import LONGEST, SHARES, World, lines
from tests.bot.handlers.askers import PAPERS, Asker, asker
from tests.conftest import tries

NUMBER = tries(2000)
WORLD = World(("own", "kv"), [paper.key for paper in PAPERS], [paper.title for paper in PAPERS])


async def outcome(ada: Asker, text: str) -> Reply | UsageError:
    try:
        reply = await ada.give(parse(text))
    except UsageError as error:
        return error
    for button in (*reply.buttons, *(button for entry in reply.entries for button in entry.buttons)):
        parse(button.command)
    return reply


@pytest.mark.no_cover
async def test_any_line_gives_a_reply_whose_buttons_can_be_pressed_or_a_usage_error(now: datetime, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "broadsheet.db")
    await store.open()
    await store.items.add(PAPERS, now - timedelta(hours=2))
    ada = asker(store, now)
    for text in ("topic create own cache OR GPU", "subscribe own", "subscribe kv filter kind:paper"):
        await ada.ask(text)

    found = [(line, await outcome(ada, line.text)) for line in lines(NUMBER, WORLD)]

    await store.close()
    assert {line.sort for line, answer in found if isinstance(answer, Reply)} == set(SHARES)
    assert {line.sort for line, answer in found if isinstance(answer, UsageError)} == set(SHARES)


def test_lines_are_the_same_each_time_and_fit_into_a_message() -> None:
    first, second = list(lines(300, WORLD)), list(lines(300, WORLD))

    assert first == second
    assert max(len(line.text) for line in first) <= LONGEST
