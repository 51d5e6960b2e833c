"""Digests and what they posted, in dictionaries."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import date, datetime

from bot.models import (
    ArchivedDay,
    ArchivedDigest,
    ArchivedPosting,
    ArchivedTopic,
    Delivery,
    DeliveryState,
    Digest,
    Entry,
    PastDigest,
    Position,
    Posting,
    Rhythm,
    Unposted,
)
from bot.store.records import posted_once, posted_scores, shown_mark
from bot.store.rules.archive import as_one, entry_of
from bot.store.rules.transitions import KEPT, KEPT_AT_ONCE, begins_again, ended_at, taken_over, under_heirs


class MemoryDigests:
    """bot.ports.digests.Digests."""

    def __init__(self, heir: Callable[[str], str]) -> None:
        self.heir = heir  # returns the key that an item has now that had another; "" of any other key
        self._digests: list[tuple[str, str, datetime, Digest]] = []  # workspace, channel, when it was saved
        self._posted: dict[tuple[str, str], set[str]] = {}
        # By the number of its drop: workspace, channel, topic and rhythm of a dropped digest, where it began, when it ended.
        self._unposted: dict[int, tuple[tuple[str, str, str, str], Position, datetime]] = {}
        self._drops = 0
        self.links: dict[int, str] = {}  # of what was posted, by the identity of its digest

    async def save(self, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        kept = self.keep(workspace, channel, digest, now)
        if digest.entries:
            self.links[id(kept)] = ""

    def keep(self, workspace: str, channel: str, digest: Digest, now: datetime) -> Digest:
        digest = replace(digest)  # one of its own, also of what is kept twice
        self._digests.append((workspace, channel, now, digest))
        self._posted.setdefault((workspace, channel), set()).update(posted_scores(digest))
        for number in self._owed(workspace, channel, digest.topic, digest.rhythm):
            if number <= digest.window.makes_up:
                del self._unposted[number]
        return digest

    def note_posted(self, done: Delivery) -> None:
        if done.part == 1 and done.state is DeliveryState.DONE:
            for digest in self._made(done):
                self.links[id(digest)] = done.link

    def _made(self, delivery: Delivery) -> list[Digest]:
        """Return the digest of a delivery."""
        name = (delivery.workspace, delivery.channel, delivery.made_at, delivery.topic, delivery.occurrence[1])
        named = [each[3] for each in self._digests if (*each[:3], each[3].topic, each[3].day) == name]
        return [each for each in named if each.subscription in ("", delivery.occurrence[0])]

    def archived(self, workspace: str, channels: Collection[str]) -> list[tuple[str, datetime, Digest]]:
        """Return channel, time and digest of what was posted in the channels, the first saved first."""
        found = [
            each for each in self._digests if each[0] == workspace and each[1] in channels and id(each[3]) in self.links
        ]
        return sorted(((channel, at, digest) for _, channel, at, digest in found), key=lambda each: each[1])

    def in_archive(self, workspace: str) -> set[str]:
        return {each[1] for each in self._digests if each[0] == workspace and id(each[3]) in self.links}

    def reach(self, workspace: str, channel: str, topic: str, rhythm: str) -> int:
        return max((digest.window.through for digest in self._of(workspace, channel, topic, rhythm)), default=0)

    def _of(self, workspace: str, channel: str, topic: str, rhythm: str) -> list[Digest]:
        here = (digest for _, digest in self._digests_in(workspace, channel) if digest.topic == topic)
        return [digest for digest in here if _is_of(digest.rhythm, rhythm)]

    def _owed(self, workspace: str, channel: str, topic: str, rhythm: str) -> dict[int, Position]:
        place = (workspace, channel, topic)
        owed = self._unposted.items()
        return {number: begins for number, ((*of, its), begins, _) in owed if tuple(of) == place and _is_of(its, rhythm)}

    def posted_of(self, workspace: str, channel: str, digest: Digest) -> set[str]:
        return self._posted.get((workspace, channel), set()) & under_heirs(taken_over(digest), self._heirs(digest))

    def posted_beside(self, workspace: str, channel: str, digest: Digest) -> set[str]:
        here = (each for _, each in self._digests_in(workspace, channel) if each.topic == digest.topic and digest.rhythm)
        beside = (each for each in here if each.rhythm not in (digest.rhythm, ""))
        return {key for each in beside for key in posted_scores(each)} & under_heirs(
            posted_once(digest), self._heirs(digest)
        )

    def _heirs(self, digest: Digest) -> dict[str, str]:
        return {key: heir for key in posted_scores(digest) if (heir := self.heir(key))}

    def drop(self, ended: Delivery) -> bool:
        made = {id(digest) for digest in self._made(ended)}
        gone = [each for each in self._digests if id(each[3]) in made]
        for each in gone:
            self._digests.remove(each)
            self.links.pop(id(each[3]), None)
            since = (digest for *place, now, digest in self._digests if place == [*each[:2]] and now >= each[2])
            mine = (each[3].rhythm, "")
            others = [digest for digest in since if digest.topic != ended.topic or digest.rhythm not in mine]
            others.sort(key=lambda one: one.window.after)
            first = {(digest.topic, digest.rhythm): digest for digest in reversed(others)}
            for digest in (each[3], *(first[of] for of in sorted(first))):
                self._drops += 1
                place = (ended.workspace, ended.channel, digest.topic, digest.rhythm)
                after = self._begins_again(place, digest) if digest is each[3] else digest.window.after
                self._unposted[self._drops] = (place, Position(after, digest.since), ended_at(ended))
        here = (digest for _, digest in self._digests_in(ended.workspace, ended.channel))
        self._posted[ended.workspace, ended.channel] = set().union(*map(posted_scores, here))
        return any(digest.news for *_, digest in gone)

    def _begins_again(self, place: tuple[str, str, str, str], dropped: Digest) -> int:
        shown = {entry.ranked.item.key for entry in dropped.entries}
        others = self._of(*place)
        standing = {each.key for digest in others for each in digest.left_out if each.since is not None}
        carried = {each.key: each.arrival for each in dropped.carried if each.key in shown}
        return begins_again(dropped.window.after, carried, standing)

    async def posted(self, workspace: str, channel: str) -> frozenset[str]:
        """Return the keys already posted to the channel."""
        return frozenset(self._posted.get((workspace, channel), ()))

    async def last(
        self, workspace: str, channel: str, topic: str, rhythm: Rhythm | None = None
    ) -> tuple[date, Position] | None:
        digests = self._of(workspace, channel, topic, rhythm or "")
        ends = [(Position(digest.window.through, digest.until), digest.day) for digest in digests]
        return max(ends)[::-1] if ends else None

    async def unposted(self, workspace: str, channel: str, topic: str, rhythm: Rhythm | None = None) -> Unposted | None:
        """Return where the digests of the topic began that were dropped, where no later one makes up for them."""
        owed = self._owed(workspace, channel, topic, rhythm or "")
        return Unposted(min(owed.values()), max(owed)) if owed else None

    async def postings(self, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        return [
            Posting(key, digest.topic, digest.day, now, score, digest.subscription)
            for now, digest in self._digests_in(workspace, channel)
            for key, score in sorted(posted_scores(digest).items())
            if key in keys
        ]

    async def past(
        self,
        workspace: str,
        channel: str,
        *,
        topic: str = "",
        rhythm: Rhythm | None = None,
        with_entries: bool = False,
        saved_by: datetime | None = None,
        limit: int = 20,
    ) -> Sequence[PastDigest]:
        """Return the channel's digests, the last saved first."""
        found = [
            _remembered(digest, saved)
            for saved, digest in self._digests_in(workspace, channel)
            if topic in ("", digest.topic) and _is_of(digest.rhythm, rhythm or "") and (digest.entries or not with_entries)
            if saved_by is None or saved <= saved_by
        ]
        return found[:limit]

    def _digests_in(self, workspace: str, channel: str) -> list[tuple[datetime, Digest]]:
        here = [(now, digest) for *place, now, digest in reversed(self._digests) if place == [workspace, channel]]
        return sorted(here, key=lambda saved: saved[0], reverse=True)

    def prune(self, subscribed: Collection[tuple[str, str, str]], now: datetime) -> None:
        for number, (place, _, at) in list(self._unposted.items()):
            if at < now - KEPT and place[:3] not in subscribed:
                del self._unposted[number]
        self._digests = [each for each in self._digests if not self._is_over(each, now)]
        kept = {id(each[3]) for each in self._digests}
        self.links = {digest: link for digest, link in self.links.items() if digest in kept}

    def _is_over(self, saved: tuple[str, str, datetime, Digest], now: datetime) -> bool:
        """Say whether a digest that was to be posted at once came to nothing, and is not the one that looked furthest."""
        workspace, channel, at, digest = saved
        if digest.rhythm != Rhythm.AT_ONCE or digest.entries or digest.left_out or at >= now - KEPT_AT_ONCE:
            return False
        place = (workspace, channel, digest.topic)
        same = [each for *of, _, each in self._digests if (*of, each.topic) == place and each.rhythm == digest.rhythm]
        return any(each.window.through > digest.window.through for each in same)

    def held(self) -> set[str]:
        return set().union(*self._posted.values())

    def __len__(self) -> int:
        return len(self._digests)


