"""What workspaces settled, in SQL: topics, subscriptions, preferences, and the audit of every change.

Each function that writes runs inside the writer's transaction, so that what it compares, what it writes and the line in the
audit are one. Every statement names the workspace, except those that say so.
"""

import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from sqlite_utils import Database

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
from bot.store.sqlite import ledger
from bot.store.sqlite.connections import Tables, reading, reading_long, writing


class SqliteWorkspaces(Tables):
    """bot.ports.workspaces.Workspaces."""

    @reading
    def topics(self, db: Database, workspace: str) -> Mapping[str, Topic]:
        rows = db.execute("select name, data from topics where workspace = ? order by name", [workspace]).fetchall()
        return {name: topic_from_text(data) for name, data in rows}

    @writing
    def save_topic(self, db: Database, workspace: str, topic: Topic, change: Change, *, replaces: int) -> Topic:
        expect_readable(topic)
        _expect_topic(db, workspace, topic.name, replaces)
        fresh = replace(topic, revision=replaces + 1)
        db.execute(
            "insert or replace into topics (workspace, name, revision, data) values (?, ?, ?, ?)",
            [workspace, fresh.name, fresh.revision, to_text(fresh)],
        )
        note(db, change)
        return fresh

    @writing
    def delete_topic(
        self,
        db: Database,
        workspace: str,
        name: str,
        change: Change,
        *,
        replaces: int,
        keep_uses: bool = False,
        only_unused: bool = False,
    ) -> None:
        _expect_topic(db, workspace, name, replaces)
        if only_unused:
            expect_unused(len(subscriptions_of(db, workspace, "", name)), name)
        db.execute("delete from topics where workspace = ? and name = ?", [workspace, name])
        if not keep_uses:
            ledger.end(db, workspace, [each.id for each in subscriptions_of(db, workspace, "", name)])
            db.execute("delete from subscriptions where workspace = ? and topic = ?", [workspace, name])
            db.execute("delete from feedback where workspace = ? and topic = ?", [workspace, name])
        note(db, change)

    @reading
    def subscriptions(self, db: Database, workspace: str, *, channel: str = "", topic: str = "") -> Sequence[Subscription]:
        return subscriptions_of(db, workspace, channel, topic)

    @writing
    def save_subscription(self, db: Database, subscription: Subscription, change: Change, *, replaces: int) -> Subscription:
        expect_readable(subscription)
        expect_subscription(_standing(db, subscription), subscription, replaces)
        fresh = replace(subscription, revision=replaces + 1)
        place = [fresh.workspace, fresh.channel, fresh.topic, fresh.rhythm]
        others = db.execute(
            "select 1 from subscriptions where workspace = ? and id = ? and (channel, topic, rhythm) <> (?, ?, ?)",
            [fresh.workspace, fresh.id, fresh.channel, fresh.topic, fresh.rhythm],
        )
        if others.fetchone():
            raise StoreError(f"The subscription {fresh.id} is that of another channel, topic or rhythm.")
        # The row is made anew, and with it `next_due` unknown: the next occurrence of another schedule is another.
        db.execute(
            "insert or replace into subscriptions (workspace, channel, topic, rhythm, id, revision, wakes, data)"
            " values (?, ?, ?, ?, ?, ?, ?, ?)",
            [*place, fresh.id, fresh.revision, wakes(fresh.paused, fresh.paused_until), to_text(fresh)],
        )
        note(db, change)
        return fresh

    @writing
    def delete_subscription(self, db: Database, subscription: Subscription, change: Change) -> None:
        expect_stored(_standing(db, subscription), subscription)
        db.execute("delete from subscriptions where workspace = ? and id = ?", [subscription.workspace, subscription.id])
        ledger.end(db, subscription.workspace, [subscription.id])
        note(db, change)

    @reading
    def public(self, db: Database) -> Mapping[str, Sequence[str]]:
        found = {}
        sql = """select workspace, data from preferences where instr(data, '"public"') order by workspace"""
        for workspace, data in db.execute(sql).fetchall():
            with contextlib.suppress(StoreError):  # a damaged one shows nothing to anybody
                found[workspace] = preferences_from_text(data).public
        return {workspace: channels for workspace, channels in found.items() if channels}

    @reading
    def preferences(self, db: Database, workspace: str) -> Preferences:
        return preferences_of(db, workspace)

    @reading
    def preferences_of(self, db: Database, workspaces: Collection[str]) -> Mapping[str, Preferences]:
        found = dict.fromkeys(workspaces, Preferences())
        sql = "select workspace, data from preferences where workspace in (select value from json_each(?))"
        for workspace, data in db.execute(sql, [json.dumps(list(found))]).fetchall():
            try:
                found[workspace] = preferences_from_text(data)
            except StoreError:
                del found[workspace]
        return found

    @writing
    def save_preferences(
        self, db: Database, workspace: str, preferences: Preferences, change: Change, *, replaces: Preferences | None = None
    ) -> None:
        expect_settled(replaces, preferences_of(db, workspace))
        db.execute("insert or replace into preferences (workspace, data) values (?, ?)", [workspace, to_text(preferences)])
        note(db, change)

    @reading
    def changes(self, db: Database, workspace: str, *, about: str = "", limit: int = 20) -> Sequence[Change]:
        sql = "select data from changes where workspace = ? order by at desc, id desc limit ?"
        if not about:
            return _changes(db, sql, workspace, limit)
        # Two parts, so that few changes among many are found by the index of `what`. What begins with the words and a space
        # lies before the words and a "!", which follows the space.
        some = "select at, id from changes where workspace = ? and what"
        either = f"{some} = ? union all {some} >= ? and what < ?"
        latest = f"select id from ({either}) order by at desc, id desc limit ?"
        sql = f"select data from changes where id in ({latest}) order by at desc, id desc"
        return _changes(db, sql, workspace, about, workspace, f"{about} ", f"{about}!", limit)


