"""The Home tab: what is subscribed where one is, what comes next, the topics, what one saved, and how the service is."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.forms import FormKind, FormRequest
from adapters.chat.patience import ANY_NUMBER
from adapters.slack.forms.fields import BLOCKS, Block, View, button_row, form_button, mrkdwn, plain_text, with_unique_ids
from adapters.slack.listeners.answers import SPAN, Unacceptable, called
from adapters.slack.listeners.context import Body, SlackContext, channels_of
from adapters.slack.workspaces import home_memory, team_of
from bot.errors import DeliveryError
from bot.handlers.handle import failed
from bot.handlers.surfaces.home import Home, HomeSubscription, home
from bot.models import Reply, ReplyEntry
from bot.wording import counted

log = logging.getLogger(__name__)

HOME = "home"
_SUBSCRIPTIONS, _TOPICS = 10, 8  # shown; with three blocks each, what Slack takes is not reached
_NOT_TAKEN = "Slack does not show the tab as it is now. The commands work as ever: *help* says which there are."
_EMPTY = "Nothing is subscribed in the channels that you are in. *Subscribe a channel* begins it."


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
        await called(client.views_publish(user_id=person, view=_sentence_view(_NOT_TAKEN)))


async def _made(context: SlackContext, workspace: str, person: str) -> View:
    """Return the tab, or one that says why there is none. Raises DeliveryError where Slack does not say who is where."""
    actor = await context.actors.actor(workspace, "", person)
    channels = await called(channels_of(context.clients, workspace, person))
    try:
        return await _view(context, workspace, await home(context.platform.handler_context, actor, channels, context.now))
    except Exception as error:  # noqa: BLE001 - it is told, and logged
        return _sentence_view(" ".join(failed(error, "").text))


# --- the view


async def _view(context: SlackContext, workspace: str, found: Home) -> View:
    blocks: list[Block] = [_buttons(may_manage=found.may_manage)]
    for section in _sections(found):
        messages = await context.answers.messages(workspace, section.reply)
        shown = [block for message in messages for block in message.blocks]
        blocks += [{"type": "divider"}, *_rows(shown, section, edits=found.may_manage)]
    return {"type": HOME, "blocks": with_unique_ids(blocks)[:BLOCKS]}


def _sentence_view(text: str) -> View:
    section = {"type": "section", "block_id": "said|", "text": mrkdwn(text)}
    return {"type": HOME, "blocks": [_buttons(may_manage=False), section]}


def _buttons(*, may_manage: bool) -> Block:
    """What one may do here, whatever there is."""
    subscribe = form_button(FormRequest(FormKind.SUBSCRIPTION), "Subscribe a channel") | {"style": "primary"}
    search, make = (
        form_button(FormRequest(FormKind.SEARCH), "Search papers"),
        form_button(FormRequest(FormKind.TOPIC), "New topic"),
    )
    help_ = {"type": "button", "action_id": "command:0", "text": plain_text("Help", 75), "value": "help"}
    return button_row("doors", *([subscribe, make] if may_manage else []), search, help_)


@dataclass(frozen=True, slots=True)
class _Section:
    """One section of the tab, and the forms that its entries open."""

    reply: Reply
    forms: tuple[tuple[str, FormRequest], ...] = ()  # of each entry with buttons: the channel that they act in, and its form


def _sections(found: Home) -> Iterator[_Section]:
    if found.is_external:
        yield _Section(found.saved)
        return
    subscribed = [each for each in found.subscriptions if each.entry.buttons][:_SUBSCRIPTIONS]
    entries = tuple(_somewhere(each) for each in subscribed)
    channels = tuple(dict.fromkeys([*found.channels, *(each.channel for each in subscribed)]))
    forms = tuple((each.channel, FormRequest(FormKind.SUBSCRIPTION, each.topic, rhythm=each.rhythm)) for each in subscribed)
    steps = _further(len(found.subscriptions) - len(subscribed), "subscription", "list all")
    title, coming = "Subscriptions in your channels", Reply(title="Next digests", text=found.coming, channels=found.channels)
    if found.coming:
        yield _Section(coming)
    text = () if entries else (_EMPTY,)
    yield _Section(Reply(title=title, text=text, entries=entries, next_steps=steps, channels=channels), forms)
    yield _topics(found)
    yield _Section(found.saved)
    if found.status is not None:
        yield _Section(found.status)


def _somewhere(each: HomeSubscription) -> ReplyEntry:
    return replace(each.entry, title=f"{each.entry.title} in {each.channel}")


def _topics(found: Home) -> _Section:
    shown = [each for each in found.topics if each.entry.buttons][:_TOPICS]
    forms = tuple(("", FormRequest(FormKind.TOPIC, each.name)) for each in shown)
    steps = _further(len(found.topics) - len(shown), "topic", "topics")
    return _Section(Reply(title="Topics", entries=tuple(each.entry for each in shown), next_steps=steps), forms)


def _further(count: int, thing: str, command: str) -> tuple[str, ...]:
    return (f"And {counted(count, f'further {thing}')}: *{command}* lists every one.",) if count else ()


def _rows(blocks: Sequence[Block], section: _Section, *, edits: bool) -> Iterator[Block]:
    """Give each entry's row of buttons its channel, and for who may change it the button that opens its form."""
    forms = iter(section.forms)
    for block in blocks:
        if block["type"] != "actions" or not block["block_id"].startswith("entry") or (its := next(forms, None)) is None:
            yield block
            continue
        channel, form = its
        named = f"in:{channel}:{block['block_id']}" if channel else block["block_id"]
        more = [form_button(form, "Edit…")] if edits else []
        yield {**block, "block_id": named, "elements": [*block["elements"], *more]}
