"""`broadsheet init` as a person meets it: in a terminal by questions, without one by options; the chats behind sockets."""

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.cli.exits import Exit
from bot.settings.load import Settings, load
from tests.e2e.desk import ENTRY, WARNINGS, Ran
from tests.e2e.terminal import Terminal
from tests.fakes import discord, slack
from tests.fakes.forked import ROOT
from tests.fakes.patience import PATIENCE

NOWHERE = "http://127.0.0.1:9"  # nobody listens there
HIDDEN = "holds it; nothing is shown: "


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's home, without anything in it."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def environ(home: Path, **variables: str) -> dict[str, str]:
    usual = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": WARNINGS}
    return usual | {"TERM": "dumb", "COLUMNS": "200", "TZ": "Europe/Zurich", "LANG": "C.UTF-8"} | variables


def of_slack(fake: slack.FakeSlack) -> dict[str, str]:
    return {"BROADSHEET_SLACK__API_URL": fake.api_url}


def of_discord(fake: discord.FakeDiscord) -> dict[str, str]:
    names = {"API_URL": fake.api_url, "GATEWAY_URL": fake.gateway_url, "CDN_URL": fake.cdn_url}
    return {f"BROADSHEET_DISCORD__{name}": url for name, url in names.items()}


async def ran(home: Path, *arguments: str, variables: Mapping[str, str], typed: str = "") -> Ran:
    """Run the command where there is no terminal."""
    command = [sys.executable, "-c", ENTRY, *arguments]
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=home,
        env=environ(home, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(typed.encode()), PATIENCE)
    assert "Traceback" not in err.decode(), err.decode()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


def written(home: Path) -> Path:
    return home / ".config" / "broadsheet" / "broadsheet.toml"


def kept_beside(path: Path) -> Path:
    (kept,) = path.parent.glob("broadsheet.toml.before-*")
    return kept


async def loaded(path: Path) -> Settings:
    return await asyncio.to_thread(load, path)


def secret(home: Path, name: str, text: str) -> str:
    path = home / name
    path.write_text(f"{text}\n")
    path.chmod(0o600)
    return str(path)


async def test_five_questions_make_the_settings_of_slack_and_no_token_is_shown(home: Path) -> None:
    async with slack.running(tiers=False) as fake:
        terminal = Terminal.start("init", folder=home, environ=environ(home, **of_slack(fake)))
        await terminal.sees("1/5  Which chat")
        terminal.types("slack")
        await terminal.sees("broadsheet slack manifest")
        await terminal.sees(HIDDEN)
        terminal.types("xoxp-of-a-person")
        await terminal.sees("neither such a token (xoxb-…) nor a file")
        await terminal.sees(HIDDEN)
        terminal.types("xoxb-0-T0BROAD-wrong")
        await terminal.sees(HIDDEN)
        terminal.types(secret(home, "app-token", fake.app_token))
        await terminal.sees("Slack: the token was not taken (invalid_auth)")
        await terminal.sees("Give another?")
        terminal.types("")
        await terminal.sees(HIDDEN)
        terminal.types(fake.bot_token)
        await terminal.sees("ok    Slack: in ")
        await terminal.sees("ok    Slack socket: can be opened")
        await terminal.sees("3/5  Time zone [Europe/Zurich]")
        terminal.types("CET")
        await terminal.sees("Name a place: Europe/Berlin")
        terminal.types("new york")
        await terminal.sees("gpu-systems, hci")
        await terminal.sees("4/5  Topics [gpu-systems]")
        terminal.types("gpu-sistems")
        await terminal.sees("Did you mean gpu-systems?")
        terminal.types("gpu-systems, LLM agents")
        await terminal.sees("5/5  ")
        terminal.types("ada")
        await terminal.sees("neither an e-mail address nor a page")
        terminal.types("ada@example.org")
        await terminal.sees(f"Written to {written(home)}, for you alone to read.")
        await terminal.sees(
            "Next: broadsheet run\nthen, in a channel of Slack: /digest subscribe gpu-systems weekdays at 09:00"
        )
        assert await terminal.ends() == Exit.OK

    settings = await loaded(written(home))
    assert (settings.zone, settings.topics) == ("America/New_York", ("gpu-systems", "llm-agents"))
    assert settings.contact == "ada@example.org"
    assert settings.slack.bot_token.get_secret_value() == fake.bot_token
    assert settings.slack.app_token.get_secret_value() == fake.app_token
    assert fake.app_token not in written(home).read_text()
    assert stat.S_IMODE(written(home).stat().st_mode) == 0o600
    assert not {each for each in (fake.bot_token, fake.app_token, "xoxp-", "wrong") if each in terminal.shown}


