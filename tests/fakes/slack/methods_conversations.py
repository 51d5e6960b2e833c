"""conversations.* and users.conversations: docs.slack.dev/reference/methods."""

import base64
from collections.abc import Callable, Sequence
from typing import TypeVar

from tests.fakes.platform import Behaviour
from tests.fakes.slack import scopes
from tests.fakes.slack.call import Call
from tests.fakes.slack.state import Channel, Json, Kind, Message
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong

T = TypeVar("T")


class Conversations:
    """The methods. A history shows a message and its metadata as the behaviour says: `lag`, `readable`, `keeps_metadata`.

    A behaviour's `page` stands for an app that is distributed outside the Marketplace: 15 objects at most, however many it
    asks for (docs.slack.dev/reference/methods/conversations.history).
    """

    def __init__(self, behaviour: Callable[[], Behaviour]) -> None:
        self._behaviour = behaviour

    def history(self, world: World, call: Call) -> Json:
        channel = self._readable_channel(world, call)
        found = [each for each in self._settled(world, channel) if each.thread in ("", each.ts)]
        page, more = _paged(_between(found, call.args)[::-1], call, 100, 999, self._behaviour().page)
        return {"messages": [self._shown(each, call) for each in page], **more}

    def replies(self, world: World, call: Call) -> Json:
        channel, ts = self._readable_channel(world, call), call.args["ts"]
        settled = self._settled(world, channel)
        if not any(each.ts == ts for each in settled):
            raise Wrong("thread_not_found")
        root = [each for each in settled if each.ts == ts]
        found = root + _between([each for each in settled if each.thread == ts and each.ts != ts], call.args)
        page, more = _paged(found, call, 1000, 1000, self._behaviour().page)
        return {"messages": [self._shown(each, call) for each in page], **more}

    def _shown(self, message: Message, call: Call) -> Json:
        asked = self._behaviour().keeps_metadata and call.args.get("include_all_metadata")
        return message.shown() | ({"metadata": message.metadata} if message.metadata and asked else {})

    def _readable_channel(self, world: World, call: Call) -> Channel:
        channel = world.channel(call.grant, call.args["channel"])
        if not self._behaviour().readable:
            raise Wrong("missing_scope", needed="channels:history", provided="")
        scopes.demand_history(call.grant, channel.kind)
        if world.team_in(call.grant, channel).app_user.id not in channel.members:
            raise Wrong("not_in_channel")
        return channel

    def _settled(self, world: World, channel: Channel) -> list[Message]:
        until = world.now - self._behaviour().lag
        return [each for each in channel.messages if each.at <= until and not (each.shown_to or each.is_deleted)]


def info(world: World, call: Call) -> Json:
    channel = world.channel(call.grant, call.args["channel"])
    scopes.demand_read(call.grant, [channel.kind])
    return {"channel": channel.shown(world.team_in(call.grant, channel).app_user.id)}


def members(world: World, call: Call) -> Json:
    channel = world.channel(call.grant, call.args["channel"])
    scopes.demand_read(call.grant, [channel.kind])
    page, more = _paged(sorted(channel.members), call, 100, 1000)
    return {"members": page, **more}


def join(world: World, call: Call) -> Json:
    channel = world.channel(call.grant, call.args["channel"])
    if channel.is_archived:
        raise Wrong("is_archived")
    if channel.kind is not Kind.PUBLIC:
        raise Wrong("method_not_supported_for_channel_type")
    app = world.team_in(call.grant, channel).app_user.id
    already = {"warning": "already_in_channel"} if app in channel.members else {}
    channel.members.add(app)
    world.changed()
    return {"channel": channel.shown(app), **already}


def open_(world: World, call: Call) -> Json:
    if (name := call.args.get("channel")) is not None:
        channel = world.channel(call.grant, name)
    else:
        users = [each for each in call.args.get("users", "").split(",") if each]
        if len(users) != 1:
            raise Wrong("users_list_not_supplied" if not users else "not_enough_users")
        team, person = world.met(call.grant, users[0])
        if person.is_bot:
            raise Wrong("cannot_dm_bot")
        channel = world.direct(team, person)
    app = world.team_in(call.grant, channel).app_user.id
    return {"channel": channel.shown(app) if call.args.get("return_im") else {"id": channel.id}}


def list_(world: World, call: Call) -> Json:
    team = world.team(call.grant, call.args.get("team_id", ""))
    found = [each for each in _asked(world, call, team.id) if each.kind is Kind.PUBLIC or team.app_user.id in each.members]
    page, more = _paged(found, call, 100, 999)
    return {"channels": [each.shown(team.app_user.id) for each in page], **more}


def of_person(world: World, call: Call) -> Json:
    team = world.team(call.grant, call.args.get("team_id", ""))
    app, user = team.app_user.id, call.args.get("user", team.app_user.id)
    world.person(call.grant, user)
    found = [
        each
        for each in _asked(world, call, team.id)
        if user in each.members and (each.kind is Kind.PUBLIC or app in each.members)
    ]
    page, more = _paged(found, call, 100, 999)
    shown = [each.shown(app) for each in page]
    for each in shown:
        each.pop("is_member", None)  # as in the documentation's example
    return {"channels": shown, **more}


def _asked(world: World, call: Call, team: str) -> list[Channel]:
    try:
        kinds = [Kind(each.strip()) for each in call.args.get("types", "public_channel").split(",")]
    except ValueError as error:
        raise Wrong("invalid_types") from error
    scopes.demand_read(call.grant, kinds)
    archived = not call.args.get("exclude_archived", False)
    every = world.teams[team].channels.values()
    return [each for each in every if each.kind in kinds and not each.is_gone and (archived or not each.is_archived)]


def _between(found: Sequence[Message], args: Json) -> list[Message]:
    oldest, latest = float(args.get("oldest", 0)), float(args.get("latest", "inf"))
    inclusive = args.get("inclusive", False)
    return [each for each in found if oldest < float(each.ts) < latest or (inclusive and float(each.ts) in (oldest, latest))]


def _paged(found: Sequence[T], call: Call, usual: int, most: int, given: int = 0) -> tuple[list[T], Json]:
    """Return one page, and what stands beside it; `given` is the most that this app gets, whatever it asks for."""
    limit = call.args.get("limit", usual) or usual
    if not 0 < limit <= most:
        raise Wrong("invalid_limit")
    limit = min(limit, given or limit)
    begin = _cursor(call.args.get("cursor", ""))
    page, left = list(found[begin : begin + limit]), len(found) > begin + limit
    following = base64.b64encode(f"next:{begin + limit}".encode()).decode() if left else ""
    more = {"has_more": left} if call.method in ("conversations.history", "conversations.replies") else {}
    return page, {**more, "response_metadata": {"next_cursor": following}}


def _cursor(text: str) -> int:
    if not text:
        return 0
    try:
        return int(base64.b64decode(text).decode().removeprefix("next:"))
    except ValueError as error:
        raise Wrong("invalid_cursor") from error
