"""Slack's Messenger: posts each delivery once, with its identifier as metadata, and finds it again by that.

Slack has no way to say that two requests are the same (docs.slack.dev/reference/methods/chat.postMessage). What may have
been posted is looked for in the channel's history, where the metadata of our own messages stands.
"""

import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client.api import Clients
from adapters.slack.client.errors import FAILURES, NO_THREAD, error_code, slack_delivery_error
from adapters.slack.render import messages
from adapters.slack.render.blocks import FLAGS, SlackMessage
from adapters.slack.render.limits import problems
from adapters.slack.render.messages import Layout
from adapters.slack.workspaces import PLATFORM, team_of
from bot.errors import Delayed, Reach, StoreError, Uncertain
from bot.models import Abilities, Delivery, Digest, Rate
from bot.ports.chats import Chats

log = logging.getLogger(__name__)

EVENT = "broadsheet_delivery"
_EARLIER = timedelta(minutes=1)  # before the first try: clocks differ
_LAYOUT, _MEMBER, _THREAD = "layout", "member", "thread"
# What can be mended, since nothing was posted.
_MENDS: Mapping[str, str] = {
    "invalid_blocks": _LAYOUT,
    "invalid_blocks_format": _LAYOUT,
    "msg_blocks_too_long": _LAYOUT,
    "not_in_channel": _MEMBER,
    **dict.fromkeys(NO_THREAD, _THREAD),
}


class SlackMessenger:
    """bot.ports.messenger.Messenger for the workspaces `slack:…`."""

    platform = PLATFORM
    # Slack's own words: one message a second in a channel, "several hundred" a minute in a workspace; 50 a minute and more
    # for reading a history and for opening a conversation (docs.slack.dev/apis/web-api/rate-limits, tier 3).
    abilities = Abilities(
        finds=True,
        per_channel_second=1,
        per_workspace_minute=300,
        find=Rate(per_workspace_minute=50),
        tell=Rate(per_channel_second=1, per_workspace_minute=50),
        announce=Rate(per_channel_second=1),
    )

    def __init__(self, clients: Clients, *, layout: Layout, join_channels: bool, chats: Chats) -> None:
        """With `join_channels` the app joins a public channel that it is to post in and is not in yet."""
        self._clients = clients
        self._layout = layout
        self._join_channels = join_channels
        self._chats = chats
        self._urls: dict[str, str] = {}

    def render(self, digest: Digest, *, compact: bool, late: bool) -> Sequence[str]:
        """Return the digest's messages as JSON."""
        return [_payload(each) for each in messages.digest(digest, compact=compact, late=late, layout=self._layout)]

    async def send(self, delivery: Delivery) -> str:
        """Post it and return its timestamp, which is its name in the channel. Raises Refused, Delayed and Uncertain."""
        said = json.loads(delivery.payload)
        client = await self._client(delivery.workspace)
        await self._keep(delivery, said["keep"])
        message: dict[str, Any] = {
            "channel": delivery.channel,
            "text": said["text"],
            "metadata": {"event_type": EVENT, "event_payload": {"d": delivery.id}},
        }
        message |= {"blocks": said["blocks"]} if said["blocks"] else {}
        message |= {"thread_ts": delivery.thread} if delivery.thread else {}
        return await self._post(client, message)

    async def _client(self, workspace: str) -> AsyncWebClient:
        client = await self._clients.client(workspace)
        if not self._urls.get(workspace):
            self._urls[workspace] = await self._clients.team_url(workspace)
        return client

    async def _keep(self, delivery: Delivery, texts: Sequence[str]) -> None:
        """Keep what the buttons have no room for."""
        if not texts:
            return
        try:
            await self._chats.keep_texts(delivery.workspace, texts, _now(delivery))
        except StoreError as error:
            raise Delayed(f"What its buttons do could not be kept: {error}", reach=Reach.PLATFORM) from error

    async def _post(self, client: AsyncWebClient, message: dict[str, Any]) -> str:
        """Post it once; only where Slack said that it did not, once more for each thing that can be mended."""
        mended: set[str] = set()
        while True:
            try:
                answer = await client.chat_postMessage(**message, **FLAGS)
                return str(answer["ts"])
            except FAILURES as error:
                what = _MENDS.get(error_code(error), "")
                if not what or what in mended or not await self._mend(what, client, message):
                    raise slack_delivery_error(error) from error
                mended.add(what)

    async def _mend(self, what: str, client: AsyncWebClient, message: dict[str, Any]) -> bool:
        """Change the message, or join its channel; say whether that may have helped."""
        if what == _MEMBER:
            return await self._join(client, message["channel"])
        if what == _LAYOUT:
            log.warning("Slack does not take a message as it was laid out; it is posted as plain text")
        # The thread's first message was deleted: the rest is posted in the channel.
        return message.pop("blocks" if what == _LAYOUT else "thread_ts", None) is not None

    async def _join(self, client: AsyncWebClient, channel: str) -> bool:
        if not self._join_channels:
            return False
        try:
            await client.conversations_join(channel=channel)
        except FAILURES as error:
            why = slack_delivery_error(error)
            if isinstance(why, Uncertain):  # about joining; nothing was posted
                raise Delayed("Slack did not say whether Broadsheet is in the channel now.") from error
            if isinstance(why, Delayed):
                raise why from error
            return False  # private, for instance
        return True

    async def find(self, delivery: Delivery) -> str | None:
        """Look in the channel for the message, later parts in the first one's thread. Raises as the port says."""
        client = await self._client(delivery.workspace)
        try:
            return await self._found(client, delivery)
        except FAILURES as error:
            if error_code(error) != "not_in_channel" or not await self._join(client, delivery.channel):
                raise slack_delivery_error(error) from error
        try:
            return await self._found(client, delivery)
        except FAILURES as error:
            raise slack_delivery_error(error) from error

    async def _found(self, client: AsyncWebClient, delivery: Delivery) -> str | None:
        moment = (delivery.first_try or delivery.due) - _EARLIER
        async for message in messages_since(client, delivery.channel, moment, delivery.thread):
            data = message.get("metadata") or {}
            if data.get("event_type") == EVENT and (data.get("event_payload") or {}).get("d") == delivery.id:
                return str(message["ts"])
        return None

    def link(self, delivery: Delivery) -> str:
        """Return the message's permanent address; one that asks Slack for it, where the workspace's own is not known."""
        channel, ts = quote(delivery.channel, safe=""), delivery.message
        url = self._urls.get(delivery.workspace, "")
        if not url:
            team = quote(team_of(delivery.workspace), safe="")
            return f"https://slack.com/app_redirect?team={team}&channel={channel}&message_ts={quote(ts, safe='')}"
        address = f"{url.rstrip('/')}/archives/{channel}/p{quote(ts.replace('.', ''), safe='')}"
        return f"{address}?thread_ts={quote(delivery.thread, safe='')}&cid={channel}" if delivery.thread else address

    async def tell(self, workspace: str, person: str, text: str) -> None:
        """Write to one person directly."""
        client = await self._client(workspace)
        try:
            opened = await client.conversations_open(users=person)
        except FAILURES as error:
            raise slack_delivery_error(error) from error
        await self._post(client, _message(opened["channel"]["id"], text))

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        """Say it in a channel."""
        await self._post(await self._client(workspace), _message(channel, text))


