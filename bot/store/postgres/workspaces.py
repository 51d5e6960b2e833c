"""What workspaces settled, in SQL: topics, subscriptions, preferences, and the audit of every change.

Each method that writes is one transaction, so that what it compares, what it writes and the line in the audit are one. Who
writes of a topic or of a subscription to it holds the lock of the workspace's topic from before it reads until it has
written: of two who have read the same, the second finds what the first wrote, also where nothing was there before. The rows
of subscriptions are locked as well, as the ledger writes to them by their ids.
"""

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, TypeVar

from bot.errors import StoreError
from bot.models import (
    MOST_FEEDS,
    AssistantAccess,
    AssistantToken,
    Change,
    FeedAccess,
    Feedback,
    Preferences,
    Saved,
    SavedInChannel,
    Subscription,
    Topic,
)
from bot.store.postgres import ledger
from bot.store.postgres.connections import Db, Tables, aside, asking, locked, reading, writing
from bot.store.records import (
    change_from_text,
    feedback_from_row,
    micros,
    or_damaged,
    preferences_from_text,
    subscription_from_text,
    time_of,
    to_text,
    topic_from_text,
    wakes,
)
from bot.store.rules.revisions import (
    expect,
    expect_readable,
    expect_settled,
    expect_stored,
    expect_subscription,
    expect_unused,
)
from bot.store.rules.saved import counted_in_channel

T = TypeVar("T")

_AT_ONCE = 100  # rows that are read on the event loop; more of them take a thread


async def _each(rows: Sequence[tuple[Any, ...]], read: Callable[..., T]) -> list[T]:
    """Return what each row says."""
    if len(rows) <= _AT_ONCE:
        return [read(*row) for row in rows]
    return await aside(lambda: [read(*row) for row in rows])


