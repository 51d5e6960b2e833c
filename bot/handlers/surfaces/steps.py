"""What a workflow is given that asks for papers: nobody in particular asks, and nothing is posted, subscribed or recorded.

It is told what anybody in the workspace may know: the collection, and the workspace's topics. What channels subscribe to,
and what was posted to them, plays no part.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.commands import Search, Show
from bot.errors import UsageError
from bot.handlers.context import HANDLERS, HandlerContext
from bot.handlers.search.search import first_found, is_for_one_item
from bot.models import Actor, Reply

MOST = 10  # entries: as many as a message is still read to the end
USUAL = 5
LONGEST = 14  # days that a digest looks back
USUAL_DAYS = 2


async def found_for_workflow(context: HandlerContext, query: str, most: int, actor: Actor, now: datetime) -> Reply:
    """Return the first of what is found, or the card of what a link or an identifier names.

    `most` is from 1 to MOST. Raises UsageError for a query that cannot be read, and BotError.
    """
    if not query.strip():
        raise UsageError("Nothing is searched for.", hint='Give the step a query, such as "kv cache" published:7d.')
    _demand(most, MOST, "entries")
    command = Search(query.strip())
    context = replace(context, fetcher=None)  # a workflow that runs by itself adds nothing to what is collected
    if await is_for_one_item(context, command):
        return await HANDLERS[Show](context, Show(command.query), actor, now)
    return await first_found(context, command, actor, now, most)


async def digest_for_workflow(
    context: HandlerContext, topic: str, most: int, days: int, actor: Actor, now: datetime
) -> Reply:
    """Return the best of the last `days` on a topic, as a digest of it that no channel had anything of.

    `most` is from 1 to MOST, `days` from 1 to LONGEST. Raises UsageError for a topic that is not there, and BotError.
    """
    if not topic.strip():
        raise UsageError("No topic is named.", hint="*topics* lists those there are.")
    _demand(most, MOST, "entries")
    _demand(days, LONGEST, "days")
    known = await context.topic_named(actor.workspace, topic)
    usual = await context.requests.request(known, actor.workspace, channel="")
    only_repositories = known.followed and known.repositories
    limits = replace(
        usual.limits, entries=most, repositories=most if only_repositories else min(most, usual.limits.repositories)
    )
    asked = replace(usual, limits=limits, window=timedelta(days=days), since_last=False)
    made = replace(await context.previewer.preview(asked, now), is_preview=True)
    return Reply(title=known.title, digests=(made,))


def _demand(number: int, most: int, what: str) -> None:
    if not 1 <= number <= most:
        raise UsageError(f"The step takes 1 to {most} {what}, and was given {number:,}.")
