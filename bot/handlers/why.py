"""The path of one item through this channel: who saw it, what each topic made of it, when it was or will be posted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from bot.commands import Filter, Why
from bot.digest import selection
from bot.digest.left_out import DAYS, LATE
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.items import item_for_topic, links_of
from bot.handlers.subscriptions.preview import ONCE
from bot.handlers.subscriptions.times import in_zone, moment_in_words, next_due, pause_in_words
from bot.handlers.wording.failures import in_one_line
from bot.handlers.wording.replies import (
    button,
    item_buttons,
    preview_button,
    subscribe_button,
    summary_origin,
    title_of,
    title_or_key,
)
from bot.models import (
    Actor,
    Button,
    DigestRequest,
    Item,
    ItemOutcome,
    Kind,
    LeftOut,
    PastDigest,
    Posting,
    Reply,
    ReplyEntry,
    Rhythm,
    Subscription,
    Topic,
)
from bot.wording import counted, day_in_words, ordinal, short_day, time_in_words

AT_ONCE = 5  # topics of one answer
_PAST = 60  # of the topic's past digests here, the latest, that are looked through
_TOLD = 5  # of them, for those that noted the item

# What keeps an item out whatever else there is.
_OF_ITSELF = (
    *(selection.OLD, selection.WITHDRAWN, selection.SOURCE, selection.QUERY, selection.NO_EVENT),
    *(selection.FILTER, selection.SCORE),
)
_PARTS = {"labels": "what it is or has", "description": "closeness to the description", "examples": "closeness to examples"}


@dataclass(frozen=True, slots=True)
class _Here:
    """Who asks, and in which zone times are told."""

    context: HandlerContext
    actor: Actor
    zone: str
    now: datetime

    async def day(self, moment: datetime) -> str:
        return day_in_words((await in_zone(moment, self.zone)).date(), self.now.date())

    async def short(self, moment: datetime) -> str:
        return short_day((await in_zone(moment, self.zone)).date(), self.now.date())

    async def moment(self, moment: datetime) -> str:
        there = await in_zone(moment, self.zone)
        return time_in_words(there, self.now)


@handles(Why)
async def why(context: HandlerContext, command: Why, actor: Actor, now: datetime) -> Reply:
    """Say why an item was, or was not, posted here: for the named topic, or for each that is subscribed here."""
    item, named = await item_for_topic(context, actor, command.item, command.topic, now)
    command = replace(command, topic=named)
    asked = await context.topics_here(actor, command.topic)
    postings = await context.store.digests.postings(actor.workspace, actor.channel, (item.key, *item.aliases))
    zone = next((each.schedule.zone for _, each in asked if each is not None), actor.zone or "UTC")
    here = _Here(context, actor, zone, now)
    entries = [ReplyEntry(item, lines=await _seen(here, item, postings))]
    awaited = 0
    for topic, subscription in asked[:AT_ONCE]:
        request = await context.request(actor, topic, subscription)
        outcome = await context.previewer.explain(request, item, now)
        lapses = await _lapses(outcome, subscription, now)
        outlook = (lapses,) if lapses else await _outlook(outcome, subscription, actor, now)
        coming = _is_coming(subscription, now) and not lapses
        awaited += coming and not outcome.reason
        since = await here.moment(outcome.since)
        came = await _carried_on(here, outcome) or _stored_late(outcome, since)
        verdict = _verdict(outcome, request, since, actor, coming=coming)
        rhythm = _apart(topic, subscription, asked)
        lines = (*_path(outcome), *came, verdict, *outlook, *await _earlier(here, topic, item, rhythm))
        title = f"For {topic.title}, {rhythm}" if rhythm else f"For {topic.title}"
        entries.append(
            ReplyEntry(title=title, lines=lines, buttons=_of_topic(topic, subscription, outcome), is_section=True)
        )
    return Reply(
        title=f"Why: {title_or_key(item)}",
        text=(ONCE,) if awaited > 1 else (),
        entries=tuple(entries),
        next_steps=_next_steps(asked, command, actor),
        buttons=(
            *item_buttons(item, asked[0][0].name if len(asked) == 1 else ""),
            *(button(topic.title, Why(item.key, topic.name)) for topic, _ in asked[AT_ONCE:]),
        ),
    )


def _apart(
    topic: Topic, subscription: Subscription | None, asked: Sequence[tuple[Topic, Subscription | None]]
) -> Rhythm | None:
    """Return which of several digests of its topic an entry speaks of; None where there is one."""
    several = sum(each.name == topic.name for each, _ in asked) > 1
    return subscription.rhythm if subscription and several else None


def _next_steps(asked: Sequence[object], command: Why, actor: Actor) -> tuple[str, ...]:
    if asked or command.topic.strip():
        return ()
    return (f"Nothing is subscribed {actor.here}, so no digest could hold it; *why ITEM for TOPIC* tries it on a topic.",)


# --- who saw it, and when it was posted


async def _seen(here: _Here, item: Item, postings: Sequence[Posting]) -> tuple[str, ...]:
    names = ", ".join(here.context.source_titles.get(name, name) for name in item.sources)
    lines = [f"Seen by {names}, first on {await here.day(item.seen)}."] if item.seen and names else []
    if shown := item.appeared or item.published:
        lines.append(f"It appeared on {await here.day(shown)}.")
    if item.aliases:
        lines.append(f"One work with {', '.join(item.aliases[:3])}, known as {item.key}.")
    lines += await _summary_origin(here, item) if postings else ()
    topics = await here.context.topics(here.actor.workspace)
    links = await links_of(here.context, here.actor.workspace, postings)
    for each, link in zip(postings, links, strict=True):
        score = f", with score {each.score:.2f}" if each.score is not None else ""
        title = title_of(topics, each.topic)
        lines.append(f"Posted {here.actor.here} on {await here.day(each.at)} for {title}{score}. {link}".rstrip())
    return tuple(lines)


async def _summary_origin(here: _Here, item: Item) -> tuple[str, ...]:
    origin = summary_origin(await here.context.previewer.summary(item, here.now))
    return (f"Its summary is {origin}.",) if origin else ()


# --- what it comes to for a topic


def _path(outcome: ItemOutcome) -> tuple[str, ...]:
    """Return the steps that it takes, up to the one that decides."""
    return () if outcome.ranked is None else (_place(outcome), _score(outcome))


def _place(outcome: ItemOutcome) -> str:
    better = (outcome.place or 1) - 1
    if outcome.reason in (selection.NOT_IN_TIME, selection.POSTED):
        return "Matches the topic."  # what it came with is not what the next digest compares it to
    return f"Matches the topic, with {better} better." if better else "Matches the topic, better than anything else."


def _is_coming(subscription: Subscription | None, now: datetime) -> bool:
    """Say whether the next digest looks at what has come in by now: not after a pause that leaves digests out."""
    if subscription is None:
        return False
    ends = subscription.paused_until is not None and subscription.baseline <= now
    return ends or not subscription.is_paused(now)


def _score(outcome: ItemOutcome) -> str:
    """Return the score as the sum that it is, each part with its reason."""
    assert outcome.ranked is not None  # noqa: S101 - asked only then
    parts = [
        f"{_PARTS.get(part.name, part.name)} {part.value:+.2f}" + (f" ({part.why})" if part.why else "")
        for part in sorted(outcome.ranked.parts, key=lambda part: -abs(part.value))
        if round(part.value, 2) or part.why
    ]
    return f"Score {outcome.ranked.score:.2f}: {', '.join(parts)}." if parts else f"Score {outcome.ranked.score:.2f}."


def _stored_late(outcome: ItemOutcome, since: str) -> tuple[str, ...]:
    """Say of what is looked at why it is, although it was seen before the digest's time."""
    seen = outcome.item.seen
    if outcome.reason == selection.NOT_IN_TIME or seen is None or seen >= outcome.since:
        return ()
    return (f"It was stored after {since}, by a collection that had begun before: the next digest looks at it.",)


