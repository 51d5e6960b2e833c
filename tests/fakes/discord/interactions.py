"""Requests that answer interactions: the first reply, and what is said with the token after it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tests.fakes.discord.asked import Answer, Asked, Doing
from tests.fakes.discord.calls import NOTHING, Call, Reply, route
from tests.fakes.discord.channels import edited, removed
from tests.fakes.discord.command_rules import choice_flaws
from tests.fakes.discord.description import Flaw
from tests.fakes.discord.message_rules import form_flaws, message_flaws
from tests.fakes.discord.posting import posted
from tests.fakes.discord.refusals import Refusal
from tests.fakes.discord.things import EPHEMERAL, LOADING, V2, Message
from tests.fakes.discord.world import World

DEADLINE = timedelta(seconds=3)
LIFE = timedelta(minutes=15)
_WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
_FITTING = {
    Doing.COMMAND: {Answer.MESSAGE, Answer.DEFERRED, Answer.FORM},
    Doing.COMPONENT: {Answer.MESSAGE, Answer.DEFERRED, Answer.DEFERRED_UPDATE, Answer.UPDATE, Answer.FORM},
    Doing.AUTOCOMPLETE: {Answer.CHOICES},
    Doing.FORM: {Answer.MESSAGE, Answer.DEFERRED, Answer.DEFERRED_UPDATE, Answer.UPDATE},
}


def _right(call: Call) -> list[Flaw]:
    """Check what the first reply carries; a change of a message is checked where the message is known."""
    data = call.body.get("data") or {}
    match call.body.get("type"):
        case Answer.MESSAGE:
            found = message_flaws(data)
        case Answer.FORM:
            found = form_flaws(data)
        case Answer.CHOICES:
            kinds = {type(each.get("value")) for each in data.get("choices") or []}
            kind = 3 if str in kinds else 10
            found = [(("choices", *where), what) for where, what in choice_flaws(data.get("choices") or [], kind)]
        case _:
            found = []
    return [(("data", *where), what) for where, what in found]


@route("POST", "/interactions/{interaction_id}/{interaction_token}/callback", _right, secret=False)
async def reply(world: World, call: Call) -> Reply:
    asked = world.asked.get(call.number("interaction_id"))
    if asked is None or asked.token != call.part["interaction_token"]:
        raise Refusal(10062)
    if asked.first is not None:
        raise Refusal(40060)
    if world.clock() - asked.at >= DEADLINE:
        raise Refusal(10062)
    kind, data = Answer(call.body["type"]), call.body.get("data") or {}
    from_message = asked.message is not None
    if kind not in _FITTING[asked.doing] or (kind in (Answer.UPDATE, Answer.DEFERRED_UPDATE) and not from_message):
        raise Refusal(50035, flaws=[(("type",), f"A first reply of type {int(kind)} does not fit this interaction.")])
    _take(world, asked, kind, data, call)
    asked.first, asked.first_after = kind, call.at - asked.began
    asked.changed()
    if call.query.get("with_response") in ("1", "true"):
        return 200, _response(world, asked)
    return NOTHING


def _take(world: World, asked: Asked, kind: Answer, data: dict[str, Any], call: Call) -> None:
    """Do what the first reply says."""
    match kind:
        case Answer.MESSAGE:
            asked.original = _say(world, asked, data, call.files)
        case Answer.DEFERRED:
            flags = LOADING | (data.get("flags") or 0) & EPHEMERAL
            asked.original = Message(world.new_id(), asked.channel, world.bot, flags=flags, webhook=world.application)
            asked.original.answers = _metadata(asked)
        case Answer.UPDATE:
            assert asked.message is not None
            asked.original = edited(world, asked.message, _with(call, data))
        case Answer.DEFERRED_UPDATE:
            asked.original = asked.message
        case Answer.CHOICES:
            asked.choices = list(data.get("choices") or [])
        case Answer.FORM:
            asked.form = data


def _with(call: Call, body: Any) -> Call:
    return Call(method=call.method, path=call.path, at=call.at, part=call.part, body=body, files=call.files)


def _say(world: World, asked: Asked, data: Mapping[str, Any], files: Mapping[str, bytes], flags: int = 0) -> Message:
    """Post in the interaction's name; nobody but its user sees what is ephemeral."""
    flags |= (data.get("flags") or 0) & EPHEMERAL
    more = {"webhook": world.application, "answers": _metadata(asked), "flags": flags}
    return posted(world, asked.channel, {**data, "nonce": None}, files, **more)


