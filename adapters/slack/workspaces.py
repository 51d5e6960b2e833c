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

    `is_installed` is asked of a workspace, and of the organisation whose installation it is to be, "" for any. Where the
    app is in none of those that the request names, it is the first of them; "" where that may be somebody else's.
    """
    teams = [each for each in _teams(body) if each]
    if (found := next((each for each in teams if is_installed(each, "")), "")) or teams:
        return found or teams[0]
    team, organisation = str(_part(body, "user").get("team_id") or ""), str(_part(body, "enterprise").get("id") or "")
    return team if is_installed(team, organisation) else ""


def _teams(body: Body) -> Iterator[str]:
    """Yield the workspaces that a request names, the likeliest first.

    A workspace of who acts is named only where nobody else can: everybody in a channel may press a button, commands and
    shortcuts are its workspace's own, and of a view another field says whose app shows it. `team` is null where an
    organisation installed the app.
    """
    view, team = _part(body, "view"), str(_part(body, "team").get("id") or "")
    if "event" in body:
        # One installation stands there, also where several may see the event; `team_id` may be whose channel it is.
        yield from (str(each.get("team_id") or "") for each in body.get("authorizations") or ())
        yield from (str(body.get(name) or "") for name in ("team_id", "context_team_id"))
    elif "command" in body:
        yield str(body.get("team_id") or "")
    elif view:
        yield home_team(view)
        yield str(view.get("app_installed_team_id") or "")
        yield team
        yield str(view.get("team_id") or "")
    elif body.get("type") in ("shortcut", "message_action"):
        yield team
        yield str(_part(body, "user").get("team_id") or "")
    else:
        yield team
        yield str(_part(body, "message").get("team") or "")


def home_memory(team: str) -> str:
    """Return what a Home tab remembers: for which workspace it was made.

    Somebody of two workspaces of an organisation has one in each; of both Slack gives the first as `app_installed_team_id`
    (slackapi/bolt-python#1229).
    """
    return json.dumps({_TEAM: team})


def home_team(view: Body) -> str:
    """Return the workspace for which a Home tab was made, "" for any other view."""
    if view.get("type") != "home":
        return ""
    return str(json.loads(view.get("private_metadata") or "{}").get(_TEAM) or "")


def _part(body: Body, name: str) -> Body:
    found = body.get(name)
    return found if isinstance(found, Mapping) else {}