async def _carried_on(here: _Here, outcome: ItemOutcome) -> tuple[str, ...]:
    """Say from which digest it was carried on, and until when it is."""
    if outcome.carried is None:
        return ()
    begun, ends = await here.short(outcome.carried), await here.short(outcome.carried + DAYS)
    return (f"Carried on from {begun}, until {ends}: it was over the cap then.",)


async def _earlier(here: _Here, topic: Topic, item: Item, rhythm: Rhythm | None) -> tuple[str, ...]:
    """Say what the topic's past digests here noted of it, the latest first; those of one rhythm, where there are several."""
    place, names = (here.actor.workspace, here.actor.channel), {item.key, *item.aliases}
    past = await here.context.store.digests.past(*place, topic=topic.name, rhythm=rhythm, limit=_PAST)
    noted = (
        f"{short_day(digest.day, here.now.date())}: {_noted(digest, each)}."
        for digest in past
        for each in digest.left_out
        if names & {each.key, each.other}
    )
    return tuple(islice(noted, _TOLD))


def _noted(digest: PastDigest, left: LeftOut) -> str:
    above = f"above the bar, {ordinal(left.place)} of {digest.above}"
    if left.reason == selection.TWIN:
        return f"{above}, a near twin of one that is in it"
    if left.reason == selection.CAP:
        # What is over the cap, though its place is not, is a repository: of those a digest holds fewer.
        return f"{above}, the cap is {digest.cap}" if left.place > digest.cap else f"{above}, over the cap of repositories"
    return f"{left.reason} ({left.relevance:.2f} of {digest.min_score:.2f})"


