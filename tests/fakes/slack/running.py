"""The whole of it, and how it is run."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from tests.fakes.patience import PATIENCE
from tests.fakes.platform import Behaviour
from tests.fakes.platform import Message as Posted
from tests.fakes.slack import methods_app, methods_conversations, methods_views, scopes
from tests.fakes.slack.answers import Answers
from tests.fakes.slack.call import Asked
from tests.fakes.slack.faults import Failure, Faults
from tests.fakes.slack.happenings import Happenings
from tests.fakes.slack.link import Link
from tests.fakes.slack.oauth import OAuth
from tests.fakes.slack.posted import Post
from tests.fakes.slack.state import Channel, Grant, Kind, Message, Person, Team, Times, View
from tests.fakes.slack.steps import Execution, Steps
from tests.fakes.slack.tiers import Tiers
from tests.fakes.slack.web_api import Method, WebApi
from tests.fakes.slack.world import World

SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"  # the one in Slack's own example


class FakeSlack(Happenings):
    """See tests.fakes.slack."""

    def __init__(self, behaviour: Behaviour, *, tiers: bool, clock: Callable[[], float]) -> None:
        world = World(Times(clock))
        self.faults = Faults(behaviour)
        self.answers = Answers(world, self.faults)
        super().__init__(world, self.answers)
        self.url = ""
        self.signing_secret = SIGNING_SECRET
        self.client_id, self.client_secret = "1111.2222", "c" * 32
        self.link = Link(world)
        self.oauth = OAuth(world, self.client_id, self.client_secret)
        self.steps = Steps()
        self.web_api = WebApi(world, self._methods(), self.faults, Tiers() if tiers else None)
        self.app_token, self.bot_token = "xapp-1-A0BROAD-1111-aaaa", "xoxb-0-T0BROAD-aaaa"
        world.grants[self.app_token] = Grant(
            token=self.app_token, kind="app", teams=(), scopes=frozenset({"connections:write"})
        )
        self._post: Post | None = None
        self._committed: list[Posted] = []
        self._judged = 0  # of the world's history
        self._deliver = self.link.deliver
        self._furnish()

    def _methods(self) -> Mapping[str, Method]:
        behaviour = self.faults
        talk = methods_conversations.Conversations(lambda: behaviour.behaviour)
        files = methods_app.Files(lambda: self.url)
        return {
            **methods_app.CHAT,
            "apps.connections.open": self.link.connect,
            "auth.revoke": methods_app.auth_revoke,
            "auth.test": methods_app.auth_test,
            "auth.teams.list": methods_app.teams_list,
            "conversations.history": talk.history,
            "conversations.info": methods_conversations.info,
            "conversations.join": methods_conversations.join,
            "conversations.list": methods_conversations.list_,
            "conversations.members": methods_conversations.members,
            "conversations.open": methods_conversations.open_,
            "conversations.replies": talk.replies,
            "files.completeUploadExternal": files.complete,
            "functions.completeError": self.steps.fail,
            "functions.completeSuccess": self.steps.succeed,
            "files.getUploadURLExternal": files.upload_url,
            "oauth.v2.access": self.oauth.access,
            "team.info": methods_app.team_info,
            "users.conversations": methods_conversations.of_person,
            "users.info": methods_app.users_info,
            "views.open": methods_views.open_,
            "views.publish": methods_views.publish,
            "views.push": methods_views.push,
            "views.update": methods_views.update,
        }

    # --- what is there

    def _furnish(self) -> None:
        self.team = self.add_team("T0BROAD")
        self.anna = self.add_person("U0ANNA", "anna", is_admin=True)
        self.ben = self.add_person("U0BEN", "ben", zone="America/New_York", offset=-14400)
        self.general = self.add_channel("C0GENERAL", "general", joined=True)
        self.random = self.add_channel("C0RANDOM", "random", joined=False)
        self.secret = self.add_channel("C0SECRET", "secret", joined=False, kind=Kind.PRIVATE)
        self.old = self.add_channel("C0OLD", "old", joined=True)
        self.old.is_archived = True
        self.add_grant(self.bot_token)

    def add_team(self, name: str, *, enterprise: str = "") -> Team:
        """Add a workspace, with the app's user in it."""
        app = Person(id=f"U0APP{name[2:]}", name="broadsheet", team=name, is_bot=True)
        made = Team(
            id=name, domain=name.lower(), name=f"{name} team", app_user=app, enterprise=enterprise, people={app.id: app}
        )
        self.world.teams[name] = made
        return made

    def add_person(self, name: str, called: str, *, team: Team | None = None, **more: Any) -> Person:
        """Add somebody; `more` are fields of Person."""
        where = team or self.team
        made = where.people[name] = Person(id=name, name=called, team=where.id, **more)
        return made

    def add_channel(
        self, name: str, called: str, *, joined: bool, team: Team | None = None, kind: Kind = Kind.PUBLIC
    ) -> Channel:
        """Add a channel with everybody in it, the app too where it `joined`."""
        where = team or self.team
        members = {each.id for each in where.people.values() if joined or not each.is_bot}
        made = where.channels[name] = Channel(id=name, name=called, team=where.id, kind=kind, members=members)
        return made

    def share_channel(self, channel: Channel, team: Team, *, joined: bool) -> None:
        """Share a channel with another workspace: its people come into it, and where it `joined` its app."""
        channel.shared_with.append(team.id)
        channel.members |= {each.id for each in team.people.values() if joined or not each.is_bot}
        team.channels[channel.id] = channel

    def add_grant(self, token: str, *, team: Team | None = None, allowed: frozenset[str] = scopes.EVERYTHING) -> Grant:
        """Give the app a token for a workspace."""
        made = Grant(token=token, kind="bot", teams=((team or self.team).id,), scopes=allowed)
        self.world.grants[token] = made
        return made

    def direct(self, user: Person) -> Channel:
        """Return the person's conversation with the app."""
        return self.world.direct(self.world.teams[user.team], user)

    async def run_step(
        self, callback: str, *, team: Team | None = None, delivered: int = 1, with_token: bool = True, **inputs: Any
    ) -> Execution:
        """Let a workflow execute a step of the app, and tell the app so many times, as where nothing was acknowledged."""
        where = team or self.team
        step = self.rights.demand_step(callback)
        made, what = self.steps.begun(self.world, where, callback, step, inputs, self._grants(where))
        if not with_token:
            del what["bot_access_token"]
        event_id = f"Ev{made.id}"
        for _ in range(delivered):
            await self.event(what, team=where, event_id=event_id)
        return made

    # --- what is to be seen

    @property
    def api_url(self) -> str:
        return f"{self.url}/api"

    @property
    def requests(self) -> list[Asked]:
        return list(self.web_api.asked)

    @property
    def rejected(self) -> list[Asked]:
        return self.web_api.rejected

    @property
    def mentions(self) -> list[Any]:
        return self.world.mentions

    @property
    def files(self) -> list[dict[str, Any]]:
        return [each for each in self.world.files.values() if each["is_complete"]]

    @property
    def behaviour(self) -> Behaviour:
        return self.faults.behaviour

    @behaviour.setter
    def behaviour(self, behaviour: Behaviour) -> None:
        self.faults.behaviour = behaviour

    @property
    def counts(self) -> Mapping[str, int]:
        """How many calls of each method, `posts`, `finds`, `429`, those `inside` a pause or `on the way`, each Fault."""
        counts = self.web_api.counts + self.faults.counts
        counts["posts"] = counts["chat.postMessage"]
        counts["finds"] = counts["conversations.history"] + counts["conversations.replies"]
        return counts

    @property
    def committed(self) -> Sequence[Posted]:
        """Every message with a delivery's marker, in order, for a judge; grows as they are made."""
        new = self.world.history[self._judged :]  # each once: who asks often would hold up what is to be answered
        self._judged += len(new)
        every = [(each, (each.metadata or {}).get("event_payload", {}).get("d")) for each in new]
        self._committed += [
            Posted(each.ts, each.channel, str(marker), each.text, each.at) for each, marker in every if marker
        ]
        return self._committed

    def messages(self, channel: Channel) -> list[Message]:
        """What everybody in a channel sees."""
        return [each for each in channel.messages if not (each.shown_to or each.is_deleted)]

    def seen_by(self, user: Person) -> list[Message]:
        """What the app said to one person alone, wherever."""
        direct = f"D{user.id[1:]}"
        return [
            each
            for each in self.world.history
            if not each.is_deleted
            and not each.is_unseen
            and each.is_app
            and (each.shown_to == user.id or each.channel.partition("_")[0] == direct)
        ]

    def home(self, user: Person, *, team: Team | None = None) -> View | None:
        return self.world.teams[team.id if team else user.team].homes.get(user.id)

    # --- how it behaves

    def authorise(self, url: str, *, user: Person | None = None, whole: bool = False, allows: bool = True) -> str:
        """Decide on the page at `url`, for the `whole` organisation or one workspace; return where it leads back to."""
        person = user or self.anna
        return self.oauth.allowed(url, self.world.teams[person.team], person.id, whole=whole, allows=allows)

    def fail(self, method: str, failure: Failure, *, times: int = 1) -> None:
        """Let the next calls of a method fail; also of a "response_url", and of the "upload" of a file's bytes."""
        self.faults.plan(method, failure, times)

    def fail_until(self, at: float, failure: Failure) -> None:
        """Let every call fail until that time of the fake's clock."""
        self.faults.outage = failure, lambda: self.world.now < at

    def delivers_to(self, url: str) -> Post:
        """Deliver over signed HTTP from now on."""
        self._post = Post(url, self.signing_secret)
        self._deliver = self._post.deliver
        return self._post

    async def connected(self, number: int = 1, *, within: float = PATIENCE) -> None:
        """Wait until so many sockets are open that let something through."""
        await self.until(lambda: sum(not each.is_silent for each in self.link.connections) >= number, within)

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        await self.link.disconnect(reason)

    def silence(self) -> None:
        self.link.silence()

    def drop(self) -> None:
        self.link.drop()

    @property
    def down(self) -> bool:
        return self.link.down

    @down.setter
    def down(self, down: bool) -> None:
        self.link.down = down

    async def finish(self) -> None:
        """Let go of everything."""
        for each in self._later:
            each.cancel()
        await asyncio.gather(*self._later, return_exceptions=True)
        await self.link.close()
        if self._post is not None:
            await self._post.close()


