"""Subscribing a channel to a topic, ending that, and listing what is subscribed."""

import asyncio
import contextlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot import zones
from bot.commands import (
    Filter,
    FilterAction,
    Follow,
    Forget,
    ListSubscriptions,
    ListTopics,
    Subscribe,
    Unsubscribe,
    Usual,
    write,
)
from bot.digest import due
from bot.errors import Conflict, Unclear, UsageError
from bot.handlers.addresses.places import known_addresses, own_addresses
from bot.handlers.clauses import read_filter
from bot.handlers.context import HandlerContext, handles, retry_on_conflict
from bot.handlers.subscriptions.post import first_post_offer
from bot.handlers.subscriptions.subscription_change import (
    ChangedSubscription,
    change_of,
    ended_before,
    first_baseline,
    not_promised,
    subscription_named,
)
from bot.handlers.subscriptions.times import moment_in_words, pause_in_words, posted_next, timetable
from bot.handlers.topics.topic_change import forget_unused
from bot.handlers.wording.elsewhere import for_channel, placed_command
from bot.handlers.wording.replies import button, mentioning, title_of
from bot.handlers.wording.subscriptions import (
    NO_TOPIC,
    as_command,
    is_followed,
    naming,
    subscription_buttons,
    subscription_entry,
    subscription_fields,
)
from bot.models import (
    MOST_ENTRIES,
    Actor,
    Button,
    Query,
    Reply,
    ReplyEntry,
    Rhythm,
    Schedule,
    Subscription,
    Topic,
    is_mail,
)
from bot.settings.arxiv_categories import missing_categories, not_collected
from bot.settings.sources import ArxivSettings
from bot.wording import counted, listed

NO_TAG = "none"  # takes back a tag that was chosen


@handles(Subscribe)
async def subscribe(context: HandlerContext, command: Subscribe, actor: Actor, now: datetime) -> Reply:
    """Subscribe this channel to a topic, or change what is said of its subscription."""
    await context.check_may_manage(actor)
    try:
        topic = await context.topic_named(actor.workspace, command.topic)
    except UsageError as error:
        if " " not in command.topic and error.hint.startswith("Did you mean"):
            raise  # a slip in a topic's name
        return _may_be_followed(command, error, actor)
    command, wanted = await checked(replace(command, topic=topic.name))
    if blocked := await not_promised(context, command, actor, f"{topic.title} is not subscribed yet", "Subscribe"):
        return blocked
    existed, changed = await subscribe_to(context, topic, command, actor, now, wanted=wanted)
    reply = await _confirmation(context, topic, changed, existed, actor, now)
    if existed or changed.after.is_paused(now) or changed.after.baseline < now:
        return reply
    offer, post_button = await first_post_offer(context, topic, changed.after, actor, now)
    return replace(reply, text=(*reply.text, *offer), buttons=(*post_button, *reply.buttons))


def _may_be_followed(command: Subscribe, error: UsageError, actor: Actor) -> Reply:
    """Return that there is no such topic, and the offer to follow what was named; the rest of the command is left out."""
    named = " ".join(command.topic.replace('"', " ").split())
    follow = Follow(f'"{named}"' if " " in named else named)
    return Reply(
        title=str(error).rstrip("."),
        text=(error.hint, f"*{write(follow)}* posts {actor.here} what has these words, without a topic made before."),
        buttons=(button("Follow", follow), button("Topics", ListTopics())),
    )


async def subscribe_to(
    context: HandlerContext, topic: Topic, command: Subscribe, actor: Actor, now: datetime, *, wanted: Query | None = None
) -> tuple[bool, ChangedSubscription]:
    """Subscribe the actor's channel to the topic as the command says, whose filter is `wanted`; tell whether it was before.

    Raises Unclear where a forum's tag is to be chosen, or which of several subscriptions is meant.
    """
    await _check_tag(context, command, topic, actor)
    return await _subscribed(context, command, wanted, topic, actor, now)


