"""What follows when a digest cannot be posted: its subscriptions pause, their owners are told once, and nobody else.

Whoever is to be told is only written down here, in a moment; bot.delivery.notices tells them.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.context import DeliveryContext
from bot.delivery.outbox import Notice, Outbox, Refusal
from bot.errors import Conflict, Reach
from bot.models import Change, Subscription
from bot.wording import some

log = logging.getLogger(__name__)

ALERTS_APART = timedelta(minutes=10)  # for one workspace: a thousand closed channels are one thing to mend
_TRIES = 5  # at changing a subscription that somebody else changes too
_BY = "broadsheet"  # who the audit names


class SubscriptionPauser:
    """Draws the consequences. Every method raises StoreError."""

    def __init__(self, context: DeliveryContext) -> None:
        self._context = context
        self._outbox = Outbox(context)

    async def pause(self, refusal: Refusal, now: datetime) -> None:
        """Pause what a refusal holds for: every subscription of the channel, or of the whole workspace.

        The owner of each that this pauses is owed to be told once, and so are the alerts. Who is stopped in between leaves
        the rest to `pause_owed`.
        """
        await self.owe(refusal)
        await self.draw(refusal, now)

    async def owe(self, refusal: Refusal) -> None:
        """Have its consequences drawn at the latest by `pause_owed`."""
        await self._outbox.refused(refusal)

    async def draw(self, refusal: Refusal, now: datetime, *, again: bool = False) -> None:
        """Draw the consequences of a refusal that is owed; `again`: some may have been drawn, and nobody told of them."""
        drawing = self._context.notice_state.drawing
        drawing.add(refusal)
        try:
            everywhere = refusal.reach is not Reach.CHANNEL
            channel = "" if everywhere else refusal.channel
            held = await self._context.store.subscriptions(refusal.workspace, channel=channel, topic=refusal.topic)
            paused = [each for each in held if await self._is_paused(each, refusal.reason, now, again=again)]
            await self._outbox.drawn(refusal, await self._news(paused, refusal.reason, now))
        finally:
            drawing.discard(refusal)

    async def pause_owed(self, now: datetime) -> None:
        """Draw the consequences of what somebody refused who was stopped before all of them were drawn."""
        for refusal in await self._outbox.refusals():
            if refusal not in self._context.notice_state.drawing:
                await self.draw(refusal, now, again=True)

    async def _news(self, paused: Sequence[Subscription], reason: str, now: datetime) -> list[Notice]:
        """Return what the owners are to be told, each once, and the alerts."""
        if not paused:
            return []
        owners = dict.fromkeys(each.made_by for each in paused if each.made_by)
        news = [_notice(owner, [each for each in paused if each.made_by == owner], reason, now) for owner in owners]
        what = some([f"{each.topic} in {each.channel}" for each in paused])
        return news + await self._alert(paused[0].workspace, f"Paused: {what}. {reason}", now)

    async def _is_paused(self, subscription: Subscription, reason: str, now: datetime, *, again: bool) -> bool:
        """Pause one, whatever else is changed on it meanwhile; return whether it was this call that did.

        With `again`, one that is paused for that reason already counts too.
        """
        store = self._context.store
        for _ in range(_TRIES):
            here = await store.subscriptions(subscription.workspace, channel=subscription.channel, topic=subscription.topic)
            there = next((each for each in here if each.id == subscription.id), None)
            if there is None or (there.paused and there.paused_until is None):
                return again and there is not None and there.paused_because == reason
            held = replace(there, paused=True, paused_until=None, paused_because=reason)
            try:
                await store.save_subscription(held, _change(there, reason, now), replaces=there.revision)
            except Conflict:
                continue
            return True
        log.warning("the subscription of %s to %s changes too often to be paused", subscription.channel, subscription.topic)
        return False

    async def alert(self, workspace: str, text: str, now: datetime) -> None:
        """Log it, and have it said in the workspace's channel for alerts, where one is settled and was not just told."""
        if news := await self._alert(workspace, text, now):
            await self._outbox.tell(news)

    async def _alert(self, workspace: str, text: str, now: datetime) -> list[Notice]:
        log.warning("%s: %s", workspace, text)
        channel = (await self._context.store.preferences(workspace)).alerts
        alerted = self._context.notice_state.alerted
        last = alerted.get(workspace)
        if not channel or (last is not None and timedelta(0) <= now - last < ALERTS_APART):
            return []
        alerted[workspace] = now
        return [Notice(workspace, "", f"{text} *status* tells what else there is.", now.isoformat(), channel)]


def _change(subscription: Subscription, reason: str, now: datetime) -> Change:
    return Change(
        workspace=subscription.workspace,
        at=now,
        person=_BY,
        what=f"subscription {subscription.channel} {subscription.topic}",
        before="posted as scheduled",
        after=f"paused: {reason}",
    )


def _notice(owner: str, paused: Sequence[Subscription], reason: str, now: datetime) -> Notice:
    what = some([f"{each.topic} in {each.channel}" for each in paused])
    again = some([f"*resume {topic}*" for topic in dict.fromkeys(each.topic for each in paused)])
    text = f"The digests of {what} are paused. {reason} When that is mended, {again} there posts them again."
    return Notice(paused[0].workspace, owner, text, now.isoformat())