@asynccontextmanager
async def running(
    behaviour: Behaviour | None = None,
    *,
    tiers: bool = True,
    clock: Callable[[], float] = time.time,
    manifest: Mapping[str, Any] | None = None,
    before: Sequence[Middleware] = (),
) -> AsyncIterator[FakeSlack]:
    """Run a Slack on a free port of 127.0.0.1; requests take no time unless a behaviour says so.

    `before` is what every request meets before it comes to Slack.
    """
    fake = FakeSlack(behaviour or Behaviour(takes=(0.0, 0.0)), tiers=tiers, clock=clock)
    if manifest is not None:
        fake.rights.manifest = dict(manifest)
        fake.world.grants[fake.bot_token].scopes = frozenset(manifest["oauth_config"]["scopes"]["bot"])
    app = web.Application(client_max_size=2**24, middlewares=before)
    app.router.add_route("*", "/api/{method}", fake.web_api.handle)
    app.router.add_get("/link/", fake.link.handle)
    app.router.add_post("/{kind:commands|actions|app}/{team}/{key}", fake.answers.handle)
    app.router.add_get("/oauth/v2/authorize", fake.oauth.page)
    app.router.add_post("/upload/{file}", fake.take_upload)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    port = runner.addresses[0][1]
    fake.url = fake.answers.url = f"http://127.0.0.1:{port}"
    fake.link.url = f"ws://127.0.0.1:{port}"
    try:
        yield fake
    finally:
        await fake.finish()
        await runner.cleanup()
