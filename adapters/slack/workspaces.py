"""Slack's workspaces as the core names them, and which one a request belongs to. Pure.

A channel may be shared by organisations (Slack Connect): who acts in it need not belong to the workspace with whose app they
do. docs/decisions/0047-shared-channels.md says what Slack sends.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

PLATFORM = "slack"
_TEAM = "team"
Body = Mapping[str, Any]  # of a request from Slack


def workspace_of(team: str) -> str:
    """Return the workspace's name in the core: slack:T0123."""
    return f"{PLATFORM}:{team}"


def team_of(workspace: str) -> str:
    """Return Slack's identifier of a workspace of the core."""
    return workspace.partition(":")[2]


def installed_team(body: Body, is_installed: Callable[[str, str], bool]) -> str:
    """Return the workspace that a request came to: whose installation of the app was acted with, or is told of an event.

    It is that one also where the app was removed from it since. "" where it may be somebody else's. `is_installed` is asked
    of a workspace, and of the organisation whose installation it is to be, "" for any.
    """
    if "event" in body:
        return _told(body, is_installed)
    if found := next(filter(None, _acted_with(body)), ""):
        return found
    team, organisation = str(_part(body, "user").get("team_id") or ""), str(_part(body, "enterprise").get("id") or "")
    return team if is_installed(team, organisation) else ""


def named_places(body: Body) -> list[str]:
    """Return the workspaces and organisations that a request names, each once."""
    parts = [body, *(each for each in body.get("authorizations") or () if isinstance(each, Mapping))]
    named = [each.get(name) for each in parts for name in ("team_id", "enterprise_id", "context_team_id")]
    named += [_part(body, name).get("id") for name in ("team", "enterprise")]
    return list(dict.fromkeys(str(each) for each in (*named, _part(body, "user").get("team_id")) if each))


def _told(body: Body, is_installed: Callable[[str, str], bool]) -> str:
    """Return the workspace whose installation an event names: one, also where several may see it.

    Where none is named, `team_id` may still be whose channel it is.
    """
    if named := [str(each["team_id"]) for each in body.get("authorizations") or () if each.get("team_id")]:
        return named[0]
    teams = [str(body[name]) for name in ("team_id", "context_team_id") if body.get(name)]
    return next((each for each in teams if is_installed(each, "")), teams[0] if teams else "")


def _acted_with(body: Body) -> Iterator[str]:
    """Yield the workspaces that an interaction names as the app's, the surest first, "" for what is not said.

    A workspace of who acts is named only where nobody else can: everybody in a channel may press a button, commands and
    shortcuts are its workspace's own, and of a view another field says whose app shows it. `team` is null where an
    organisation installed the app.
    """
    view, team = _part(body, "view"), str(_part(body, "team").get("id") or "")
    if "command" in body:
        yield str(body.get("team_id") or "")
    elif view:
        yield from (_home_team(view), str(view.get("app_installed_team_id") or ""), team, str(view.get("team_id") or ""))
    elif body.get("type") in ("shortcut", "message_action"):
        yield from (team, str(_part(body, "user").get("team_id") or ""))
    else:
        yield from (team, str(_part(body, "message").get("team") or ""))


def home_memory(team: str) -> str:
    """Return what a Home tab remembers: for which workspace it was made.

    Somebody of two workspaces of an organisation has one in each; of both Slack gives the first as `app_installed_team_id`
    (slackapi/bolt-python#1229).
    """
    return json.dumps({_TEAM: team})


def _home_team(view: Body) -> str:
    """Return the workspace for which a Home tab was made, "" for any other view."""
    if view.get("type") != "home":
        return ""
    return str(json.loads(view.get("private_metadata") or "{}").get(_TEAM) or "")


def _part(body: Body, name: str) -> Body:
    found = body.get(name)
    return found if isinstance(found, Mapping) else {}
