"""What people are owed to be told: kept in the database until a platform took it, through rate limits and ends."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from bot.delivery.terms import Office
from bot.errors import BotError, Delayed, Reach, Refused

log = logging.getLogger(__name__)

STALE = timedelta(days=7)  # what could not be said for so long is in `status` for as long, and nobody's news any more
CLOSED = timedelta(days=1)  # for so long a workspace is left alone that refuses everything
MOST = 1000  # notices that are kept


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell one person in private."""

    workspace: str
    person: str
    text: str
    since: str  # ISO time


class Notices:
    """Tells them, in their order. `name` sets those of one owner apart: nobody else changes them."""

    def __init__(self, office: Office, name: str) -> None:
        self._office = office
        self._fact = f"notices owed by {name}"
        self._changing = asyncio.Lock()
        self._telling = False
        self._rests: dict[str, tuple[int, datetime]] = {}  # by workspace: failures in a row, and until when it rests

    async def owe(self, fresh: Sequence[Notice]) -> None:
        """Keep what is to be told. Raises StoreError."""
        async with self._changing:
            await self._keep([*await self._owed(), *fresh][-MOST:])

    async def tell(self, now: datetime, most: int = MOST) -> None:
        """Tell at most so many of them; what a platform does not take now is left to a later call. Raises StoreError."""
        if self._telling:
            return
        self._telling = True
        try:
            for _ in range(most):
                ready = (each for each in await self._owed() if not self._is_resting(each.workspace, now))
                notice = next(ready, None)
                if notice is None:
                    break
                if await self._is_over(notice, now):
                    await self._forget(notice)
        finally:
            self._telling = False

    def _is_resting(self, workspace: str, now: datetime) -> bool:
        _, until = self._rests.get(workspace, (0, now))
        return now < until or self._office.messenger(workspace) is None

    async def _is_over(self, notice: Notice, now: datetime) -> bool:
        """Tell it; False when that is to be tried again."""
        if now - datetime.fromisoformat(notice.since) > STALE:
            return True
        messenger = self._office.messenger(notice.workspace)
        if messenger is None:
            return False
        otherwise = f"{notice.person} could not be told: {notice.text}"
        try:
            async with asyncio.timeout(self._office.values.timeout.total_seconds()):
                await messenger.tell(notice.workspace, notice.person, notice.text)
        except Delayed as error:
            self._rest(notice.workspace, now, error.retry_after or timedelta(0))
            return False
        except Refused as error:
            if error.reach is not Reach.CHANNEL:  # a revoked token: nobody there can be told before it is mended
                self._rest(notice.workspace, now, CLOSED)
                return False
            log.warning("%s (%s)", otherwise, error)
        except (BotError, TimeoutError) as error:
            # It may have been said: nobody is told twice.
            log.warning("%s (%s)", otherwise, error)
        except Exception:
            # Nothing that goes wrong while telling may keep the ledger from going on.
            log.exception("%s", otherwise)
        self._rests.pop(notice.workspace, None)
        return True

    def _rest(self, workspace: str, now: datetime, asked: timedelta) -> None:
        failures = self._rests.get(workspace, (0, now))[0] + 1
        self._rests[workspace] = (failures, now + max(asked, self._office.wait(failures)))

    async def _forget(self, notice: Notice) -> None:
        async with self._changing:
            await self._keep([each for each in await self._owed() if each != notice])

    async def _owed(self) -> list[Notice]:
        try:
            return [Notice(**each) for each in json.loads(await self._office.store.get_fact(self._fact) or "[]")]
        except (ValueError, TypeError):
            log.exception("what was to be told is damaged in the database, and dropped")
            return []

    async def _keep(self, owed: Sequence[Notice]) -> None:
        await self._office.store.set_fact(self._fact, json.dumps([asdict(each) for each in owed]))
