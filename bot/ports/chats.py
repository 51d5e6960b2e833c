"""What chat platforms keep in the store: what was heard, what a button stands for, who installed us."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from bot.models import Delivery, Installation

TEXTS_KEPT = timedelta(days=365)  # since a text was last given


class Chats(Protocol):
    """What was met, kept and installed. Every write is one transaction."""

    async def first_time(self, platform: str, what: str, now: datetime, span: timedelta = timedelta(hours=24)) -> bool:
        """Note that this was met, and say whether it is the first time within the span.

        `what` names an event, a command or anything else that is to be done once; any text. Every meeting is noted: what
        goes on and on is the first time again only when a whole span has passed without it. What was noted at a later time
        than now, by a clock that had run ahead, counts as met.
        """
        ...

    async def keep_texts(self, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
        """Keep texts that are too long for where they are to stand, and return the key of each, in their order.

        A key is 22 characters of [0-9A-Za-z_-], the same for the same text of a workspace; it can be told before it is kept,
        by bot.models.text_key. A text is kept for TEXTS_KEPT after it was last given.
        """
        ...

    async def kept_text(self, workspace: str, key: str) -> str | None:
        """Return the workspace's text of that key, None when there is none (any more)."""
        ...

    async def save_installation(self, installation: Installation) -> None:
        """Keep the installation instead of that of the same platform and place."""
        ...

    async def installations(self, platform: str, *, place: str = "") -> Sequence[Installation]:
        """Return the platform's installations, the one of that place alone where it is named; by place."""
        ...

    async def drop_installation(self, platform: str, place: str) -> bool:
        """Forget the installation; say whether there was one."""
        ...

    async def delivery_posted(self, workspace: str, channel: str, message: str) -> Delivery | None:
        """Return the delivery that was posted as this message, None when it is none of ours."""
        ...
