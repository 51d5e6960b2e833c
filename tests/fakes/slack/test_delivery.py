"""How the fake Slack reaches an app: Socket Mode, signed HTTP, and OAuth."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from aiohttp import web
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from tests.fakes import slack
from tests.fakes.slack.app import client, listening
from tests.fakes.slack.oauth import TOKEN_LIVES

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def test_what_nobody_acknowledges_is_missed_and_events_come_again() -> None:
    async with slack.running() as fake, listening(fake) as app:
        fake.patience, fake.retries = 0.2, (0.0, 0.05, 0.1)
        app.answers = lambda payload: None
        with pytest.raises(slack.NotAcknowledged):
            await fake.command("search moe")
        name = await fake.event({"type": "app_home_opened", "user": "U0ANNA"})
        await fake.until(lambda: len(app.payloads("app_home_opened")) == 4)
        again = [each for each in app.heard if each.type == "events_api"]
    assert [each.retry_attempt for each in again] == [0, 1, 2, 3]
    assert {each.payload["event_id"] for each in again} == {name}
    assert {kind for kind, _ in fake.missed} == {"slash_commands", "events_api"}


async def test_nobody_is_told_anything_while_no_socket_is_open() -> None:
    async with slack.running() as fake:
        with pytest.raises(slack.NotHeard):
            await fake.command("search moe")


async def test_clients_are_asked_to_connect_anew_and_do_so() -> None:
    async with slack.running() as fake, listening(fake) as app:
        await fake.disconnect()
        await fake.until(lambda: len(fake.link.all) == 2 and len(fake.link.connections) == 1)
        await fake.command("help")
        assert len(app.payloads("slash_commands")) == 1


async def test_a_silent_socket_answers_no_ping_and_a_dropped_one_is_gone() -> None:
    async with slack.running() as fake, listening(fake):
        (socket,) = fake.link.connections
        await fake.until(lambda: socket.pings)
        fake.silence()
        with pytest.raises(TimeoutError):
            await fake.connected(within=0.1)
        fake.drop()
        await fake.connected()
        assert socket not in fake.link.connections


async def test_a_socket_needs_the_app_token_and_its_address_is_good_once() -> None:
    async with slack.running() as fake:
        with pytest.raises(SlackApiError, match="not_allowed_token_type"):
            await client(fake).apps_connections_open(app_token=fake.bot_token)
        opened = await client(fake, fake.app_token).apps_connections_open(app_token=fake.app_token)
        fake.down = True
        with pytest.raises(SlackApiError, match="internal_error"):
            await client(fake, fake.app_token).apps_connections_open(app_token=fake.app_token)
    assert opened["url"].startswith("ws://127.0.0.1:")


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """Run an app on HTTP and yield its address."""
    app = web.Application()
    app.router.add_post("/slack/events", handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()


async def test_what_is_delivered_over_http_is_signed_and_forged_headers_are_not() -> None:
    heard: list[tuple[bool, str]] = []

    async def hear(request: web.Request) -> web.Response:
        body = await request.text()
        good = SignatureVerifier(fake.signing_secret).is_valid_request(body, dict(request.headers))
        heard.append((good, request.content_type))
        return web.Response(status=200 if good else 401)

    async with slack.running() as fake, serving(hear) as url:
        post = fake.delivers_to(url)
        await fake.command("search moe")
        await fake.open_home()
        forged = {"X-Slack-Signature": "v0=" + "0" * 64, "X-Slack-Request-Timestamp": "1800000000"}
        status, _, _ = await post.send(urlencode({"command": "/digest"}).encode(), forged)
    assert heard[:2] == [(True, "application/x-www-form-urlencoded"), (True, "application/json")]
    assert (heard[2][0], status, post.statuses) == (False, 401, [200, 200, 401])


async def test_an_event_that_fails_over_http_is_sent_again_with_its_number() -> None:
    numbers: list[str | None] = []

    async def fail(request: web.Request) -> web.Response:
        numbers.append(request.headers.get("X-Slack-Retry-Num"))
        return web.Response(status=200 if len(numbers) == 3 else 500)

    async with slack.running() as fake, serving(fail) as url:
        fake.retries = (0.0, 0.0, 0.0)
        fake.delivers_to(url)
        await fake.open_home()
        await fake.until(lambda: len(numbers) == 3)
        await asyncio.sleep(0.05)
    assert numbers == [None, "1", "2"]


async def test_an_installation_gives_a_token_once_and_tokens_that_end_are_renewed() -> None:
    now = 1_800_000_000.0
    async with slack.running(clock=lambda: now) as fake:
        fake.oauth.rotates = True
        asked = {"client_id": fake.client_id, "scope": "commands,chat:write", "state": "s", "redirect_uri": "http://here/"}
        back = parse_qs(urlsplit(fake.authorise(f"https://slack.com/oauth/v2/authorize?{urlencode(asked)}")).query)
        assert back["state"] == ["s"]
        who = {"client_id": fake.client_id, "client_secret": fake.client_secret, "redirect_uri": "http://here/"}
        with pytest.raises(SlackApiError, match="bad_client_secret"):
            await _granted(fake, **{**who, "client_secret": "x"}, code=back["code"][0])
        made = await _granted(fake, **who, code=back["code"][0])
        with pytest.raises(SlackApiError, match="code_already_used"):
            await _granted(fake, **who, code=back["code"][0])
        await client(fake, made["access_token"]).auth_test()
        now += TOKEN_LIVES
        with pytest.raises(SlackApiError, match="token_expired"):
            await client(fake, made["access_token"]).auth_test()
        renewed = await _granted(fake, **who, grant_type="refresh_token", refresh_token=made["refresh_token"])
        await client(fake, renewed["access_token"]).auth_test()
        with pytest.raises(SlackApiError, match="invalid_refresh_token"):
            await _granted(fake, **who, grant_type="refresh_token", refresh_token=made["refresh_token"])
    assert (made["scope"], made["team"]["id"]) == ("chat:write,commands", "T0BROAD")


async def _granted(fake: slack.FakeSlack, **asked: str) -> AsyncSlackResponse:
    """Ask for a token as the documentation says, without slack_sdk's own method, whose BasicAuth aiohttp warns of."""
    bare = AsyncWebClient(base_url=f"{fake.api_url}/", retry_handlers=[])
    return await bare.api_call("oauth.v2.access", data=asked)


