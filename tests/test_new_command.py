"""A new command is one declaration and one handler: then everything knows it, and no third file is touched."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
DECLARED_IN, HANDLED_IN = "bot/commands/service.py", "bot/handlers/hush.py"
DECLARATION = '''

@declared("hush", Group.SERVICE, example="hush", aliases=("quieten",))
@dataclass(frozen=True, slots=True)
class Hush(Command):
    """Say nothing here for an hour."""
'''
HANDLER = """
from datetime import datetime

from bot.commands import Hush
from bot.handlers.context import HandlerContext
from bot.handlers.context import handles
from bot.models import Actor, Reply


@handles(Hush)
async def hush(context: HandlerContext, command: Hush, actor: Actor, now: datetime) -> Reply:
    return Reply(title="Hushed")
"""
PROBE = """
import asyncio, json, sys
from adapters.cli.main import cli
from adapters.discord.install.command_tree import chosen, tree
from adapters.words import spans
from bot.commands import TABLE, Help, Hush, help_for, read, write
from bot.handlers.handle import answer
from bot.models import Actor

asks = Actor(platform="terminal", workspace="local", channel="local", person="ada")
given = {"options": [{"type": 1, "name": "hush", "options": []}]}
usage, values = chosen(given)
print(json.dumps({
    "read": [read(text) == Hush() for text in ("hush", "/digest Hush", "quieten")],
    "over": str(read("hush now").error),
    "near": str(read("hsuh").error.hint),
    "written": write(Hush()),
    "syntax": help_for("hush").syntax,
    "help": [line for entry in asyncio.run(answer(None, Help("all"), None, None)).entries for line in entry.lines],
    "terminal": cli.commands["hush"].help,
    "discord": [each["description"] for each in tree()[0]["options"] if each["name"] == "hush"],
    "chosen": usage.command.chosen(values) == Hush(),
    "marked": spans("*hush* is for that.")[0][0],
    "told": asyncio.run(answer(None, read("quieten"), asks, None)).title,
}))
"""


def _copied(source: str, target: str) -> None:
    """Copy a module; point at anything else, which is large and read alone."""
    if source.endswith(".py"):
        shutil.copyfile(source, target)
    else:
        Path(target).symlink_to(source)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What everything says of the command in a copy of the code to which the two files were given."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("bot", "adapters"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"), copy_function=_copied)
    with (copy / DECLARED_IN).open("a", encoding="utf-8") as declarations:
        declarations.write(DECLARATION)
    (copy / HANDLED_IN).write_text(HANDLER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def test_a_new_command_is_read_and_written(found: dict[str, Any]) -> None:
    assert found["read"] == [True, True, True]
    assert found["written"] == "hush"
    assert found["syntax"] == "hush"
    assert found["over"] == '*hush* does not understand "now".'
    assert found["near"].startswith("Did you mean *hush*?")


def test_a_new_command_is_answered_by_its_handler(found: dict[str, Any]) -> None:
    assert found["told"] == "Hushed"


def test_a_new_command_stands_in_the_help_the_terminal_and_discord(found: dict[str, Any]) -> None:
    assert "*hush*: Say nothing here for an hour." in found["help"]
    assert found["terminal"] == "Say nothing here for an hour.\n\n\b\nFor example: broadsheet hush"
    assert found["discord"] == ["Say nothing here for an hour."]
    assert found["chosen"]
    assert found["marked"] == "/digest hush"
