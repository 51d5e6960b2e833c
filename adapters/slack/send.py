"""Slack's Messenger: posts each delivery once, with its identifier as two marks, and finds it again by either.

Slack has no way to say that two requests are the same (docs.slack.dev/reference/methods/chat.postMessage). What may have
been posted is looked for in the channel's history, among our own messages: by their metadata, and, for where that is not
given back, by the name of a block. Plain text has no blocks; there the identifier stands in the last line. What is edited
carries both again: Slack wants another name of a block for each state of a message, so the number of the edit stands behind.
"""

import json
import logging
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar
from urllib.parse import quote

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client.api import Clients, Identity
from adapters.slack.client.channels import ChannelReaders
from adapters.slack.client.errors import (
    FAILURES,
    NO_THREAD,
    channel_sentence,
    error_code,
    missing_scope_sentence,
    slack_delivery_error,
)
from adapters.slack.render import messages
from adapters.slack.render.blocks import FLAGS
from adapters.slack.workspaces import PLATFORM, team_of
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected, StoreError, Uncertain
from bot.models import ABSENT, Abilities, Delivery, Digest, Layout, Look, Presses, Rate
from bot.ports.chats import Chats

log = logging.getLogger(__name__)

Message = Mapping[str, Any]
T = TypeVar("T")
EVENT = "broadsheet_delivery"
_SPARE = timedelta(minutes=1)  # before the first try and after the last one: clocks differ
_PAGE = 200  # messages of one look; Slack gives some apps fewer
_LATEST = "9999999999.000000"  # Slack shows those closest to the latest first where it is told one
_POSTING = "chat:write"  # the scope
_DEACTIVATED = "This person's account is deactivated."
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
    # for reading a history, for opening a conversation and for editing (docs.slack.dev/apis/web-api/rate-limits, tier 3).
    abilities = Abilities(
        finds=True,
        edits=True,
        per_channel_second=1,
        per_workspace_minute=300,
        find=Rate(per_workspace_minute=50),
        tell=Rate(per_channel_second=1, per_workspace_minute=50),
        announce=Rate(per_channel_second=1),
        edit=Rate(per_channel_second=1, per_workspace_minute=50),
    )

    def __init__(self, clients: Clients, *, join_channels: bool, chats: Chats) -> None:
        """With `join_channels` the app joins a public channel that it is to post in and is not in yet."""
        self._clients = clients
        self._join_channels = join_channels
        self._chats = chats
        self._readers = ChannelReaders(clients)
        self._urls: dict[str, str] = {}

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        """Return the digest's messages as JSON."""
        return messages.payloads(digest, layout=layout, late=late)

    async def send(self, delivery: Delivery) -> str:
        """Post it and return its timestamp, which is its name in the channel. Raises as the port says."""
        said = json.loads(delivery.payload)
        client = await self._client(delivery.workspace)
        await self._keep(delivery, said["keep"])
        message: dict[str, Any] = {"channel": delivery.channel, "metadata": _metadata(delivery)}
        message |= _marked(said["text"], said["blocks"], delivery.id)
        message |= {"thread_ts": thread} if (thread := _thread(delivery)) else {}
        return await self._post(client, message)

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        """Update the message in one call; what was posted as plain text stays as it is. Raises as the port says."""
        said = messages.with_presses(json.loads(posted.payload), presses)
        client = await self._client(posted.workspace)
        marked = _marked(said["text"], said["blocks"], posted.id, number)
        message = {"channel": posted.channel, "ts": posted.message, "metadata": _metadata(posted)} | marked
        try:
            await client.chat_update(**message, parse="none")  # names are linked only where that is asked for
        except FAILURES as error:
            raise await self._clients.meaning(client, error) from error

    async def publish(self, posted: Delivery) -> None:
        """Raise Rejected: no channel of Slack's can be followed from elsewhere."""
        raise Rejected("Slack has no channels that others follow.", failure="no followers")

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
                    raise await self._clients.meaning(client, error) from error
                mended.add(what)

    async def _mend(self, what: str, client: AsyncWebClient, message: dict[str, Any]) -> bool:
        """Change the message, or join its channel; say whether that may have helped."""
        if what == _MEMBER:
            return await self._join(client, message["channel"])
        if what == _THREAD:  # its first message was deleted: the rest is posted in the channel
            return message.pop("thread_ts", None) is not None
        log.warning("Slack does not take a message as it was laid out; it is posted as plain text")
        mark = message.get("metadata", {}).get("event_payload", {}).get("d", "")
        message |= _marked(message["text"], (), mark)
        return message.pop("blocks", None) is not None

    async def _join(self, client: AsyncWebClient, channel: str) -> bool:
        if not self._join_channels:
            return False
        try:
            await client.conversations_join(channel=channel)
        except FAILURES as error:
            why = slack_delivery_error(error)
            if isinstance(why, Uncertain):  # about joining; nothing was posted
                raise Delayed("Slack did not say whether Broadsheet is in the channel now.") from error
            if isinstance(why, Delayed | Rejected):
                raise why from error
            return False  # private, for instance
        return True

    async def find(self, delivery: Delivery) -> Look:
        """Look through a page of the messages, parts of a thread first in the thread. Raises as the port says.

        One look is one call, so that each counts as what it is.
        """
        client = await self._client(delivery.workspace)
        identity = await self._clients.identity(delivery.workspace)
        if identity is None or not (identity.bot or identity.bot_user):
            raise Delayed("Slack did not say who Broadsheet is in the workspace.")
        rest = _Unread.of(delivery)
        try:
            messages, has_more = await self._page(client, delivery, rest)
        except FAILURES as error:
            if rest.in_thread and error_code(error) in NO_THREAD:
                return Look(cursor=rest.after_thread().text())  # what was to hang on it stands in the channel
            raise await self._clients.meaning(client, error) from error
        ours = (each for each in messages if _is_ours(each, identity) and _carries(each, delivery.id))
        found = next((str(each["ts"]) for each in ours), "")
        if found:
            return Look(message=found)
        if has_more:
            return Look(cursor=rest.after(messages).text())
        return Look(cursor=rest.after_thread().text()) if rest.in_thread else ABSENT

    async def _page(
        self, client: AsyncWebClient, delivery: Delivery, rest: "_Unread", *, may_join: bool = True
    ) -> tuple[Sequence[Message], bool]:
        """Return a page of what is not read yet, and whether there is more; raises one of FAILURES."""
        oldest, latest = rest.bounds()
        asked: dict[str, Any] = {"channel": delivery.channel, "oldest": oldest, "latest": latest, "limit": _PAGE}
        asked |= {"include_all_metadata": True}
        try:
            if rest.in_thread:
                answer = await client.conversations_replies(ts=delivery.thread, **asked)
            else:
                answer = await client.conversations_history(**asked)
        except FAILURES as error:
            if may_join and error_code(error) == "not_in_channel" and await self._join(client, delivery.channel):
                return await self._page(client, delivery, rest, may_join=False)
            raise
        following = (answer.get("response_metadata") or {}).get("next_cursor")
        return answer.get("messages") or [], bool(answer.get("has_more") or following)

    def link(self, delivery: Delivery) -> str:
        """Return the message's permanent address; one that asks Slack for it, where the workspace's own is not known."""
        channel, ts = quote(delivery.channel, safe=""), delivery.message
        url = self._urls.get(delivery.workspace, "")
        if not url:
            team = quote(team_of(delivery.workspace), safe="")
            return f"https://slack.com/app_redirect?team={team}&channel={channel}&message_ts={quote(ts, safe='')}"
        address = f"{url.rstrip('/')}/archives/{channel}/p{quote(ts.replace('.', ''), safe='')}"
        thread = _thread(delivery)
        return f"{address}?thread_ts={quote(thread, safe='')}&cid={channel}" if thread else address

    async def tell(self, workspace: str, person: str, text: str) -> None:
        """Write to one person directly."""
        client = await self._client(workspace)
        try:
            opened = await client.conversations_open(users=person)
        except FAILURES as error:
            raise await self._clients.meaning(client, error) from error
        await self._post(client, _message(opened["channel"]["id"], text))

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        """Say it in a channel."""
        await self._post(await self._client(workspace), _message(channel, text))

    async def obstacle(self, workspace: str, channel: str, *, may_join: bool = False) -> str:
        """Return what keeps us from posting there: one request, two where an organisation's token acts in the workspace.

        Who was removed from a public channel does not come back by itself; with `may_join`, somebody asks for it.
        """
        try:
            if not channel:
                return await self._clients.lacks_access(workspace)
            client = await self._clients.client(workspace)
            answer: Any = await client.conversations_info(channel=channel)
        except (DeliveryError, *FAILURES) as error:
            if error_code(error) == "missing_scope":  # of looking at the channel, which says nothing of posting there
                raise Rejected("Broadsheet may not look at the channel.", failure="missing_scope") from error
            why = slack_delivery_error(error)
            if isinstance(why, Refused):
                return str(why)
            raise why from error
        if _POSTING not in _scopes(answer.headers):
            return missing_scope_sentence(_POSTING)
        if not isinstance(found := answer.get("channel"), Mapping):
            raise Rejected("Slack does not show the channel.", failure="no channel")
        return self._closed(found, may_join=may_join and self._join_channels)

    async def visible_to(self, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that the person may read: bot.ports.messenger.Visibility; some requests."""
        return await _told(self._readers.readable_by(workspace, person, channels))

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        """Return the public ones of the channels, in which the app is or was when they were archived."""
        return await _told(self._readers.open_to_all(workspace, channels))

    async def is_member(self, workspace: str, person: str) -> bool:
        """Return whether the person's account is in use there, or a channel is shared with them."""
        return await _told(self._readers.is_member(workspace, person))

    def _closed(self, channel: Mapping[str, Any], *, may_join: bool) -> str:
        """Return what keeps us from posting in a channel, as conversations.info shows it."""
        if channel.get("is_im"):
            return _DEACTIVATED if channel.get("is_user_deleted") else ""
        if channel.get("is_archived"):
            return channel_sentence("is_archived")
        joins = may_join and not channel.get("is_private")
        return channel_sentence("not_in_channel") if channel.get("is_member") is False and not joins else ""


def _thread(delivery: Delivery) -> str:
    """Return the message in whose thread the part belongs, "" for the channel; those of earlier versions all had one."""
    if not delivery.thread or not delivery.payload:
        return delivery.thread
    return delivery.thread if json.loads(delivery.payload).get("threaded", True) else ""


def _scopes(headers: Mapping[str, str]) -> Collection[str]:
    """Return what the token of an answer allows; where Slack does not say, that it posts."""
    said = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), _POSTING)
    return {each.strip() for each in said.split(",")}


