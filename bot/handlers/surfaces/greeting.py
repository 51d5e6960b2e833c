"""What is said where Broadsheet is invited: once in a channel, and never again."""

from datetime import datetime, timedelta

from bot.handlers.context import HandlerContext
from bot.models import Reply

_FOR_EVER = timedelta(days=36_500)


async def greeting(
    context: HandlerContext, workspace: str, channel: str, now: datetime, *, whole_workspace: bool = False
) -> Reply | None:
    """Return what is said in the channel that we were invited to; None where we were greeted there, or are in use.

    It counts as said from then on: whoever says it may fail, and says it once at most. With `whole_workspace` the invitation
    was to all of it, and we are in use where any of its channels has a subscription. Raises StoreError.
    """
    platform = workspace.partition(":")[0]
    if not await context.store.chats.first_time(platform, f"greeted {channel}", now, _FOR_EVER):
        return None
    if await context.store.workspaces.subscriptions(workspace, channel="" if whole_workspace else channel):
        return None
    return Reply(
        title="Hello from Broadsheet",
        text=("I post new research papers and repositories here, on the topics and at the times that you choose.",),
        next_steps=("*search QUERY* finds what is collected already; *help* says what else there is.",),
        private=False,
    )
