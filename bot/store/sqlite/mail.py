"""Who is sent digests by e-mail, in SQL."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from sqlite_utils import Database

from bot.models import MOST_TRIES, Asked, Confirmed, OptIn, Recipient, Subscription, Suppression, folded_address, is_mail
from bot.models.mail import LETTERS_REFUSED, address_hash
from bot.ports.mail import ASKED_KEPT
from bot.store.records import micros, subscription_from_text, time_of
from bot.store.sqlite import ledger
from bot.store.sqlite.connections import Tables, reading, writing
from bot.store.sqlite.key_values import fact, set_fact
from bot.store.sqlite.workspaces import subscriptions_of

KEY = "mail key"  # the name of a fact
_LETTERS = "letters"  # in place of a workspace: who is sent no codes
_RECIPIENT = (
    "select channel, workspace, address, person, is_list, confirmed_at, soft_bounces, bounced_at, stopped from recipients"
)
_HOLDS = "workspace = ? and person = ? and holds and tries < ? and until > ?"


class SqliteRecipients(Tables):
    """bot.ports.mail.Recipients."""

    @reading
    def named(self, db: Database, channel: str) -> Recipient | None:
        return _recipient(db, "channel = ?", channel)

    @reading
    def at(self, db: Database, workspace: str, address: str) -> Recipient | None:
        return _recipient(db, "workspace = ? and folded = ?", workspace, folded_address(address))

    @reading
    def of(self, db: Database, workspace: str, *, person: str = "") -> Sequence[Recipient]:
        where, values = ("workspace = ? and person = ?", [workspace, person]) if person else ("workspace = ?", [workspace])
        return [_recipient_from(*row) for row in db.execute(f"{_RECIPIENT} where {where} order by channel", values)]

    @reading
    def everywhere(self, db: Database, address: str) -> Sequence[Recipient]:
        rows = db.execute(f"{_RECIPIENT} where folded = ? order by channel", [folded_address(address)]).fetchall()
        return [_recipient_from(*row) for row in rows]

    @writing
    def ask(self, db: Database, opt_in: OptIn) -> None:
        hashed = _hash(db, folded_address(opt_in.address))
        _end_codes(db, "workspace = ? and person = ? and hash = ?", opt_in.workspace, opt_in.person, hashed)
        db.execute(
            "insert into opt_ins (workspace, person, hash, address, is_list, code, command, asked_at, until, holds, tries)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0)",
            [
                *(opt_in.workspace, opt_in.person, hashed, opt_in.address, opt_in.is_list, opt_in.code, opt_in.command),
                *(micros(opt_in.asked_at), micros(opt_in.until)),
            ],
        )

    @writing
    def withdraw(self, db: Database, opt_in: OptIn) -> None:
        db.execute(
            "delete from opt_ins where workspace = ? and person = ? and code = ? and asked_at = ?",
            [opt_in.workspace, opt_in.person, opt_in.code, micros(opt_in.asked_at)],
        )

    @writing
    def take_back(self, db: Database, workspace: str, person: str, address: str) -> bool:
        hashed = _hash(db, folded_address(address))
        mine = "workspace = ? and person = ? and hash = ?"
        found = db.execute(f"select 1 from opt_ins where {mine} and holds", [workspace, person, hashed]).fetchone()
        _end_codes(db, mine, workspace, person, hashed)
        return found is not None

    @reading
    def asked(self, db: Database, workspace: str, person: str, address: str, since: datetime) -> Asked:
        key = fact(db, KEY)
        hashed = _hashed(key, folded_address(address)) if key else ""
        sql = (
            "select total(workspace = ? and person = ?), total(hash = ? and until > asked_at), total(workspace = ?),"
            " total(workspace = ? and person = ? and hash = ?), total(until > asked_at) from opt_ins where asked_at >= ?"
        )
        values = [workspace, person, hashed, workspace, workspace, person, hashed, micros(since)]
        return Asked(*map(int, db.execute(sql, values).fetchone()))

    @writing
    def confirm(self, db: Database, workspace: str, person: str, code: str, channel: str, now: datetime) -> Confirmed | None:
        found = _opt_in(db, workspace, person, code, now)
        if found is None:
            db.execute(f"update opt_ins set tries = tries + 1 where {_HOLDS}", [workspace, person, MOST_TRIES, micros(now)])
            return None
        folded = folded_address(found.address)
        hashed = _hash(db, folded)
        db.execute("delete from suppressed where workspace in (?, ?) and hash = ?", [workspace, _LETTERS, hashed])
        _end_codes(db, "workspace = ? and person = ? and hash = ?", workspace, person, hashed)
        db.execute(
            "insert into recipients (channel, workspace, folded, address, person, is_list, confirmed_at)"
            " values (?, ?, ?, ?, ?, ?, ?) on conflict (workspace, folded) do update set address = excluded.address,"
            " person = excluded.person, is_list = excluded.is_list, confirmed_at = excluded.confirmed_at, soft_bounces = 0,"
            " bounced_at = null, stopped = ''",
            [channel, workspace, folded, found.address, person, found.is_list, micros(now)],
        )
        made = _recipient(db, "workspace = ? and folded = ?", workspace, folded)
        return None if made is None else Confirmed(made, found.command)

    @reading
    def opt_in(self, db: Database, workspace: str, person: str, code: str, now: datetime) -> OptIn | None:
        return _opt_in(db, workspace, person, code, now)

    @reading
    def opt_in_by_link(self, db: Database, code: str, now: datetime) -> OptIn | None:
        sql = "select workspace, person from opt_ins where code = ? and holds and until > ?"
        row = db.execute(sql, [code, micros(now)]).fetchone()
        return _opt_in(db, row[0], row[1], code, now) if row else None

    @writing
    def bounced(self, db: Database, channel: str, said: str, now: datetime, *, hard: bool) -> Recipient | None:
        found = _recipient(db, "channel = ?", channel)
        if found is None:
            return None
        after = found.bounced(said, now, hard=hard)
        bounced_at = None if after.bounced_at is None else micros(after.bounced_at)
        db.execute(
            "update recipients set soft_bounces = ?, bounced_at = ?, stopped = ? where channel = ?",
            [after.soft_bounces, bounced_at, after.stopped, channel],
        )
        return after

    @writing
    def suppress(self, db: Database, address: str, reason: Suppression, now: datetime, *, workspace: str = "") -> None:
        _suppress(db, workspace, _hash(db, folded_address(address)), reason, now)

    @reading
    def suppression(self, db: Database, workspace: str, address: str) -> Suppression | None:
        if not (key := fact(db, KEY)):
            return None
        folded = folded_address(address)
        # What holds for all holds not where the address was confirmed since, or is a list.
        sql = (
            "select reason from suppressed where hash = ? and (workspace = ? or (workspace = '' and not exists"
            " (select 1 from recipients where workspace = ? and folded = ? and (is_list or confirmed_at > at))))"
            " order by reason <> ?, workspace limit 1"
        )
        values = [_hashed(key, folded), workspace, workspace, folded, Suppression.COMPLAINED.value]
        row = db.execute(sql, values).fetchone()
        return Suppression(row[0]) if row else None

    @writing
    def lift(self, db: Database, workspace: str, address: str, reason: Suppression) -> None:
        sql = "delete from suppressed where workspace = ? and hash = ? and reason = ?"
        db.execute(sql, [workspace, _hash(db, folded_address(address)), reason.value])

    @writing
    def allow(self, db: Database, address: str) -> Sequence[Suppression]:
        folded = folded_address(address)
        hashed = _hash(db, folded)
        lifted = "hash = ? and reason in (?, ?)"
        values = [hashed, Suppression.BOUNCED.value, Suppression.COMPLAINED.value]
        found = {Suppression(row[0]) for row in db.execute(f"select reason from suppressed where {lifted}", values)}
        if db.execute("select 1 from recipients where folded = ? and stopped <> ''", [folded]).fetchone() and not found:
            found = {Suppression.BOUNCED}
        db.execute(f"delete from suppressed where {lifted}", values)
        again = "update recipients set stopped = '', soft_bounces = 0, bounced_at = null where folded = ? and ?"
        db.execute(again, [folded, bool(found)])
        return tuple(sorted(found))

    @writing
    def refuse_letters(self, db: Database, hashed: str, reason: Suppression, now: datetime) -> None:
        _suppress(db, _LETTERS, hashed, reason, now)

    @reading
    def refuses_letters(self, db: Database, address: str, now: datetime) -> bool:
        if not (key := fact(db, KEY)):
            return False
        sql = "select reason, at from suppressed where workspace = ? and hash = ?"
        row = db.execute(sql, [_LETTERS, _hashed(key, folded_address(address))]).fetchone()
        return row is not None and now < time_of(row[1]) + LETTERS_REFUSED[Suppression(row[0])]

    @writing
    def forget(self, db: Database, workspace: str, address: str, now: datetime) -> Sequence[str]:
        folded = folded_address(address)
        where, values = ("workspace = ? and folded = ?", [workspace, folded]) if workspace else ("folded = ?", [folded])
        rows = db.execute(f"select workspace, channel from recipients where {where} order by channel", values).fetchall()
        for tenant, channel in rows:
            ledger.end(db, tenant, [each.id for each in subscriptions_of(db, tenant, channel, "")])
            db.execute("delete from subscriptions where workspace = ? and channel = ?", [tenant, channel])
        db.execute(f"delete from recipients where {where}", values)
        hashed = _hash(db, folded)
        _end_codes(db, "hash = ? and (workspace = ? or ? = '')", hashed, workspace, workspace)
        _suppress(db, workspace, hashed, Suppression.FORGOTTEN, now)
        return [channel for _, channel in rows]

    @reading
    def reader_of(self, db: Database, delivery: str) -> Recipient | None:
        sent = "select channel from deliveries where id = ? and workspace in (select distinct workspace from recipients)"
        return _recipient(db, f"channel in ({sent})", delivery)

    @reading
    def subscription(self, db: Database, number: str) -> Subscription | None:
        sql = "select data from subscriptions where id = ? and workspace in (select distinct workspace from recipients)"
        found = (subscription_from_text(data) for (data,) in db.execute(sql, [number]).fetchall())
        return next((each for each in found if is_mail(each.channel)), None)

    @writing
    def key(self, db: Database) -> bytes:
        return bytes.fromhex(_key(db))


def prune(db: Database, now: datetime) -> None:
    """Drop what was asked so long ago that nobody counts it."""
    db.execute("delete from opt_ins where asked_at < ?", [micros(now - ASKED_KEPT)])


def _recipient(db: Database, where: str, *values: str) -> Recipient | None:
    row = db.execute(f"{_RECIPIENT} where {where}", list(values)).fetchone()
    return _recipient_from(*row) if row else None


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


def _opt_in(db: Database, workspace: str, person: str, code: str, now: datetime) -> OptIn | None:
    sql = (
        f"select address, is_list, command, asked_at, until from opt_ins where {_HOLDS} and code = ? order by asked_at desc"
    )
    row = db.execute(sql, [workspace, person, MOST_TRIES, micros(now), code]).fetchone()
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


def _end_codes(db: Database, where: str, *values: str) -> None:
    """Let the codes hold no longer, and keep no more of them than is counted."""
    db.execute(f"update opt_ins set holds = 0, address = '', command = '' where {where}", list(values))


def _suppress(db: Database, workspace: str, hashed: str, reason: Suppression, now: datetime) -> None:
    sql = (
        "insert into suppressed (workspace, hash, reason, at) values (?, ?, ?, ?) on conflict (workspace, hash) do update"
        " set reason = excluded.reason, at = excluded.at where reason <> ? or excluded.reason = ?"
    )
    lasts = Suppression.COMPLAINED.value
    db.execute(sql, [workspace, hashed, reason.value, micros(now), lasts, lasts])


def _hash(db: Database, folded: str) -> str:
    return _hashed(_key(db), folded)


def _hashed(key: str, folded: str) -> str:
    return address_hash(bytes.fromhex(key), folded)


def _key(db: Database) -> str:
    if not (key := fact(db, KEY)):
        set_fact(db, KEY, key := secrets.token_hex(32))
    return key
