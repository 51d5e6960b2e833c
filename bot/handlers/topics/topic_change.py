"""Changing a topic, though others change it too, and trying what it lets in."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.errors import Conflict
from bot.handlers.context import HandlerContext, change_by, retry_on_conflict
from bot.handlers.wording.topics import definition
from bot.models import Actor, DigestRequest, FilterTest, Query, ReplyEntry, Schedule, Subscription, Topic
from bot.wording import counted

WEEK = timedelta(days=7)  # what a change is tried on
NOTHING_SEEN = f"Nothing was collected in the last {WEEK.days} days, so it cannot be tried yet."


@dataclass(frozen=True, slots=True)
class ChangedTopic:
    """A topic before and after a change; the same twice when there was nothing to change."""

    before: Topic
    after: Topic

    @property
    def copied(self) -> bool:
        """Whether a pack became the workspace's own by it."""
        return not self.before.revision and self.after is not self.before


AlterTopic = Callable[[Topic], Topic]  # raises UsageError where it cannot be


DescribeChange = Callable[[Topic, Topic], tuple[str, str]]  # a topic before and after, in words


async def change_topic(
    context: HandlerContext, actor: Actor, name: str, alter: AlterTopic, told: DescribeChange, now: datetime
) -> ChangedTopic:
    """Change the topic of that name; what others change of it at the same time stays changed.

    `alter` may be called again, with the topic as it has become in between.
    """

    async def attempt() -> ChangedTopic:
        before = await context.topic_named(actor.workspace, name)
        after = alter(before)
        if after == before:
            return ChangedTopic(before, before)
        was, is_now = told(before, after)
        change = change_by(actor, f"topic {name}", was, is_now, now)
        return ChangedTopic(
            before, await context.store.workspaces.save_topic(actor.workspace, after, change, replaces=before.revision)
        )

    return await retry_on_conflict(attempt)


async def entering_in_words(
    context: HandlerContext, actor: Actor, topic: Topic, now: datetime
) -> tuple[str, tuple[ReplyEntry, ...]]:
    """Return how many of the last week's items enter the topic, in words, and the best of them."""
    request = await context.request(actor, replace(topic, filter=Query("")))
    result = await try_filters(context, request, now)
    if not result.seen:
        return NOTHING_SEEN, ()
    of = f"{counted(result.seen, 'item')} of the last {WEEK.days} days"
    if not result.entered:
        return f"None of the {of} enters it: a wider query would let some in.", ()
    best = tuple(ReplyEntry(item=each.ranked.item, lines=each.ranked.reasons) for each in result.through)
    return f"{result.entered:,} of the {of} {'enters' if result.entered == 1 else 'enter'} it; the best:", best


async def try_filters(context: HandlerContext, request: DigestRequest, now: datetime) -> FilterTest:
    """Return what the request's filters make of the last week."""
    return await context.previewer.try_filter(replace(request, baseline=None), now - WEEK, now)


async def forget_unused(
    context: HandlerContext, topic: Topic | None, ended: Subscription, actor: Actor, now: datetime
) -> bool:
    """Forget a followed topic that is as it was made, once no channel subscribes to it; tell whether it is gone.

    What somebody changed or taught stays, and so does what somebody subscribes to meanwhile.
    """
    if topic is None or not topic.followed or topic.revision > 1 or not _is_plain(ended):
        return False
    if await context.store.people.feedback(actor.workspace, topic.name):
        return False
    change = change_by(actor, f"topic {topic.name}", definition(topic), "", now)
    try:
        await context.store.workspaces.delete_topic(
            actor.workspace, topic.name, change, replaces=topic.revision, only_unused=True
        )
    except Conflict:
        return False
    return True


def _is_plain(subscription: Subscription) -> bool:
    """Say whether nothing was said of the subscription but how often it is due."""
    schedule = subscription.schedule
    usual = replace(schedule, at=Schedule().at)
    said = (subscription.entries, subscription.min_score, subscription.layout, subscription.tag, subscription.filter.text)
    return schedule == usual and not subscription.always and not any(each not in (None, "") for each in said)
