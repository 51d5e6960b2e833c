"""What the app asks of Slack: the fewest, each with its reason, as the official schema wants it."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from adapters.slack.install import permissions, steps
from adapters.slack.install.manifest import manifest
from bot.commands import TABLE, Help, Search, Show, heard
from bot.errors import UsageError
from bot.settings.chat import SlackSettings

ROOT = Path(__file__).parents[4]
SCHEMA = jsonschema_rs.validator_for(json.loads((ROOT / "tests/payloads/slack/manifest.schema.1.0.0.json").read_text()))
EVERYTHING = SlackSettings(reactions=True, link_previews=True)


def made(
    settings: SlackSettings = EVERYTHING, *, socket: bool = True, url: str = "", name: str = "Broadsheet"
) -> dict[str, object]:
    return manifest(settings, socket=socket, url=url, name=name)


@pytest.mark.parametrize("settings", [SlackSettings(), EVERYTHING, SlackSettings(join_channels=False)])
@pytest.mark.parametrize("url", ["", "https://digest.example.org", "https://example.org/papers/"])
def test_a_manifest_is_valid_by_the_official_schema(settings: SlackSettings, url: str) -> None:
    assert [str(error) for error in SCHEMA.iter_errors(made(settings, socket=not url, url=url))] == []


def test_the_schema_refuses_what_is_wrong() -> None:
    assert not SCHEMA.is_valid({**made(), "display_information": {"name": "B" * 36}})


def test_the_file_to_copy_is_what_the_command_prints() -> None:
    kept = json.loads((ROOT / "config/slack-manifest.json").read_text(encoding="utf-8"))

    assert kept == manifest(SlackSettings(), socket=True, url="", name="Broadsheet")


def test_only_what_the_settings_switch_on_is_asked_for() -> None:
    few, all_of_it = SlackSettings(join_channels=False), EVERYTHING

    assert set(permissions.scopes(all_of_it)) - set(permissions.scopes(few)) == {
        "channels:join",
        "reactions:read",
        "links:read",
        "links:write",
    }
    assert set(permissions.events(all_of_it)) - set(permissions.events(few)) == {
        "reaction_added",
        "reaction_removed",
        "link_shared",
    }
    assert "unfurl_domains" not in str(made(few))
    assert "unfurl_domains" in str(made(all_of_it))


def test_the_pane_for_agents_is_asked_for_with_its_setting_alone() -> None:
    agent, usual = made(SlackSettings(agent=True)), made(SlackSettings())

    assert [str(error) for error in SCHEMA.iter_errors(agent)] == []
    assert "agent_view" in str(agent)
    assert set(permissions.scopes(SlackSettings(agent=True))) - set(permissions.scopes(SlackSettings())) == {
        "assistant:write"
    }
    assert set(permissions.events(SlackSettings(agent=True))) - set(permissions.events(SlackSettings())) == {
        "app_context_changed"
    }
    assert "agent_view" not in str(usual)
    assert "assistant" not in str(usual)


def test_steps_for_workflows_are_in_the_manifest_with_their_setting_alone() -> None:
    with_steps: Any = made(SlackSettings(workflow_steps=True))
    usual = made(SlackSettings())

    assert [str(error) for error in SCHEMA.iter_errors(with_steps)] == []
    assert set(with_steps["functions"]) == {each.callback for each in steps.STEPS}
    assert with_steps["settings"]["function_runtime"] == "remote"
    assert with_steps["settings"]["org_deploy_enabled"]
    assert steps.EVENT in with_steps["settings"]["event_subscriptions"]["bot_events"]
    assert permissions.scopes(SlackSettings(workflow_steps=True)) == permissions.scopes(SlackSettings())
    assert "function" not in str(usual)


def test_each_step_says_what_it_takes_and_gives_and_the_documentation_names_it() -> None:
    told = (ROOT / "docs/slack.md").read_text(encoding="utf-8")
    for each in steps.STEPS:
        declared = each.as_manifest()
        assert f"| *{each.title}* |" in told
        for parameters in (declared["input_parameters"], declared["output_parameters"]):
            assert all(parameters[name]["name"] == name and parameters[name]["title"] for name in parameters)
    assert all(f"`{each.name}`" in told for each in steps.OUTPUTS)


def test_what_the_agents_pane_suggests_is_understood() -> None:
    features: Any = made(SlackSettings(agent=True))["features"]
    prompts = [each["message"] for each in features["agent_view"]["suggested_prompts"]]

    assert [type(heard(each).asked) for each in prompts] == [Help, Search, Show]


def test_every_event_has_a_scope_that_is_asked_for_with_it() -> None:
    scopes = {need.name: need for need in permissions.SCOPES}
    for event in permissions.EVENTS:
        for scope in event.scopes:
            assert scopes[scope].when in ("", event.when), event


def test_with_an_address_slack_sends_everything_there_and_tokens_are_renewed() -> None:
    by_http = json.dumps(made(socket=False, url="https://digest.example.org/"))

    assert by_http.count('"https://digest.example.org/slack/events"') == 4  # command, events, interactions, menu options
    assert '"redirect_urls": ["https://digest.example.org/slack/oauth_redirect"]' in by_http
    assert '"socket_mode_enabled": false' in by_http
    assert '"token_rotation_enabled": true' in by_http


def test_the_socket_needs_no_address_and_a_pasted_token_does_not_end() -> None:
    by_socket = json.dumps(made())

    assert "https://" not in by_socket
    assert '"socket_mode_enabled": true' in by_socket
    assert '"token_rotation_enabled": false' in by_socket


def test_the_settings_decide_where_nothing_is_said() -> None:
    http = SlackSettings(mode="http", public_url="https://digest.example.org")

    assert "https://digest.example.org/slack/events" in json.dumps(made(http, socket=False))
    assert "/slack/events" not in json.dumps(made(SlackSettings(), socket=False))
    assert "/slack/events" not in json.dumps(made(http, socket=True))


@pytest.mark.parametrize(
    "url",
    ["http://digest.example.org", "digest.example.org", "https://", "https://a:b@example.org", "https://example.org?x=1"],
)
def test_an_address_that_slack_would_not_use_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="must begin with https://"):
        made(socket=False, url=url)


def test_an_address_is_asked_for_where_there_is_none() -> None:
    with pytest.raises(UsageError, match="--url https://"):
        made(SlackSettings(mode="http"), socket=False)


@pytest.mark.parametrize("name", ["", "B" * 36])
def test_a_name_that_slack_would_not_take_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="1 to 35 characters"):
        made(name=name)


def test_the_hint_names_commands_that_there_are() -> None:
    hint = made()["features"]["slash_commands"][0]["usage_hint"]  # type: ignore[index]
    verbs = {usage.words.split()[0] for usage in TABLE}

    assert {part.split()[0] for part in hint.split(" | ")} <= verbs


def test_the_documentation_gives_each_scope_and_event_its_reason() -> None:
    told = (ROOT / "docs/slack.md").read_text(encoding="utf-8")
    for need in (*permissions.SCOPES, *permissions.EVENTS):
        assert f"| `{need.name}` | {need.reason}" in told, need.name
    for each in permissions.SHORTCUTS:
        assert each.name in told
