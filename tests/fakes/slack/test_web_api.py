"""The fake Slack's Web API, asked by slack_sdk itself."""

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from tests.fakes import slack
from tests.fakes.platform import Behaviour, Fault
from tests.fakes.slack.app import client

MARK = {"event_type": "broadsheet_delivery", "event_payload": {"d": "abc"}}


def section(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def button(label: str, value: str) -> dict[str, Any]:
    return {"type": "button", "action_id": value, "text": {"type": "plain_text", "text": label}, "value": value}


async def error_of(call: Any) -> dict[str, Any]:
    """Return the answer of a call that is refused."""
    with pytest.raises(SlackApiError) as raised:
        await call
    data: dict[str, Any] = raised.value.response.data
    return data


@pytest.mark.parametrize(
    ("channel", "why"), [("C0RANDOM", "not_in_channel"), ("C0SECRET", "channel_not_found"), ("C0OLD", "is_archived")]
)
async def test_nothing_is_posted_where_the_app_may_not(channel: str, why: str) -> None:
    async with slack.running() as fake:
        assert (await error_of(client(fake).chat_postMessage(channel=channel, text="Hello")))["error"] == why
        assert fake.world.history == []


async def test_a_message_is_found_again_by_its_metadata_and_only_when_that_is_asked_for() -> None:
    async with slack.running() as fake:
        web = client(fake)
        posted = await web.chat_postMessage(channel="C0GENERAL", text="Hello", metadata=MARK)
        bare = (await web.conversations_history(channel="C0GENERAL"))["messages"]
        whole = (await web.conversations_history(channel="C0GENERAL", include_all_metadata=True))["messages"]
    assert [each["ts"] for each in bare] == [posted["ts"]]
    assert ("metadata" in bare[0], whole[0]["metadata"]) == (False, MARK)
    assert [each.marker for each in fake.committed] == ["abc"]


async def test_a_history_is_read_page_by_page_from_a_moment_on_the_newest_first() -> None:
    async with slack.running(tiers=False) as fake:
        web = client(fake)
        stamps = [(await web.chat_postMessage(channel="C0GENERAL", text=str(n)))["ts"] for n in range(5)]
        first = await web.conversations_history(channel="C0GENERAL", oldest=stamps[0], limit=3)
        cursor = first["response_metadata"]["next_cursor"]
        second = await web.conversations_history(channel="C0GENERAL", oldest=stamps[0], limit=3, cursor=cursor)
    assert [each["ts"] for page in (first, second) for each in page["messages"]] == stamps[:0:-1]
    assert (first["has_more"], second["has_more"]) == (True, False)


async def test_a_history_lags_and_replies_stand_in_their_thread_alone() -> None:
    async with slack.running() as fake:
        web = client(fake)
        parent = await web.chat_postMessage(channel="C0GENERAL", text="parent")
        await web.chat_postMessage(channel="C0GENERAL", text="reply", thread_ts=parent["ts"])
        replies = await web.conversations_replies(channel="C0GENERAL", ts=parent["ts"])
        history = await web.conversations_history(channel="C0GENERAL")
        fake.behaviour = Behaviour(takes=(0, 0), lag=60)
        later = await web.conversations_history(channel="C0GENERAL")
    assert [each["text"] for each in replies["messages"]] == ["parent", "reply"]
    assert ([each["text"] for each in history["messages"]], later["messages"]) == (["parent"], [])


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ([section("x")] * 51, "no more than 50 items"),
        ([section("x" * 3001)], "less than 3001"),
        ([section("")], "more than 0 characters"),
        ([section("x", block_id="a"), section("y", block_id="a")], "'a' is not unique"),
        ([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], "150"),
        ([{"type": "actions", "elements": [button(str(n), str(n)) for n in range(26)]}], "25"),
        ([{"type": "actions", "elements": [button("Save", "x" * 2001)]}], "2001"),
        ([{"type": "actions", "elements": [button("x" * 76, "x")]}], "less than 76"),
        ([{"type": "context", "elements": [section("x")["text"]] * 11}], "10"),
        ([{"type": "section", "fields": [section("x")["text"]] * 11}], "10"),
        ([{"type": "section", "fields": [section("x" * 2001)["text"]]}], "less than 2001"),
        ([section("x", accessory={**button("Open", "o"), "url": "javascript:alert(1)"})], "invalid url"),
        ([{"type": "carousel-of-dreams"}], "unsupported block"),
    ],
)
async def test_blocks_beyond_what_is_documented_are_refused(blocks: list[dict[str, Any]], told: str) -> None:
    async with slack.running() as fake:
        answer = await error_of(client(fake).chat_postMessage(channel="C0GENERAL", text="x", blocks=blocks))
    assert answer["error"] == "invalid_blocks"
    assert told in " ".join(answer["response_metadata"]["messages"])
    assert [each.error for each in fake.rejected] == ["invalid_blocks"]


