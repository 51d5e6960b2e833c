"""Where items come from, and what is remembered of each source."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from bot.models import Batch, Item, SourceState


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


@runtime_checkable
class ItemLookup(Protocol):
    """A source that can be asked for a single item."""

    @property
    def title(self) -> str:
        """The name for people: arXiv."""
        ...

    def has_keys_like(self, key: str) -> bool:
        """Say whether an item of such a key may be had there."""
        ...

    async def look_up(self, key: str) -> Sequence[Item]:
        """Return the item of the key, and what the answer says of others; () where there is none that everybody may see.

        Raises SourceError.
        """
        ...


class Fetcher(Protocol):
    """Fetches single items that a person names and nobody has collected."""

    def sources_of(self, key: str) -> Sequence[str]:
        """Return the names, for people, of the sources that can be asked for the item of the key; () where none can."""
        ...

    async def fetch(self, key: str, person: str, now: datetime) -> Item | None:
        """Return the item of the key, fetched and stored; None where the sources know none.

        Raises SourceError, whose text is a sentence for the person; UsageError while another of the person's is being
        fetched, or after too many; StoreError.
        """
        ...


class SourceStates(Protocol):
    """How each source was when it was last asked."""

    async def get(self, name: str) -> SourceState:
        """Return what is remembered of the source; a fresh state when nothing is."""
        ...

    async def save(self, state: SourceState) -> None:
        """Remember it."""
        ...
