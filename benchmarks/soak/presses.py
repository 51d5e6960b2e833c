"""People who press below digests that stand in channels, as a worker process has them, and the edits that come of it.

The edits run on a clock of their own that is `FAST` times as fast: what is 5 minutes there takes 1.5 s. Posting keeps the
true time. How many presses were made stands in the database, so that the next process goes on where one was killed.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from benchmarks.soak.plant import TOPIC
from bot.delivery import Deliverer, DeliveryContext, DeliverySettings
from bot.models import Change, Delivery, DeliveryState, Feedback, Saved
from bot.ports.messenger import Messenger
from bot.store.sqlite.store import SqliteStore
from tests.fakes.digests import GPU

FAST = 200.0
_PRESSES = ("more", "more", "less", "take back", "save", "save", "unsave")
_PEOPLE = 6  # of a workspace
_MADE = "presses of the soak"
_KEYS = [entry.ranked.item.key for entry in GPU.entries]
_SOON = timedelta(hours=6)  # all that may still be edited has its turn by then, and none is at its end
_LOOK_EVERY = 0.5  # seconds


class Readers:
    """Presses until there are enough of them, and lets the messages say so."""

    def __init__(
        self, store: SqliteStore, messenger: Messenger, settings: DeliverySettings, presses: int, begun: float, span: float
    ) -> None:
        """Their clock was right at `begun`, in seconds since 1970; the presses take `span` seconds, where they can."""
        # What they note of rates and of times is by another clock than that of whoever posts.
        self._deliverer = Deliverer(DeliveryContext(store, store.ledger, {messenger.platform: messenger}, settings))
        self._store = store
        self._presses = presses
        self._begun = begun
        self._pause = span / max(presses, 1)
        self._posted: list[Delivery] = []
        self._looked = 0.0

    def now(self) -> datetime:
        """Return what their clock shows."""
        return datetime.fromtimestamp(self._begun + (time.time() - self._begun) * FAST, UTC)

    def loops(self) -> tuple[Callable[[], Awaitable[object]], ...]:
        """Return what is to be done again and again."""
        return self._press, self._edit

    async def are_quiet(self) -> bool:
        """Say whether everybody has pressed what they wanted to, and every message says so."""
        if await self._made() < self._presses:
            return False
        return not await self._store.outbox.messages_to_edit(self.now() + _SOON, limit=1)

    async def _made(self) -> int:
        return int(await self._store.facts.get(_MADE) or 0)

    async def _edit(self) -> None:
        await self._deliverer.edit_messages(self.now)

    async def _press(self) -> None:
        """Press once, and count it; who is killed in between presses once more."""
        made = await self._made()
        if made >= self._presses:
            return
        chance = random.Random(f"{self._begun} {made}")
        if posted := await self._some(chance):
            await self._presses_on(posted, chance)
            await self._store.facts.set(_MADE, str(made + 1))
        await asyncio.sleep(self._pause)

    async def _some(self, chance: random.Random) -> Delivery | None:
        """Return a message that stands; now and then a fresh look is taken at which do."""
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self._looked = time.monotonic()
            workspaces = {each.workspace for each in await self._store.ledger.every_subscription()}
            found = [each for name in sorted(workspaces) for each in await self._store.ledger.deliveries(name, limit=10_000)]
            self._posted = [each for each in found if each.state is DeliveryState.DONE]
        return chance.choice(self._posted) if self._posted else None

    async def _presses_on(self, posted: Delivery, chance: random.Random) -> None:
        what, key, person = chance.choice(_PRESSES), chance.choice(_KEYS), f"U{chance.randrange(_PEOPLE)}"
        people, workspace, now = self._store.people, posted.workspace, self.now()
        change = Change(workspace=workspace, at=now, person=person, what="feedback")
        place = {"workspace": workspace, "topic": TOPIC.name, "person": person, "key": key, "channel": posted.channel}
        match what:
            case "save":
                await people.save_item(workspace, person, Saved(key, now), channel=posted.channel)
            case "unsave":
                await people.unsave_item(workspace, person, key)
            case "take back":
                given = await people.feedback(workspace, TOPIC.name)
                await people.drop_feedback([each for each in given if (each.person, each.key) == (person, key)], change)
            case _:
                await people.save_feedback(Feedback(**place, more=what == "more", at=now), change)
