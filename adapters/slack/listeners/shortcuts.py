"""The shortcuts: papers like the one that a message links, and a search from anywhere."""

from collections.abc import Iterator, Mapping
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.slack.forms import search_view
from adapters.slack.forms.modals import open_form
from adapters.slack.forms.openers import Form
from adapters.slack.install.permissions import FIND_SIMILAR, SEARCH
from adapters.slack.listeners.answers import Address
from adapters.slack.listeners.context import Reception, scene_of
from bot.commands import Similar
from bot.handlers.items import links_in
from bot.models import Reply

_NO_LINK = Reply(
    title="No paper is linked there",
    text=("The message links nothing that Broadsheet knows: a paper on arXiv or Hugging Face, a repository on GitHub.",),
    next_steps=("*similar LINK* takes any link, and *search QUERY…* finds by words.",),
)
_DEEPEST = 20  # levels of a message's blocks; Slack's own have fewer
_SPOKEN = ("text", "url", "title_link", "from_url", "original_url", "fallback", "value")


def listen(app: AsyncApp, reception: Reception) -> None:
    """Hear the shortcuts."""

    async def find_similar(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        reception.work.begin(_similar(reception, body), "finding similar papers")

    async def search(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        scene = scene_of(body)
        reception.work.begin(open_form(reception, scene, Form(search_view.KIND), {"home": "yes"}), "opening a search")

    app.message_shortcut(FIND_SIMILAR)(find_similar)
    app.global_shortcut(SEARCH)(search)


async def _similar(reception: Reception, body: Mapping[str, Any]) -> None:
    scene = scene_of(body)
    address = Address(workspace=scene.workspace, channel=scene.channel, person=scene.person, url=scene.url)
    links = links_in("\n".join(_texts(body.get("message") or {})))
    if not links:
        await reception.answers.give(address, _NO_LINK)
        return
    actor = await reception.actors.actor(scene.workspace, scene.channel, scene.person)
    await reception.answers.answer(address, reception.ask(Similar(links[0]), actor))


def _texts(node: Any, depth: int = _DEEPEST) -> Iterator[str]:
    """Yield the texts and addresses of a message: its own, those of its blocks, and of what was unfurled below it."""
    if depth <= 0:
        return
    if isinstance(node, Mapping):
        yield from (node[name] for name in _SPOKEN if isinstance(node.get(name), str))
        for value in node.values():
            yield from _texts(value, depth - 1)
    elif isinstance(node, list):
        for value in node:
            yield from _texts(value, depth - 1)
