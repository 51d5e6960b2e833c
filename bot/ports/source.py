"""Where items come from, and what is remembered of each source."""

from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Protocol

from bot.models import Batch, SourceState


class Source(Protocol):
    """Where items come from."""

    @property
    def name(self) -> str:
        """The word in an item's `sources`: arxiv, huggingface, github, feed:<name>."""
        ...

    @property
    def title(self) -> str:
        """The name for people: arXiv."""
        ...

    def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        """Yield what is new since `state.watermark`, in batches that may be stored as they come.

        Raises SourceUnavailable or SourceChanged, also after some batches; what was yielded before stays good.
        """
        ...

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        """Return when it may have something new for who was told what `state` says; not later than now: at once.

        `every` is how long the operator waits between two collections where nothing better is known. `state.asked` is set.
        """
        ...

    async def check(self, now: datetime) -> str:
        """Ask the source one cheap thing and say in a sentence how it stands; raises SourceError."""
        ...


class SourceStates(Protocol):
    """How each source was when it was last asked."""

    async def get(self, name: str) -> SourceState:
        """Return what is remembered of the source; a fresh state when nothing is."""
        ...

    async def save(self, state: SourceState) -> None:
        """Remember it."""
        ...
