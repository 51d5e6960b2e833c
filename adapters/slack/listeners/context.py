"""What every listener in Slack works with: who acts and where, what they may change, and which channels they may know of."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.context import ListenerContext
from adapters.chat.patience import ANY_NUMBER, Patience
from adapters.slack.client.api import Clients
from adapters.slack.client.channels import KINDS, PUBLIC, channels_of, home_teams, reads_public_channels
from adapters.slack.client.errors import CLIENT_FAILURES, channel_sentence, failure_reason
from adapters.slack.listeners.answers import AnswerTarget, SlackAnswers, called
from adapters.slack.send import SlackMessenger
from adapters.slack.workspaces import PLATFORM, team_of, workspace_of
from bot.commands import Command, Unreadable
from bot.errors import Delayed, DeliveryError
from bot.handlers.context import no_such_channel
from bot.handlers.handle import answer, failed
from bot.models import Actor, Reply
from bot.settings.chat import SlackSettings

log = logging.getLogger(__name__)

DIRECT = "D"  # begins the identifiers of direct messages


_VISIBLE = 3.0  # seconds for which Slack is asked where somebody is, once for what they are in and once for the app


async def _asked_again(answers: SlackAnswers, asking: Callable[[], Awaitable[Mapping[str, str]]]) -> Mapping[str, str]:
    """Return what is asked, tried again for a while. Raises DeliveryError."""
    patience = answers.patience
    found: Mapping[str, str] = await patience.keep_trying(
        lambda: called(asking()), patience.after(_VISIBLE), repeats=ANY_NUMBER
    )
    return found


_HOLDS = timedelta(minutes=10)  # so long does a person stay what users.info said: a new administrator waits at most that
_MOST = 10_000  # people remembered
_ASKED = 6.0  # seconds for which Slack is asked about a person
_ADMINISTERS = ("is_admin", "is_owner", "is_primary_owner")


@dataclass(frozen=True, slots=True)
class UserProfile:
    """What the workspace says of a person."""

    may_administer: bool = False
    zone: str = ""  # an IANA name
    is_external: bool = False  # of another organisation
    reads_public_channels: bool = False  # also those that they are not in


class Actors:
    """Asks Slack about each person once in ten minutes."""

    def __init__(self, clients: Clients, clock: Callable[[], datetime], patience: Patience | None = None) -> None:
        self._clients = clients
        self._clock = clock
        self._patience = patience or Patience()
        self._asked: dict[tuple[str, str], tuple[datetime, asyncio.Task[UserProfile | None]]] = {}

    async def actor(self, workspace: str, channel: str, person: str, home: str = "") -> Actor:
        """Return who asks; a person of whom Slack says nothing now may administer nothing.

        `home` is the person's own workspace where the request named it: where Slack says nothing, it tells who is external.
        """
        unknown = UserProfile(is_external=home not in ("", team_of(workspace)))
        profile = await self._profile(workspace, person) or unknown
        return Actor(
            platform=PLATFORM,
            workspace=workspace,
            channel=channel,
            person=person,
            may_administer=profile.may_administer,
            zone=profile.zone,
            is_external=profile.is_external,
            is_direct=not channel or channel.startswith(DIRECT),
        )

    async def reads_public_channels(self, workspace: str, person: str) -> bool:
        """Return whether the person may read public channels that they are not in; not where Slack says nothing of them."""
        profile = await self._profile(workspace, person)
        return profile is not None and profile.reads_public_channels

    async def _profile(self, workspace: str, person: str) -> UserProfile | None:
        key, now = (workspace, person), self._clock()
        until, asking = self._asked.get(key, (now, None))
        if asking is None or until <= now:
            asking = asyncio.create_task(self._ask(workspace, person))
            self._asked.pop(key, None)  # to the end of the row: the one that was asked for longest ago goes first
            self._asked[key] = (now + _HOLDS, asking)
            if len(self._asked) > _MOST:
                del self._asked[next(iter(self._asked))]
        profile = await asyncio.shield(asking)
        if profile is None:
            self._asked.pop(key, None)
        return profile

    async def _ask(self, workspace: str, person: str) -> UserProfile | None:
        try:
            client = await self._clients.client(workspace)
            user = await self._patience.keep_trying(
                lambda: _user(client, person), self._patience.after(_ASKED), repeats=ANY_NUMBER
            )
        except CLIENT_FAILURES as error:
            log.warning("Slack says nothing of a person in %s now: %s", workspace, failure_reason(error))
            return None
        team = team_of(workspace)
        return profile_of(user, team, self._clients.organisation(team))


async def _user(client: AsyncWebClient, person: str) -> Mapping[str, Any]:
    """Return what Slack says of a person. Raises DeliveryError."""
    user: Mapping[str, Any] = (await called(client.users_info(user=person)))["user"]
    return user


def profile_of(user: Mapping[str, Any], team: str, organisation: str = "") -> UserProfile:
    """Return what a user object of users.info says to a workspace, which may be of an organisation.

    Somebody of another organisation administers nothing here. `is_stranger` is said of those alone with whom no channel is
    shared (docs.slack.dev/apis/slack-connect, "Determining whether a user is external").
    """
    grid = user.get("enterprise_user") or {}
    is_colleague = team in home_teams(user, team) or (bool(organisation) and grid.get("enterprise_id") == organisation)
    is_external = user.get("is_stranger") is True or not is_colleague
    administers = any(user.get(name) is True for name in _ADMINISTERS) and not is_external
    return UserProfile(administers, str(user.get("tz") or ""), is_external, reads_public_channels(user, team))


async def visible_channels(
    answers: SlackAnswers, actors: Actors, actor: Actor, channels: Collection[str]
) -> Collection[str]:
    """Return those of the channels that the person is in, and but for guests and people of elsewhere the app's public ones.

    Where Slack does not say, that is the channel that they ask in.
    """
    found = {actor.channel}
    try:
        for person, kinds in await _rooms(actors, actor):
            if found.issuperset(channels):
                break
            found.update(await _asked_again(answers, partial(channels_of, answers.clients, actor.workspace, person, kinds)))
    except CLIENT_FAILURES as error:
        why = failure_reason(error)
        log.warning("Slack does not say now which channels somebody in %s is in: %s", actor.workspace, why)
    return found.intersection(channels)


async def _rooms(actors: Actors, actor: Actor) -> Sequence[tuple[str, str]]:
    """Return in whose channels, "" for the app's, and of which kinds one looks for those that the person may know of."""
    reads_public = await actors.reads_public_channels(actor.workspace, actor.person)
    return ((actor.person, KINDS), *((("", PUBLIC),) if reads_public else ()))


