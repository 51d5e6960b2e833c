"""How the service stands here: the last and next digests, the sources, what is paused; and who changed what."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from bot.commands import History, ListSubscriptions, Now, Resume, Status, Unsubscribe, write
from bot.embed.backfill import in_words
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.lookup import shown, slug, topics_of
from bot.handlers.mentioned import channels_of, mentioning
from bot.handlers.posted import Posted, last_digest, posted_here, summary, troubles
from bot.handlers.posted import elsewhere as trouble_elsewhere
from bot.handlers.registry import handles
from bot.handlers.subscribed import pause_in_words, posted_next, title_of
from bot.handlers.times import local, moment_in_words
from bot.models import Actor, Button, Change, Field, Health, Reply, ReplyEntry, SourceState, Subscription, Topic
from bot.ports.facts import HEARTBEAT, time_of_fact
from bot.wording import counted, day_in_words, shortened, span_in_words, time_in_words

_HEALTH = {
    Health.OK: "well",
    Health.QUIET: "well, with nothing new",
    Health.PARTIAL: "a part is missing",
    Health.DOWN: "did not answer",
    Health.CHANGED: "answers in an unknown form",
    Health.NEVER: "not asked yet",
}
_SILENT = timedelta(minutes=10)  # the service shows every few seconds that it lives
_CHANGES = 20  # lines of a history
_LOOKED_AT = 500  # of the latest changes, for those that one may see, and those of one topic
_CUT = 200  # characters of what stood before and after


@handles(Status)
async def status(context: HandlerContext, command: Status, actor: Actor, now: datetime) -> Reply:
    """Tell this channel's last and next digests, the sources with their health, and what is paused and why.

    Of no channel, as where an application shows its own page, it tells of all together.
    """
    everywhere = await context.store.subscriptions(actor.workspace)
    here = [each for each in everywhere if each.channel == actor.channel]
    elsewhere = [each for each in everywhere if each.channel != actor.channel]
    topics = await topics_of(context, actor.workspace)
    posted = await posted_here(context, actor)
    held = sum(each.is_paused(now) for each in elsewhere)
    where = "in other channels" if actor.channel else "in all"
    others = f"{counted(len(elsewhere), 'subscription')} {where}" + (f", {held} of them paused" if held else "")
    beginning = (
        "Nothing is subscribed here yet. *subscribe TOPIC weekdays at 09:00* begins it, *topics* lists what there is."
    )
    return Reply(
        title="Status",
        text=(
            *(() if here or not actor.channel else (beginning,)),
            *((f"{others}.",) if elsewhere else ()),
            *filter(None, (await trouble_elsewhere(context, actor, now) if actor.channel else "",)),
            *await _silence(context, now),
        ),
        entries=(
            *[await _subscription(context, each, topics, posted, now) for each in here],
            *await troubles(posted, here, topics, now),
        ),
        fields=(
            *summary(posted, "here" if actor.channel else "of all channels", now),
            *[await _source(context, name, title, now) for name, title in context.source_titles.items()],
            await _counts(context),
            *await _vectors(context),
        ),
        buttons=(Button("All subscriptions", write(ListSubscriptions(everywhere=True))),) if elsewhere else (),
    )


async def _subscription(
    context: HandlerContext, each: Subscription, topics: Mapping[str, Topic], posted: Posted, now: datetime
) -> ReplyEntry:
    name = f"{title_of(topics, each.topic)} ({each.topic})"
    lines = [await last_digest(posted, each, now) or await _recorded(context, each, now)]
    if each.topic not in topics:
        lines.append("Its topic is not there any more: nothing is posted for it.")
        return ReplyEntry(title=name, lines=tuple(lines), buttons=(Button("Unsubscribe", write(Unsubscribe(each.topic))),))
    try:
        coming = await posted_next(context, each, now)
        lines.append(f"Next digest: {moment_in_words(coming.next, now)}.")
    except UsageError as error:
        lines.append(f"It cannot be posted: {error} {error.hint}".strip())
    buttons = [Button("Preview", write(Now(each.topic)))]
    if each.is_paused(now):
        lines[1:] = [f"{await pause_in_words(each, now)}."]
        buttons.append(Button("Resume", write(Resume(each.topic))))
    return ReplyEntry(title=name, lines=tuple(lines), buttons=tuple(buttons))


async def _recorded(context: HandlerContext, each: Subscription, now: datetime) -> str:
    """Tell of the last digest that was kept for the channel, where none of this subscription was due yet."""
    last = await context.store.last_digest(each.workspace, each.channel, each.topic)
    return f"Last digest: {day_in_words(last[0], now.date())}." if last else "No digest was posted yet."


async def _source(context: HandlerContext, name: str, title: str, now: datetime) -> Field:
    """Return a source's health in words, with its last answer: "well; 412 items, 2 hours ago"."""
    state = await context.store.source_state(name)
    said = [_HEALTH[state.health], *_answered(state, now), *((state.note.rstrip("."),) if state.note else ())]
    if state.rest_until is not None and state.rest_until > now:
        said.append(f"asked again in {span_in_words(state.rest_until - now)}")
    return Field(title, "; ".join(said))


