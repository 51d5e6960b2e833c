"""Sends what waits in the outbox to people and channels: within rate limits, each at most once where that can be known."""

import asyncio
import logging
from collections.abc import Awaitable
from datetime import datetime, timedelta

from bot.delivery.context import Clock, DeliveryContext
from bot.delivery.rate_limits import Pause, PlatformCall
from bot.delivery.rejections import APART
from bot.delivery.workers import each_in_order
from bot.errors import BotError, Delayed, DeliveryError, Reach, Refused, Rejected
from bot.models import Method, Notice
from bot.ports.messenger import Messenger

log = logging.getLogger(__name__)

STALE = timedelta(days=7)  # what could not be said for so long is in `status` for as long, and nobody's news any more
CLOSED = timedelta(days=1)  # for so long a workspace is left alone that refuses everything
PATIENCE = timedelta(seconds=2)  # what must wait longer for its turn among all processes is left to the next round
AT_ONCE = 4  # workspaces in which somebody is told something at the same time
IN_A_ROW = 10  # recipients in one workspace who have a turn each, before it is looked anew at what is owed


class NoticeSender:
    """Sends to each recipient in order, and the recipients of a workspace take turns; no workspace waits for another."""

    def __init__(self, context: DeliveryContext, pause: Pause = asyncio.sleep) -> None:
        """`pause` waits for so many seconds of the clock that `send` is given."""
        self._context = context
        self._pause = pause
        self._outbox = context.store.outbox
        self._stopped = False

    def stop(self) -> None:
        """Send nothing more."""
        self._stopped = True

    async def send(self, clock: Clock) -> int:
        """Send what the platforms take now, and leave the rest to a later call; return how many are over.

        Raises StoreError.
        """
        notice_state = self._context.notice_state
        if notice_state.busy:
            return 0
        notice_state.busy = True
        try:
            waiting = await self._outbox.notices(notice_state.looked_at, limit=IN_A_ROW)
            return await each_in_order(
                waiting.values(), lambda each: self._had_its_turn(each, clock), lambda: self._stopped, at_once=AT_ONCE
            )
        finally:
            notice_state.busy = False

    async def _had_its_turn(self, notice: Notice, clock: Clock) -> bool:
        """Send it, where that may be done now, and forget it then; False when it is to be tried again."""
        self._context.notice_state.looked_at[notice.workspace] = notice.recipient
        settled = await self._is_settled(notice, clock)
        if settled:
            await self._outbox.remove_notice(notice)
        return settled

    async def _is_settled(self, notice: Notice, clock: Clock) -> bool:
        """Send it, where that may be done now; False when it is to be tried again."""
        now, call = clock(), self._call(notice)
        if now - notice.since > STALE:
            return True
        messenger = self._context.messenger(notice.workspace)
        if messenger is None or self._context.rate_limits.earliest(call, now) > now:
            return False
        self._context.rate_limits.take(call, now)
        if await self._context.shared_limits.wait(call, clock, self._pause, PATIENCE) is not None:
            return False
        return await self._is_told(notice, messenger, call, clock)

    async def _is_told(self, notice: Notice, messenger: Messenger, call: PlatformCall, clock: Clock) -> bool:
        """Send it once; False when it is to be tried again."""
        otherwise = f"{notice.person or notice.channel} could not be told: {notice.text}"
        try:
            async with asyncio.timeout(self._context.settings.timeout.total_seconds()):
                await _sent(notice, messenger)
        except Delayed as error:
            await self._rest(call, error.reach, clock(), error.retry_after or timedelta(0), error)
            return False
        except Refused as error:
            if error.reach is not Reach.CHANNEL:  # a revoked token: nobody there can be told before it is mended
                await self._rest(call, Reach.WORKSPACE, clock(), CLOSED, error)
                return False
            log.warning("%s (%s)", otherwise, error)
        except Rejected as error:
            if not self._context.rejections.note(call, f"{notice.recipient} {notice.since}", error, clock()):
                await self._rest(call, Reach.CHANNEL, clock(), APART, error)
                return False
            log.warning("%s (%s)", otherwise, error)
        except (BotError, TimeoutError) as error:
            # It may have been said: nobody is told twice.
            log.warning("%s (%s)", otherwise, error)
        except Exception:
            # Nothing that goes wrong while telling may keep the ledger from going on.
            log.exception("%s", otherwise)
        self._context.notice_state.failures.pop((call.method, call.workspace), None)
        return True

    def _call(self, notice: Notice) -> PlatformCall:
        method = Method.TELL if notice.person else Method.ANNOUNCE
        return self._context.call(method, notice.workspace, notice.person or notice.channel)

    async def _rest(self, call: PlatformCall, reach: Reach, now: datetime, asked: timedelta, error: DeliveryError) -> None:
        failures = self._context.notice_state.failures
        count = failures[call.method, call.workspace] = failures.get((call.method, call.workspace), 0) + 1
        await self._context.shared_limits.rest(call, reach, now + max(asked, self._context.wait(count)), now, error)


def _sent(notice: Notice, messenger: Messenger) -> Awaitable[None]:
    if notice.person:
        return messenger.tell(notice.workspace, notice.person, notice.text)
    return messenger.announce(notice.workspace, notice.channel, notice.text)
