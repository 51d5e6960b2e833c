"""What workspaces settled, in SQL: topics, subscriptions, preferences, and the audit of every change.

Each function that writes runs inside the writer's transaction, so that what it compares, what it writes and the line in the
audit are one. Every statement names the workspace, except the one that says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import Change, Preferences, Subscription, Topic
from bot.store.records.items import micros
from bot.store.records.ledger import wakes
from bot.store.records.workspaces import (
    change_from_text,
    preferences_from_text,
    subscription_from_text,
    to_text,
    topic_from_text,
)
from bot.store.rules.revisions import expect, expect_readable, expect_settled, expect_stored, expect_subscription
from bot.store.sqlite import ledger

# --- topics


def topics(db: Database, workspace: str) -> Mapping[str, Topic]:
    """Return the workspace's own topics by name."""
    rows = db.execute("select name, data from topics where workspace = ? order by name", [workspace]).fetchall()
    return {name: topic_from_text(data) for name, data in rows}


def save_topic(db: Database, workspace: str, topic: Topic, change: Change, replaces: int) -> Topic:
    """Keep the topic as the next revision."""
    expect_readable(topic)
    _expect_topic(db, workspace, topic.name, replaces)
    fresh = replace(topic, revision=replaces + 1)
    db.execute(
        "insert or replace into topics (workspace, name, revision, data) values (?, ?, ?, ?)",
        [workspace, fresh.name, fresh.revision, to_text(fresh)],
    )
    note(db, change)
    return fresh


def delete_topic(db: Database, workspace: str, name: str, change: Change, replaces: int, *, keep_uses: bool) -> None:
    """Forget the topic, and unless it is to be kept all that was made for it."""
    _expect_topic(db, workspace, name, replaces)
    db.execute("delete from topics where workspace = ? and name = ?", [workspace, name])
    if not keep_uses:
        ledger.end(db, workspace, [each.id for each in subscriptions(db, workspace, "", name)])
        db.execute("delete from subscriptions where workspace = ? and topic = ?", [workspace, name])
        db.execute("delete from feedback where workspace = ? and topic = ?", [workspace, name])
    note(db, change)


def _expect_topic(db: Database, workspace: str, name: str, replaces: int) -> None:
    row = db.execute("select revision from topics where workspace = ? and name = ?", [workspace, name]).fetchone()
    expect(row[0] if row else 0, replaces, f"the topic {name}")


# --- subscriptions


def subscriptions(db: Database, workspace: str, channel: str, topic: str) -> Sequence[Subscription]:
    """Return the subscriptions in order, "" standing for every channel or topic."""
    named = {name: value for name, value in (("channel", channel), ("topic", topic)) if value}
    wanted = "".join(f" and {name} = ?" for name in named)
    sql = f"select data from subscriptions where workspace = ?{wanted} order by channel, topic"
    return [subscription_from_text(data) for (data,) in db.execute(sql, [workspace, *named.values()]).fetchall()]


def every_subscription(db: Database) -> Sequence[Subscription]:
    """Return the subscriptions of all workspaces."""
    rows = db.execute("select data from subscriptions order by workspace, channel, topic").fetchall()
    return [subscription_from_text(data) for (data,) in rows]


def save_subscription(db: Database, given: Subscription, change: Change, replaces: int) -> Subscription:
    """Keep the subscription as the next revision."""
    expect_readable(given)
    expect_subscription(_standing(db, given), given, replaces)
    fresh = replace(given, revision=replaces + 1)
    place = [fresh.workspace, fresh.channel, fresh.topic]
    others = db.execute(
        "select 1 from subscriptions where workspace = ? and id = ? and (channel, topic) <> (?, ?)",
        [fresh.workspace, fresh.id, fresh.channel, fresh.topic],
    )
    if others.fetchone():
        raise StoreError(f"The subscription {fresh.id} is that of another channel or topic.")
    # The row is made anew, and with it `next_due` unknown: the next occurrence of another schedule is another.
    db.execute(
        "insert or replace into subscriptions (workspace, channel, topic, id, revision, wakes, data)"
        " values (?, ?, ?, ?, ?, ?, ?)",
        [*place, fresh.id, fresh.revision, wakes(fresh.paused, fresh.paused_until), to_text(fresh)],
    )
    note(db, change)
    return fresh


def delete_subscription(db: Database, given: Subscription, change: Change) -> None:
    """Forget the subscription in this revision."""
    expect_stored(_standing(db, given), given)
    db.execute("delete from subscriptions where workspace = ? and id = ?", [given.workspace, given.id])
    ledger.end(db, given.workspace, [given.id])
    note(db, change)


def _standing(db: Database, given: Subscription) -> tuple[str, int] | None:
    sql = "select id, revision from subscriptions where workspace = ? and channel = ? and topic = ?"
    row: tuple[str, int] | None = db.execute(sql, [given.workspace, given.channel, given.topic]).fetchone()
    return row


# --- preferences and the audit


def preferences(db: Database, workspace: str) -> Preferences:
    """Return what the workspace settled."""
    row = db.execute("select data from preferences where workspace = ?", [workspace]).fetchone()
    return preferences_from_text(row[0]) if row else Preferences()


def save_preferences(db: Database, workspace: str, given: Preferences, change: Change, replaces: Preferences | None) -> None:
    """Keep it."""
    expect_settled(replaces, preferences(db, workspace))
    db.execute("insert or replace into preferences (workspace, data) values (?, ?)", [workspace, to_text(given)])
    note(db, change)


def note(db: Database, change: Change) -> None:
    """Write the line in the audit."""
    db.execute(
        "insert into changes (workspace, at, what, data) values (?, ?, ?, ?)",
        [change.workspace, micros(change.at), change.what, to_text(change)],
    )


def changes(db: Database, workspace: str, about: str, limit: int) -> Sequence[Change]:
    """Return the latest changes; of two at one time the one that was written last comes first."""
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


def _changes(db: Database, sql: str, *values: object) -> list[Change]:
    return [change_from_text(data) for (data,) in db.execute(sql, list(values)).fetchall()]
