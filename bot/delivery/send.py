"""One try at a delivery that is held, and what is recorded of every way in which it may end."""

import asyncio
import logging
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.context import Clock, DeliveryContext, destination
from bot.delivery.edits import edited_until
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.rate_limits import Pause, PlatformCall, SlidingWindow
from bot.delivery.rejections import APART
from bot.errors import BotError, Delayed, Reach, Refused, Rejected
from bot.models import FOREVER, MAYBE_TWICE, Delivery, DeliveryState, Method, Refusal
from bot.ports.messenger import Messenger

log = logging.getLogger(__name__)

REFUSED_REST = timedelta(minutes=1)  # while what a refusal holds for is being paused
PLATFORM_REST = timedelta(minutes=5)  # after a platform refused everybody, which is the operator's to mend
LONGEST_REST = timedelta(days=1)  # whatever a platform asks for
SKEW = timedelta(minutes=10)  # by so much this machine's clock may be ahead of the platform's, or behind it
_WAITING = (DeliveryState.PENDING, DeliveryState.AMBIGUOUS)
_UNPOSTED = (DeliveryState.FAILED, DeliveryState.EXPIRED)
_ROWS = 100  # rows of a channel, or of a workspace, in which others are looked for
_AGAIN = " So was the digest before; its papers do not come again."
# Why nobody knows of what was sent once more where a digest is rather seen twice than missed; kept before that is done.
SENT_AGAIN = "It was sent once more: it may be there twice, once or not at all."
ENDED = "Its sending ended before its answer came."
_UNSURE = "It is not known whether the part before was posted."


class NotKnownYet(Exception):  # noqa: N818 - says what happened
    """Nothing can be known now; it is recorded when to look again."""


