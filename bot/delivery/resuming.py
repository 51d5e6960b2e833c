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
from bot.delivery.rate_limits import Pause, PlatformCall
from bot.delivery.send import LONGEST_REST
from bot.errors import BotError, Delayed, Reach, Rejected, StoreError
from bot.models import Abilities, Method, Subscription

log = logging.getLogger(__name__)

AT_ONCE = 16  # channels that are asked about in one round …
OF_ONE = 4  # … of one workspace: with a round every five seconds 48 a minute, of the 50 that Slack allows
SOONEST, LONGEST = timedelta(minutes=5), timedelta(hours=6)  # between two questions about one channel
AGAIN = timedelta(seconds=15)  # after a hint that seemed wrong: a platform may show a change later than it tells of it
TOGETHER = SOONEST  # for so long what may go on waits for what else is to be asked about in its workspace
ODD = timedelta(days=1)  # who answers for so long in a way that nobody knows shows nothing
LOOK = timedelta(hours=1)  # at the latest it is looked what else is paused, by whomever
UNSEEN = (timedelta(hours=1), *(timedelta(days=days) for days in (1, 2, 4, 8)))  # by how often it was resumed in vain
_PATIENCE = timedelta(seconds=2)  # a question that must wait longer for its turn among all processes is asked later

_Paused = Mapping[Place, Sequence[Subscription]]


class SubscriptionResumer:
    """Asks the platforms about what is paused, and has resumed what may go on."""

    def __init__(self, context: DeliveryContext, *, pause: Pause = asyncio.sleep) -> None:
        """`pause` waits for so many seconds of the clock that `resume_due` is given."""
        self._context = context
        self._pause = pause
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
        clear = self._clear(paused, now)
        if state.next_look is not None:
            state.next_look = min([state.next_look, *(each.next_at for each in state.examined.values())])
        return await self._lift_all(clear, now)

    async def _paused(self) -> _Paused:
        found: defaultdict[Place, list[Subscription]] = defaultdict(list)
        for each in await self._context.ledger.paused_by_service():
            if self._context.messenger(each.workspace, each.channel) is not None:
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
            if hints.keys() & {place, (workspace, ""), (_platform_of(place), "")}:
                of_it.is_hinted, of_it.next_at = True, min(of_it.next_at, now)  # who waits keeps the turn
            of_it.next_at = min(of_it.next_at, now + LONGEST)  # a clock that had run ahead
            self._state.examined[place] = of_it

    def _due(self, now: datetime) -> Sequence[Place]:
        """Return what is asked about in this round: what waits longest, and not too much of one workspace."""
        rests = {place for place, until in self._state.rests.items() if now < until <= now + LONGEST_REST}
        waiting = [
            (each.next_at, place)
            for place, each in self._state.examined.items()
            if each.next_at <= now and not rests & {place[0], _platform_of(place)}
        ]
        taken = Counter[str]()
        chosen: list[Place] = []
        for _, place in sorted(waiting):
            if taken[place[0]] < OF_ONE and len(chosen) < AT_ONCE:
                taken[place[0]] += 1
                chosen.append(place)
        return chosen

    async def _ask(self, place: Place, clock: Clock) -> None:
        of_it, messenger = self._state.examined[place], self._context.messenger(*place)
        if messenger is None:
            return
        asked = PlatformCall(Method.FIND, place[0], place[1], Abilities(per_second=messenger.abilities.per_second))
        later = await self._context.shared_limits.wait(asked, clock, self._pause, _PATIENCE)
        if later is not None:
            of_it.next_at = later
            return
        clear_since, of_it.clear_since = of_it.clear_since, None
        try:
            async with asyncio.timeout(self._context.settings.timeout.total_seconds()):
                shown = await messenger.obstacle(*place)
        except Exception as error:
            if not isinstance(error, BotError | TimeoutError):
                log.exception("asking about %s in %s failed", place[1], place[0])
            self._not_told(place, error, clock())
            return
        now = clock()
        of_it.failures, of_it.odd_since, of_it.clear_since = 0, None, None if shown else clear_since or now
        of_it.next_at = now + (AGAIN if shown and of_it.is_hinted else _distance(of_it, now))
        if shown:
            of_it.is_seen, of_it.is_hinted = True, False

    def _not_told(self, place: Place, error: Exception, now: datetime) -> None:
        """Note that nobody could tell, and when to ask again."""
        of_it = self._state.examined[place]
        of_it.failures += 1
        asked = error.retry_after if isinstance(error, Delayed) else None
        of_it.next_at = now + max(asked or timedelta(0), self._context.wait(of_it.failures))
        if asked and isinstance(error, Delayed) and error.reach is not Reach.CHANNEL:
            self._state.rests[place[0] if error.reach is Reach.WORKSPACE else _platform_of(place)] = now + asked
        if isinstance(error, Rejected) or not isinstance(error, BotError | TimeoutError):
            of_it.odd_since = of_it.odd_since or now
            if now - of_it.odd_since >= ODD:  # it may never be told again: what is not seen is tried
                of_it.clear_since, of_it.is_seen, of_it.is_hinted = now, False, False

    def _clear(self, paused: _Paused, now: datetime) -> Sequence[Sequence[Subscription]]:
        """Return by workspace what may go on: together, so that each owner is told of all at once, or after a while."""
        examined = self._state.examined
        clear_since = [(place[0], each.clear_since) for place, each in examined.items() if each.clear_since is not None]
        waits = {place[0] for place, each in examined.items() if each.next_at <= now}
        waits -= {workspace for workspace, since in clear_since if abs(now - since) >= TOGETHER}
        clear: defaultdict[str, list[Subscription]] = defaultdict(list)
        for place, of_it in examined.items():
            if of_it.clear_since is None or place[0] in waits:
                continue
            if found := [each for each in paused[place] if _may_go_on(each, of_it, now)]:
                clear[place[0]] += found
            else:
                of_it.clear_since = None  # what does not go on now is asked about anew
        return list(clear.values())

    async def _lift_all(self, clear: Sequence[Sequence[Subscription]], now: datetime) -> int:
        """Resume these; what cannot be recorded now is resumed in the next round. Raises StoreError when that is so."""
        resumed, failed = 0, None
        for held in clear:
            try:
                resumed += await self._pauser.lift(held, now)
            except StoreError as error:
                self._state.next_look, failed = None, error
                continue
            for each in held:
                self._state.examined.pop((each.workspace, each.channel), None)
        if failed is not None:
            raise failed
        return resumed


def _platform_of(place: Place) -> str:
    return f"{place[0].partition(':')[0]}:"


def _may_go_on(held: Subscription, of_it: Examination, now: datetime) -> bool:
    """Say whether what shows no obstacle is resumed now; what showed none before may not be mended."""
    if of_it.is_seen or (of_it.is_hinted and not held.lifts) or held.paused_at is None:
        return True
    if held.paused_at - now > UNSEEN[0]:  # a clock that had run ahead: nobody knows when that was
        return True
    tried = held.paused_at + UNSEEN[min(held.lifts, len(UNSEEN) - 1)]
    if now < tried:
        of_it.next_at = min(of_it.next_at, tried)
    return now >= tried


def _distance(of_it: Examination, now: datetime) -> timedelta:
    """Return how long a channel is left alone that has been paused since then."""
    lasts = now - of_it.since if of_it.since is not None else LONGEST
    return min(max(lasts / 4, SOONEST), LONGEST)
