"""E-mail at the terminal where it is not set up, or not any more."""

import asyncio
import io
from pathlib import Path

import pytest

from adapters.cli.doctor import Finding, Grade, examine
from adapters.cli.exits import Exit
from adapters.cli.main import main
from bot.app import built
from bot.models import EMAIL, Suppression
from bot.settings.load import Settings
from bot.settings.mail import MailSettings
from tests.bot.deliveries import change, subscription
from tests.conftest import NOW

ADDRESS = "me@lab.example"
MINE = "mail:00112233445566aa.c49543"


async def examined(settings: Settings) -> dict[str, Finding]:
    async with built(settings) as app:
        return {each.name: each for each in await examine(app, NOW, None, offline=True)}


async def test_doctor_finds_that_e_mail_was_taken_out_while_addresses_are_subscribed(tmp_path: Path) -> None:
    without = Settings(database=tmp_path / "b.sqlite3")
    assert EMAIL not in await examined(without)
    async with built(without) as app:
        made = subscription(workspace="local", channel=MINE)
        await app.store.workspaces.save_subscription(made, change("local"), replaces=0)
    found = (await examined(without))[EMAIL]
    assert found.grade is Grade.BAD
    assert found.text.startswith("1 subscription there, and nothing is sent: set `host` and `sender` under [email] again")
    assert "docs/email.md" in found.text
    again = MailSettings(host="127.0.0.1", tls="off", sender="papers@lab.example")
    assert EMAIL not in await examined(without.model_copy(update={"email": again}))


def ended(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Subject: I am away\n\nback on Monday")))
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


@pytest.mark.parametrize("text", ["database = 'b.sqlite3'\n", "nothing like a setting = 1\n"])
def test_what_comes_back_is_kept_by_the_mail_server_while_e_mail_is_not_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    file = tmp_path / "broadsheet.toml"
    file.write_text(text)
    assert ended(monkeypatch, "--config", str(file), "mail", "receive") == 75


def test_an_operator_lets_an_address_be_written_to_again_and_forgets_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broadsheet.toml"
    file.write_text(f"database = '{tmp_path / 'b.sqlite3'}'\n")

    async def suppression(add: Suppression | None = None) -> Suppression | None:
        async with built(Settings(database=tmp_path / "b.sqlite3")) as app:
            if add:
                await app.store.recipients.suppress(ADDRESS, add, NOW)
            return await app.store.recipients.suppression("slack:T1", ADDRESS)

    def told(*line: str) -> str:
        assert ended(monkeypatch, "--config", str(file), "mail", *line) == 0
        return capsys.readouterr().out

    assert told("allow", ADDRESS) == "Neither bounces nor a complaint kept anything from that address.\n"
    assert asyncio.run(suppression(Suppression.COMPLAINED)) is Suppression.COMPLAINED
    assert told("allow", ADDRESS).startswith("Mail may be sent there again: the complaint of who reads it is lifted.\n")
    assert asyncio.run(suppression()) is None
    assert told("forget", "--yes", ADDRESS) == "The address is erased; 0 subscriptions ended with it.\n"
    assert asyncio.run(suppression()) is Suppression.FORGOTTEN
    assert ended(monkeypatch, "--config", str(file), "mail", "allow", "me@localhost") == Exit.USAGE
    assert "me@localhost" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--offline", "--health"])
def test_a_test_message_is_refused_where_none_would_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    file = tmp_path / "broadsheet.toml"
    file.write_text("database = 'b.sqlite3'\n")
    assert ended(monkeypatch, "--config", str(file), "doctor", option, "--mail", "me@lab.example") == Exit.USAGE
    assert option in capsys.readouterr().err
