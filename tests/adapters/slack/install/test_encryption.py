"""Tokens under seal."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.install.encryption import TokenCipher
from bot.errors import SettingsError
from tests.conftest import NOW

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()
TEN_MINUTES = timedelta(minutes=10)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_what_was_sealed_is_opened_by_the_same_keys_and_no_others(text: str) -> None:
    sealed = TokenCipher(OLD).encrypt(text)

    assert TokenCipher(OLD).decrypt(sealed) == text
    assert TokenCipher(f"{NEW}, {OLD}").decrypt(sealed) == text
    assert TokenCipher(NEW).decrypt(sealed) is None


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_nothing_that_was_changed_is_opened(at: int, by: int) -> None:
    sealed = bytearray(TokenCipher(OLD).encrypt("xoxb-1"))
    sealed[at % len(sealed)] ^= by

    assert TokenCipher(OLD).decrypt(bytes(sealed)) in (None, "xoxb-1")  # base64 has bits that mean nothing


def test_the_newest_key_seals_and_older_ones_are_told_apart() -> None:
    both = TokenCipher(f"{NEW}\n{OLD}")

    assert both.is_newest(both.encrypt("a"))
    assert not both.is_newest(TokenCipher(OLD).encrypt("a"))
    assert TokenCipher(NEW).decrypt(both.encrypt("a")) == "a"


@pytest.mark.parametrize("keys", ["", " ,\n"])
def test_without_a_key_nothing_is_kept(keys: str) -> None:
    with pytest.raises(SettingsError, match="not kept in the clear"):
        TokenCipher(keys)


def test_what_is_no_key_is_refused_without_being_told() -> None:
    with pytest.raises(SettingsError, match=r"Key 2 of `encryption_keys`") as raised:
        TokenCipher(f"{NEW}, not-a-key-but-secret")
    assert "secret" not in str(raised.value)


def test_a_ticket_is_good_for_its_time(now: datetime) -> None:
    cipher = TokenCipher(NEW)
    ticket = cipher.issue_state("word", now)

    assert cipher.read_state(ticket, now, TEN_MINUTES) == "word"
    assert cipher.read_state(ticket, now + TEN_MINUTES, TEN_MINUTES) == "word"
    assert cipher.read_state(ticket, now + TEN_MINUTES + timedelta(seconds=2), TEN_MINUTES) is None


@pytest.mark.parametrize(
    "ticket",
    ["", "x", "ü", "gAAAAA" * 30, TokenCipher(OLD).encrypt("word").decode()],
    ids=["none", "short", "not ascii", "like one", "of another key"],
)
def test_a_ticket_of_nobody_is_good_for_nothing(ticket: str, now: datetime) -> None:
    assert TokenCipher(NEW).read_state(ticket, now, TEN_MINUTES) is None


WORDS = st.text(alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", min_size=1)  # as tickets have
ROWS = st.dictionaries(st.text(max_size=5), st.text(max_size=5)).map(json.dumps)


def by_the_version_before(key: str, text: str, now: datetime) -> bytes:
    """Rows and tickets alike were encrypted with the operator's key itself."""
    return Fernet(key).encrypt_at_time(text.encode(), int(now.timestamp()))


@given(WORDS)
def test_a_ticket_is_never_opened_as_a_row(word: str) -> None:
    cipher = TokenCipher(f"{NEW} {OLD}")

    assert cipher.decrypt(cipher.issue_state(word, NOW).encode()) is None
    assert cipher.decrypt(by_the_version_before(OLD, word, NOW)) is None


@given(ROWS)
def test_a_row_is_never_taken_as_a_ticket(row: str) -> None:
    cipher = TokenCipher(f"{NEW} {OLD}")
    now = datetime.now(UTC)  # Fernet writes down when it encrypts

    assert cipher.read_state(cipher.encrypt(row).decode(), now, TEN_MINUTES) is None
    assert cipher.read_state(by_the_version_before(OLD, row, NOW).decode(), NOW, TEN_MINUTES) is None


@given(ROWS)
def test_a_row_of_the_version_before_is_opened_and_is_not_of_the_newest_key(row: str) -> None:
    for keys in (OLD, f"{NEW} {OLD}"):
        old = by_the_version_before(OLD, row, NOW)
        assert TokenCipher(keys).decrypt(old) == row
        assert not TokenCipher(keys).is_newest(old)
        assert TokenCipher(keys).is_newest(TokenCipher(keys).encrypt(row))
    assert TokenCipher(NEW).decrypt(by_the_version_before(OLD, row, NOW)) is None


def test_a_ticket_of_the_version_before_is_begun_again(now: datetime) -> None:
    assert TokenCipher(OLD).read_state(by_the_version_before(OLD, "word", now).decode(), now, TEN_MINUTES) is None


def test_what_is_encrypted_is_the_same_key_as_tomorrow() -> None:
    """Fixed by a row of this version: another derivation would leave every installation unreadable."""
    sealed = b"gAAAAABrAzbh3n_gnMcgWyToXNHwueXainWy8OkieVFRFkykKTneI7WUgpeh6iUdxCmKIoVGZTszBatlWj1qOs3lA0pct1TtSQ=="
    assert TokenCipher("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=").decrypt(sealed) == '{"place": "T1"}'
