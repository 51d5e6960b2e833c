"""Publishes posted messages to who follows their channels: each once, also when somebody is stopped between the steps.

What is to be published is kept in the transaction that records the message as posted, and forgotten when it is published. To
publish what is published already does nothing more, so that whatever may have been lost is tried again.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.context import Clock, DeliveryContext
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.rate_limits import Pause, PlatformCall
from bot.delivery.send import title_of
from bot.delivery.workers import each_in_order, in_readings
from bot.errors import BotError, Delayed, Reach, Refused, Rejected
from bot.models import Method, Publication
from bot.ports.messenger import Messenger

log = logging.getLogger(__name__)

STALE = timedelta(days=1)  # what could not be published for so long is nobody's news any more
_ASK_AGAIN = timedelta(hours=1)  # where nothing can be published now, for a reason that somebody will mend
_LONGEST = timedelta(hours=23)  # whatever a platform asks for
_AT_ONCE = 4  # workspaces in which something is published at the same time
_READ = 50  # messages at a time, and publications of one round
_PATIENCE = timedelta(seconds=2)  # what must wait longer for its turn among all processes is left to the next round
_TOO_LATE = "That took longer than a day."


class FollowerPublisher:
    """Publishes within rate limits. `publish_due` may be called at any moment, by any process."""

    def __init__(self, context: DeliveryContext, pauser: SubscriptionPauser, pause: Pause = asyncio.sleep) -> None:
        """`pause` waits for so many seconds of the clock that `publish_due` is given."""
        self._context = context
        self._pause = pause
        self._pauser = pauser
        self._outbox = context.store.outbox
        self._stopped = False
        self._calls = 0  # of the platforms, so far

    def stop(self) -> None:
        """Publish nothing more."""
        self._stopped = True

    async def publish_due(self, clock: Clock) -> int:
        """Publish what waits, as far as that may be done now; return how many had their turn. Raises StoreError."""
        enough = self._calls + _READ
        return await in_readings(
            lambda: self._outbox.publications(clock(), limit=_READ),
            lambda found: self._publish_some(found, clock),
            lambda: self._stopped or self._calls >= enough,
            most=_READ,
        )

    async def _publish_some(self, found: Sequence[Publication], clock: Clock) -> int:
        workspaces: dict[str, list[Publication]] = {}
        for each in found:
            workspaces.setdefault(each.delivery.workspace, []).append(each)
        return await each_in_order(
            workspaces.values(), lambda each: self._had_its_turn(each, clock), lambda: self._stopped, at_once=_AT_ONCE
        )

    async def _had_its_turn(self, waiting: Publication, clock: Clock) -> bool:
        """Publish it, give it up or put it off; False where its turn is later by the rate limits alone."""
        posted, now = waiting.delivery, clock()
        settled = await self._context.store.workspaces.preferences(posted.workspace)
        if posted.channel not in settled.publish:  # switched off since
            await self._outbox.remove_publication(waiting)
            return True
        if now - waiting.since > STALE:
            await self._give_up(waiting, _TOO_LATE, now)
            return True
        messenger = self._context.messenger(posted.workspace, posted.channel)
        call = self._context.call(Method.PUBLISH, posted.workspace, posted.channel)
        rested = now + _ASK_AGAIN if messenger is None else self._context.rate_limits.rested(call, now)
        if messenger is None or rested > now:
            await self._outbox.put_off_publication(replace(waiting, next_at=rested))
            return True
        if self._context.rate_limits.earliest(call, now) > now:
            return False
        self._context.rate_limits.take(call, now)
        if await self._context.shared_limits.wait(call, clock, self._pause, _PATIENCE) is not None:
            return False
        await self._publish(waiting, messenger, call, clock)
        return True

    async def _publish(self, waiting: Publication, messenger: Messenger, call: PlatformCall, clock: Clock) -> None:
        self._calls += 1
        posted, tried = waiting.delivery, replace(waiting, attempts=waiting.attempts + 1)
        try:
            async with asyncio.timeout(self._context.settings.timeout.total_seconds()):
                await messenger.publish(posted)
        except Refused as error:
            if error.reach is Reach.CHANNEL:
                await self._give_up(waiting, str(error), clock())
            else:
                await self._outbox.put_off_publication(replace(waiting, next_at=clock() + _ASK_AGAIN))
        except Rejected as error:
            await self._give_up(waiting, str(error), clock())
        except Delayed as error:
            asked = error.retry_after if error.retry_after is not None else self._context.wait(tried.attempts)
            until = clock() + min(max(asked, timedelta(0)), _LONGEST)
            await self._context.shared_limits.rest(call, error.reach, until, clock(), error)
            await self._outbox.put_off_publication(replace(tried, next_at=until))
        except Exception as error:
            # It may be published; tried again, it is published once all the same.
            if not isinstance(error, BotError | TimeoutError):
                log.exception("publishing %s in %s failed", posted.id, posted.channel)
            await self._outbox.put_off_publication(replace(tried, next_at=clock() + self._context.wait(tried.attempts)))
        else:
            await self._outbox.remove_publication(waiting)

    async def _give_up(self, waiting: Publication, reason: str, now: datetime) -> None:
        """Say that it is posted and not published; first so, then forget it: who is stopped in between says it again."""
        posted = waiting.delivery
        text = f"{title_of(posted)} was posted, and not published to who follows the channel: {reason}"
        await self._pauser.alert(posted.workspace, text, now)
        await self._outbox.remove_publication(waiting)