async def checked(command: Subscribe) -> tuple[Subscribe, Query | None]:
    """Return the command with its zone's true name, and its filter; raises UsageError for what cannot be."""
    if isinstance(command.entries, int) and not 1 <= command.entries <= MOST_ENTRIES:
        raise UsageError(f"A digest has 1 to {MOST_ENTRIES} entries.", hint="For example *top 7*.")
    if isinstance(command.min_score, float | int) and not 0 <= command.min_score <= 1:
        raise UsageError("A bar lies between 0 and 1.", hint="For example *min 0.3*.")
    if command.zone:
        command = replace(command, zone=await asyncio.to_thread(zones.resolve, command.zone))
    return command, read_filter(command.filter) if command.filter.strip() else None


async def _check_tag(context: HandlerContext, command: Subscribe, topic: Topic, actor: Actor) -> None:
    """Raise Unclear with the forum's tags where each post needs one and none is meant; UsageError where there is none."""
    forum = await context.forum_tags(actor)
    said = "" if command.tag == NO_TAG else command.tag
    if forum is None:
        if said:
            raise UsageError("Only the posts of a forum in Discord have tags.", hint="Leave *tag* out.")
        return
    here = _meant(await context.subscriptions_here(actor, topic.name), command, topic.title, actor)
    kept = here.tag if here and not command.tag else ""
    if forum.has(said) if said else not forum.lacks(kept or topic.title):
        return
    if not forum.names:
        hint = "Make one in the forum's settings that is not for moderators alone, and subscribe again."
        raise UsageError("The forum has no tags that Broadsheet may give.", hint=hint)
    needs = "The forum has no such tag" if said else "Each post in this forum needs a tag"
    choices = [(name, name) for name in forum.names]
    raise Unclear(f"{needs}. Choose one for the digests of {topic.title}.", "tag", choices)


async def _subscribed(
    context: HandlerContext, command: Subscribe, wanted: Query | None, topic: Topic, actor: Actor, now: datetime
) -> tuple[bool, ChangedSubscription]:
    """Make or change the subscription, trying again when somebody else did in between; tell whether it existed."""

    async def attempt() -> tuple[bool, ChangedSubscription]:
        before = _meant(await context.subscriptions_here(actor, topic.name), command, topic.title, actor)
        base = before or await _new(context, command.topic, actor, now)
        after = _altered(base, command, wanted)
        if after == before:
            return True, ChangedSubscription(before, before)
        await timetable(after.schedule, now)  # before anything is written: a schedule that no day fits is refused
        if before is None:
            begins = await first_baseline(context, actor, after, now)
            after = replace(after, baseline=begins.time, baseline_arrival=begins.arrival, made_arrival=begins.arrival)
        change = change_of(actor, after, before, after, now)
        saved = await context.store.workspaces.save_subscription(after, change, replaces=base.revision)
        await _check_topic_stays(context, actor, saved, now)
        return before is not None, ChangedSubscription(base, saved)

    return await retry_on_conflict(attempt)


def _meant(here: Sequence[Subscription], command: Subscribe, title: str, actor: Actor) -> Subscription | None:
    """Return which of the channel's subscriptions to the topic is to change: the one due as often; None: a new one is meant.

    Raises Unclear where nothing is said of days, and there are several.
    """
    if command.weekdays or command.month_day or command.at_once:
        days = Schedule(weekdays=command.weekdays or (), month_day=command.month_day or 0, at_once=command.at_once)
        rhythm = days.rhythm
        return next((each for each in here if each.rhythm is rhythm), None)
    if len(here) > 1:
        names = listed([each.rhythm for each in here])
        choices = [(each.rhythm.capitalize(), _days(each.schedule)) for each in here]
        raise Unclear(f"{title} has {names} digests {actor.here}: which one is to change?", "weekdays", choices)
    return next(iter(here), None)


def _days(schedule: Schedule) -> Mapping[str, Any]:
    if schedule.at_once:
        return {"at_once": True}
    return {"month_day": schedule.month_day} if schedule.month_day else {"weekdays": schedule.weekdays}


