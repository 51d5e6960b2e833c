"""What people write to us in Slack: a mention in a channel or its threads, a direct message. Nothing else is heard.

A mention is answered as a command is: what is for one person alone as such, the rest in the thread of the message. Slack
shows a private message in a thread only where the thread has begun (docs.slack.dev/reference/methods/chat.postEphemeral);
before that it stands in the channel.
"""

from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.chat.forms import follow_up_form, form_asked_for
from adapters.chat.spoken import is_first, words_to_us
from adapters.slack.forms.fields import Block, form_row
from adapters.slack.listeners.answers import AnswerTarget
from adapters.slack.listeners.context import Body, SlackContext
from adapters.slack.workspaces import PLATFORM
from bot.commands import Command, Heard, SmallTalk, Unreadable, heard
from bot.handlers.surfaces.spoken import Turn, answer_heard, too_many
from bot.models import Reply

_WRITTEN = frozenset({None, "file_share", "thread_broadcast"})  # subtypes of what a person writes


def listen(app: AsyncApp, context: SlackContext) -> None:
    """Hear mentions and direct messages; what somebody looks at beside the agent's pane is let go unread."""
    app.event("app_mention")(context.following(_mentioned, "answering a mention"))
    app.event("message")(context.following(_written_directly, "answering a direct message"))
    app.event("app_context_changed")(_let_go)


async def _let_go(ack: AsyncAck) -> None:
    await ack()


async def _mentioned(context: SlackContext, workspace: str, event: Body) -> None:
    if "edited" in event or event.get("subtype") not in _WRITTEN:
        return
    words = words_to_us(str(event.get("text") or ""), await context.clients.bot_user(workspace))
    if words is not None:
        thread = str(event.get("thread_ts") or "")
        await _answer(context, event, words, _target(workspace, event, thread=thread, about=event["ts"]))


async def _written_directly(context: SlackContext, workspace: str, event: Body) -> None:
    if event.get("channel_type") != "im" or "edited" in event or event.get("subtype") not in _WRITTEN:
        return
    # In the agent's pane every conversation is a thread; elsewhere an answer stands below the message.
    begun = str(event["ts"]) if context.settings.agent else ""
    target = _target(workspace, event, thread=str(event.get("thread_ts") or begun), is_direct=True)
    ours = await context.clients.bot_user(workspace)
    text = str(event.get("text") or "")
    await _answer(context, event, (words_to_us(text, ours) if ours else None) or text, target)


def _target(workspace: str, event: Body, **more: Any) -> AnswerTarget:
    return AnswerTarget(
        workspace=workspace, channel=event["channel"], person=event["user"], may_replace=False, is_spoken=True, **more
    )


async def _answer(context: SlackContext, event: Body, words: str, target: AnswerTarget) -> None:
    found = heard(words)
    name = f"{target.workspace} {target.channel} {event['ts']}"
    if found.asked is SmallTalk.THANKS or not await is_first(context, PLATFORM, name):
        return
    turn = await context.answers.spoken.turn(PLATFORM, f"{target.workspace} {target.person}", context.now)
    if turn is Turn.TOLD:
        await context.answers.send_reply(target, too_many())
    elif turn is Turn.ANSWERED:
        asking = _asked(context, found, target, str(event.get("user_team") or ""))
        await context.answers.answer(target, asking, _beside(found))


async def _asked(context: SlackContext, found: Heard, target: AnswerTarget, home: str) -> Reply:
    actor = await context.actors.actor(target.workspace, target.channel, target.person, home)
    actor = replace(actor, post=target.thread)

    async def ask(asked: Command | Unreadable) -> Reply:
        return await context.ask(asked, actor, found.line)

    return await answer_heard(found, ask)


def _beside(found: Heard) -> tuple[Block, ...]:
    """Return the button for the form in which what was not said can be filled in, or one may go on."""
    if isinstance(found.asked, SmallTalk):
        return ()
    form = form_asked_for(found.asked) or follow_up_form(found.asked)
    return form_row(form) if form else ()
