"""The Home tab, as a person opens it, and what becomes of it when they act there."""

import logging

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.patience import ANY_NUMBER
from adapters.slack.client.channels import channels_of
from adapters.slack.forms.fields import BLOCKS, View, with_unique_ids
from adapters.slack.listeners.answers import SPAN, Unacceptable, called
from adapters.slack.listeners.context import Body, SlackContext
from adapters.slack.render.home import HOME, HomePage, home_page, sentence_page
from adapters.slack.workspaces import home_memory, team_of
from bot.errors import DeliveryError
from bot.handlers.handle import failed
from bot.handlers.surfaces.home import home

log = logging.getLogger(__name__)

_NOT_TAKEN = "Slack does not show the tab as it is now. The commands work as ever: *help* says which there are."


def listen(app: AsyncApp, context: SlackContext) -> None:
    """Hear that somebody opens the tab."""
    app.event("app_home_opened")(context.following(_opened, "showing the Home tab"))


async def _opened(context: SlackContext, workspace: str, event: Body) -> None:
    if event.get("tab", HOME) == HOME:
        await publish(context, workspace, event["user"])


async def publish(context: SlackContext, workspace: str, person: str) -> None:
    """Show the person their Home tab as it is now, tried until Slack takes it or it is shown anew. Failures are logged."""
    key, mine, patience = (workspace, person), object(), context.answers.patience
    context.publishing[key] = mine

    async def publish_once() -> None:
        if context.publishing.get(key) is mine:
            client = await context.answers.client(workspace)
            made = await _made(context, workspace, person)
            await _put(client, person, made | {"private_metadata": home_memory(team_of(workspace))})

    try:
        await patience.keep_trying(publish_once, patience.after(SPAN), repeats=ANY_NUMBER)
    except DeliveryError as error:
        log.error("A Home tab in %s could not be shown: %s", workspace, error)  # noqa: TRY400 - foreseen
    finally:
        if context.publishing.get(key) is mine:
            del context.publishing[key]


async def _put(client: AsyncWebClient, person: str, view: View) -> None:
    """Publish the view, and one that says why not where Slack does not take it. Raises DeliveryError."""
    try:
        await called(client.views_publish(user_id=person, view=view))
    except Unacceptable as error:
        log.warning("Slack does not take a Home tab as it is laid out: %s", error)
        await called(client.views_publish(user_id=person, view=_view(sentence_page(_NOT_TAKEN))))


async def _made(context: SlackContext, workspace: str, person: str) -> View:
    """Return the tab, or one that says why there is none. Raises DeliveryError where Slack does not say who is where."""
    actor = await context.actors.actor(workspace, "", person)
    channels = list(await called(channels_of(context.clients, workspace, person)))
    try:
        found = await home(context.platform.handler_context, actor, channels, context.now)
        page = home_page(found, f"{context.now.timestamp():.0f}")
        await context.answers.keep(workspace, page.keep)
    except Exception as error:  # noqa: BLE001 - it is told, and logged
        page = sentence_page(" ".join(failed(error, "").text))
    return _view(page)


def _view(page: HomePage) -> View:
    return {"type": HOME, "blocks": with_unique_ids(page.blocks)[:BLOCKS]}