class PostgresWorkspaces(Tables):
    """bot.ports.workspaces.Workspaces."""

    @asking
    async def topics(self, db: Db, workspace: str) -> Mapping[str, Topic]:
        sql = "select name, data from topics where workspace = %s order by name"
        rows = await (await db.execute(sql, [workspace])).fetchall()
        return dict(await _each(rows, lambda name, data: (name, topic_from_text(data))))

    @writing
    async def save_topic(self, db: Db, workspace: str, topic: Topic, change: Change, *, replaces: int) -> Topic:
        expect_readable(topic)
        await _expect_topic(db, workspace, topic.name, replaces)
        fresh = replace(topic, revision=replaces + 1)
        await db.execute(
            "insert into topics (workspace, name, revision, data) values (%s, %s, %s, %s)"
            " on conflict (workspace, name) do update set revision = excluded.revision, data = excluded.data",
            [workspace, fresh.name, fresh.revision, to_text(fresh)],
        )
        await note(db, change)
        return fresh

    @writing
    async def delete_topic(
        self,
        db: Db,
        workspace: str,
        name: str,
        change: Change,
        *,
        replaces: int,
        keep_uses: bool = False,
        only_unused: bool = False,
    ) -> None:
        await _expect_topic(db, workspace, name, replaces)
        if only_unused:
            expect_unused(len(await subscriptions_of(db, workspace, "", name)), name)
        await db.execute("delete from topics where workspace = %s and name = %s", [workspace, name])
        if not keep_uses:
            await end_subscriptions(db, workspace, "topic", name)
            await db.execute("delete from feedback where workspace = %s and topic = %s", [workspace, name])
        await note(db, change)

    @asking
    async def subscriptions(self, db: Db, workspace: str, *, channel: str = "", topic: str = "") -> Sequence[Subscription]:
        return await subscriptions_of(db, workspace, channel, topic)

    @writing
    async def save_subscription(self, db: Db, subscription: Subscription, change: Change, *, replaces: int) -> Subscription:
        expect_readable(subscription)
        expect_subscription(await _standing(db, subscription), subscription, replaces)
        fresh = replace(subscription, revision=replaces + 1)
        place = [fresh.workspace, fresh.channel, fresh.topic, fresh.rhythm]
        others = await db.execute(
            "select 1 from subscriptions where workspace = %s and id = %s and (channel, topic, rhythm) <> (%s, %s, %s)",
            [fresh.workspace, fresh.id, fresh.channel, fresh.topic, fresh.rhythm],
        )
        if await others.fetchone():
            raise StoreError(f"The subscription {fresh.id} is that of another channel, topic or rhythm.")
        # `next_due` is unknown again: the next occurrence of another schedule is another.
        await db.execute(
            "insert into subscriptions (workspace, channel, topic, rhythm, id, revision, wakes, data)"
            " values (%s, %s, %s, %s, %s, %s, %s, %s) on conflict (workspace, channel, topic, rhythm) do update set"
            " id = excluded.id, revision = excluded.revision, wakes = excluded.wakes, data = excluded.data,"
            " next_due = null",
            [*place, fresh.id, fresh.revision, wakes(fresh.paused, fresh.paused_until), to_text(fresh)],
        )
        await note(db, change)
        return fresh

    @writing
    async def delete_subscription(self, db: Db, subscription: Subscription, change: Change) -> None:
        expect_stored(await _standing(db, subscription), subscription)
        await db.execute(
            "delete from subscriptions where workspace = %s and id = %s", [subscription.workspace, subscription.id]
        )
        await ledger.end(db, subscription.workspace, [subscription.id])
        await note(db, change)

    @reading
    async def public(self, db: Db) -> Mapping[str, Sequence[str]]:
        found = {}
        sql = """select workspace, data from preferences where strpos(data, '"public"') > 0 order by workspace"""
        for workspace, data in await (await db.execute(sql)).fetchall():
            with contextlib.suppress(StoreError):  # a damaged one shows nothing to anybody
                found[workspace] = preferences_from_text(data).public
        return {workspace: channels for workspace, channels in found.items() if channels}

    @asking
    async def preferences(self, db: Db, workspace: str) -> Preferences:
        return await preferences_of(db, workspace)

    @reading
    async def preferences_of(self, db: Db, workspaces: Collection[str]) -> Mapping[str, Preferences]:
        sql = "select workspace, data from preferences where workspace = any(%s)"
        rows = await (await db.execute(sql, [list(workspaces)])).fetchall()
        read = dict(await _each(rows, lambda workspace, data: (workspace, _preferences_or_none(data))))
        found = {workspace: read.get(workspace, Preferences()) for workspace in workspaces}
        return {workspace: preferences for workspace, preferences in found.items() if preferences is not None}

    @writing
    async def save_preferences(
        self, db: Db, workspace: str, preferences: Preferences, change: Change, *, replaces: Preferences | None = None
    ) -> None:
        await locked(db, "preferences", workspace)  # there may be no row yet
        expect_settled(replaces, await preferences_of(db, workspace))
        await db.execute(
            "insert into preferences (workspace, data) values (%s, %s)"
            " on conflict (workspace) do update set data = excluded.data",
            [workspace, to_text(preferences)],
        )
        await note(db, change)

    @reading
    async def changes(self, db: Db, workspace: str, *, about: str = "", limit: int = 20) -> Sequence[Change]:
        sql = "select data from changes where workspace = %s order by at desc, id desc limit %s"
        if not about:
            return await _changes(db, sql, workspace, limit)
        # Two parts, so that few changes among many are found by the index of `what`. What begins with the words and a space
        # lies before the words and a "!", which follows the space.
        latest = "order by at desc, id desc limit %s"
        some = "(select at, id, data from changes where workspace = %s and what"
        either = f"{some} = %s {latest}) union all {some} >= %s and what < %s {latest})"
        sql = f"select data from ({either}) as found {latest}"
        words = (f"{about}{end}".encode() for end in ("", " ", "!"))
        exactly, begin, end = words
        return await _changes(db, sql, workspace, exactly, limit, workspace, begin, end, limit, limit)


