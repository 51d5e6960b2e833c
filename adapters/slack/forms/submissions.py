"""Forms that were sent: what they ask is done, a fault is shown at its field, and the answer is told."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.chat.answers import stopped
from adapters.chat.forms import FormKind
from adapters.slack.forms.fields import (
    FORM_IDS,
    Block,
    View,
    block_of,
    entered_values,
    form_of,
    form_row,
    initial_values,
    memory_of,
    unmarked,
)
from adapters.slack.forms.showing import LOADING, Showing, message_view, shown_reply, update_view, view_target
from adapters.slack.forms.views import as_remembered, is_whole, read_filter, read_subscription, read_topic, subscribe_view
from adapters.slack.listeners.answers import AnswerTarget
from adapters.slack.listeners.context import SlackContext, SlackInteraction
from adapters.slack.listeners.home import publish
from bot.commands import Search
from bot.errors import BotError, Misfit, UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.handle import failed
from bot.handlers.surfaces.forms import filter_form, submit, subscribe_form, topic_form
from bot.handlers.wording.failures import failure_in_words
from bot.models import Actor, Reply

_PROMPT = 1.5  # seconds: Slack gives up a form that is not answered within three, of which `once` may have waited one
_ERROR = 300  # characters of what stands at a field
_UNKNOWN = "Broadsheet does not know this form any more. Please open it anew."


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with a form, and the field where it is."""

    field: str
    text: str


Outcome = Reply | FieldError | Showing | View  # a view: the form anew, with something said in it


@dataclass(frozen=True, slots=True)
class Submission:
    """A form that was sent."""

    context: SlackContext
    interaction: SlackInteraction
    view: View

    @property
    def memory(self) -> Mapping[str, str]:
        """What the form remembers."""
        return memory_of(self.view)

    @property
    def handler_context(self) -> HandlerContext:
        """Where it is done."""
        return self.context.platform.handler_context

    async def actor(self, channel: str) -> Actor:
        """Return who sent it, acting in this channel."""
        return await self.context.actor(self.interaction, channel)


def listen(app: AsyncApp, context: SlackContext) -> None:
    """Hear the forms that are sent."""
    for kind, submit_form in _SUBMITTED.items():
        app.view(FORM_IDS[kind])(_listener(context, submit_form))


def _listener(
    context: SlackContext, doing: Callable[[Submission], Awaitable[Outcome]]
) -> Callable[[AsyncAck, dict[str, Any]], Awaitable[None]]:
    async def sent(ack: AsyncAck, body: dict[str, Any]) -> None:
        try:
            await _answer(ack, Submission(context, context.interaction_of(body), body["view"]), doing, body)
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            await ack(response_action="update", view=message_view(" ".join(failed(error, "").text)))

    return sent


async def refuse_unknown(ack: AsyncAck, body: Mapping[str, Any]) -> None:
    """Answer a form that no version of ours knows; that one is closed needs no answer."""
    is_sent = body.get("type") == "view_submission"
    await (ack(response_action="update", view=message_view(_UNKNOWN)) if is_sent else ack())


async def _answer(
    ack: AsyncAck, form: Submission, doing: Callable[[Submission], Awaitable[Outcome]], body: Mapping[str, Any]
) -> None:
    """Acknowledge in time: with the outcome, else that it is told later."""
    at_home = "home" in form.memory
    task = asyncio.ensure_future(_shown_outcome(form, doing) if at_home else _outcome(form, doing))
    await asyncio.wait({task}, timeout=_PROMPT)
    if task.done():
        await _answer_at_once(ack, form, task.result(), body)
        return
    await (ack(response_action="update", view=LOADING) if at_home else ack())
    form.context.tasks.start(form.context.telling_failures(_answer_later(form, task, body), dict(body)), "answering a form")


async def _shown_outcome(form: Submission, doing: Callable[[Submission], Awaitable[Outcome]]) -> Outcome:
    """Return the outcome for one who is not in a channel: a view that shows the answer."""
    outcome = await _outcome(form, doing)
    return await _showing(form, outcome) if isinstance(outcome, Reply) else outcome


async def _showing(form: Submission, reply: Reply) -> Showing:
    return await shown_reply(form.context, form.interaction, reply, form.memory)


async def _outcome(form: Submission, doing: Callable[[Submission], Awaitable[Outcome]]) -> Outcome:
    """Do what the form asks; whatever goes wrong is said at a field."""
    try:
        return await doing(form)
    except Misfit as error:
        return FieldError(error.field, _sentence(error))
    except UsageError as error:
        return FieldError("", _sentence(error))
    except Exception as error:  # noqa: BLE001 - it is told, and logged
        return FieldError("", " ".join(failed(error, "").text))


