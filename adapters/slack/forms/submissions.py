"""Forms that were sent: what they ask is done, a fault is shown at its field, and the answer is told."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from adapters.slack.forms import filter_view, search_view, subscribe_view, topic_view
from adapters.slack.forms.fields import View, block_of, memory_of, plain, said, shown
from adapters.slack.forms.openers import Form, beside
from adapters.slack.forms.views import LOADING, changed, window
from adapters.slack.listeners.answers import TROUBLES, Address
from adapters.slack.listeners.context import Reception, Scene, scene_of
from adapters.slack.listeners.home import publish
from bot.commands import Search
from bot.errors import BotError, Misfit, UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.handle import failed
from bot.handlers.surfaces.forms import filter_form, submit, subscribe_form, topic_form
from bot.handlers.wording.failures import in_words
from bot.models import Actor, Reply

_PROMPT = 1.5  # seconds: Slack gives up a form that is not answered within three, of which `once` may have waited one
_ERROR = 300  # characters of what stands at a field
_INVITE = "The app cannot post there: somebody in it has to write /invite @Broadsheet first."


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a form, and the field where it is."""

    field: str
    text: str


Outcome = Reply | Fault | View  # a view: the form anew, with something said in it


@dataclass(frozen=True, slots=True)
class Sent:
    """A form that was sent."""

    reception: Reception
    scene: Scene
    view: View

    @property
    def memory(self) -> Mapping[str, str]:
        """What the form remembers."""
        return memory_of(self.view)

    @property
    def handler_context(self) -> HandlerContext:
        """Where it is done."""
        return self.reception.line.handler_context

    async def actor(self, channel: str) -> Actor:
        """Return who sent it, acting in this channel."""
        return await self.reception.actors.actor(self.scene.workspace, channel, self.scene.person)


def listen(app: AsyncApp, reception: Reception) -> None:
    """Hear the forms that are sent."""
    for kind, doing in _DOINGS.items():
        app.view(kind)(_heard(reception, doing))


def _heard(
    reception: Reception, doing: Callable[[Sent], Awaitable[Outcome]]
) -> Callable[[AsyncAck, dict[str, Any]], Awaitable[None]]:
    async def sent(ack: AsyncAck, body: dict[str, Any]) -> None:
        form = Sent(reception, scene_of(body), body["view"])
        task = asyncio.ensure_future(_outcome(form, doing))
        await asyncio.wait({task}, timeout=_PROMPT)
        if task.done():
            await _answer_at_once(ack, form, task.result(), body)
            return
        await (ack(response_action="update", view=LOADING) if "home" in form.memory else ack())
        reception.work.begin(_answer_later(form, task, body), "answering a form")

    return sent


async def _outcome(form: Sent, doing: Callable[[Sent], Awaitable[Outcome]]) -> Outcome:
    """Do what the form asks; whatever goes wrong is said at a field."""
    try:
        return await doing(form)
    except Misfit as error:
        return Fault(error.field, _sentence(error))
    except UsageError as error:
        return Fault("", _sentence(error))
    except Exception as error:  # noqa: BLE001 - it is told, and logged
        return Fault("", " ".join(failed(error, "").text))


async def _answer_at_once(ack: AsyncAck, form: Sent, outcome: Outcome, body: Mapping[str, Any]) -> None:
    if isinstance(outcome, Fault):
        place = block_of(form.view, outcome.field)
        await ack(response_action="errors", errors={place: plain(outcome.text)[:_ERROR]})
    elif not isinstance(outcome, Reply):
        await ack(response_action="update", view=outcome)
    elif "home" in form.memory:
        await ack(response_action="update", view=await _window(form, outcome))
        form.reception.work.begin(_republished(form), "showing the Home tab")
    else:
        await ack()
        telling = form.reception.answers.give(_address(form, body), outcome, beside(_again(form)))
        form.reception.work.begin(telling, "answering a form")


