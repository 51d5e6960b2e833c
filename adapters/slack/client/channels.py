"""Which channels somebody is in, and which everybody may read, as Slack says."""

from collections.abc import Collection, Mapping
from typing import Any

from adapters.slack.client.api import Clients

KINDS = "public_channel,private_channel,mpim,im"
PUBLIC = "public_channel"
_CHANNELS = 1000  # of a person, asked for
_PAGE = 200
_GUESTS = ("is_restricted", "is_ultra_restricted", "is_stranger")  # see of public channels only those that they are in


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


async def readable_by(clients: Clients, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
    """Return those of the channels that a person of the workspace may read: all public ones of the app's but for a guest.

    Nothing for an account that is deactivated. Raises as `channels_of`.
    """
    client = await clients.client(workspace)
    user: Mapping[str, Any] = (await client.users_info(user=person))["user"]
    if user.get("deleted") is True:
        return ()
    found = {*await channels_of(clients, workspace, person)}
    if not any(user.get(name) is True for name in _GUESTS):
        found |= {*await channels_of(clients, workspace, kinds=PUBLIC)}
    return found.intersection(channels)
