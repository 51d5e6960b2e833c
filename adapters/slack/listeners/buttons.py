"""Buttons: each carries another command, or opens a form. A posted digest is never changed by one."""

import logging
import re
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.slack.forms.fields import View, memory_of
from adapters.slack.forms.modals import open_form
from adapters.slack.forms.openers import Form, beside, form_beside
from adapters.slack.forms.views import changed, opened, window
from adapters.slack.listeners.answers import Address
from adapters.slack.listeners.context import Reception, Scene, scene_of
from adapters.slack.listeners.home import HOME, publish
from adapters.slack.render.blocks import KEPT
from bot.commands import Subscribe, parse
from bot.errors import BotError, UsageError
from bot.models import Reply

log = logging.getLogger(__name__)

_COMMAND = re.compile(r"command:\d+")
_FORM = re.compile(r"form:\w+")
_OF_CHANNEL = re.compile(r"in:(?P<channel>\w+):")  # begins the name of a row whose buttons act in that channel
_WHOLE = "reply"  # begins the name of a row that belongs to a whole answer: what it asks for takes the answer's place


def listen(app: AsyncApp, reception: Reception) -> None:
    """Hear the buttons. Each is acknowledged before anything is done."""

    async def pressed(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        reception.work.begin(_pressed(reception, body), "answering a button")

    async def asked_for_form(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        reception.work.begin(_form(reception, body), "opening a form")

    app.action(_COMMAND)(pressed)
    app.action(_FORM)(asked_for_form)


async def _pressed(reception: Reception, body: dict[str, Any]) -> None:
    scene, action = scene_of(body), body["actions"][0]
    if body["container"]["type"] == "view":
        await _within_view(reception, scene, body["view"], action, await _command(reception, scene, action["value"]))
        return
    own = bool(body["container"].get("is_ephemeral")) and action["block_id"].startswith(_WHOLE)
    address = Address(
        workspace=scene.workspace,
        channel=scene.channel,
        person=scene.person,
        url=scene.url,
        thread=str((body.get("message") or {}).get("thread_ts") or ""),
        replaces=own,
        may_replace=own,
    )
    text = await _command(reception, scene, action["value"])
    await reception.answers.answer(address, _asked(reception, scene, scene.channel, text), beside(form_beside(text)))


async def _command(reception: Reception, scene: Scene, value: str) -> str:
    """Return the command that the button stands for; "" for one that is not kept any more."""
    if not value.startswith(KEPT):
        return value
    try:
        return await reception.line.chats.kept_text(scene.workspace, value.removeprefix(KEPT)) or ""
    except BotError as error:
        log.warning("What a button stands for could not be read: %s", error)
        return ""


async def _asked(reception: Reception, scene: Scene, channel: str, text: str) -> Reply:
    if not text:
        said = "What it was for cannot be read now, or is not kept any more: buttons last for a year."
        return Reply(title="That button does nothing now", text=(said,))
    return await reception.ask(text, await reception.actors.actor(scene.workspace, channel, scene.person))


async def _within_view(reception: Reception, scene: Scene, view: View, action: dict[str, Any], text: str) -> None:
    """Show the answer in a view: instead of the one that was acted in, upon it, or over the Home tab."""
    memory, named = memory_of(view), _OF_CHANNEL.match(action["block_id"])
    memory["channel"] = named["channel"] if named else memory.get("channel", "")
    if view["type"] == HOME:
        memory["home"] = "yes"
        if not named and (topic := _to_be_subscribed(text)):  # not the direct message in which the Home tab lives
            await open_form(reception, scene, Form("form:subscribe", topic), {"home": "yes"})
            return

    async def shown() -> View:
        reply = await _asked(reception, scene, memory["channel"], text)
        return await window(reception, scene, reply, memory)

    if view["type"] != HOME and action["block_id"].startswith(_WHOLE):
        await changed(reception, scene.workspace, view["id"], shown())
    else:
        await opened(reception, scene, shown(), upon=view["type"] != HOME)
    if "home" in memory:
        await publish(reception, scene.workspace, scene.person)


def _to_be_subscribed(text: str) -> str:
    """Return the topic of a command that subscribes it, "" for any other."""
    try:
        command = parse(text)
    except UsageError:
        return ""
    return command.topic if isinstance(command, Subscribe) else ""


async def _form(reception: Reception, body: dict[str, Any]) -> None:
    scene, action, view = scene_of(body), body["actions"][0], body.get("view")
    form = Form(action["action_id"], action.get("value") or "")
    if view is None:
        await open_form(reception, scene, form, {"channel": scene.channel, "url": scene.url})
        return
    memory, named = memory_of(view), _OF_CHANNEL.match(action["block_id"])
    kept = {name: value for name, value in memory.items() if name in ("channel", "url", "home")}
    if view["type"] == HOME:
        kept = {"home": "yes"} | ({"channel": named["channel"]} if named else {})
    await open_form(reception, scene, form, kept, upon=view["type"] != HOME)
