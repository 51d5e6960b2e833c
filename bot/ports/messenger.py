"""The platforms that post."""

from collections.abc import Sequence
from typing import Protocol

from bot.models import Abilities, Delivery, Digest


class Messenger(Protocol):
    """One chat platform, as the ledger sees it."""

    @property
    def platform(self) -> str:
        """The word before the colon of its workspaces' names: slack, discord; "local" for the terminal."""
        ...

    @property
    def abilities(self) -> Abilities:
        """What it offers."""
        ...

    def render(self, digest: Digest, *, compact: bool, late: bool) -> Sequence[str]:
        """Return the digest as the payloads of one or more messages, each within the platform's limits; pure."""
        ...

    async def send(self, delivery: Delivery) -> str:
        """Post the payload once, with the delivery's id as nonce or marker, and return the platform's message identifier.

        Never tries again by itself. Raises Refused, Delayed, or Uncertain.
        """
        ...

    async def find(self, delivery: Delivery) -> str | None:
        """Look in the channel's history, from a minute before the first try on, for the delivery's message.

        Returns its identifier, or None when it is surely not there. Raises Refused where the history may not be read,
        Delayed or Uncertain when it could not be read now.
        """
        ...

    def link(self, delivery: Delivery) -> str:
        """Return the address at which a reader finds the posted delivery by its `message`, "" where there is none; pure."""
        ...

    async def tell(self, workspace: str, person: str, text: str) -> None:
        """Tell one person something in private; raises as `send`."""
        ...

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        """Say one thing in a channel, such as that of the administrators; raises as `send`."""
        ...
