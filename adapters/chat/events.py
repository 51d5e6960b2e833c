"""What a posted link comes to, in whatever chat."""

from datetime import timedelta

from adapters.chat.context import ListenerContext
from bot.handlers.items import linked_item
from bot.models import Item, Summary

_PREVIEWED_ONCE = timedelta(minutes=30)  # a link is previewed once within it in a channel


async def item_to_preview(context: ListenerContext, platform: str, place: str, url: str) -> tuple[Item, Summary] | None:
    """Return what is known behind a link; None where nothing is, or where it was previewed in that place a while ago.

    Raises StoreError.
    """
    found = await linked_item(context.platform.handler_context, url, context.now)
    if found is None:
        return None
    name = f"preview {place} {found[0].key}"
    return found if await context.platform.chats.first_time(platform, name, context.now, _PREVIEWED_ONCE) else None
