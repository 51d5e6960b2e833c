"""Requests about the bot, its application, its commands, servers and people."""

import json
from typing import Any

from tests.fakes.discord.calls import NOTHING, Call, Reply, route
from tests.fakes.discord.command_rules import command_flaws, commands_flaws
from tests.fakes.discord.description import Flaw
from tests.fakes.discord.permissions import allowed, everywhere
from tests.fakes.discord.refusals import Refusal
from tests.fakes.discord.things import Channel
from tests.fakes.discord.world import World

_COMMANDS = "/applications/{application_id}/commands"
_GUILD_COMMANDS = "/applications/{application_id}/guilds/{guild_id}/commands"


@route("GET", "/users/@me")
async def me(world: World, _: Call) -> Reply:
    return 200, world.bot.shape() | {"mfa_enabled": False, "locale": "en-GB", "verified": True, "email": None}


@route("GET", "/users/@me/guilds")
async def my_guilds(world: World, _: Call) -> Reply:
    mine = [each for each in world.guilds.values() if world.bot.id in each.members]
    return 200, [
        {
            "id": str(each.id),
            "name": each.name,
            "icon": None,
            "banner": None,
            "owner": False,
            "permissions": str(int(everywhere(world.bot, each))),
            "features": [],
        }
        for each in mine
    ]


@route("DELETE", "/users/@me/guilds/{guild_id}")
async def leave(world: World, call: Call) -> Reply:
    guild = world.guild_of(call.number("guild_id"))
    del guild.members[world.bot.id]
    world.dispatch("GUILD_DELETE", {"id": str(guild.id)}, guild=guild)
    return NOTHING


@route("POST", "/users/@me/channels")
async def open_private(world: World, call: Call) -> Reply:
    user = world.users.get(int(call.body["recipient_id"]))
    if user is None:
        raise Refusal(10013)
    return 200, world.private(user).shape()


@route("GET", "/users/{user_id}")
async def get_user(world: World, call: Call) -> Reply:
    user = world.users.get(call.number("user_id"))
    if user is None:
        raise Refusal(10013)
    return 200, user.shape()


def application(world: World) -> dict[str, Any]:
    """Return the application as a reply has it."""
    owner = next(iter(world.guilds.values())).owner if world.guilds else world.bot
    return {
        "id": str(world.application),
        "name": world.bot.name,
        "description": world.description,
        "icon": None,
        "type": None,
        "bot": world.bot.shape(),
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": world.public_key,
        "flags": world.application_flags,
        "flags_new": str(world.application_flags),
        "redirect_uris": [],
        "interactions_endpoint_url": world.interactions_endpoint_url or None,
        "role_connections_verification_url": None,
        "owner": owner.shape(),
        "approximate_guild_count": len(world.guilds),
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "explicit_content_filter": 0,
        "team": None,
        "eligible_oauth2_scopes": [],
        "integration_types_config": {"0": {}},
    }


@route("GET", "/oauth2/applications/@me")
@route("GET", "/applications/@me")
async def my_application(world: World, _: Call) -> Reply:
    return 200, application(world)


@route("GET", "/guilds/{guild_id}")
async def get_guild(world: World, call: Call) -> Reply:
    guild = world.guild_of(call.number("guild_id"))
    counts = {"approximate_member_count": len(guild.members), "approximate_presence_count": 1}
    return 200, guild.shape() | (counts if call.query.get("with_counts") in ("1", "true") else {})


@route("GET", "/guilds/{guild_id}/channels")
async def guild_channels(world: World, call: Call) -> Reply:
    """All of them, as Discord does, those that the bot does not see too."""
    guild = world.guild_of(call.number("guild_id"))
    return 200, [each.shape() for each in guild.channels.values() if not each.is_thread]


@route("GET", "/guilds/{guild_id}/roles")
async def guild_roles(world: World, call: Call) -> Reply:
    return 200, [each.shape() for each in world.guild_of(call.number("guild_id")).roles.values()]


@route("GET", "/guilds/{guild_id}/members/{user_id}")
async def guild_member(world: World, call: Call) -> Reply:
    member = world.guild_of(call.number("guild_id")).members.get(call.number("user_id"))
    if member is None:
        raise Refusal(10007)
    return 200, member.shape()


