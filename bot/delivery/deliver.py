"""Delivers what is due, and finds out what became of what may have been delivered."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime

from bot.delivery.context import Clock, DeliveryContext, is_whole
from bot.delivery.decide import Decider, Decision
from bot.delivery.notices import Notices
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.rate_limits import Pause
from bot.delivery.restored import doubted_until, in_doubt
from bot.delivery.send import NotKnownYet, Sender
from bot.delivery.workers import DeliveryTask, Workers
from bot.errors import Refused
from bot.models import Delivery, Method, State

_DAMAGED = "Its text was damaged in the database."
_RESTORED = "It may have been posted before the database was restored, and nobody can look into the channel."
_FOUND = "It was posted before the database was restored."
_QUIET = "It waits for the end of the quiet hours."
_ENDED = "Its sending ended before its answer came."

_Do = Callable[[Delivery, datetime | None, Clock], Awaitable[None]]


class Deliverer:
    """Delivers what is due, and finds out what became of what may have been delivered."""

    def __init__(self, office: DeliveryContext, *, pause: Pause = asyncio.sleep) -> None:
        """`pause` waits for so many seconds of the clock that the methods are given."""
        self._office = office
        self._trouble = SubscriptionPauser(office)
        self._sender = Sender(office, self._trouble, pause)
        self._cases = Decider(office, self._sender)
        self._crew = Workers(office, pause)
        self._notices = Notices(office)
        # A clock that jumps ahead ends every lease; what is in flight here is still ours.
        self._in_flight: set[tuple[str, str]] = set()

    def stop(self) -> None:
        """Send nothing more; what is in flight ends within the time of one call, and the rest stays claimable."""
        self._crew.stop()
        self._notices.stop()

    async def deliver_due(self, clock: Clock) -> int:
        """Send what is due and may be sent within seconds; return how many had their turn. Raises StoreError."""
        doubt = await doubted_until(self._office.store)
        task = DeliveryTask(
            self._office.ledger.due_deliveries,
            lambda each: self._once(self._deliver, each, doubt, clock),
            lambda each: Method.FIND if in_doubt(each, doubt) else Method.POST,
        )
        return await self._crew.work(task, clock)

    async def reconcile(self, clock: Clock) -> int:
        """Settle what may have been posted and can be known by now; return how many had their turn. Raises StoreError."""
        doubt = await doubted_until(self._office.store)
        task = DeliveryTask(
            self._office.ledger.unsettled_deliveries,
            lambda each: self._once(self._settle, each, doubt, clock),
            lambda each: Method.POST if self._has_nonce(each, clock()) else Method.FIND,
        )
        return await self._crew.work(task, clock)

    async def tell_owed(self, clock: Clock) -> int:
        """Pause what was refused and is not paused yet, and tell whoever is owed to be told, as far as that may be done now.

        Returns how much of the telling is over. Raises StoreError.
        """
        await self._trouble.pause_owed(clock())
        return await self._notices.tell(clock)

    async def deliver(self, delivery: Delivery, clock: Clock) -> None:
        """Send this one, unless it is not due any more as it was read. Raises StoreError."""
        await self._once(self._deliver, delivery, await doubted_until(self._office.store), clock)

    async def _once(self, do: _Do, delivery: Delivery, doubt: datetime | None, clock: Clock) -> None:
        key = (delivery.workspace, delivery.id)
        if key in self._in_flight:
            return
        self._in_flight.add(key)
        try:
            await do(delivery, doubt, clock)
        finally:
            self._in_flight.discard(key)

    # --- what was not sent yet

    async def _deliver(self, delivery: Delivery, doubt: datetime | None, clock: Clock) -> None:
        found = await self._cases.of(delivery, doubt, clock())
        if found is None:
            return
        case, quiet_until = found
        held = await self._claim(case, clock())
        if held is None:
            return
        if case.ending is not None:
            await self._end(held, case, clock(), unposted=not case.doubted)
        elif quiet_until > clock():
            back = replace(held, attempts=delivery.attempts)
            await self._sender.put_back(back, delivery, quiet_until, _QUIET)
        elif case.doubted:
            await self._look_first(held, case, clock)
        else:
            await self._sender.send(held, delivery, case.messenger, clock, unposted=True)

    async def _end(self, held: Delivery, case: Decision, now: datetime, *, unposted: bool) -> None:
        if case.ending is not None:
            state, reason, told = case.ending
            await self._sender.end(held, state, reason, now, told=told, unposted=unposted)

    async def _look_first(self, held: Delivery, case: Decision, clock: Clock) -> None:
        """Send it only where it was not posted before the database was restored."""
        try:
            message = await self._look(held, case, clock)
        except NotKnownYet:
            return
        except Refused:
            if case.at_all_costs:
                await self._sender.send_next(held, case.before, case.messenger, clock, unposted=False)
            else:
                await self._sender.end(held, State.EXPIRED, _RESTORED, clock(), told=True)
            return
        if message is None:
            await self._sender.send_next(held, case.before, case.messenger, clock, unposted=True)
            return
        # What was posted then may have been cut into other parts. First the later ones, so that none is sent in between.
        await self._office.ledger.expire_parts(held, _FOUND)
        await self._sender.done(replace(held, late=case.before.late), message, _FOUND)

    # --- what may have been sent

    async def _settle(self, delivery: Delivery, doubt: datetime | None, clock: Clock) -> None:
        now = clock()
        found = await self._cases.of(delivery, doubt, now)
        if found is None:
            return
        case, quiet_until = found
        by_nonce = self._nonce_holds(case, now)
        ready = self._ready(case, by_nonce, now)
        held = await self._claim(case, now)
        if held is None:
            return
        if ready > now:
            back, last = replace(held, attempts=delivery.attempts), min(delivery.last_try or now, now)
            await self._sender.put_back(back, replace(delivery, last_try=last), ready, delivery.reason or _ENDED)
        elif by_nonce:
            await self._sender.send(held, delivery, case.messenger, clock, unposted=False)
        else:
            await self._look_after(held, case, quiet_until, clock)

    def _nonce_holds(self, case: Decision, now: datetime) -> bool:
        """Say whether a message sent now would surely reach a platform that still remembers its nonce."""
        return not case.doubted and case.ending is None and self._has_nonce(case.before, now)

    def _has_nonce(self, delivery: Delivery, now: datetime) -> bool:
        messenger, first = self._office.messenger(delivery.workspace), delivery.first_try
        if messenger is None or first is None:
            return False
        return first <= now and now + self._office.values.timeout <= first + messenger.abilities.nonce_window

    def _ready(self, case: Decision, by_nonce: bool, now: datetime) -> datetime:
        """Return when a request that nobody waits for any more has surely ended, and the channel may be looked into."""
        values, before = self._office.values, case.before
        last = min(before.last_try or before.due, now)
        return last + (values.nonce_quarantine if by_nonce else values.quarantine)

    async def _look_after(self, held: Delivery, case: Decision, quiet_until: datetime, clock: Clock) -> None:
        """Look whether it was posted, and send it once more where it was not; in quiet hours, when they are over."""
        try:
            message = await self._look(held, case, clock)
        except NotKnownYet:
            return
        except Refused as error:
            if case.at_all_costs and case.ending is None:
                await self._sender.send_next(held, case.before, case.messenger, clock, unposted=False)
            else:
                await self._sender.unknown(held, str(error), clock())
            return
        if message is not None:
            await self._sender.done(replace(held, late=case.before.late), message)
        elif case.ending is not None:
            await self._end(held, case, clock(), unposted=True)
        elif quiet_until > clock():
            back = replace(held, attempts=case.before.attempts)
            await self._sender.put_back(back, case.before, quiet_until, _QUIET)
        else:
            await self._sender.send_next(held, case.before, case.messenger, clock, unposted=True)

    async def _look(self, held: Delivery, case: Decision, clock: Clock) -> str | None:
        if not case.messenger.abilities.finds:
            raise Refused("Nobody can look into the channel.")
        now, first = clock(), case.before.first_try or held.due
        # The copy of a database knows nothing of a first try after it was made, and a clock that was set back no true one.
        since = min(first, held.due) if case.doubted else first
        if first > now:
            since = now - self._office.values.catch_up
        return await self._sender.look(held, case.before, case.messenger, clock, since)

    # --- both

    async def _claim(self, case: Decision, now: datetime) -> Delivery | None:
        """Take the delivery, as it is to be said now; None when somebody else was first, or when its text is damaged."""
        held = await self._office.ledger.claim(case.before, now, self._office.values.lease)
        if held is None:
            return None
        if not is_whole(held):
            surely = case.before.state is State.PENDING and not case.doubted
            await self._sender.end(held, State.FAILED, _DAMAGED, now, told=True, unposted=surely)
            return None
        return replace(held, payload=held.if_late or held.payload, late=True) if case.late else held
