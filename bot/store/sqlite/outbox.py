"""What is owed to people, in SQL. Nothing reads more than it returns, but for rows that are damaged and counts."""

import itertools
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import Notice, Presses, Publication, Refusal, StandingMessage
from bot.ports.outbox import NOBODY
from bot.store.records import (
    delivery_from_text,
    delivery_to_text,
    micros,
    notice_from_text,
    or_damaged,
    owed_to_text,
    payloads_to_bytes,
    refusal_from_text,
    time_of,
)
from bot.store.rules.transitions import EDIT_WAITS, HELD_BACK
from bot.store.sqlite.connections import Tables, reading, reading_long, writing_shared

log = logging.getLogger(__name__)

_WORKSPACES = (
    "with recursive owed (workspace) as (select min(workspace) from notices union all"
    " select (select min(workspace) from notices where workspace > owed.workspace) from owed where workspace is not null)"
    " select workspace from owed where workspace is not null"
)
_NEXT = "select min(recipient) from notices where workspace = :workspace and recipient >"
_RECIPIENTS = (
    f"with recursive owed (recipient) as ({_NEXT} :after union all"
    f" select ({_NEXT} owed.recipient) from owed where recipient is not null limit :most)"
    " select recipient from owed where recipient is not null"
)


# The messages whose time has come; what one with damaged keys lists is nothing, which keeps no other from being counted.
_DUE = (
    "select workspace, id, channel, topic, iif(json_valid(keys), keys, '[]') as keys, since, next_at, more, saved"
    " from standing where (next_at <= :now or next_at > :ahead) and until > :now"
)
# Of such a message: the names of what it lists, and how many people of its channel say what of that.
_NAMES = (
    "with listed (item) as (select items.id from json_each(due.keys) cross join items on items.key = value"
    " union select item from json_each(due.keys) cross join aliases on alias = value"
    " where value not in (select key from items)),"
    " names (name) as (select value from json_each(due.keys)"
    " union select key from listed cross join items on items.id = item"
    " union select alias from listed cross join aliases using (item) where alias not in (select key from items))"
)
_SAID = "workspace = due.workspace and channel = due.channel and key = name and at >= due.since"
_PEOPLE = f"{_NAMES} select count(distinct person) from names cross join"
_MORE = f"({_PEOPLE} feedback on {_SAID} and topic = due.topic and feedback.more)"
_SAVED = f"({_PEOPLE} saved_in on {_SAID})"
# Settings that cannot be read are nobody's wish.
_ON = "coalesce((select not json_valid(data) or data ->> 'activity' from preferences where workspace = due.workspace), 0)"


