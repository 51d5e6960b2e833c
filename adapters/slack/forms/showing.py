"""Views on somebody's screen: opened, put upon another, changed; and what is told in a message where Slack shows none.

A trigger opens one view at most, so that opening is safe to repeat; which view it was is known by a name of ours.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapters.chat.answers import not_opened, stopped
from adapters.chat.patience import ANY_NUMBER
from adapters.slack.forms.fields import (
    FORM_IDS,
    Block,
    View,
    form_of,
    form_row,
    memory_of,
    modal,
    mrkdwn,
    with_unique_ids,
)
from adapters.slack.listeners.answers import SPAN, AnswerTarget, Unacceptable, called
from adapters.slack.listeners.context import SlackContext, SlackInteraction
from bot.errors import DeliveryError, Uncertain
from bot.handlers.handle import failed
from bot.models import Reply

log = logging.getLogger(__name__)

TITLE = "Broadsheet"
_SHOWN = "shown"  # the kind of a view that only shows something
_PROMPT = 1.2  # seconds: a trigger opens a view for three, and Slack's own answer takes its share
_OPENING = 2.5  # seconds for which opening is tried
_TRY = 1.0  # seconds for one try at it
_MOST = 1000  # views remembered


def message_view(text: str) -> View:
    """Return a view that shows one sentence of ours."""
    return modal(_SHOWN, TITLE, ({"type": "section", "block_id": "said|", "text": mrkdwn(text)},), {})


LOADING = message_view("Looking…")
_ELSEWHERE = message_view("Slack does not show it here. It comes as a message.")


class ViewVersions:
    """Which change of each view is the latest: what an earlier one comes to is not shown any more."""

    def __init__(self) -> None:
        self._versions: dict[str, int] = {}

    def begin(self, view: str) -> "ViewVersion":
        """Begin the view's next version; those before it are the latest no longer."""
        number = self._versions.pop(view, 0) + 1
        self._versions[view] = number
        if len(self._versions) > _MOST:
            del self._versions[next(iter(self._versions))]
        return ViewVersion(self, view, number)

    def is_at(self, view: str, number: int) -> bool:
        """Say whether the view's latest version is the one of this number."""
        return self._versions.get(view) == number


@dataclass(frozen=True, slots=True)
class ViewVersion:
    """One version of a view."""

    _latest: ViewVersions
    _view: str
    _number: int

    @property
    def is_latest(self) -> bool:
        """Whether no other has begun since."""
        return self._latest.is_at(self._view, self._number)


@dataclass(frozen=True, slots=True)
class Showing:
    """What a view shows, and what is told in a message where it cannot be shown."""

    view: View
    reply: Reply | None = None  # what the view shows; None of a form

    @property
    def beside(self) -> Sequence[Block]:
        """What stands at the end of the message: a form's own button."""
        kind = str(self.view.get("callback_id"))
        return form_row(form_of(kind, memory_of(self.view).get("topic", ""))) if kind in FORM_IDS.values() else ()


async def shown_reply(
    context: SlackContext, interaction: SlackInteraction, reply: Reply, memory: Mapping[str, str]
) -> Showing:
    """Return a view that shows the reply; its buttons act in the channel that it remembers."""
    messages = await context.answers.whole(interaction.target, reply)
    blocks = with_unique_ids([block for message in messages for block in message.blocks])
    return Showing(modal(_SHOWN, TITLE, blocks, memory), reply)


def view_target(interaction: SlackInteraction, memory: Mapping[str, str]) -> AnswerTarget:
    """Return where it is told what a view cannot show: where it was asked for, and what was asked for at home in private."""
    at_home = "home" in memory
    return AnswerTarget(
        workspace=interaction.workspace,
        channel=interaction.channel or ("" if at_home else memory.get("channel", "")),
        person=interaction.person,
        url=interaction.url or ("" if at_home else memory.get("url", "")),
        may_replace=False,
    )


async def _made(making: Awaitable[Showing | View]) -> Showing:
    """Return what is made, or a view that says why there is none."""
    try:
        made = await making
    except Exception as error:  # noqa: BLE001 - it is told, and logged
        reply = failed(error, "")
        return Showing(message_view(" ".join(reply.text)), reply)
    return made if isinstance(made, Showing) else Showing(made)


async def _awaited(context: SlackContext, making: "asyncio.Task[Showing]") -> Showing:
    """Return what is made, or a view that says that the service ended before it was."""
    if await context.tasks.has_ended(making):
        return making.result()
    reply = stopped()
    return Showing(message_view(" ".join(reply.text)), reply)


