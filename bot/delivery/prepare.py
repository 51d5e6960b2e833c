"""From occurrences to deliveries: the digest is made, and frozen as the messages that will be sent, in one transaction."""

import asyncio
import json
import logging
import secrets
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from bot.delivery.context import DeliveryContext, delivery_id, destination, sealed
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.restored import may_be_unrecorded, read_unrecorded_until
from bot.delivery.workers import FairOrder
from bot.digest.quiet_hours import after_most_at_once, after_quiet, deadline, left_today, tomorrow
from bot.digest.request import RequestBuilder
from bot.errors import BotError
from bot.models import (
    FOREVER,
    ON_REQUEST,
    Delivery,
    Digest,
    Layout,
    Occurrence,
    OccurrenceState,
    Preferences,
    Subscription,
    Topic,
    Window,
    is_mail,
)
from bot.models.deliveries import OccurrenceKey
from bot.ports.digests import DigestMaker
from bot.ports.messenger import Messenger
from bot.settings.topic_packs import new_in_pack

log = logging.getLogger(__name__)

AT_ONCE = 16  # channels whose digests are made at the same time: those of one index are selected together
# Occurrences that are read at first, in turns, and of one workspace at most: who comes waits for no more digests of one that
# has hundreds. A reading looks at every workspace that waits. So where each has a workspace of its own, twice as many are
# read next, up to so many: all readings together look at little more than what is made.
BATCH = 16
MOST = 1024
_KEPT = 100  # renderings of a round: workspaces take turns, so that the same digest comes again soon or not at all
_MOMENT = timedelta(microseconds=1)
_ENOUGH = "waits for the next day: the channel had as much as it may have today"
_RESTORED = "it may have been posted already: the database was restored, and nobody can look into the channel."


@dataclass(frozen=True, slots=True)
class _Result:
    """What becomes of an occurrence; `alert`: those who asked for alerts are to know."""

    occurrence: Occurrence
    digest: Digest | None = None
    deliveries: tuple[Delivery, ...] = ()
    alert: bool = False


@dataclass(frozen=True, slots=True)
class _DigestInputs:
    """All that is needed to make an occurrence's digest."""

    occurrence: Occurrence
    subscription: Subscription
    topic: Topic
    messenger: Messenger
    preferences: Preferences