class PostgresPeople(Tables):
    """bot.ports.workspaces.People."""

    @asking
    async def feedback(self, db: Db, workspace: str, topic: str) -> Sequence[Feedback]:
        sql = (
            "select person, key, more, at, channel from feedback where workspace = %s and topic = %s"
            " order by at, person, key"
        )
        rows = await (await db.execute(sql, [workspace, topic])).fetchall()
        return await _each(rows, lambda *row: feedback_from_row(workspace, topic, row))

    @writing
    async def save_feedback(self, db: Db, feedback: Feedback, change: Change) -> bool:
        sql = (
            "insert into feedback (workspace, topic, person, key, more, at, channel) values (%s, %s, %s, %s, %s, %s, %s)"
            " on conflict (workspace, topic, person, key) do update set more = excluded.more, at = excluded.at,"
            " channel = excluded.channel where feedback.more <> excluded.more"
        )
        fresh = (await db.execute(sql, _feedback_row(feedback))).rowcount == 1
        if fresh:
            await note(db, change)
        return fresh

    @writing
    async def drop_feedback(self, db: Db, given: Collection[Feedback], change: Change) -> int:
        if not given:
            return 0
        sql = (
            "delete from feedback where workspace = %s and topic = %s and person = %s and key = %s"
            " and more = %s and at = %s and channel = %s"
        )
        cursor = db.cursor()
        await cursor.executemany(sql, sorted(map(_feedback_row, given)))  # in one order, for whoever drops the same
        if cursor.rowcount:
            await note(db, change)
        return cursor.rowcount

    @reading
    async def saved(self, db: Db, workspace: str, person: str) -> Sequence[Saved]:
        sql = "select key, at from saved where workspace = %s and person = %s order by at desc, key"
        return [Saved(key, time_of(at)) for key, at in await (await db.execute(sql, [workspace, person])).fetchall()]

    @writing
    async def save_item(
        self, db: Db, workspace: str, person: str, saved: Saved, *, channel: str = "", link: str = ""
    ) -> bool:
        await _lock_saved(db, workspace, person)
        sql = "insert into saved (workspace, person, key, at) values (%s, %s, %s, %s) on conflict do nothing"
        is_new = (await db.execute(sql, [workspace, person, saved.key, micros(saved.at)])).rowcount == 1
        if channel:
            sql = (
                "insert into saved_in (workspace, channel, key, person, at, link) values (%s, %s, %s, %s, %s, %s)"
                " on conflict (workspace, channel, key, person) do update set"
                " link = case when saved_in.link = '' then excluded.link else saved_in.link end,"
                " at = greatest(saved_in.at, excluded.at)"
            )
            await db.execute(sql, [workspace, channel, saved.key, person, micros(saved.at), link])
        return is_new

    @writing
    async def unsave_item(self, db: Db, workspace: str, person: str, key: str) -> bool:
        await _lock_saved(db, workspace, person)
        its = "workspace = %s and person = %s and key = %s"
        await db.execute(f"delete from saved_in where {its}", [workspace, person, key])
        return (await db.execute(f"delete from saved where {its}", [workspace, person, key])).rowcount == 1

    @reading
    async def saved_in(self, db: Db, workspace: str, channel: str) -> Sequence[SavedInChannel]:
        heir = "select items.key from aliases join items on items.id = aliases.item where aliases.alias = saved_in.key"
        known = "select from items where items.key = saved_in.key"
        sql = (
            f"select case when exists ({known}) then key else coalesce(({heir}), key) end, person, at, link"
            " from saved_in where workspace = %s and channel = %s"
        )
        rows = await (await db.execute(sql, [workspace, channel])).fetchall()
        read = ((key, person, time_of(at), link) for key, person, at, link in rows)
        return await aside(lambda: counted_in_channel(read))

    @writing
    async def allow_feeds(self, db: Db, access: FeedAccess) -> bool:
        whose = [access.workspace, access.person]
        await locked(db, "feeds", *whose)  # there may be no row yet, and as many as there are decide
        sql = "select count(*) from feeds where workspace = %s and person = %s"
        row = await (await db.execute(sql, whose)).fetchone()
        if row is None or row[0] >= MOST_FEEDS:
            return False
        await db.execute(
            "insert into feeds (workspace, person, hash, platform, channel, is_direct, reading_list, topic, made_at)"
            " values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                *(*whose, access.hashed, access.platform, access.channel, int(access.is_direct)),
                *(access.reading_list, access.topic, micros(access.made_at)),
            ],
        )
        return True

    @reading
    async def feeds_by(self, db: Db, hashed: str) -> FeedAccess | None:
        # Of whatever workspace: nobody but who was given the token knows what has this hash.
        sql = (
            "select platform, workspace, person, channel, is_direct, reading_list, topic, made_at from feeds where hash = %s"
        )
        row = await (await db.execute(sql, [hashed])).fetchone()
        if row is None:
            return None
        platform, workspace, person, channel, is_direct, reading_list, topic, made_at = row
        return FeedAccess(
            hashed=hashed,
            platform=platform,
            workspace=workspace,
            person=person,
            channel=channel,
            is_direct=bool(is_direct),
            reading_list=reading_list,
            topic=topic,
            made_at=time_of(made_at),
        )

    @writing
    async def revoke_feeds(self, db: Db, workspace: str, person: str, *, topic: str = "") -> int:
        sql = "delete from feeds where workspace = %(workspace)s and person = %(person)s"
        if topic:
            sql += " and topic = %(topic)s"
        return (await db.execute(sql, {"workspace": workspace, "person": person, "topic": topic})).rowcount


