"""Tokens encrypted: what the database keeps of an installation can be read with the operator's keys alone.

Fernet (AES-128-CBC with HMAC-SHA256, https://github.com/fernet/spec), by way of MultiFernet for several keys. Rows and
states have keys of their own, made from the operator's by HKDF (RFC 5869): what is one can never be read as the other.
"""

import base64
import re
from datetime import datetime, timedelta

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bot.errors import SettingsError

_ROWS = b"broadsheet slack installations 1"
_STATES = b"broadsheet slack oauth states 1"
_HOW = "make one with: openssl rand -base64 32 | tr '+/' '-_'"


class TokenCipher:
    """Encrypts with the first key, decrypts with any.

    A new key goes before the old one, which may go once all is encrypted anew.
    """

    def __init__(self, keys: str) -> None:
        """`keys` are separated by white space or commas, the newest first. Raises SettingsError."""
        found = [key for key in re.split(r"[\s,]+", keys) if key]
        if not found:
            raise SettingsError(f"`encryption_keys` in [slack] is empty: tokens are not kept in the clear; {_HOW}.")
        # Earlier versions encrypted rows with the operator's keys themselves.
        self._former = MultiFernet([_key(number, key) for number, key in enumerate(found, 1)])
        rows = [_derived(key, _ROWS) for key in found]
        self._newest, self._rows = rows[0], MultiFernet(rows)
        self._states = MultiFernet([_derived(key, _STATES) for key in found])

    def encrypt(self, text: str) -> bytes:
        """Return the text encrypted with the newest key."""
        return self._newest.encrypt(text.encode())

    def decrypt(self, sealed: bytes) -> str | None:
        """Return what was encrypted, None when no key decrypts it."""
        try:
            return self._rows.decrypt(sealed).decode()
        except InvalidToken:
            return self._formerly(sealed)

    def _formerly(self, sealed: bytes) -> str | None:
        """Return the row of an earlier version: JSON, which a state of those versions, of the same keys, never was."""
        try:
            text = self._former.decrypt(sealed).decode()
        except InvalidToken:
            return None
        return text if text.startswith("{") else None

    def is_newest(self, sealed: bytes) -> bool:
        """Say whether it was encrypted with the newest key, as this version does it."""
        try:
            self._newest.decrypt(sealed)
        except InvalidToken:
            return False
        return True

    def issue_state(self, word: str, now: datetime) -> str:
        """Return a text that proves later that we gave out this word, and when."""
        return self._states.encrypt_at_time(word.encode(), int(now.timestamp())).decode()

    def read_state(self, state: str, now: datetime, life: timedelta) -> str | None:
        """Return the word of a state that is at most so old, None for an older one and for one that is not ours."""
        try:
            word = self._states.decrypt_at_time(state.encode(), int(life.total_seconds()), int(now.timestamp()))
        except (InvalidToken, UnicodeEncodeError):
            return None
        return word.decode()


def _key(number: int, key: str) -> Fernet:
    try:
        return Fernet(key)
    except ValueError as error:
        # Not the key itself: the sentence is printed and logged.
        raise SettingsError(f"Key {number} of `encryption_keys` in [slack] is not a key; {_HOW}.") from error


def _derived(key: str, purpose: bytes) -> Fernet:
    """Return the key for one purpose."""
    secret = HKDF(SHA256(), 32, salt=None, info=purpose).derive(base64.urlsafe_b64decode(key))
    return Fernet(base64.urlsafe_b64encode(secret))
