"""What is still to be done about what a platform refused: kept in the database until it is done, whoever is stopped."""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bot.delivery.context import DeliveryContext
from bot.errors import Reach

log = logging.getLogger(__name__)

MOST = 1000  # notices that are kept
_FACT = "owed"


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell one person in private, or to say in a channel."""

    workspace: str
    person: str  # "": it is said in the channel
    text: str
    since: str  # ISO time
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Where nothing can be posted any more, and why: what is subscribed there is to be paused, and its owners told."""

    workspace: str
    channel: str
    reach: Reach
    reason: str
    topic: str = ""  # only this one's; "": all


@dataclass(frozen=True, slots=True)
class _Known:
    notices: list[Notice] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


class Outbox:
    """Notices to be sent, and refusals to be applied. Each change is one transaction; all raise StoreError."""

    def __init__(self, context: DeliveryContext) -> None:
        self._facts = context.store.facts
        self._lock = context.notice_state.lock

    async def notices(self) -> Sequence[Notice]:
        """Return the notices that are to be sent, in their order."""
        return (await self._read()).notices

    async def refusals(self) -> Sequence[Refusal]:
        """Return the refusals that are not applied yet."""
        return (await self._read()).refusals

    async def add_notices(self, notices: Sequence[Notice]) -> None:
        """Keep what is to be sent."""
        await self._change(notices=notices)

    async def remove_notice(self, notice: Notice) -> None:
        """Forget one that was sent, or that nobody needs any more."""
        await self._change(removed=[notice])

    async def add_refusal(self, refusal: Refusal) -> None:
        """Keep a refusal until it is applied."""
        await self._change(refusals=[refusal])

    async def replace_refusal(self, refusal: Refusal, notices: Sequence[Notice]) -> None:
        """Keep the notices of a refusal, instead of the refusal."""
        await self._change(notices=notices, removed=[refusal])

    async def _change(
        self,
        *,
        notices: Iterable[Notice] = (),
        refusals: Iterable[Refusal] = (),
        removed: Iterable[Notice | Refusal] = (),
    ) -> None:
        async with self._lock:
            known, gone = await self._read(), set(removed)
            kept = [*(each for each in known.notices if each not in gone), *notices][-MOST:]
            waiting = dict.fromkeys((*(each for each in known.refusals if each not in gone), *refusals))
            record = {"notices": [asdict(each) for each in kept], "refusals": [asdict(each) for each in waiting]}
            await self._facts.set(_FACT, json.dumps(record))

    async def _read(self) -> _Known:
        text = await self._facts.get(_FACT)
        if not text:
            return _Known()
        try:
            return _known(json.loads(text))
        except (ValueError, TypeError, KeyError):
            log.exception("what was to be told is damaged in the database, and dropped")
            return _Known()


def _known(record: Any) -> _Known:
    refusals = [Refusal(**{**each, "reach": Reach(each["reach"])}) for each in record["refusals"]]
    return _Known([Notice(**each) for each in record["notices"]], refusals)
