"""A store that forgets at the end of the process: for tests, trials and as the plainest statement of the contract."""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from bot.atomic_file import write_whole
from bot.errors import StoreError
from bot.models import (
    Change,
    Delivery,
    Digest,
    Feedback,
    Hit,
    Item,
    Kind,
    Near,
    Page,
    Posting,
    Preferences,
    Query,
    Reading,
    Saved,
    SourceState,
    Subscription,
    Summary,
    Topic,
    Tree,
)
from bot.query.fields import fold_label
from bot.query.match import Folded, matches
from bot.store.records.items import item_to_text, newness, posted_scores
from bot.store.rules.pages import Lists, read_mark
from bot.store.rules.search_terms import split
from bot.store.sqlite.labels import commonest, values_of
from tests.stores.memory_chats import MemoryChats
from tests.stores.memory_search import cosines_of, ranked, relevance, similar
from tests.stores.memory_vectors import Meanings, MemoryVectors
from tests.stores.memory_workspaces import Workspaces


class MemoryStore(MemoryVectors, MemoryChats):
    """The store, the ledger and the chats in dictionaries. Nothing waits; what is given is frozen, so not copied."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._meanings = Meanings(self._items)
        self._numbers: dict[str, int] = {}  # of each item, in the order in which they were first stored
        self._last = 0
        self._changes = 0
        self._lists = Lists[str]()
        self._aliases: dict[str, str] = {}
        self._readings: dict[str, dict[date, Reading]] = {}
        self._states: dict[str, SourceState] = {}
        self._digests: list[tuple[str, str, datetime, Digest]] = []  # workspace, channel, when it was saved
        self._posted: dict[tuple[str, str], set[str]] = {}
        super().__init__(Workspaces(), self._keep)
        self._summaries: dict[tuple[str, str, str], Summary] = {}
        self._spent: dict[date, int] = {}
        self._facts: dict[str, str] = {}

    async def open(self) -> None:
        """Do nothing: there is nothing to make ready."""

    async def close(self) -> None:
        """Do nothing: a memory store may be opened again and still knows everything."""

    # --- items

    async def find(self, keys: Collection[str]) -> Mapping[str, Item]:
        """Return the item known under each key or alias."""
        known = ((key, self._items.get(key) or self._items.get(self._aliases.get(key, ""))) for key in keys)
        return {key: item for key, item in known if item is not None}

    async def add(
        self, items: Sequence[Item], now: datetime, *, retired: Collection[str] = (), state: SourceState | None = None
    ) -> None:
        """Insert or replace whole items; the readings of a retired key pass to the item that names it as an alias."""
        fresh = {item.key: replace(item, seen=item.seen or now) for item in items}
        heirs = {alias: item.key for item in fresh.values() for alias in item.aliases}
        for key in sorted(set(retired) - fresh.keys()):
            self._drop(key, heirs.get(key))
        for item in fresh.values():
            self._put(item, now)
        if state is not None:
            self._states[state.name] = state

    def _put(self, item: Item, now: datetime) -> None:
        self._changes += 1
        self._forget_aliases(item.key)
        self._meanings.forget(item.key, item)
        if item.key not in self._items:
            self._last += 1
            self._numbers[item.key] = self._last
        self._items[item.key] = item
        self._aliases.update(dict.fromkeys(item.aliases, item.key))
        day = now.astimezone(UTC).date()
        reading = Reading(day, item.stars, item.forks, item.upvotes)
        if reading != Reading(day):
            self._readings.setdefault(item.key, {})[reading.day] = reading

    def _drop(self, key: str, heir: str | None) -> None:
        self._changes += 1
        self._forget_aliases(key)
        self._meanings.forget(key)
        self._items.pop(key, None)
        self._numbers.pop(key, None)
        left = self._readings.pop(key, {})
        if heir is not None and left:
            self._readings[heir] = {**left, **self._readings.get(heir, {})}

    def _forget_aliases(self, key: str) -> None:
        for alias in self._items[key].aliases if key in self._items else ():
            if self._aliases.get(alias) == key:
                del self._aliases[alias]

    async def search(
        self, query: Query, now: datetime, *, limit: int = 10, offset: int = 0, mark: str = "", near: Near | None = None
    ) -> Page:
        """Return a page of what the query finds."""
        last = read_mark(mark, self._last)
        shown = self._lists.shown(query, mark) if mark else ()
        known = {key for key, _ in shown}
        found = [*shown, *(pair for pair in self._matching(query, now, last, near) if pair[0] not in known)]
        page = found[offset : offset + limit]
        self._lists.keep(query, str(last), offset, page)
        hits = tuple(Hit(self._items[key], relevance) for key, relevance in page if key in self._items)
        return Page(hits, more=len(found) > offset + limit, mark=str(last))

    def _matching(self, query: Query, now: datetime, last: int, near: Near | None) -> list[tuple[str, float]]:
        words, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
        known = (item for item in self._items.values() if self._numbers[item.key] <= last)
        ordered = sorted(known, key=newness, reverse=True)
        hits = [Hit(item, relevance(item, words)) for item in ordered if matches(rest, Folded(item), now)]
        if words:
            meant = near if all(words) else None
            hits = ranked(hits, words, self._numbers, meant, self._meanings)
        if query.sort in ("stars", "upvotes"):
            hits.sort(key=lambda hit: -(_number(hit.item, query.sort)))
        return [(hit.item.key, hit.relevance) for hit in hits]

    async def similar(self, item: Item, now: datetime, *, limit: int = 10, near: Near | None = None) -> Sequence[Hit]:
        """Return the items whose texts are closest to the item's."""
        others = tuple(self._items.values())
        cosines = cosines_of(others, self._numbers, near, self._meanings)
        return await asyncio.to_thread(similar, item, others, self._last, limit, cosines, near.enough if near else math.inf)

    async def values(self, field: str, beginning: str, *, limit: int = 25) -> Sequence[tuple[str, int]]:
        """Return the values of a label field that begin so, with their counts; the commonest first."""
        start = fold_label(beginning)
        every = Counter(pair for item in self._items.values() for pair in values_of(item))
        begun = ((value, number) for (name, value), number in every.items() if name == field and value.startswith(start))
        return commonest(begun, limit)

    async def count(self, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        """Count the items for which the tree holds."""
        young = (item for item in self._items.values() if since is None or _seen(item) >= since)
        return sum(matches(tree, Folded(item), now) for item in young)

    async def matching(self, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        """Return the items first seen since for which the tree holds, newest first."""
        found = (item for item in self._items.values() if _seen(item) >= since and matches(tree, Folded(item), now))
        return sorted(found, key=lambda item: (_seen(item), newness(item)), reverse=True)

    async def items_since(self, since: datetime, until: datetime) -> Sequence[Item]:
        """Return the items first seen in the span, newest first."""
        within = (item for item in self._items.values() if since <= _seen(item) < until)
        return sorted(within, key=lambda item: (_seen(item), newness(item)), reverse=True)

    async def items_mark(self) -> str:
        """Return how often items or readings were changed."""
        return str(self._changes)

    async def readings(self, keys: Collection[str], since: date) -> Mapping[str, Sequence[Reading]]:
        """Return each item's readings, oldest first."""
        kept = {key: [reading for reading in self._readings.get(key, {}).values() if reading.day >= since] for key in keys}
        return {key: sorted(some, key=lambda reading: reading.day) for key, some in kept.items() if some}

    # --- sources

    async def source_state(self, name: str) -> SourceState:
        """Return what is remembered of the source."""
        return self._states.get(name, SourceState(name=name))

    async def save_source_state(self, state: SourceState) -> None:
        """Remember it."""
        self._states[state.name] = state

    # --- digests

    async def save_digest(self, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        """Keep the digest and what it posted."""
        self._keep(workspace, channel, digest, now)

    def _keep(self, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        self._digests.append((workspace, channel, now, digest))
        self._posted.setdefault((workspace, channel), set()).update(posted_scores(digest))
        self._take_over((workspace, channel, digest.topic), digest.until)

    def _undo_digest(self, ended: Delivery) -> None:
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

    async def last_digest(self, workspace: str, channel: str, topic: str) -> tuple[date, datetime] | None:
        """Return the day and the `until` of the channel's newest digest of the topic."""
        digests = (digest for _, digest in self._digests_in(workspace, channel))
        spans = [(digest.until, digest.day) for digest in digests if digest.topic == topic]
        return max(spans)[::-1] if spans else None

    async def postings(self, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        """Return when items of these keys were posted to the channel, the latest first."""
        return [
            Posting(key, digest.topic, digest.day, now, score)
            for now, digest in self._digests_in(workspace, channel)
            for key, score in sorted(posted_scores(digest).items())
            if key in keys
        ]

    async def last_entries(self, workspace: str, channel: str) -> Sequence[str]:
        """Return the keys of the entries of the channel's newest digest that has any."""
        entries = (digest.entries for _, digest in self._digests_in(workspace, channel) if digest.entries)
        return [entry.ranked.item.key for entry in next(entries, ())]

    def _digests_in(self, workspace: str, channel: str) -> list[tuple[datetime, Digest]]:
        """Return the channel's digests and when they were saved, the latest first."""
        here = [(now, digest) for *place, now, digest in reversed(self._digests) if place == [workspace, channel]]
        return sorted(here, key=lambda saved: saved[0], reverse=True)

    # --- what a workspace made

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return the workspace's own topics by name."""
        return self._made.topics(workspace)

    async def save_topic(self, workspace: str, topic: Topic, change: Change, *, replaces: int) -> Topic:
        """Keep the topic as the next revision."""
        return self._made.save_topic(workspace, topic, change, replaces)

    async def delete_topic(
        self, workspace: str, name: str, change: Change, *, replaces: int, keep_uses: bool = False
    ) -> None:
        """Forget the topic, and unless they are to be kept its subscriptions and its feedback."""
        gone = () if keep_uses else self._made.subscriptions(workspace, "", name)
        self._made.delete_topic(workspace, name, change, replaces, keep_uses=keep_uses)
        self._end(gone)

    async def subscriptions(self, workspace: str, *, channel: str = "", topic: str = "") -> Sequence[Subscription]:
        """Return the workspace's subscriptions, ordered by channel, then topic."""
        return self._made.subscriptions(workspace, channel, topic)

    async def save_subscription(self, subscription: Subscription, change: Change, *, replaces: int) -> Subscription:
        """Keep the subscription as the next revision."""
        return self._made.save_subscription(subscription, change, replaces)

    async def delete_subscription(self, subscription: Subscription, change: Change) -> None:
        """Forget the subscription."""
        self._made.delete_subscription(subscription, change)
        self._end((subscription,))

    async def feedback(self, workspace: str, topic: str) -> Sequence[Feedback]:
        """Return what was said for the topic, the oldest first."""
        return self._made.feedback(workspace, topic)

    async def save_feedback(self, feedback: Feedback, change: Change) -> None:
        """Keep a person's last word on an item for a topic."""
        self._made.save_feedback(feedback, change)

    async def drop_feedback(self, given: Collection[Feedback], change: Change) -> int:
        """Take back what was said, as far as it still stands so."""
        return self._made.drop_feedback(given, change)

    async def saved(self, workspace: str, person: str) -> Sequence[Saved]:
        """Return what the person put aside, the latest first."""
        return self._made.saved(workspace, person)

    async def save_item(self, workspace: str, person: str, saved: Saved) -> bool:
        """Put an item aside."""
        return self._made.save_item(workspace, person, saved)

    async def unsave_item(self, workspace: str, person: str, key: str) -> bool:
        """Take an item back from what the person put aside."""
        return self._made.unsave_item(workspace, person, key)

    async def preferences(self, workspace: str) -> Preferences:
        """Return what the workspace settled for itself."""
        return self._made.preferences(workspace)

    async def save_preferences(
        self, workspace: str, preferences: Preferences, change: Change, *, replaces: Preferences | None = None
    ) -> None:
        """Keep it."""
        self._made.save_preferences(workspace, preferences, change, replaces)

    async def changes(self, workspace: str, *, about: str = "", limit: int = 20) -> Sequence[Change]:
        """Return the latest changes, the newest first."""
        return self._made.changes(workspace, about, limit)

    # --- summaries

    async def cached_summary(self, key: str, made_by: str, digest_of_text: str) -> Summary | None:
        """Return a kept summary."""
        return self._summaries.get((key, made_by, digest_of_text))

    async def save_summary(self, key: str, made_by: str, digest_of_text: str, summary: Summary, now: datetime) -> None:
        """Keep a summary."""
        self._summaries[key, made_by, digest_of_text] = summary

    async def spent(self, day: date) -> int:
        """Return how many tokens were used on the day."""
        return self._spent.get(day, 0)

    async def spend(self, day: date, tokens: int) -> None:
        """Add to the day's tokens."""
        self._spent[day] = self._spent.get(day, 0) + tokens

    # --- small facts and maintenance

    async def get_fact(self, name: str) -> str:
        """Return a small remembered text."""
        return self._facts.get(name, "")

    async def set_fact(self, name: str, value: str) -> None:
        """Remember a small text."""
        self._facts[name] = value

    async def statistics(self) -> Mapping[str, int]:
        """Return row counts; `bytes` is 0, as nothing lies on a disk."""
        kinds = [item.kind for item in self._items.values()]
        counts = {f"{kind}s": kinds.count(kind) for kind in Kind}
        readings = sum(map(len, self._readings.values()))
        rows = {"items": len(kinds), **counts, "readings": readings, "digests": len(self._digests)}
        return {**rows, **self._made.statistics(), "vectors": len(self._meanings), "bytes": 0}

    async def prune(self, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        """Drop old items that nobody holds, and old readings."""
        held = self._made.held().union(*self._posted.values())
        old = [item for item in self._items.values() if _seen(item) < items_before]
        gone = [item.key for item in old if not held.intersection((item.key, *self._own_aliases(item)))]
        self._changes += 1
        before = sum(map(len, self._readings.values()))
        self._drop_old(now)
        for key in gone:
            self._drop(key, None)
        for days in self._readings.values():
            for day in [day for day in days if day < readings_before]:
                del days[day]
        self._summaries = {at: summary for at, summary in self._summaries.items() if at[0] not in gone}
        return {"items": len(gone), "readings": before - sum(map(len, self._readings.values()))}

    def _own_aliases(self, item: Item) -> list[str]:
        """The aliases under which the item is found: not those that are another item's key, or lead to another."""
        return [each for each in item.aliases if each not in self._items and self._aliases.get(each) == item.key]

    async def check(self) -> list[str]:
        """Return no fault: nothing can be out of step."""
        return []

    async def backup(self, path: Path) -> None:
        """Write the items as JSON lines; readings and digests stay behind, as this store is for trials."""
        lines = [json.dumps("Broadsheet items"), *map(item_to_text, self._items.values())]
        try:
            await asyncio.to_thread(write_whole, path, "".join(f"{line}\n" for line in lines))
        except OSError as error:
            raise StoreError(f"The backup cannot be written to {path}: {error.strerror}.") from error

    async def vacuum(self) -> int:
        """Return 0: there is nothing to give back."""
        return 0


def _seen(item: Item) -> datetime:
    assert item.seen is not None
    return item.seen


def _number(item: Item, name: str) -> float:
    value = item.stars if name == "stars" else item.upvotes
    return -1 if value is None else value
