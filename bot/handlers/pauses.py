"""Pausing a subscription and resuming it.

What would have been posted in a pause is not made up for: the first digest afterwards looks back as far as it would have
done without the pause, to the time at which the one before it was due.
"""

from dataclasses import replace
from datetime import datetime

from bot.commands import Now, Pause, Resume, Unsubscribe, write
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.lookup import check_may_manage, topics_of
from bot.handlers.registry import handles
from bot.handlers.subscribed import NO_TOPIC, change_subscription, next_due, pause_in_words, posted_next, title_of, unpaused
from bot.handlers.times import MOMENT, count_due, last_due, local, moment_in_words, start_of, today
from bot.handlers.until import day_meant
from bot.models import Actor, Button, Reply, Subscription
from bot.wording import counted, time_in_words


@handles(Pause)
async def pause(context: HandlerContext, command: Pause, actor: Actor, now: datetime) -> Reply:
    """Post nothing of a topic here until a day, or until it is resumed."""
    await check_may_manage(context, actor)

    async def paused(subscription: Subscription) -> Subscription:
        until = await _until(subscription, command.until, now) if command.until.strip() else None
        return await _held_back(subscription, until, now)

    changed = await change_subscription(context, actor, command.topic, paused, now)
    title = title_of(await topics_of(context, actor.workspace), changed.after.topic)
    said = await pause_in_words(changed.after, now)
    already = " already" if changed.after is changed.before else ""
    return Reply(
        title=f"{title} is paused{already}",
        text=(f"{said}.", *await _outlook(changed.after, now)),
        buttons=(Button("Resume", write(Resume(changed.after.topic))), _unsubscribe(changed.after)),
        private=False,
    )


async def _until(subscription: Subscription, typed: str, now: datetime) -> datetime:
    await next_due(subscription, now)  # for its hint, where the schedule cannot be computed
    zone = subscription.schedule.zone
    return await start_of(day_meant(typed, await today(zone, now)), zone)


async def _held_back(subscription: Subscription, until: datetime | None, now: datetime) -> Subscription:
    held = replace(unpaused(subscription), paused=True, paused_until=until)
    if until is None:
        return held
    # The digest of the day on which the pause ends covers its usual span, not the whole pause.
    latest = await last_due(subscription.schedule, until - MOMENT)
    if latest > now:
        return replace(held, baseline=latest)
    return replace(held, baseline=await _fresh_start(subscription, now)) if held.baseline > now else held


async def _outlook(subscription: Subscription, now: datetime) -> tuple[str, ...]:
    """What comes after the pause, and what does not."""
    until = subscription.paused_until
    if until is None:
        return (f"*resume {subscription.topic}* goes on; what would have been posted until then is not made up for.",)
    coming = await next_due(subscription, now)
    left_out = await count_due(subscription.schedule, now, until)
    first = f"The next digest comes {moment_in_words(coming.next, now)}."
    return (
        (first, f"{counted(left_out, 'digest')} before it will be left out, and not made up for.") if left_out else (first,)
    )


@handles(Resume)
async def resume(context: HandlerContext, command: Resume, actor: Actor, now: datetime) -> Reply:
    """Post again what was paused."""
    await check_may_manage(context, actor)

    topics = await topics_of(context, actor.workspace)

    async def resumed(subscription: Subscription) -> Subscription:
        if subscription.topic not in topics:
            raise UsageError(NO_TOPIC, hint=f"*unsubscribe {subscription.topic}* ends this.")
        if not subscription.paused:
            return subscription
        await next_due(subscription, now)  # a schedule that cannot be computed is mended first
        if not subscription.is_paused(now):
            return unpaused(subscription)  # digests are due since; one that is still to be posted keeps its time
        return replace(unpaused(subscription), baseline=await _fresh_start(subscription, now))

    changed = await change_subscription(context, actor, command.topic, resumed, now)
    coming = await posted_next(context, changed.after, now)
    title = title_of(topics, changed.after.topic)
    text = [f"The next digest comes {moment_in_words(coming.next, now)}."]
    if was_paused := changed.before.is_paused(now):
        since = await local(changed.after.baseline, changed.after.schedule.zone)
        looks = f"It looks at what has come in since {time_in_words(since, now)}"
        text.append(f"{looks}; digests that were due in the pause are left out.")
    return Reply(
        title=f"{title} goes on" if was_paused else f"{title} is not paused",
        text=tuple(text),
        buttons=(Button("Preview", write(Now(changed.after.topic))), Button("Pause", write(Pause(changed.after.topic)))),
        private=False,
    )


async def _fresh_start(subscription: Subscription, now: datetime) -> datetime:
    """The last time at which a digest was due, unless the subscription is younger than that."""
    made = subscription.made_at or min(subscription.baseline, now)
    return max(made, await last_due(subscription.schedule, now))


def _unsubscribe(subscription: Subscription) -> Button:
    return Button("Unsubscribe", write(Unsubscribe(subscription.topic)), danger=True)
