"""Discord's Messenger: each delivery is posted with its own nonce, and carries its identifier in its first button.

The nonce keeps a second sending from posting again for a few minutes (docs.discord.com/developers/resources/message, Create
Message); later the message is looked for, among our own, by what its first button carries. A forum's posts take no nonce:
there, whoever sends again looks first. Where Discord refuses a thread, the channel gets what was to hang in it, with the
same nonce; whoever looks for that looks through both.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from discord.errors import HTTPException
from discord.http import MultipartParameters, Route
from discord.utils import time_snowflake

from adapters.discord.client.api import RestClient
from adapters.discord.client.channels import NO_MESSAGES, ChannelInfo, Channels
from adapters.discord.client.errors import (
    A_FORUM,
    ARCHIVED_THREAD,
    CROSSPOSTED,
    HAS_A_THREAD,
    INVALID_FORM,
    LOCKED_THREAD,
    MISSING_ACCESS,
    MISSING_PERMISSIONS,
    NO_ANNOUNCEMENTS,
    NOT_A_TEXT_CHANNEL,
    TAG_REFUSALS,
    TOO_MANY_THREADS,
    UNKNOWN_CHANNEL,
    UNKNOWN_GUILD,
    UNKNOWN_MESSAGE,
    discord_delivery_error,
    sentence_of,
)
from adapters.discord.render import markdown
from adapters.discord.render.components import (
    NO_MENTIONS,
    SUPPRESS_EMBEDS,
    custom_ids,
    delivery_of,
    nested,
    text,
    with_delivery,
)
from adapters.discord.render.digests import payloads, with_presses
from adapters.discord.render.hints import UNKNOWN_IDS, CommandIds, in_server
from adapters.discord.render.limits import CONTENT, TAG_NAME, TAGS, THREAD_NAME, length
from adapters.discord.workspaces import PLATFORM, guild_of, workspace_of
from adapters.text import cut
from bot.delivery.send import SKEW
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected
from bot.models import ABSENT, Abilities, Delivery, Digest, Layout, Look, Presses, Rate
from bot.ports.chats import Chats

T = TypeVar("T")

log = logging.getLogger(__name__)

PER_SECOND = 50  # requests of one bot over everything (topics/rate-limits#global-rate-limit)
_REMEMBERED = timedelta(minutes=2)  # "the past few minutes", says Discord of nonces
_SETTLES = timedelta(minutes=1)  # the ledger's quarantine for platforms without nonces
_SPARE = timedelta(minutes=1)  # before the first try and after the last one: clocks differ
_PAGE = 100  # messages of one look, and threads of one request: the most that Discord gives
_POSTS = 10  # of a forum whose first messages one look reads
_LATEST = 2**63 - 1  # no identifier is greater
_UNSURE = "unsure"  # ends the cursor of a forum where a post was met that may be the delivery's
_DELETED = "deleted"  # in place of the identifier of a message that somebody took away before we knew it
_NOT_FOLLOWED = "The channel is no announcement channel any more."
_POST_GONE = frozenset({UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, LOCKED_THREAD})
_OF_TAGS = frozenset({INVALID_FORM, *TAG_REFUSALS})
_KEPT = 1000  # digests without a thread that are remembered
_BESIDES = "channel"  # begins the cursor of a look into the channel, after the one into the thread
_ARCHIVE = 10_080  # minutes without a word after which Discord puts a thread away: the longest, a week


class DiscordMessenger:
    """bot.ports.messenger.Messenger for the workspaces `discord:…`."""

    platform = PLATFORM
    abilities = Abilities(
        nonce_window=_REMEMBERED,
        finds=True,
        edits=True,
        per_second=PER_SECOND,
        per_channel_second=1,
        edit=Rate(per_channel_second=1),
    )

    def __init__(
        self,
        client: RestClient,
        chats: Chats,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        channels: Channels | None = None,
        settles: timedelta = _SETTLES,
        ids: CommandIds = UNKNOWN_IDS,
    ) -> None:
        """`settles`: so long after a try of which nothing came back a forum may still get its post.

        `ids` are the identifiers of our commands, which may become known later.
        """
        self._client = client
        self._chats = chats
        self._clock = clock
        self._channels = channels or Channels(client)
        self._settles = settles
        self._ids = ids
        self._threadless: dict[str, None] = {}  # first messages for which Discord refused a thread: the rest follows them
        self._unclear: dict[str, datetime] = {}  # deliveries whose post in a forum may still come, and until when

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        """Return the digest's messages as JSON."""
        return payloads(digest, layout=layout, late=late, ids=in_server(self._ids))

    async def send(self, delivery: Delivery) -> str:
        """Post it. Raises Refused, Rejected, Delayed and Uncertain."""
        said = json.loads(delivery.payload)
        await self._chats.keep_texts(delivery.workspace, said["keep"], self._clock())
        try:
            return await self._posted(delivery, said)
        except DeliveryError:
            raise
        except Exception as error:
            raise await self._explained(error, delivery) from error

    async def _posted(self, delivery: Delivery, said: dict[str, Any]) -> str:
        body = _with_marker(said["body"], delivery.id)
        try:
            return await self._put(delivery, said, body)
        except HTTPException as error:
            if error.code != INVALID_FORM:
                raise
            log.warning("Discord does not take a message as it was written: %s", error.text)
        # Nothing was posted: once more, as plain text.
        return await self._put(delivery, said, _with_marker(said["plain"], delivery.id))

    async def _put(self, delivery: Delivery, said: dict[str, Any], body: dict[str, Any]) -> str:
        info = self._channels.cached(delivery.channel)
        if info is None and self._needs_to_know(delivery, said):
            info = await self._channels.get(delivery.channel)
        if info is not None and info.is_forum and delivery.part == 1:
            return await self._post_in_forum(delivery, said, body, info)
        if self._hangs(delivery, said, info) and (found := await self._hang(delivery, said, body)):
            return found
        try:
            return await self._say(delivery.channel, delivery, body)
        except HTTPException as error:
            if error.code not in (NOT_A_TEXT_CHANNEL, A_FORUM) or delivery.part > 1:
                raise
        info = await self._channels.get(delivery.channel)
        if not info.is_forum:
            raise Refused(NO_MESSAGES)
        return await self._post_in_forum(delivery, said, body, info)

    def _needs_to_know(self, delivery: Delivery, said: dict[str, Any]) -> bool:
        """Whether the kind of the channel decides where this part goes; a first part is simply tried."""
        return delivery.part > 1 and not self._in_thread(delivery, said)

    def _in_thread(self, delivery: Delivery, said: dict[str, Any]) -> bool:
        return delivery.part > 1 and bool(delivery.thread) and (bool(said.get("hangs")) or "/" in delivery.thread)

    def _hangs(self, delivery: Delivery, said: dict[str, Any], info: ChannelInfo | None) -> bool:
        """Whether the part belongs into a thread of the first one, or into the post of a forum."""
        in_a_thread = info is not None and info.is_thread
        has_none = delivery.thread == _DELETED or delivery.thread in self._threadless
        return self._in_thread(delivery, said) and not in_a_thread and not has_none

    async def _hang(self, delivery: Delivery, said: dict[str, Any], body: dict[str, Any]) -> str:
        """Say it below the first part and return its name; "" where Discord refuses the thread, and the channel is left."""
        post, _, message = delivery.thread.rpartition("/")
        if post:
            return await self._say(post, delivery, body)
        try:
            await self._open_thread(delivery.channel, message, said["thread"])
        except HTTPException as error:
            return self._without_thread(delivery, error)
        try:
            return await self._say(message, delivery, body)
        except HTTPException as error:
            if error.code == INVALID_FORM:
                raise
            return self._without_thread(delivery, error)

    def _without_thread(self, delivery: Delivery, error: HTTPException) -> str:
        """Return "", and remember that the digest has no thread; raises the error where it refuses more than the thread."""
        why = discord_delivery_error(error)
        of_the_thread = isinstance(why, (Refused, Rejected)) and why.reach is Reach.CHANNEL
        if not of_the_thread and error.code != TOO_MANY_THREADS:
            raise error
        said = "The rest of a digest goes into the channel %s, for it gets no thread (status %d, code %d)"
        log.warning(said, delivery.channel, error.status, error.code)
        if len(self._threadless) >= _KEPT:
            del self._threadless[next(iter(self._threadless))]
        self._threadless[delivery.thread] = None
        return ""

    async def _open_thread(self, channel: str, message: str, name: str) -> None:
        """Open the thread of a message, which has the message's identifier; one that is there already is as good."""
        made: dict[str, Any] = {"name": _thread_name(name), "auto_archive_duration": _ARCHIVE}
        route = Route("POST", "/channels/{channel_id}/messages/{message_id}/threads", channel_id=channel, message_id=message)
        try:
            await self._client.request(route, json=made)
        except HTTPException as error:
            if error.code != HAS_A_THREAD:
                raise

    async def _say(self, channel: str, delivery: Delivery, body: dict[str, Any]) -> str:
        params = MultipartParameters({**body, "nonce": delivery.id, "enforce_nonce": True}, None, None)
        try:
            answer: Any = await self._client.send_message(channel, params=params)
        except HTTPException as error:
            if error.code == UNKNOWN_MESSAGE:
                # The nonce is remembered, its message is gone: it was posted, and somebody deleted it.
                return _DELETED
            if error.code != ARCHIVED_THREAD:
                raise
            await self._client.edit_channel(channel, archived=False)
            answer = await self._client.send_message(channel, params=params)
        message, where = str(answer["id"]), str(answer.get("channel_id") or channel)  # an earlier try's, by the nonce
        return message if where == delivery.channel else f"{where}/{message}"

    async def _post_in_forum(self, delivery: Delivery, said: dict[str, Any], body: dict[str, Any], info: ChannelInfo) -> str:
        if (left := self._unclear.get(delivery.id, self._clock()) - self._clock()) > timedelta(0):
            raise Delayed("Discord may still be making the forum's post.", retry_after=left)
        if delivery.attempts > 1 and (found := await self._find_whole(delivery, info)):
            return found
        made = {
            "name": _thread_name(said["thread"]),
            "auto_archive_duration": _ARCHIVE,
            "applied_tags": _tags(info, said),
            "message": body,
        }
        try:
            answer = await self._start_post(delivery, made)
        except HTTPException as error:
            if error.code not in _OF_TAGS:
                raise
            self._channels.forget(delivery.channel)  # its tags may be others by now
            tags = _tags(await self._channels.get(delivery.channel), said)
            if tags == made["applied_tags"]:
                raise
            answer = await self._start_post(delivery, made | {"applied_tags": tags})
        return f"{answer['id']}/{answer['id']}"

    async def _start_post(self, delivery: Delivery, made: dict[str, Any]) -> Any:
        """Post in a forum; no nonce keeps a second one away while nobody knows what became of the first."""
        now = self._clock()
        self._unclear = {name: until for name, until in self._unclear.items() if until > now}
        self._unclear[delivery.id] = now + self._settles
        try:
            answer = await self._client.start_thread_in_forum(delivery.channel, params=MultipartParameters(made, None, None))
        except HTTPException as error:
            if error.status < 500:
                self._unclear.pop(delivery.id, None)
            raise
        self._unclear.pop(delivery.id, None)
        return answer

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        """Edit the message's components; what was posted as plain text stays as it is. Raises as the port says."""
        thread, _, message = posted.message.rpartition("/")
        if message == _DELETED:
            raise Rejected("The message was deleted in Discord.", failure=_DELETED)
        body = _with_marker(with_presses(json.loads(posted.payload)["body"], presses), posted.id)
        said = {"components": body["components"], "allowed_mentions": body["allowed_mentions"]}
        try:
            await self._client.edit_message(thread or posted.channel, message, params=MultipartParameters(said, None, None))
        except Exception as error:
            raise discord_delivery_error(error) from error

    async def publish(self, posted: Delivery) -> None:
        """Crosspost it; Discord takes ten an hour in a channel, and says how long to wait. Raises as the port says."""
        if "/" in posted.message or posted.message in ("", _DELETED):
            return
        try:
            await self._client.publish_message(posted.channel, posted.message)
        except HTTPException as error:
            if error.code in (CROSSPOSTED, UNKNOWN_MESSAGE):
                return
            if error.code == NO_ANNOUNCEMENTS:
                raise Rejected(_NOT_FOLLOWED, failure=f"code {error.code}") from error
            raise discord_delivery_error(error) from error
        except Exception as error:
            raise discord_delivery_error(error) from error

    async def find(self, delivery: Delivery) -> Look:
        """Look through a page of messages, or some posts of a forum. Raises Refused, Rejected, Delayed and Uncertain."""
        try:
            return await self._look(delivery)
        except DeliveryError:
            raise
        except Exception as error:
            raise discord_delivery_error(error) from error

    async def _look(self, delivery: Delivery) -> Look:
        info = await self._readable(delivery.channel)
        if info.is_forum and delivery.part == 1:
            look, showed = await self._find_post(delivery, info), False
        else:
            look, showed = await self._find_message(delivery, info)
        if look == ABSENT and not showed:
            # To who may not read it any more, Discord shows an empty history.
            self._channels.forget(delivery.channel)
            await self._readable(delivery.channel)
        return look

    async def _readable(self, channel: str) -> ChannelInfo:
        """Return what the channel is; raises Refused where its history may not be read."""
        info = await self._channels.get(channel)
        if info.unreadable:
            self._channels.forget(channel)  # the permission may be back since
            info = await self._channels.get(channel)
        if missing := info.unreadable:
            raise Refused(info.needs(missing))
        return info

    async def _find_message(self, delivery: Delivery, info: ChannelInfo) -> tuple[Look, bool]:
        """Look through a page, and say whether that showed any message.

        What was to hang in a thread is looked for there, and then in the channel, which got it where that was refused.
        """
        besides, _, read = delivery.cursor.rpartition(" ")
        channel = delivery.channel if besides or info.is_thread else self._below(delivery) or delivery.channel
        first, last = _between(delivery)
        after = int(read or first)
        page = await self._page(channel, after, delivery)
        me = await self._channels.own_id()
        found = next((str(each["id"]) for each in page if _is_of(each, delivery.id, me)), "")
        if found:
            return Look(message=found if channel == delivery.channel else f"{channel}/{found}"), True
        after = max((int(each["id"]) for each in page), default=after)
        if len(page) == _PAGE and after <= last:
            return Look(cursor=f"{besides} {after}".strip()), True
        if channel != delivery.channel and not info.is_forum:
            return Look(cursor=f"{_BESIDES} {first}"), bool(page)
        return ABSENT, bool(page)

    def _below(self, delivery: Delivery) -> str:
        """Return the thread or the post below the first part, "" for none; it may be that it was never opened."""
        if delivery.part == 1 or not delivery.thread or delivery.thread == _DELETED:
            return ""
        post, _, message = delivery.thread.rpartition("/")
        return post or message

    async def _page(self, channel: str, after: int, delivery: Delivery) -> Sequence[dict[str, Any]]:
        """Return the next messages of the channel, or of a thread, of which nothing is left where it is not there."""
        try:
            page: Any = await self._client.logs_from(channel, _PAGE, after=after)
        except HTTPException as error:
            if error.code == UNKNOWN_CHANNEL and channel != delivery.channel:
                return ()
            raise
        return list(page)

    async def _find_whole(self, delivery: Delivery, info: ChannelInfo) -> str:
        """Return the delivery's post in a forum, "" where there surely is none; raises Delayed where nobody can tell."""
        first = (delivery.first_try or delivery.due) - SKEW
        sought = replace(delivery, cursor="", first_try=first, last_try=None)
        try:
            look = await self._find_post(sought, info)
            while not look.is_proof:
                look = await self._find_post(replace(sought, cursor=look.cursor), info)
        except Refused as error:  # of looking, not of posting
            raise Delayed(str(error)) from error
        except HTTPException as error:
            why = discord_delivery_error(error)
            raise why if isinstance(why, Delayed) else Delayed(str(why)) from error
        return look.message

    async def _find_post(self, delivery: Delivery, info: ChannelInfo) -> Look:
        """Look at the first messages of our own posts, in their order.

        Raises Refused where one of them that has the delivery's name has lost its own: nobody can tell what that was.
        """
        first, last = _between(delivery)
        done, _, unsure = delivery.cursor.partition(" ")
        me = await self._channels.own_id()
        posts = {int(each["id"]): each for each in await self._posts(info, first) if str(each.get("owner_id")) == me}
        left = sorted(number for number in posts if int(done or first) < number <= last)
        for number in left[:_POSTS]:
            starter = await self._starter(number)
            if starter is not None and _is_of(starter, delivery.id, me):
                return Look(message=f"{number}/{number}")
            if starter is None and posts[number].get("name") == _post_name(delivery):
                unsure = _UNSURE
        if len(left) > _POSTS:
            return Look(cursor=f"{left[_POSTS - 1]} {unsure}".rstrip())
        if unsure:
            raise Refused("A post of that name is there, and its first message was deleted.")
        return ABSENT

    async def _posts(self, info: ChannelInfo, first: int) -> Sequence[dict[str, Any]]:
        """Return the forum's posts since then, open or put away; some earlier ones too."""
        active: Any = await self._client.get_active_threads(info.guild)
        posts = [each for each in active["threads"] if str(each.get("parent_id")) == info.id]
        before = None
        while True:  # the latest that was put away comes first, and none is put away before it is made
            page: Any = await self._client.get_public_archived_threads(info.id, before, _PAGE)
            posts += page["threads"]
            times = [each["thread_metadata"]["archive_timestamp"] for each in page["threads"]]
            if not page.get("has_more") or not times or time_snowflake(datetime.fromisoformat(times[-1])) < first:
                return posts
            before = times[-1]

    async def _starter(self, post: int) -> Any:
        """Return a post's first message, None when it was deleted."""
        try:
            return await self._client.get_message(post, post)
        except HTTPException as error:
            if error.code != UNKNOWN_MESSAGE:
                raise
            return None

    def link(self, delivery: Delivery) -> str:
        """Return the message's address in Discord."""
        if not delivery.message or delivery.message == _DELETED:
            return ""
        guild = guild_of(delivery.workspace) or "@me"
        thread, _, message = delivery.message.rpartition("/")
        return f"https://discord.com/channels/{guild}/{thread or delivery.channel}/{message}"

    async def tell(self, workspace: str, person: str, text: str) -> None:
        """Write the person a direct message."""
        try:
            conversation: Any = await self._client.start_private_message(person)
            await self._write(str(conversation["id"]), text)
        except Exception as error:
            raise discord_delivery_error(error) from error

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        """Say it in the channel."""
        try:
            await self._write(channel, text)
        except Exception as error:
            raise discord_delivery_error(error) from error

    async def obstacle(self, workspace: str, channel: str) -> str:
        """Return what keeps us from posting there: up to four requests."""
        try:
            if not channel:
                return await self._shut_out(guild_of(workspace))
            self._channels.forget(channel)
            info = await self._channels.get(channel)
        except (AttributeError, LookupError, TypeError) as error:
            raise Rejected("Discord's answer does not show the channel.", failure=type(error).__name__) from error
        except Exception as error:
            why = discord_delivery_error(error)
            if isinstance(why, Refused) and why.reach is not Reach.PLATFORM:
                return str(why)
            # What Discord refuses everywhere says nothing of this channel.
            raise (Delayed(str(why), reach=why.reach) if isinstance(why, Refused) else why) from error
        return info.obstacle

    async def visible_to(self, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that the person sees: bot.ports.messenger.Visibility; some requests.

        A workspace of one person's own is theirs alone.
        """
        guild = guild_of(workspace)
        if not guild:
            return channels if workspace == workspace_of(None, person) else ()
        return await self._seen_by(guild, person, channels)

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that every member of the server sees; none of a conversation."""
        guild = guild_of(workspace)
        return await self._seen_by(guild, "", channels) if guild else ()

    async def is_member(self, workspace: str, person: str) -> bool:
        """Return whether the person is in the server; in a workspace of one person's own that is who it is of."""
        guild = guild_of(workspace)
        if not guild:
            return workspace == workspace_of(None, person)
        return await _told(self._channels.is_member(guild, person))

    async def _seen_by(self, guild: str, person: str, channels: Collection[str]) -> Collection[str]:
        return await _told(self._channels.seen_by(guild, person, channels))

    async def _shut_out(self, guild: str) -> str:
        """Return that we are not in a server, "" where we are, and for who has no server; raises as RestClient.request."""
        try:
            if guild:
                await self._client.get_guild(guild, with_counts=False)
        except HTTPException as error:
            if error.code not in (UNKNOWN_GUILD, MISSING_ACCESS):
                raise
            return sentence_of(UNKNOWN_GUILD)
        return ""

    async def _write(self, channel: str, text: str) -> None:
        said = markdown.with_channels(markdown.sentence(text, CONTENT - 200, in_server(self._ids)))
        body = {"content": cut(said, CONTENT, length), "flags": SUPPRESS_EMBEDS, "allowed_mentions": NO_MENTIONS}
        await self._client.send_message(channel, params=MultipartParameters(body, None, None))

    async def _explained(self, error: Exception, delivery: Delivery) -> DeliveryError:
        """Return what the error means; of a missing permission, which one it is, where Discord tells."""
        in_post = delivery.part > 1 and "/" in delivery.thread  # of a forum, which takes the rest nowhere else
        if isinstance(error, HTTPException) and error.code in _POST_GONE and in_post:
            failure = f"status {error.status}, code {error.code}"
            return Rejected(f"The digest's post was deleted or locked in the forum ({failure}).", failure=failure)
        if not isinstance(error, HTTPException) or error.code not in (MISSING_ACCESS, MISSING_PERMISSIONS):
            return discord_delivery_error(error)
        self._channels.forget(delivery.channel)
        try:
            info = await self._channels.get(delivery.channel)
        except Exception:  # noqa: BLE001 - what cannot be told is left out
            return discord_delivery_error(error)
        missing = info.missing(thread=info.is_forum)
        return Refused(info.needs(missing)) if missing else discord_delivery_error(error)


async def _told(asking: Awaitable[T]) -> T:
    """Return what Discord says of its servers. Raises DeliveryError."""
    try:
        return await asking
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Delayed("Discord's answer does not show who sees which channel.") from error
    except Exception as error:
        raise discord_delivery_error(error) from error


def _with_marker(body: dict[str, Any], delivery: str) -> dict[str, Any]:
    """Return the message with the delivery's identifier: in its first button, or without one in small print."""
    made: dict[str, Any] = json.loads(json.dumps(body))
    first = next(custom_ids(made.get("components", ())), None)
    small = markdown.small_print(delivery)
    if first is not None:
        first["custom_id"] = with_delivery(first["custom_id"], delivery)
    elif "content" in made:
        made["content"] = f"{cut(made['content'], CONTENT - len(small) - 1, length)}\n{small}"
    else:
        made["components"][0]["components"].append(text(small))
    return made


def _is_of(message: dict[str, Any], delivery: str, me: str) -> bool:
    """Say whether the message is ours and the delivery's: by its marker, or by its nonce where Discord tells that."""
    if str(message["author"]["id"]) != me:
        return False
    if str(message.get("nonce") or "") == delivery or message.get("content", "").endswith(markdown.small_print(delivery)):
        return True
    blocks = list(nested(message.get("components", ())))
    if any(delivery_of(each["custom_id"]) == delivery for each in blocks if "custom_id" in each):
        return True
    return any(each.get("content") == markdown.small_print(delivery) for each in blocks)


def _between(delivery: Delivery) -> tuple[int, int]:
    """Return between which identifiers, which hold their times, the delivery's message is."""
    first = time_snowflake((delivery.first_try or delivery.due) - _SPARE)
    return first, time_snowflake(delivery.last_try + _SPARE, high=True) if delivery.last_try else _LATEST


def _tags(info: ChannelInfo, said: dict[str, Any]) -> list[str]:
    """Return the forum's tags of the name that the digest is to have, which is one or none."""
    wanted = said["tag"][:TAG_NAME].casefold()
    return [tag for name, tag in info.tags if name.casefold() == wanted][:TAGS]


def _post_name(delivery: Delivery) -> str:
    return _thread_name(json.loads(delivery.payload)["thread"])


def _thread_name(name: str) -> str:
    return cut(name, THREAD_NAME, length) or "Digest"
