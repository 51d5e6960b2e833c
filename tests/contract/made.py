"""What workspaces make, at random and in full: for hypothesis and for tests that need one of each."""

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any

from hypothesis import strategies as st

from bot.models import (
    Change,
    Coverage,
    Digest,
    Entry,
    Feedback,
    Interest,
    Item,
    Kind,
    Layout,
    Preferences,
    Query,
    Ranked,
    Schedule,
    Subscription,
    Summary,
    Topic,
)
from bot.query import parse, unparse
from tests.bot.query import generate
from tests.conftest import NOW

TODAY = NOW.date()
TOPICS = ("kv", "kv-cache", "gpu-systems")
CHANNELS = ("C1", "C2")
PEOPLE = ("U1", "U2")
KEYS = ("arxiv:2606.01234", "arxiv:2606.0123", "github:owner/name")

# Half of a character too: a platform's broken escape can bring it.
_texts = st.text(st.characters(), max_size=12)
_some = st.lists(_texts, max_size=3).map(tuple)
_times = st.integers(-(10**9), 10**9).map(lambda number: NOW + timedelta(seconds=number, microseconds=number % 10**6))
_scores = st.floats(0, 1)


def queries() -> st.SearchStrategy[Query]:
    """Give queries as a person types them, and the empty one."""
    return st.just(Query("")) | generate.queries().map(unparse).map(parse)


def topics() -> st.SearchStrategy[Topic]:
    """Give topics of every shape."""
    interests = st.builds(Interest, _texts, st.floats(-5, 5))
    return st.builds(
        Topic,
        name=st.sampled_from(TOPICS),
        title=_texts,
        description=_texts,
        query=queries(),
        interests=st.lists(interests, max_size=3).map(tuple),
        examples=_some | st.just((KEYS[0],)),
        sources=_some,
        categories=_some,
        min_score=_scores,
        repositories=_some,
        filter=queries(),
    )


def schedules() -> st.SearchStrategy[Schedule]:
    """Give schedules by days of the week and by the day of the month."""
    at, zone = st.times(), st.sampled_from(("UTC", "Europe/Zurich", "Asia/Kathmandu"))
    weekdays = st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days)))
    return st.builds(Schedule, weekdays=weekdays, at=at, zone=zone) | st.builds(
        Schedule, weekdays=st.just(()), month_day=st.integers(1, 31), at=at, zone=zone
    )


def subscriptions(workspace: str) -> st.SearchStrategy[Subscription]:
    """Give subscriptions of a workspace, of every shape."""
    return st.builds(
        Subscription,
        id=st.uuids().map(str),
        workspace=st.just(workspace),
        channel=st.sampled_from(CHANNELS),
        topic=st.sampled_from(TOPICS),
        schedule=schedules(),
        baseline=_times,
        entries=st.none() | st.integers(1, 30),
        min_score=st.none() | _scores,
        layout=st.none() | st.sampled_from(Layout),
        is_new_to_brief=st.booleans(),
        tag=st.sampled_from(("", "papers")),
        always=st.booleans(),
        filter=queries(),
        paused=st.booleans(),
        paused_until=st.none() | _times,
        paused_because=_texts,
        lifted_at=st.none() | _times,
        lifts=st.integers(0, 9),
        made_by=_texts,
        made_at=st.none() | _times,
    )


def preferences() -> st.SearchStrategy[Preferences]:
    """Give what a workspace may settle."""
    zones = st.sampled_from(("", "Europe/Zurich"))
    return st.builds(
        Preferences,
        manage=st.sampled_from(("", "anyone", "admins")),
        zone=zones,
        entries=st.none() | st.integers(1, 30),
        layout=st.none() | st.sampled_from(Layout),
        quiet_from=st.none() | st.times(),
        quiet_until=st.none() | st.times(),
        daily_entries=st.none() | st.integers(1, 30),
        alerts=st.sampled_from(("", *CHANNELS)),
        prefer_duplicate=st.lists(_texts, max_size=3).map(tuple),
        activity=st.booleans(),
        publish=st.lists(_texts, max_size=3).map(tuple),
        public=st.lists(_texts, max_size=3).map(tuple),
    )


