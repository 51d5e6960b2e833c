"""Which channels a person may know of: those that they are in, and public ones."""

import logging
from collections.abc import Collection, Sequence

from adapters.slack.client.clients import Clients
from adapters.slack.client.failures import reason
from adapters.slack.listeners.answers import TROUBLES
from bot.models import Actor

log = logging.getLogger(__name__)

_KINDS = "public_channel,private_channel,mpim,im"
_CHANNELS = 1000  # of a person, asked for
_PAGE = 200


async def channels_of(clients: Clients, workspace: str, person: str = "", kinds: str = _KINDS) -> Sequence[str]:
    """Return the channels that the person is in, as far as the app may know them; those of the app itself for no person.

    Raises what asking Slack raises (adapters.slack.listeners.answers.TROUBLES).
    """
    client = await clients.client(workspace)
    found: list[str] = []
    asked = {"types": kinds, "exclude_archived": True, "limit": _PAGE} | ({"user": person} if person else {})
    while len(found) < _CHANNELS:
        page = await client.users_conversations(**asked)  # type: ignore[arg-type]
        found += [str(each["id"]) for each in page["channels"]]
        asked["cursor"] = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not asked["cursor"]:
            break
    return found


class Sight:
    """Asks Slack what somebody may know of; where it does not say, that is the channel that they ask in."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def of(self, actor: Actor, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that the person is in, or in which the app is and which are public."""
        found = {actor.channel}
        try:
            for person, kinds in ((actor.person, _KINDS), ("", "public_channel")):
                if found.issuperset(channels):
                    break
                found.update(await channels_of(self._clients, actor.workspace, person, kinds))
        except TROUBLES as error:
            log.warning("Slack does not say now which channels somebody in %s is in: %s", actor.workspace, reason(error))
        return found.intersection(channels)