class _Renderings:
    """Renders each digest at most once for a platform and layout, whichever channels it is for; in any thread.

    One round's alone: what a message says of its platform, such as the names of commands, is as old as that at most.
    """

    def __init__(self) -> None:
        self._rendered: dict[tuple[str, Digest, Layout, bool], Sequence[str]] = {}
        self._one_at_a_time = threading.Lock()  # who asks for what is just being rendered waits for it

    def rendered(self, messenger: Messenger, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        """Return what the messenger renders."""
        key = (messenger.platform, digest, layout, late)
        with self._one_at_a_time:
            said = self._rendered.pop(key, None) or messenger.render(digest, layout=layout, late=late)
            self._rendered[key] = said
            if len(self._rendered) > _KEPT:
                del self._rendered[next(iter(self._rendered))]
        return said


class Preparer:
    """Makes the digest of each occurrence that is due. `publish_due` may be called by any process, at any moment."""

    def __init__(self, context: DeliveryContext, maker: DigestMaker, requests: RequestBuilder) -> None:
        self._context = context
        self._maker = maker
        self._requests = requests
        self._pauser = SubscriptionPauser(context)
        self._renderings = _Renderings()
        self._stopped = False

    def stop(self) -> None:
        """Begin no further digest."""
        self._stopped = True

    async def prepare_due(self, now: datetime) -> int:
        """Close every occurrence that is due, with its digest where it has one; return how many were closed or put off.

        One that fails is put off and never holds up the others. Raises StoreError when not even that can be written.
        """
        try:
            return await self._prepare_due(now)
        finally:
            self._renderings = _Renderings()
            # By then a tick may have found that the clock was set back: the next one finds it again.
            self._context.latest.note(now)

    async def _prepare_due(self, now: datetime) -> int:
        seen: set[OccurrenceKey] = set()
        fair_order = FairOrder()
        done, limit = 0, BATCH
        while not self._stopped:
            found = await self._context.ledger.occurrences(now, limit=limit, had=fair_order.had)
            fresh = [each for each in _batch_of_each(found) if each.key not in seen]
            for each in fresh:
                seen.add(each.key)
                fair_order.take(each.workspace)
            if not fresh:
                break
            unrecorded_until = await read_unrecorded_until(self._context.store.facts)
            await self._channels(fresh, unrecorded_until, now)
            done += len(fresh)
            if len({each.workspace for each in fresh}) == limit:
                limit = min(2 * limit, MOST)
        return done

    async def _channels(self, found: Sequence[Occurrence], unrecorded_until: datetime | None, now: datetime) -> None:
        """Make the digests of one channel one after another, so that none repeats what another shows."""
        channels: dict[tuple[str, str], list[Occurrence]] = {}
        for each in found:
            channels.setdefault((each.workspace, each.channel), []).append(each)
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(occurrences: Sequence[Occurrence]) -> None:
            async with gate:
                for each in occurrences:
                    if not self._stopped:
                        await self._publish(each, unrecorded_until, now)

        tasks = [asyncio.ensure_future(one(occurrences)) for occurrences in channels.values()]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _publish(self, occurrence: Occurrence, unrecorded_until: datetime | None, now: datetime) -> None:
        try:
            result = await self._decided(occurrence, unrecorded_until, now)
            await self._close(result, now)
        except Exception as error:
            # Whatever is wrong with one occurrence, a database's damaged row too, the others go on. When the database
            # takes no writing at all, putting it off fails as well, and that ends the round.
            reference = "" if isinstance(error, BotError) else secrets.token_hex(4)
            if reference:
                log.exception("the digest %s of %s failed [%s]", occurrence.topic, occurrence.channel, reference)
            said = str(error) if not reference else f"An unexpected {type(error).__name__}; see the log at {reference}."
            await self._close(await self._put_off(occurrence, said, now), now)

    async def _close(self, result: _Result, now: datetime) -> None:
        closed = await self._context.ledger.close_occurrence(
            result.occurrence, _made_at(result.occurrence, now), digest=result.digest, deliveries=result.deliveries
        )
        after = result.occurrence
        if closed and result.alert:
            text = f"The digest {after.topic} of {after.day} {destination(after.channel)} is skipped: {after.reason}"
            await self._pauser.alert(after.workspace, text, now)

    async def _put_off(self, occurrence: Occurrence, reason: str, now: datetime) -> _Result:
        """Try again later, or give up when it is too late then."""
        if now > await self._deadline(occurrence):
            return _skipped(occurrence, f"its digest could not be made in time. {reason}", alert=True)
        log.warning("the digest %s of %s is put off: %s", occurrence.topic, occurrence.channel, reason)
        attempts = occurrence.attempts + 1
        next_at = now + self._context.wait(attempts)
        return _Result(replace(occurrence, attempts=attempts, next_at=next_at, reason=reason))

    async def _deadline(self, occurrence: Occurrence) -> datetime:
        """Return until when it may be posted, as far as what decides about that can be read."""
        due, catch_up = occurrence.due, self._context.settings.catch_up
        try:
            preferences = await self._context.store.workspaces.preferences(occurrence.workspace)
            subscription = await self._subscription(occurrence)
            return await deadline(preferences, subscription, due, catch_up) if subscription else due + catch_up
        except Exception:  # noqa: BLE001 - what is wrong with it is being said already
            return due + catch_up

    async def _subscription(self, occurrence: Occurrence) -> Subscription | None:
        place = occurrence
        here = await self._context.store.workspaces.subscriptions(place.workspace, channel=place.channel, topic=place.topic)
        return next((each for each in here if each.id == place.subscription), None)

    async def _decided(self, occurrence: Occurrence, unrecorded_until: datetime | None, now: datetime) -> _Result:
        found = await self._inputs(occurrence, now)
        if not isinstance(found, _DigestInputs):
            return found
        planned = await after_quiet(found.preferences, found.subscription, occurrence.due)
        allowed = await after_quiet(found.preferences, found.subscription, now)
        ends = await deadline(found.preferences, found.subscription, occurrence.due, self._context.settings.catch_up)
        if now > ends and not occurrence.is_at_once:  # that may wait for the next day, and is never late
            return _skipped(occurrence, f"it is too late to post it. {occurrence.reason}".strip(), alert=True)
        if allowed > now:
            return _Result(replace(occurrence, next_at=allowed, reason="waits for the end of the quiet hours"))
        prefers_twice = occurrence.channel in found.preferences.prefer_duplicate
        if may_be_unrecorded(occurrence, unrecorded_until) and not found.messenger.abilities.finds and not prefers_twice:
            return _skipped(occurrence, _RESTORED, alert=True)
        late = now - planned > self._context.settings.late and not occurrence.is_at_once
        return await self._with_digest(replace(found, occurrence=replace(occurrence, late=late, reason="")), now)

    async def _inputs(self, occurrence: Occurrence, now: datetime) -> _DigestInputs | _Result:
        """Find all that is needed, or say why there is nothing to post."""
        store, place = self._context.store, occurrence
        subscription = await self._subscription(occurrence)
        if subscription is None:
            return _skipped(occurrence, "unsubscribed")
        if subscription.is_paused(now):
            return _skipped(occurrence, f"paused. {subscription.paused_because}".strip())
        topic = (await self._requests.topics(place.workspace)).get(place.topic)
        if topic is None:
            return _skipped(occurrence, "its topic is not there any more.", alert=True)
        messenger = self._context.messenger(place.workspace, place.channel)
        if messenger is None:
            return await self._put_off(occurrence, f"{place.workspace} is on a platform that is not connected.", now)
        return _DigestInputs(occurrence, subscription, topic, messenger, await store.workspaces.preferences(place.workspace))

    async def _with_digest(self, inputs: _DigestInputs, now: datetime) -> _Result:
        """Make the digest, unless the channel has had enough for the day."""
        store, subscription = self._context.store, inputs.subscription
        left = await left_today(store.digests, inputs.preferences, subscription, now)
        if left == 0:
            if inputs.occurrence.is_at_once:
                resumes = await tomorrow(inputs.preferences, subscription, now)
                return _Result(replace(inputs.occurrence, next_at=resumes, reason=_ENOUGH))
            return _skipped(inputs.occurrence, f"the channel was posted {inputs.preferences.daily_entries} entries today.")
        at_once, slot = inputs.occurrence.is_at_once, inputs.occurrence.slot
        if at_once and (resumes := await after_most_at_once(store.digests, inputs.preferences, subscription, now)) > now:
            return _Result(replace(inputs.occurrence, next_at=resumes, reason=_ENOUGH))
        settled = inputs.preferences
        place = subscription.workspace, subscription.channel
        request = await self._requests.request(inputs.topic, *place, subscription, settled)
        request = replace(request, reach_back=slot == ON_REQUEST, through=slot if at_once else None)
        if left is not None:
            request = replace(request, limits=replace(request.limits, entries=min(request.limits.entries, left)))
        digest = replace(await self._maker.make(request, now), day=inputs.occurrence.day)
        if not digest.entries and (at_once or not subscription.always):
            return _Result(replace(inputs.occurrence, state=OccurrenceState.EMPTY), digest)
        layout = await self._requests.layout(subscription.workspace, subscription, settled)
        digest = replace(digest, tag=subscription.tag, is_for_list=await self._is_for_list(subscription))
        digest = replace(digest, news=self._news(inputs, layout) if digest.entries else "")
        texts = await asyncio.to_thread(_rendered, self._renderings, inputs, digest, layout)
        if not texts:
            raise ValueError(f"nothing was rendered for {subscription.channel}")
        made = replace(inputs.occurrence, state=OccurrenceState.MADE)
        publishes = made.channel in inputs.preferences.publish
        parts = (_delivery(made, said, part, len(texts), now) for part, said in enumerate(texts, start=1))
        return _Result(made, digest, tuple(replace(each, publishes=publishes) for each in parts))

    async def _is_for_list(self, subscription: Subscription) -> bool:
        if not is_mail(subscription.channel):
            return False
        reader = await self._context.store.recipients.named(subscription.channel)
        return reader is not None and reader.is_list

    def _news(self, inputs: _DigestInputs, layout: Layout) -> str:
        """Return what a channel is told once whose digests were long before; "" for others."""
        if layout is not Layout.BRIEF or not inputs.subscription.is_new_to_brief:
            return ""
        topic = inputs.topic
        said = f"Digests are short now: *subscribe {topic.name} full* brings the full cards back."
        pack = self._requests.packs.get(topic.name)
        if not topic.revision or pack is None or not new_in_pack(topic, pack):
            return said
        return f"{said} Your own copy of the topic lacks what is new in it: *topic show {topic.name}* says what."


def _batch_of_each(found: Sequence[Occurrence]) -> Iterator[Occurrence]:
    """Yield what was read until a workspace would have more than a batch: who came late is given all its turns first."""
    had = Counter[str]()
    for each in found:
        had[each.workspace] += 1
        if had[each.workspace] > BATCH:
            break
        yield each


def _rendered(renderings: _Renderings, inputs: _DigestInputs, digest: Digest, layout: Layout) -> list[tuple[str, str]]:
    """Return what each part says, and what it says instead should it become late; "" where that is the same."""
    if is_mail(inputs.subscription.channel):  # its links are its reader's own
        render = inputs.messenger.render
    else:
        digest = replace(digest, subscription="", window=Window())  # what says the same is the same
        render = partial(renderings.rendered, inputs.messenger)
    said = render(digest, layout=layout, late=inputs.occurrence.late)
    if_late = said if inputs.occurrence.late else render(digest, layout=layout, late=True)
    if len(said) != len(if_late):  # that it is late takes room: then nobody is told
        return [(each, "") for each in said]
    return [(each, late if late != each else "") for each, late in zip(said, if_late, strict=True)]


def _entry_shown(payload: str) -> tuple[str, ...]:
    """Return the items of the one entry that a message shows; () where it shows none, or several."""
    try:
        entries = json.loads(payload)["keys"]
    except (ValueError, KeyError, TypeError):
        return ()
    return tuple(entries[0]) if len(entries) == 1 else ()


def _delivery(occurrence: Occurrence, said: tuple[str, str], part: int, parts: int, now: datetime) -> Delivery:
    number, day, slot = occurrence.subscription, occurrence.day, occurrence.slot
    return Delivery(
        id=delivery_id(number, day, slot, part),
        occurrence=(number, day, slot),
        workspace=occurrence.workspace,
        channel=occurrence.channel,
        topic=occurrence.topic,
        part=part,
        parts=parts,
        payload=said[0],
        shows=_entry_shown(said[0]),
        if_late=said[1],
        seal=sealed(*said),
        due=now if occurrence.is_at_once else occurrence.due,
        next_at=now if part == 1 else FOREVER,
        made_at=_made_at(occurrence, now),
    )


def _made_at(occurrence: Occurrence, now: datetime) -> datetime:
    """Return when a digest counts as made: two of a day, made in one round, are told apart by it should one be dropped."""
    return now + (occurrence.slot % 1000 if occurrence.is_at_once else occurrence.slot) * _MOMENT


def _skipped(occurrence: Occurrence, reason: str, *, alert: bool = False) -> _Result:
    return _Result(replace(occurrence, state=OccurrenceState.SKIPPED, next_at=None, reason=reason), alert=alert)
