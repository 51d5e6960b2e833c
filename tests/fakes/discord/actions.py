"""What people do in Discord: commands, buttons, selects, forms, reactions, messages; and what befalls a server."""

import asyncio
import io
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from tests.fakes.discord.asked import Asked, Doing
from tests.fakes.discord.command_rules import GROUP, SUBCOMMAND
from tests.fakes.discord.permissions import Permission, allowed
from tests.fakes.discord.posting import tell, tell_of_reaction
from tests.fakes.discord.things import Channel, Guild, Kind, Member, Message, User
from tests.fakes.discord.world import World
from tests.fakes.patience import PATIENCE

_STRING, _INTEGER, _BOOLEAN, _USER, _CHANNEL, _NUMBER = 3, 4, 5, 6, 7, 10
_TYPES: Mapping[int, type | tuple[type, ...]] = {
    _STRING: str,
    _INTEGER: int,
    _BOOLEAN: bool,
    _USER: User,
    _CHANNEL: Channel,
    _NUMBER: (int, float),
}


class NotOfferedError(AssertionError):
    """Discord's own program would not let somebody do that: no such command, option or button, or no right to it."""


class Actions(World):
    """What asks the bot something returns when there is something to be seen, and raises TimeoutError when nothing comes.

    With `wait=False` it returns when the first reply has come, which may be a deferral, and with `wait=None` at once.
    """

    # --- commands

    async def slash(
        self,
        line: str,
        *,
        user: User,
        channel: Channel,
        wait: bool | None = True,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Asked:
        """Enter a command: `slash("digest search", query="kv cache", user=…, channel=…)`.

        Values are texts, numbers, booleans, users and channels. An option whose name Python keeps for itself stands in
        `options`.
        """
        if not channel.takes_messages:
            raise NotOfferedError(f"#{channel.name} has no line to enter a command in.")
        command, path = self._command(line, user, channel)
        given = {**(options or {}), **more}
        resolved: dict[str, Any] = {}
        made = [_option(each, given, resolved, user) for each in _checked(path[-1], given) if each["name"] in given]
        for each in made:
            _resolve_mentions(each["value"], channel.guild, resolved)
        data = self._data(command, path, made) | ({"resolved": resolved} if resolved else {})
        return await self._ask(Doing.COMMAND, user, channel, data, wait=wait)

    async def autocomplete(
        self, line: str, option: str, typed: str, *, user: User, channel: Channel, options: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Type into an option, and return the choices that are offered; `options` are those that are filled in already."""
        command, path = self._command(line, user, channel)
        known = {each["name"]: each for each in path[-1].get("options", ())}
        if not known.get(option, {}).get("autocomplete"):
            raise NotOfferedError(f"{line} has no option {option} with autocomplete.")
        made = [_option(known[name], {name: value}, {}, user) for name, value in (options or {}).items()]
        made.append({"name": option, "type": known[option]["type"], "value": typed, "focused": True})
        asked = await self._ask(Doing.AUTOCOMPLETE, user, channel, self._data(command, path, made), wait=True)
        return asked.choices or []

    async def menu(self, name: str, message: Message, *, user: User, wait: bool | None = True) -> Asked:
        """Choose the command of that name from a message's menu."""
        command = self._known(name, 3, user, message.channel)
        resolved = {"messages": {str(message.id): message.shape()}}
        data = {"id": command["id"], "name": name, "type": 3, "target_id": str(message.id), "resolved": resolved}
        return await self._ask(Doing.COMMAND, user, message.channel, data, wait=wait)

    def offered(self, user: User, channel: Channel) -> list[dict[str, Any]]:
        """Return the commands that Discord offers somebody there."""
        scope = channel.guild.id if channel.guild else 0
        own = [*self.commands.get(scope, {}).values()] if scope else []
        everywhere = [*self.commands.get(0, {}).values()]
        return [
            each for each in [*own, *everywhere] if self._owners(each, user, channel) and _is_offered(each, user, channel)
        ]

    def _owners(self, command: Mapping[str, Any], user: User, channel: Channel) -> dict[str, str]:
        """Return by whose installations somebody is offered a command there; {} where they are not.

        docs.discord.com/developers/interactions/receiving-and-responding, "Authorizing Integration Owners Object".
        """
        kinds, guild = command.get("integration_types") or [0], channel.guild
        owners: dict[str, str] = {}
        if 0 in kinds and (self.bot.id in guild.members if guild else channel.kind is Kind.PRIVATE):
            owners["0"] = str(guild.id) if guild else "0"
        if 1 in kinds and user.id in self.installed_by:
            owners["1"] = str(user.id)
        return owners

    def _owners_of(self, asked: Asked) -> dict[str, str]:
        """Return by whose installations something is asked: a command's, or those of the command whose answer is pressed."""
        known = [each for scope in self.commands.values() for each in scope.values() if each["id"] == asked.data.get("id")]
        if known and asked.doing in (Doing.COMMAND, Doing.AUTOCOMPLETE):
            return self._owners(known[0], asked.user, asked.channel)
        before = [each for each in self.asked.values() if asked.message in (each.original, *each.others) and each.owners]
        if asked.message is not None and before:
            return before[-1].owners
        return {"0": str(asked.channel.guild.id) if asked.channel.guild else "0"}

    def _known(self, name: str, kind: int, user: User, channel: Channel) -> dict[str, Any]:
        some = [each for each in self.offered(user, channel) if (each["name"], each["type"]) == (name, kind)]
        if not some:
            raise NotOfferedError(f"{user.name} is not offered {name!r}.")
        return some[0]

    def _command(self, line: str, user: User, channel: Channel) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the command, and it with the groups and sub-commands that lead to what is to be done."""
        first, *rest = line.removeprefix("/").split()
        path = [self._known(first, 1, user, channel)]
        for name in rest:
            inner = [
                each for each in path[-1].get("options", ()) if each["name"] == name and each["type"] in (SUBCOMMAND, GROUP)
            ]
            if not inner:
                raise NotOfferedError(f"There is no /{line}.")
            path.append(inner[0])
        if any(each["type"] in (SUBCOMMAND, GROUP) for each in path[-1].get("options", ())):
            raise NotOfferedError(f"/{line} is not whole.")
        return path[0], path

    def _data(
        self, command: Mapping[str, Any], path: Sequence[Mapping[str, Any]], made: list[dict[str, Any]]
    ) -> dict[str, Any]:
        for each in reversed(path[1:]):
            made = [{"name": each["name"], "type": each["type"], "options": made}]
        data = {"id": command["id"], "name": command["name"], "type": 1, "options": made}
        return data | ({"guild_id": command["guild_id"]} if "guild_id" in command else {})

    # --- buttons, selects, forms

    async def click(self, message: Message, label: str, *, user: User, wait: bool | None = True) -> Asked:
        """Click the button that has that label, or else that custom_id; the first of several."""
        some = [
            each for each in message.buttons if label in (each.get("label"), each.get("custom_id")) and "custom_id" in each
        ]
        if not some or some[0].get("disabled"):
            labels = [each.get("label") for each in message.buttons]
            raise NotOfferedError(f"No button {label!r} to click among {labels}.")
        return await self._touch(message, some[0], user, {}, wait=wait)

    async def choose(self, message: Message, *labels: str, user: User, which: int = 0, wait: bool | None = True) -> Asked:
        """Choose the options of these labels in a select, the first of the message unless another is named."""
        select = message.selects[which]
        values = [each["value"] for name in labels for each in select["options"] if each["label"] == name]
        if len(values) != len(labels) or not select["min_values"] <= len(values) <= select["max_values"]:
            raise NotOfferedError(f"{labels} cannot be chosen from {[each['label'] for each in select['options']]}.")
        return await self._touch(message, select, user, {"values": values}, wait=wait)

    async def _touch(
        self, message: Message, part: Mapping[str, Any], user: User, more: dict[str, Any], *, wait: bool | None
    ) -> Asked:
        data = {"custom_id": part["custom_id"], "component_type": part["type"], "id": part["id"], **more}
        return await self._ask(Doing.COMPONENT, user, message.channel, data, message=message, wait=wait)

    async def submit(self, asked: Asked, values: Mapping[str, Any], *, wait: bool | None = True) -> Asked:
        """Fill in and send the form that was the reply; `values` by custom_id or label, the rest stays as it is shown."""
        if asked.form is None:
            raise NotOfferedError("No form is shown.")
        left = dict(values)
        parts = [_filled(each, left, "") for each in asked.form["components"]]
        if left:
            raise NotOfferedError(f"The form has no {sorted(left)}.")
        data = {"custom_id": asked.form["custom_id"], "components": parts}
        asked.form = None
        return await self._ask(Doing.FORM, asked.user, asked.channel, data, message=asked.message, wait=wait)

    # --- the rest of a day

    def install(self, user: User) -> None:
        """Let somebody install the bot for themselves."""
        self.installed_by.add(user.id)

    def group(self) -> Channel:
        """Return a conversation of people without the bot."""
        channel = Channel(self.new_id(), Kind.GROUP)
        self.channels[channel.id] = channel
        return channel

    def write(self, channel: Channel, user: User, content: str) -> Message:
        """Let somebody write a message."""
        message = Message(self.new_id(), channel, user, content)
        channel.messages[message.id] = message
        tell(self, "MESSAGE_CREATE", message)
        return message

    def edit(self, message: Message, content: str) -> None:
        """Let somebody change their message."""
        message.content = content
        tell(self, "MESSAGE_UPDATE", message)

    def react(self, message: Message, emoji: str, *, user: User) -> None:
        """Let somebody react to a message."""
        people = message.reactions.setdefault(emoji, [])
        if user not in people:
            people.append(user)
            tell_of_reaction(self, "MESSAGE_REACTION_ADD", message, emoji, user)

    def unreact(self, message: Message, emoji: str, *, user: User) -> None:
        """Let somebody take a reaction back."""
        message.reactions[emoji].remove(user)
        tell_of_reaction(self, "MESSAGE_REACTION_REMOVE", message, emoji, user)

    def delete_channel(self, channel: Channel) -> None:
        """Delete a channel or a thread."""
        guild = channel.guild
        assert guild is not None
        del self.channels[channel.id], guild.channels[channel.id]
        self.dispatch("THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE", channel.shape(), guild=guild)

    def delete_message(self, message: Message) -> None:
        """Delete a message."""
        message.is_deleted = True
        message.channel.messages.pop(message.id, None)
        where = {"id": str(message.id), "channel_id": str(message.channel.id)}
        guild = message.channel.guild
        self.dispatch("MESSAGE_DELETE", where | ({"guild_id": str(guild.id)} if guild else {}), guild=guild)

    def archive(self, thread: Channel, *, locked: bool = False) -> None:
        """Archive a thread."""
        thread.archived_at, thread.locked = self.clock(), locked
        self.dispatch("THREAD_UPDATE", thread.shape(), guild=thread.guild)

    def kick(self, guild: Guild) -> None:
        """Remove the bot from a server."""
        del guild.members[self.bot.id]
        self.dispatch("GUILD_DELETE", {"id": str(guild.id)}, guild=guild)

    def invite(self, guild: Guild) -> None:
        """Let the bot into a server again that it was removed from."""
        own = [each.id for each in guild.roles.values() if each.bot == self.bot.id]
        guild.members[self.bot.id] = Member(self.bot, own, self.clock())
        self.dispatch("GUILD_CREATE", guild.event(self.bot, joined=True), guild=guild)

    def outage(self, guild: Guild, *, over: bool = False) -> None:
        """Let a server be unavailable, or available again."""
        guild.is_gone = not over
        if over:
            self.dispatch("GUILD_CREATE", guild.event(self.bot), guild=guild)
        else:
            self.dispatch("GUILD_DELETE", {"id": str(guild.id), "unavailable": True}, guild=guild)

    async def posted(self, channel: Channel, many: int = 1, seconds: float = PATIENCE) -> list[Message]:
        """Wait until the bot has posted so many messages in a channel, and return them, the oldest first."""
        async with asyncio.timeout(seconds):
            while len(found := self.of_bot(channel)) < many:
                self.news.clear()
                await self.news.wait()
        return found

    def of_bot(self, channel: Channel) -> list[Message]:
        """Return what the bot has posted in a channel, the oldest first."""
        return [each for _, each in sorted(channel.messages.items()) if each.author is self.bot]

    # --- the interaction itself

    async def ask(
        self, doing: Doing, data: dict[str, Any], *, user: User, channel: Channel, message: Message | None = None
    ) -> Asked:
        """Send what no program of Discord's own would, and wait for nothing."""
        return await self._ask(doing, user, channel, data, message=message, wait=None)

    async def _ask(
        self,
        doing: Doing,
        user: User,
        channel: Channel,
        data: dict[str, Any],
        *,
        message: Message | None = None,
        wait: bool | None,
    ) -> Asked:
        began = asyncio.get_running_loop().time()
        asked = Asked(
            id=self.new_id(),
            token=secrets.token_urlsafe(60),
            doing=doing,
            user=user,
            channel=channel,
            data=data,
            at=self.clock(),
            began=began,
            message=message,
        )
        asked.owners = self._owners_of(asked)
        self.asked[asked.id] = asked
        self._deliver(asked)
        if wait is None:
            return asked
        return await (asked.answered() if wait else asked.replied())

    def _deliver(self, asked: Asked) -> None:
        """Tell the application of it: over HTTP where it has an address for that, else over the gateway."""
        if self.interactions_endpoint_url:
            sending = asyncio.create_task(self.send_signed(self.told_of(asked)))
            self.sending.add(sending)
            sending.add_done_callback(self.sending.discard)
        else:
            self.dispatch("INTERACTION_CREATE", self.told_of(asked), guild=asked.channel.guild)

    async def set_interactions_endpoint(self, url: str) -> None:
        """Enter the address as the application's; raises AssertionError where it does not answer as Discord demands.

        It sends a PING that is signed, which is to be answered with a PONG, and one that is not, which is to be refused.
        """
        self.interactions_endpoint_url = url
        ping = {"id": str(self.new_id()), "application_id": str(self.application), "type": 1, "token": "t", "version": 1}
        assert await self.send_signed(ping, forged=True) == (401, "")
        status, body = await self.send_signed(ping)
        assert (status, json.loads(body)) == (200, {"type": 1})

    async def resend(self, asked: Asked, url: str = "") -> int:
        """Send an interaction over HTTP once more, to another address where one is named; return the status."""
        return (await self.send_signed(self.told_of(asked), url=url))[0]

    async def send_signed(self, said: object, *, url: str = "", forged: bool = False) -> tuple[int, str]:
        """Send it over HTTP with its signature, or one that is not its; return status and body of the answer."""
        body, stamp = json.dumps(said).encode(), str(int(self.clock().timestamp()))
        signature = self.signing_key.sign(stamp.encode() + (b"x" if forged else b"") + body).hex()
        headers = {"X-Signature-Ed25519": signature, "X-Signature-Timestamp": stamp, "Content-Type": "application/json"}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=3)) as session,  # as Discord waits
            session.post(url or self.interactions_endpoint_url, data=io.BytesIO(body), headers=headers) as response,
        ):
            return response.status, await response.text()

    def told_of(self, asked: Asked) -> dict[str, Any]:
        """Return the interaction as the application is told of it."""
        guild, user = asked.channel.guild, asked.user
        said: dict[str, Any] = {
            "id": str(asked.id),
            "application_id": str(self.application),
            "type": int(asked.doing),
            "token": asked.token,
            "version": 1,
            "data": asked.data,
            "channel_id": str(asked.channel.id),
            "channel": asked.channel.shape() | {"permissions": str(int(allowed(user, asked.channel)))},
            "locale": user.locale,
            "app_permissions": str(int(allowed(self.bot, asked.channel))),
            "entitlements": [],
            "authorizing_integration_owners": asked.owners,
            "context": _context(asked.channel),
            "attachment_size_limit": 10 * 1024 * 1024,
        }
        if asked.message is not None:
            said["message"] = asked.message.shape()
        if guild is None:
            return said | {"user": user.shape()}
        member = guild.members[user.id].shape() | {"permissions": str(int(allowed(user, asked.channel)))}
        where = {"id": str(guild.id), "locale": "en-GB", "features": []}
        return said | {"guild_id": str(guild.id), "guild": where, "guild_locale": "en-GB", "member": member}