class SqlitePeople(Tables):
    """bot.ports.workspaces.People."""

    @reading
    def feedback(self, db: Database, workspace: str, topic: str) -> Sequence[Feedback]:
        sql = (
            "select person, key, more, at, channel from feedback where workspace = ? and topic = ? order by at, person, key"
        )
        return [feedback_from_row(workspace, topic, row) for row in db.execute(sql, [workspace, topic]).fetchall()]

    @writing
    def save_feedback(self, db: Database, feedback: Feedback, change: Change) -> bool:
        sql = (
            "insert into feedback (workspace, topic, person, key, more, at, channel) values (?, ?, ?, ?, ?, ?, ?)"
            " on conflict do update set more = excluded.more, at = excluded.at, channel = excluded.channel"
            " where more <> excluded.more"
        )
        fresh = db.execute(sql, _feedback_row(feedback)).rowcount == 1
        if fresh:
            note(db, change)
        return fresh

    @writing
    def drop_feedback(self, db: Database, given: Collection[Feedback], change: Change) -> int:
        sql = (
            "delete from feedback where workspace = ? and topic = ? and person = ? and key = ?"
            " and more = ? and at = ? and channel = ?"
        )
        dropped = sum(db.execute(sql, _feedback_row(each)).rowcount for each in given)
        if dropped:
            note(db, change)
        return dropped

    @reading
    def saved(self, db: Database, workspace: str, person: str) -> Sequence[Saved]:
        sql = "select key, at from saved where workspace = ? and person = ? order by at desc, key"
        return [Saved(key, time_of(at)) for key, at in db.execute(sql, [workspace, person]).fetchall()]

    @writing
    def save_item(
        self, db: Database, workspace: str, person: str, saved: Saved, *, channel: str = "", link: str = ""
    ) -> bool:
        sql = "insert or ignore into saved (workspace, person, key, at) values (?, ?, ?, ?)"
        is_new = db.execute(sql, [workspace, person, saved.key, micros(saved.at)]).rowcount == 1
        if channel:
            sql = (
                "insert into saved_in (workspace, channel, key, person, at, link) values (?, ?, ?, ?, ?, ?)"
                " on conflict do update set link = iif(link = '', excluded.link, link), at = max(at, excluded.at)"
            )
            db.execute(sql, [workspace, channel, saved.key, person, micros(saved.at), link])
        return is_new

    @writing
    def unsave_item(self, db: Database, workspace: str, person: str, key: str) -> bool:
        its = "workspace = ? and person = ? and key = ?"
        db.execute(f"delete from saved_in where {its}", [workspace, person, key])
        return db.execute(f"delete from saved where {its}", [workspace, person, key]).rowcount == 1

    @reading_long
    def saved_in(self, db: Database, workspace: str, channel: str) -> Sequence[SavedInChannel]:
        heir = "select items.key from aliases join items on items.id = item where alias = saved_in.key"
        sql = (
            f"select case when key in (select key from items) then key else coalesce(({heir}), key) end, person, at, link"
            " from saved_in where workspace = ? and channel = ?"
        )
        rows = db.execute(sql, [workspace, channel]).fetchall()
        return counted_in_channel((key, person, time_of(at), link) for key, person, at, link in rows)

    @writing
    def allow_feeds(self, db: Database, access: FeedAccess) -> bool:
        whose = [access.workspace, access.person]
        held = db.execute("select count(*) from feeds where workspace = ? and person = ?", whose).fetchone()[0]
        if held < MOST_FEEDS:
            db.execute(
                "insert into feeds (workspace, person, hash, platform, channel, is_direct, reading_list, topic, made_at)"
                " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    *(*whose, access.hashed, access.platform, access.channel, access.is_direct),
                    *(access.reading_list, access.topic, micros(access.made_at)),
                ],
            )
        return bool(held < MOST_FEEDS)

    @reading
    def feeds_by(self, db: Database, hashed: str) -> FeedAccess | None:
        # Of whatever workspace: nobody but who was given the token knows what has this hash.
        sql = (
            "select platform, workspace, person, channel, is_direct, reading_list, topic, made_at from feeds where hash = ?"
        )
        row = db.execute(sql, [hashed]).fetchone()
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
    def revoke_feeds(self, db: Database, workspace: str, person: str, *, topic: str = "") -> int:
        where = "workspace = ? and person = ? and (? = '' or topic = ?)"
        return db.execute(f"delete from feeds where {where}", [workspace, person, topic, topic]).rowcount