async def _check_topic_stays(context: HandlerContext, actor: Actor, saved: Subscription, now: datetime) -> None:
    """End the subscription where its topic was deleted just before it was saved: deleting ends those that it finds."""
    if saved.topic in await context.topics(actor.workspace):
        return
    with contextlib.suppress(Conflict):  # somebody ended it already
        await context.store.workspaces.delete_subscription(saved, change_of(actor, saved, saved, None, now))
    raise UsageError(f"The topic {saved.topic} was deleted a moment ago.", hint="*topics* lists those there are.")


async def _new(context: HandlerContext, topic: str, actor: Actor, now: datetime) -> Subscription:
    return Subscription(
        id=secrets.token_hex(8),
        workspace=actor.workspace,
        channel=actor.channel,
        topic=topic,
        schedule=Schedule(zone=await usual_zone(context, actor)),
        baseline=now,
        made_by=actor.person,
        made_at=now,
    )


async def usual_zone(context: HandlerContext, actor: Actor) -> str:
    """Return what the workspace settled, else the person's own zone, else the operator's, else UTC.

    One that is not known any more counts as none.
    """
    settled = (await context.store.workspaces.preferences(actor.workspace)).zone
    for zone in filter(None, (settled, actor.zone, context.zone)):
        try:
            await asyncio.to_thread(due.zone_named, zone)
        except UsageError:
            continue
        return zone
    return "UTC"


def _altered(base: Subscription, command: Subscribe, wanted: Query | None) -> Subscription:
    """Return the subscription with what the command says; what it does not say stays."""
    schedule = base.schedule
    if command.at_once:
        schedule = replace(schedule, weekdays=(), month_day=0, at_once=True)
    elif command.month_day:
        schedule = replace(schedule, weekdays=(), month_day=command.month_day)
    elif command.weekdays is not None:
        schedule = replace(schedule, weekdays=tuple(sorted(set(command.weekdays))), month_day=0)
    schedule = replace(schedule, at=command.at or schedule.at, zone=command.zone or schedule.zone)
    if schedule.at_once and (command.at or command.always):
        what = "has no time of day" if command.at else "is never empty"
        raise UsageError(f"What is posted at once {what}.", hint="Leave that out, or say on which days.")
    said = {"entries": command.entries, "min_score": command.min_score, "layout": command.layout, "filter": wanted}
    said["always"] = command.always
    kept = {name: None if value is Usual.USUAL else value for name, value in said.items() if value is not None}
    tag = "" if command.tag == NO_TAG else command.tag or base.tag
    surprised = base.is_new_to_brief and command.layout is None
    return replace(base, schedule=schedule, tag=tag, is_new_to_brief=surprised, **kept)  # type: ignore[arg-type]


async def _confirmation(
    context: HandlerContext, topic: Topic, changed: ChangedSubscription, existed: bool, actor: Actor, now: datetime
) -> Reply:
    subscription = changed.after
    coming = await posted_next(context, subscription, now)
    filtered = " that passes the filter" if subscription.filter.text or topic.filter.text else ""
    text = [f"What fits *{topic.title}*{filtered} will be posted {actor.in_channel} {coming.words}, the best first."]
    if paused := await pause_in_words(subscription, now):
        text.append(f"{paused}.")
    else:
        text.append(f"The next digest comes {moment_in_words(coming.next, now)}.")
    if (missed := not_collected(topic, context.arxiv)) or not existed:
        text += [missed or _collected_besides(topic, context.arxiv)]
    if not existed:
        goes_on = subscription.baseline < now
        text.append(
            "It goes on as if it had never ended." if goes_on else "Nothing from before now will be posted by itself."
        )
        title = f"Subscribed to {topic.title}"
    elif changed.after is changed.before:
        title = f"{topic.title} is subscribed just so already"
    else:
        title = f"Changed the subscription to {topic.title}"
    fields = await subscription_fields(context, subscription, topic, now)
    others = [each for each in await _here(context, subscription) if each.id != subscription.id]
    if others and not existed:
        names = listed([each.rhythm for each in others])
        text.append(f"It comes beside the {names} one: what one of them shows, the other does not repeat.")
    named = (topic.name, subscription.rhythm if others else None)
    return Reply(
        title=title,
        text=tuple(filter(None, text)),
        fields=fields,
        next_steps=_next_steps(subscription, existed),
        buttons=(
            *(_instead_of(each) for each in others if not existed),
            *subscription_buttons(subscription, named, now),
            button("Try the filter", Filter(topic.name, FilterAction.TEST, rhythm=named[1])),
        ),
        private=False,
    )


