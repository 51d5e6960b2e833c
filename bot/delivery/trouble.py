"""What follows when a digest cannot be posted: its subscriptions pause, their owners are told once, and nobody else."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.notices import Notice, Notices
from bot.delivery.terms import Office
from bot.errors import BotError, Conflict, Reach
from bot.models import Change, Subscription

log = logging.getLogger(__name__)

ALERTS_APART = timedelta(minutes=10)  # for one workspace: a thousand closed channels are one thing to mend
AGAIN = 10  # owners who are told later are told so many at a time: what is in doubt must not wait for them
_TRIES = 5  # at changing a subscription that somebody else changes too
_BY = "broadsheet"  # who the audit names


class Trouble:
    """Draws the consequences."""

    def __init__(self, office: Office, name: str = "the courier") -> None:
        """`name` is whose trouble it is; each of a process has another."""
        self._office = office
        self._notices = Notices(office, name)
        self._alerted: dict[str, datetime] = {}

    async def pause(self, workspace: str, channel: str, reach: Reach, reason: str, now: datetime) -> None:
        """Pause what the reason holds for: every subscription of the channel, or of the whole workspace."""
        everywhere = reach is not Reach.CHANNEL
        held = await self._office.store.subscriptions(workspace, channel="" if everywhere else channel)
        await self.pause_all(held, reason, now)

    async def pause_all(self, subscriptions: Sequence[Subscription], reason: str, now: datetime) -> None:
        """Pause the subscriptions that are not paused for good already; tell the owner of each once, and the alerts."""
        paused = [each for each in subscriptions if await self._paused(each, reason, now)]
        if not paused:
            return
        owners = dict.fromkeys(each.made_by for each in paused if each.made_by)
        await self._notices.owe(
            [_notice(each, [one for one in paused if one.made_by == each], reason, now) for each in owners]
        )
        await self._notices.tell(now)
        what = _listed([f"{each.topic} in {each.channel}" for each in paused])
        await self.alert(paused[0].workspace, f"Paused: {what}. {reason}", now)

    async def _paused(self, subscription: Subscription, reason: str, now: datetime) -> bool:
        """Pause one, whatever else is changed on it meanwhile; return whether it was this call that did."""
        store = self._office.store
        for _ in range(_TRIES):
            here = await store.subscriptions(subscription.workspace, channel=subscription.channel, topic=subscription.topic)
            now_there = next((each for each in here if each.id == subscription.id), None)
            if now_there is None or (now_there.paused and now_there.paused_until is None):
                return False
            change = Change(
                workspace=now_there.workspace,
                at=now,
                person=_BY,
                what=f"subscription {now_there.channel} {now_there.topic}",
                before="posted as scheduled",
                after=f"paused: {reason}",
            )
            held = replace(now_there, paused=True, paused_until=None, paused_because=reason)
            try:
                await store.save_subscription(held, change, replaces=now_there.revision)
            except Conflict:
                continue
            return True
        log.warning("the subscription of %s to %s changes too often to be paused", subscription.channel, subscription.topic)
        return False

    async def tell_owed(self, now: datetime) -> None:
        """Tell some owners who could not be told at the time. Raises StoreError."""
        await self._notices.tell(now, AGAIN)

    async def alert(self, workspace: str, text: str, now: datetime) -> None:
        """Log it, and say it in the workspace's channel for alerts, where one is settled and was not just told something."""
        log.warning("%s: %s", workspace, text)
        channel = (await self._office.store.preferences(workspace)).alerts
        last = self._alerted.get(workspace)
        messenger = self._office.messenger(workspace)
        if not channel or messenger is None or (last is not None and timedelta(0) <= now - last < ALERTS_APART):
            return
        self._alerted[workspace] = now
        more = "*status* tells what else there is."
        await self._say(messenger.announce(workspace, channel, f"{text} {more}"), f"no alert could be given in {channel}")

    async def _say(self, saying: Awaitable[None], otherwise: str) -> None:
        try:
            async with asyncio.timeout(self._office.values.timeout.total_seconds()):
                await saying
        except (BotError, TimeoutError) as error:
            log.warning("%s (%s)", otherwise, error)
        except Exception:
            # Nothing that goes wrong while telling may keep the ledger from going on.
            log.exception("%s", otherwise)


def _notice(owner: str, paused: Sequence[Subscription], reason: str, now: datetime) -> Notice:
    what = _listed([f"{each.topic} in {each.channel}" for each in paused])
    again = _listed([f"*resume {topic}*" for topic in dict.fromkeys(each.topic for each in paused)])
    text = f"The digests of {what} are paused. {reason} When that is mended, {again} there posts them again."
    return Notice(paused[0].workspace, owner, text, now.isoformat())


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