async def _answer_later(form: Sent, task: asyncio.Task[Outcome], body: Mapping[str, Any]) -> None:
    outcome = await task
    reply = outcome if isinstance(outcome, Reply) else _not_done(outcome)
    if "home" in form.memory:
        await changed(form.reception, form.scene.workspace, form.view["id"], _window(form, reply))
        await _republished(form)
    else:
        await form.reception.answers.give(_address(form, body), reply, beside(_again(form)))


def _again(form: Sent) -> Form | None:
    """Return the form in which what was done can be changed again."""
    values = said(form.view)
    topic = values.get("topic") or form.memory.get("topic") or values.get("name") or ""
    return Form(form.view["callback_id"], str(topic)) if topic else None


def _not_done(outcome: Fault | View) -> Reply:
    said = outcome.text if isinstance(outcome, Fault) else "Not all of it could be done: open the form again."
    return Reply(title="That did not work", text=(said,))


async def _window(form: Sent, reply: Reply) -> View:
    return await window(form.reception, form.scene, reply, form.memory)


async def _republished(form: Sent) -> None:
    await publish(form.reception, form.scene.workspace, form.scene.person)


def _address(form: Sent, body: Mapping[str, Any]) -> Address:
    """Where the form's channel is answered: by the address that came with the choice of it, or with what opened the form."""
    urls = body.get("response_urls") or ()
    channel = str(urls[0]["channel_id"]) if urls else form.memory.get("channel", "")
    url = str(urls[0]["response_url"]) if urls else form.memory.get("url", "")
    return Address(workspace=form.scene.workspace, channel=channel, person=form.scene.person, url=url, may_replace=False)


def _sentence(error: BotError) -> str:
    hint = getattr(error, "hint", "")
    return f"{error} {hint}".strip() if hint not in str(error) else in_words(error)


# --- subscribing


async def _subscribe(form: Sent) -> Outcome:
    values = said(form.view)
    channel, topic = str(values["channel"]), str(values["topic"])
    actor = await form.actor(channel)
    base = await subscribe_form(form.handler_context, actor, topic, form.reception.now)
    if not subscribe_view.is_whole(values):
        return subscribe_view.view_of(base, channel, form.memory)
    before, after = (subscribe_view.form_said(each, base) for each in (shown(form.view), values))
    if trouble := await _closed(form, channel):
        return Fault("channel", trouble)
    return await submit(form.handler_context, before, after, actor, form.reception.now)


async def _closed(form: Sent, channel: str) -> str:
    """Return why the app cannot post to the channel, "" where it can, or where Slack does not say now."""
    try:
        client = await form.reception.clients.client(form.scene.workspace)
        found = (await client.conversations_info(channel=channel))["channel"]
    except SlackApiError as error:
        return _INVITE if error.response.get("error") == "channel_not_found" else ""
    except TROUBLES:
        return ""
    if found.get("is_archived"):
        return "The channel is archived."
    may_join = form.reception.settings.join_channels and not found.get("is_private")
    return "" if found.get("is_member") or found.get("is_im") or may_join else _INVITE


# --- topics, filters, and searching


async def _topic(form: Sent) -> Outcome:
    actor = await form.actor(form.memory.get("channel", ""))
    there = await topic_form(form.handler_context, actor, form.memory["topic"])
    before = topic_view.as_remembered(there, form.memory)
    return await submit(
        form.handler_context, before, topic_view.form_said(said(form.view), before), actor, form.reception.now
    )


async def _filter(form: Sent) -> Outcome:
    actor = await form.actor(form.memory.get("channel", ""))
    there = await filter_form(form.handler_context, actor, form.memory["topic"])
    before, after = (filter_view.form_said(each, there) for each in (shown(form.view), said(form.view)))
    return await submit(form.handler_context, before, after, actor, form.reception.now)


async def _search(form: Sent) -> Outcome:
    actor = await form.actor(form.memory.get("channel", ""))
    return await form.reception.ask(Search(str(said(form.view)["query"])), actor)


_DOINGS: Mapping[str, Callable[[Sent], Awaitable[Outcome]]] = {
    subscribe_view.KIND: _subscribe,
    topic_view.KIND: _topic,
    filter_view.KIND: _filter,
    search_view.KIND: _search,
}