def _verdict(outcome: ItemOutcome, request: DigestRequest, since: str, actor: Actor, *, coming: bool) -> str:
    """Return what decides whether it is in the next digest, in a sentence."""
    because = f": {outcome.clause}" if outcome.clause else ""
    instead = f"{outcome.instead.title} ({outcome.instead.key})" if outcome.instead else "another"
    sentences = {
        "": "It is in the next digest, as things stand." if coming else "It would be in a digest that is made now.",
        selection.NOT_IN_TIME: f"It came in before the time of the next digest, which begins {since}.",
        selection.OLD: f"It is too old to be news: a digest goes back {counted(request.limits.max_age.days, 'day')}.",
        selection.WITHDRAWN: "It was withdrawn.",
        selection.POSTED: f"It was posted {actor.here} already, and nothing is posted twice.",
        selection.SHOWN: "It stands in the digest of another topic.",
        selection.SOURCE: f"The topic takes items from {', '.join(request.topic.sources)} only.",
        selection.QUERY: f"It is outside the topic{because}.",
        selection.NO_EVENT: "Nothing happened to it of late: a repository is posted when it is new and rising, has a"
        " release, a jump in stars, or a paper that was just announced.",
        selection.FILTER: f"The filter keeps it out{because}.",
        selection.SCORE: f"Its relevance, {_relevance(outcome):.2f}, stays below the {outcome.least:.2f} that is asked for.",
        selection.JOINED: f"It is shown on one card with {instead}.",
        selection.TWIN: f"It gives way to its near twin {instead}.",
        selection.CAP: _capped(outcome, request),
    }
    if outcome.reason != selection.NOT_IN_TIME:
        return sentences.get(outcome.reason, f"It is not in the next digest: {outcome.reason}.")
    if outcome.otherwise == selection.POSTED:
        return sentences[selection.POSTED]
    besides = sentences[outcome.otherwise] if outcome.otherwise in _OF_ITSELF else ""
    return " ".join(filter(None, (sentences[outcome.reason], besides and f"And {besides[:1].lower()}{besides[1:]}")))


def _relevance(outcome: ItemOutcome) -> float:
    return outcome.ranked.relevance if outcome.ranked else 0.0


def _capped(outcome: ItemOutcome, request: DigestRequest) -> str:
    limits = request.limits
    most = f"at most {counted(limits.entries, 'entry')}"
    if outcome.item.kind is Kind.REPO:
        most += f", {limits.repositories} of them repositories"
    return f"It would pass, but better ones fill the digest: it holds {most}."


async def _lapses(outcome: ItemOutcome, subscription: Subscription | None, now: datetime) -> str:
    """Say of what is carried on that it is no candidate any more when the next digest is due; "" where it is."""
    if outcome.reason or outcome.carried is None or subscription is None or subscription.is_paused(now):
        return ""
    try:
        coming = await next_due(subscription, now)
    except UsageError:
        return ""
    if coming.next is None or coming.next <= outcome.carried + DAYS + LATE:
        return ""
    return f"When the next digest is due, {moment_in_words(coming.next, now)}, it is no candidate any more."


async def _outlook(outcome: ItemOutcome, subscription: Subscription | None, actor: Actor, now: datetime) -> tuple[str, ...]:
    """Return when it will be posted, where it will."""
    if outcome.reason or subscription is None:
        return (f"The topic is not subscribed {actor.here}.",) if subscription is None else ()
    if subscription.is_paused(now):
        return (f"{await pause_in_words(subscription, now)}.",)
    try:
        coming = await next_due(subscription, now)
    except UsageError as error:
        return (in_one_line(error),)
    when = "after the next collection" if coming.next is None else moment_in_words(coming.next, now)
    return (f"It will be posted {when}, unless better ones come in until then.",)


def _of_topic(topic: Topic, subscription: Subscription | None, outcome: ItemOutcome) -> tuple[Button, ...]:
    if subscription is None:
        return (subscribe_button(topic.name),)
    if outcome.reason == selection.FILTER:
        return (button("Show the filter", Filter(topic.name)),)
    return (preview_button(topic.name),)