async def test_discord_by_questions_says_how_the_bot_comes_into_a_server(home: Path) -> None:
    async with discord.running() as fake:
        terminal = Terminal.start("init", folder=home, environ=environ(home, **of_discord(fake)))
        await terminal.sees("1/5  Which chat")
        terminal.types("discord")
        await terminal.sees(HIDDEN)
        terminal.types("MTIz.aaaa.bbbb")
        await terminal.sees("Discord: the token was not taken")
        terminal.types("y")
        await terminal.sees(HIDDEN)
        terminal.types(fake.token)
        await terminal.sees("ok    Discord: application ")
        await terminal.sees("mend  Discord servers: the bot is in no server: open https://discord.com/oauth2/authorize")
        for question in ("3/5", "4/5", "5/5"):
            await terminal.sees(question)
            terminal.types("")
        await terminal.sees("a source can but block you")
        await terminal.sees("broadsheet discord invite\nNext: broadsheet run")
        await terminal.sees("/digest-manage subscribe topic:gpu-systems days:weekdays at:09:00")
        assert await terminal.ends() == Exit.OK
    settings = await loaded(written(home))
    assert (settings.zone, settings.discord.token.get_secret_value()) == ("Europe/Zurich", fake.token)
    assert fake.token not in terminal.shown


async def test_a_chat_that_is_not_reached_is_gone_on_without(home: Path) -> None:
    away = {"BROADSHEET_SLACK__API_URL": NOWHERE}
    terminal = Terminal.start("init", "--chat", "slack", folder=home, environ=environ(home, **away))
    for token in ("xoxb-1", "xapp-1"):
        await terminal.sees(HIDDEN)
        terminal.types(token)
    await terminal.sees("could not be reached")
    await terminal.sees("`broadsheet doctor` tries it later")
    terminal.types("n")
    for question in ("3/5", "4/5", "5/5"):
        await terminal.sees(question)
        terminal.types("")
    assert await terminal.ends() == Exit.OK
    assert (await loaded(written(home))).slack.bot_token.get_secret_value() == "xoxb-1"


async def test_settings_that_are_there_are_replaced_only_where_a_person_says_so(home: Path) -> None:
    path = home / "broadsheet.toml"
    for answer, status in (("", Exit.SETTINGS), ("y", Exit.OK)):
        path.write_text("topics = ['robotics']\n")
        terminal = Terminal.start("init", "--chat", "terminal", folder=home, environ=environ(home))
        await terminal.sees("broadsheet.toml is there already. Write new settings in its place")
        terminal.types(answer)
        if answer:
            for question in ("3/5", "4/5", "5/5"):
                await terminal.sees(question)
                terminal.types("")
            await terminal.sees("What was there is in ")
        assert await terminal.ends() == status
        assert (await loaded(path)).topics == (("gpu-systems",) if answer else ("robotics",))
    kept = kept_beside(path)
    assert kept.read_text() == "topics = ['robotics']\n"


