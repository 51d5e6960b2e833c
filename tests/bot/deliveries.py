"""A ledger in memory, a platform that fails as it is told, and deliverers that die: what tests of delivery stand on."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

from bot.delivery import Deliverer, DeliveryContext, DeliverySettings
from bot.models import (
    CODE_HOLDS,
    Abilities,
    Change,
    Delivery,
    DeliveryState,
    Occurrence,
    OccurrenceState,
    OptIn,
    Schedule,
    Subscription,
    code_kept,
)
from bot.ports.store import Store
from tests.conftest import NOW
from tests.fakes.transcript import BOTH, Clock, Crash, Stepped, Steps, Transcript
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore

ROUND = timedelta(seconds=10)  # between two rounds of the service
PATIENT = timedelta(minutes=1)  # between two rounds of one that has lived for long: its waits have become long too
SETTLED = {DeliveryState.DONE, DeliveryState.FAILED, DeliveryState.EXPIRED}


def subscription(number: int = 1, *, now: datetime = NOW, **changes: Any) -> Subscription:
    """Return the subscription of the n-th channel, every day at seven in UTC."""
    plain = {
        "id": f"s{number}",
        "workspace": "chat:T1",
        "channel": f"C{number}",
        "topic": "kv",
        "schedule": Schedule(at=now.time()),
        "baseline": now - timedelta(days=2),
        "made_by": "U-ada",
        "made_at": now - timedelta(days=30),
    }
    return Subscription(**cast(Any, plain | changes))


def occurrence(of: Subscription, *, now: datetime = NOW, **changes: Any) -> Occurrence:
    """Return what is due of the subscription now."""
    due = Occurrence(subscription=of.id, workspace=of.workspace, channel=of.channel, topic=of.topic, day=now.date(), due=now)
    return replace(due, **changes)


def change(workspace: str = "chat:T1", at: datetime = NOW) -> Change:
    """Return a line of the audit for what a test changes."""
    return Change(workspace=workspace, at=at, person="U-ada", what="a test")


async def confirmed(store: AnyStore, address: str, channel: str, at: datetime = NOW, **changes: Any) -> None:
    """Let a person confirm an address, which makes it the channel; once more if it is one."""
    person = changes.pop("person", "U-ada")
    code = code_kept("chat:T1", person, f"{channel} {at}")
    asked = OptIn(
        workspace="chat:T1", person=person, address=address, code=code, command="", asked_at=at, until=at + CODE_HOLDS
    )
    await store.recipients.ask(replace(asked, **changes))
    assert await store.recipients.confirm("chat:T1", person, code, channel, at)


class Harness:
    """All of it. `chat` is the platform of every workspace whose name begins so."""

    def __init__(
        self,
        abilities: Abilities = BOTH,
        *,
        settings: DeliverySettings | None = None,
        store: MemoryStore | None = None,
        **told: Any,
    ) -> None:
        self.clock = Clock(NOW)
        self.store = store or MemoryStore()
        self.settings = settings or DeliverySettings()
        self.chat = Transcript(self.clock, abilities, **told)

    def context(self, steps: Steps | None = None) -> DeliveryContext:
        """Return the ports of one process, which lives for so many steps."""
        steps = steps or Steps()
        self.chat.steps = steps
        store = cast(Store, Stepped(self.store, steps))
        self.chat.begin = lambda delivery: self._begin(delivery, steps)
        chats = {"chat": self.chat, "another": self.chat}
        return DeliveryContext(store, store.ledger, chats, self.settings, random.Random(0))

    async def _begin(self, delivery: Delivery, steps: Steps) -> bool:
        steps.step()
        ours = await self.store.ledger.begin(delivery)
        self.chat.begun |= {delivery.id} if ours else set()
        steps.step()
        return ours

    def deliverer(self, steps: Steps | None = None) -> Deliverer:
        """Return the deliverer of such a process."""
        return Deliverer(self.context(steps), pause=self.clock.pause)

    async def plant(self, deliveries: Sequence[Delivery]) -> None:
        """Let digests be made of which these are the messages, in channels that are subscribed."""
        for first in [each for each in deliveries if each.part == 1]:
            place: dict[str, Any] = {"workspace": first.workspace, "channel": first.channel, "topic": first.topic}
            made = subscription(now=first.due, id=first.occurrence[0], **place)
            if not await self.store.workspaces.subscriptions(**place):
                made = await self.store.workspaces.save_subscription(made, change(first.workspace), replaces=0)
            due = occurrence(made, now=first.due)
            await self.store.ledger.open_occurrences([due], made, first.due + timedelta(days=1))
            parts = [each for each in deliveries if each.occurrence == first.occurrence]
            closed = replace(due, state=OccurrenceState.MADE)
            assert await self.store.ledger.close_occurrence(closed, self.clock(), deliveries=parts)

    async def rows(self, workspace: str = "chat:T1") -> dict[str, Delivery]:
        """Return what the ledger says of each delivery, by id."""
        return {each.id: each for each in await self.store.ledger.deliveries(workspace, limit=1000)}

    async def round(self, deliverer: Deliverer) -> None:
        """Do what the service does every few seconds."""
        await deliverer.deliver_due(self.clock)
        await deliverer.reconcile(self.clock)
        await deliverer.send_notices(self.clock)
        self.clock.advance(ROUND)

    async def live(self, *deaths: int, rounds: int = 400) -> int:
        """Let processes live one after another until nothing more can be settled; each of `deaths` ends one after its steps.

        Returns how many steps the last one took.
        """
        lives = [Steps(last) for last in deaths] + [Steps()]
        for steps in lives:
            deliverer = self.deliverer(steps)
            try:
                for each in range(rounds):
                    await self.round(deliverer)
                    if await self._settled():
                        return steps.taken
                    self.clock.advance(PATIENT if each > rounds / 4 else timedelta(0))
            except Crash:
                self.clock.advance(ROUND)
        return steps.taken

    async def _settled(self) -> bool:
        return all(each.state in SETTLED or each.reason.startswith("unknown") for each in (await self.rows()).values())
