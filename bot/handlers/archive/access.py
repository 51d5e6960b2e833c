"""Who asks from outside the chats, and what they may read: a browser, a stranger, an assistant.

A stranger reads the channels that a workspace made public, while they are open to everybody in it.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from bot.errors import DeliveryError
from bot.handlers.archive.reading import viewer_of
from bot.handlers.context import HandlerContext
from bot.handlers.links import LinkSigner
from bot.models import Actor, AssistantAccess, Viewer


async def public_workspaces(context: HandlerContext, signer: LinkSigner) -> Sequence[str]:
    """Return what stands for each workspace that made a channel public in the addresses of its pages. Raises StoreError."""
    return [signer.slug(workspace) for workspace in await context.store.workspaces.public()]


async def public_viewer(context: HandlerContext, signer: LinkSigner, slug: str) -> Viewer | None:
    """Return a stranger who reads the public pages of the workspace that the slug stands for; None where it has none.

    A channel that was made public and is not open to everybody any more is not shown. Where nobody can tell now, nothing
    is, and the viewer is partial. Raises StoreError.
    """
    public = await context.store.workspaces.public()
    workspace = next((each for each in public if signer.slug(each) == slug), None)
    if workspace is None:
        return None
    try:
        found = await context.channel_access.open_to_all(workspace, public[workspace])
    except DeliveryError:
        return Viewer(workspace=workspace, is_partial=True)
    return Viewer(workspace=workspace, channels=tuple(sorted(found))) if found else None


def public_url(signer: LinkSigner, workspace: str) -> str:
    """Return the address of what the workspace made public."""
    return f"{signer.base}/w/{signer.slug(workspace)}/"


def browser_context(context: HandlerContext) -> HandlerContext:
    """Return the context that answers who asks from a browser: which channels they may know of the platforms are asked."""
    return replace(context, visible_channels=context.channel_access.visible)


def assistant_context(context: HandlerContext, access: AssistantAccess) -> HandlerContext:
    """Return the context that answers an assistant: it may know of its own channel, and no platform is asked of another.

    One that may not write keeps nothing: what nobody has collected is not fetched for it.
    """

    async def visible(_actor: Actor, channels: Collection[str]) -> Collection[str]:
        return access.visible(channels)

    return replace(context, visible_channels=visible, fetcher=context.fetcher if access.may_write else None)


async def assistant_viewer(context: HandlerContext, access: AssistantAccess) -> Viewer:
    """Return the assistant as a reader: of its own channel, and of no mails, not even of those to its person.

    Raises StoreError.
    """
    viewer = await viewer_of(assistant_context(context, access), access.actor)
    return replace(viewer, channels=tuple(sorted(access.visible(viewer.channels))))
