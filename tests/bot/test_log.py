import json
import logging
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot import log
from bot.settings.chat import DiscordSettings, SlackSettings
from bot.settings.load import Settings, secrets_of
from bot.settings.sections import LlmSettings

SECRETS = [
    "xoxb-12345-abcdef",
    "xapp-1-A0-abc",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijkl_mnop",
    "hf_abcdefghijklmnopqrstuvwxyz",
    "sk-proj-abcdefghijklmnop123456",
    "xoxp-12345-abcdef",
    "xoxe-1-My0xLTEyMzQ1Njc4OTA",
    "xoxe.xoxb-1-Mi0yLTEyMzQ1Njc4OTA",
    "xapp-1-A012-345-0123456789abcdef",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0123456789ab",  # Discord's, of an application from 2017
    "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.G-bc_E.abcdefghijklmnopqrst_uvwxyz-0123456789",
    "OTk5OTk5OTk5OTk5OTk5OTk5.Xabcde.abcdefghijklmnopqrstuvwxyz0",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
]
SETTLED = Settings(
    slack=SlackSettings(
        signing_secret=SecretStr("0123456789abcdef0123456789abcdef"),
        client_secret=SecretStr('with"quotes\\and more'),
        encryption_keys=SecretStr(
            "bmV3ZXN0LWtleS1uZXdlc3Qta2V5LW5ld2VzdC1rZXk=, b2xkZXIta2V5LW9sZGVyLWtleS1vbGRlci1rZXktb2w="
        ),
    ),
    discord=DiscordSettings(token=SecretStr("no.usual.shape")),
    llm=LlmSettings(api_key=SecretStr("a-key-of-no-shape")),
)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_never_reaches_the_log(capsys: pytest.CaptureFixture[str], form: str, secret: str) -> None:
    written = _written(capsys, form, secret)
    assert secret not in written
    assert secret.rpartition(".")[2] not in written
    assert "hunter2" not in written
    assert "host" in written
    if form == "json":
        assert [json.loads(line)["level"] for line in written.splitlines()] == ["info", "error"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_settings_own_secrets_never_reach_the_log_whatever_their_shape(
    capsys: pytest.CaptureFixture[str], form: str
) -> None:
    secrets = secrets_of(SETTLED)
    assert len(secrets) == 9  # each key by itself, beside the whole; and the two words of one secret
    for secret in secrets:
        if len(secret) > 4:
            assert secret not in _written(capsys, form, secret, secrets)


def test_settings_without_secrets_hide_nothing() -> None:
    assert secrets_of(Settings()) == ()


def _written(capsys: pytest.CaptureFixture[str], form: str, secret: str, secrets: Sequence[str] = ()) -> str:
    before = logging.getLogger().handlers[:]
    try:
        log.configure("INFO", form, secrets)
        logging.getLogger("test").info("sent %s to https://me:hunter2@host/?token=%s", secret, secret)
        try:
            raise ValueError(f"bad {secret}")
        except ValueError:
            logging.getLogger("test").exception("failed")
    finally:
        logging.getLogger().handlers[:] = before
    return capsys.readouterr().err


FORGED = "2026-04-01 07:00:00 ERROR   bot.app  all is lost"
TITLES = [f"A title{end}{FORGED}" for end in ("\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029")]
TERMINAL = ["\x1b[2J\x1b]0;mine\x07", "\x9b31m", "\x08\x08", "\x7f", "abc\u202egnp.exe", "\u2066x\u2069", "\x00"]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("title", [*TITLES, *TERMINAL])
def test_what_others_wrote_can_forge_no_line_and_command_no_terminal(
    capsys: pytest.CaptureFixture[str], form: str, title: str
) -> None:
    written = _written(capsys, form, title)

    assert [line for line in written.splitlines() if line.startswith(FORGED[:5])] == (
        [] if form == "json" else [line for line in written.splitlines() if "  sent " in line or line.endswith("  failed")]
    )
    assert not [char for char in written if char != "\n" and not (char.isprintable() or char == " ")]
    if form == "json":
        assert title in json.loads(written.splitlines()[0])["message"]
    else:
        assert len([line for line in written.splitlines() if not line.startswith("  ")]) == 2


def test_a_traceback_keeps_its_lines_each_set_in(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _written(capsys, "text", "one\n2026-04-01 two").splitlines()

    assert lines[0].endswith(r"sent one\n2026-04-01 two to https://[hidden]@host/?token=[hidden]\n2026-04-01 two")
    assert lines[2] == "  Traceback (most recent call last):"
    assert lines[-2:] == ["  ValueError: bad one", "  2026-04-01 two"]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_record_begins_one_line_whatever_it_says(text: str) -> None:
    for name, said in (("test", text), (text, "test")):
        record = logging.LogRecord(name, logging.INFO, "", 0, "%s", (said,), None)
        for form in ("text", "json"):
            assert len(log.formatter(form).format(record).splitlines()) == 1
