"""Who is sent digests by e-mail, in SQL.

What is asked, confirmed, lifted or forgotten is asked by people, seldom and one at a time: each such write holds one lock
for all of mail from its beginning, and so what it reads of codes, recipients and suppressed addresses stays as it read it.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime

from bot.models import MOST_TRIES, Asked, Confirmed, OptIn, Recipient, Subscription, Suppression, folded_address, is_mail
from bot.models.mail import LETTERS_REFUSED, address_hash
from bot.store.postgres.connections import Db, Tables, locked, reading, writing
from bot.store.postgres.workspaces import end_subscriptions
from bot.store.records import micros, subscription_from_text, time_of

KEY = "mail key"  # the name of a fact
_LETTERS = "letters"  # in place of a workspace: who is sent no codes
_RECIPIENT = (
    "select channel, workspace, address, person, is_list, confirmed_at, soft_bounces, bounced_at, stopped from recipients"
)
_HOLDS = "workspace = %s and person = %s and holds = 1 and tries < %s and until > %s"
_OF_ADDRESS = "workspace = %s and person = %s and hash = %s"
# The workspaces that send mail, from one to the next by the index.
_WORKSPACES = (
    "with recursive mailing (workspace) as (select min(workspace) from recipients union all"
    " select (select min(workspace) from recipients where workspace > mailing.workspace) from mailing"
    " where workspace is not null)"
)


class PostgresRecipients(Tables):
    """bot.ports.mail.Recipients."""

    @reading
    async def named(self, db: Db, channel: str) -> Recipient | None:
        return await _recipient(db, "channel = %s", channel)

    @reading
    async def at(self, db: Db, workspace: str, address: str) -> Recipient | None:
        return await _recipient(db, "workspace = %s and folded = %s", workspace, folded_address(address))

    @reading
    async def of(self, db: Db, workspace: str, *, person: str = "") -> Sequence[Recipient]:
        if person:
            return await _recipients(db, "workspace = %s and person = %s", workspace, person)
        return await _recipients(db, "workspace = %s", workspace)

    @reading
    async def everywhere(self, db: Db, address: str) -> Sequence[Recipient]:
        return await _recipients(db, "folded = %s", folded_address(address))

    @writing
    async def ask(self, db: Db, opt_in: OptIn) -> None:
        await _lock(db)
        hashed = await _hash(db, folded_address(opt_in.address))
        await _end_codes(db, _OF_ADDRESS, opt_in.workspace, opt_in.person, hashed)
        await db.execute(
            "insert into opt_ins (workspace, person, hash, address, is_list, code, command, asked_at, until, holds, tries)"
            " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, 1, 0)",
            [
                *(opt_in.workspace, opt_in.person, hashed, opt_in.address, int(opt_in.is_list), opt_in.code),
                *(opt_in.command, micros(opt_in.asked_at), micros(opt_in.until)),
            ],
        )

    @writing
    async def withdraw(self, db: Db, opt_in: OptIn) -> None:
        await _lock(db)
        await db.execute(
            "delete from opt_ins where workspace = %s and person = %s and code = %s and asked_at = %s",
            [opt_in.workspace, opt_in.person, opt_in.code, micros(opt_in.asked_at)],
        )

    @writing
    async def take_back(self, db: Db, workspace: str, person: str, address: str) -> bool:
        await _lock(db)
        hashed = await _hash(db, folded_address(address))
        sql = f"select 1 from opt_ins where {_OF_ADDRESS} and holds = 1 limit 1"
        found = await (await db.execute(sql, [workspace, person, hashed])).fetchone()
        await _end_codes(db, _OF_ADDRESS, workspace, person, hashed)
        return found is not None

    @reading
    async def asked(self, db: Db, workspace: str, person: str, address: str, since: datetime) -> Asked:
        key = await _known_key(db)
        sql = (
            "select count(*) filter (where workspace = %(workspace)s and person = %(person)s),"
            " count(*) filter (where hash = %(hash)s and until > asked_at),"
            " count(*) filter (where workspace = %(workspace)s),"
            " count(*) filter (where workspace = %(workspace)s and person = %(person)s and hash = %(hash)s),"
            " count(*) filter (where until > asked_at) from opt_ins where asked_at >= %(since)s"
        )
        hashed = address_hash(key, folded_address(address)) if key else ""
        values = {"workspace": workspace, "person": person, "hash": hashed, "since": micros(since)}
        row = await (await db.execute(sql, values)).fetchone()
        return Asked(*row) if row else Asked(0, 0, 0, 0, 0)

    @writing
    async def confirm(self, db: Db, workspace: str, person: str, code: str, channel: str, now: datetime) -> Confirmed | None:
        await _lock(db)
        found = await _opt_in(db, workspace, person, code, now)
        if found is None:
            sql = f"update opt_ins set tries = tries + 1 where {_HOLDS}"
            await db.execute(sql, [workspace, person, MOST_TRIES, micros(now)])
            return None
        folded = folded_address(found.address)
        hashed = await _hash(db, folded)
        await db.execute("delete from suppressed where hash = %s and workspace in (%s, %s)", [hashed, workspace, _LETTERS])
        await _end_codes(db, _OF_ADDRESS, workspace, person, hashed)
        await db.execute(
            "insert into recipients (channel, workspace, folded, address, person, is_list, confirmed_at)"
            " values (%s, %s, %s, %s, %s, %s, %s) on conflict (workspace, folded) do update set address = excluded.address,"
            " person = excluded.person, is_list = excluded.is_list, confirmed_at = excluded.confirmed_at, soft_bounces = 0,"
            " bounced_at = null, stopped = ''",
            [channel, workspace, folded, found.address, person, int(found.is_list), micros(now)],
        )
        made = await _recipient(db, "workspace = %s and folded = %s", workspace, folded)
        return None if made is None else Confirmed(made, found.command)

    @reading
    async def opt_in(self, db: Db, workspace: str, person: str, code: str, now: datetime) -> OptIn | None:
        return await _opt_in(db, workspace, person, code, now)

    @reading
    async def opt_in_by_link(self, db: Db, code: str, now: datetime) -> OptIn | None:
        sql = "select workspace, person from opt_ins where code = %s and holds = 1 and until > %s"
        row = await (await db.execute(sql, [code, micros(now)])).fetchone()
        return await _opt_in(db, row[0], row[1], code, now) if row else None

    @writing
    async def bounced(self, db: Db, channel: str, said: str, now: datetime, *, hard: bool) -> Recipient | None:
        found = await _recipient(db, "channel = %s for update", channel)  # the row alone: a mailing may bring thousands
        if found is None:
            return None
        after = found.bounced(said, now, hard=hard)
        bounced_at = None if after.bounced_at is None else micros(after.bounced_at)
        await db.execute(
            "update recipients set soft_bounces = %s, bounced_at = %s, stopped = %s where channel = %s",
            [after.soft_bounces, bounced_at, after.stopped, channel],
        )
        return after

    @writing
    async def suppress(self, db: Db, address: str, reason: Suppression, now: datetime, *, workspace: str = "") -> None:
        await _lock(db)
        await _suppress(db, workspace, await _hash(db, folded_address(address)), reason, now)

    @reading
    async def suppression(self, db: Db, workspace: str, address: str) -> Suppression | None:
        if not (key := await _known_key(db)):
            return None
        folded = folded_address(address)
        # What holds for all holds not where the address was confirmed since, or is a list.
        sql = (
            "select reason from suppressed where hash = %(hash)s and (workspace = %(workspace)s or (workspace = ''"
            " and not exists (select 1 from recipients where recipients.workspace = %(workspace)s and folded = %(folded)s"
            " and (is_list = 1 or confirmed_at > suppressed.at)))) order by reason <> %(first)s, workspace limit 1"
        )
        values = {"workspace": workspace, "folded": folded, "first": Suppression.COMPLAINED.value}
        row = await (await db.execute(sql, {**values, "hash": address_hash(key, folded)})).fetchone()
        return Suppression(row[0]) if row else None

    @writing
    async def lift(self, db: Db, workspace: str, address: str, reason: Suppression) -> None:
        await _lock(db)
        sql = "delete from suppressed where workspace = %s and hash = %s and reason = %s"
        await db.execute(sql, [workspace, await _hash(db, folded_address(address)), reason.value])

    @writing
    async def allow(self, db: Db, address: str) -> Sequence[Suppression]:
        await _lock(db)
        folded = folded_address(address)
        liftable = [Suppression.BOUNCED.value, Suppression.COMPLAINED.value]
        sql = "delete from suppressed where hash = %s and reason = any(%s) returning reason"
        rows = await (await db.execute(sql, [await _hash(db, folded), liftable])).fetchall()
        found = {Suppression(reason) for (reason,) in rows}
        stopped = "select from recipients as other where other.folded = %s and other.stopped <> ''"
        again = "update recipients set stopped = '', soft_bounces = 0, bounced_at = null where folded = %s"
        done = await db.execute(f"{again} and (%s or exists ({stopped}))", [folded, bool(found), folded])
        return tuple(sorted(found or ({Suppression.BOUNCED} if done.rowcount else ())))

    @writing
    async def refuse_letters(self, db: Db, hashed: str, reason: Suppression, now: datetime) -> None:
        await _lock(db)
        await _suppress(db, _LETTERS, hashed, reason, now)

    @reading
    async def refuses_letters(self, db: Db, address: str, now: datetime) -> bool:
        if not (key := await _known_key(db)):
            return False
        sql = "select reason, at from suppressed where workspace = %s and hash = %s"
        row = await (await db.execute(sql, [_LETTERS, address_hash(key, folded_address(address))])).fetchone()
        return row is not None and now < time_of(row[1]) + LETTERS_REFUSED[Suppression(row[0])]

    @writing
    async def forget(self, db: Db, workspace: str, address: str, now: datetime) -> Sequence[str]:
        await _lock(db)
        folded = folded_address(address)
        where, values = ("folded = %s", [folded])
        if workspace:
            where, values = ("folded = %s and workspace = %s", [folded, workspace])
        sql = f"delete from recipients where {where} returning workspace, channel"
        rows = sorted(await (await db.execute(sql, values)).fetchall(), key=lambda row: str(row[1]))
        for tenant, channel in rows:
            await end_subscriptions(db, tenant, "channel", channel)
        hashed = await _hash(db, folded)
        whose, of = ("hash = %s and workspace = %s", [hashed, workspace]) if workspace else ("hash = %s", [hashed])
        await _end_codes(db, whose, *of)
        await _suppress(db, workspace, hashed, Suppression.FORGOTTEN, now)
        return [channel for _, channel in rows]

    @reading
    async def reader_of(self, db: Db, delivery: str) -> Recipient | None:
        sent = (
            f"{_WORKSPACES} select deliveries.channel from mailing"
            " join deliveries on deliveries.workspace = mailing.workspace and deliveries.id = %s"
        )
        return await _recipient(db, f"channel in ({sent})", delivery)

    @reading
    async def subscription(self, db: Db, number: str) -> Subscription | None:
        rows = await (await db.execute("select data from subscriptions where id = %s", [number])).fetchall()
        found = (subscription_from_text(data) for (data,) in rows)
        return next((each for each in found if is_mail(each.channel)), None)

    async def key(self) -> bytes:
        """As in the port; once it is there it is read, and nothing is locked."""
        return await self._stored_key() or await self._made_key()

    @reading
    async def _stored_key(self, db: Db) -> bytes:
        return await _known_key(db)

    @writing
    async def _made_key(self, db: Db) -> bytes:
        return await _key(db)


async def _lock(db: Db) -> None:
    await locked(db, "mail")


async def _recipient(db: Db, where: str, *values: str) -> Recipient | None:
    row = await (await db.execute(f"{_RECIPIENT} where {where}", list(values))).fetchone()
    return _recipient_from(*row) if row else None


async def _recipients(db: Db, where: str, *values: str) -> list[Recipient]:
    rows = await (await db.execute(f"{_RECIPIENT} where {where} order by channel", list(values))).fetchall()
    return [_recipient_from(*row) for row in rows]


def _recipient_from(
    channel: str,
    workspace: str,
    address: str,
    person: str,
    is_list: int,
    confirmed_at: int,
    soft_bounces: int,
    bounced_at: int | None,
    stopped: str,
) -> Recipient:
    return Recipient(
        channel=channel,
        workspace=workspace,
        address=address,
        person=person,
        is_list=bool(is_list),
        confirmed_at=time_of(confirmed_at),
        soft_bounces=soft_bounces,
        bounced_at=None if bounced_at is None else time_of(bounced_at),
        stopped=stopped,
    )


async def _opt_in(db: Db, workspace: str, person: str, code: str, now: datetime) -> OptIn | None:
    sql = (
        "select address, is_list, command, asked_at, until from opt_ins"
        f" where {_HOLDS} and code = %s order by asked_at desc limit 1"
    )
    row = await (await db.execute(sql, [workspace, person, MOST_TRIES, micros(now), code])).fetchone()
    if row is None:
        return None
    address, is_list, command, asked_at, until = row
    return OptIn(
        workspace=workspace,
        person=person,
        address=address,
        is_list=bool(is_list),
        code=code,
        command=command,
        asked_at=time_of(asked_at),
        until=time_of(until),
    )


async def _end_codes(db: Db, where: str, *values: str) -> None:
    """Let the codes hold no longer, and keep no more of them than is counted."""
    await db.execute(f"update opt_ins set holds = 0, address = '', command = '' where {where}", list(values))


async def _suppress(db: Db, workspace: str, hashed: str, reason: Suppression, now: datetime) -> None:
    sql = (
        "insert into suppressed (workspace, hash, reason, at) values (%s, %s, %s, %s)"
        " on conflict (workspace, hash) do update set reason = excluded.reason, at = excluded.at"
        " where suppressed.reason <> %s or excluded.reason = %s"
    )
    lasts = Suppression.COMPLAINED.value
    await db.execute(sql, [workspace, hashed, reason.value, micros(now), lasts, lasts])


async def _hash(db: Db, folded: str) -> str:
    return address_hash(await _key(db), folded)


async def _known_key(db: Db) -> bytes:
    """Return the key, b"" where there is none yet."""
    row = await (await db.execute("select value from facts where name = %s", [KEY])).fetchone()
    return bytes.fromhex(row[0]) if row else b""


async def _key(db: Db) -> bytes:
    """Return the key, made where there is none: who makes one while another does waits, and then reads that one's."""
    if not (key := await _known_key(db)):
        sql = "insert into facts (name, value) values (%s, %s) on conflict do nothing"
        await db.execute(sql, [KEY, secrets.token_hex(32)])
        key = await _known_key(db)
    return key