_ASSISTANTS = "select name, hash, workspace, channel, person, may_write, made_at, used_on, revoked_at from assistants"


class PostgresAssistants(Tables):
    """bot.ports.workspaces.Assistants: of all workspaces, as the operator gives and ends the tokens."""

    @writing
    async def allow(self, db: Db, token: AssistantToken) -> bool:
        access = token.access
        sql = (
            "insert into assistants (name, hash, workspace, channel, person, may_write, made_at, used_on)"
            " values (%s, %s, %s, %s, %s, %s, %s, %s) on conflict (name) do update set hash = excluded.hash,"
            " workspace = excluded.workspace, channel = excluded.channel, person = excluded.person,"
            " may_write = excluded.may_write, made_at = excluded.made_at, used_on = excluded.used_on, revoked_at = null"
            " where assistants.revoked_at is not null"
        )
        whose = (access.workspace, access.channel, access.person, int(access.may_write))
        used_on = token.used_on.isoformat() if token.used_on else ""
        given = [token.name, token.hashed, *whose, micros(token.made_at), used_on]
        return (await db.execute(sql, given)).rowcount == 1

    @reading
    async def by_hash(self, db: Db, hashed: str) -> AssistantToken | None:
        row = await (await db.execute(f"{_ASSISTANTS} where hash = %s and revoked_at is null", [hashed])).fetchone()
        return _assistant(*row) if row else None

    @reading
    async def every(self, db: Db) -> Sequence[AssistantToken]:
        return [_assistant(*row) for row in await (await db.execute(f"{_ASSISTANTS} order by name")).fetchall()]

    @writing
    async def revoke(self, db: Db, name: str, now: datetime) -> bool:
        sql = "update assistants set revoked_at = %s where name = %s and revoked_at is null"
        return (await db.execute(sql, [micros(now), name])).rowcount == 1

    @writing
    async def note_use(self, db: Db, hashed: str, day: date) -> None:
        given = day.isoformat()
        await db.execute("update assistants set used_on = %s where hash = %s and used_on < %s", [given, hashed, given])


