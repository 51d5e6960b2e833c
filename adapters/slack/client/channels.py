"""Which channels somebody is in, and which everybody may read, as Slack says."""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from slack_sdk.errors import SlackApiError

from adapters.slack.client.api import Clients
from adapters.slack.client.errors import error_code
from adapters.slack.workspaces import team_of

KINDS = "public_channel,private_channel,mpim,im"
PUBLIC = "public_channel"
_CHANNELS = 1000  # of a person, asked for
_PAGE = 200
_ARCHIVED = 20  # channels that are asked about one by one: the app is in none of them
_HOLDS = 600.0  # seconds for which a channel is taken to be as it was
_KEPT = 10_000  # channels
_UNKNOWN = ("channel_not_found", "method_not_supported_for_channel_type", "missing_scope")  # it is not told which one it is
_NOBODY = "user_not_found"
_GUESTS = ("is_restricted", "is_ultra_restricted")  # of several channels, and of one


async def channels_of(
    clients: Clients, workspace: str, person: str = "", kinds: str = KINDS, *, archived: bool = False
) -> Mapping[str, str]:
    """Return the channels that the person is in, as far as the app may know them; those of the app itself for no person.

    By their identifiers stand their names, "" for a direct message. Raises what asking Slack raises
    (adapters.slack.client.errors.CLIENT_FAILURES).
    """
    client = await clients.client(workspace)
    found: dict[str, str] = {}
    asked = {"types": kinds, "exclude_archived": not archived, "limit": _PAGE} | ({"user": person} if person else {})
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


class ChannelReaders:
    """Tells who may read which channel of a workspace."""

    def __init__(self, clients: Clients, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._clients = clients
        self._monotonic = monotonic
        self._archived: dict[tuple[str, str], tuple[float, bool]] = {}  # until when that holds, and whether it is public

    async def readable_by(self, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that a person may read: what they and the app are in, and the app's public ones.

        The latter, and public ones that are archived, are the workspace's members' alone (`reads_public_channels`). Nothing
        for an account that is deactivated. Raises as `channels_of`.
        """
        client = await self._clients.client(workspace)
        user: Mapping[str, Any] = (await client.users_info(user=person))["user"]
        if user.get("deleted") is True:
            return ()
        found = {*await channels_of(self._clients, workspace, person, archived=True)}.intersection(channels)
        if reads_public_channels(user, team_of(workspace)) and not found.issuperset(channels):
            found |= {*await self.open_to_all(workspace, {*channels} - found)}
        return found

    async def is_member(self, workspace: str, person: str) -> bool:
        """Return whether somebody is of the workspace, or of another one with which it shares a channel that they are in.

        Nobody is whose account is deactivated, or whom Slack does not know there. Raises as `channels_of`.
        """
        client = await self._clients.client(workspace)
        try:
            user: Mapping[str, Any] = (await client.users_info(user=person))["user"]
        except SlackApiError as error:
            if error_code(error) != _NOBODY:
                raise
            return False
        return user.get("deleted") is not True and user.get("is_stranger") is not True

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        """Return those that everybody in the workspace may read: public ones, which the app is in or which are archived.

        Raises as `channels_of`.
        """
        found = {*await channels_of(self._clients, workspace, kinds=PUBLIC)}.intersection(channels)
        others = {*channels} - found
        now = self._monotonic()
        held = {each: self._archived.get((workspace, each), (0.0, False)) for each in sorted(others)}
        over = sorted((each for each, (until, _) in held.items() if until <= now), key=lambda each: held[each][0])
        for each in over[:_ARCHIVED]:  # those that were never asked about, or the longest ago
            held[each] = await self._ask_archived(workspace, each, now)
        return found | {each for each, (until, is_archived) in held.items() if is_archived and until > now}

    async def _ask_archived(self, workspace: str, channel: str, now: float) -> tuple[float, bool]:
        """Return until when it holds whether it is a public channel that is archived: then nobody is in it any more."""
        answer = now + _HOLDS, await self._asked_archived(workspace, channel)
        if len(self._archived) >= _KEPT:
            self._archived.clear()
        self._archived[workspace, channel] = answer
        return answer

    async def _asked_archived(self, workspace: str, channel: str) -> bool:
        client = await self._clients.client(workspace)
        try:
            found: Mapping[str, Any] = (await client.conversations_info(channel=channel))["channel"]
        except SlackApiError as error:
            if error_code(error) not in _UNKNOWN:
                raise
            return False
        return found.get("is_archived") is True and found.get("is_channel") is True and not found.get("is_private")
