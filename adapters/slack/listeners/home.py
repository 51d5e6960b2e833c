"""The Home tab: what is subscribed where one is, what comes next, the topics, what one saved, and how the service is."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltContext

from adapters.slack.client.failures import reason
from adapters.slack.forms import search_view, subscribe_view, topic_view
from adapters.slack.forms.fields import BLOCKS, Block, View, apart, words
from adapters.slack.forms.openers import Form, opener, row
from adapters.slack.listeners.answers import TROUBLES
from adapters.slack.listeners.context import Reception
from adapters.slack.listeners.visible_channels import channels_of
from adapters.slack.workspaces import workspace_of
from bot.errors import BotError
from bot.handlers.surfaces.home import Home, HomeSubscription, home
from bot.models import Reply, ReplyEntry
from bot.wording import counted

log = logging.getLogger(__name__)

HOME = "home"
_SUBSCRIPTIONS, _TOPICS = 10, 8  # shown; with three blocks each, what Slack takes is not reached
_EMPTY = "Nothing is subscribed in the channels that you are in. *Subscribe a channel* begins it."


def listen(app: AsyncApp, reception: Reception) -> None:
    """Hear that somebody opens the tab."""

    async def opened(body: dict[str, Any], context: AsyncBoltContext) -> None:
        event = body["event"]
        if event.get("tab", HOME) == HOME:
            workspace = workspace_of(context.team_id or body["team_id"])
            reception.work.begin(publish(reception, workspace, event["user"]), "showing the Home tab")

    app.event("app_home_opened")(opened)


async def publish(reception: Reception, workspace: str, person: str) -> None:
    """Show the person their Home tab as it is now. Failures are logged."""
    try:
        actor = await reception.actors.actor(workspace, "", person)
        channels = await channels_of(reception.clients, workspace, person)
        found = await home(reception.line.handler_context, actor, channels, reception.now)
        view = await _view(reception, workspace, found)
        client = await reception.clients.client(workspace)
        await client.views_publish(user_id=person, view=view)
    except TROUBLES as error:
        said = str(error) if isinstance(error, BotError) else reason(error)
        log.warning("A Home tab in %s could not be shown: %s", workspace, said)


# --- the view


async def _view(reception: Reception, workspace: str, found: Home) -> View:
    blocks: list[Block] = [_doors(may_manage=found.may_manage)]
    for part in _parts(found):
        postings = await reception.answers.postings(workspace, part.reply)
        shown = [block for posting in postings for block in posting.blocks]
        blocks += [{"type": "divider"}, *_rows(shown, part, edits=found.may_manage)]
    return {"type": HOME, "blocks": apart(blocks)[:BLOCKS]}


def _doors(*, may_manage: bool) -> Block:
    """What one may do here, whatever there is."""
    subscribe = opener(Form(subscribe_view.KIND), "Subscribe a channel") | {"style": "primary"}
    search, make = opener(Form(search_view.KIND), "Search papers"), opener(Form(topic_view.KIND), "New topic")
    help_ = {"type": "button", "action_id": "command:0", "text": words("Help", 75), "value": "help"}
    return row("doors", *([subscribe, make] if may_manage else []), search, help_)


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of the tab, and beside what each of its entries opens."""

    reply: Reply
    beside: tuple[tuple[str, Form], ...] = ()  # of each entry with buttons: the channel that they act in, and its form


def _parts(found: Home) -> Iterator[_Part]:
    subscribed = [each for each in found.subscriptions if each.entry.buttons][:_SUBSCRIPTIONS]
    entries = tuple(_somewhere(each) for each in subscribed)
    channels = tuple(dict.fromkeys([*found.channels, *(each.channel for each in subscribed)]))
    forms = tuple((each.channel, Form(subscribe_view.KIND, each.topic)) for each in subscribed)
    steps = _further(len(found.subscriptions) - len(subscribed), "subscription", "list all")
    title, coming = "Subscriptions in your channels", Reply(title="Next digests", text=found.coming, channels=found.channels)
    if found.coming:
        yield _Part(coming)
    text = () if entries else (_EMPTY,)
    yield _Part(Reply(title=title, text=text, entries=entries, next_steps=steps, channels=channels), forms)
    yield _topics(found)
    yield _Part(found.saved)
    if found.status is not None:
        yield _Part(found.status)


def _somewhere(each: HomeSubscription) -> ReplyEntry:
    return replace(each.entry, title=f"{each.entry.title} in {each.channel}")


def _topics(found: Home) -> _Part:
    shown = [each for each in found.topics if each.entry.buttons][:_TOPICS]
    forms = tuple(("", Form(topic_view.KIND, each.name)) for each in shown)
    steps = _further(len(found.topics) - len(shown), "topic", "topics")
    return _Part(Reply(title="Topics", entries=tuple(each.entry for each in shown), next_steps=steps), forms)


def _further(count: int, thing: str, command: str) -> tuple[str, ...]:
    return (f"And {counted(count, f'further {thing}')}: *{command}* lists every one.",) if count else ()


def _rows(blocks: Sequence[Block], part: _Part, *, edits: bool) -> Iterator[Block]:
    """Give each entry's row of buttons its channel, and for who may change it the button that opens its form."""
    beside = iter(part.beside)
    for block in blocks:
        if block["type"] != "actions" or not block["block_id"].startswith("entry") or (its := next(beside, None)) is None:
            yield block
            continue
        channel, form = its
        named = f"in:{channel}:{block['block_id']}" if channel else block["block_id"]
        more = [opener(form, "Edit…")] if edits else []
        yield {**block, "block_id": named, "elements": [*block["elements"], *more]}
