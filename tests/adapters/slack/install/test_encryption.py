"""Tokens under seal."""

from datetime import datetime, timedelta

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.install.encryption import TokenCipher
from bot.errors import SettingsError

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