def _message(channel: str, text: str) -> dict[str, Any]:
    posting = messages.notice(text)
    return {"channel": channel, "text": posting.text, "blocks": list(posting.blocks)}


def _now(delivery: Delivery) -> datetime:
    return delivery.last_try or delivery.due


def _metadata(delivery: Delivery) -> dict[str, Any]:
    return {"event_type": EVENT, "event_payload": {"d": delivery.id}}


def _marked(text: str, blocks: Sequence[Mapping[str, Any]], mark: str, edit: int = 0) -> dict[str, Any]:
    """Return the text and the blocks with the mark as a name of one block; without blocks it is the text's last line.

    Behind the name stands the number of the edit, where it is one: "block_id should be unique for each message and each
    iteration of a message" (docs.slack.dev/reference/block-kit/blocks).
    No block of the payload is changed, which is sealed.
    """
    made = [dict(each) for each in blocks]
    if not made or not mark:
        return {"text": f"{text}\n{mark}".rstrip()} | ({"blocks": made} if made else {})
    bare = next((each for each in made if "block_id" not in each), made[0])
    name = f"{mark}:{edit}" if edit else mark
    bare["block_id"] = f"{bare['block_id']}:{name}" if "block_id" in bare else name
    return {"text": text, "blocks": made}


async def _told(asking: Awaitable[T]) -> T:
    """Return what Slack says of its channels. Raises DeliveryError."""
    try:
        return await asking
    except DeliveryError:
        raise
    except FAILURES as error:
        raise slack_delivery_error(error) from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # of what is not Slack's answer
        raise Delayed("Slack does not say now who is in which channel.") from error


