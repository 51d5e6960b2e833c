"""Pages of a list: where one begins, and the token by which a button carries that. Pure."""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.errors import UsageError

LONGEST_TOKEN = 60  # characters of a token, so that it fits wherever a platform lets a button carry a command
_PAGE_TOKEN = re.compile(r"([0-9a-f]{1,4})\.([0-9a-f]{8})\.((?:[0-9a-f]{2}){0,18})\.([0-9a-f]{6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a list: behind how many entries, of the list as it stood when it was first asked for."""

    offset: int
    asked: datetime  # whole seconds: ages are reckoned from here on every page
    mark: str = ""  # the store's, of the first page


def write_page_token(position: Position, of: str) -> str:
    """Return the token, of at most LONGEST_TOKEN characters; `of` names the list: its query."""
    said = f"{position.offset:x}.{int(position.asked.timestamp()):08x}.{position.mark.encode().hex()}"
    return f"{said}.{_check(said, of)}"


def read_page_token(token: str, of: str) -> Position:
    """Return the position; raises UsageError for a token that is damaged, made up, or of another list."""
    found = _PAGE_TOKEN.fullmatch(token)
    if found is None or found[4] != _check(token.rpartition(".")[0], of):
        raise UsageError(
            "That page cannot be found: its address is damaged, or of another search.",
            hint="Search again without *page=*, and go on with the buttons.",
        )
    mark = bytes.fromhex(found[3]).decode("utf-8", "replace")
    return Position(int(found[1], 16), datetime.fromtimestamp(int(found[2], 16), UTC), mark)


def _check(said: str, of: str) -> str:
    """Six figures that tell a slip of the finger and another list; no secret, since a page shows what a search shows."""
    return hashlib.sha256(f"{said}\n{of}".encode("utf-8", "replace")).hexdigest()[:6]
