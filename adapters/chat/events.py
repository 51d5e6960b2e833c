"""What a posted link comes to, and an invitation, in whatever chat."""

from datetime import timedelta

from adapters.chat.context import ListenerContext
from adapters.chat.forms import FormKind, FormRequest
from bot.handlers.items import linked_item
from bot.handlers.show import neutral_card
from bot.models import Entry

GREETING_FORM = FormRequest(FormKind.SUBSCRIPTION, label="Subscribe")  # that a greeting's button opens
_PREVIEWED_ONCE = timedelta(minutes=30)  # a link is previewed once within it in a channel


async def card_to_preview(context: ListenerContext, platform: str, place: str, url: str) -> Entry | None:
    """Return the card of what is known behind a link; None where nothing is, or it was previewed in that place a while ago.

    Raises StoreError.
    """
    handlers, now = context.platform.handler_context, context.now
    item = await linked_item(handlers, url)
    if item is None or not await context.platform.chats.first_time(
        platform, f"preview {place} {item.key}", now, _PREVIEWED_ONCE
    ):
        return None
    return await neutral_card(handlers, item, now)
