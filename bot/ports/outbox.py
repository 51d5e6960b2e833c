"""What is owed: notices, refusals to be applied, edits of what stands in channels, and what is to be published."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.models import Notice, Publication, Refusal, StandingMessage

NOBODY: Mapping[str, str] = {}  # has been told anything yet


class Outbox(Protocol):
    """Notices, refusals, and messages to edit, each kept once, until it is removed. Each write is one transaction."""

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

    async def messages_to_edit(self, now: datetime, *, limit: int = 100) -> Sequence[StandingMessage]:
        """Return messages of all workspaces that say other counts than stand now, and may be edited by now.

        The workspaces take turns; of each those come first that were to be edited first. What waits for more than a day was
        put off by a clock that had run ahead, and waits no more. A count is of people, each once however much of it they
        name: who say in the message's channel of what it lists, since it was made, more for its topic, and whose saving
        counts in the channel. Items that were renamed are what they were. Where a workspace has switched counts off, all of
        its messages are returned, as ones of which nothing was pressed.
        """
        ...

    async def update_message(self, message: StandingMessage, *, replaces: StandingMessage) -> bool:
        """Keep of a message what it shows, its edits, and when it may be edited again.

        False, and nothing written, where its edits and that time are not as in what it `replaces`, or it is kept no more.
        """
        ...

    async def leave_message(self, message: StandingMessage) -> bool:
        """Keep a message no more: it stays as it is. False, and nothing done, where it is not kept as it is given."""
        ...

    async def publications(self, now: datetime, *, limit: int = 50) -> Sequence[Publication]:
        """Return messages of all workspaces that are to be published and whose time has come, the first posted first.

        A message is kept as one in the transaction that records it as posted (bot.ports.ledger.Ledger.record). What waits
        for more than a day was put off by a clock that had run ahead, and waits no more.
        """
        ...

    async def put_off_publication(self, publication: Publication) -> None:
        """Keep when it is to be tried again, and how often it was; nothing where it is kept no more."""
        ...

    async def remove_publication(self, publication: Publication) -> None:
        """Forget one that is published, or that cannot be."""
        ...
