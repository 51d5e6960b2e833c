"""What is still to be done about what a platform refused, and who is still to be told of it."""

from dataclasses import dataclass
from datetime import datetime

from bot.errors import Reach


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell one person in private, or to say in a channel."""

    workspace: str
    person: str  # "": it is said in the channel
    text: str
    since: datetime
    channel: str = ""

    @property
    def recipient(self) -> str:
        """The person, or the channel."""
        return self.person or self.channel


@dataclass(frozen=True, slots=True)
class Refusal:
    """Where nothing can be posted any more, or can again: what is subscribed there is to be paused, and its owners told."""

    workspace: str
    channel: str
    reach: Reach
    reason: str
    topic: str = ""  # only this one's; "": all
    at: datetime | None = None  # when it was met, which tells what was paused for it; None: an earlier version kept it
    is_over: bool = False  # then it stands for what was resumed at that time, whose owners are to be told