@or_damaged
def _assistant(
    name: str,
    hashed: str,
    workspace: str,
    channel: str,
    person: str,
    may_write: int,
    made_at: int,
    used_on: str,
    revoked_at: int | None,
) -> AssistantToken:
    access = AssistantAccess(workspace=workspace, channel=channel, person=person, may_write=bool(may_write))
    return AssistantToken(
        name=name,
        hashed=hashed,
        access=access,
        made_at=time_of(made_at),
        used_on=date.fromisoformat(used_on) if used_on else None,
        revoked_at=None if revoked_at is None else time_of(revoked_at),
    )


def _feedback_row(given: Feedback) -> tuple[str, str, str, str, int, int, str]:
    said = (int(given.more), micros(given.at), given.channel)
    return (given.workspace, given.topic, given.person, given.key, *said)


async def _lock_saved(db: Db, workspace: str, person: str) -> None:
    """Let the person's rows in `saved` and `saved_in` be written by nobody else: none of the second is without the first."""
    await locked(db, "saved", workspace, person)


# --- topics


async def _lock_topic(db: Db, workspace: str, name: str) -> None:
    await locked(db, "topic", workspace, name)


async def _expect_topic(db: Db, workspace: str, name: str, replaces: int) -> None:
    """Lock the topic, and raise Conflict unless it is in that revision."""
    await _lock_topic(db, workspace, name)
    cursor = await db.execute("select revision from topics where workspace = %s and name = %s", [workspace, name])
    row = await cursor.fetchone()
    expect(row[0] if row else 0, replaces, f"the topic {name}")


# --- subscriptions


async def subscriptions_of(db: Db, workspace: str, channel: str, topic: str) -> Sequence[Subscription]:
    """Return the subscriptions in order, "" standing for every channel or topic."""
    named = {name: value for name, value in (("channel", channel), ("topic", topic)) if value}
    wanted = "".join(f" and {name} = %s" for name in named)
    sql = f"select data from subscriptions where workspace = %s{wanted} order by channel, topic, rhythm"
    return await _each(await (await db.execute(sql, [workspace, *named.values()])).fetchall(), subscription_from_text)


async def end_subscriptions(db: Db, workspace: str, column: str, value: str) -> None:
    """Forget the subscriptions of a channel or a topic, and post nothing more for them.

    They are locked in the order of their ids, as the ledger does, and gone before it is asked what is due for them: who
    opens an occurrence has locked its subscription.
    """
    sql = (
        f"with ended as (select id from subscriptions where workspace = %s and {column} = %s order by id for update)"
        " delete from subscriptions using ended where workspace = %s and subscriptions.id = ended.id returning ended.id"
    )
    rows = await (await db.execute(sql, [workspace, value, workspace])).fetchall()
    await ledger.end(db, workspace, [number for (number,) in rows])


async def _standing(db: Db, given: Subscription) -> tuple[str, int] | None:
    """Lock the topic and the subscription in that place, and return the id and the revision of what is there."""
    await _lock_topic(db, given.workspace, given.topic)
    sql = (
        "select id, revision from subscriptions where workspace = %s and channel = %s and topic = %s and rhythm = %s"
        " for update"
    )
    place = [given.workspace, given.channel, given.topic, given.rhythm]
    row: tuple[str, int] | None = await (await db.execute(sql, place)).fetchone()
    return row


# --- preferences and the audit


async def preferences_of(db: Db, workspace: str) -> Preferences:
    """Return what the workspace settled."""
    row = await (await db.execute("select data from preferences where workspace = %s", [workspace])).fetchone()
    return preferences_from_text(row[0]) if row else Preferences()


def _preferences_or_none(text: str) -> Preferences | None:
    try:
        return preferences_from_text(text)
    except StoreError:
        return None


async def note(db: Db, change: Change) -> None:
    """Write the line in the audit."""
    await db.execute(
        "insert into changes (workspace, at, what, data) values (%s, %s, %s, %s)",
        [change.workspace, micros(change.at), change.what.encode(), to_text(change)],
    )


async def _changes(db: Db, sql: str, *values: object) -> list[Change]:
    return await _each(await (await db.execute(sql, list(values))).fetchall(), change_from_text)
