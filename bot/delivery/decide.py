"""What decides about a delivery that has its turn: its subscription, its age, the wishes of its workspace."""

from dataclasses import dataclass
from datetime import datetime

from bot.delivery.context import DeliveryContext
from bot.delivery.restored import Restoration, may_be_unrecorded
from bot.delivery.send import Sender
from bot.digest.quiet_hours import after_quiet, deadline
from bot.models import Delivery, DeliveryState, Subscription
from bot.ports.messenger import Messenger

_NOT_CONNECTED = "Its platform is not connected: whoever runs Broadsheet finds by broadsheet doctor what is missing."

Ending = tuple[DeliveryState, str, bool]  # how it ends, why, and whether the alerts are to know


@dataclass(frozen=True, slots=True)
class Decision:
    """A delivery that has its turn, and what decides about it."""

    before: Delivery  # as it was before it was claimed
    messenger: Messenger
    restored: Restoration | None  # it may have been posted without this database knowing, which was restored then
    ending: Ending | None  # why it is not to be posted any more
    prefers_duplicate: bool  # the channel would rather see it twice than miss it
    late: bool  # it is marked so from now on

    @property
    def maybe_posted(self) -> bool:
        """Whether it may have been posted without this database knowing."""
        return self.restored is not None


class Decider:
    """Finds out what decides about each."""

    def __init__(self, context: DeliveryContext, sender: Sender) -> None:
        self._context = context
        self._sender = sender

    async def decide(
        self, delivery: Delivery, restoration: Restoration | None, now: datetime
    ) -> tuple[Decision, datetime] | None:
        """Return what decides about a delivery, and until when its channel wants quiet."""
        store, place = self._context.store, delivery
        messenger = self._context.messenger(place.workspace, place.channel)
        here = await store.workspaces.subscriptions(place.workspace, channel=place.channel, topic=place.topic)
        subscription = next((each for each in here if each.id == place.occurrence[0]), None)
        settled = await store.workspaces.preferences(place.workspace)
        planned = quiet = ends = delivery.due
        if subscription is not None:
            planned = await after_quiet(settled, subscription, delivery.due)
            quiet = await after_quiet(settled, subscription, now)
            ends = await deadline(settled, subscription, delivery.due, self._context.settings.catch_up)
        ending = _ending(delivery, subscription, ends, now)
        restored = restoration if restoration and may_be_unrecorded(delivery, restoration.until) else None
        if messenger is None:
            await self._disconnected(delivery, ending, maybe_posted=restored is not None, now=now)
            return None
        late = now - planned > self._context.settings.late
        twice = place.channel in settled.prefer_duplicate
        return Decision(delivery, messenger, restored, ending, prefers_duplicate=twice, late=late), quiet

    async def _disconnected(self, delivery: Delivery, ending: Ending | None, *, maybe_posted: bool, now: datetime) -> None:
        """Wait for a platform that is not among the settings now; nothing can be looked up there either."""
        held = await self._context.ledger.claim(delivery, now, self._context.settings.lease)
        if held is None:
            return
        if ending is not None and delivery.state is DeliveryState.PENDING:
            await self._sender.end(held, ending[0], ending[1], now, alert=ending[2], unposted=not maybe_posted)
        elif ending is not None:
            await self._sender.record_unknown(held, _NOT_CONNECTED, now)
        else:
            await self._sender.put_back(held, delivery, now + self._context.wait(held.attempts), _NOT_CONNECTED)


def _ending(delivery: Delivery, subscription: Subscription | None, ends: datetime, now: datetime) -> Ending | None:
    if subscription is None:
        return DeliveryState.EXPIRED, "unsubscribed", False
    if delivery.part == 1 and subscription.is_paused(now):
        return DeliveryState.EXPIRED, f"paused. {subscription.paused_because}".strip(), False
    if now > ends:
        return DeliveryState.EXPIRED, f"It could not be posted in time. {delivery.reason}".strip(), True
    return None