class Sender:
    """Sends and looks, each once, and records the outcome. `before` is always the delivery as it was when it was claimed."""

    def __init__(self, context: DeliveryContext, pauser: SubscriptionPauser, pause: Pause) -> None:
        self._context = context
        self._pauser = pauser
        self._rate_limits = context.rate_limits
        self._pause = pause
        self._gate = SlidingWindow(pause, context.departures)

    async def send_next(
        self, held: Delivery, before: Delivery, messenger: Messenger, clock: Clock, *, unposted: bool
    ) -> None:
        """Post what had its turn to be looked for: when its posting has its turn too, or later where that takes long."""
        call = self._call(Method.POST, held)
        free = self._rate_limits.earliest(call, clock())
        if free - clock() <= self._context.settings.patience:
            await self._pause(max((free - clock()).total_seconds(), 0.0))
            free = self._rate_limits.earliest(call, clock())
        if free > clock():
            await self.put_back(held, before, free, before.reason)
            return
        self._rate_limits.take(call, clock())
        await self.send(held, before, messenger, clock, unposted=unposted, reason="" if unposted else MAYBE_TWICE)

    async def send(
        self, held: Delivery, before: Delivery, messenger: Messenger, clock: Clock, *, unposted: bool, reason: str = ""
    ) -> None:
        """Post it once and record what came of it, with the reason where it went well.

        `unposted`: surely no earlier try posted it.
        """
        settings = self._context.settings
        held = replace(held, cursor="")  # what was looked through so far tells nothing of this try
        call = self._call(Method.POST, held)
        if not await self._has_moment(call, held, before, clock):
            return
        await self._gate.enter(call, clock)
        if held.lease_until is None or clock() + settings.timeout > held.lease_until:
            # So long was this process held up that somebody else may hold it soon.
            await self.put_back(held, before, clock(), "It was held up before it was sent.")
            return
        try:
            async with asyncio.timeout(settings.timeout.total_seconds()):
                message = await messenger.send(held)
        except Refused as error:
            await self._refused(held, before, error, clock(), unposted=unposted)
        except Rejected as error:
            await self._rejected(held, before, error, clock(), unposted=unposted)
        except Delayed as error:
            await self._delayed(held, before, call, error, clock())
        except Exception as error:  # noqa: BLE001 - whatever went wrong, it may have been posted
            if reason == MAYBE_TWICE:  # a third time would be no wish of anybody
                await self.record_unknown(held, f"{SENT_AGAIN} {_reason_of(error)}", clock())
            else:
                await self._uncertain(held, messenger, error, clock())
        else:
            await self.record_done(held, message, reason)

    async def look(
        self, held: Delivery, before: Delivery, messenger: Messenger, clock: Clock, since: datetime, until: datetime
    ) -> str | None:
        """Return the message of the delivery, if it was posted between the two times; None when it surely was not.

        Raises Refused where nobody may look there, or could for an hour, in several channels for a day; and NotKnownYet,
        when that is recorded, where nothing can be known now.
        """
        call = self._call(Method.FIND, held)
        if not await self._may_look(call, held, before, clock):
            raise NotKnownYet
        await self._gate.enter(call, clock)
        try:
            async with asyncio.timeout(self._context.settings.timeout.total_seconds()):
                look = await messenger.find(replace(held, first_try=since - SKEW, last_try=self._end(until, clock())))
        except Refused as error:
            if error.reach is not Reach.PLATFORM:
                raise
            await self._refused_everywhere(held, before, call, error, clock())
            raise NotKnownYet from error
        except Rejected as error:
            tried_long_ago = clock() - (before.last_try or before.due) > LONGEST_REST
            if await self._is_given_up(call, held, error, clock()) or tried_long_ago:
                raise Refused(str(error)) from error
            await self._try_later(held, before, error, clock())
            raise NotKnownYet from error
        except Delayed as error:
            await self._delayed(held, before, call, error, clock())
            raise NotKnownYet from error
        except Exception as error:
            if not isinstance(error, BotError | TimeoutError):
                log.exception("looking for %s in %s failed", held.id, held.channel)
            await self.put_back(held, before, clock() + self._context.wait(held.attempts), _reason_of(error))
            raise NotKnownYet from error
        if not look.is_proof:
            so_far = replace(held, cursor=look.cursor, attempts=before.attempts)
            await self.put_back(so_far, before, clock() + self._context.settings.next_look, before.reason)
            raise NotKnownYet
        return look.message or None

    async def _may_look(self, call: PlatformCall, held: Delivery, before: Delivery, clock: Clock) -> bool:
        """Wait for the look's turn; False where the channel rests, or that takes long, and the delivery is put back."""
        if (free := self._rate_limits.rested(call, clock())) > clock():
            await self.put_back(held, before, free, before.reason)
            return False
        return await self._has_moment(call, held, before, clock)

    async def _has_moment(self, call: PlatformCall, held: Delivery, before: Delivery, clock: Clock) -> bool:
        """Wait for the call's turn among those of all processes; False where it is put back, as that takes long."""
        free = await self._context.shared_limits.wait(call, clock, self._pause, self._context.settings.patience)
        if free is None:
            return True
        await self.put_back(replace(held, attempts=before.attempts), before, free, before.reason)
        return False

    def _end(self, until: datetime, now: datetime) -> datetime:
        """Return from when on nothing was written that is ours."""
        last = until + SKEW
        # Until that is past, it leaves out nothing, unless this clock is behind: then what is looked for.
        return last if last < now else now + self._context.settings.catch_up

    # --- how it ended

    async def record_done(self, held: Delivery, message: str, reason: str = "", *, may_be_edited: bool = True) -> None:
        """Record that it is posted."""
        posted = replace(held, state=DeliveryState.DONE, message=message, reason=reason)
        until = await edited_until(self._context, posted) if may_be_edited else None
        if not await self._context.ledger.record(replace(posted, link=self._link(posted)), edited_until=until):
            log.warning("%s was posted in %s, but somebody else holds it by now", held.id, held.channel)

    def _link(self, posted: Delivery) -> str:
        messenger = self._context.messenger(posted.workspace, posted.channel)
        try:
            return messenger.link(posted) if messenger else ""
        except Exception:
            # What is posted must be recorded, or it would be looked for again and again.
            log.exception("the link of %s in %s cannot be made", posted.id, posted.channel)
            return ""

    async def end(
        self, held: Delivery, state: DeliveryState, reason: str, now: datetime, *, alert: bool, unposted: bool = False
    ) -> bool:
        """Record that it will not be posted, and its later parts neither; return whether it was still ours to record.

        `alert`: the alerts are to know; `unposted`: surely nothing of it was posted.
        """
        if unposted and await self._is_not_taken_again(held, reason):
            # What both hold may be what is not taken: the next digest begins behind it, or none would ever be posted.
            unposted, reason = False, reason + _AGAIN
        ended = await self._context.ledger.record(replace(held, state=state, reason=reason), unposted=unposted)
        if ended and alert:
            await self._pauser.alert(held.workspace, f"{title_of(held)} was not posted: {reason}", now)
        return ended

    async def record_unknown(self, held: Delivery, reason: str, now: datetime) -> None:
        """Record that nobody will ever know whether it was posted."""
        # The later parts first: who is stopped in between finds this one again.
        await self._context.ledger.expire_parts(held, _UNSURE)
        left = replace(held, state=DeliveryState.AMBIGUOUS, next_at=FOREVER, reason=f"unknown: {reason}")
        if await self._context.ledger.record(left):
            await self._pauser.alert(held.workspace, f"{title_of(held)} may have been posted or not. {reason}", now)

    async def put_back(self, held: Delivery, before: Delivery, next_at: datetime, reason: str) -> None:
        """Record that nothing was posted this time: it stands as before, until its next time."""
        state = DeliveryState.PENDING if before.state is DeliveryState.PENDING else DeliveryState.AMBIGUOUS
        if was_sent_again(before):
            reason = f"{SENT_AGAIN} {reason.removeprefix(SENT_AGAIN).strip() or ENDED}"
        back = replace(held, state=state, next_at=next_at, late=before.late, reason=reason)
        await self._context.ledger.record(replace(back, first_try=before.first_try, last_try=before.last_try))

    async def _delayed(self, held: Delivery, before: Delivery, call: PlatformCall, error: Delayed, now: datetime) -> None:
        wait = self._wait(held, error)
        # Without a word for how long, one row's many failures must not hold up all others.
        rest = wait if error.retry_after is not None else min(wait, self._context.settings.first_wait)
        await self._context.shared_limits.rest(call, error.reach, now + rest, now, error)
        await self.put_back(held, before, now + wait, str(error))

    async def _rejected(self, held: Delivery, before: Delivery, error: Rejected, now: datetime, *, unposted: bool) -> None:
        """Try it again later, or give the digest up, where it is this channel alone that does not get it; pause nothing."""
        given_up = await self._is_given_up(self._call(Method.POST, held), held, error, now)
        if given_up and unposted:
            if await self.end(held, DeliveryState.FAILED, str(error), now, alert=True, unposted=True):
                await self._pauser.tell_of_skipped(held, str(error), now)
        else:
            await self._try_later(held, before, error, now)

    async def _is_given_up(self, call: PlatformCall, held: Delivery, error: Rejected, now: datetime) -> bool:
        if not self._context.rejections.note(call, held.id, error, now):
            return False
        # What other processes saw in the workspace stands in the ledger.
        waiting = await self._context.ledger.deliveries(held.workspace, states=_WAITING, limit=_ROWS)
        return not any(each.channel != held.channel and each.reason == str(error) for each in waiting)

    async def _is_not_taken_again(self, held: Delivery, reason: str) -> bool:
        """Say whether what a digest says is not taken, as with the topic's one before it, whose papers came again in it."""
        if not self._context.rejections.blames_message(self._call(Method.POST, held), held.id):
            return False
        here = await self._context.ledger.deliveries(held.workspace, channel=held.channel, limit=_ROWS)
        firsts = (each for each in here if each.topic == held.topic and each.part == 1)
        before = next((each for each in firsts if each.occurrence != held.occurrence), None)
        return before is not None and before.state in _UNPOSTED and before.reason == reason

    async def _try_later(self, held: Delivery, before: Delivery, error: Rejected, now: datetime) -> None:
        wait = max(self._context.wait(held.attempts), APART * self._context.chance.uniform(1.0, 1.5))
        await self.put_back(held, before, now + wait, str(error))

    def _wait(self, held: Delivery, error: Delayed) -> timedelta:
        """As long as the platform asked for, and up to a tenth more, so that not all come back at once."""
        if error.retry_after is None:
            return self._context.wait(held.attempts)
        asked = min(max(error.retry_after, timedelta(0)), LONGEST_REST)
        return asked * self._context.chance.uniform(1.0, 1.1)

    async def _uncertain(self, held: Delivery, messenger: Messenger, error: Exception, now: datetime) -> None:
        if not isinstance(error, BotError | TimeoutError):
            log.error("sending %s to %s failed", held.id, held.channel, exc_info=error)
        settings = self._context.settings
        rest = settings.nonce_quarantine if messenger.abilities.nonce_window else settings.quarantine
        # Who was held up after the claim began to send later than that.
        next_at = max(held.last_try or held.due, now - settings.timeout) + rest
        await self._context.ledger.record(
            replace(held, state=DeliveryState.AMBIGUOUS, next_at=next_at, reason=_reason_of(error))
        )

    async def _refused(self, held: Delivery, before: Delivery, error: Refused, now: datetime, *, unposted: bool) -> None:
        call = self._call(Method.POST, held)
        if error.reach is Reach.PLATFORM:
            await self._refused_everywhere(held, before, call, error, now)
            return
        await self._context.shared_limits.rest(call, error.reach, now + REFUSED_REST, now, error)
        refusal = Refusal(held.workspace, held.channel, error.reach, str(error), at=now)
        # First what is to follow: who is stopped after the next line leaves that to the next round.
        await self._pauser.record_refusal(refusal)
        if unposted:
            await self._context.ledger.record(replace(held, state=DeliveryState.FAILED, reason=str(error)), unposted=True)
        else:  # an earlier try may have come through, and that cannot be found out by trying again
            await self.record_unknown(held, str(error), now)
        await self._pauser.apply(refusal, now)

    async def _refused_everywhere(
        self, held: Delivery, before: Delivery, call: PlatformCall, error: Refused, now: datetime
    ) -> None:
        """Leave it as it was until the operator has mended what the platform refuses everybody for."""
        log.error("the platform of %s refuses everything: %s", held.workspace, error)
        await self._context.shared_limits.rest(call, Reach.PLATFORM, now + PLATFORM_REST, now, error)
        await self.put_back(held, before, now + PLATFORM_REST, str(error))

    def _call(self, method: Method, held: Delivery) -> PlatformCall:
        return self._context.call(method, held.workspace, held.channel)


def _reason_of(error: Exception) -> str:
    return "The platform did not answer in time." if isinstance(error, TimeoutError) else str(error) or type(error).__name__


def title_of(delivery: Delivery) -> str:
    """Return which part of which digest it is, as the beginning of a sentence."""
    part = f", part {delivery.part} of {delivery.parts}," if delivery.parts > 1 else ""
    return f"The digest {delivery.topic} of {delivery.occurrence[1]} {destination(delivery.channel)}{part}"


def was_sent_again(before: Delivery) -> bool:
    """Say whether it was sent once more by preference, or may have been; what was put back unsent says nothing more."""
    told = before.reason.startswith(SENT_AGAIN)
    return told and (before.state is DeliveryState.SENDING or before.reason != SENT_AGAIN)
