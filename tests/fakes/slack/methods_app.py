"""auth.*, team.*, users.info and files.*: docs.slack.dev/reference/methods."""

from collections.abc import Callable

from tests.fakes.slack import methods_chat
from tests.fakes.slack.call import Call
from tests.fakes.slack.state import Json, Message, Person
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong


def auth_test(world: World, call: Call) -> Json:
    if call.grant.kind == "app":
        raise Wrong("not_allowed_token_type")
    team = next(world.reachable(call.grant))
    return {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": team.app_user.name,
        "team_id": team.id,
        "user_id": team.app_user.id,
        "bot_id": "B0BROAD",
        "enterprise_id": team.enterprise or None,
        "is_enterprise_install": bool(call.grant.enterprise),
    }


def teams_list(world: World, call: Call) -> Json:
    teams = [{"id": each.id, "name": each.name} for each in world.reachable(call.grant)]
    return {"teams": teams, "response_metadata": {"next_cursor": ""}}


def auth_revoke(world: World, call: Call) -> Json:
    if not call.args.get("test"):
        call.grant.trouble = "token_revoked"
    return {"revoked": not call.args.get("test", False)}


def team_info(world: World, call: Call) -> Json:
    team = next(world.reachable(call.grant))
    return {"team": {"id": team.id, "name": team.name, "domain": team.domain, "icon": {}}}


def users_info(world: World, call: Call) -> Json:
    team, person = world.met(call.grant, call.args.get("user", ""))
    if person.team != team.id and (not team.enterprise or world.teams[person.team].enterprise != team.enterprise):
        return {"user": _external(person)}
    return {
        "user": {
            "id": person.id,
            "team_id": person.team,
            "name": person.name,
            "deleted": person.is_deleted,
            "real_name": person.name.title(),
            "tz": person.zone,
            "tz_label": person.zone,
            "tz_offset": person.offset,
            "profile": {"real_name": person.name.title(), "display_name": person.name, "team": person.team},
            "is_admin": person.is_admin,
            "is_owner": person.is_owner,
            "is_primary_owner": False,
            "is_restricted": person.is_guest or person.is_single_channel_guest,
            "is_ultra_restricted": person.is_single_channel_guest,
            "is_bot": person.is_bot,
            "is_app_user": False,
            "updated": 1502138686,
            **_grid(world, person),
        }
    }


def _grid(world: World, person: Person) -> Json:
    """Show to which organisation somebody belongs."""
    organisation = world.teams[person.team].enterprise
    if not organisation:
        return {}
    return {"enterprise_user": {"id": person.id, "enterprise_id": organisation, "teams": [person.team]}}


def _external(person: Person) -> Json:
    """Show somebody of another organisation, with whom a channel is shared: no `is_stranger`, and nothing of their rights.

    docs.slack.dev/apis/slack-connect, "External members".
    """
    return {
        "id": person.id,
        "team_id": person.team,
        "name": person.name,
        "deleted": person.is_deleted,
        "real_name": person.name.title(),
        "tz": person.zone,
        "profile": {"real_name": person.name.title(), "display_name": person.name, "team": person.team},
        "is_bot": person.is_bot,
        "is_stranger": False,
        "updated": 1502138686,
    }


class Files:
    """Uploads in two steps; `url()` is where this server is."""

    def __init__(self, url: Callable[[], str]) -> None:
        self._url = url

    def upload_url(self, world: World, call: Call) -> Json:
        if len(call.args.get("alt_txt", "")) > 1000:
            raise Wrong("alt_txt_too_large")
        name = f"F{len(world.files):010d}"
        world.files[name] = {"id": name, "name": call.args["filename"], "size": call.args["length"], "is_complete": False}
        world.files[name]["alt_txt"] = call.args.get("alt_txt", "")
        return {"upload_url": f"{self._url()}/upload/{name}", "file_id": name}

    def complete(self, world: World, call: Call) -> Json:
        done = [self._completed(world, each) for each in call.args["files"]]
        where = str(call.args.get("channel_id", call.args.get("channels", "")))
        if where:
            channel = world.writable(call.grant, where)
            team = world.team_in(call.grant, channel)
            message = Message(ts=world.times.ts(), channel=channel.id, team=team.id, user=team.app_user.id, at=world.now)
            message.text, message.thread = call.args.get("initial_comment", ""), call.args.get("thread_ts", "")
            message.asked = {"files": done}
            world.post(message)
        return {"files": done}

    def _completed(self, world: World, given: Json) -> Json:
        found = world.files.get(given.get("id", ""))
        if found is None or found["id"] not in world.uploads:
            raise Wrong("file_not_found")
        found |= {"title": given.get("title", found["name"]), "is_complete": True, "content": world.uploads[found["id"]]}
        return {"id": found["id"], "title": found["title"]}


CHAT = {
    "chat.postMessage": methods_chat.post_message,
    "chat.postEphemeral": methods_chat.post_ephemeral,
    "chat.update": methods_chat.update,
    "chat.delete": methods_chat.delete,
    "chat.unfurl": methods_chat.unfurl,
    "chat.getPermalink": methods_chat.get_permalink,
}
