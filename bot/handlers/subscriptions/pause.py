"""Pausing a subscription and resuming it.

What would have been posted in a pause is not made up for: the first digest afterwards looks back as far as it would have
done without the pause, to the time at which the one before it was due; or further, where that one, or one that was dropped
before, left something to it.
"""

import calendar
import re
from dataclasses import replace
from datetime import date, datetime, timedelta

from bot.commands import Pause, Resume, Unsubscribe, write
from bot.digest.resumption import begun_afresh, last_due
from bot.errors import UsageError
from bot.handlers.addresses.places import NO_EMAIL
from bot.handlers.context import HandlerContext, handles
from bot.handlers.subscriptions.subscription_change import (
    change_subscription,
    not_promised,
    subscription_named,
    unpaused,
    without_tag,
)
from bot.handlers.subscriptions.times import (
    MOMENT,
    count_due,
    goes_on_by_mail,
    in_zone,
    moment_in_words,
    next_due,
    pause_in_words,
    posted_next,
    start_of_day,
    today,
)
from bot.handlers.wording.replies import button, one_line, preview_button, title_of, unsubscribe_button
from bot.handlers.wording.subscriptions import NO_TOPIC, Naming, naming
from bot.models import Actor, Reply, Subscription, is_mail
from bot.wording import DAYS, MONTHS, counted, time_in_words


@handles(Pause)
async def pause(context: HandlerContext, command: Pause, actor: Actor, now: datetime) -> Reply:
    """Post nothing of a topic here until a day, or until it is resumed."""
    await context.check_may_manage(actor)

    async def paused(subscription: Subscription) -> Subscription:
        until = await _until(subscription, command.until, now) if command.until.strip() else None
        return await _held_back(context, subscription, until, now)

    changed = await change_subscription(context, actor, (command.topic, command.rhythm), paused, now)
    title = title_of(await context.topics(actor.workspace), changed.after.topic)
    said = await pause_in_words(changed.after, now)
    named = await naming(context, changed.after)
    already = " already" if changed.after is changed.before else ""
    return Reply(
        title=f"{title} is paused{already}",
        text=(f"{said}.", *await _outlook(changed.after, named, now)),
        buttons=(button("Resume", Resume(*named)), unsubscribe_button(*named)),
        private=False,
    )


async def _until(subscription: Subscription, typed: str, now: datetime) -> datetime:
    await next_due(subscription, now)  # for its hint, where the schedule cannot be computed
    zone = subscription.schedule.zone
    return await start_of_day(read_day(typed, await today(zone, now)), zone)


async def _held_back(
    context: HandlerContext, subscription: Subscription, until: datetime | None, now: datetime
) -> Subscription:
    held = subscription.held_back(until, now)
    if until is None:
        return held
    # The digest of the day on which the pause ends covers its usual span, not the whole pause.
    latest = await last_due(subscription.schedule, until - MOMENT)
    if latest > now:
        return replace(held, baseline=latest, baseline_arrival=None)
    return await begun_afresh(context.store, held, now) if held.baseline > now else held


async def _outlook(subscription: Subscription, named: Naming, now: datetime) -> tuple[str, ...]:
    """What comes after the pause, and what does not."""
    until = subscription.paused_until
    if until is None:
        return (f"*{write(Resume(*named))}* goes on; what would have been posted until then is not made up for.",)
    coming = await next_due(subscription, now)
    left_out = await count_due(subscription.schedule, now, until)
    first = f"The next digest comes {moment_in_words(coming.next, now)}."
    return (
        (first, f"{counted(left_out, 'digest')} before it will be left out, and not made up for.") if left_out else (first,)
    )


async def _not_resumed(context: HandlerContext, held: Subscription, topic_title: str, actor: Actor) -> Reply | None:
    """Return what to mend before anything can be posted again; None where nothing is known."""
    still = f"{topic_title} is still paused"
    if is_mail(held.channel) and (why := await context.obstacle(actor)) and why != NO_EMAIL:
        return Reply(title=still, text=(why, f"{goes_on_by_mail(held.topic)}."))
    blocked = await not_promised(context, Resume(*await naming(context, held)), actor, still, "Resume")
    return blocked or await without_tag(context, held, topic_title, actor, still)