def _context(channel: Channel) -> int:
    """Return where a channel stands: in a server, with the bot alone, among others."""
    return 0 if channel.guild else 2 if channel.kind is Kind.GROUP else 1


def _is_offered(command: Mapping[str, Any], user: User, channel: Channel) -> bool:
    contexts = command.get("contexts")
    if contexts is not None and _context(channel) not in contexts:
        return False
    if channel.guild is None:
        return "guild_id" not in command
    may, needed = allowed(user, channel), command["default_member_permissions"]
    if Permission.USE_APPLICATION_COMMANDS not in may:
        return False
    return needed is None or (Permission.ADMINISTRATOR in may if needed == "0" else int(needed) & ~int(may) == 0)


def _checked(command: Mapping[str, Any], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the command's options, after seeing that what is given fits them."""
    options = list(command.get("options", ()))
    names = [each["name"] for each in options]
    missing = [each["name"] for each in options if each.get("required") and each["name"] not in given]
    if missing or set(given) - set(names):
        raise NotOfferedError(
            f"{command['name']} has {names}; missing: {missing}; unknown: {sorted(set(given) - set(names))}."
        )
    return options


def _option(option: Mapping[str, Any], given: Mapping[str, Any], resolved: dict[str, Any], user: User) -> dict[str, Any]:
    value = given[option["name"]]
    if not isinstance(value, _TYPES.get(option["type"], object)):
        raise NotOfferedError(f"{value!r} is no value for {option['name']}.")
    choices = [each["value"] for each in option.get("choices", ())]
    if choices and value not in choices:
        raise NotOfferedError(f"{option['name']} is one of {choices}, not {value!r}.")
    if isinstance(value, str) and not option.get("min_length", 0) <= len(value) <= option.get("max_length", 6000):
        raise NotOfferedError(f"{option['name']} is shorter or longer than it may be.")
    if isinstance(value, User):
        resolved.setdefault("users", {})[str(value.id)] = value.shape()
        value = str(value.id)
    if isinstance(value, Channel):
        resolved.setdefault("channels", {})[str(value.id)] = _listed_channel(option, value, user)
        value = str(value.id)
    return {"name": option["name"], "type": option["type"], "value": value}


def _resolve_mentions(value: Any, guild: Guild | None, resolved: dict[str, Any]) -> None:
    """Add the members of the server whom a text mentions.

    docs.discord.com/developers/interactions/receiving-and-responding, "Resolved Data Structure": the user beside the member,
    which is partial. That mentions in texts are resolved, too: docs.jda.wiki, OptionMapping.getMentions.
    """
    for number in re.findall(r"<@!?(\d+)>", value if isinstance(value, str) else ""):
        member = guild.members.get(int(number)) if guild else None
        if member is not None:
            whole = member.shape()
            resolved.setdefault("users", {})[number] = whole.pop("user")
            resolved.setdefault("members", {})[number] = {k: v for k, v in whole.items() if k not in ("mute", "deaf")}


def _listed_channel(option: Mapping[str, Any], channel: Channel, user: User) -> dict[str, Any]:
    """Return a channel as it is sent with a command: in part, with what its user may do there.

    docs.discord.com/developers/interactions/receiving-and-responding, "Resolved Data Structure".
    """
    may = allowed(user, channel)
    if Permission.VIEW_CHANNEL not in may or int(channel.kind) not in option.get("channel_types", [int(channel.kind)]):
        raise NotOfferedError(f"{option['name']} does not offer #{channel.name} to {user.name}.")
    whole = channel.shape()
    parts = ("id", "name", "type", *(("parent_id", "thread_metadata") if channel.is_thread else ()))
    return {name: whole[name] for name in parts} | {"permissions": str(int(may))}


def _filled(part: Mapping[str, Any], left: dict[str, Any], label: str) -> dict[str, Any]:
    """Return a part of a form as it is sent, with what is left of the values taken out that were put into it."""
    kind = part["type"]
    said: dict[str, Any] = {"type": kind, "id": part.get("id", 1)}
    if kind == 1:
        return said | {"components": [_filled(each, left, label) for each in part["components"]]}
    if kind == 18:
        return said | {"component": _filled(part["component"], left, part["label"])}
    if kind == 10:
        return said
    names = [name for name in (part["custom_id"], label, part.get("label")) if name in left]
    said["custom_id"] = part["custom_id"]
    if kind == 4:
        text = left.pop(names[0]) if names else part.get("value") or ""
        least = part.get("min_length") or (1 if part.get("required", True) else 0)
        if not least <= len(text) <= (part.get("max_length") or 4000):
            raise NotOfferedError(f"{part['custom_id']} is shorter or longer than it may be: {text!r}")
        return said | {"value": text}
    return said | {"values": _chosen(part, left.pop(names[0]) if names else None)}


def _chosen(select: Mapping[str, Any], labels: Sequence[str] | None) -> list[str]:
    options = select.get("options", ())
    if labels is None:
        return [each["value"] for each in options if each.get("default")]
    values = [each["value"] for name in labels for each in options if name in (each["label"], each["value"])]
    if len(values) != len(labels):
        raise NotOfferedError(f"{labels} cannot be chosen from {[each['label'] for each in options]}.")
    return values