def _answered(state: SourceState, now: datetime) -> tuple[str, ...]:
    if state.answered is None:
        return ()
    ago = "just now" if now - state.answered < timedelta(minutes=1) else f"{span_in_words(now - state.answered)} ago"
    return (f"{counted(state.items, 'item')}, {ago}" if state.items else f"last answered {ago}",)


async def _counts(context: HandlerContext) -> Field:
    numbers = await context.store.statistics()
    said = (("papers", "paper"), ("repos", "repository"), ("posts", "post"))
    return Field("Collected", ", ".join(counted(numbers[name], thing) for name, thing in said))


async def _vectors(context: HandlerContext) -> tuple[Field, ...]:
    """Say how far what was collected can be found by its meaning, while that is not all of it."""
    if context.embedder is None:
        return ()
    embedded = await context.store.embedded(context.embedder.space)
    return (Field("Meanings", in_words(embedded)),) if embedded.quick or embedded.lacking else ()


async def _silence(context: HandlerContext, now: datetime) -> tuple[str, ...]:
    """Say so when the service has shown no sign of life for a while: then nothing is collected or posted."""
    beat = await time_of_fact(context.store, HEARTBEAT)
    if beat is None:
        return ("The service has not run yet: nothing is collected or posted until it does.",)
    if (silent := now - beat) < _SILENT:
        return ()
    return (f"The service gave its last sign of life {span_in_words(silent)} ago: nothing is collected or posted.",)


# --- history


@handles(History)
async def history(context: HandlerContext, command: History, actor: Actor, now: datetime) -> Reply:
    """Tell who changed what in the workspace, or in one topic.

    What others said of items is not told, nor what is subscribed in private channels that the person is not in.
    """
    named = slug(command.topic)
    known = [each for each in await _changes(context, named, actor) if _may_see(each, actor)]
    seen = set(await context.visible_channels(actor, {channel for each in known for channel in _subscribing(each)}))
    told = [each for each in known if seen.issuperset(_subscribing(each))]
    where = f"of {shown(command.topic)}" if named else "in this workspace"
    if not told:
        return Reply(
            title=f"Nothing was changed {where} yet",
            next_steps=("*history* without a topic tells every change in this workspace.",) if named else (),
        )
    shown_here = told[:_CHANGES]
    reply = Reply(
        title=f"The latest changes {where}", entries=tuple([await _entry(each, actor, now) for each in shown_here])
    )
    channels = [channel for each in shown_here for channel in channels_of(each)]
    return mentioning(reply, channels=channels, people=[each.person for each in shown_here])


async def _changes(context: HandlerContext, named: str, actor: Actor) -> Sequence[Change]:
    """All changes, or those of a topic and its subscription here, and among the latest those in other channels."""
    latest = await context.store.changes(actor.workspace, limit=_LOOKED_AT)
    if not named:
        return latest
    found = {each: None for each in latest if named in each.what.split()}
    for about in (f"topic {named}", f"subscription {actor.channel} {named}"):
        found.update(dict.fromkeys(await context.store.changes(actor.workspace, about=about, limit=_CHANGES)))
    return sorted(found, key=lambda each: each.at, reverse=True)


def _may_see(change: Change, actor: Actor) -> bool:
    """What one person said of one item is that person's; that a topic's whole profile was reset is everybody's."""
    of_an_item = change.what.startswith("feedback ") and len(change.what.split()) > 2
    return not of_an_item or change.person == actor.person


def _subscribing(change: Change) -> Collection[str]:
    """Return the channel whose subscription was changed, nothing for any other change."""
    return tuple(channels_of(change)) if change.what.startswith("subscription ") else ()


async def _entry(change: Change, actor: Actor, now: datetime) -> ReplyEntry:
    at = await local(change.at, actor.zone or "UTC")
    who = "you" if change.person == actor.person else change.person
    return ReplyEntry(title=change.what, lines=(f"{time_in_words(at, now)}, by {who}", *_difference(change)))


def _difference(change: Change) -> Sequence[str]:
    # A topic that is gone is kept with how each channel subscribed to it, which is theirs.
    was = change.before.partition("\nIn ")[0] if change.what.startswith("topic ") else change.before
    before, after = shortened(was, _CUT), shortened(change.after, _CUT)
    if before and after:
        return (f"before: {before}", f"now: {after}")
    return (f"made: {after}",) if after else (f"gone: {before}",) if before else ()
