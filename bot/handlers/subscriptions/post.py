"""Posting the next digest now instead of at its time: once a day, by the ledger, as every digest is."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.commands import Post, Resume, Unsubscribe, write
from bot.digest.quiet_hours import after_quiet, left_today
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.status import DigestState, digests_here, silence
from bot.handlers.subscriptions.subscription_change import not_promised, subscription_named, without_tag
from bot.handlers.subscriptions.times import Timetable, in_zone, moment_in_words, pause_in_words, posted_next, today
from bot.handlers.wording.replies import button, preview_button, show_button
from bot.handlers.wording.subscriptions import NO_TOPIC, naming
from bot.models import ON_REQUEST, Actor, Button, Coverage, DigestRequest, Health, Occurrence, Reply, Subscription, Topic
from bot.wording import counted, listed, span_in_words, time_in_words


@handles(Post)
async def post(context: HandlerContext, command: Post, actor: Actor, now: datetime) -> Reply:
    """Open an occurrence that is due now, once a day; where nothing would be posted, say so instead."""
    await context.check_may_manage(actor)
    subscription = await subscription_named(context, actor, command.topic, command.rhythm)
    named = await naming(context, subscription)
    topic = (await context.topics(actor.workspace)).get(subscription.topic)
    if topic is None:
        raise UsageError(NO_TOPIC, hint=f"*{write(Unsubscribe(*named))}* ends the subscription.")
    if paused := await pause_in_words(subscription, now):
        ends = "tries it at once" if subscription.is_held_by_service else "ends the pause"
        raise UsageError(f"{paused}. Nothing is posted meanwhile.", hint=f"*{write(Resume(*named))}* {ends}.")
    not_yet = f"{topic.title} is not posted yet"
    if blocked := await not_promised(context, Post(*named), actor, not_yet, "Post now"):
        return blocked
    if blocked := await without_tag(context, subscription, topic.title, actor, not_yet):
        return blocked
    coming = await posted_next(context, subscription, now)
    asked = await _asked_for(subscription, now)
    if before := await _before(context, actor, asked):
        return await _asked_before(context, topic, subscription, before, coming, now)
    if why := await _why_nothing(context, topic, subscription, actor, now):
        outlook = f"The next digest comes {moment_in_words(coming.next, now)}."
        buttons = (preview_button(topic.name), show_button(topic.name))
        return Reply(title=f"Nothing of {topic.title} to post now", text=(*why, outlook), buttons=buttons)
    if not await context.store.ledger.open_on_request(asked):  # somebody else was faster, or ended the subscription
        await subscription_named(context, actor, *named)
        before = await _before(context, actor, asked)
        return await _asked_before(context, topic, subscription, before, coming, now)
    return await _opened(context, topic, subscription, coming, actor, now)


async def _asked_for(subscription: Subscription, now: datetime) -> Occurrence:
    return Occurrence(
        subscription=subscription.id,
        workspace=subscription.workspace,
        channel=subscription.channel,
        topic=subscription.topic,
        day=await today(subscription.schedule.zone, now),
        slot=ON_REQUEST,
        due=now,
    )


async def _before(context: HandlerContext, actor: Actor, asked: Occurrence) -> DigestState | None:
    """Return what became of the digest that was asked for here on the same day, None when none was."""
    return next((each for each in await digests_here(context, actor) if each.occurrence.key == asked.key), None)


async def _opened(
    context: HandlerContext, topic: Topic, subscription: Subscription, coming: Timetable, actor: Actor, now: datetime
) -> Reply:
    preferences = await context.store.workspaces.preferences(subscription.workspace)
    allowed = await after_quiet(preferences, subscription, now)
    after = f"The next one comes {moment_in_words(coming.next, now)}, with what came in since."
    if allowed > now:
        ends = moment_in_words(await in_zone(allowed, subscription.schedule.zone), now)
        return Reply(title=f"{topic.title} is posted when the quiet hours end", text=(f"That is {ends}.", after))
    text = (f"The digest is made, and posted {actor.in_channel} in a moment. {after}", *await silence(context, now))
    return Reply(title=f"{topic.title} is posted now", text=text)


async def _asked_before(
    context: HandlerContext,
    topic: Topic,
    subscription: Subscription,
    before: DigestState | None,
    coming: Timetable,
    now: datetime,
) -> Reply:
    became = "Today's is being made."
    if before is not None:
        at = await in_zone(before.occurrence.due, subscription.schedule.zone)
        became = f"Today's, asked for at {at:%H:%M}, {before.text}."
    return Reply(
        title=f"{topic.title} was asked for today already",
        text=(
            f"Once a day a digest is posted before its time. {became}",
            f"The next one comes {moment_in_words(coming.next, now)}.",
            *await silence(context, now),
        ),
        buttons=(preview_button(topic.name),),
    )


# --- where nothing would be posted


async def _why_nothing(
    context: HandlerContext, topic: Topic, subscription: Subscription, actor: Actor, now: datetime
) -> Sequence[str]:
    """Return sentences on why a digest that is made now would have no entry; none where it would have one."""
    preferences = await context.store.workspaces.preferences(subscription.workspace)
    if await left_today(context.store.digests, preferences, subscription, now) == 0:
        most = counted(preferences.daily_entries or 0, "entry")
        return (f"The channel had {most} today, as many as *settings daily* allows.",)
    digest = await context.previewer.preview(await _request(context, topic, subscription, actor), now)
    if digest.entries:
        return ()
    since = time_in_words(await in_zone(digest.since, subscription.schedule.zone), now)
    return (_all_dropped(digest.coverage, since), *await _still_collecting(context, topic))


def _all_dropped(coverage: Coverage, since: str) -> str:
    if not coverage.seen:
        return f"Nothing has come in since {since}."
    reasons = listed([f"{count:,} {reason}" for reason, count in coverage.dropped])
    return f"Of {counted(coverage.seen, 'item')} that came in since {since} none is posted: {reasons}."


async def _still_collecting(context: HandlerContext, topic: Topic) -> Sequence[str]:
    """Name the sources of the topic that have not delivered yet, as while the first collection runs."""
    wanted = set(topic.sources)
    asked = [name for name in context.source_titles if not wanted or {name, name.split(":")[0]} & wanted]
    states = [await context.store.source_states.get(name) for name in asked]
    waiting = [context.source_titles[each.name] for each in states if each.health is Health.NEVER]
    if not waiting:
        return ()
    return (f"{listed(waiting)} {'was' if len(waiting) == 1 else 'were'} not read to the end yet: more will come in.",)


async def _request(context: HandlerContext, topic: Topic, subscription: Subscription, actor: Actor) -> DigestRequest:
    return replace(await context.request(actor, topic, subscription), reach_back=True)


# --- what a new subscription offers


async def first_post_offer(
    context: HandlerContext, topic: Topic, subscription: Subscription, actor: Actor, now: datetime
) -> tuple[Sequence[str], Sequence[Button]]:
    """Return what to say of a first digest that is posted at once, and the button for it, where something would be in it.

    No summary is made for it, so it takes no longer than a filter that is tried.
    """
    days = span_in_words(timedelta(hours=context.window_hours))
    request = await _request(context, topic, subscription, actor)
    found = await context.previewer.try_filter(request, now - request.window, now, shown=0)
    if found.passed:
        return (f"The best of the last {days}: post now?",), (
            button("Post now", Post(*await naming(context, subscription))),
        )
    if found.seen:
        return (f"Nothing that came in during the last {days} passes.", *await _still_collecting(context, topic)), ()
    return (f"Nothing came in during the last {days} yet.", *await _still_collecting(context, topic)), ()
