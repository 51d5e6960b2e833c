"""What chat platforms keep, in dictionaries. Nothing waits here, so each method is a transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.models import Delivery, Installation, text_key
from bot.ports.chats import TEXTS_KEPT
from tests.stores.memory_ledger import MemoryLedger


class MemoryChats:
    """bot.ports.chats.Chats."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger
        self._met: dict[tuple[str, str], tuple[datetime, datetime]] = {}  # by platform and what: when, kept until
        self._texts: dict[tuple[str, str], tuple[str, datetime]] = {}  # by workspace and key: what, when last given
        self._installations: dict[tuple[str, str], Installation] = {}  # by platform and place

    async def first_time(self, platform: str, what: str, now: datetime, span: timedelta = timedelta(hours=24)) -> bool:
        met, until = self._met.get((platform, what), (None, now + span))
        self._met[platform, what] = (max(met or now, now), max(until, now + span))
        return met is None or met <= now - span

    async def keep_texts(self, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
        keys = [text_key(text) for text in texts]
        for key, text in zip(keys, texts, strict=True):
            _, given = self._texts.get((workspace, key), (text, now))
            self._texts[workspace, key] = (text, max(given, now))
        return keys

    async def kept_text(self, workspace: str, key: str) -> str | None:
        kept = self._texts.get((workspace, key))
        return kept[0] if kept else None

    async def save_installation(self, installation: Installation) -> None:
        """Keep the installation instead of that of the same platform and place."""
        self._installations[installation.platform, installation.place] = installation

    async def installations(self, platform: str, *, place: str = "") -> Sequence[Installation]:
        names = sorted(name for name in self._installations if name[0] == platform and place in ("", name[1]))
        return [self._installations[name] for name in names]

    async def drop_installation(self, platform: str, place: str) -> bool:
        """Forget the installation; say whether there was one."""
        return self._installations.pop((platform, place), None) is not None

    async def delivery_posted(self, workspace: str, channel: str, message: str) -> Delivery | None:
        return await self._ledger.posted_as(workspace, channel, message)

    def prune(self, now: datetime) -> None:
        self._met = {name: span for name, span in self._met.items() if span[1] > now}
        self._texts = {name: kept for name, kept in self._texts.items() if kept[1] > now - TEXTS_KEPT}