def _metadata(asked: Asked) -> dict[str, Any]:
    said = {
        "id": str(asked.id),
        "type": int(asked.doing),
        "user": asked.user.shape(),
        "authorizing_integration_owners": asked.owners,
    }
    if asked.doing is Doing.COMPONENT and asked.message is not None:
        said["interacted_message_id"] = str(asked.message.id)
    if asked.doing is Doing.FORM:
        said["triggering_interaction_metadata"] = said | {"type": int(Doing.COMMAND)}
    return said


def _response(world: World, asked: Asked) -> dict[str, Any]:
    said: dict[str, Any] = {"id": str(asked.id), "type": int(asked.doing)}
    said |= {"channel_id": str(asked.channel.id)} | (
        {"guild_id": str(asked.channel.guild.id)} if asked.channel.guild else {}
    )
    answer: dict[str, Any] = {"interaction": said}
    if asked.original is not None and asked.first in (Answer.MESSAGE, Answer.DEFERRED, Answer.UPDATE):
        original = asked.original
        said |= {"response_message_id": str(original.id), "response_message_ephemeral": original.is_private}
        said["response_message_loading"] = bool(original.flags & LOADING)
        if asked.first is not Answer.DEFERRED:
            answer["resource"] = {"type": int(asked.first), "message": original.shape(world.bot)}
    return answer


# --- with the token


def _by_token(world: World, call: Call) -> Asked:
    if call.number("webhook_id") != world.application:
        raise Refusal(10015)
    asked = next((each for each in reversed(world.asked.values()) if each.token == call.part["webhook_token"]), None)
    if asked is None or world.clock() - asked.at >= LIFE:
        raise Refusal(50027)
    if asked.first is None:
        raise Refusal(10015)
    return asked


def _named(world: World, call: Call) -> tuple[Asked, Message]:
    """Return the message that the path names."""
    asked = _by_token(world, call)
    some = {each.id: each for each in (asked.original, *asked.others) if each and not each.is_deleted}
    wanted = call.part.get("message_id")
    message = asked.original if wanted is None else some.get(int(wanted))
    if message is None or message.is_deleted:
        raise Refusal(10008)
    return asked, message


def _right_more(call: Call) -> list[Flaw]:
    return message_flaws(call.body)


@route("POST", _WEBHOOK, _right_more, secret=False)
async def say_more(world: World, call: Call) -> Reply:
    """The first message after a deferral takes the place of what was loading."""
    asked = _by_token(world, call)
    if asked.original is not None and asked.original.flags & LOADING and not asked.original.is_deleted:
        message = _settle(world, asked, call)
    else:
        message = _say(world, asked, call.body, call.files)
        asked.others.append(message)
    asked.changed()
    return 200, message.shape(world.bot)


def _settle(world: World, asked: Asked, call: Call) -> Message:
    """Put the message where something was loading; it is as private as that was."""
    loading = asked.original
    assert loading is not None
    data = {**call.body, "flags": (call.body.get("flags") or 0) & ~EPHEMERAL}
    more = {"id": loading.id, "webhook": world.application, "answers": loading.answers, "flags": loading.flags & EPHEMERAL}
    asked.original = posted(world, asked.channel, data, call.files, **more)
    return asked.original


@route("GET", _WEBHOOK + "/messages/@original", secret=False)
@route("GET", _WEBHOOK + "/messages/{message_id}", secret=False)
async def get_said(world: World, call: Call) -> Reply:
    return 200, _named(world, call)[1].shape(world.bot)


@route("PATCH", _WEBHOOK + "/messages/@original", secret=False)
@route("PATCH", _WEBHOOK + "/messages/{message_id}", secret=False)
async def change_said(world: World, call: Call) -> Reply:
    asked, message = _named(world, call)
    if message.flags & LOADING:
        flaws = message_flaws(call.body, flags=(call.body.get("flags") or 0) & V2)
        if flaws:
            raise Refusal(50035, flaws=flaws)
        message = _settle(world, asked, call)
    else:
        edited(world, message, call)
    asked.changed()
    return 200, message.shape(world.bot)


@route("DELETE", _WEBHOOK + "/messages/@original", secret=False)
@route("DELETE", _WEBHOOK + "/messages/{message_id}", secret=False)
async def delete_said(world: World, call: Call) -> Reply:
    asked, message = _named(world, call)
    removed(world, message)
    asked.changed()
    return NOTHING