async def open_view(
    context: SlackContext,
    interaction: SlackInteraction,
    making: Awaitable[Showing | View],
    target: AnswerTarget,
    *,
    upon: bool = False,
) -> None:
    """Open the view that is being made; where that takes long, something to look at first.

    `upon` puts it upon the view that the person acted in, which comes back when it is closed. Where Slack opens none, what
    it was to show is told at the target.
    """
    task = asyncio.ensure_future(_made(making))
    try:
        await asyncio.wait({task}, timeout=_PROMPT)
        first = task.result().view if task.done() else LOADING
        name = {"external_id": secrets.token_urlsafe(16)}
        try:
            await _opened(context, interaction, {**first, **name}, upon=upon)
        except DeliveryError as error:
            log.warning("A view in %s could not be opened: %s", interaction.workspace, error)
            await _tell(context, target, await _awaited(context, task))
        else:
            if first is LOADING:
                await _show(context, name, await _awaited(context, task), target, instead_of_loading=True)
    finally:
        task.cancel()


async def _opened(context: SlackContext, interaction: SlackInteraction, view: View, *, upon: bool) -> None:
    """Open it within the trigger's three seconds. Raises DeliveryError where Slack did not."""
    client, patience = await context.answers.client(interaction.workspace), context.answers.patience
    unsure = False

    async def open_once() -> None:
        nonlocal unsure
        try:
            async with asyncio.timeout(_TRY):
                await called((client.views_push if upon else client.views_open)(trigger_id=interaction.trigger, view=view))
        except TimeoutError as error:
            unsure = True
            raise Uncertain("Slack did not answer in time.") from error
        except Uncertain:
            unsure = True
            raise

    try:
        await patience.keep_trying(open_once, patience.after(_OPENING), repeats=ANY_NUMBER)
    except DeliveryError:
        if not unsure:
            raise
        await _updated(context, interaction.workspace, {"external_id": view["external_id"]}, view)  # was it opened?


async def update_view(
    context: SlackContext,
    view: str,
    making: Awaitable[Showing | View],
    target: AnswerTarget,
    version: ViewVersion | None = None,
) -> None:
    """Show what is being made instead of the view, if that version of it is the latest."""
    task = asyncio.ensure_future(_made(making))
    try:
        made = await _awaited(context, task)
    finally:
        task.cancel()
    if version is None or version.is_latest:
        await _show(context, {"view_id": view}, made, target, version)


async def _show(
    context: SlackContext,
    which: Mapping[str, str],
    made: Showing,
    target: AnswerTarget,
    version: ViewVersion | None = None,
    *,
    instead_of_loading: bool = False,
) -> None:
    """Show it in that view, as often as it takes; where Slack does not, it is told at the target.

    A form that does not change stays as it was filled, and nothing is told of that; one that never came is told of.
    """
    try:
        await _updated(context, target.workspace, which, made.view, version)
    except DeliveryError as error:
        log.warning("A view in %s could not be changed: %s", target.workspace, error)
        if isinstance(error, Unacceptable):
            await _say_elsewhere(context, which, target)
        if made.reply is not None or instead_of_loading or isinstance(error, Unacceptable):
            await _tell(context, target, made)


async def _say_elsewhere(context: SlackContext, which: Mapping[str, str], target: AnswerTarget) -> None:
    try:
        await _updated(context, target.workspace, which, _ELSEWHERE)
    except DeliveryError as error:
        log.warning("A view in %s shows what it showed: %s", target.workspace, error)


async def _updated(
    context: SlackContext, workspace: str, which: Mapping[str, str], view: View, version: ViewVersion | None = None
) -> None:
    """Change a view, which may be repeated. Raises DeliveryError: the view is closed, or Slack did not for half an hour."""
    patience = context.answers.patience
    client = await context.answers.client(workspace)

    async def update_once() -> None:
        if version is None or version.is_latest:
            arguments: dict[str, Any] = {**which, "view": {**view, **({"external_id": name} if name else {})}}
            await called(client.views_update(**arguments))

    name = which.get("external_id", "")
    await patience.keep_trying(update_once, patience.after(SPAN), repeats=ANY_NUMBER)


async def _tell(context: SlackContext, target: AnswerTarget, made: Showing) -> None:
    """Tell in a message what a view was to show; of a form that there is none, with the button that opens it."""
    reply = made.reply or not_opened("Slack")
    await context.answers.send_reply(target, replace(reply, private=True), made.beside)
