"""What is owed, in lists."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.models import Delivery, Notice, Presses, Publication, Refusal, StandingMessage
from bot.ports.outbox import NOBODY
from bot.store.rules.transitions import EDIT_WAITS, HELD_BACK
from tests.stores.memory_ledger import MemoryLedger


class MemoryOutbox:
    """bot.ports.outbox.Outbox."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._standing, self._workspaces, self._people = ledger.standing, ledger.workspaces, ledger.workspaces.people
        self._publications = ledger.publications
        self._notices: dict[Notice, None] = {}
        self._refusals: dict[Refusal, None] = {}

    async def notices(self, after: Mapping[str, str] = NOBODY, *, limit: int = 10) -> Mapping[str, Sequence[Notice]]:
        oldest: dict[str, dict[str, Notice]] = {}
        for each in self._notices:
            oldest.setdefault(each.workspace, {}).setdefault(each.recipient, each)
        found = {}
        for workspace, by_recipient in sorted(oldest.items()):
            begin = after.get(workspace, "")
            names = sorted(by_recipient, key=lambda name: (name <= begin, name))
            found[workspace] = [by_recipient[name] for name in names[:limit]]
        return found

    async def add_notices(self, notices: Sequence[Notice]) -> None:
        self._notices |= {each: None for each in notices if each not in self._notices}

    async def remove_notice(self, notice: Notice) -> None:
        self._notices.pop(notice, None)

    async def refusals(self, *, limit: int = 100) -> Sequence[Refusal]:
        return list(self._refusals)[:limit]

    async def add_refusal(self, refusal: Refusal) -> None:
        self._refusals.setdefault(refusal)

    async def replace_refusal(self, refusal: Refusal, notices: Sequence[Notice]) -> None:
        if refusal in self._refusals:
            del self._refusals[refusal]
            await self.add_notices(notices)

    async def messages_to_edit(self, now: datetime, *, limit: int = 100) -> Sequence[StandingMessage]:
        ahead = now + EDIT_WAITS
        found = []
        for each in self._standing.values():
            if now < each.next_at <= ahead or each.until <= now:
                continue
            if not (await self._workspaces.preferences(each.delivery.workspace)).activity:
                found.append(replace(each, pressed=Presses()))
            elif (pressed := self._presses(each)) != each.shown:
                found.append(replace(each, pressed=pressed))
        return [each for _, each in _in_turns(found)[:limit]]

    def _presses(self, message: StandingMessage) -> Presses:
        posted, people = message.delivery, self._people
        names = set(map(self._name, message.keys))
        here = (posted.workspace, posted.channel)
        more = {
            each.person
            for each in people.feedback_given.values()
            if each.more and self._name(each.key) in names and each.at >= message.since
            if (each.workspace, each.channel, each.topic) == (*here, posted.topic)
        }
        saved = {
            person
            for (workspace, channel, key, person), (at, _) in people.in_channels.items()
            if (workspace, channel) == here and self._name(key) in names and at >= message.since
        }
        return Presses(len(more), len(saved))

    def _name(self, key: str) -> str:
        """Return the key under which an item is known now."""
        return self._people.heir(key) or key

    async def update_message(self, message: StandingMessage, *, replaces: StandingMessage) -> bool:
        kept = self._as_read(replaces)
        if kept is None:
            return False
        fresh = replace(kept, next_at=message.next_at, shown=message.shown, edits=message.edits)
        self._standing[_place(message.delivery)] = fresh
        return True

    async def leave_message(self, message: StandingMessage) -> bool:
        if self._as_read(message) is None:
            return False
        del self._standing[_place(message.delivery)]
        return True

    def _as_read(self, message: StandingMessage) -> StandingMessage | None:
        kept = self._standing.get(_place(message.delivery))
        return kept if kept and (kept.edits, kept.next_at) == (message.edits, message.next_at) else None

    async def publications(self, now: datetime, *, limit: int = 50) -> Sequence[Publication]:
        due = [each for each in self._publications.values() if not now < each.next_at <= now + HELD_BACK]
        return sorted(due, key=lambda each: (each.since, *_place(each.delivery)))[:limit]

    async def put_off_publication(self, publication: Publication) -> None:
        place = _place(publication.delivery)
        if place in self._publications:
            kept = self._publications[place]
            self._publications[place] = replace(kept, next_at=publication.next_at, attempts=publication.attempts)

    async def remove_publication(self, publication: Publication) -> None:
        self._publications.pop(_place(publication.delivery), None)


def _in_turns(found: Sequence[StandingMessage]) -> list[tuple[int, StandingMessage]]:
    had = Counter[str]()
    turns = []
    for each in sorted(found, key=lambda each: (each.next_at, each.delivery.id)):
        had[each.delivery.workspace] += 1
        turns.append((had[each.delivery.workspace], each))
    return sorted(turns, key=lambda turn: (turn[0], turn[1].next_at, *_place(turn[1].delivery)))


def _place(delivery: Delivery) -> tuple[str, str]:
    return delivery.workspace, delivery.id
