"""Finds out what may go on of what the service itself paused: when the platform shows no obstacle any more.

The platforms tell of much that may have ended a pause; each such event is a hint, and the platform is asked. What no event
tells of is asked about by and by, the longer it lasts the more seldom. What a platform refuses without showing why cannot be
seen to be mended, and is tried again: after an hour, and where it had to be paused again after one, two, four, eight days.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from bot.delivery.context import Clock, DeliveryContext, Examination, Place
from bot.delivery.pausing import SubscriptionPauser
from bot.errors import BotError, Delayed
from bot.models import Subscription

log = logging.getLogger(__name__)

AT_ONCE = 16  # channels that are asked about in one round …
OF_ONE = 4  # … of one workspace: with a round every five seconds 48 a minute, of the 50 that Slack allows
SOONEST, LONGEST = timedelta(minutes=5), timedelta(hours=6)  # between two questions about one channel
AGAIN = timedelta(seconds=15)  # after a hint that seemed wrong: a platform may show a change later than it tells of it
LOOK = timedelta(hours=1)  # at the latest it is looked what else is paused, by whomever
UNSEEN = (timedelta(hours=1), *(timedelta(days=days) for days in (1, 2, 4, 8)))  # by how often it was resumed in vain

_Paused = Mapping[Place, Sequence[Subscription]]


class SubscriptionResumer:
    """Asks the platforms about what is paused, and has resumed what may go on."""

    def __init__(self, context: DeliveryContext) -> None:
        self._context = context
        self._pauser = SubscriptionPauser(context)
        self._state = context.obstacle_state

    def hint(self, workspace: str, channel: str) -> None:
        """Have asked, in the next round, whether a channel is open again; with "", all of the workspace.

        A platform's word with the colon (`slack:`) stands for all of its workspaces.
        """
        self._state.hints[workspace, channel] = None

    async def resume_due(self, clock: Clock) -> int:
        """Ask about some of what is due to be asked, and resume what may go on; return how many are. Raises StoreError."""
        now, state = clock(), self._state
        if not state.hints and state.next_look is not None and now < state.next_look <= now + LOOK:
            return 0
        state.next_look = now + LOOK  # who pauses something meanwhile takes that back
        await self._pauser.apply_recorded(now)  # nothing is resumed for which something is still to be paused
        paused = await self._paused()
        self._note(paused, now)
        await asyncio.gather(*(self._ask(place, clock) for place in self._due(now)))
        resumed = sum([await self._lift(each, now) for each in self._clear(paused, now)])
        if state.next_look is not None:
            state.next_look = min([state.next_look, *(each.next_at for each in state.examined.values())])
        return resumed

    async def _paused(self) -> _Paused:
        found: defaultdict[Place, list[Subscription]] = defaultdict(list)
        for each in await self._context.ledger.paused_by_service():
            if self._context.messenger(each.workspace) is not None:
                found[each.workspace, each.channel].append(each)
        return found

    def _note(self, paused: _Paused, now: datetime) -> None:
        """Remember what is paused now, and nothing else, and what was hinted at."""
        hints, self._state.hints = self._state.hints, {}
        known, self._state.examined = self._state.examined, {}
        for place, held in paused.items():
            since = max((each.paused_at for each in held if each.paused_at is not None), default=None)
            of_it = known.get(place)
            if of_it is None or of_it.since != since:
                of_it = Examination(since, now)
            workspace = place[0]
            if hints.keys() & {place, (workspace, ""), (f"{workspace.partition(':')[0]}:", "")}:
                of_it.is_hinted, of_it.next_at = True, now
            of_it.next_at = min(of_it.next_at, now + UNSEEN[-1])  # a clock that had run ahead
            self._state.examined[place] = of_it

    def _due(self, now: datetime) -> Sequence[Place]:
        """Return what is asked about in this round: what waits longest, and not too much of one workspace."""
        waiting = [(each.next_at, place) for place, each in self._state.examined.items() if each.next_at <= now]
        taken = Counter[str]()
        chosen: list[Place] = []
        for _, place in sorted(waiting):
            if taken[place[0]] < OF_ONE and len(chosen) < AT_ONCE:
                taken[place[0]] += 1
                chosen.append(place)
        return chosen

    async def _ask(self, place: Place, clock: Clock) -> None:
        of_it, messenger = self._state.examined[place], self._context.messenger(place[0])
        if messenger is None:
            return
        of_it.is_clear = False
        try:
            async with asyncio.timeout(self._context.settings.timeout.total_seconds()):
                shown = await messenger.obstacle(*place)
        except Exception as error:
            if not isinstance(error, BotError | TimeoutError):
                log.exception("asking about %s in %s failed", place[1], place[0])
            of_it.failures += 1
            asked = error.retry_after if isinstance(error, Delayed) else None
            of_it.next_at = clock() + max(asked or timedelta(0), self._context.wait(of_it.failures))
            return
        now = clock()
        of_it.failures, of_it.is_clear = 0, not shown
        of_it.next_at = now + (AGAIN if shown and of_it.is_hinted else _distance(of_it, now))
        if shown:
            of_it.is_seen, of_it.is_hinted = True, False

    def _clear(self, paused: _Paused, now: datetime) -> Sequence[Sequence[Subscription]]:
        """Return by workspace what may go on, where all was asked that is due: each owner is told of everything at once."""
        waits = {place[0] for place, each in self._state.examined.items() if each.next_at <= now}
        clear: defaultdict[str, list[Subscription]] = defaultdict(list)
        for place, of_it in self._state.examined.items():
            if of_it.is_clear and place[0] not in waits:
                of_it.is_clear = False  # what does not go on now is asked about anew
                clear[place[0]] += [each for each in paused[place] if _may_go_on(each, of_it, now)]
        return [each for each in clear.values() if each]

    async def _lift(self, held: Sequence[Subscription], now: datetime) -> int:
        lifted = await self._pauser.lift(held, now)
        for each in held:
            self._state.examined.pop((each.workspace, each.channel), None)
        return lifted


def _may_go_on(held: Subscription, of_it: Examination, now: datetime) -> bool:
    """Say whether what shows no obstacle is resumed now; what showed none before may not be mended."""
    if of_it.is_seen or (of_it.is_hinted and not held.lifts) or held.paused_at is None:
        return True
    tried = held.paused_at + UNSEEN[min(held.lifts, len(UNSEEN) - 1)]
    if now < tried:
        of_it.next_at = min(of_it.next_at, tried)
    return now >= tried


def _distance(of_it: Examination, now: datetime) -> timedelta:
    """Return how long a channel is left alone that has been paused since then."""
    lasts = now - of_it.since if of_it.since is not None else LONGEST
    return min(max(lasts / 4, SOONEST), LONGEST)