def feedback(workspace: str, at: datetime) -> st.SearchStrategy[Feedback]:
    """Give what somebody says in a workspace at a time."""
    return st.builds(
        Feedback,
        workspace=st.just(workspace),
        topic=st.sampled_from(TOPICS),
        person=st.sampled_from(PEOPLE),
        key=st.sampled_from(KEYS),
        more=st.booleans(),
        at=st.just(at),
        channel=st.sampled_from(("", *CHANNELS)),
    )


def changes(workspace: str) -> st.SearchStrategy[Change]:
    """Give lines of a workspace's audit."""
    what = st.sampled_from(("topic kv", "settings"))
    return st.builds(Change, workspace=st.just(workspace), at=_times, person=_texts, what=what, before=_texts, after=_texts)


FULL_TOPIC = Topic(
    name="kv-cache",
    title="Caches 大小 \U0001f600 \x00 \ud83d <b>&amp;",
    description="Keys and values.\nHeld.",
    query=parse('("kv cache" OR (ti:cach* -cat:cs.CV)) upvotes:>3 sort:new'),
    interests=(Interest("author:Dao", 2.5), Interest("benchmark", -1.0)),
    examples=(KEYS[0], "A text to be close to"),
    sources=("arxiv", "feed:Lab Notes"),
    categories=("cs.DC", "stat.ML"),
    min_score=0.25,
    repositories=("kv cache in:readme stars:>50",),
    filter=parse("-survey published:14d"),
    revision=1,
)
FULL_SUBSCRIPTION = Subscription(
    id="s-1",
    workspace="T1",
    channel="C1",
    topic="kv-cache",
    schedule=Schedule(weekdays=(), month_day=31, at=time(21, 30), zone="Europe/Zurich"),
    baseline=NOW,
    entries=3,
    min_score=0.0,
    layout=Layout.THREAD,
    is_new_to_brief=True,
    always=True,
    tag="Papers of the day",
    filter=parse("has:code"),
    paused=True,
    paused_until=NOW + timedelta(days=3, microseconds=1),
    paused_at=NOW - timedelta(hours=1),
    paused_because="The channel is gone.",
    lifted_at=NOW - timedelta(days=1),
    lifts=2,
    made_by="U1",
    made_at=NOW - timedelta(days=1),
    revision=1,
)


def change(what: str = "topic kv", workspace: str = "T1", minutes: int = 0, **more: Any) -> Change:
    """A line of the audit."""
    return Change(workspace=workspace, at=NOW + timedelta(minutes=minutes), person="U1", what=what, **more)


def subscription(channel: str = "C1", topic: str = "kv", **changes: object) -> Subscription:
    """A plain subscription of workspace T1."""
    plain = Subscription(
        id=f"{channel} {topic}",
        workspace="T1",
        channel=channel,
        topic=topic,
        schedule=FULL_SUBSCRIPTION.schedule,
        baseline=NOW,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def said(key: str = KEYS[0], *, more: bool = True, minutes: int = 0, **changes: object) -> Feedback:
    """What U1 said of an item."""
    at = NOW + timedelta(minutes=minutes)
    plain = Feedback(workspace="T1", topic="kv", person="U1", key=key, more=more, at=at, channel="C1")
    return replace(plain, **changes)  # type: ignore[arg-type]


def paper(number: int, **changes: object) -> Item:
    """A plain paper, old enough to be pruned."""
    plain = Item(key=f"arxiv:2604.{number:05}", kind=Kind.PAPER, title=f"Paper {number}", seen=NOW - timedelta(days=100))
    return replace(plain, **changes)  # type: ignore[arg-type]


def digest(*scores: float, first: int = 1, topic: str = "kv", day: date = TODAY, partner: Item | None = None) -> Digest:
    """A digest of papers with these scores, numbered from `first`."""
    ranked = (Ranked(paper(number), score) for number, score in enumerate(scores, first))
    entries = tuple(Entry(each, Summary((), "abstract", "extractive"), partner) for each in ranked)
    return Digest(topic, "KV", day, NOW - timedelta(days=1), NOW, entries, Coverage((), len(entries), len(entries)))
