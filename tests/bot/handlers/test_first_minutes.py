"""What a stranger types in the first five minutes, and the titles of the answers: docs/commands.md shows the same.

`UPDATE_GOLDEN=1 python -m pytest tests/bot/handlers/test_first_minutes.py` writes them anew.
"""

import os
import re
from pathlib import Path

from bot.commands import read
from bot.handlers.handle import answer
from bot.models import Reply
from tests.bot.handlers.askers import Asker, about
from tests.fakes.works import repo

DOCUMENT = Path(__file__).parents[3] / "docs" / "commands.md"
HEAD = "| typed | answered |\n|---|---|\n"
LINES = (
    "",
    "hello",
    "help",
    "kv cache",
    "search kv cache",
    "search chace",
    "serch gpu",
    "search zymurgy",
    "latest",
    "papers about sharding",
    "author Ada Lovelace",
    "trending",
    "top papers",
    "trends kv",
    "arxiv.org/abs/2603.00001v2",
    "show 2603.00003",
    "abstract 2603.00003",
    "tldr 2603.00003",
    "cite 2603.00003",
    "similar 2603.00003",
    "topics",
    "subscribe kv",
    "subscribe kv at 25:00",
    'follow "paged attention"',
    "list",
    "now kv",
    "why 2603.00003 for kv",
    "save 2603.00003",
    "saved",
    "stats",
    "rss",
    "unfollow kv",
    "feedback",
)


async def _answers(ada: Asker) -> list[tuple[str, Reply]]:
    """Ask one line after the other in a workspace that has just begun."""
    await ada.context.store.items.add(
        [about(30, "Sharding under load", upvotes=40, published=ada.now), repo("acme/gpu-kit", published=ada.now, stars=90)],
        ada.now,
    )
    return [(line, await answer(ada.context, read(line), ada.actor, ada.now)) for line in LINES]


def _row(line: str, reply: Reply) -> str:
    said = reply.title if reply.title != "That did not work" else " ".join(reply.text)
    return f"| {f'`{line}`' if line else '(nothing)'} | {said} |".replace("*", "_") + "\n"


async def test_the_first_lines_of_a_stranger_are_answered_as_the_document_says(ada: Asker) -> None:
    rows = "".join(_row(line, reply) for line, reply in await _answers(ada))

    text = DOCUMENT.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        DOCUMENT.write_text(re.sub(rf"{re.escape(HEAD)}(?:\|.*\n)*", lambda _: HEAD + rows, text), encoding="utf-8")
        text = DOCUMENT.read_text(encoding="utf-8")
    assert len(LINES) >= 30
    assert HEAD + rows in text


async def test_no_first_line_fails_without_saying_what_to_do(ada: Asker) -> None:
    for line, reply in await _answers(ada):
        assert "on our side" not in " ".join(reply.text), line
        if reply.title == "That did not work":
            assert len(reply.text) <= 2, line
            assert reply.buttons, line
            assert not reply.fields, line
