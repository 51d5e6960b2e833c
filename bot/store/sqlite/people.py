"""What single people said and put aside, in SQL. Every statement names the workspace."""

from collections.abc import Collection, Sequence

from sqlite_utils import Database

from bot.models import Change, Feedback, Saved
from bot.store.records.items import micros, time_of
from bot.store.records.workspaces import feedback_from_row
from bot.store.sqlite.workspaces import note


def feedback(db: Database, workspace: str, topic: str) -> Sequence[Feedback]:
    """Return what was said for the topic, the oldest first."""
    sql = "select person, key, more, at, channel from feedback where workspace = ? and topic = ? order by at, person, key"
    return [feedback_from_row(workspace, topic, row) for row in db.execute(sql, [workspace, topic]).fetchall()]


def save_feedback(db: Database, given: Feedback, change: Change) -> None:
    """Keep a person's last word."""
    sql = "insert or replace into feedback (workspace, topic, person, key, more, at, channel) values (?, ?, ?, ?, ?, ?, ?)"
    db.execute(sql, _row(given))
    note(db, change)


def drop_feedback(db: Database, given: Collection[Feedback], change: Change) -> int:
    """Take back what still stands as it is given."""
    sql = (
        "delete from feedback where workspace = ? and topic = ? and person = ? and key = ?"
        " and more = ? and at = ? and channel = ?"
    )
    dropped = sum(db.execute(sql, _row(each)).rowcount for each in given)
    if dropped:
        note(db, change)
    return dropped


def _row(given: Feedback) -> list[object]:
    said = (given.more, micros(given.at), given.channel)
    return [given.workspace, given.topic, given.person, given.key, *said]


def saved(db: Database, workspace: str, person: str) -> Sequence[Saved]:
    """Return what the person put aside, the latest first."""
    sql = "select key, at from saved where workspace = ? and person = ? order by at desc, key"
    return [Saved(key, time_of(at)) for key, at in db.execute(sql, [workspace, person]).fetchall()]


def save_item(db: Database, workspace: str, person: str, given: Saved) -> bool:
    """Put an item aside, unless it is."""
    sql = "insert or ignore into saved (workspace, person, key, at) values (?, ?, ?, ?)"
    return db.execute(sql, [workspace, person, given.key, micros(given.at)]).rowcount == 1


def unsave_item(db: Database, workspace: str, person: str, key: str) -> bool:
    """Take an item back."""
    sql = "delete from saved where workspace = ? and person = ? and key = ?"
    return db.execute(sql, [workspace, person, key]).rowcount == 1
