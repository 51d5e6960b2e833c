"""The next digest, before it is posted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.commands import Filter, FilterAction, ListTopics, Now, ShowTopic
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.subscriptions.times import in_zone, moment_in_words, next_due, pause_in_words
from bot.handlers.wording.failures import in_one_line
from bot.handlers.wording.replies import button, subscribe_button
from bot.models import Actor, Button, Digest, Layout, Reply, Subscription, Topic
from bot.wording import time_in_words

AT_ONCE = 3  # digests of one answer; more would fill a channel
ONCE = "What fits several topics is posted once, in the digest that comes first."


@handles(Now)
async def preview(context: HandlerContext, command: Now, actor: Actor, now: datetime) -> Reply:
    """Preview the next digest of a topic, or of every topic subscribed here; nothing is posted or recorded."""
    asked = await context.topics_here(actor, command.topic)
    return await _previews(context, asked, actor, now) if asked else await _nothing_here(context, actor)


async def _previews(
    context: HandlerContext, asked: Sequence[tuple[Topic, Subscription | None]], actor: Actor, now: datetime
) -> Reply:
    made = [await _made(context, topic, subscription, actor, now) for topic, subscription in asked[:AT_ONCE]]
    first, subscription = asked[0]
    return Reply(
        title="Preview" if len(made) > 1 else f"Preview: {first.title}",
        text=(*(said for _, said in made), *_shared([digest for digest, _ in made])),
        digests=tuple(replace(digest, is_preview=True) for digest, _ in made),
        layout=await _layout(context, [each for _, each in asked[:AT_ONCE]], actor),
        next_steps=() if any(digest.entries for digest, _ in made) else _for_more(first),
        buttons=(
            *(button(topic.title, Now(topic.name)) for topic, _ in asked[AT_ONCE:]),
            *(_buttons(first, subscription) if len(asked) == 1 else ()),
        ),
    )


async def _layout(context: HandlerContext, subscriptions: Sequence[Subscription | None], actor: Actor) -> Layout:
    """Return the layout of all of them, the usual one where they differ."""
    layouts = {await context.requests.layout(actor.workspace, each) for each in subscriptions}
    return layouts.pop() if len(layouts) == 1 else await context.requests.layout(actor.workspace)


def _shared(digests: Sequence[Digest]) -> tuple[str, ...]:
    counts = Counter(entry.ranked.item.key for digest in digests for entry in digest.entries)
    return (ONCE,) if any(count > 1 for count in counts.values()) else ()


async def _made(
    context: HandlerContext, topic: Topic, subscription: Subscription | None, actor: Actor, now: datetime
) -> tuple[Digest, str]:
    """Return the digest and what to say of it.

    Where nothing has come in for it yet, as after subscribing, the last days are shown instead: what a digest is like.
    """
    request = await context.request(actor, topic, subscription)
    digest = await context.previewer.preview(request, now)
    outlook = await _outlook(topic, subscription, actor, now)
    if digest.coverage.seen:
        return digest, outlook
    usual = await context.previewer.preview(replace(request, baseline=None, since_last=False), now)
    if not usual.coverage.seen:
        return digest, outlook
    since = await in_zone(digest.since, subscription.schedule.zone if subscription else actor.zone or "UTC")
    begins = time_in_words(since, now)
    return usual, f"{outlook} Nothing has come in since {begins}; this is from the last {context.window_hours} hours."


async def _outlook(topic: Topic, subscription: Subscription | None, actor: Actor, now: datetime) -> str:
    """Say when the digest is due, in the schedule's own zone."""
    if subscription is None:
        return f"{topic.title} is not subscribed {actor.here}; this is what its digest would say now."
    if subscription.is_paused(now):
        return f"{topic.title}: {await pause_in_words(subscription, now)}. This is what its digest would say now."
    try:
        coming = await next_due(subscription, now)
    except UsageError as error:
        return f"{topic.title}: {in_one_line(error)}"
    return f"{topic.title}: the next digest is due {moment_in_words(coming.next, now)}."


def _for_more(topic: Topic) -> tuple[str, ...]:
    return (f"*topic show {topic.name}* shows what it lets in and its bar.",)


def _buttons(topic: Topic, subscription: Subscription | None) -> tuple[Button, ...]:
    show = button("Show the topic", ShowTopic(topic.name))
    if subscription is None:
        return subscribe_button(topic.name), show
    return button("Try the filter", Filter(topic.name, FilterAction.TEST)), show


async def _nothing_here(context: HandlerContext, actor: Actor) -> Reply:
    names = list(await context.topics(actor.workspace))
    example = names[0] if names else "TOPIC"
    return Reply(
        title=f"Nothing is subscribed {actor.here} yet",
        next_steps=(
            f"*now {example}* previews a topic that is not subscribed.",
            f"*subscribe {example} weekdays at 09:00* posts its digest {actor.in_channel}.",
        ),
        buttons=(
            button("Topics", ListTopics()),
            *(button(f"Preview {name}", Now(name)) for name in names[:3]),
        ),
    )
