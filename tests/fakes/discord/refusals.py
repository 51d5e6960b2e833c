"""Discord's refusals: a status, a code of its own, a sentence, and for a malformed body what is wrong where."""

from collections.abc import Iterable
from typing import Any

from tests.fakes.discord.description import Flaw

# From the table of JSON error codes in Discord's documentation, with the status each comes with.
_KNOWN = {
    0: (401, "401: Unauthorized"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    40001: (401, "Unauthorized. Provide a valid token and try again"),
    40033: (400, "This message has already been crossposted"),
    40060: (400, "Interaction has already been acknowledged."),
    40067: (400, "A tag is required to create a forum post in this channel"),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50035: (400, "Invalid Form Body"),
    50083: (400, "Thread is archived"),
    160004: (400, "A thread has already been created for this message"),
    160005: (403, "Thread is locked"),
    160006: (400, "Maximum number of active threads reached"),
}


class Refusal(Exception):  # noqa: N818 -- it says what happened
    """Why a request is refused."""

    def __init__(self, code: int, *, flaws: Iterable[Flaw] = (), status: int = 400) -> None:
        """`status` is that of a code which is not in the table."""
        self.code = code
        self.status, self.message = _KNOWN.get(code, (status, "No"))
        self.flaws = tuple(flaws)
        super().__init__(f"{code}: {self.message}")

    def body(self) -> dict[str, Any]:
        """Return the reply's body."""
        said: dict[str, Any] = {"message": self.message, "code": self.code}
        if self.flaws:
            said["errors"] = _nested(self.flaws)
        return said


def _nested(flaws: Iterable[Flaw]) -> dict[str, Any]:
    """Return the flaws as Discord nests them: by property and index, `_errors` at the end."""
    top: dict[str, Any] = {}
    for where, what in flaws:
        node = top
        for name in where:
            node = node.setdefault(str(name), {})
        node.setdefault("_errors", []).append({"code": "INVALID", "message": what})
    return top