class SqliteOutbox(Tables):
    """bot.ports.outbox.Outbox."""

    @reading
    def notices(self, db: Database, after: Mapping[str, str] = NOBODY, *, limit: int = 10) -> Mapping[str, Sequence[Notice]]:
        workspaces = [workspace for (workspace,) in db.execute(_WORKSPACES).fetchall()]
        found = {workspace: _notices(db, workspace, after.get(workspace, ""), limit) for workspace in workspaces}
        return {workspace: notices for workspace, notices in found.items() if notices}

    @writing_shared
    def add_notices(self, db: Database, notices: Sequence[Notice]) -> None:
        _add(db, notices)

    @writing_shared
    def remove_notice(self, db: Database, notice: Notice) -> None:
        for number, found in _readable(db, notice.workspace, notice.recipient):
            if found == notice:  # the oldest, as a rule
                db.execute("delete from notices where number = ?", [number])
                break

    @reading
    def refusals(self, db: Database, *, limit: int = 100) -> Sequence[Refusal]:
        return [refusal for _, refusal in itertools.islice(_readable_refusals(db), limit)]

    @writing_shared
    def add_refusal(self, db: Database, refusal: Refusal) -> None:
        row = [refusal.workspace, owed_to_text(refusal)]
        db.execute("insert or ignore into refusals (workspace, data) values (?, ?)", row)

    @writing_shared
    def replace_refusal(self, db: Database, refusal: Refusal, notices: Sequence[Notice]) -> None:
        for number, found in _readable_refusals(db):
            if found == refusal:
                db.execute("delete from refusals where number = ?", [number])
                _add(db, notices)
                break

    @reading_long  # of 3,000 messages it takes a third of a second, which nothing of the ledger is to wait for
    def messages_to_edit(self, db: Database, now: datetime, *, limit: int = 100) -> Sequence[StandingMessage]:
        counted = (
            f"select workspace, id, next_at, more as shown_more, saved as shown_saved, {_ON} as counts,"
            f" iif({_ON}, {_MORE}, 0) as more, iif({_ON}, {_SAVED}, 0) as saved from due"
        )
        sql = (
            f"with due as materialized ({_DUE}), everywhere as materialized ({counted}), counted as materialized"
            " (select *, row_number() over (partition by workspace order by next_at, id) as turn"
            " from everywhere where more <> shown_more or saved <> shown_saved or not counts"
            " order by turn, next_at, workspace, id limit :most)"
            " select standing.data, payload, keys, since, until, standing.next_at, standing.more, standing.saved, edits,"
            " counted.more, counted.saved from counted join standing using (workspace, id)"
            " order by turn, counted.next_at, workspace, id"
        )
        return list(
            _legible(db.execute(sql, {"now": micros(now), "ahead": micros(now + EDIT_WAITS), "most": limit}).fetchall())
        )

    @writing_shared
    def update_message(self, db: Database, message: StandingMessage, *, replaces: StandingMessage) -> bool:
        sql = f"update standing set next_at = ?, more = ?, saved = ?, edits = ? where {_AS_READ}"
        shown = (message.shown.more, message.shown.saved)
        return db.execute(sql, [micros(message.next_at), *shown, message.edits, *_as_read(replaces)]).rowcount == 1

    @writing_shared
    def leave_message(self, db: Database, message: StandingMessage) -> bool:
        return db.execute(f"delete from standing where {_AS_READ}", _as_read(message)).rowcount == 1

    @reading
    def publications(self, db: Database, now: datetime, *, limit: int = 50) -> Sequence[Publication]:
        sql = (
            "select data, since, publications.next_at, attempts"
            " from publications cross join deliveries using (workspace, id)"  # few wait of all that was posted
            " where publications.next_at <= ? or publications.next_at > ?"
            " order by since, workspace, id limit ?"
        )
        return list(_publications(db.execute(sql, [micros(now), micros(now + HELD_BACK), limit]).fetchall()))

    @writing_shared
    def put_off_publication(self, db: Database, publication: Publication) -> None:
        sql = "update publications set next_at = ?, attempts = ? where workspace = ? and id = ?"
        db.execute(sql, [micros(publication.next_at), publication.attempts, *_place(publication)])

    @writing_shared
    def remove_publication(self, db: Database, publication: Publication) -> None:
        db.execute("delete from publications where workspace = ? and id = ?", list(_place(publication)))


