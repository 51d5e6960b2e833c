"""Being in Slack, with the real slack-bolt and slack-sdk, on real sockets: heard, not heard, forged, installed, removed."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient

from adapters.chat.connection import CheckResult
from adapters.slack.check import check
from adapters.slack.install import permissions
from adapters.slack.install.manifest import manifest
from bot.app import App
from bot.errors import NetworkFault, Refused, SettingsError
from bot.settings.chat import SlackSettings
from tests.e2e.slack_rooms import KEY, SHORT, Clock, Room, by_oauth, connected, service, settings
from tests.e2e.watches import kept
from tests.fakes import slack
from tests.fakes.platform import Behaviour

GENERAL = "C0GENERAL"


def minutes(count: int) -> timedelta:
    return timedelta(minutes=count)


async def is_helped(fake: slack.FakeSlack, **where: Any) -> None:
    """Somebody gives a command, and is answered."""
    answer = await (await fake.command("help", **where)).answer()
    assert "search" in answer.words


@pytest.fixture
async def fake() -> AsyncIterator[slack.FakeSlack]:
    async with slack.running(tiers=False) as fake:
        yield fake


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with service(tmp_path) as built:
        yield built


async def test_a_socket_is_opened_and_kept_whatever_befalls_it(fake: slack.FakeSlack, app: App) -> None:
    known = 0

    async def is_heard_anew() -> None:
        nonlocal known
        await room.until(lambda: len(fake.link.all) > known and len(fake.link.connections) == 1 and not room.trouble)
        await is_helped(fake)
        known = len(fake.link.all)

    fake.down = True  # Slack is down as the service starts
    async with connected(app, settings(fake)) as room:
        await room.until(lambda: "internal_error" in room.trouble)
        fake.down = False
        await is_heard_anew()

        fake.silence()  # the socket stays open, and nothing comes any more
        await is_heard_anew()
        fake.drop()
        await is_heard_anew()
        await fake.disconnect("warning")
        await is_heard_anew()
        await fake.disconnect("refresh_requested")
        await is_heard_anew()

    assert fake.missed == []
    await fake.until(lambda: not fake.link.connections or None)


async def test_a_healthy_socket_is_kept_by_a_slack_sdk_that_notes_pongs_elsewhere(
    fake: slack.FakeSlack, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def latest(self: object) -> Any:
        if str(sys._getframe(1).f_globals["__name__"]).startswith("adapters"):
            raise AttributeError("last_ping_pong_time")
        return vars(self)["renamed"]

    def note(self: object, value: object) -> None:
        vars(self)["renamed"] = value

    monkeypatch.setattr(SocketModeClient, "last_ping_pong_time", property(latest, note), raising=False)
    async with connected(app, settings(fake), timeouts=replace(SHORT, silence=0.8)) as room:
        await fake.connected()
        await fake.until(
            lambda: fake.link.all[0].pings >= 12 or None
        )  # in more than the time for which a silent one is kept
        assert (len(fake.link.all), room.trouble) == (1, "")
        await is_helped(fake)
        fake.silence()
        await room.until(lambda: len(fake.link.all) > 1)


async def test_a_socket_that_slack_does_not_open_is_tried_again_with_a_new_address(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    given = settings(fake)
    async with connected(app, given, watched=False) as room, AsyncExitStack() as stack:
        for _ in range(10):  # as many as Slack allows
            asked = await room.platform.clients.new_client().apps_connections_open(app_token=fake.app_token)
            await stack.enter_async_context(session.ws_connect(str(asked["url"])))
        async with kept(room.platform.watches):
            await room.until(lambda: "HTTP status 503" in room.trouble)
            await stack.aclose()
            await room.until(lambda: not room.trouble)
            await is_helped(fake)


async def test_a_token_that_slack_refuses_is_said_and_tried_again(fake: slack.FakeSlack, app: App) -> None:
    wrong = settings(fake, app_token="xapp-1-wrong")
    async with connected(app, wrong) as room:
        await room.until(lambda: "invalid_auth" in room.trouble)
        assert "`app_token`" in room.trouble
        opened = [each for each in fake.requests if each.method == "apps.connections.open"]
        await room.until(lambda: [each for each in fake.requests if each.method == "apps.connections.open"] > opened)


async def test_what_befalls_a_channel_is_told_to_the_core_once(fake: slack.FakeSlack, app: App) -> None:
    private = fake.add_channel("C0PRIV", "priv", joined=True, kind=slack.Kind.PRIVATE)
    other = fake.add_channel("C0OTHER", "other", joined=True)
    async with connected(app, settings(fake)) as room:
        await fake.connected()
        await fake.rename(fake.general, "announcements")
        await fake.archive(fake.general)
        await fake.archive(private)
        await fake.delete_channel(other)
        await fake.kick(fake.old)
        same = {"type": "channel_archive", "channel": "C0RANDOM", "user": fake.anna.id}
        for _ in range(3):
            await fake.event(same, event_id="Ev0SAME")
        await fake.event({"type": "member_left_channel", "user": fake.ben.id, "channel": "C0RANDOM", "team": "T0BROAD"})
        await room.until(lambda: len(room.gone) == 6)
        await fake.event({"type": "tokens_revoked", "tokens": {"oauth": ["U0ANNA"], "bot": []}})
        await fake.event({"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["U0APPBROAD"]}})  # an older token

    assert [(workspace, channel) for workspace, channel, _ in room.gone] == [
        ("slack:T0BROAD", GENERAL),
        ("slack:T0BROAD", "C0PRIV"),
        ("slack:T0BROAD", "C0OTHER"),
        ("slack:T0BROAD", "C0OLD"),
        ("slack:T0BROAD", "C0OLD"),  # left, and a member left; the core pauses once
        ("slack:T0BROAD", "C0RANDOM"),
    ]
    assert "archived" in room.gone[0][2]


async def test_everything_that_is_subscribed_is_listened_to(
    app: App, fake: slack.FakeSlack, caplog: pytest.LogCaptureFixture
) -> None:
    given = settings(fake, reactions=True, link_previews=True)
    async with connected(app, given) as room:
        await fake.connected()
        for name in permissions.events(given):
            item = {"type": "message", "channel": GENERAL, "ts": "1.2"}
            more: dict[str, Any] = (
                {"channel": {"id": GENERAL, "name": "all"}} if name.endswith("_rename") else {"channel": GENERAL}
            )
            more |= {"user": fake.ben.id, "reaction": "+1", "item": item, "links": [], "team_ids": ["T0FAR"], "tab": "home"}
            kind, _, where = name.partition(".")  # message.im is a message in a conversation of that kind
            more |= {"channel_type": where, "ts": "1.3", "text": "thanks"} if where else {}
            await fake.event({"type": kind, "message_ts": "1.2", **more})
        await room.until(lambda: ("slack:T0FAR", "") in [(workspace, channel) for workspace, channel, _ in room.gone])
        await room.until(lambda: fake.home(fake.ben))

    assert "Unhandled" not in caplog.text


async def test_an_app_with_its_own_manifest_hears_and_may_do_all_of_it(tmp_path: Path, app: App) -> None:
    made = manifest(SlackSettings(), socket=True, url="", name="Broadsheet")
    async with slack.running(tiers=False, manifest=made) as fake, connected(app, settings(fake)) as room:
        await fake.connected()
        await fake.archive(fake.general)
        await room.until(lambda: room.gone)
        await is_helped(fake, channel=fake.random)
        found = await check(settings(fake), room.clock(), room.line.chats)

    assert [each.name for each in found if not each.well] == []
    assert [each.method for each in fake.requests if each.error == "missing_scope"] == []


# --- HTTP and OAuth


class Browser:
    """Follows an installation, with its cookies."""

    def __init__(self, fake: slack.FakeSlack, room: Room, session: aiohttp.ClientSession) -> None:
        self._fake, self._room, self._session = fake, room, session
        self.cookies: dict[str, str] = {}

    async def begins(self) -> str:
        """Return where Slack's page is."""
        async with self._session.get(f"{self._room.url}/slack/install", allow_redirects=False) as answer:
            assert answer.status == 302
            for name, morsel in answer.cookies.items():
                assert morsel["secure"], "never over plain HTTP"
                assert morsel["httponly"]
                self.cookies[name] = morsel.value
            return answer.headers["Location"]

    async def comes_back(self, address: str) -> tuple[int, str]:
        """Open the address that Slack leads back to, here instead of at the public address."""
        parts = urlsplit(address)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        url = f"{self._room.url}{parts.path}?{parts.query}"
        async with self._session.get(url, headers={"Cookie": cookies}, allow_redirects=False) as answer:
            return answer.status, await answer.text()

    async def installs(self, **given: Any) -> tuple[int, str]:
        """Go through all of it."""
        return await self.comes_back(self._fake.authorise(await self.begins(), **given))


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session


