"""Which channels somebody is in, and which everybody may read, as Slack says."""

from collections.abc import Collection, Mapping
from typing import Any

from adapters.slack.client.api import Clients
from adapters.slack.workspaces import team_of

KINDS = "public_channel,private_channel,mpim,im"
PUBLIC = "public_channel"
_CHANNELS = 1000  # of a person, asked for
_PAGE = 200
_GUESTS = ("is_restricted", "is_ultra_restricted")  # of several channels, and of one


async def channels_of(clients: Clients, workspace: str, person: str = "", kinds: str = KINDS) -> Mapping[str, str]:
    """Return the channels that the person is in, as far as the app may know them; those of the app itself for no person.

    By their identifiers stand their names, "" for a direct message. Raises what asking Slack raises
    (adapters.slack.client.errors.CLIENT_FAILURES).
    """
    client = await clients.client(workspace)
    found: dict[str, str] = {}
    asked = {"types": kinds, "exclude_archived": True, "limit": _PAGE} | ({"user": person} if person else {})
    while len(found) < _CHANNELS:
        page = await client.users_conversations(**asked)  # type: ignore[arg-type]
        found |= {str(each["id"]): str(each.get("name") or "") for each in page["channels"]}
        asked["cursor"] = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not asked["cursor"]:
            break
    return found


def home_teams(user: Mapping[str, Any], team: str) -> Collection[str]:
    """Return the workspaces of which somebody is a member, as a user object of users.info tells it to that workspace."""
    grid = user.get("enterprise_user") or {}
    return {str(user.get("team_id") or team), *map(str, grid.get("teams") or ())}


def reads_public_channels(user: Mapping[str, Any], team: str) -> bool:
    """Return whether somebody may read the workspace's public channels that they are not in: its members but for guests.

    A guest, of several channels or of one, reads what they are in (slack.com/help/articles/202518103), and so do people of
    other workspaces, with whom a channel is shared. `is_stranger` is said of those with whom none is
    (docs.slack.dev/apis/slack-connect).
    """
    is_other = user.get("is_stranger") is True or team not in home_teams(user, team)
    return not is_other and not any(user.get(name) is True for name in _GUESTS)


async def readable_by(clients: Clients, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
    """Return those of the channels that a person may read in the workspace: what they are in, and public ones of the app's.

    The latter are its members' alone (`reads_public_channels`). Nothing for an account that is deactivated. Raises as
    `channels_of`.
    """
    client = await clients.client(workspace)
    user: Mapping[str, Any] = (await client.users_info(user=person))["user"]
    if user.get("deleted") is True:
        return ()
    found = {*await channels_of(clients, workspace, person)}
    if reads_public_channels(user, team_of(workspace)):
        found |= {*await channels_of(clients, workspace, kinds=PUBLIC)}
    return found.intersection(channels)