def _collected_besides(topic: Topic, arxiv: ArxivSettings) -> str:
    """Say which categories are collected for the topic, that the settings do not name; "" for none."""
    besides = missing_categories(topic, arxiv)
    return f"For it, arXiv's {listed(besides)} {'is' if len(besides) == 1 else 'are'} collected too." if besides else ""


async def _here(context: HandlerContext, subscription: Subscription) -> Sequence[Subscription]:
    place = {"channel": subscription.channel, "topic": subscription.topic}
    return await context.store.workspaces.subscriptions(subscription.workspace, **place)


def _instead_of(other: Subscription) -> Button:
    """Return the button that lets a new subscription take the place of another one."""
    return button(f"End the {other.rhythm} one", Unsubscribe(other.topic, other.rhythm), danger=True)


def _next_steps(subscription: Subscription, existed: bool) -> tuple[str, ...]:
    if existed or subscription.schedule.zone != "UTC":
        return ()
    return (f"The time is in UTC; *subscribe {subscription.topic} in New York* says another place.",)


# --- ending


@handles(Unsubscribe)
async def unsubscribe(context: HandlerContext, command: Unsubscribe, actor: Actor, now: datetime) -> Reply:
    """End this channel's subscription to a topic."""
    await context.check_may_manage(actor)
    topics = await context.topics(actor.workspace)
    try:
        gone = await _ended(context, command, actor, now)
    except Unclear:
        raise
    except UsageError:
        if (ended := await ended_before(context, actor, command.topic, command.rhythm)) is None:
            raise
        goes_on = bool(await context.subscriptions_here(actor, ended[0]))
        return _is_ended(topics, *ended, command.rhythm if goes_on else None, actor)
    left = await _here(context, gone)
    if not left and await forget_unused(context, topics.get(gone.topic), gone, actor, now):
        return _unfollowed(topics[gone.topic], gone, actor)
    stays = gone.topic in topics
    rest = "The topic stays, and what it has learned." if stays else NO_TOPIC
    if left:
        rest = f"Its {listed([each.rhythm for each in left])} digest goes on."
    what = f"Nothing more of its {gone.rhythm} digest" if left else "Nothing more of it"
    return Reply(
        title=f"Unsubscribed from {title_of(topics, gone.topic)}{f', {gone.rhythm}' if left else ''}",
        text=(f"{what} will be posted {actor.in_channel}. {rest}",),
        buttons=(Button("Undo", as_command(gone)),) if stays else (),
        private=False,
    )


def _unfollowed(topic: Topic, gone: Subscription, actor: Actor) -> Reply:
    return Reply(
        title=f"{topic.title} is not followed {actor.here} any more",
        text=(f"Nothing more of it will be posted {actor.in_channel}.",),
        buttons=(button("Undo", Follow(topic.query.text, gone.rhythm)),),
        private=False,
    )


def _is_ended(topics: Mapping[str, Topic], topic: str, as_it_was: str, rhythm: Rhythm | None, actor: Actor) -> Reply:
    return Reply(
        title=f"{title_of(topics, topic)}{f', {rhythm},' if rhythm else ''} is not subscribed {actor.here} any more",
        text=("It was ended before; nothing was changed.",),
        buttons=(Button("Subscribe again", as_it_was),) if topic in topics else (),
    )


async def _ended(context: HandlerContext, command: Unsubscribe, actor: Actor, now: datetime) -> Subscription:
    async def attempt() -> Subscription:
        before = await subscription_named(context, actor, command.topic, command.rhythm)
        await context.store.workspaces.delete_subscription(before, change_of(actor, before, before, None, now))
        return before

    return await retry_on_conflict(attempt)