async def posted(room: Room, workspace: str = "slack:T0BROAD", channel: str = GENERAL) -> str:
    client = await room.platform.clients.client(workspace)
    await client.chat_postMessage(channel=channel, text="A digest.")
    return str(client.token)


async def test_it_is_installed_in_a_browser_and_posts_with_that_token_also_after_a_restart(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    given = by_oauth(fake)
    async with connected(app, given) as room:
        with pytest.raises(Refused, match=r"install it at https://digest\.example\.org/slack/install"):
            await posted(room)
        page = await (browser := Browser(fake, room, session)).begins()
        assert parse_qs(urlsplit(page).query)["scope"] == [",".join(permissions.scopes(given))]
        status, text = await browser.comes_back(fake.authorise(page))
        assert (status, "Broadsheet is in T0BROAD team" in text) == (200, True)
        token = await posted(room)
        fake.delivers_to(f"{room.url}/slack/events")
        await is_helped(fake)

    kept = await app.store.chats.installations("slack")
    assert [each.place for each in kept] == ["T0BROAD"]
    assert token.encode() not in kept[0].sealed
    async with connected(app, given) as room:
        assert await posted(room) == token


async def test_several_workspaces_may_be_heard_by_one_socket(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    async with connected(app, by_oauth(fake, mode="socket", signing_secret="")) as room:
        assert (await Browser(fake, room, session).installs())[0] == 200
        await fake.connected()
        await is_helped(fake)
        async with session.post(f"{room.url}/slack/events") as answer:
            assert answer.status == 404


async def test_by_http_a_token_that_is_not_taken_is_said_until_it_is(fake: slack.FakeSlack, app: App) -> None:
    by_http = settings(fake, mode="http", signing_secret=fake.signing_secret, port=0)
    fake.fail("auth.test", slack.Failure(error="account_inactive"), times=2)
    async with connected(app, by_http) as room:
        await room.until(lambda: "account_inactive" in room.trouble)
        await room.until(lambda: room.trouble == "")
        fake.delivers_to(f"{room.url}/slack/events")
        await is_helped(fake)


async def test_an_installation_is_finished_once_in_the_browser_that_began_it_within_ten_minutes(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    clock = Clock()
    async with connected(app, by_oauth(fake), clock=clock) as room:
        browser, other = Browser(fake, room, session), Browser(fake, room, session)
        back = fake.authorise(await browser.begins())
        await other.begins()

        assert (await other.comes_back(back))[0] == 400  # another browser
        assert (await browser.comes_back(back.replace("state=", "state=x")))[0] == 400
        assert (await browser.comes_back(back.split("&state")[0]))[0] == 400
        assert (await browser.comes_back(back))[0] == 200
        assert (await browser.comes_back(back))[0] == 400  # a second time
        assert (await browser.installs(allows=False))[1].count("not allowed") == 1
        late = fake.authorise(await browser.begins())
        clock.ahead += minutes(11)
        assert (await browser.comes_back(late))[0] == 400
        wrong = fake.authorise(await browser.begins()).replace("code=1111", "code=2222")
        status, text = await browser.comes_back(wrong)

    assert (status, "invalid_code" in text) == (502, True)
    assert len(await app.store.chats.installations("slack")) == 1


async def test_an_organisation_installs_it_once_and_its_workspaces_act_by_that_token(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    fake.team.enterprise = "E0BROAD"
    second = fake.add_team("T0SECOND", enterprise="E0BROAD")
    carla = fake.add_person("U0CARLA", "carla", team=second)
    there = fake.add_channel("C0THERE", "there", joined=True, team=second)
    async with connected(app, by_oauth(fake)) as room:
        assert (await Browser(fake, room, session).installs(whole=True))[0] == 200
        by_http = fake.delivers_to(f"{room.url}/slack/events")
        for user, channel in ((fake.anna, fake.general), (carla, there)):
            await is_helped(fake, user=user, channel=channel)
        await by_http.close()
    async with connected(app, by_oauth(fake)) as room:
        one, other = await posted(room), await posted(room, "slack:T0SECOND", "C0THERE")
        assert one == other
        fake.delivers_to(f"{room.url}/slack/events")
        await fake.uninstall(fake.team)
        await room.until(lambda: len(room.gone) == 2)
        with pytest.raises(Refused):
            await posted(room, "slack:T0SECOND", "C0THERE")

    assert sorted(workspace for workspace, _, _ in room.gone) == ["slack:T0BROAD", "slack:T0SECOND"]
    assert await app.store.chats.installations("slack") == []


async def test_tokens_are_renewed_before_they_end_once_and_kept(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    fake.oauth.rotates = True
    clock = Clock()
    async with connected(app, by_oauth(fake), clock=clock) as room:
        assert (await Browser(fake, room, session).installs())[0] == 200
        first = await posted(room)
        clock.ahead += minutes(9 * 60)
        assert await posted(room) == first
        clock.ahead += minutes(65)
        second, *others = await asyncio.gather(*(posted(room) for _ in range(5)))
        assert second != first
        assert set(others) == {second}
        assert len([each for each in fake.requests if each.method == "oauth.v2.access"]) == 2
    async with connected(app, by_oauth(fake), clock=clock) as room:
        assert await posted(room) == second
        clock.ahead += minutes(11 * 60)
        fake.fail("oauth.v2.access", slack.Failure(error="internal_error"), times=1)
        assert await posted(room) == second  # not renewed, and still good
        assert await posted(room) == second  # and Slack is left alone for a while
        assert len([each for each in fake.requests if each.method == "oauth.v2.access"]) == 3
        clock.ahead += minutes(2)
        third = await posted(room)
        assert third != second


async def test_where_it_was_removed_nothing_is_posted_and_the_core_is_told_unless_it_was_installed_again(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    async with connected(app, by_oauth(fake)) as room:
        assert (await Browser(fake, room, session).installs())[0] == 200
        fake.delivers_to(f"{room.url}/slack/events")
        await fake.uninstall()
        await room.until(lambda: room.gone)
        with pytest.raises(Refused, match="not installed"):
            await posted(room)
        assert await app.store.chats.installations("slack") == []

        clock_was = fake.world.now
        assert (await Browser(fake, room, session).installs())[0] == 200
        await fake.revoke()
        await room.until(lambda: len(room.gone) == 2)
        assert await app.store.chats.installations("slack") == []
        assert (await Browser(fake, room, session).installs())[0] == 200
        assert clock_was < fake.world.now

    assert [workspace for workspace, _, _ in room.gone] == ["slack:T0BROAD", "slack:T0BROAD"]
    assert room.gone[0][2].endswith("install it again at https://digest.example.org/slack/install.")


async def test_what_may_be_open_again_is_told_to_the_core(fake: slack.FakeSlack, app: App) -> None:
    private = fake.add_channel("C0PRIV", "priv", joined=True, kind=slack.Kind.PRIVATE)
    async with connected(app, settings(fake)) as room:
        await fake.connected()
        assert room.open_again == [("slack:", "")]  # at the start
        for channel in (fake.general, private):
            await fake.archive(channel)
            await fake.unarchive(channel)
        await fake.invite(fake.old)
        joined = {"type": "member_joined_channel", "channel": "C0RANDOM", "channel_type": "C", "team": "T0BROAD"}
        await fake.event(joined | {"user": fake.ben.id})
        await fake.event({"type": "team_access_granted", "team_ids": ["T0BROAD", "T0SECOND"]})
        await room.until(lambda: len(room.open_again) == 6)

    expected = [("T0BROAD", GENERAL), ("T0BROAD", "C0PRIV"), ("T0BROAD", "C0OLD"), ("T0BROAD", ""), ("T0SECOND", "")]
    assert room.open_again[1:] == [(f"slack:{team}", channel) for team, channel in expected]


async def test_an_installation_has_asked_what_is_paused_where_the_app_was_installed(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    async with connected(app, by_oauth(fake)) as room:
        assert (await Browser(fake, room, session).installs())[0] == 200
        assert room.open_again == [("slack:", ""), ("slack:T0BROAD", "")]


async def test_what_is_said_of_one_workspace_of_an_organisation_touches_no_other_and_is_believed_if_slack_says_so_when_asked(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    fake.team.enterprise = "E0BROAD"
    second = fake.add_team("T0SECOND", enterprise="E0BROAD")
    carla = fake.add_person("U0CARLA", "carla", team=second)
    there = fake.add_channel("C0THERE", "there", joined=True, team=second)
    async with connected(app, by_oauth(fake)) as room:
        assert (await Browser(fake, room, session).installs(whole=True))[0] == 200
        fake.delivers_to(f"{room.url}/slack/events")
        for user, channel in ((fake.anna, fake.general), (carla, there)):
            await is_helped(fake, user=user, channel=channel)

        async def asked_after(event: dict[str, object], method: str = "auth.test") -> None:
            before = sum(each.method == method for each in fake.requests)
            await fake.event(event, team=second)
            await room.until(lambda: sum(each.method == method for each in fake.requests) > before)

        # Too late, or of another installation: the organisation's token is good in both.
        await asked_after({"type": "team_access_revoked", "team_ids": ["T0SECOND"]}, "auth.teams.list")
        await asked_after({"type": "app_uninstalled"}, "auth.teams.list")
        await asked_after({"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["U0APPBROAD"]}}, "auth.teams.list")
        # Nobody can tell.
        for failure in (slack.Failure(status=503), slack.Failure(error="fatal_error"), slack.Failure(retry_after=1)):
            fake.fail("auth.test", failure)
            await asked_after({"type": "team_access_revoked", "team_ids": ["T0SECOND"]})
        assert room.gone == []
        assert await posted(room) == await posted(room, "slack:T0SECOND", "C0THERE")

        await fake.take_away(second)
        await room.until(lambda: room.gone)
        assert [workspace for workspace, _, _ in room.gone] == ["slack:T0SECOND"]
        assert await room.platform.messenger.obstacle("slack:T0SECOND", "") != ""
        assert await room.platform.messenger.obstacle("slack:T0BROAD", "") == ""
        await posted(room)
        await fake.give_back(second)
        await room.until(lambda: ("slack:T0SECOND", "") in room.open_again)


async def test_doctor_says_what_to_mend(fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession) -> None:
    now = Clock()()
    few = fake.add_grant("xoxb-0-T0BROAD-few", allowed=frozenset({"chat:write"}))

    async def bad(given: SlackSettings, late: int = 0) -> str:
        return "; ".join(f"{name}: {text}" for name, well, text, _ in await check(given, now + minutes(late)) if not well)

    assert await bad(settings(fake, reactions=True)) == ""
    assert "missing: commands, channels:read" in await bad(settings(fake, bot_token=few.token))
    assert "not taken (invalid_auth)" in await bad(settings(fake, bot_token="xoxb-none"))
    assert "connections:write" in await bad(settings(fake, app_token="xapp-1-none"))
    assert "clock is" in await bad(settings(fake), late=5)
    assert "begins with xapp-" in await bad(settings(fake, app_token=""))
    assert "`public_url`" in await bad(settings(fake, mode="http", signing_secret="s" * 32))
    async with connected(app, by_oauth(fake)) as room:
        assert (await Browser(fake, room, session).installs())[0] == 200
        found = await check(by_oauth(fake), now, app.store.chats)
    assert found == [CheckResult("Slack T0BROAD", True, "in T0BROAD team as broadsheet")]


@pytest.mark.usefixtures("unknown_names")
async def test_doctor_tells_a_slack_that_cannot_be_reached_from_a_token_that_was_refused(
    fake: slack.FakeSlack, app: App, unused_tcp_port: int
) -> None:
    now = Clock()()
    closed = await check(settings(fake, api_url=f"http://127.0.0.1:{unused_tcp_port}/api"), now)
    said = "it could not be reached: the connection failed; the token was not tried"
    assert closed == [CheckResult("Slack", False, said, NetworkFault.CONNECTION)], "once, and not for each token"
    (unknown,) = await check(settings(fake, api_url="https://slack.invalid/api"), now)
    assert (unknown.fault, "its name could not be resolved" in unknown.text) == (NetworkFault.NAME, True)

    (refused, _) = await check(settings(fake, bot_token="xoxb-none"), now)
    assert (refused.fault, "install the app again" in refused.text) == (None, True)
    for failure, why in (
        (slack.Failure(status=503), "HTTP status 503"),
        (slack.Failure(error="ratelimited"), "ratelimited"),
    ):
        fake.fail("auth.test", failure)
        (unclear, _) = await check(settings(fake), now)
        assert unclear.text == f"Slack did not say whether the token is good ({why}): try again in a few minutes"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"app_token": ""}, "`app_token`"),
        ({"app_token": "xoxb-1"}, "`app_token`"),
        ({"bot_token": "xapp-1"}, "`bot_token`"),
        ({"mode": "http"}, "`signing_secret`"),
        ({"client_id": "1.2"}, "`client_secret`"),
        ({"client_id": "1.2", "client_secret": "s"}, "`public_url`"),
        ({"client_id": "1.2", "client_secret": "s", "public_url": "http://digest.example.org"}, "`public_url`"),
        ({"client_id": "1.2", "client_secret": "s", "public_url": "https://digest.example.org"}, "`encryption_keys`"),
    ],
)
async def test_settings_that_cannot_work_are_refused_at_the_start(
    fake: slack.FakeSlack, app: App, given: dict[str, str], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        async with connected(app, settings(fake, **given)):
            pass


async def test_no_secret_stands_in_any_log(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    """At the lowest level, of every library, before anything is redacted."""
    caplog.set_level(logging.DEBUG)
    for name in ("aiohttp", "asyncio", "slack_sdk", "slack_bolt"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    fake.oauth.rotates = True
    async with connected(app, settings(fake)) as room:
        await fake.connected()
        await is_helped(fake)
        fake.fail("chat.postMessage", slack.Failure(error="internal_error"))
        with pytest.raises(SlackApiError):
            await posted(room)
        fake.link.down = True
        fake.drop()
        await room.until(lambda: "internal_error" in room.trouble)
    async with connected(app, by_oauth(fake)) as room:
        assert (await Browser(fake, room, session).installs())[0] == 200
        fake.delivers_to(f"{room.url}/slack/events")
        await is_helped(fake)
        room.clock.ahead += minutes(11 * 60)
        await posted(room)

    secrets = {each.token for each in fake.world.grants.values()} | {each.refresh for each in fake.world.grants.values()}
    secrets |= {fake.client_secret, fake.signing_secret, KEY} - {""}
    said = caplog.text
    assert len(secrets - {""}) > 5
    assert [secret for secret in secrets - {""} if secret in said] == []


# --- several workspaces: what befalls one silences no other


async def test_a_token_in_the_settings_that_was_revoked_keeps_nobody_else_from_being_heard(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    """The workspace of `bot_token` removed the app; another one has installed it."""
    other = fake.add_team("T0OTHER")
    carla = fake.add_person("U0CARLA", "carla", team=other)
    there = fake.add_channel("C0THERE", "there", joined=True, team=other)
    both = by_oauth(fake, mode="socket", signing_secret="", bot_token=fake.bot_token)
    async with connected(app, both) as room:
        assert (await Browser(fake, room, session).installs(user=carla))[0] == 200
        await fake.connected()
        await is_helped(fake)
        await is_helped(fake, user=carla, channel=there)
        await fake.uninstall(fake.team)
    async with connected(app, both) as room:
        await fake.connected()
        await is_helped(fake, user=carla, channel=there)
        await posted(room, "slack:T0OTHER", "C0THERE")
        assert "`bot_token` in [slack] was not taken (account_inactive)" in room.trouble
        with pytest.raises(Refused):
            await posted(room)


async def test_a_workspace_that_gives_up_its_own_installation_leaves_its_organisations_alone(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    fake.team.enterprise = "E0BROAD"
    second = fake.add_team("T0SECOND", enterprise="E0BROAD")
    carla = fake.add_person("U0CARLA", "carla", team=second)
    there = fake.add_channel("C0THERE", "there", joined=True, team=second)
    async with connected(app, by_oauth(fake)) as room:
        assert (await Browser(fake, room, session).installs())[0] == 200
        assert (await Browser(fake, room, session).installs(whole=True))[0] == 200
        fake.delivers_to(f"{room.url}/slack/events")
        for user, channel in ((fake.anna, fake.general), (carla, there)):
            await is_helped(fake, user=user, channel=channel)
        fake.team.is_org_wide = False  # what was removed was the workspace's own, older installation
        await fake.event({"type": "app_uninstalled"})
        fake.team.is_org_wide = True
        await is_helped(fake, user=carla, channel=there)
        assert await posted(room) == await posted(room, "slack:T0SECOND", "C0THERE")
        assert room.gone == []


@pytest.mark.parametrize("meanwhile", ["installed again", "removed"])
async def test_a_renewal_that_comes_late_takes_no_newer_installations_place(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession, meanwhile: str
) -> None:
    fake.oauth.rotates = True
    clock = Clock()
    async with connected(app, by_oauth(fake), clock=clock) as room:
        assert (await Browser(fake, room, session).installs())[0] == 200
        installations = room.platform.clients.installations
        assert installations is not None
        found = installations.find("T0BROAD")
        assert found is not None
        clock.ahead += minutes(11 * 60)
        fake.behaviour = Behaviour(takes=(0.5, 0.5))
        renewing = asyncio.create_task(room.platform.clients.client("slack:T0BROAD"))
        await fake.until(lambda: [each for each in fake.requests if each.method == "oauth.v2.access"][1:])
        if meanwhile == "removed":
            await installations.drop("T0BROAD")
        else:
            anew = type(found)(**found.to_dict_for_copying())
            anew.bot_token, anew.bot_refresh_token = "xoxe.xoxb-anew", "xoxe-anew"
            anew.bot_token_expires_at = int((clock() + minutes(12 * 60)).timestamp())
            await installations.save(anew)
        with suppress(Refused):
            await renewing
        left = installations.find("T0BROAD")
        assert (left.bot_token if left else None) == (None if meanwhile == "removed" else "xoxe.xoxb-anew")
    assert len(await app.store.chats.installations("slack")) == (meanwhile != "removed")