def keep_standing(db: Database, message: StandingMessage | None) -> None:
    """Keep a message that may be edited; nothing for none."""
    if message is None:
        return
    posted = message.delivery
    sql = (
        "insert or replace into standing (workspace, id, channel, topic, keys, since, until, next_at, more, saved, edits,"
        " data, payload) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    times = (micros(each) for each in (message.since, message.until, message.next_at))
    said = (delivery_to_text(posted), payloads_to_bytes(posted.payload, posted.if_late))
    counts = (message.shown.more, message.shown.saved, message.edits)
    db.execute(sql, [*_place(message), posted.channel, posted.topic, json.dumps(message.keys), *times, *counts, *said])


def prune(db: Database, now: datetime) -> None:
    """Forget the messages that stay as they are, and what was to be published of deliveries that are kept no more."""
    db.execute("delete from standing where until <= ?", [micros(now)])
    db.execute("delete from publications where (workspace, id) not in (select workspace, id from deliveries)")


_AS_READ = "workspace = ? and id = ? and edits = ? and next_at = ?"


def _as_read(message: StandingMessage) -> list[object]:
    return [*_place(message), message.edits, micros(message.next_at)]


def _place(owed: StandingMessage | Publication) -> tuple[str, str]:
    return owed.delivery.workspace, owed.delivery.id


def _legible(rows: Sequence[tuple[object, ...]]) -> Iterator[StandingMessage]:
    for row in rows:
        try:
            yield _standing(*row)
        except StoreError:
            log.error("a message to edit cannot be read and is passed over; `db check` counts it")  # noqa: TRY400


@or_damaged
def _standing(*row: Any) -> StandingMessage:
    data, payload, keys, since, until, next_at, *counts = row
    shown_more, shown_saved, edits, more, saved = counts
    return StandingMessage(
        delivery=delivery_from_text(data, payload),
        keys=tuple(json.loads(keys)),
        since=time_of(since),
        until=time_of(until),
        next_at=time_of(next_at),
        shown=Presses(shown_more, shown_saved),
        pressed=Presses(more, saved),
        edits=edits,
    )


def keep_publication(db: Database, publication: Publication | None) -> None:
    """Keep a message that is to be published; nothing for none."""
    if publication is not None:
        times = (publication.since, publication.next_at)
        row = [*_place(publication), *map(micros, times), publication.attempts]
        sql = "insert or ignore into publications (workspace, id, since, next_at, attempts) values (?, ?, ?, ?, ?)"
        db.execute(sql, row)


def _publications(rows: Sequence[tuple[str, int, int, int]]) -> Iterator[Publication]:
    for data, since, next_at, attempts in rows:
        try:
            posted = delivery_from_text(data, None)
        except StoreError:
            log.error("a message to publish cannot be read and is passed over; `db check` counts it")  # noqa: TRY400
            continue
        yield Publication(delivery=posted, since=time_of(since), next_at=time_of(next_at), attempts=attempts)


def _add(db: Database, notices: Sequence[Notice]) -> None:
    sql = "insert or ignore into notices (workspace, recipient, data) values (?, ?, ?)"
    for each in notices:
        db.execute(sql, [each.workspace, each.recipient, owed_to_text(each)])


def _readable_refusals(db: Database) -> Iterator[tuple[int, Refusal]]:
    """Yield the refusals that can be read, with their numbers, the oldest first; there are seldom more than a few."""
    for number, workspace, data in db.execute("select number, workspace, data from refusals order by number"):
        try:
            yield number, refusal_from_text(workspace, data)
        except StoreError:
            log.error("a refusal in %s cannot be read and is passed over; `db check` counts them", workspace)  # noqa: TRY400


def _notices(db: Database, workspace: str, after: str, limit: int) -> list[Notice]:
    def recipients(begin: str, most: int) -> list[str]:
        return [
            name for (name,) in db.execute(_RECIPIENTS, {"workspace": workspace, "after": begin, "most": most}).fetchall()
        ]

    names = recipients(after, limit)
    if after and len(names) < limit:
        names += [name for name in recipients("", limit - len(names)) if name <= after]
    return [notice for name in names for _, notice in itertools.islice(_readable(db, workspace, name), 1)]


def _readable(db: Database, workspace: str, recipient: str) -> Iterator[tuple[int, Notice]]:
    """Yield the notices for the recipient that can be read, with their numbers, the oldest first."""
    sql = "select number, data from notices where workspace = ? and recipient = ? order by number"
    for number, data in db.execute(sql, [workspace, recipient]):
        try:
            yield number, notice_from_text(workspace, data)
        except StoreError:
            log.error("a notice in %s cannot be read and is passed over; `db check` counts them", workspace)  # noqa: TRY400
