"""Filters: of this channel's subscription to a topic, and of the topic everywhere. Every change is tried at once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.commands import Filter, FilterAction, Scope
from bot.errors import UsageError
from bot.handlers.clauses import (
    clause_text,
    clauses_of,
    named_clauses,
    normalised,
    read_filter,
    with_clauses,
    without_clauses,
)
from bot.handlers.context import HandlerContext, handles
from bot.handlers.subscriptions.subscription_change import change_subscription, one_of
from bot.handlers.topics.topic_change import NOTHING_SEEN, WEEK, change_topic, try_filters
from bot.handlers.wording.replies import button, excerpt, one_line, preview_button
from bot.handlers.wording.topics import copied_in_words
from bot.models import (
    Actor,
    Button,
    DigestRequest,
    FilterTest,
    Query,
    Reply,
    ReplyEntry,
    Rhythm,
    Subscription,
    TestedItem,
    Topic,
)
from bot.wording import counted

_EVERYWHERE = "It holds in every channel that subscribes to the topic."

AlterFilter = Callable[[Query], Query]


@dataclass(frozen=True, slots=True)
class _FilterPlace:
    """Whose filter is meant: the subscription's where there is one, else the topic's; and what else is filtered."""

    topic: Topic
    here: Subscription | None  # of this channel, whichever filter is meant; None also where it is one of several
    everywhere: bool
    rhythm: Rhythm | None = None  # that tells which of several subscriptions it is
    in_channel: str = "in this channel"

    @property
    def filter(self) -> Query:
        return self.topic.filter if self.everywhere or self.here is None else self.here.filter

    @property
    def words(self) -> str:
        which = f", {self.rhythm}" if self.rhythm else ""
        return f"{self.topic.title} everywhere" if self.everywhere else f"{self.topic.title}{which} {self.in_channel}"

    @property
    def scope(self) -> Scope:
        return Scope.TOPIC if self.everywhere else Scope.HERE


@handles(Filter)
async def filter_topic(context: HandlerContext, command: Filter, actor: Actor, now: datetime) -> Reply:
    """Show, change or try the filter of a topic, here or everywhere."""
    place = await _place(context, command, actor)
    match command.action:
        case FilterAction.SHOW:
            return _shown(place)
        case FilterAction.TEST:
            return await _tested(context, place, command.query, actor, now)
        case _:
            await context.check_may_manage(actor)
            return await _changed(context, place, command, actor, now)


async def _place(context: HandlerContext, command: Filter, actor: Actor) -> _FilterPlace:
    topic = await context.topic_named(actor.workspace, command.topic)
    subscribed = await context.subscriptions_here(actor, topic.name)
    if command.scope is Scope.TOPIC:
        return _FilterPlace(topic, subscribed[0] if len(subscribed) == 1 else None, True, in_channel=actor.in_channel)
    here = one_of(subscribed, command.rhythm, topic.title, actor) if subscribed else None
    if here is None and (command.scope is Scope.HERE or command.rhythm):
        hint = (
            f"*subscribe {topic.name}* comes first; *filter {topic.name} everywhere set …* changes the topic's own filter."
        )
        raise UsageError(f"{topic.name} is not subscribed {actor.in_channel}.", hint=hint)
    rhythm = here.rhythm if here and len(subscribed) > 1 else None
    return _FilterPlace(topic, here, here is None, rhythm, actor.in_channel)


# --- looking


def _shown(place: _FilterPlace) -> Reply:
    lines = [f"{number}. {clause_text(clause)}" for number, clause in enumerate(clauses_of(place.filter), 1)]
    name = place.topic.name
    besides = place.topic.filter if not place.everywhere else place.here.filter if place.here else Query("")
    text = [] if lines else ["It has none: what fits the topic is posted."]
    if besides.text:
        whose = f"the subscription {place.in_channel}" if place.everywhere else "the topic everywhere"
        text.append(f"Besides holds the filter of {whose}: {one_line(besides.text)}.")
    return Reply(
        title=f"The filter of {place.words}",
        text=tuple(text),
        entries=(ReplyEntry(title="All of these must hold", lines=tuple(lines), is_section=True),) if lines else (),
        next_steps=(
            f"*filter {name} test kind:paper* tries one without setting it; *filter {name} add …* narrows it.",
            *((f"*filter {name} remove 1* takes a clause away, by its number or its words.",) if lines else ()),
        ),
        buttons=_buttons(place),
    )


def _buttons(place: _FilterPlace) -> tuple[Button, ...]:
    name, scope = place.topic.name, place.scope
    clear = button("Clear", Filter(name, FilterAction.CLEAR, scope=scope, rhythm=place.rhythm), danger=True)
    return (
        button("Try it", Filter(name, FilterAction.TEST, scope=scope, rhythm=place.rhythm)),
        *((clear,) if place.filter.text else ()),
        preview_button(name),
    )


async def _tested(context: HandlerContext, place: _FilterPlace, typed: str, actor: Actor, now: datetime) -> Reply:
    tested = read_filter(typed) if typed.strip() else place.filter
    result = await try_filters(context, await _request(context, place, tested, actor), now)
    setting = button("Set it", Filter(place.topic.name, FilterAction.SET, typed, place.scope, place.rhythm))
    other = bool(typed.strip()) and normalised(tested.tree) != normalised(place.filter.tree)
    name = one_line(tested.text) or "no filter"
    return Reply(
        title=f"Tried on {place.words}: {excerpt(name)}",
        text=(_result_in_words(result), *(("Nothing was changed.",) if other else ())),
        entries=_tested_entries(result),
        buttons=((setting,) if other else ()) + _buttons(place)[-1:],
    )


async def _request(context: HandlerContext, place: _FilterPlace, tested: Query, actor: Actor) -> DigestRequest:
    """Return the request with the tested filter in its place, beside what else holds here."""
    if place.everywhere:
        topic = replace(place.topic, filter=tested)
        return await context.request(actor, topic, place.here)
    request = await context.request(actor, place.topic, place.here)
    return replace(request, filter=tested)


def _result_in_words(result: FilterTest) -> str:
    if not result.seen:
        return NOTHING_SEEN
    span = f"the last {WEEK.days} days"
    if not result.entered:
        return f"None of the {counted(result.seen, 'item')} of {span} fits the topic, so there is nothing to filter."
    return f"It would have let through {result.passed:,} of {result.entered:,} that fit the topic in {span}."


def _tested_entries(result: FilterTest) -> tuple[ReplyEntry, ...]:
    return tuple(_judged(each) for each in (*result.through, *result.stopped))


def _judged(each: TestedItem) -> ReplyEntry:
    verdict = "would pass" if each.passes else "would not pass"
    return ReplyEntry(item=each.ranked.item, lines=(f"{verdict}: {each.clause}" if each.clause else verdict,))


# --- changing


def _set(query: Query, typed: str) -> Query:
    wanted = read_filter(typed)
    return query if normalised(wanted.tree) == normalised(query.tree) else wanted


async def _changed(context: HandlerContext, place: _FilterPlace, command: Filter, actor: Actor, now: datetime) -> Reply:
    alter = _alter(place, command)
    name, was = place.topic.name, place.filter
    note: tuple[str, ...] = ()
    if place.everywhere:
        changed = await change_topic(context, actor, name, lambda topic: _refiltered(topic, alter), _told, now)
        place, was = replace(place, topic=changed.after), changed.before.filter
        note = (copied_in_words(changed.after),) if changed.copied else (_EVERYWHERE,)
    else:

        async def altered(subscription: Subscription) -> Subscription:
            return replace(subscription, filter=alter(subscription.filter))

        subscription = await change_subscription(context, actor, (name, place.rhythm), altered, now)
        place, was = replace(place, here=subscription.after), subscription.before.filter
    return await _answer(context, place, was, note, actor, now)


def _alter(place: _FilterPlace, command: Filter) -> AlterFilter:
    """Return the change; a clause that is numbered is the one that has that number now, whatever others change."""
    match command.action:
        case FilterAction.SET:
            return lambda query: _set(query, command.query)
        case FilterAction.ADD:
            return lambda query: with_clauses(query, command.query)
        case FilterAction.REMOVE:
            gone = named_clauses(place.filter, command.query)
            return lambda query: without_clauses(query, gone)
        case _:
            return lambda _query: Query("")


def _refiltered(topic: Topic, alter: AlterFilter) -> Topic:
    return replace(topic, filter=alter(topic.filter))


def _told(before: Topic, after: Topic) -> tuple[str, str]:
    return tuple(f"filter: {one_line(each.filter.text)}" if each.filter.text else "" for each in (before, after))  # type: ignore[return-value]


async def _answer(
    context: HandlerContext, place: _FilterPlace, was: Query, note: tuple[str, ...], actor: Actor, now: datetime
) -> Reply:
    filtered = place.filter
    if filtered == was:
        text = (f"It is {one_line(filtered.text) or 'empty'} already; nothing was changed.",)
        return Reply(title=f"The filter of {place.words}", text=text, buttons=_buttons(place))
    result = await try_filters(context, await _request(context, place, filtered, actor), now)
    return Reply(
        title=f"{'Changed' if filtered.text else 'Cleared'} the filter of {place.words}",
        text=(
            f"Was {one_line(was.text) or 'empty'}.",
            f"Now {one_line(filtered.text) or 'empty: all that fits the topic is posted'}.",
            _result_in_words(result),
            *note,
        ),
        entries=_tested_entries(result) if filtered.text else (),
        buttons=(button("Undo", _undo(place, was)), *_buttons(place)),
        private=False,
    )


def _undo(place: _FilterPlace, was: Query) -> Filter:
    action = FilterAction.SET if was.text else FilterAction.CLEAR
    return Filter(place.topic.name, action, was.text, place.scope, place.rhythm)
