"""What happens in a workspace, and the events that tell the app of it."""

import asyncio
import math
from typing import Any

from aiohttp import web

from tests.fakes.slack import wire
from tests.fakes.slack.driver import Driver
from tests.fakes.slack.faults import UPLOAD, Faults
from tests.fakes.slack.link_words import domains, urls, written
from tests.fakes.slack.state import Channel, Json, Kind, Message, Person, Team


class Happenings(Driver):
    """Each changes what this Slack holds and sends the event, where the app is to hear of it."""

    ben: Person
    team: Team
    faults: Faults

    async def archive(self, channel: Channel) -> None:
        channel.is_archived = True
        kind = "group_archive" if channel.kind is Kind.PRIVATE else "channel_archive"
        await self._tell(channel, {"type": kind, "channel": channel.id, "user": self.anna.id, "is_moved": 0})

    async def unarchive(self, channel: Channel) -> None:
        channel.is_archived = False
        kind = "group_unarchive" if channel.kind is Kind.PRIVATE else "channel_unarchive"
        await self._tell(channel, {"type": kind, "channel": channel.id, "user": self.anna.id})

    async def rename(self, channel: Channel, name: str) -> None:
        channel.name = name
        about = {"id": channel.id, "is_channel": True, "is_mpim": False, "name": name, "name_normalized": name, "created": 1}
        kind = "group_rename" if channel.kind is Kind.PRIVATE else "channel_rename"
        await self._tell(channel, {"type": kind, "channel": about})

    async def delete_channel(self, channel: Channel) -> None:
        channel.is_gone = True
        kind = "group_deleted" if channel.kind is Kind.PRIVATE else "channel_deleted"
        await self._tell(channel, {"type": kind, "channel": channel.id, "actor_id": self.anna.id})

    async def kick(self, channel: Channel, *, team: Team | None = None) -> None:
        """Remove a workspace's app from a channel: it hears of it as of itself, and as of a member."""
        where = team or self.world.teams[channel.team]
        channel.members.discard(where.app_user.id)
        kind = "group_left" if channel.kind is Kind.PRIVATE else "channel_left"
        await self._tell(channel, {"type": kind, "channel": channel.id, "actor_id": self.anna.id}, team=where)
        await self._tell(channel, self._member("member_left_channel", channel, where))

    async def invite(self, channel: Channel, *, team: Team | None = None) -> None:
        """Bring a workspace's app into a channel."""
        where = team or self.world.teams[channel.team]
        channel.members.add(where.app_user.id)
        await self._tell(channel, self._member("member_joined_channel", channel, where) | {"inviter": self.anna.id})

    async def joined_by_itself(self, channel: Channel) -> None:
        """Tell the app that it has joined a channel by itself: nobody invited it
        (docs.slack.dev/reference/events/member_joined_channel).
        """
        where = self.world.teams[channel.team]
        await self._tell(channel, self._member("member_joined_channel", channel, where))

    def _member(self, kind: str, channel: Channel, team: Team) -> Json:
        letter = "G" if channel.kind is Kind.PRIVATE else "C"
        user = team.app_user.id
        return {"type": kind, "user": user, "channel": channel.id, "channel_type": letter, "team": team.id}

    async def react(self, message: Message, name: str, *, user: Person | None = None) -> None:
        """Add a reaction."""
        person = user or self.ben
        message.reactions.setdefault(name, []).append(person.id)
        await self._reaction("reaction_added", message, name, person)

    async def unreact(self, message: Message, name: str, *, user: Person | None = None) -> None:
        """Take a reaction back."""
        person = user or self.ben
        message.reactions[name].remove(person.id)
        await self._reaction("reaction_removed", message, name, person)

    async def _reaction(self, kind: str, message: Message, name: str, person: Person) -> None:
        item = {"type": "message", "channel": message.channel, "ts": message.ts}
        channel = self.world.teams[message.team].channels[message.channel]
        await self._tell(
            channel, {"type": kind, "user": person.id, "reaction": name, "item": item, "item_user": message.user}
        )

    def say(self, channel: Channel, text: str, *, user: Person | None = None, thread: str = "") -> Message:
        """Post a message as a person; the app hears nothing of it."""
        person, ts = user or self.ben, self.world.times.ts()
        block = {"type": "rich_text", "block_id": "cQ5A", "elements": [_section(text)]}
        made = Message(ts=ts, channel=channel.id, team=channel.team, user=person.id, at=self.world.now, text=text)
        made.is_app, made.thread, made.blocks = False, thread, [block]
        made.asked = {"mrkdwn": False}
        return self.world.post(made)

    async def write(self, channel: Channel, text: str, *, user: Person | None = None, thread: str = "") -> Message:
        """Post a message as a person, and tell the app where it is to hear of it: of a mention where it is a member, and
        of everything in a direct message. `@Broadsheet` is a mention; Slack marks links and escapes signs.
        """
        person, team = user or self.ben, self.world.teams[channel.team]
        message = self.say(channel, written(text, team.app_user.id), user=person, thread=thread)
        await self._tell_of_words(channel, message, person)
        return message

    async def edit(self, message: Message, text: str) -> None:
        """Change a message of a person's: in a direct message a `message_changed` comes, elsewhere the mention once more."""
        team = self.world.teams[message.team]
        channel, person = team.channels[message.channel], self.known(message.user)
        message.text, message.is_edited = written(text, team.app_user.id), True
        self.world.touch(message)
        if channel.kind is not Kind.IM:
            await self._tell_of_words(channel, message, person, edited={"user": person.id, "ts": message.ts})
            return
        changed = {"subtype": "message_changed", "hidden": True, "message": message.shown(), "previous_message": {}}
        what = {"type": "message", "channel": channel.id, "channel_type": "im", "ts": self.world.times.ts(), **changed}
        await self._tell(channel, what)

    async def _tell_of_words(self, channel: Channel, message: Message, person: Person, **more: Any) -> None:
        app = self.world.teams[channel.team].app_user.id
        what: Json = {"user": person.id, "text": message.text, "ts": message.ts, "channel": channel.id, "team": message.team}
        what |= {"blocks": list(message.blocks), "user_team": person.team, "client_msg_id": f"m{message.ts}"} | more
        what |= {"thread_ts": message.thread} if message.thread else {}
        what |= {"bot_id": "B0OTHER"} if person.is_bot else {}
        if channel.kind is Kind.IM and app in channel.members:
            await self._tell(channel, {"type": "message", "channel_type": "im", **what})
        elif app in channel.members and f"<@{app}>" in message.text:
            await self._tell(channel, {"type": "app_mention", **what})

    async def share(self, channel: Channel, text: str, *, user: Person | None = None, thread: str = "") -> Message:
        """Post a message with links as a person; the app hears of those to the domains it asked for.

        Where the person's own workspace has not installed it, it hears nothing (docs.slack.dev/apis/slack-connect).
        """
        message = self.say(channel, text, user=user, thread=thread)
        wanted = domains(self.rights.manifest)
        team = self.world.teams[(user or self.ben).team if channel.shared_with else channel.team]
        links = [{"domain": domain, "url": url} for domain, url in urls(text) if wanted is None or domain in wanted]
        what: Json = {
            "type": "link_shared",
            "channel": channel.id,
            "is_bot_user_member": team.app_user.id in channel.members,
            "user": message.user,
            "message_ts": message.ts,
            "links": links,
            "source": "conversations_history",
            "unfurl_id": f"C0.{message.ts}",
        }
        if links and self.world.is_installed(team):
            await self._tell(channel, what | ({"thread_ts": thread} if thread else {}))
        return message

    async def open_home(self, user: Person | None = None, *, team: Team | None = None) -> None:
        """Open the Home of the app of a workspace, the person's own where none is named."""
        person = user or self.anna
        team = team or self.world.teams[person.team]
        home = team.homes.get(person.id)
        what: Json = {"type": "app_home_opened", "user": person.id, "channel": self.world.direct(team, person).id}
        view = {"view": home.shown(person.team)} if home else {}
        what |= {"tab": "home", "event_ts": self.world.times.ts()} | view
        await self.event(what, team=team)

    async def open_pane(self, user: Person, *, beside: Channel | None = None) -> None:
        """Open the agent's pane beside a channel: as its own direct message it is the Messages tab (app_home_opened)."""
        self.rights.demand_pane(self._grants(self.team))
        what: Json = {"type": "app_home_opened", "user": user.id, "channel": self.world.direct(self.team, user).id}
        await self.event(what | {"tab": "messages", "event_ts": self.world.times.ts(), "context": _looked_at(beside)})

    async def look_at(self, user: Person, channel: Channel | None) -> None:
        """Look at a channel, or at none that the app may know of, while the pane is open.

        The event names nobody but in its envelope (docs.slack.dev/reference/events/app_context_changed).
        """
        self.rights.demand_pane(self._grants(self.team))
        await self.event({"type": "app_context_changed", "context": _looked_at(channel)}, seen_by=user)

    async def revoke(self, team: Team | None = None) -> None:
        """Revoke the app's token in a workspace."""
        where = team or self.team
        self._close("token_revoked", where)
        await self.event({"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [where.app_user.id]}}, team=where)

    async def uninstall(self, team: Team | None = None) -> None:
        """Remove the app from a workspace."""
        where = team or self.team
        self._close("account_inactive", where)
        await self.event({"type": "app_uninstalled"}, team=where)

    async def take_away(self, team: Team) -> None:
        """Let an organisation take the app out of one of its workspaces; its token stays good for the others."""
        self.world.taken_away.add(team.id)
        await self._tell_of_access("team_access_revoked", team)

    async def give_back(self, team: Team) -> None:
        """Let an organisation give it the workspace again."""
        self.world.taken_away.discard(team.id)
        await self._tell_of_access("team_access_granted", team)

    async def _tell_of_access(self, kind: str, team: Team) -> None:
        others = (each for each in self.world.teams.values() if each.enterprise == team.enterprise and each is not team)
        await self.event({"type": kind, "team_ids": [team.id]}, team=next(others))

    def _close(self, trouble: str, team: Team) -> None:
        for each in self.world.grants.values():
            if each.kind == "bot" and team in self.world.reachable(each):
                each.trouble = trouble

    async def _tell(self, channel: Channel, what: Json, *, team: Team | None = None) -> None:
        """Tell the app what happens in a channel: once, also where several installations of it may see it.

        Which of them is named is not documented; it was seen to be the one that came to the channel last.
        """
        self.world.changed()
        stamp = {"event_ts": self.world.times.ts()}
        named = self.world.installed_in(channel)[-1:] if channel.shared_with else []
        where = team or next(iter(named), self.world.teams[channel.team])
        await self.event(what | stamp, team=where, shared=channel)

    async def take_upload(self, request: web.Request) -> web.StreamResponse:
        """Take the bytes of a file."""
        name, content = request.match_info["file"], await request.read()
        course = self.faults.course(UPLOAD, "")
        await asyncio.sleep(course.takes)
        if (failure := course.failure) is not None:
            if course.done is not None:
                self._uploaded(name, request.content_type, content)
            if failure.retry_after is not None:
                return web.Response(status=429, headers={"Retry-After": str(math.ceil(failure.retry_after))})
            return await wire.broken(request, failure)
        return self._uploaded(name, request.content_type, content)

    def _uploaded(self, name: str, content_type: str, content: bytes) -> web.Response:
        if name not in self.world.files:
            return web.Response(status=404)
        if content_type == "multipart/form-data":
            return web.Response(status=400, text="the bytes alone are what is asked for here")
        if len(content) != self.world.files[name]["size"]:
            return web.Response(status=400, text="not as long as was said")
        self.world.uploads[name] = content
        return web.Response(text=f"OK - {len(content)}")


def _section(text: str) -> Json:
    return {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}


def _looked_at(channel: Channel | None) -> Json:
    """Return what somebody looks at, as Slack tells it."""
    known = [{"type": "slack#/types/channel_id", "value": channel.id, "team_id": channel.team}] if channel else []
    return {"entities": known} if known else {}