_ASSISTANTS = "select name, hash, workspace, channel, person, may_write, made_at, used_on, revoked_at from assistants"


class SqliteAssistants(Tables):
    """bot.ports.workspaces.Assistants: of all workspaces, as the operator gives and ends the tokens."""

    @writing
    def allow(self, db: Database, token: AssistantToken) -> bool:
        access = token.access
        sql = (
            "insert into assistants (name, hash, workspace, channel, person, may_write, made_at, used_on)"
            " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (name) do update set hash = excluded.hash,"
            " workspace = excluded.workspace, channel = excluded.channel, person = excluded.person,"
            " may_write = excluded.may_write, made_at = excluded.made_at, used_on = excluded.used_on, revoked_at = null"
            " where revoked_at is not null"
        )
        whose = (access.workspace, access.channel, access.person, access.may_write)
        used_on = token.used_on.isoformat() if token.used_on else ""
        return db.execute(sql, [token.name, token.hashed, *whose, micros(token.made_at), used_on]).rowcount == 1

    @reading
    def by_hash(self, db: Database, hashed: str) -> AssistantToken | None:
        row = db.execute(f"{_ASSISTANTS} where hash = ? and revoked_at is null", [hashed]).fetchone()
        return _assistant(*row) if row else None

    @reading
    def every(self, db: Database) -> Sequence[AssistantToken]:
        return [_assistant(*row) for row in db.execute(f"{_ASSISTANTS} order by name").fetchall()]

    @writing
    def revoke(self, db: Database, name: str, now: datetime) -> bool:
        sql = "update assistants set revoked_at = ? where name = ? and revoked_at is null"
        return db.execute(sql, [micros(now), name]).rowcount == 1

    @writing
    def note_use(self, db: Database, hashed: str, day: date) -> None:
        given = day.isoformat()
        db.execute("update assistants set used_on = ? where hash = ? and used_on < ?", [given, hashed, given])


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


def _feedback_row(given: Feedback) -> list[object]:
    said = (given.more, micros(given.at), given.channel)
    return [given.workspace, given.topic, given.person, given.key, *said]


# --- topics


def _expect_topic(db: Database, workspace: str, name: str, replaces: int) -> None:
    row = db.execute("select revision from topics where workspace = ? and name = ?", [workspace, name]).fetchone()
    expect(row[0] if row else 0, replaces, f"the topic {name}")


# --- subscriptions


def subscriptions_of(db: Database, workspace: str, channel: str, topic: str) -> Sequence[Subscription]:
    """Return the subscriptions in order, "" standing for every channel or topic."""
    named = {name: value for name, value in (("channel", channel), ("topic", topic)) if value}
    wanted = "".join(f" and {name} = ?" for name in named)
    sql = f"select data from subscriptions where workspace = ?{wanted} order by channel, topic, rhythm"
    return [subscription_from_text(data) for (data,) in db.execute(sql, [workspace, *named.values()]).fetchall()]


def _standing(db: Database, given: Subscription) -> tuple[str, int] | None:
    sql = "select id, revision from subscriptions where workspace = ? and channel = ? and topic = ? and rhythm = ?"
    place = [given.workspace, given.channel, given.topic, given.rhythm]
    row: tuple[str, int] | None = db.execute(sql, place).fetchone()
    return row


# --- preferences and the audit


def preferences_of(db: Database, workspace: str) -> Preferences:
    """Return what the workspace settled."""
    row = db.execute("select data from preferences where workspace = ?", [workspace]).fetchone()
    return preferences_from_text(row[0]) if row else Preferences()


def note(db: Database, change: Change) -> None:
    """Write the line in the audit."""
    db.execute(
        "insert into changes (workspace, at, what, data) values (?, ?, ?, ?)",
        [change.workspace, micros(change.at), change.what, to_text(change)],
    )


def _changes(db: Database, sql: str, *values: object) -> list[Change]:
    return [change_from_text(data) for (data,) in db.execute(sql, list(values)).fetchall()]