def _payload(posting: SlackMessage) -> str:
    found = problems(posting.blocks)
    if found:
        log.error("a message is not as Slack takes it and is posted as plain text: %s", found[0])
        posting = messages.plain(posting)
    said = {"text": posting.text, "blocks": posting.blocks, "keys": posting.keys, "keep": posting.keep}
    return json.dumps(said, ensure_ascii=False)


def _message(channel: str, text: str) -> dict[str, Any]:
    posting = messages.notice(text)
    return {"channel": channel, "text": posting.text, "blocks": list(posting.blocks)}


def _now(delivery: Delivery) -> datetime:
    return delivery.last_try or delivery.due


Message = Mapping[str, Any]

_PAGE = 200  # messages of one look; Slack gives fewer to some apps, and a cursor for the rest


async def messages_since(client: AsyncWebClient, channel: str, moment: datetime, thread: str = "") -> AsyncIterator[Message]:
    """Yield what was written in the thread, where one is named, and then what was in the channel; raises one of FAILURES.

    A thread whose first message was deleted is passed over: what was to hang on it stands in the channel.
    """
    oldest = f"{moment.timestamp():.6f}"
    if thread:
        try:
            async for message in _pages(client.conversations_replies, channel, oldest, ts=thread):
                yield message
        except FAILURES as error:
            if error_code(error) not in NO_THREAD:
                raise
    async for message in _pages(client.conversations_history, channel, oldest):
        yield message


async def _pages(method: Any, channel: str, oldest: str, **more: str) -> AsyncIterator[Message]:
    cursor = ""
    while True:
        asked = {"channel": channel, "oldest": oldest, "limit": _PAGE, "include_all_metadata": True, **more}
        answer = await method(**asked, **({"cursor": cursor} if cursor else {}))
        for message in answer.get("messages") or []:
            yield message
        cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            return
