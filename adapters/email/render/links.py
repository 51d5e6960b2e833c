"""What of a mail depends on who gets it: where its actions lead. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from adapters.text import safe_url


class Verb(StrEnum):
    """What a link in a mail does, as its address says it."""

    MORE = "more"
    LESS = "less"
    SAVE = "save"
    PAUSE = "pause"
    UNSUBSCRIBE = "unsubscribe"


def _nowhere(verb: Verb, key: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class MailLinks:
    """Where the actions of a subscription's mails lead.

    `signed` returns the address of a verb, for an item's key or "", and "" where there is none. A list has no actions: what
    one of its readers pressed would be everybody's.
    """

    signed: Callable[[Verb, str], str] = _nowhere
    is_list: bool = False

    def to(self, verb: Verb, key: str = "") -> str:
        """Return where the action leads, "" where it is to be left out."""
        return "" if self.is_list else safe_url(self.signed(verb, key))


NO_LINKS = MailLinks()
