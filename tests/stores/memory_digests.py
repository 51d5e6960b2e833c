"""Digests and what they posted, in dictionaries."""

from collections.abc import Collection, Sequence
from datetime import date, datetime

from bot.models import Delivery, Digest, Posting
from bot.store.records import posted_scores
from bot.store.rules.transitions import KEPT, ended_at, takes_over


class MemoryDigests:
    """bot.ports.digests.Digests."""

    def __init__(self) -> None:
        self._digests: list[tuple[str, str, datetime, Digest]] = []  # workspace, channel, when it was saved
        self._posted: dict[tuple[str, str], set[str]] = {}
        # By workspace, channel and topic: from when on digests looked that were dropped, and when they ended.
        self._unposted: dict[tuple[str, str, str], dict[datetime, datetime]] = {}

    async def save(self, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        self.keep(workspace, channel, digest, now)

    def keep(self, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        self._digests.append((workspace, channel, now, digest))
        self._posted.setdefault((workspace, channel), set()).update(posted_scores(digest))
        self._take_over((workspace, channel, digest.topic), digest.until)

    def drop(self, ended: Delivery) -> None:
        name = (ended.workspace, ended.channel, ended.made_at, ended.topic, ended.occurrence[1])
        gone = [each for each in self._digests if (*each[:3], each[3].topic, each[3].day) == name]
        for each in gone:
            self._digests.remove(each)
            self._leave(ended, each[3].since)
        here = (digest for _, digest in self._digests_in(ended.workspace, ended.channel))
        self._posted[ended.workspace, ended.channel] = set().union(*map(posted_scores, here))

    async def posted(self, workspace: str, channel: str) -> frozenset[str]:
        """Return the keys already posted to the channel."""
        return frozenset(self._posted.get((workspace, channel), ()))

    async def last(self, workspace: str, channel: str, topic: str) -> tuple[date, datetime] | None:
        digests = (digest for _, digest in self._digests_in(workspace, channel))
        spans = [(digest.until, digest.day) for digest in digests if digest.topic == topic]
        return max(spans)[::-1] if spans else None

    async def unposted_since(self, workspace: str, channel: str, topic: str) -> datetime | None:
        """Return from when on the digests of the topic looked that were dropped, where no later one does."""
        return min(self._unposted.get((workspace, channel, topic), ()), default=None)

    async def postings(self, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        return [
            Posting(key, digest.topic, digest.day, now, score)
            for now, digest in self._digests_in(workspace, channel)
            for key, score in sorted(posted_scores(digest).items())
            if key in keys
        ]

    async def last_entries(self, workspace: str, channel: str) -> Sequence[str]:
        entries = (digest.entries for _, digest in self._digests_in(workspace, channel) if digest.entries)
        return [entry.ranked.item.key for entry in next(entries, ())]

    def _digests_in(self, workspace: str, channel: str) -> list[tuple[datetime, Digest]]:
        here = [(now, digest) for *place, now, digest in reversed(self._digests) if place == [workspace, channel]]
        return sorted(here, key=lambda saved: saved[0], reverse=True)

    def _leave(self, ended: Delivery, since: datetime) -> None:
        place = (ended.workspace, ended.channel, ended.topic)
        self._unposted.setdefault(place, {})[since] = ended_at(ended)

    def _take_over(self, place: tuple[str, str, str], until: datetime) -> None:
        owed = self._unposted.get(place, {})
        self._unposted[place] = {since: at for since, at in owed.items() if not takes_over(until, at)}

    def prune(self, now: datetime) -> None:
        for owed in self._unposted.values():
            for since in [since for since, at in owed.items() if at < now - KEPT]:
                del owed[since]

    def held(self) -> set[str]:
        return set().union(*self._posted.values())

    def __len__(self) -> int:
        return len(self._digests)