def _is_ours(message: Message, identity: Identity) -> bool:
    by_bot = bool(identity.bot) and message.get("bot_id") == identity.bot
    return by_bot or (bool(identity.bot_user) and message.get("user") == identity.bot_user)


def _carries(message: Message, mark: str) -> bool:
    data = message.get("metadata") or {}
    if data.get("event_type") == EVENT and (data.get("event_payload") or {}).get("d") == mark:
        return True
    names = (str(each.get("block_id") or "") for each in message.get("blocks") or ())
    return any(mark in each.split(":") for each in names) or str(message.get("text") or "").endswith(f"\n{mark}")


@dataclass(frozen=True, slots=True)
class _Unread:
    """What is still to be read: messages between two times, by Slack's own timestamps, which are also their names.

    Slack gives the latest of a channel first, and the first of a thread (conversations.history and .replies). Its own
    cursors would do the same; nothing says for how long they are good, and a time is good for ever.
    """

    in_thread: bool
    since: str
    until: str
    read: str = ""  # how far: in a thread up to this message, in a channel down to it

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        """Return what the last look left, all where there was none."""
        if delivery.cursor:
            place, since, until, read = delivery.cursor.split(" ")
            return cls(place == _THREAD, since, until, read)
        first = (delivery.first_try or delivery.due) - _SPARE
        last = _timestamp(delivery.last_try + _SPARE) if delivery.last_try else _LATEST
        return cls(bool(_thread(delivery)), _timestamp(first), last)

    def text(self) -> str:
        """Return it as a delivery's cursor."""
        return " ".join((_THREAD if self.in_thread else "channel", self.since, self.until, self.read))

    def bounds(self) -> tuple[str, str]:
        """Return between which times to ask."""
        return (self.read or self.since, self.until) if self.in_thread else (self.since, self.read or self.until)

    def after(self, messages: Sequence[Message]) -> Self:
        """Return what is left behind a page; raises Delayed when that page had nothing new."""
        oldest, latest = self.bounds()
        names = [str(each["ts"]) for each in messages]
        # A thread's first message stands on each of its pages.
        new = [each for each in names if float(oldest) < float(each) < float(latest)]
        if not new:
            raise Delayed("Slack shows no further page of the channel's history.")
        return replace(self, read=max(new, key=float) if self.in_thread else min(new, key=float))

    def after_thread(self) -> Self:
        """Return what is left behind the thread: the channel."""
        return replace(self, in_thread=False, read="")


def _timestamp(moment: datetime) -> str:
    return f"{moment.timestamp():.6f}"