async def test_blocks_at_every_limit_are_taken() -> None:
    actions = {"type": "actions", "elements": [button("x" * 75, f"{n:02}" + "v" * 253) for n in range(25)]}
    blocks = [section("x" * 3000), {"type": "header", "text": {"type": "plain_text", "text": "x" * 150}}, actions]
    blocks += [{"type": "divider"}] * 47
    async with slack.running() as fake:
        await client(fake).chat_postMessage(channel="C0GENERAL", text="x" * 40_000, blocks=blocks)
    assert len(fake.messages(fake.general)) == 1


async def test_a_message_that_is_too_long_over_all_blocks_is_refused_though_each_is_short_enough() -> None:
    async with slack.running() as fake:
        blocks = [section("x" * 2700)] * 5
        answer = await error_of(client(fake).chat_postMessage(channel="C0GENERAL", text="x", blocks=blocks))
        assert answer["error"] == "msg_blocks_too_long"
        assert (await error_of(client(fake).chat_postMessage(channel="C0GENERAL", text="x" * 40_001)))[
            "error"
        ] == "msg_too_long"


async def test_arguments_are_held_against_the_official_description() -> None:
    async with slack.running() as fake:
        web = client(fake)
        unknown = await error_of(
            web.api_call("chat.postMessage", json={"channel": "C0GENERAL", "text": "x", "colour": "red"})
        )
        missing = await error_of(web.api_call("chat.postMessage", json={"text": "x"}))
        wrong = await error_of(web.api_call("conversations.history", params={"channel": "C0GENERAL", "limit": "many"}))
        no_such = await error_of(web.api_call("chat.shout", json={}))
    assert "json-pointer:/colour" in unknown["response_metadata"]["messages"][0]
    assert "channel" in missing["response_metadata"]["messages"][0]
    assert {unknown["error"], missing["error"], wrong["error"]} == {"invalid_arguments"}
    assert no_such["error"] == "unknown_method"


async def test_live_mentions_are_counted_and_escaped_ones_are_not() -> None:
    async with slack.running() as fake:
        web = client(fake)
        await web.chat_postMessage(
            channel="C0GENERAL", text="&lt;!channel&gt; @here", blocks=[section("<!here> <@U0BEN> @channel")]
        )
        verbatim = {"type": "section", "text": {"type": "mrkdwn", "text": "@channel &lt;@U0BEN&gt;", "verbatim": True}}
        await web.chat_postMessage(channel="C0GENERAL", text="@here", blocks=[verbatim])
        assert [each.what for each in fake.mentions] == ["<!here>", "<@U0BEN>", "@channel"]
        await web.chat_postMessage(channel="C0GENERAL", text="@here", link_names=True)
        await web.chat_postEphemeral(channel="C0GENERAL", user="U0BEN", text="<@U0BEN>")
        assert [each.what for each in fake.mentions[3:]] == ["@here"]


async def test_a_token_is_good_for_its_scopes_and_until_it_is_revoked() -> None:
    async with slack.running() as fake:
        fake.world.grants[fake.bot_token].scopes = frozenset({"chat:write"})
        web = client(fake)
        lacking = await error_of(web.conversations_history(channel="C0GENERAL"))
        answer = await web.auth_test()
        assert answer.headers["x-oauth-scopes"] == "chat:write"
        await fake.revoke()
        revoked = await error_of(web.chat_postMessage(channel="C0GENERAL", text="x"))
        nobody = await error_of(client(fake, "xoxb-guessed").auth_test())
        wrong_kind = await error_of(client(fake, fake.app_token).chat_postMessage(channel="C0GENERAL", text="x"))
    assert (lacking["error"], lacking["needed"], lacking["provided"]) == ("missing_scope", "channels:history", "chat:write")
    assert (revoked["error"], nobody["error"]) == ("token_revoked", "invalid_auth")
    assert wrong_kind["error"] == "not_allowed_token_type"


async def test_tiers_are_counted_and_more_is_told_to_wait() -> None:
    now = 1_800_000_000.0
    async with slack.running(clock=lambda: now) as fake:
        web = client(fake)
        for _ in range(5):
            await web.chat_postMessage(channel="C0GENERAL", text="x")
        with pytest.raises(SlackApiError) as early:
            await web.chat_postMessage(channel="C0GENERAL", text="x")
        assert (early.value.response.status_code, early.value.response.headers["Retry-After"]) == (429, "1")
        now += 1
        await web.chat_postMessage(channel="C0GENERAL", text="x")
        for _ in range(20):
            await web.conversations_list()
        assert (await error_of(web.conversations_list()))["error"] == "ratelimited"
        now += 60
        await web.conversations_list()
    assert fake.counts["too often"] == 2


