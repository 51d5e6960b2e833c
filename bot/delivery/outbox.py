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
    """The list. Each method that changes it is one transaction; all raise StoreError."""

    def __init__(self, context: DeliveryContext) -> None:
        self._store = context.store
        self._changing = context.notice_state.changing

    async def notices(self) -> Sequence[Notice]:
        """Return what is to be told, in its order."""
        return (await self._read()).notices

    async def refusals(self) -> Sequence[Refusal]:
        """Return the refusals whose consequences are not drawn yet."""
        return (await self._read()).refusals

    async def tell(self, fresh: Sequence[Notice]) -> None:
        """Keep what is to be told."""
        await self._change(told=fresh)

    async def told(self, notice: Notice) -> None:
        """Forget what is over."""
        await self._change(over=[notice])

    async def refused(self, refusal: Refusal) -> None:
        """Keep a refusal until its consequences are drawn."""
        await self._change(refused=[refusal])

    async def drawn(self, refusal: Refusal, fresh: Sequence[Notice]) -> None:
        """Keep what is to be told of a refusal, instead of the refusal."""
        await self._change(told=fresh, over=[refusal])

    async def _change(
        self, *, told: Iterable[Notice] = (), refused: Iterable[Refusal] = (), over: Iterable[Notice | Refusal] = ()
    ) -> None:
        async with self._changing:
            known, gone = await self._read(), set(over)
            notices = [*(each for each in known.notices if each not in gone), *told][-MOST:]
            refusals = dict.fromkeys((*(each for each in known.refusals if each not in gone), *refused))
            fresh = {"notices": [asdict(each) for each in notices], "refusals": [asdict(each) for each in refusals]}
            await self._store.set_fact(_FACT, json.dumps(fresh))

    async def _read(self) -> _Known:
        text = await self._store.get_fact(_FACT)
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
