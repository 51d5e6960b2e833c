"""Everything that a Slack holds, and the changes to it."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.fakes.slack.mentions import Mention, found
from tests.fakes.slack.state import Channel, Grant, Json, Kind, Message, Person, Team, Times, View
from tests.fakes.slack.wrong import Wrong

TRIGGER_LIVES = 3.0  # seconds
_CLOSED = "is_archived"


@dataclass(slots=True)
class Trigger:
    """What opens one modal, once, for three seconds."""

    user: str
    team: str
    at: float
    view: str = ""  # the view it came from
    used: bool = False


@dataclass(slots=True)
class World:
    """What it holds."""

    times: Times
    teams: dict[str, Team] = field(default_factory=dict)
    grants: dict[str, Grant] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    taken_away: set[str] = field(default_factory=set)  # workspaces that an organisation's token is not for any more
    files: dict[str, Json] = field(default_factory=dict)
    uploads: dict[str, bytes] = field(default_factory=dict)
    history: list[Message] = field(default_factory=list)  # every message that was made, in order
    has_changed: asyncio.Event = field(default_factory=asyncio.Event)
    on_new_token: list[Callable[[Grant], None]] = field(default_factory=list)

    @property
    def now(self) -> float:
        return self.times.clock()

    def changed(self) -> int:
        """Wake who waits for anything, and return the number of this change."""
        self.has_changed.set()
        self.has_changed = asyncio.Event()
        return self.times.count()

    # --- looking things up

    def reachable(self, grant: Grant) -> Iterator[Team]:
        """Yield the workspaces that a token is for."""
        for each in self.teams.values():
            of_all = grant.enterprise and grant.enterprise == each.enterprise and each.id not in self.taken_away
            if each.id in grant.teams or of_all:
                yield each

    def team(self, grant: Grant, asked: str = "") -> Team:
        """Return the workspace that a call speaks of; an organisation's token has to say which."""
        found = [each for each in self.reachable(grant) if asked in ("", each.id)]
        if not found or (grant.enterprise and not asked):
            raise Wrong("team_not_found" if asked else "missing_argument")
        return found[0]

    def channel(self, grant: Grant, name: str) -> Channel:
        """Return a conversation that the app may know of."""
        for team in self.reachable(grant):
            found = team.channels.get(name)
            if found is None or found.is_gone:
                continue
            if found.kind is Kind.PUBLIC or team.app_user.id in found.members:
                return found
        raise Wrong("channel_not_found")

    def team_of(self, channel: str) -> str:
        """Return which workspace has a channel, "" when none has."""
        return next((each.id for each in self.teams.values() if channel in each.channels), "")

    def team_in(self, grant: Grant, channel: Channel) -> Team:
        """Return the workspace as whose app a token acts in a channel that it may know of."""
        return next(each for each in self.reachable(grant) if each.channels.get(channel.id) is channel)

    def is_installed(self, team: Team) -> bool:
        """Say whether the app is installed in a workspace."""
        bots = (each for each in self.grants.values() if each.kind == "bot" and not each.trouble)
        return any(team in self.reachable(each) for each in bots)

    def installed_in(self, channel: Channel) -> list[Team]:
        """Return the workspaces by whose installation the app is in a channel, in the order in which they came to it."""
        teams = (self.teams[each] for each in channel.teams)
        return [each for each in teams if self.is_installed(each) and each.app_user.id in channel.members]

    def person(self, grant: Grant, name: str) -> Person:
        """Return somebody of the workspace, or of another one in a channel that the app is in too; raises Wrong."""
        return self.met(grant, name)[1]

    def met(self, grant: Grant, name: str) -> tuple[Team, Person]:
        """Return somebody, and the workspace in which a token meets them; raises Wrong."""
        for team in self.reachable(grant):
            if name in team.people:
                return team, team.people[name]
        for team in self.reachable(grant):
            shared = [each for each in team.channels.values() if each.shared_with and team.app_user.id in each.members]
            if any(name in each.members for each in shared):
                return team, next(each.people[name] for each in self.teams.values() if name in each.people)
        raise Wrong("user_not_found")

    def message(self, channel: Channel, ts: str) -> Message | None:
        return next((each for each in channel.messages if each.ts == ts and not each.shown_to), None)

    def direct(self, team: Team, person: Person) -> Channel:
        """Return the app's conversation with a person; the first time it is made."""
        name = f"D{person.id[1:]}" + ("" if person.team == team.id else f"_{team.id}")
        members = {person.id, team.app_user.id}
        return team.channels.setdefault(name, Channel(id=name, name=name, team=team.id, kind=Kind.IM, members=members))

    def writable(self, grant: Grant, name: str) -> Channel:
        """Return where the app may post: a channel it is in, or a person by their id."""
        if name.startswith(("U", "W")):
            return self.direct(*self.met(grant, name))
        found = self.channel(grant, name)
        if found.is_archived:
            raise Wrong(_CLOSED)
        if self.team_in(grant, found).app_user.id not in found.members and "chat:write.public" not in grant.scopes:
            raise Wrong("not_in_channel")
        return found

    # --- messages

    def post(self, message: Message) -> Message:
        """Take up a message whose ts and at are already set."""
        self.teams[message.team].channels[message.channel].messages.append(message)
        self.history.append(message)
        self.touch(message)
        return message

    def touch(self, message: Message) -> None:
        """Note that a message is new or was changed."""
        for number, block in enumerate(message.blocks):  # Slack names those that have no name
            block.setdefault("block_id", f"b{number}")
        if not message.shown_to:
            live = found(message.asked, message.text, message.blocks)
            self.mentions += [Mention(message.channel, message.ts, what) for what in live]
        message.changed = self.changed()

    # --- views

    def trigger(self, user: str, team: str, view: str = "") -> str:
        """Return a new trigger."""
        name = f"{self.times.ts().replace('.', '')}.{len(self.triggers)}.7f8d01a322363a013721e32e83af484b"
        self.triggers[name] = Trigger(user, team, self.now, view)
        return name

    def use(self, name: str) -> Trigger:
        """Use a trigger up; raises Wrong."""
        found = self.triggers.get(name)
        if found is None:
            raise Wrong("invalid_trigger_id")
        if found.used:
            raise Wrong("exchanged_trigger_id")
        if self.now - found.at > TRIGGER_LIVES:
            raise Wrong("expired_trigger_id")
        found.used = True
        return found
