"""What is owed to people, in SQL. Nothing reads more than it returns, but for rows that are damaged and counts.

Each row is kept, changed or removed by one statement that names what its writer has read; of several processes that do so
at the same time one changes it, and the others are told that they did not.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.errors import StoreError
from bot.models import Notice, Presses, Publication, Refusal, StandingMessage
from bot.ports.outbox import NOBODY
from bot.store.postgres.connections import Db, Tables, aside, reading, writing
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

log = logging.getLogger(__name__)

# From one name to the next by the index: of the rows of each name one is looked at. Those who come after the one that was
# told last are first, then those up to it.
_WORKSPACES = (
    "with recursive owed (workspace) as (select min(workspace) from notices union all"
    " select (select min(workspace) from notices where workspace > owed.workspace) from owed where workspace is not null)"
)
_NEXT = "select min(notices.recipient) from notices where notices.workspace = owed.workspace and notices.recipient >"
_ROUND = (
    "select recipient from (with recursive each (recipient) as (({next} {begin}) union all"
    " select ({next} each.recipient) from each where recipient is not null and {until})"
    " select recipient from each where recipient is not null and {until} limit %(most)s) as next_ones"
)
_AFTER = "coalesce(told.recipient, '')"
_LATER = _ROUND.format(next=_NEXT, begin=_AFTER, until="true")
_EARLIER = _ROUND.format(next=_NEXT, begin="''", until=f"recipient <= {_AFTER}")
_NOTICES = (
    f"{_WORKSPACES} select owed.workspace, names.recipient, first.number, first.data from owed"
    " left join unnest(%(workspaces)s::text[], %(told)s::text[]) as told (workspace, recipient) using (workspace)"
    f" cross join lateral (select 1 as lap, recipient from ({_LATER}) as later"
    f" union all select 2, recipient from ({_EARLIER}) as earlier order by lap, recipient limit %(most)s) as names"
    " cross join lateral (select number, data from notices where notices.workspace = owed.workspace"
    " and notices.recipient = names.recipient order by number limit 1) as first"
    " where owed.workspace is not null order by owed.workspace, names.lap, names.recipient"
)

# Settings that cannot be read are nobody's wish. They are JSON as it is written here, without spaces.
_ON = """coalesce((select left(data, 1) <> '{' or right(data, 1) <> '}' or strpos(data, '"activity":true') > 0
    from preferences where preferences.workspace = standing.workspace), false)"""
# A list of texts as JSON, of which PostgreSQL takes each: no character 0, and no half of one. It can tell by itself only
# from version 16 on.
_UNIT = r"\\u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{4}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_TEXT = rf'"([^"\\[:cntrl:]]|\\["\\/bfnrt]|{_UNIT})*"'
_TEXTS = rf"^\[({_TEXT}(, ?{_TEXT})*)?\]$"
# Messages whose time has come, and in whose place something was pressed since, or something else is shown: whatever else
# is pressed nowhere needs no count. What one with damaged keys lists is nothing, which keeps no other from being counted.
_DUE = f"""select workspace, id, channel, topic, since, next_at, more, saved, {_ON} as counts,
    case when keys ~ '{_TEXTS}' then keys::jsonb else '[]'::jsonb end as keys
    from standing where (next_at <= %(now)s or next_at > %(ahead)s) and until > %(now)s and (more <> 0 or saved <> 0
    or not {_ON}
    or exists (select from feedback where feedback.workspace = standing.workspace and feedback.channel = standing.channel
        and feedback.topic = standing.topic and feedback.more = 1 and feedback.at >= standing.since)
    or exists (select from saved_in where saved_in.workspace = standing.workspace and saved_in.channel = standing.channel
        and saved_in.at >= standing.since))"""
# Of such a message: the names of what it lists, and how many people of its channel say what of that.
_NAMES = """with given (value) as (select jsonb_array_elements_text(due.keys)),
    listed (item) as (select items.id from given join items on items.key = given.value
        union select aliases.item from given join aliases on aliases.alias = given.value
        where not exists (select from items where items.key = given.value)),
    names (name) as (select value from given union select items.key from listed join items on items.id = listed.item
        union select aliases.alias from listed join aliases on aliases.item = listed.item
        where not exists (select from items where items.key = aliases.alias))"""
_SAID = "{0}.workspace = due.workspace and {0}.channel = due.channel and {0}.key = name and {0}.at >= due.since"
_MORE = f"""(select count(distinct person) from names join feedback on {_SAID.format("feedback")}
    and feedback.topic = due.topic and feedback.more = 1)"""
_SAVED = f"(select count(distinct person) from names join saved_in on {_SAID.format('saved_in')})"
_PRESSED = (
    f"select due.*, pressed.* from due cross join lateral ({_NAMES} select {_MORE} as now_more, {_SAVED} as now_saved)"
)
_TO_EDIT = f"""with due as materialized ({_DUE}),
    pressed as ({_PRESSED} as pressed where counts
        union all select due.*, 0, 0 from due where not counts),
    counted as materialized (
        select *, row_number() over (partition by workspace order by next_at, id) as turn from pressed
        where now_more <> more or now_saved <> saved or not counts order by turn, next_at, workspace, id limit %(most)s)
    select standing.data, payload, standing.keys, standing.since, until, standing.next_at, standing.more, standing.saved,
        edits, now_more, now_saved
    from counted join standing using (workspace, id) order by turn, counted.next_at, workspace, id"""


class PostgresOutbox(Tables):
    """bot.ports.outbox.Outbox."""

    @reading
    async def notices(self, db: Db, after: Mapping[str, str] = NOBODY, *, limit: int = 10) -> Mapping[str, Sequence[Notice]]:
        values = {"workspaces": list(after), "told": list(after.values()), "most": limit}
        rows = await (await db.execute(_NOTICES, values)).fetchall()
        read = await aside(lambda: [_notice(workspace, data) for workspace, _, _, data in rows])
        found: dict[str, list[Notice]] = {}
        for (workspace, recipient, number, _), first in zip(rows, read, strict=True):
            notice = first or await _first_after(db, workspace, recipient, number)
            if notice is not None:
                found.setdefault(workspace, []).append(notice)
        return found

    @writing
    async def add_notices(self, db: Db, notices: Sequence[Notice]) -> None:
        await _add(db, notices)

    @writing
    async def remove_notice(self, db: Db, notice: Notice) -> None:
        whose = [notice.workspace, notice.recipient]
        sql = "delete from notices where workspace = %s and recipient = %s and data = %s"
        if (await db.execute(sql, [*whose, owed_to_text(notice)])).rowcount:
            return
        # Written by another version: the same may be spelt otherwise.
        sql = "select number, data from notices where workspace = %s and recipient = %s order by number"
        for number, data in await (await db.execute(sql, whose)).fetchall():
            if _notice(notice.workspace, data) == notice:
                await db.execute("delete from notices where number = %s", [number])
                break

    @reading
    async def refusals(self, db: Db, *, limit: int = 100) -> Sequence[Refusal]:
        found: list[Refusal] = []
        last, rows = 0, limit
        while rows == limit and len(found) < limit:
            sql = "select number, workspace, data from refusals where number > %s order by number limit %s"
            read = await (await db.execute(sql, [last, limit])).fetchall()
            found += [each for _, workspace, data in read if (each := _refusal(workspace, data)) is not None]
            last, rows = read[-1][0] if read else last, len(read)
        return found[:limit]

    @writing
    async def add_refusal(self, db: Db, refusal: Refusal) -> None:
        row = [refusal.workspace, owed_to_text(refusal)]
        await db.execute("insert into refusals (workspace, data) values (%s, %s) on conflict do nothing", row)

    @writing
    async def replace_refusal(self, db: Db, refusal: Refusal, notices: Sequence[Notice]) -> None:
        if await _remove_refusal(db, refusal):
            await _add(db, notices)

    @reading
    async def messages_to_edit(self, db: Db, now: datetime, *, limit: int = 100) -> Sequence[StandingMessage]:
        values = {"now": micros(now), "ahead": micros(now + EDIT_WAITS), "most": limit}
        rows = await (await db.execute(_TO_EDIT, values)).fetchall()
        return await aside(lambda: list(_legible(rows)))

    @writing
    async def update_message(self, db: Db, message: StandingMessage, *, replaces: StandingMessage) -> bool:
        sql = f"update standing set next_at = %s, more = %s, saved = %s, edits = %s where {_AS_READ}"
        shown = (message.shown.more, message.shown.saved)
        given = [micros(message.next_at), *shown, message.edits, *_as_read(replaces)]
        return (await db.execute(sql, given)).rowcount == 1

    @writing
    async def leave_message(self, db: Db, message: StandingMessage) -> bool:
        return (await db.execute(f"delete from standing where {_AS_READ}", _as_read(message))).rowcount == 1

    @reading
    async def publications(self, db: Db, now: datetime, *, limit: int = 50) -> Sequence[Publication]:
        sql = (
            "select data, since, publications.next_at, attempts from publications join deliveries using (workspace, id)"
            " where publications.next_at <= %s or publications.next_at > %s order by since, workspace, id limit %s"
        )
        values = [micros(now), micros(now + HELD_BACK), limit]
        return list(_publications(await (await db.execute(sql, values)).fetchall()))

    @writing
    async def put_off_publication(self, db: Db, publication: Publication) -> None:
        sql = "update publications set next_at = %s, attempts = %s where workspace = %s and id = %s"
        await db.execute(sql, [micros(publication.next_at), publication.attempts, *_place(publication)])

    @writing
    async def remove_publication(self, db: Db, publication: Publication) -> None:
        await db.execute("delete from publications where workspace = %s and id = %s", _place(publication))


async def keep_standing(db: Db, standing: StandingMessage | None) -> None:
    """Keep a message that may be edited, in the place of what is kept of it; nothing for none."""
    if standing is None:
        return
    posted = standing.delivery
    sql = (
        "insert into standing (workspace, id, channel, topic, keys, since, until, next_at, more, saved, edits, data,"
        " payload) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) on conflict (workspace, id) do update set"
        " channel = excluded.channel, topic = excluded.topic, keys = excluded.keys, since = excluded.since,"
        " until = excluded.until, next_at = excluded.next_at, more = excluded.more, saved = excluded.saved,"
        " edits = excluded.edits, data = excluded.data, payload = excluded.payload"
    )
    times = (micros(each) for each in (standing.since, standing.until, standing.next_at))
    said = (delivery_to_text(posted), payloads_to_bytes(posted.payload, posted.if_late))
    counts = (standing.shown.more, standing.shown.saved, standing.edits)
    listed = json.dumps(standing.keys)
    await db.execute(sql, [*_place(standing), posted.channel, posted.topic, listed, *times, *counts, *said])


async def keep_publication(db: Db, publication: Publication | None) -> None:
    """Keep a message that is to be published, once; nothing for none."""
    if publication is not None:
        times = (publication.since, publication.next_at)
        row = [*_place(publication), *map(micros, times), publication.attempts]
        sql = (
            "insert into publications (workspace, id, since, next_at, attempts) values (%s, %s, %s, %s, %s)"
            " on conflict do nothing"
        )
        await db.execute(sql, row)


_AS_READ = "workspace = %s and id = %s and edits = %s and next_at = %s"


def _as_read(message: StandingMessage) -> list[object]:
    return [*_place(message), message.edits, micros(message.next_at)]


def _place(owed: StandingMessage | Publication) -> tuple[str, str]:
    return owed.delivery.workspace, owed.delivery.id


def _legible(rows: Sequence[tuple[Any, ...]]) -> Iterator[StandingMessage]:
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


def _publications(rows: Sequence[tuple[Any, ...]]) -> Iterator[Publication]:
    for data, since, next_at, attempts in rows:
        try:
            posted = delivery_from_text(data, None)
        except StoreError:
            log.error("a message to publish cannot be read and is passed over; `db check` counts it")  # noqa: TRY400
            continue
        yield Publication(delivery=posted, since=time_of(since), next_at=time_of(next_at), attempts=attempts)


async def _add(db: Db, notices: Sequence[Notice]) -> None:
    sql = "insert into notices (workspace, recipient, data) values (%s, %s, %s) on conflict do nothing"
    if notices:
        rows = [(each.workspace, each.recipient, owed_to_text(each)) for each in notices]
        await db.cursor().executemany(sql, rows)  # one after the other, and so they are numbered


async def _first_after(db: Db, workspace: str, recipient: str, number: int) -> Notice | None:
    """Return the recipient's oldest notice behind that of the number that can be read."""
    sql = "select data from notices where workspace = %s and recipient = %s and number > %s order by number"
    rows = await (await db.execute(sql, [workspace, recipient, number])).fetchall()
    return next((each for (data,) in rows if (each := _notice(workspace, data)) is not None), None)


def _notice(workspace: str, data: str) -> Notice | None:
    try:
        return notice_from_text(workspace, data)
    except StoreError:
        log.error("a notice in %s cannot be read and is passed over; `db check` counts them", workspace)  # noqa: TRY400
        return None


def _refusal(workspace: str, data: str) -> Refusal | None:
    try:
        return refusal_from_text(workspace, data)
    except StoreError:
        log.error("a refusal in %s cannot be read and is passed over; `db check` counts them", workspace)  # noqa: TRY400
        return None


async def _remove_refusal(db: Db, refusal: Refusal) -> bool:
    """Remove it and say whether it was there: of several who do so at once one is told so."""
    sql = "delete from refusals where workspace = %s and data = %s"
    if (await db.execute(sql, [refusal.workspace, owed_to_text(refusal)])).rowcount:
        return True
    # Written by another version: the same may be spelt otherwise.
    sql = "select number, data from refusals where workspace = %s order by number"
    for number, data in await (await db.execute(sql, [refusal.workspace])).fetchall():
        if _refusal(refusal.workspace, data) == refusal:
            return (await db.execute("delete from refusals where number = %s", [number])).rowcount == 1
    return False
