"""Delivers what is due, and finds out what became of what may have been delivered."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.context import Clock, DeliveryContext, is_whole
from bot.delivery.decide import Decider, Decision
from bot.delivery.edits import MessageEditor
from bot.delivery.notices import NoticeSender
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.publications import FollowerPublisher
from bot.delivery.rate_limits import Pause
from bot.delivery.restored import Restoration, may_be_unrecorded, read_restoration
from bot.delivery.send import ENDED, SENT_AGAIN, NotKnownYet, Sender, was_sent_again
from bot.delivery.workers import DeliveryTask, Workers
from bot.errors import Refused
from bot.models import Delivery, DeliveryState, Method, is_mail

_DAMAGED = "Its text was damaged in the database."
_RESTORED = "It may have been posted before the database was restored, and nobody can look into the channel."
_UNSEEN, _MAILBOX = "Nobody can look into the channel.", "Nobody can look into the mailbox."
_FOUND = "It was posted before the database was restored."
_QUIET = "It waits for the end of the quiet hours."
_ABSENT = "It was not posted, and has its turn again."
_UNBEGUN = "It was held up before it was sent."
_LAGGING = "It waits until the channel shows what was posted before the database was restored."

_Do = Callable[[Delivery, Restoration | None, Clock], Awaitable[None]]


class Deliverer:
    """Delivers what is due, and finds out what became of what may have been delivered."""

    def __init__(self, context: DeliveryContext, *, pause: Pause = asyncio.sleep) -> None:
        """`pause` waits for so many seconds of the clock that the methods are given."""
        self._context = context
        self._pauser = SubscriptionPauser(context)
        self._sender = Sender(context, self._pauser, pause)
        self._decider = Decider(context, self._sender)
        self._workers = Workers(context, pause)
        self._notices = NoticeSender(context, pause)
        self._editor = MessageEditor(context, pause)
        self._followers = FollowerPublisher(context, self._pauser, pause)
        self._in_flight = context.in_flight

    def stop(self) -> None:
        """Send nothing more; what is in flight ends within the time of one call, and the rest stays claimable."""
        self._workers.stop()
        self._notices.stop()
        self._editor.stop()
        self._followers.stop()

    async def deliver_due(self, clock: Clock) -> int:
        """Send what is due and may be sent within seconds; return how many had their turn. Raises StoreError."""
        clock = self._context.noted(clock)
        restoration = await read_restoration(self._context.store.facts)
        until = None if restoration is None else restoration.until
        task = DeliveryTask(
            self._context.ledger.due_deliveries,
            lambda each: self._once(self._deliver, each, restoration, clock),
            lambda each: Method.FIND if may_be_unrecorded(each, until) else Method.POST,
            (Method.POST,) if until is None else (Method.POST, Method.FIND),
        )
        return await self._workers.work(task, clock)

    async def reconcile(self, clock: Clock, *, overdue: timedelta = timedelta(0)) -> int:
        """Settle what may have been posted and can be known by now; return how many had their turn. Raises StoreError.

        `overdue`: only what could have been settled for so long already, and that nobody has come to.
        """
        clock = self._context.noted(clock)
        restoration = await read_restoration(self._context.store.facts)
        unsettled = self._context.ledger.unsettled_deliveries

        async def read(now: datetime, *, limit: int, had: Mapping[str, int], without: Collection[str]) -> Sequence[Delivery]:
            return await unsettled(now - overdue, limit=limit, had=had, without=without)

        task = DeliveryTask(
            read,
            lambda each: self._once(self._settle, each, restoration, clock),
            lambda each: Method.POST if self._has_nonce(each, clock()) else Method.FIND,
            (Method.POST, Method.FIND),
        )
        return await self._workers.work(task, clock)

    async def send_notices(self, clock: Clock) -> int:
        """Pause what was refused and is not paused yet, and send the notices that wait, as far as that may be done now.

        Returns how many notices are settled. Raises StoreError.
        """
        await self._pauser.apply_recorded(clock())
        return await self._notices.send(clock)

    async def edit_messages(self, clock: Clock) -> int:
        """Let what stands in channels say what was pressed there, as far as that may be done now.

        Returns how many messages had their turn. Raises StoreError.
        """
        return await self._editor.edit_due(self._context.noted(clock))

    async def publish_to_followers(self, clock: Clock) -> int:
        """Publish what was posted where that is wanted; return how many messages had their turn. Raises StoreError."""
        return await self._followers.publish_due(self._context.noted(clock))

    async def refresh_limits(self, clock: Clock) -> None:
        """Learn what platforms asked other processes to leave alone, so that nothing is begun there. Raises StoreError."""
        await self._context.shared_limits.refresh(clock())

    async def deliver(self, delivery: Delivery, clock: Clock) -> None:
        """Send this one, unless it is not due any more as it was read. Raises StoreError."""
        await self._once(self._deliver, delivery, await read_restoration(self._context.store.facts), clock)

    async def _once(self, do: _Do, delivery: Delivery, restoration: Restoration | None, clock: Clock) -> None:
        key = (delivery.workspace, delivery.id)
        if key in self._in_flight:
            return
        self._in_flight.add(key)
        try:
            await do(delivery, restoration, clock)
        finally:
            self._in_flight.discard(key)

    # --- what was not sent yet

    async def _deliver(self, delivery: Delivery, restoration: Restoration | None, clock: Clock) -> None:
        found = await self._decider.decide(delivery, restoration, clock())
        if found is None:
            return
        decision, quiet_until = found
        held = await self._claim(decision, clock(), late=decision.late, kept=decision.late)
        if held is None:
            return
        if decision.ending is not None:
            await self._end(held, decision, clock(), unposted=not decision.maybe_posted)
        elif quiet_until > clock():
            back = replace(held, attempts=delivery.attempts)
            await self._sender.put_back(back, delivery, quiet_until, _QUIET)
        elif decision.restored is not None:
            await self._look_first(held, decision, decision.restored, clock)
        else:
            await self._sender.send(held, delivery, decision.messenger, clock, unposted=True)

    async def _end(self, held: Delivery, decision: Decision, now: datetime, *, unposted: bool) -> None:
        if decision.ending is not None:
            state, reason, alert = decision.ending
            await self._sender.end(held, state, reason, now, alert=alert, unposted=unposted)

    async def _look_first(self, held: Delivery, decision: Decision, restored: Restoration, clock: Clock) -> None:
        """Send it only where it was not posted before the database was restored."""
        now = clock()
        if (ready := restored.caught_up(self._context.settings.quarantine, now)) > now:
            back = replace(held, attempts=decision.before.attempts)
            await self._sender.put_back(back, decision.before, ready, decision.before.reason or _LAGGING)
            return
        try:
            message = await self._look(held, decision, clock)
        except NotKnownYet:
            return
        except Refused:
            if decision.prefers_duplicate:
                await self._send_again(held, decision, clock)
            else:
                await self._sender.end(held, DeliveryState.EXPIRED, _RESTORED, clock(), alert=True)
            return
        if message is None:
            await self._sender.send_next(held, decision.before, decision.messenger, clock, unposted=True)
            return
        # What was posted then may have been cut into other parts. First the later ones, so that none is sent in between.
        await self._context.ledger.expire_parts(held, _FOUND)
        await self._record_found(held, decision, message, _FOUND)

    # --- what may have been sent

    async def _settle(self, delivery: Delivery, restoration: Restoration | None, clock: Clock) -> None:
        now = clock()
        if delivery.unbegun:
            await self._let_wait(delivery, now)
            return
        found = await self._decider.decide(delivery, restoration, now)
        if found is None:
            return
        decision, quiet_until = found
        by_nonce = self._nonce_holds(decision, now)
        ready = self._ready(decision, by_nonce, now)
        # By its nonce the message that stands may be returned: then it is said as it was.
        held = await self._claim(decision, now, late=delivery.late if by_nonce else decision.late, kept=delivery.late)
        if held is None:
            return
        if ready > now:
            back, last = replace(held, attempts=delivery.attempts), min(delivery.last_try or now, now)
            await self._sender.put_back(back, replace(delivery, last_try=last), ready, delivery.reason or ENDED)
        elif by_nonce:
            await self._sender.send(held, delivery, decision.messenger, clock, unposted=False)
        else:
            await self._look_after(held, decision, quiet_until, clock)

    async def _let_wait(self, delivery: Delivery, now: datetime) -> None:
        """Give its turn back to what was claimed and never begun: surely nothing of it was sent."""
        held = await self._context.ledger.claim(delivery, now, self._context.settings.lease)
        if held is None:
            return
        back = replace(held, attempts=delivery.attempts)
        if held.unbegun:
            await self._sender.put_back(back, replace(delivery, state=DeliveryState.PENDING), now, _UNBEGUN)
        else:  # whoever was held up has begun it since it was read
            await self._sender.put_back(back, replace(delivery, last_try=now), now, ENDED)

    def _nonce_holds(self, decision: Decision, now: datetime) -> bool:
        """Say whether a message sent now would surely reach a platform that still remembers its nonce."""
        return not decision.maybe_posted and decision.ending is None and self._has_nonce(decision.before, now)

    def _has_nonce(self, delivery: Delivery, now: datetime) -> bool:
        messenger, first = self._context.messenger(delivery.workspace, delivery.channel), delivery.first_try
        if messenger is None or first is None:
            return False
        return first <= now and now + self._context.settings.timeout <= first + messenger.abilities.nonce_window

    def _ready(self, decision: Decision, by_nonce: bool, now: datetime) -> datetime:
        """Return when a request that nobody waits for any more has surely ended, and the channel may be looked into."""
        settings, before = self._context.settings, decision.before
        last = min(before.last_try or before.due, now)
        if before.state is DeliveryState.SENDING and before.lease_until is not None and not by_nonce:
            # Who held it, and was held up, may have begun for as long as a call still fitted into the lease.
            last = max(last, min(before.lease_until, now) - settings.timeout)
        ended = last + (settings.nonce_quarantine if by_nonce else settings.quarantine)
        return max(ended, decision.restored.caught_up(settings.quarantine, now)) if decision.restored else ended

    async def _look_after(self, held: Delivery, decision: Decision, quiet_until: datetime, clock: Clock) -> None:
        """Look whether it was posted, and send it once more where it was not; in quiet hours, when they are over."""
        try:
            message = await self._look(held, decision, clock)
        except NotKnownYet:
            return
        except Refused as error:
            if was_sent_again(decision.before):
                await self._sender.record_unknown(held, decision.before.reason, clock())
            elif decision.prefers_duplicate and decision.ending is None:
                await self._send_again(held, decision, clock)
            else:
                await self._sender.record_unknown(held, str(error), clock())
            return
        if message is not None:
            await self._record_found(held, decision, message)
        elif decision.ending is not None:
            await self._end(held, decision, clock(), unposted=True)
        elif quiet_until > clock():
            back = replace(held, attempts=decision.before.attempts)
            await self._sender.put_back(back, decision.before, quiet_until, _QUIET)
        elif decision.late is not decision.before.late:
            # Who is stopped after it is sent leaves to be known which of its texts it says: that is kept with a new claim.
            await self._sender.put_back(held, replace(decision.before, state=DeliveryState.PENDING), clock(), _ABSENT)
        else:
            await self._sender.send_next(held, decision.before, decision.messenger, clock, unposted=True)

    async def _send_again(self, held: Delivery, decision: Decision, clock: Clock) -> None:
        """Send once more what nobody can look for, as its channel wishes; that it was is kept first, so that it is once."""
        waits = DeliveryState.PENDING if decision.before.state is DeliveryState.PENDING else DeliveryState.AMBIGUOUS
        before = replace(decision.before, state=waits, reason=SENT_AGAIN)
        await self._sender.put_back(replace(held, attempts=before.attempts), before, clock(), SENT_AGAIN)
        marked = replace(decision, before=replace(before, token=held.token))
        again = await self._claim(marked, clock(), late=held.late, kept=before.late)
        if again is not None:
            await self._sender.send_next(again, marked.before, decision.messenger, clock, unposted=False)

    async def _record_found(self, held: Delivery, decision: Decision, message: str, reason: str = "") -> None:
        """Record what was found; where a restored database does not know what it says, it stays as it is."""
        says = decision.restored is None or not held.if_late
        await self._sender.record_done(replace(held, late=decision.before.late), message, reason, may_be_edited=says)

    async def _look(self, held: Delivery, decision: Decision, clock: Clock) -> str | None:
        if not decision.messenger.abilities.finds:
            raise Refused(_MAILBOX if is_mail(decision.before.channel) else _UNSEEN)
        since, until = self._tried(decision, clock())
        return await self._sender.look(held, decision.before, decision.messenger, clock, since, until)

    def _tried(self, decision: Decision, now: datetime) -> tuple[datetime, datetime]:
        """Return between which times, by this machine's clock, it was posted if it was."""
        settings, due = self._context.settings, decision.before.due
        first, last = decision.before.first_try or due, decision.before.last_try or due
        since, until = min(first, last), max(first, last)
        if first > now:  # a clock that was set back does not tell when that was
            since = min(since, now - settings.catch_up)
        if decision.restored is not None:  # the copy of a database knows of no try after it was made
            since, until = min(since, due), max(until, decision.restored.until)
        return since, until + settings.quarantine

    # --- both

    async def _claim(self, decision: Decision, now: datetime, *, late: bool, kept: bool) -> Delivery | None:
        """Take the delivery, as it is to be said; None when somebody else was first, or when its text is damaged.

        `kept`: whether a message that is found, should this process be stopped, says that it is late.
        """
        notes_begin = decision.messenger.abilities.notes_begin and not decision.maybe_posted
        before = replace(decision.before, late=kept, unbegun=notes_begin)
        held = await self._context.ledger.claim(before, now, self._context.settings.lease)
        if held is None:
            return None
        if not is_whole(held):
            surely = decision.before.state is DeliveryState.PENDING and not decision.maybe_posted
            await self._sender.end(held, DeliveryState.FAILED, _DAMAGED, now, alert=True, unposted=surely)
            return None
        return replace(held, payload=held.if_late or held.payload if late else held.payload, late=late)
