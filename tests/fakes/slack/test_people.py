"""What people do in the fake Slack, and that an app is told of it as Slack was seen to tell."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.fakes import slack
from tests.fakes.slack.app import client, listening

RECORDED = Path(__file__).parents[2] / "payloads" / "slack" / "recorded.jsonl"
MODAL: dict[str, Any] = {
    "type": "modal",
    "callback_id": "topic",
    "title": {"type": "plain_text", "text": "Topic"},
    "submit": {"type": "plain_text", "text": "Save"},
    "notify_on_close": True,
    "blocks": [
        {
            "type": "input",
            "block_id": "name",
            "label": {"type": "plain_text", "text": "Name"},
            "element": {"type": "plain_text_input", "action_id": "name", "max_length": 5},
        },
        {
            "type": "section",
            "block_id": "zone",
            "text": {"type": "mrkdwn", "text": "Zone"},
            "accessory": {"type": "external_select", "action_id": "zone", "min_query_length": 2},
        },
    ],
}
CARD: list[dict[str, Any]] = [
    {"type": "section", "block_id": "s", "text": {"type": "mrkdwn", "text": "A paper"}},
    {
        "type": "actions",
        "block_id": "a",
        "elements": [
            {
                "type": "button",
                "action_id": "command:1",
                "text": {"type": "plain_text", "text": "Save"},
                "value": "save 1",
                "style": "primary",
            }
        ],
    },
]


def samples(what: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    found = [each for each in lines if each["what"] == what]
    assert found, what
    return found


def unlike(what: str, sent: Mapping[str, Any], *, optional: frozenset[str] = frozenset()) -> list[str]:
    """Fields that no sample has; and those that a recorded sample has, and what was sent has not."""
    may = {name for each in samples(what) for name in _fields(each["payload"])} | optional
    seen = [set(_fields(each["payload"])) for each in samples(what) if each["from"] != "java-slack-sdk"]
    must = set.intersection(*seen) - optional if seen else set()
    have = set(_fields(sent))
    return sorted(f"+{name}" for name in have - may) + sorted(f"-{name}" for name in must - have)


def _fields(payload: Mapping[str, Any]) -> list[str]:
    """Names, and those within what has them and is the same for everybody."""
    inner = ("user", "team", "channel", "container", "event", "view")
    found = list(payload)
    for name in inner:
        value = payload.get(name)
        if isinstance(value, dict):
            found += [f"{name}.{each}" for each in value]
    return found


# Only in an organisation of several workspaces, or old.
ORGANISATION = frozenset(
    {"enterprise_id", "team.enterprise_id", "team.enterprise_name", "enterprise", "is_enterprise_install", "authed_users"}
)
CONTEXT = frozenset({"authorizations", "is_ext_shared_channel", "event_context", "event.event_ts", "token"}) | ORGANISATION


async def test_commands_presses_and_shortcuts_are_told_of_as_they_were_recorded() -> None:
    async with slack.running() as fake, listening(fake) as app:
        await fake.command("search moe", channel=fake.random)
        posted = await client(fake).chat_postMessage(channel="C0GENERAL", text="A paper", blocks=CARD)
        await fake.click(fake.messages(fake.general)[0], "Save")
        await fake.shortcut("find_similar", message=fake.say(fake.general, "https://arxiv.org/abs/2603.28342"))
        await fake.shortcut("search")
    (command,) = app.payloads("slash_commands")
    (press,) = app.payloads("block_actions")
    assert (command["text"], command["channel_name"], press["message"]["ts"]) == ("search moe", "random", posted["ts"])
    assert press["actions"][0]["value"] == "save 1"
    assert unlike("command", command) == []
    assert unlike("press in a message", press) == []
    assert unlike("message shortcut", app.payloads("message_action")[0]) == []
    # The sample is an older one.
    newer = ORGANISATION | {"user.name"}
    assert unlike("global shortcut", app.payloads("shortcut")[0], optional=newer) == []


async def test_modals_are_opened_once_filled_and_sent_as_they_were_recorded() -> None:
    async with slack.running() as fake, listening(fake) as app:
        web = client(fake)
        asked = await fake.command("topic create")
        await web.views_open(trigger_id=asked.trigger, view=MODAL)
        view = await asked.view()
        with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
            await web.views_open(trigger_id=asked.trigger, view=MODAL)
        app.answers = lambda payload: {"options": [_option("Zurich")]} if payload["type"] == "block_suggestion" else {}
        options = await fake.options(view, "Zone", "Zur")
        await fake.choose(view, "Zone", options[0])
        with pytest.raises(AssertionError, match="Name"):
            await fake.submit(view)
        with pytest.raises(ValueError, match="5 characters"):
            await fake.submit(view, {"Name": "kernels"})
        app.answers = lambda payload: {"response_action": "errors", "errors": {"name": "It exists."}}
        await fake.submit(view, {"Name": "gpu"})
        assert (view.errors, view.is_open) == ({"name": "It exists."}, True)
        app.answers = lambda payload: {}
        await fake.submit(view, {"Name": "moe"})
        assert (view.errors, view.is_open) == ({}, False)
        with pytest.raises(SlackApiError, match="not_found"):
            await web.views_update(view_id=view.id, view=MODAL)
    sent = app.payloads("view_submission")
    assert sent[-1]["view"]["state"]["values"]["name"]["name"] == {"type": "plain_text_input", "value": "moe"}
    assert sent[-1]["view"]["state"]["values"]["zone"]["zone"]["selected_option"] == _option("Zurich")
    assert unlike("submission", sent[-1], optional=ORGANISATION) == []
    assert unlike("suggestion", app.payloads("block_suggestion")[0], optional=ORGANISATION) == []
    assert unlike("press in a view", app.payloads("block_actions")[0], optional=ORGANISATION | {"view.blocks"}) == []


def _option(text: str) -> dict[str, Any]:
    return {"text": {"type": "plain_text", "text": text}, "value": text}


async def test_a_trigger_ends_after_three_seconds_and_a_view_beyond_its_limits_is_refused() -> None:
    now = 1_800_000_000.0
    async with slack.running(clock=lambda: now) as fake, listening(fake):
        web = client(fake)
        asked = await fake.command("topic create")
        for wrong in (
            {"title": {"type": "plain_text", "text": "x" * 25}},
            {"private_metadata": "x" * 3001},
            {"submit": None},
        ):
            with pytest.raises(SlackApiError, match="invalid_arguments"):
                await web.views_open(trigger_id=asked.trigger, view=MODAL | wrong)
        now += 3.1
        with pytest.raises(SlackApiError, match="expired_trigger_id"):
            await web.views_open(trigger_id=asked.trigger, view=MODAL)
        assert [each.error for each in fake.rejected] == ["invalid_arguments"] * 3 + ["expired_trigger_id"]


async def test_events_are_told_of_as_they_were_recorded() -> None:
    async with slack.running() as fake, listening(fake) as app:
        await client(fake).chat_postMessage(channel="C0GENERAL", text="A paper")
        message = fake.messages(fake.general)[0]
        await fake.react(message, "+1")
        await fake.unreact(message, "+1")
        await fake.share(fake.general, "See https://arxiv.org/abs/2603.28342", thread=message.ts)
        await fake.open_home()
        await fake.rename(fake.general, "all")
        await fake.archive(fake.general)
        await fake.unarchive(fake.general)
        await fake.kick(fake.general)
        await fake.delete_channel(fake.random)
        fake.secret.members.add(fake.team.app_user.id)
        await fake.archive(fake.secret)
        await fake.kick(fake.secret)
        await fake.delete_channel(fake.secret)
        await fake.revoke()
        await fake.uninstall()
    kinds = [each["event"]["type"] for each in app.payloads("events_api") or app.payloads("event_callback")]
    assert len(kinds) == 16
    wrong = {kind: unlike(kind, each, optional=CONTEXT) for kind in kinds for each in app.payloads(kind)}
    assert {kind: each for kind, each in wrong.items() if each} == {}


async def test_an_address_to_answer_at_takes_five_answers_within_half_an_hour() -> None:
    now = 1_800_000_000.0
    async with slack.running(clock=lambda: now) as fake, listening(fake) as app:
        asked = await fake.command("search moe", user=fake.ben)
        url = app.payloads("slash_commands")[0]["response_url"]
        respond = _responder(url)
        assert await respond({"text": "Looking…"}) == 200
        assert await respond({"text": "Found", "replace_original": True}) == 200
        assert [each.text for each in fake.seen_by(fake.ben)] == ["Looking…", "Found"]
        assert (await asked.answer(2)).text == "Found"
        assert await respond({"text": "All see this", "response_type": "in_channel"}) == 200
        assert [each.text for each in fake.messages(fake.general)] == ["All see this"]
        assert await respond({"text": "x", "blocks": [{"type": "section"}]}) == 400
        assert [await respond({"text": "x"}), await respond({"text": "x"})] == [200, 404]
        second = await fake.command("search moe", user=fake.ben)
        now += 1801
        assert await _responder(app.payloads("slash_commands")[1]["response_url"])({"text": "late"}) == 404
        assert second.answers == []
        assert [why for why, _ in fake.answers.refused] == ["invalid_blocks", "used_url", "expired_url"]


def _responder(url: str) -> Any:
    from slack_sdk.webhook.async_client import AsyncWebhookClient

    async def respond(body: dict[str, Any]) -> int:
        return (await AsyncWebhookClient(url, retry_handlers=[]).send_dict(body)).status_code

    return respond


async def test_a_manifest_decides_what_is_offered() -> None:
    manifest = {
        "oauth_config": {"scopes": {"bot": ["commands", "chat:write"]}},
        "features": {"slash_commands": [{"command": "/digest"}], "shortcuts": []},
        "settings": {"event_subscriptions": {"bot_events": ["channel_archive", "app_home_opened"]}},
    }
    async with slack.running(manifest=manifest) as fake, listening(fake) as app:
        await fake.command("help")
        with pytest.raises(slack.NotOffered):
            await fake.command("help", name="/paper")
        with pytest.raises(slack.NotOffered):
            await fake.shortcut("find_similar")
        await fake.archive(fake.general)  # needs channels:read
        await fake.event({"type": "app_uninstalled"})  # is not subscribed to
        await fake.open_home()
    assert [each["event"]["type"] for each in app.payloads("event_callback")] == ["app_home_opened"]


async def test_views_lie_three_deep_and_change_only_as_whoever_changes_them_last_saw_them() -> None:
    async with slack.running() as fake, listening(fake):
        web = client(fake)
        bare = {**MODAL, "blocks": [{"type": "actions", "block_id": "a", "elements": [CARD[1]["elements"][0]]}]}
        asked = await fake.command("topic create")
        view = (await web.views_open(trigger_id=asked.trigger, view=bare))["view"]
        for _ in range(2):
            pressed = await fake.click(fake.world.views[view["id"]], "Save")
            view = (await web.views_push(trigger_id=pressed.trigger, view=bare))["view"]
        pressed = await fake.click(fake.world.views[view["id"]], "Save")
        with pytest.raises(SlackApiError, match="push_limit_reached"):
            await web.views_push(trigger_id=pressed.trigger, view=bare)
        await web.views_update(view_id=view["id"], hash=view["hash"], view=bare)
        with pytest.raises(SlackApiError, match="hash_conflict"):
            await web.views_update(view_id=view["id"], hash=view["hash"], view=bare)
        home = {"type": "home", "blocks": [CARD[0]] * 101}
        with pytest.raises(SlackApiError, match="invalid_arguments"):
            await web.views_publish(user_id="U0BEN", view=home)
        await web.views_publish(user_id="U0BEN", view={"type": "home", "blocks": CARD})
        shown = fake.home(fake.ben)
    assert shown is not None
    assert (fake.home(fake.anna), shown.labels) == (None, ["Save"])


async def test_a_pressed_message_is_replaced_unless_the_answer_says_that_it_is_not_to_be() -> None:
    async with slack.running() as fake, listening(fake) as app:
        await client(fake).chat_postMessage(channel="C0GENERAL", text="A paper", blocks=CARD)
        (digest,) = fake.messages(fake.general)
        await fake.click(digest, "Save", user=fake.ben)
        respond = _responder(app.payloads("block_actions")[0]["response_url"])
        await respond({"text": "Saved", "replace_original": False})
        assert (digest.text, [each.text for each in fake.seen_by(fake.ben)]) == ("A paper", ["Saved"])
        await fake.click(digest, "Save", user=fake.ben)
        await _responder(app.payloads("block_actions")[1]["response_url"])({"text": "Saved"})
        assert (digest.text, digest.is_edited) == ("Saved", True)
