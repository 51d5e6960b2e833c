"""Views opened, changed, and used to show an answer where there is no message for it to follow."""

import asyncio
import logging
from collections.abc import Awaitable, Mapping

from adapters.slack.client.failures import reason
from adapters.slack.forms.fields import View, apart, modal, mrkdwn
from adapters.slack.forms.latest import Turn
from adapters.slack.listeners.answers import TROUBLES, Address
from adapters.slack.listeners.context import Reception, Scene
from bot.errors import BotError
from bot.handlers.wording.failures import in_words
from bot.models import Reply

log = logging.getLogger(__name__)

SHOWN = "shown"  # the kind of a view that only shows something
TITLE = "Broadsheet"
_PROMPT = 1.2  # seconds: a trigger opens a view for three, and Slack's own answer takes its share

LOADING = modal(SHOWN, TITLE, ({"type": "section", "block_id": "loading|", "text": mrkdwn("Looking…")},), {})


async def window(reception: Reception, scene: Scene, reply: Reply, memory: Mapping[str, str]) -> View:
    """Return a view that shows the reply; its buttons act in the channel that it remembers. A file is sent beside it."""
    address = Address(workspace=scene.workspace, channel=scene.channel, person=scene.person)
    postings = await reception.answers.postings(scene.workspace, reply)
    for file in (posting.file for posting in postings if posting.file):
        reception.work.begin(reception.answers.hand_over(address, file), "handing over a file")
    return modal(SHOWN, TITLE, apart([block for posting in postings for block in posting.blocks]), memory)


async def opened(reception: Reception, scene: Scene, making: Awaitable[View], *, upon: bool = False) -> None:
    """Open the view that is being made; where that takes long, something to look at first. Failures are logged.

    `upon` puts it upon the view that the person acted in, which comes back when it is closed.
    """
    task = asyncio.ensure_future(_made(making))
    await asyncio.wait({task}, timeout=_PROMPT)
    prompt = task.done()
    try:
        client = await reception.clients.client(scene.workspace)
        show = client.views_push if upon else client.views_open
        answer = await show(trigger_id=scene.trigger, view=task.result() if prompt else LOADING)
        if not prompt:
            await client.views_update(view_id=answer["view"]["id"], view=await task)
    except TROUBLES as error:
        log.warning("A view in %s could not be opened: %s", scene.workspace, reason(error))
    finally:
        task.cancel()


async def changed(
    reception: Reception, workspace: str, view: str, making: Awaitable[View], turn: Turn | None = None
) -> None:
    """Show what is being made instead of the view of this identifier, if its turn is the latest. Failures are logged."""
    made = await _made(making)
    if turn is not None and not turn.is_latest:
        return
    try:
        client = await reception.clients.client(workspace)
        await client.views_update(view_id=view, view=made)
    except TROUBLES as error:
        log.warning("A view in %s could not be changed: %s", workspace, reason(error))


async def _made(making: Awaitable[View]) -> View:
    """Return the view, or one that says why there is none."""
    try:
        return await making
    except BotError as error:
        text = f"{in_words(error)} {getattr(error, 'hint', '')}".strip()
        return modal(SHOWN, TITLE, ({"type": "section", "block_id": "trouble|", "text": mrkdwn(text)},), {})
