"""Who is sent digests by e-mail, in dictionaries. Nothing waits here, so each method is a transaction."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.models import (
    MOST_TRIES,
    Asked,
    Confirmed,
    OptIn,
    Recipient,
    Subscription,
    Suppression,
    folded_address,
    is_mail,
)
from bot.models.mail import LETTERS_REFUSED, address_hash
from bot.ports.mail import ASKED_KEPT
from tests.stores.memory_ledger import MemoryLedger
from tests.stores.memory_workspaces import MemoryWorkspaces


@dataclass
class _Kept:
    """A code that was sent."""

    opt_in: OptIn
    folded: str
    holds: bool = True
    tries: int = 0

    def is_of(self, workspace: str, person: str) -> bool:
        return (self.opt_in.workspace, self.opt_in.person) == (workspace, person)

    def holds_at(self, now: datetime) -> bool:
        return self.holds and self.tries < MOST_TRIES and self.opt_in.until > now


class MemoryRecipients:
    """bot.ports.mail.Recipients."""

    def __init__(self, workspaces: MemoryWorkspaces, ledger: MemoryLedger) -> None:
        self._workspaces = workspaces
        self._ledger = ledger
        self._by_channel: dict[str, Recipient] = {}
        self._codes: list[_Kept] = []
        self._suppressed: dict[tuple[str, str], tuple[Suppression, datetime]] = {}  # by workspace and folded address
        self._letters: dict[str, tuple[Suppression, datetime]] = {}  # who is sent no codes, by hash
        self._key = secrets.token_bytes(32)

    async def named(self, channel: str) -> Recipient | None:
        return self._by_channel.get(channel)

    async def at(self, workspace: str, address: str) -> Recipient | None:
        return next(iter(self._at(workspace, folded_address(address))), None)

    def _at(self, workspace: str, folded: str) -> list[Recipient]:
        return [
            self._by_channel[channel]
            for channel in sorted(self._by_channel)
            if workspace in ("", self._by_channel[channel].workspace)
            and folded_address(self._by_channel[channel].address) == folded
        ]

    async def of(self, workspace: str, *, person: str = "") -> Sequence[Recipient]:
        found = (self._by_channel[channel] for channel in sorted(self._by_channel))
        return [each for each in found if each.workspace == workspace and person in ("", each.person)]

    async def everywhere(self, address: str) -> Sequence[Recipient]:
        return self._at("", folded_address(address))

    async def ask(self, opt_in: OptIn) -> None:
        folded = folded_address(opt_in.address)
        self._end_codes(opt_in.workspace, folded, opt_in.person)
        self._codes.append(_Kept(opt_in, folded))

    def _end_codes(self, workspace: str, folded: str, person: str = "") -> None:
        for each in self._codes:
            of_it = workspace in ("", each.opt_in.workspace) and person in ("", each.opt_in.person)
            each.holds &= not (of_it and each.folded == folded)

    async def withdraw(self, opt_in: OptIn) -> None:
        self._codes = [each for each in self._codes if each.opt_in != opt_in]

    async def take_back(self, workspace: str, person: str, address: str) -> bool:
        folded = folded_address(address)
        found = any(each.is_of(workspace, person) and each.folded == folded and each.holds for each in self._codes)
        self._end_codes(workspace, folded, person)
        return found

    async def asked(self, workspace: str, person: str, address: str, since: datetime) -> Asked:
        folded = folded_address(address)
        lately = [each for each in self._codes if each.opt_in.asked_at >= since]
        return Asked(
            sum(each.is_of(workspace, person) for each in lately),
            sum(each.folded == folded and each.opt_in.until > each.opt_in.asked_at for each in lately),
            sum(each.opt_in.workspace == workspace for each in lately),
            sum(each.is_of(workspace, person) and each.folded == folded for each in lately),
            sum(each.opt_in.until > each.opt_in.asked_at for each in lately),
        )

    async def confirm(self, workspace: str, person: str, code: str, channel: str, now: datetime) -> Confirmed | None:
        found = await self.opt_in(workspace, person, code, now)
        if found is None:
            for each in self._codes:
                each.tries += each.is_of(workspace, person) and each.holds_at(now)
            return None
        folded = folded_address(found.address)
        self._suppressed.pop((workspace, folded), None)
        self._letters.pop(address_hash(self._key, folded), None)
        self._end_codes(workspace, folded, person)
        standing = next((each.channel for each in self._at(workspace, folded)), channel)
        made = Recipient(
            channel=standing,
            workspace=workspace,
            address=found.address,
            person=person,
            is_list=found.is_list,
            confirmed_at=now,
        )
        self._by_channel[standing] = made
        return Confirmed(made, found.command)

    async def opt_in(self, workspace: str, person: str, code: str, now: datetime) -> OptIn | None:
        of_it = (each for each in self._codes if each.is_of(workspace, person) and each.holds_at(now))
        found = [each.opt_in for each in of_it if each.opt_in.code == code]
        return max(found, key=lambda each: each.asked_at, default=None)

    async def opt_in_by_link(self, code: str, now: datetime) -> OptIn | None:
        return next((each.opt_in for each in self._codes if each.opt_in.code == code and each.holds_at(now)), None)

    async def bounced(self, channel: str, said: str, now: datetime, *, hard: bool) -> Recipient | None:
        if (found := self._by_channel.get(channel)) is not None:
            self._by_channel[channel] = replace(found.bounced(said, now, hard=hard))
        return self._by_channel.get(channel)

    async def suppress(self, address: str, reason: Suppression, now: datetime, *, workspace: str = "") -> None:
        self._suppress(workspace, folded_address(address), reason, now)

    def _suppress(self, workspace: str, folded: str, reason: Suppression, now: datetime) -> None:
        before, _ = self._suppressed.get((workspace, folded), (reason, now))
        if before is not Suppression.COMPLAINED or reason is before:
            self._suppressed[workspace, folded] = (reason, now)

    async def suppression(self, workspace: str, address: str) -> Suppression | None:
        folded = folded_address(address)
        found = [self._suppressed[workspace, folded][0]] if (workspace, folded) in self._suppressed else []
        if ("", folded) in self._suppressed:
            reason, at = self._suppressed["", folded]
            if not any(each.is_list or each.confirmed_at > at for each in self._at(workspace, folded)):
                found.insert(0, reason)
        return Suppression.COMPLAINED if Suppression.COMPLAINED in found else next(iter(found), None)

    async def lift(self, workspace: str, address: str, reason: Suppression) -> None:
        named = (workspace, folded_address(address))
        if named in self._suppressed and self._suppressed[named][0] is reason:
            del self._suppressed[named]

    async def allow(self, address: str) -> Sequence[Suppression]:
        folded, lifted = folded_address(address), {Suppression.BOUNCED, Suppression.COMPLAINED}
        of_it = {key: reason for key, (reason, _) in self._suppressed.items() if key[1] == folded and reason in lifted}
        letter = self._letters.pop(address_hash(self._key, folded), None)
        found = {*of_it.values(), *(letter[:1] if letter else ())}
        if not found and any(each.stopped for each in self._at("", folded)):
            found = {Suppression.BOUNCED}
        for key in of_it:
            del self._suppressed[key]
        for each in self._at("", folded) if found else ():
            self._by_channel[each.channel] = replace(each, stopped="", soft_bounces=0, bounced_at=None)
        return tuple(sorted(found))

    async def refuse_letters(self, hashed: str, reason: Suppression, now: datetime) -> None:
        if self._letters.get(hashed, (reason, now))[0] in (Suppression.BOUNCED, reason):
            self._letters[hashed] = (reason, now)

    async def refuses_letters(self, address: str, now: datetime) -> bool:
        found = self._letters.get(address_hash(self._key, address))
        return found is not None and now < found[1] + LETTERS_REFUSED[found[0]]

    async def forget(self, workspace: str, address: str, now: datetime) -> Sequence[str]:
        folded = folded_address(address)
        gone = self._at(workspace, folded)
        for each in gone:
            del self._by_channel[each.channel]
            self._workspaces.end_channel(each.workspace, each.channel)
        self._end_codes(workspace, folded)
        self._suppress(workspace, folded, Suppression.FORGOTTEN, now)
        return [each.channel for each in gone]

    async def reader_of(self, delivery: str) -> Recipient | None:
        for workspace in {each.workspace for each in self._by_channel.values()}:
            for each in await self._ledger.deliveries(workspace, limit=100_000):
                if each.id == delivery and each.channel in self._by_channel:
                    return self._by_channel[each.channel]
        return None

    async def subscription(self, number: str) -> Subscription | None:
        known = {each.workspace for each in self._by_channel.values()}
        found = (each for each in self._workspaces.every_subscription() if each.id == number)
        return next((each for each in found if is_mail(each.channel) and each.workspace in known), None)

    async def key(self) -> bytes:
        return self._key

    def prune(self, now: datetime) -> None:
        self._codes = [each for each in self._codes if each.opt_in.asked_at >= now - ASKED_KEPT]
