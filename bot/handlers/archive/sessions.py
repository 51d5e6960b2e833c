"""From the chat to the pages: a link that opens them once, the session that a browser gets for it, and who acts there."""

import hashlib
import secrets
from datetime import datetime

from bot.errors import DeliveryError
from bot.handlers.context import HandlerContext
from bot.handlers.links import OPENING_HOLDS, LinkSigner, SignedSession
from bot.models import Actor, text_key

_NONCE = 16  # characters of a session's
_OPENED = "web"  # the platform of what is noted of links that were used


async def signer_of(context: HandlerContext) -> LinkSigner:
    """Return what signs links to our pages. Raises StoreError."""
    return LinkSigner(await context.store.recipients.key(), context.web_url)


async def opening_link(context: HandlerContext, actor: Actor, now: datetime) -> str:
    """Return a link that opens the pages as the actor, once; "" where there are none. Raises StoreError."""
    signer = await signer_of(context)
    return signer.opening_url(actor.workspace, actor.channel, actor.person, secrets.token_urlsafe(9), now)


async def open_session(context: HandlerContext, signer: LinkSigner, token: str, now: datetime) -> str:
    """Return what the browser is to keep that used the token of a link; "" for one that opens nothing, or not any more.

    It opens once, whoever was first. Raises StoreError.
    """
    who = signer.read_opening(token, now)
    used = hashlib.sha256(token.encode()).hexdigest() if who else ""
    if who is None or not await context.store.chats.first_time(_OPENED, used, now, 2 * OPENING_HOLDS):
        return ""
    return signer.session(who, used[:_NONCE], now)


async def end_session(context: HandlerContext, workspace: str, value: str, now: datetime) -> None:
    """End the session that a browser keeps so, for whoever has a copy of it too. Raises StoreError."""
    await context.store.chats.keep_texts(workspace, [_ended(value)], now)


async def was_ended(context: HandlerContext, workspace: str, value: str) -> bool:
    """Say whether the session of the workspace was ended before its time. Raises StoreError."""
    return await context.store.chats.kept_text(workspace, text_key(_ended(value))) is not None


async def has_left(context: HandlerContext, actor: Actor) -> bool:
    """Say whether somebody with a session is not in their workspace any more; not while nobody can tell."""
    try:
        return not await context.channel_access.is_member(actor)
    except DeliveryError:
        return False


def _ended(value: str) -> str:
    return f"{_OPENED} session {hashlib.sha256(value.encode()).hexdigest()} was left"


def reader(who: SignedSession) -> Actor:
    """Return who acts on the pages in a session: they read, save, and say more or less; they set nothing up there."""
    platform = who.workspace.partition(":")[0] if ":" in who.workspace else "terminal"
    return Actor(
        platform=platform,
        workspace=who.workspace,
        channel=who.channel,
        person=who.person,
        may_write=False,
        is_direct=True,
    )