# --- listing


@handles(ListSubscriptions)
async def list_subscriptions(context: HandlerContext, command: ListSubscriptions, actor: Actor, now: datetime) -> Reply:
    """List the subscriptions of this channel, or of the whole workspace with those of this channel first.

    Of private channels that the person is not in, it tells no more than how many there are; of addresses of others nothing,
    and to administrators which domain they are of. Where nobody else reads, one's own by e-mail stand beside the channel's.
    """
    mail = await _addresses_listed(context, command, actor)
    every = await context.store.workspaces.subscriptions(
        actor.workspace, channel="" if command.everywhere or mail else actor.channel
    )
    chosen = {actor.channel, *mail}
    every = [each for each in every if each.channel in chosen or (command.everywhere and not is_mail(each.channel))]
    topics = await context.topics(actor.workspace)
    where = f"in this {context.workspace_word}" if command.everywhere else actor.in_channel
    if not command.everywhere and any(each.channel in mail for each in every):
        where = f"{where} and by e-mail" if any(each.channel == actor.channel for each in every) else "by e-mail"
    if not every:
        return _nothing(where, topics, actor)
    chats = {each.channel for each in every if not is_mail(each.channel)}
    seen = {actor.channel, *mail, *(await context.visible_channels(actor, chats) if command.everywhere else ())}
    found = [each for each in every if each.channel in seen]
    hidden = len(every) - len(found)
    ordered = sorted(found, key=lambda each: _place_in_list(each, topics, actor))
    entries = [
        await _listed(context, each, topics, actor, now, mail.get(each.channel, each.channel if command.everywhere else ""))
        for each in ordered
    ]
    everywhere = button("All subscriptions", ListSubscriptions(everywhere=True))
    reply = Reply(
        title=f"{counted(len(every), 'subscription')} {where}",
        text=(f"{hidden:,} of them {'is' if hidden == 1 else 'are'} in private channels that you are not in.",)
        if hidden
        else (),
        entries=tuple(entries),
        buttons=() if command.everywhere else (everywhere,),
    )
    return mentioning(reply, channels=[each.channel for each in found])


async def _addresses_listed(context: HandlerContext, command: ListSubscriptions, actor: Actor) -> Mapping[str, str]:
    """Return by their channels the addresses of which a list tells."""
    return await known_addresses(context, actor) if command.everywhere else await own_addresses(context, actor)


async def _listed(
    context: HandlerContext, each: Subscription, topics: Mapping[str, Topic], actor: Actor, now: datetime, where: str
) -> ReplyEntry:
    """Return the subscription as a list tells it; one by e-mail with the buttons that are for its address."""
    place = f"by e-mail to {where}" if where and is_mail(each.channel) else where
    entry = await subscription_entry(context, each, topics, actor, now, place=place)
    if each.channel == actor.channel or not is_mail(each.channel):
        return entry
    named = await naming(context, each)
    told = tuple(for_channel(line, replace(actor, channel=each.channel, place=where)) for line in entry.lines)
    placed = [
        replace(shown, command=placed_command(shown.command, each.channel))
        for shown in subscription_buttons(each, named, now)
    ]
    ended = placed if each.topic in topics else placed[-1:]
    forgotten = (button("Forget", Forget(each.channel), danger=True),) if "…" in where else ()
    return replace(entry, lines=told, buttons=(*ended, *forgotten))


def _place_in_list(each: Subscription, topics: Mapping[str, Topic], actor: Actor) -> tuple[object, ...]:
    """This channel first, and in each channel what is followed last."""
    return each.channel != actor.channel, each.channel, is_followed(topics, each.topic), each.topic, each.rhythm


def _nothing(where: str, topics: Mapping[str, Topic], actor: Actor) -> Reply:
    example = next(iter(sorted(topics)), "TOPIC")
    return Reply(
        title=f"Nothing is subscribed {where} yet",
        next_steps=(f"*subscribe {example} weekdays at 09:00* posts a digest {actor.in_channel} on weekdays.",),
        buttons=(button("Topics", ListTopics()),),
    )