@route("GET", "/guilds/{guild_id}/threads/active")
async def active_threads(world: World, call: Call) -> Reply:
    guild = world.guild_of(call.number("guild_id"))
    some = [each for each in guild.channels.values() if _is_open(world, each)]
    return 200, {"threads": [each.shape() for each in some], "members": [], "has_more": False}


def _is_open(world: World, thread: Channel) -> bool:
    return thread.is_thread and thread.archived_at is None and bool(allowed(world.bot, thread))


# --- commands


def _right_all(call: Call) -> list[Flaw]:
    return commands_flaws(call.body or [])


def _right_one(call: Call) -> list[Flaw]:
    return command_flaws(call.body)


@route("GET", _COMMANDS)
@route("GET", _GUILD_COMMANDS)
async def list_commands(world: World, call: Call) -> Reply:
    return 200, list(world.commands.get(_scope(world, call), {}).values())


@route("PUT", _COMMANDS, _right_all)
@route("PUT", _GUILD_COMMANDS, _right_all)
async def set_commands(world: World, call: Call) -> Reply:
    """All of a scope at once; one that was there by that name and type keeps its identifier."""
    world.counts["syncs"] += 1
    scope = _scope(world, call)
    known = {(each["type"], each["name"]): int(each["id"]) for each in world.commands.get(scope, {}).values()}
    made = [_command(world, each, scope, known.get((each.get("type") or 1, each["name"]), 0)) for each in call.body or []]
    world.commands[scope] = {int(each["id"]): each for each in made}
    return 200, made


@route("POST", _COMMANDS, _right_one)
@route("POST", _GUILD_COMMANDS, _right_one)
async def add_command(world: World, call: Call) -> Reply:
    scope = _scope(world, call)
    there = world.commands.setdefault(scope, {})
    same = [
        each for each in there.values() if (each["type"], each["name"]) == (call.body.get("type") or 1, call.body["name"])
    ]
    made = _command(world, call.body, scope, int(same[0]["id"]) if same else 0)
    there[int(made["id"])] = made
    return 200 if same else 201, made


@route("DELETE", _COMMANDS + "/{command_id}")
@route("DELETE", _GUILD_COMMANDS + "/{command_id}")
async def delete_command(world: World, call: Call) -> Reply:
    if world.commands.get(_scope(world, call), {}).pop(call.number("command_id"), None) is None:
        raise Refusal(10063)
    return NOTHING


def _scope(world: World, call: Call) -> int:
    if call.number("application_id") != world.application:
        raise Refusal(50001)
    return world.guild_of(call.number("guild_id")).id if "guild_id" in call.part else 0


def _command(world: World, said: dict[str, Any], scope: int, number: int) -> dict[str, Any]:
    permissions = said.get("default_member_permissions")
    made = {
        "id": str(number or world.new_id()),
        "application_id": str(world.application),
        "version": str(world.new_id()),
        "default_member_permissions": None if permissions is None else str(permissions),
        "type": said.get("type") or 1,
        "name": said["name"],
        "description": said.get("description") or "",
        "nsfw": bool(said.get("nsfw")),
    }
    if said.get("options"):
        made["options"] = json.loads(json.dumps(said["options"]), object_hook=_without_nothing)
    for name in ("name_localizations", "description_localizations"):
        if said.get(name):
            made[name] = said[name]
    if scope:
        return made | {"guild_id": str(scope)}
    contexts = said.get("contexts")
    kinds = said.get("integration_types") or [0]
    return made | {"dm_permission": contexts is None or 1 in contexts, "contexts": contexts, "integration_types": kinds}


def _without_nothing(node: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if value is not None}


# --- the gateway's address


@route("GET", "/gateway")
async def gateway(world: World, _: Call) -> Reply:
    return 200, {"url": world.gateway_url}


@route("GET", "/gateway/bot")
async def gateway_bot(world: World, _: Call) -> Reply:
    limit = {"total": 1000, "remaining": world.identifies_left, "reset_after": 3_600_000}
    limit["max_concurrency"] = world.max_concurrency
    return 200, {"url": world.gateway_url, "shards": world.shards, "session_start_limit": limit}