async def _answer_at_once(ack: AsyncAck, form: Submission, outcome: Outcome, body: Mapping[str, Any]) -> None:
    match outcome:
        case FieldError():
            place = block_of(form.view, outcome.field)
            await ack(response_action="errors", errors={place: unmarked(outcome.text)[:_ERROR]})
        case Showing():
            await ack(response_action="update", view=outcome.view)
            form.context.tasks.start(_republish(form), "showing the Home tab")
        case Reply():
            await ack()
            telling = form.context.answers.send_reply(_target(form, body), outcome, _beside(form))
            form.context.tasks.start(telling, "answering a form")
        case _:
            await ack(response_action="update", view=outcome)


async def _answer_later(form: Submission, task: asyncio.Task[Outcome], body: Mapping[str, Any]) -> None:
    outcome = task.result() if await form.context.tasks.has_ended(task) else stopped()
    reply = outcome if isinstance(outcome, Reply) else _not_done(outcome)
    if "home" in form.memory:
        shown = outcome if isinstance(outcome, Showing) else await _showing(form, reply)
        await update_view(form.context, form.view["id"], _now(shown), view_target(form.interaction, form.memory))
        await _republish(form)
    else:
        await form.context.answers.send_reply(_target(form, body), reply, _beside(form))


async def _now(shown: Showing) -> Showing:
    return shown


def _beside(form: Submission) -> Sequence[Block]:
    """Return what stands at the end of the answer: the button for the form in which what was done can be changed again."""
    values = entered_values(form.view)
    topic = values.get("topic") or form.memory.get("topic") or values.get("name") or ""
    return form_row(form_of(form.view["callback_id"], str(topic))) if topic else ()


def _not_done(outcome: FieldError | Showing | View) -> Reply:
    said = outcome.text if isinstance(outcome, FieldError) else "Not all of it could be done: open the form again."
    return Reply(title="That did not work", text=(said,))


async def _republish(form: Submission) -> None:
    await publish(form.context, form.interaction.workspace, form.interaction.person)


def _target(form: Submission, body: Mapping[str, Any]) -> AnswerTarget:
    """Where the form's channel is answered: by the address that came with the choice of it, or with what opened the form."""
    urls = body.get("response_urls") or ()
    channel = str(urls[0]["channel_id"]) if urls else form.memory.get("channel", "")
    url = str(urls[0]["response_url"]) if urls else form.memory.get("url", "")
    return AnswerTarget(
        workspace=form.interaction.workspace, channel=channel, person=form.interaction.person, url=url, may_replace=False
    )


def _sentence(error: BotError) -> str:
    hint = getattr(error, "hint", "")
    return f"{error} {hint}".strip() if hint not in str(error) else failure_in_words(error)


# --- subscribing


async def _subscribe(form: Submission) -> Outcome:
    values = entered_values(form.view)
    channel, topic = str(values["channel"]), str(values["topic"])
    actor = await form.actor(channel)
    base = await subscribe_form(form.handler_context, actor, topic, form.context.now)
    if not is_whole(values):
        return subscribe_view(base, channel, form.memory)
    before, after = (read_subscription(each, base) for each in (initial_values(form.view), values))
    if trouble := await form.context.obstacle(actor):
        return FieldError("channel", trouble)
    return await submit(form.handler_context, before, after, actor, form.context.now)


# --- topics, filters, and searching


async def _change_topic(form: Submission) -> Outcome:
    actor = await form.actor(form.memory.get("channel", ""))
    there = await topic_form(form.handler_context, actor, form.memory["topic"])
    before = as_remembered(there, form.memory)
    return await submit(form.handler_context, before, read_topic(entered_values(form.view), before), actor, form.context.now)


async def _change_filter(form: Submission) -> Outcome:
    actor = await form.actor(form.memory.get("channel", ""))
    there = await filter_form(form.handler_context, actor, form.memory["topic"])
    before, after = (read_filter(each, there) for each in (initial_values(form.view), entered_values(form.view)))
    return await submit(form.handler_context, before, after, actor, form.context.now)


async def _search(form: Submission) -> Outcome:
    actor = await form.actor(form.memory.get("channel", ""))
    return await form.context.ask(Search(str(entered_values(form.view)["query"])), actor)


_SUBMITTED: Mapping[FormKind, Callable[[Submission], Awaitable[Outcome]]] = {
    FormKind.SUBSCRIPTION: _subscribe,
    FormKind.TOPIC: _change_topic,
    FormKind.FILTER: _change_filter,
    FormKind.SEARCH: _search,
}