async def test_an_address_is_asked_for_a_challenge_and_for_its_certificate() -> None:
    async def hear(request: web.Request) -> web.Response:
        if request.content_type == "application/json":
            return web.json_response({"challenge": (await request.json())["challenge"]})
        return web.Response(status=200 if "ssl_check" in await request.post() else 400)

    async with slack.running() as fake, serving(hear) as url:
        post = fake.delivers_to(url)
        assert (await post.verify(), await post.check_tls()) == (True, 200)


async def test_an_organisation_installs_once_for_all_of_its_workspaces() -> None:
    async with slack.running() as fake, listening(fake) as app:
        teams = [fake.add_team(name, enterprise="E0BROAD") for name in ("T0ONE", "T0TWO")]
        admin = fake.add_person("U0ADA", "ada", team=teams[0], is_owner=True)
        channels = [fake.add_channel(f"C{each.id}", "general", joined=True, team=each) for each in teams]
        asked = {"client_id": fake.client_id, "scope": "commands,chat:write", "redirect_uri": "http://here/"}
        back = fake.authorise(f"https://slack.com/oauth/v2/authorize?{urlencode(asked)}", user=admin, whole=True)
        who = {"client_id": fake.client_id, "client_secret": fake.client_secret, "redirect_uri": "http://here/"}
        made = await _granted(fake, **who, code=parse_qs(urlsplit(back).query)["code"][0])
        for each in channels:
            await client(fake, made["access_token"]).chat_postMessage(channel=each.id, text="Hello")
        with pytest.raises(SlackApiError, match="channel_not_found"):
            await client(fake, made["access_token"]).chat_postMessage(channel="C0GENERAL", text="Hello")
        await fake.command("help", user=admin, channel=channels[0])
    assert (made["team"], made["enterprise"]["id"], made["is_enterprise_install"]) == (None, "E0BROAD", True)
    (command,) = app.payloads("slash_commands")
    assert (command["enterprise_id"], command["is_enterprise_install"]) == ("E0BROAD", "true")
