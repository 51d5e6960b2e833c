"""E-mail at the terminal where it is not set up, or not any more."""

import io
from pathlib import Path

import pytest

from adapters.cli.doctor import Finding, Grade, examine
from adapters.cli.exits import Exit
from adapters.cli.main import main
from bot.app import built
from bot.models import EMAIL
from bot.settings.load import Settings
from bot.settings.mail import MailSettings
from tests.bot.deliveries import change, subscription
from tests.conftest import NOW

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


@pytest.mark.parametrize("option", ["--offline", "--health"])
def test_a_test_message_is_refused_where_none_would_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    file = tmp_path / "broadsheet.toml"
    file.write_text("database = 'b.sqlite3'\n")
    assert ended(monkeypatch, "--config", str(file), "doctor", option, "--mail", "me@lab.example") == Exit.USAGE
    assert option in capsys.readouterr().err