async def test_a_failure_loses_the_answer_and_may_keep_the_message() -> None:
    async with slack.running(tiers=False) as fake:
        web = client(fake)
        fake.fail("chat.postMessage", slack.Failure(cut=Fault.RESET, commits=True))
        with pytest.raises(aiohttp.ClientError):
            await web.chat_postMessage(channel="C0GENERAL", text="reset, committed")
        fake.fail("chat.postMessage", slack.Failure(cut=Fault.HALF))
        with pytest.raises((aiohttp.ClientError, SlackApiError)):
            await web.chat_postMessage(channel="C0GENERAL", text="half")
        fake.fail("chat.postMessage", slack.Failure(cut=Fault.STALL, stall=5.0, commits=True))
        with pytest.raises(asyncio.TimeoutError):
            async with asyncio.timeout(0.3):
                await web.chat_postMessage(channel="C0GENERAL", text="stalled, committed")
        fake.fail("chat.postMessage", slack.Failure(error="fatal_error", commits=True))
        fatal = await error_of(web.chat_postMessage(channel="C0GENERAL", text="fatal, committed"))
        fake.fail("chat.postMessage", slack.Failure(status=503))
        with pytest.raises(SlackApiError) as broken:
            await web.chat_postMessage(channel="C0GENERAL", text="503")
        await web.chat_postMessage(channel="C0GENERAL", text="well")
    texts = [each.text for each in fake.messages(fake.general)]
    assert texts == ["reset, committed", "stalled, committed", "fatal, committed", "well"]
    assert (fatal["error"], broken.value.response.status_code) == ("fatal_error", 503)


async def test_people_are_written_to_directly_and_files_are_handed_over() -> None:
    async with slack.running() as fake:
        web = client(fake)
        opened = await web.conversations_open(users="U0BEN")
        await web.chat_postMessage(channel=opened["channel"]["id"], text="Only you")
        assert [each.text for each in fake.seen_by(fake.ben)] == ["Only you"]
        await web.files_upload_v2(filename="saved.bib", content="@misc{x}", channel="C0GENERAL", title="Saved")
        assert [(each["name"], each["content"]) for each in fake.files] == [("saved.bib", b"@misc{x}")]
        person = (await web.users_info(user="U0BEN"))["user"]
    assert (person["tz"], person["is_admin"]) == ("America/New_York", False)


async def test_each_workspace_has_its_own_tiers_though_one_token_is_for_both() -> None:
    now = 1_800_000_000.0
    async with slack.running(clock=lambda: now) as fake:
        other = fake.add_team("T0OTHER")
        fake.add_channel("C0THERE", "there", joined=True, team=other)
        fake.world.grants[fake.bot_token].teams = ("T0BROAD", "T0OTHER")
        web = client(fake)
        for _ in range(50):
            await web.conversations_history(channel="C0GENERAL")
        assert (await error_of(web.conversations_history(channel="C0GENERAL")))["error"] == "ratelimited"
        await web.conversations_history(channel="C0THERE")


async def test_waiting_for_what_does_not_happen_ends_whatever_else_is_asked() -> None:
    async with slack.running() as fake:
        await client(fake).auth_test()
        with pytest.raises(TimeoutError):
            await fake.until(lambda: fake.files, within=0.2)


async def test_a_message_is_edited_by_whom_wrote_it_while_that_may_be_and_keeps_its_metadata() -> None:
    async with slack.running(tiers=False) as fake:
        web, here = client(fake), "C0GENERAL"
        ts = (await web.chat_postMessage(channel=here, text="Hello", blocks=[section("Hello")], metadata=MARK))["ts"]
        (message,) = fake.messages(fake.general)
        await web.chat_update(channel=here, ts=ts, text="Hello again", blocks=[section("Hello again")])
        assert (message.words, message.metadata, message.is_edited) == ("Hello again\nHello again", MARK, True)
        await web.chat_update(channel=here, ts=ts, text="Bare", metadata={})
        assert (message.words, message.metadata) == ("Bare", None)

        theirs = fake.say(fake.general, "Ours")
        refused = [
            (web.chat_update(channel=here, ts=theirs.ts, text="No"), "cant_update_message"),
            (web.chat_update(channel=here, ts="1.000001", text="No"), "message_not_found"),
            (web.chat_update(channel="C0RANDOM", ts=ts, text="No"), "message_not_found"),
        ]
        for call, why in refused:
            assert (await error_of(call))["error"] == why
        fake.world.teams[fake.general.team].edit_window = -1.0
        assert (await error_of(web.chat_update(channel=here, ts=ts, text="No")))["error"] == "edit_window_closed"
        await web.chat_delete(channel=here, ts=ts)
        assert (await error_of(web.chat_update(channel=here, ts=ts, text="No")))["error"] == "message_not_found"
        assert message.words == "Bare"


async def test_edits_of_a_workspace_are_limited_like_any_method_of_tier_three() -> None:
    async with slack.running() as fake:
        web = client(fake)
        ts = (await web.chat_postMessage(channel="C0GENERAL", text="Hello"))["ts"]
        for number in range(50):
            await web.chat_update(channel="C0GENERAL", ts=ts, text=str(number))
        assert (await error_of(web.chat_update(channel="C0GENERAL", ts=ts, text="One more")))["error"] == "ratelimited"