async def elsewhere(answers: SlackAnswers, actors: Actors, actor: Actor, named: str) -> Actor:
    """Return who asks as acting in a channel of those that `visible_channels` knows.

    Raises UsageError where there is no such channel, and Delayed where Slack does not say now.
    """
    try:
        for person, kinds in await _rooms(actors, actor):
            asking = partial(channels_of, answers.clients, actor.workspace, person, kinds)
            for channel, name in (await _asked_again(answers, asking)).items():
                if name and named.casefold() in (channel.casefold(), name.casefold()):
                    return replace(actor, channel=channel, place=f"#{name}")
    except CLIENT_FAILURES as error:
        log.warning("Slack does not say now which channels there are in %s: %s", actor.workspace, failure_reason(error))
        raise Delayed("Slack does not say now which channels there are; please try again.") from error
    raise no_such_channel(named)


_OF_OTHERS = "Broadsheet cannot write in a direct message of others; subscribe in a channel, or in a message to the app."

Body = dict[str, Any]  # of a request from Slack


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackContext(ListenerContext):
    """What every listener in Slack works with."""

    settings: SlackSettings
    clients: Clients
    actors: Actors
    answers: SlackAnswers
    messenger: SlackMessenger
    publishing: dict[tuple[str, str], object] = field(default_factory=dict)  # whose Home tab is being shown, and by whom

    async def ask(self, asked: Command | Unreadable, actor: Actor, line: str = "") -> Reply:
        """Return what the core answers, when it is its turn; nobody is told of private channels that they are not in.

        `line` is what was typed, where it was a line of words.
        """
        handlers = replace(
            self.platform.handler_context,
            visible_channels=partial(visible_channels, self.answers, self.actors),
            obstacle=self.obstacle,
            elsewhere=partial(elsewhere, self.answers, self.actors),
        )
        async with self.turns:
            return await answer(handlers, asked, actor, self.now, line)

    async def obstacle(self, actor: Actor) -> str:
        """Return what keeps us from posting in the actor's channel, "" where nothing does, or Slack does not say now."""
        try:
            why = await self.messenger.obstacle(actor.workspace, actor.channel, may_join=True) if actor.channel else ""
        except DeliveryError as error:
            log.info("Slack does not say now whether a channel of %s takes posts: %s", actor.workspace, error)
            return ""
        of_others = actor.channel.startswith("D") and why == channel_sentence("channel_not_found")
        return _OF_OTHERS if of_others else why

    async def actor(self, interaction: "SlackInteraction", channel: str) -> Actor:
        """Return who acted, as acting in this channel."""
        return await self.actors.actor(interaction.workspace, channel, interaction.person, interaction.home)

    def interaction_of(self, body: Body) -> "SlackInteraction":
        """Return who acted and where, of a slash command or another interaction."""
        return interaction_of(body, workspace_of(self.clients.team_of_request(body)))

    def acknowledging(
        self, work: Callable[["SlackContext", Body], Coroutine[Any, Any, None]], name: str
    ) -> Callable[..., Awaitable[None]]:
        """Return a listener that acknowledges, and then does the work in the background; a failure of it is told."""

        async def listener(ack: AsyncAck, body: Body) -> None:
            await ack()
            self.tasks.start(self.telling_failures(work(self, body), body), name)

        return listener

    async def telling_failures(self, work: Awaitable[None], body: Body) -> None:
        """Do the work; what nobody foresaw is logged, and told to who acted, with a reference."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            await self.answers.send_reply(self.interaction_of(body).target, failed(error, ""))

    def following(
        self, work: Callable[["SlackContext", str, Body], Coroutine[Any, Any, None]], name: str
    ) -> Callable[..., Awaitable[None]]:
        """Return a listener to what people do, not the app itself: the work is given the workspace and the event."""

        async def listener(body: Body, context: AsyncBoltContext) -> None:
            event = body["event"]
            if event.get("user") in (None, "", context.bot_user_id) or event.get("bot_id"):
                return
            workspace = workspace_of(self.clients.team_of_request(body))
            self.tasks.start(work(self, workspace, event), name)

        return listener


@dataclass(frozen=True, slots=True)
class SlackInteraction:
    """Who acted, and where; "" for what Slack does not say, such as the channel of a form."""

    workspace: str
    channel: str
    person: str
    trigger: str = ""  # opens a view within three seconds, once
    url: str = ""  # the response_url
    home: str = ""  # the workspace of the person, who may be of another organisation; "" for the same

    @property
    def target(self) -> AnswerTarget:
        """Where it is answered, where no message was acted upon."""
        return AnswerTarget(workspace=self.workspace, channel=self.channel, person=self.person, url=self.url)


def interaction_of(body: Mapping[str, Any], workspace: str) -> SlackInteraction:
    """Return who acted and where, of a slash command or another interaction that came to this workspace."""
    trigger, url = body.get("trigger_id", ""), body.get("response_url", "")
    if "command" in body:
        return SlackInteraction(workspace, body["channel_id"], body["user_id"], trigger, url)
    channel = (body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id") or ""
    user = body["user"]
    return SlackInteraction(workspace, channel, user["id"], trigger, url, str(user.get("team_id") or ""))
