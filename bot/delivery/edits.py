"""Edits what stands in channels, so that it says how many said more of what it lists, or saved it there.

What is owed is no queue: the outbox compares what each message says with what stands, so that who is stopped between any two
steps leaves nothing behind, and an edit that may have been lost is made again. An edit never posts. Whatever takes a message
away, or closes it to us, ends its edits in silence.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.context import Clock, DeliveryContext, is_whole
from bot.delivery.rate_limits import Pause, PlatformCall
from bot.delivery.workers import each_in_order, in_readings
from bot.digest.quiet_hours import after_quiet
from bot.errors import BotError, Delayed, Reach, Refused, Rejected, StoreError
from bot.models import Delivery, Method, Preferences, Presses, StandingMessage, Subscription
from bot.ports.messenger import Messenger

log = logging.getLogger(__name__)

LASTS = timedelta(days=3)  # after it was posted a message is edited no more
APART = timedelta(minutes=5)  # edits of a message
# Discord takes few edits of messages that are older than an hour (code 30046 of opcodes-and-status-codes).
FRESH, APART_LATER = timedelta(hours=1), timedelta(minutes=30)
_ASK_AGAIN = timedelta(hours=1)  # where it may not be edited now, for a reason that people may take back
_LONGEST = timedelta(hours=23)  # whatever a platform asks for
_AT_ONCE = 4  # workspaces in which something is edited at the same time
_READ = 100  # messages at a time, and edits of one round
_UNSURE = Presses(-1, -1)  # what a message says whose edit may have been lost: other counts than any that stand
_PATIENCE = timedelta(seconds=2)  # what must wait longer for its budget is left to the next round


async def edited_until(context: DeliveryContext, posted: Delivery) -> datetime | None:
    """Return until when a message may be edited that is being recorded as posted; None where it is not to be.

    What is published to other servers is not: followers would be told what people did in this one.
    """
    messenger = context.messenger(posted.workspace, posted.channel)
    if messenger is None or not messenger.abilities.edits or not posted.listed or posted.publishes:
        return None
    try:
        preferences = await context.store.workspaces.preferences(posted.workspace)
    except StoreError as error:  # that it is posted must be recorded, or it would be looked for again
        log.warning("%s in %s is not edited: %s", posted.id, posted.channel, error)
        return None
    return (posted.last_try or posted.due) + LASTS if preferences.activity else None


class MessageEditor:
    """Edits within rate limits, not in quiet hours, and each message seldom. `edit_due` may be called at any moment."""

    def __init__(self, context: DeliveryContext, pause: Pause = asyncio.sleep) -> None:
        """`pause` waits for so many seconds of the clock that `edit_due` is given."""
        self._context = context
        self._pause = pause
        self._outbox = context.store.outbox
        self._stopped = False
        self._calls = 0  # of the platforms, so far

    def stop(self) -> None:
        """Edit nothing more."""
        self._stopped = True

    async def edit_due(self, clock: Clock) -> int:
        """Edit what says other counts than stand, as far as that may be done now; return how many had their turn.

        Raises StoreError.
        """
        enough = self._calls + _READ
        return await in_readings(
            lambda: self._outbox.messages_to_edit(clock(), limit=_READ),
            lambda found: self._edit_some(found, clock),
            lambda: self._stopped or self._calls >= enough,
            most=_READ,
        )

    async def _edit_some(self, found: Sequence[StandingMessage], clock: Clock) -> int:
        workspaces: dict[str, list[StandingMessage]] = {}
        for each in found:
            workspaces.setdefault(each.delivery.workspace, []).append(each)
        return await each_in_order(
            workspaces.values(), lambda each: self._had_its_turn(each, clock), lambda: self._stopped, at_once=_AT_ONCE
        )

    async def _had_its_turn(self, message: StandingMessage, clock: Clock) -> bool:
        """Edit the message, leave it, or put it off; False where its budget alone keeps it waiting."""
        store, posted, now = self._context.store, message.delivery, clock()
        preferences = await store.workspaces.preferences(posted.workspace)
        subscription = await self._subscription(posted)
        message = message if preferences.activity else replace(message, pressed=Presses())
        if not is_whole(posted) or not _is_owed(message, preferences, subscription):
            await self._outbox.leave_message(message)
            return True
        messenger = self._context.messenger(posted.workspace, posted.channel)
        call = self._context.call(Method.EDIT, posted.workspace, posted.channel)
        next_at = await _allowed(preferences, subscription, now) if messenger is not None else now + _ASK_AGAIN
        next_at = max(next_at, self._context.rate_limits.rested(call, now))
        if messenger is None or next_at > now:
            await self._outbox.update_message(replace(message, next_at=next_at), replaces=message)
            return True
        if not await self._takes_turn(call, clock):
            return False
        await self._edit(message, messenger, call, clock, is_last=not preferences.activity)
        return True

    async def _subscription(self, posted: Delivery) -> Subscription | None:
        here = await self._context.store.workspaces.subscriptions(
            posted.workspace, channel=posted.channel, topic=posted.topic
        )
        return next((each for each in here if each.id == posted.occurrence[0]), None)

    async def _takes_turn(self, call: PlatformCall, clock: Clock) -> bool:
        """Wait shortly for the budget, and take from it; False where that would take long."""
        limits = self._context.rate_limits
        wait = limits.earliest(call, clock()) - clock()
        if wait > _PATIENCE:
            return False
        if wait > timedelta(0):
            await self._pause(wait.total_seconds())
        if limits.earliest(call, clock()) > clock():
            return False
        limits.take(call, clock())
        return await self._context.shared_limits.wait(call, clock, self._pause, _PATIENCE) is None

    async def _edit(
        self, message: StandingMessage, messenger: Messenger, call: PlatformCall, clock: Clock, *, is_last: bool
    ) -> None:
        # Who is stopped from here on cannot know what it says. Until that time nobody else edits it, nor after one who did
        # since it was read: of two edits nobody would know which came last.
        tried = replace(message, edits=message.edits + 1, shown=_UNSURE, next_at=_next(message, clock()))
        if not await self._outbox.update_message(tried, replaces=message):
            return
        timeout = self._context.settings.timeout
        if clock() + timeout > tried.next_at:  # so long was this process held up that it is somebody else's turn soon
            return
        self._calls += 1
        posted = message.delivery
        said = replace(posted, payload=posted.if_late or posted.payload) if posted.late else posted
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                await messenger.edit(said, message.pressed, tried.edits)
        except Refused as error:
            await self._refused(message, tried, error, clock())
        except Rejected as error:
            log.info("%s in %s stays as it is: %s", posted.id, posted.channel, error)
            await self._outbox.leave_message(tried)
        except Delayed as error:
            asked = error.retry_after if error.retry_after is not None else self._context.settings.first_wait
            wait = min(max(asked, timedelta(0)), _LONGEST)
            await self._context.shared_limits.rest(call, error.reach, clock() + wait, clock(), error)
            next_at = max(clock() + wait, _next(message, clock()))
            await self._outbox.update_message(replace(message, next_at=next_at), replaces=tried)
        except Exception as error:
            if not isinstance(error, BotError | TimeoutError):
                log.exception("editing %s in %s failed", posted.id, posted.channel)
            await self._outbox.update_message(replace(tried, next_at=_next(message, clock())), replaces=tried)
        else:
            if is_last:
                await self._outbox.leave_message(tried)
            else:
                says = replace(tried, shown=message.pressed, next_at=_next(message, clock()))
                await self._outbox.update_message(says, replaces=tried)

    async def _refused(self, message: StandingMessage, tried: StandingMessage, error: Refused, now: datetime) -> None:
        """Leave it where its channel is closed; what keeps us out of more than that somebody will mend."""
        if error.reach is Reach.CHANNEL:
            await self._outbox.leave_message(tried)
        else:
            await self._outbox.update_message(replace(message, next_at=now + _ASK_AGAIN), replaces=tried)


def _is_owed(message: StandingMessage, preferences: Preferences, subscription: Subscription | None) -> bool:
    """Say whether it is to be edited at all: where nobody subscribes it, or counts were switched off, if it says any."""
    return (preferences.activity and subscription is not None) or message.shown != Presses()


async def _allowed(preferences: Preferences, subscription: Subscription | None, now: datetime) -> datetime:
    """Return when it may be edited: now, after the quiet hours, or when it is to be asked again.

    What was switched off is taken away of what is paused, or not subscribed any more, too; until then that stays as it is.
    """
    if subscription is None:
        return now + _ASK_AGAIN if preferences.activity else now
    if preferences.activity and subscription.is_paused(now):
        return now + _ASK_AGAIN
    return await after_quiet(preferences, subscription, now)


def _next(message: StandingMessage, now: datetime) -> datetime:
    return now + (APART if now - message.since < FRESH else APART_LATER)
