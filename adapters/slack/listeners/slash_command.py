"""The slash command: `/digest …`."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.slack.forms.modals import open_form
from adapters.slack.forms.openers import beside, form_beside, form_meant
from adapters.slack.install.permissions import COMMAND
from adapters.slack.listeners.answers import Address
from adapters.slack.listeners.context import Reception, scene_of


def listen(app: AsyncApp, reception: Reception) -> None:
    """Hear the command. It is acknowledged before anything is done."""

    async def commanded(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        reception.work.begin(_answered(reception, body), "answering a command")

    app.command(COMMAND)(commanded)


async def _answered(reception: Reception, body: dict[str, Any]) -> None:
    scene, text = scene_of(body), str(body.get("text") or "")
    if (form := form_meant(text)) is not None:
        await open_form(reception, scene, form, {"channel": scene.channel, "url": scene.url})
        return
    actor = await reception.actors.actor(scene.workspace, scene.channel, scene.person)
    address = Address(workspace=scene.workspace, channel=scene.channel, person=scene.person, url=scene.url)
    await reception.answers.answer(address, reception.ask(text, actor), beside(form_beside(text)))
