"""What of a mail depends on who gets it: where its actions lead. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from adapters.text import safe_url
from bot.handlers.links import LinkAction


def _nowhere(action: LinkAction, key: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class MailLinks:
    """Where the actions of a subscription's mails lead.

    `signed` returns the address of an action, for an item's key or "", and "" where there is none. A list has no actions:
    what one of its readers pressed would be everybody's.
    """

    signed: Callable[[LinkAction, str], str] = _nowhere
    is_list: bool = False

    def to(self, action: LinkAction, key: str = "") -> str:
        """Return where the action leads, "" where it is to be left out."""
        return "" if self.is_list else safe_url(self.signed(action, key))


NO_LINKS = MailLinks()
