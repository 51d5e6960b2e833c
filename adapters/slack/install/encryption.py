"""Tokens encrypted: what the database keeps of an installation can be read with the operator's keys alone.

Fernet (AES-128-CBC with HMAC-SHA256, https://github.com/fernet/spec), by way of MultiFernet for several keys.
"""

import re
from datetime import datetime, timedelta

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from bot.errors import SettingsError

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
        self._keys = [_key(number, key) for number, key in enumerate(found, 1)]
        self._all = MultiFernet(self._keys)

    def encrypt(self, text: str) -> bytes:
        """Return the text encrypted with the newest key."""
        return self._keys[0].encrypt(text.encode())

    def decrypt(self, sealed: bytes) -> str | None:
        """Return what was encrypted, None when no key decrypts it."""
        try:
            return self._all.decrypt(sealed).decode()
        except InvalidToken:
            return None

    def is_newest(self, sealed: bytes) -> bool:
        """Say whether it was encrypted with the newest key."""
        try:
            self._keys[0].decrypt(sealed)
        except InvalidToken:
            return False
        return True

    def issue_state(self, word: str, now: datetime) -> str:
        """Return a text that proves later that we gave out this word, and when."""
        return self._all.encrypt_at_time(word.encode(), int(now.timestamp())).decode()

    def read_state(self, state: str, now: datetime, life: timedelta) -> str | None:
        """Return the word of a state that is at most so old, None for an older one and for one that is not ours."""
        try:
            word = self._all.decrypt_at_time(state.encode(), int(life.total_seconds()), int(now.timestamp()))
        except (InvalidToken, UnicodeEncodeError):
            return None
        return word.decode()


def _key(number: int, key: str) -> Fernet:
    try:
        return Fernet(key)
    except ValueError as error:
        # Not the key itself: the sentence is printed and logged.
        raise SettingsError(f"Key {number} of `encryption_keys` in [slack] is not a key; {_HOW}.") from error