class MemoryArchive:
    """bot.ports.digests.Archive."""

    def __init__(self, digests: MemoryDigests) -> None:
        self._digests = digests

    async def channels(self, workspace: str) -> Sequence[str]:
        return sorted(self._digests.in_archive(workspace))

    async def topics(self, workspace: str, channels: Collection[str]) -> Sequence[ArchivedTopic]:
        digests = [digest for *_, digest in self._digests.archived(workspace, channels)]
        found = []
        for name in sorted({each.topic for each in digests}):
            days = {each.day for each in digests if each.topic == name}
            titles = [each.title for each in digests if (each.topic, each.day) == (name, max(days))]
            found.append(ArchivedTopic(name, titles[-1], len(days), max(days)))
        return sorted(found, key=lambda topic: topic.last, reverse=True)

    async def days(
        self, workspace: str, channels: Collection[str], topic: str, *, before: date | None = None, limit: int = 31
    ) -> Sequence[ArchivedDay]:
        digests = [digest for *_, digest in self._digests.archived(workspace, channels) if digest.topic == topic]
        days = sorted({each.day for each in digests if before is None or each.day < before}, reverse=True)[:limit]
        shown = {day: {shown_mark(each): len(each.entries) for each in digests if each.day == day} for day in days}
        return [ArchivedDay(day, len(marks), sum(marks.values())) for day, marks in shown.items()]

    async def digests(
        self, workspace: str, channels: Collection[str], topic: str, day: date, *, limit: int = 50
    ) -> Sequence[ArchivedDigest]:
        here = [each for each in self._digests.archived(workspace, channels) if (each[2].topic, each[2].day) == (topic, day)]
        found: dict[str, list[ArchivedDigest]] = {}
        for channel, at, digest in here[:limit]:
            bare = replace(digest, entries=tuple(replace(each, card=(), why_here="") for each in digest.entries))
            mark, link = shown_mark(digest), self._digests.links[id(digest)]
            one = ArchivedDigest(mark=mark, digest=bare, saved_at=at, channels=(channel,), links=(link,))
            found.setdefault(mark, []).append(one)
        return [as_one(same) for same in found.values()]

    async def postings(
        self, workspace: str, channels: Collection[str], keys: Collection[str], *, limit: int = 50
    ) -> Sequence[ArchivedPosting]:
        archived = reversed(self._digests.archived(workspace, channels))
        found = [
            ArchivedPosting(
                key, channel, digest.topic, digest.title, digest.day, at, self._digests.links[id(digest)], shown_mark(digest)
            )
            for channel, at, digest in archived
            for key in sorted(set(keys) & {*posted_scores(digest)})
        ]
        return found[:limit]

    async def posted_entry(self, workspace: str, posting: ArchivedPosting) -> Entry | None:
        for _, at, digest in self._digests.archived(workspace, [posting.channel]):
            if (at, shown_mark(digest)) == (posting.at, posting.mark):
                found = entry_of(digest, posting.key)
                return found and replace(found, card=(), why_here="")
        return None


def _is_of(rhythm: str, asked: str) -> bool:
    return not asked or rhythm in (asked, "")


def _remembered(digest: Digest, saved: datetime) -> PastDigest:
    return PastDigest(
        topic=digest.topic,
        title=digest.title,
        day=digest.day,
        saved=saved,
        entries=tuple(entry.ranked.item.key for entry in digest.entries),
        left_out=digest.left_out,
        others=digest.others,
        seen=digest.coverage.seen,
        kept=digest.coverage.kept,
        dropped=digest.coverage.dropped,
        above=digest.above,
        cap=digest.cap,
        min_score=digest.min_score,
        rhythm=digest.rhythm,
        gists=tuple(entry.gist for entry in digest.entries),
    )
