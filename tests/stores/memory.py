"""A store that forgets at the end of the process: for tests, and as the plainest statement of the contract."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path

from bot.atomic_file import write_whole
from bot.errors import StoreError
from bot.models import Summary
from bot.store.records import item_to_text
from bot.store.single_process import SoleBudgets, SoleLeases, SoleProcesses
from tests.stores.memory_chats import MemoryChats
from tests.stores.memory_digests import MemoryArchive, MemoryDigests
from tests.stores.memory_items import MemoryIndex, MemoryItems, MemorySourceStates
from tests.stores.memory_ledger import MemoryLedger
from tests.stores.memory_mail import MemoryRecipients
from tests.stores.memory_outbox import MemoryOutbox
from tests.stores.memory_workspaces import MemoryAssistants


class MemoryStore:
    """bot.ports.store.Store in dictionaries. Nothing waits; what is given is frozen, so not copied."""

    def __init__(self) -> None:
        self.source_states = MemorySourceStates()
        self.items = MemoryItems(self.source_states)
        self.index = MemoryIndex(self.items)
        self.vectors = self.items.vectors
        self.digests = MemoryDigests(self.items.heir)
        self.archive = MemoryArchive(self.digests)
        self.ledger = MemoryLedger(self.digests)
        self.workspaces = self.ledger.workspaces
        self.people = self.workspaces.people
        self.outbox = MemoryOutbox(self.ledger)
        self.chats = MemoryChats(self.ledger)
        self.recipients = MemoryRecipients(self.workspaces, self.ledger)
        self.assistants = MemoryAssistants()
        self.summaries = MemorySummaries()
        self.facts = MemoryFacts()
        self.maintenance = MemoryMaintenance(self)
        self.leases, self.budgets = SoleLeases(), SoleBudgets()
        self.processes = SoleProcesses(self.leases)

    async def open(self) -> None:
        """Do nothing: there is nothing to make ready."""

    async def close(self) -> None:
        """Do nothing: a memory store may be opened again and still knows everything."""


class MemorySummaries:
    """bot.ports.summaries.Summaries."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, str], Summary] = {}
        self._spent: dict[date, int] = {}

    async def find(self, key: str, made_by: str, digest_of_text: str) -> Summary | None:
        """Return a kept summary."""
        return self.kept.get((key, made_by, digest_of_text))

    async def save(self, key: str, made_by: str, digest_of_text: str, summary: Summary, now: datetime) -> None:
        """Keep a summary."""
        self.kept[key, made_by, digest_of_text] = summary

    async def spent(self, day: date) -> int:
        """Return how many tokens were used on the day."""
        return self._spent.get(day, 0)

    async def spend(self, day: date, tokens: int, *, most: int | None = None) -> bool:
        """Add to the day's tokens."""
        spent = self._spent.get(day, 0) + tokens
        if most is not None and tokens > 0 and spent > most:
            return False
        self._spent[day] = max(spent, 0)
        return True


class MemoryFacts:
    """bot.ports.facts.Facts."""

    def __init__(self) -> None:
        self._facts: dict[str, str] = {}
        self._asked = 0

    async def get(self, name: str) -> str:
        """Return a small remembered text."""
        return self._facts.get(name, "")

    async def set(self, name: str, value: str) -> None:
        """Remember a small text."""
        self._facts[name] = value

    async def version(self) -> int:
        """Return another number each time: nobody counts what changes the dictionaries."""
        self._asked += 1
        return self._asked


class MemoryMaintenance:
    """bot.ports.maintenance.Maintenance."""

    name = "memory"
    taken = ()

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def statistics(self) -> Mapping[str, int]:
        """Return row counts; `bytes` is 0, as nothing lies on a disk."""
        store = self._store
        rows = {**await store.items.counts(), "readings": store.items.count_readings(), "digests": len(store.digests)}
        return {**rows, **store.workspaces.statistics(), "vectors": len(store.vectors), "bytes": 0}

    async def prune(self, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        store = self._store
        store.ledger.prune(now)
        store.chats.prune(now)
        store.recipients.prune(now)
        held = store.workspaces.held() | store.digests.held()
        gone, readings = store.items.prune(held, items_before, readings_before, now)
        store.summaries.kept = {at: summary for at, summary in store.summaries.kept.items() if at[0] not in gone}
        return {"items": len(gone), "readings": readings}

    async def check(self) -> list[str]:
        """Return no fault: nothing can be out of step."""
        return []

    async def backup(self, path: Path) -> None:
        lines = [json.dumps("Broadsheet items"), *map(item_to_text, self._store.items.known.values())]
        try:
            await asyncio.to_thread(write_whole, path, "".join(f"{line}\n" for line in lines))
        except OSError as error:
            raise StoreError(f"The backup cannot be written to {path}: {error.strerror}.") from error

    async def put_aside(self) -> Sequence[str]:
        return ()

    async def vacuum(self) -> int:
        return 0