async def test_without_a_terminal_options_say_everything(home: Path) -> None:
    async with slack.running(tiers=False) as fake:
        options = ["--token-file", secret(home, "bot", fake.bot_token), "--app-token-file", "-", "--zone", "Zürich"]
        options += ["--topic", "gpu-systems", "--topic", "robotics", "--contact", "https://example.org"]
        first = await ran(
            home, "-v", "init", "--chat", "slack", *options, variables=of_slack(fake), typed=f"{fake.app_token}\n"
        )
        assert first.status == Exit.OK, first.err
        assert "ok    Slack socket: can be opened" in first.out
        again = await ran(home, "init", "--chat", "terminal", variables={})
        assert again.status == Exit.SETTINGS
        assert "is there already; nothing was changed. --replace" in again.err
        anew = await ran(home, "init", "--chat", "terminal", "--replace", variables={})
        assert anew.status == Exit.OK, anew.err
    kept = kept_beside(written(home))
    settings = await loaded(kept)
    assert (settings.zone, settings.topics) == ("Europe/Zurich", ("gpu-systems", "robotics"))
    assert settings.slack.app_token.get_secret_value() == fake.app_token
    assert f'bot_token_file = "{home / "bot"}"' in kept.read_text()
    assert not {each for each in (fake.bot_token, fake.app_token) if each in first.out + first.err}
    assert (await loaded(written(home))).topics == ("gpu-systems",)


async def test_discord_without_a_terminal_and_a_token_that_a_variable_gives(home: Path) -> None:
    async with discord.running() as fake:
        variables = of_discord(fake) | {"BROADSHEET_DISCORD__TOKEN_FILE": secret(home, "token", fake.token)}
        made = await ran(home, "init", "--chat", "discord", variables=variables)
    assert made.status == Exit.OK, made.err
    assert "The bot's token is given by BROADSHEET_DISCORD__TOKEN_FILE." in made.out
    assert "ok    Discord: application" in made.out
    assert "[discord]" not in written(home).read_text()


async def test_a_token_that_is_not_taken_or_not_tried_writes_nothing_unless_offline(home: Path) -> None:
    file = secret(home, "token", "MTIz.aaaa.bbbb")
    asked = ("init", "--chat", "discord", "--token-file", file)
    async with discord.running() as fake:
        refused = await ran(home, *asked, variables=of_discord(fake))
    away = {f"BROADSHEET_DISCORD__{name}_URL": url for name, url in (("API", NOWHERE), ("CDN", NOWHERE))}
    away |= {"BROADSHEET_DISCORD__GATEWAY_URL": "ws://127.0.0.1:9"}
    unreached = await ran(home, *asked, variables=away)
    assert (refused.status, unreached.status) == (Exit.SETTINGS, Exit.SETTINGS)
    assert "the token was not taken" in refused.err
    assert "could not be reached" in unreached.err
    for told in (refused.err, unreached.err):
        assert "Nothing was written; --offline writes the settings without trying it." in told
        assert "aaaa" not in told
    assert not written(home).exists()

    assert (await ran(home, *asked, "--offline", variables=away)).status == Exit.OK
    assert (await loaded(written(home))).discord.token.get_secret_value() == "MTIz.aaaa.bbbb"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "There is no terminal to ask in: say --chat"),
        (["--chat", "slack"], "--token-file is missing: a file with the bot's token (xoxb-…)"),
        (["--chat", "terminal", "--token-file", "t"], "--token-file is not for no chat"),
        (["--chat", "discord", "--app-token-file", "t"], "--app-token-file is not for Discord"),
        (["--chat", "discord", "--token-file", "gone"], "The file gone cannot be read: No such file"),
        (["--chat", "discord", "--token-file", "-"], "What --token-file gives is no such token"),
        (["--chat", "terminal", "--zone", "CET"], "stands for an offset"),
        (["--chat", "terminal", "--topic", "gpu-sistems"], "Did you mean gpu-systems?"),
        (["--chat", "terminal", "--contact", "ada"], "neither an e-mail address nor a page"),
        (["--chat", "terminal", "--contact", "ada@exämple.org"], "plain ASCII"),
    ],
)
async def test_an_option_that_cannot_be_used_is_told_and_nothing_is_written(
    home: Path, options: list[str], sentence: str
) -> None:
    made = await ran(home, "init", *options, variables={}, typed="s3cret\n")

    assert made.status == Exit.USAGE
    assert sentence in made.err
    assert "s3cret" not in made.err
    assert not written(home).exists()