@handles(Resume)
async def resume(context: HandlerContext, command: Resume, actor: Actor, now: datetime) -> Reply:
    """Post again what was paused."""
    await context.check_may_manage(actor)
    topics = await context.topics(actor.workspace)
    held = await subscription_named(context, actor, command.topic, command.rhythm)
    title = title_of(topics, held.topic)
    if held.is_paused(now) and (blocked := await _not_resumed(context, held, title, actor)):
        return blocked

    async def resumed(subscription: Subscription) -> Subscription:
        if subscription.topic not in topics:
            raise UsageError(NO_TOPIC, hint=f"*{write(Unsubscribe(*await naming(context, subscription)))}* ends this.")
        if not subscription.paused:
            return subscription
        await next_due(subscription, now)  # a schedule that cannot be computed is mended first
        if not subscription.is_paused(now):
            return unpaused(subscription)  # digests are due since; one that is still to be posted keeps its time
        return unpaused(await begun_afresh(context.store, subscription, now))

    changed = await change_subscription(context, actor, (command.topic, command.rhythm), resumed, now)
    coming = await posted_next(context, changed.after, now)
    text = [f"The next digest comes {moment_in_words(coming.next, now)}."]
    if was_paused := changed.before.is_paused(now):
        since = await in_zone(await _looks_since(context, changed.after), changed.after.schedule.zone)
        looks = f"It looks at what has come in since {time_in_words(since, now)}"
        text.append(f"{looks}; digests that were due in the pause are left out.")
    return Reply(
        title=f"{title} goes on" if was_paused else f"{title} is not paused",
        text=tuple(text),
        buttons=(preview_button(changed.after.topic), button("Pause", Pause(*await naming(context, changed.after)))),
        private=False,
    )


async def _looks_since(context: HandlerContext, subscription: Subscription) -> datetime:
    place = (subscription.workspace, subscription.channel, subscription.topic, subscription.rhythm)
    last, dropped = await context.store.digests.last(*place), await context.store.digests.unposted(*place)
    owed = [last[1].time] if last else []
    owed += [dropped.begins.time] if dropped else []
    return max(subscription.baseline, min(owed, default=subscription.baseline))


FURTHEST = timedelta(days=731)  # beyond it is a slip of the finger, or meant for good

_LENGTHS = {"d": 1, "day": 1, "w": 7, "week": 7, "fortnight": 14}
_AGO = re.compile(r"(?:in |for )?(\d{1,4}|an?|one|two|three) ?(d|w|m|days?|weeks?|months?|fortnights?)")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?([a-z]{3,9})\.?(?:,? (\d{4}))?")
_MONTH_FIRST = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?")
_HINT = "Write a date such as 2026-12-01, a day (*monday*, *tomorrow*), or how long: *3d*, *2w*."


def read_day(text: str, today: date) -> date:
    """Return the day that is meant, always later than `today`.

    A day of the week is the next one, a date without a year the next of its kind. Raises UsageError for what is no day, is
    past, or lies more than two years ahead.
    """
    typed = " ".join(text.lower().strip(" .,!").split())[:60]
    try:
        day = _read(typed, today)
    except (ValueError, OverflowError):
        day = None
    if day is None:
        raise UsageError(f'"{one_line(text)[:60]}" is no day that I can read.', hint=_HINT)
    if day <= today:
        raise UsageError(f"{day.isoformat()} is not ahead: today is {today.isoformat()}.", hint=_HINT)
    if day - today > FURTHEST:
        raise UsageError("That is more than two years ahead.", hint="Without *until* it stays paused until it is resumed.")
    return day


def _read(typed: str, today: date) -> date | None:
    if typed == "tomorrow":
        return today + timedelta(days=1)
    if found := _ISO.fullmatch(typed):
        return date(int(found[1]), int(found[2]), int(found[3]))
    if found := _AGO.fullmatch(typed):
        return _ahead(today, _NUMBERS.get(found[1]) or int(found[1]), found[2])
    return _weekday(typed.removeprefix("next ").removeprefix("on "), today) or _dated(typed.removeprefix("the "), today)


def _ahead(today: date, count: int, unit: str) -> date:
    unit = unit if len(unit) == 1 else unit.removesuffix("s")
    if unit not in ("m", "month"):
        return today + timedelta(days=count * _LENGTHS[unit])
    months = today.year * 12 + today.month - 1 + count
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(today.day, calendar.monthrange(year, month)[1]))


def _weekday(typed: str, today: date) -> date | None:
    """The next such day; a week begins on Monday, a month on its first."""
    if typed == "month":
        return _ahead(today.replace(day=1), 1, "month")
    wanted = 0 if typed == "week" else _beginning(DAYS, typed)
    if wanted is None:
        return None
    return today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)


def _dated(typed: str, today: date) -> date | None:
    if found := _DAY_FIRST.fullmatch(typed):
        day, name, year = found.groups()
    elif found := _MONTH_FIRST.fullmatch(typed):
        name, day, year = found.groups()
    else:
        return None
    month = _beginning(MONTHS, name)
    if month is None:
        return None
    if year:
        return date(int(year), month + 1, int(day))
    this_year = date(today.year, month + 1, int(day))
    return this_year if this_year > today else date(today.year + 1, month + 1, int(day))


def _beginning(names: tuple[str, ...], typed: str) -> int | None:
    """The number of the one name that begins so, three letters at least; "sept" and "tues" are such."""
    found = [number for number, name in enumerate(names) if len(typed) >= 3 and name.lower().startswith(typed)]
    return found[0] if len(found) == 1 else None
