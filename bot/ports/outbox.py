"""What is owed: notices to be sent, and refusals to be applied."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from bot.models import Notice, Refusal

NOBODY: Mapping[str, str] = {}  # has been told anything yet


class Outbox(Protocol):
    """Notices and refusals, each kept once, until it is removed. Each write is one transaction."""

    async def notices(self, after: Mapping[str, str] = NOBODY, *, limit: int = 10) -> Mapping[str, Sequence[Notice]]:
        """Return by workspace, for at most so many recipients of each, the oldest notice of each.

        The recipients follow each other by name, those first who come after the one that `after` names for the workspace.
        So whoever cannot be told now holds up nobody, and however much is owed, little is read at a time.
        """
        ...

    async def add_notices(self, notices: Sequence[Notice]) -> None:
        """Keep what is to be sent, each behind what its recipient is to be told already."""
        ...

    async def remove_notice(self, notice: Notice) -> None:
        """Forget one that was sent, or that nobody needs any more."""
        ...

    async def refusals(self, *, limit: int = 100) -> Sequence[Refusal]:
        """Return the oldest refusals of all workspaces that are not applied yet."""
        ...

    async def add_refusal(self, refusal: Refusal) -> None:
        """Keep a refusal until it is applied."""
        ...

    async def replace_refusal(self, refusal: Refusal, notices: Sequence[Notice]) -> None:
        """Keep the notices of a refusal instead of the refusal, in one transaction; nothing where it is kept no more."""
        ...
