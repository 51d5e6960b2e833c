from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.client.errors import slack_delivery_error
from bot.errors import Delayed, DeliveryError, Reach, Refused, Uncertain

HERE, ALL, EVERYWHERE = Reach.CHANNEL, Reach.WORKSPACE, Reach.PLATFORM


def answered(error: str = "", *, status: int = 200, headers: dict[str, str] | None = None, **more: Any) -> SlackApiError:
    """Return what slack_sdk raises for such an answer."""
    response = AsyncSlackResponse(
        client=AsyncWebClient(),
        http_verb="POST",
        api_url="https://slack.com/api/chat.postMessage",
        req_args={},
        data={"ok": False, **({"error": error} if error else {}), **more},
        headers=headers or {},
        status_code=status,
    )
    return SlackApiError("failed", response)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("error", "kind", "reach"),
    [
        ("channel_not_found", Refused, HERE),
        ("not_in_channel", Refused, HERE),
        ("is_archived", Refused, HERE),
        ("restricted_action", Refused, HERE),
        ("restricted_action_read_only_channel", Refused, HERE),
        ("restricted_action_thread_only_channel", Refused, HERE),
        ("cannot_dm_bot", Refused, HERE),
        ("user_disabled", Refused, HERE),
        ("msg_too_long", Refused, HERE),
        ("invalid_blocks", Refused, HERE),
        ("metadata_too_large", Refused, HERE),
        ("invalid_auth", Refused, ALL),
        ("token_revoked", Refused, ALL),
        ("account_inactive", Refused, ALL),
        ("not_allowed_token_type", Refused, ALL),
        ("team_access_not_granted", Refused, ALL),
        ("missing_scope", Refused, ALL),
        ("ratelimited", Delayed, ALL),
        ("rate_limited", Delayed, ALL),
        ("message_limit_exceeded", Delayed, ALL),
        ("team_added_to_org", Delayed, ALL),
        ("request_timeout", Delayed, ALL),
        ("an_error_of_tomorrow", Delayed, HERE),
        ("fatal_error", Uncertain, HERE),
        ("internal_error", Uncertain, HERE),
        ("service_unavailable", Uncertain, HERE),
    ],
)
def test_each_of_slacks_errors_has_a_meaning_and_a_sentence(error: str, kind: type[DeliveryError], reach: Reach) -> None:
    found = slack_delivery_error(answered(error))

    assert (type(found), found.reach) == (kind, reach)
    assert str(found).endswith(".")
    assert not str(found).startswith(error)


def test_a_pause_is_told_as_long_as_it_was_asked_for() -> None:
    for given, wait in (("30", 30.0), ("0.5", 0.5), ("soon", None), ("-1", None), ("999999999", None)):
        found = slack_delivery_error(answered("ratelimited", status=429, headers={"Retry-After": given}))
        assert isinstance(found, Delayed)
        assert found.retry_after == (None if wait is None else timedelta(seconds=wait))


@pytest.mark.parametrize(
    ("status", "kind", "reach"),
    [(500, Uncertain, HERE), (503, Uncertain, HERE), (404, Delayed, EVERYWHERE), (429, Delayed, ALL)],
)
def test_an_answer_that_is_not_slacks_is_judged_by_its_status(status: int, kind: type[DeliveryError], reach: Reach) -> None:
    found = slack_delivery_error(answered(status=status))

    assert (type(found), found.reach) == (kind, reach)


def test_an_answer_cut_off_in_the_middle_leaves_it_open() -> None:
    assert isinstance(slack_delivery_error(answered()), Uncertain)
    assert isinstance(slack_delivery_error(aiohttp.ServerDisconnectedError()), Uncertain)
    assert isinstance(slack_delivery_error(TimeoutError()), Uncertain)
    assert isinstance(slack_delivery_error(ConnectionResetError()), Uncertain)


def test_a_connection_that_was_never_made_has_posted_nothing() -> None:
    assert isinstance(slack_delivery_error(aiohttp.ConnectionTimeoutError()), Delayed)
    assert isinstance(slack_delivery_error(aiohttp.InvalidURL("x")), Delayed)


def test_the_permission_that_is_missing_is_named_and_nothing_else_of_an_answer_is_repeated() -> None:
    assert "channels:history" in str(slack_delivery_error(answered("missing_scope", needed="channels:history")))
    assert "xoxb" not in str(slack_delivery_error(answered("missing_scope", needed="<xoxb-1-secret> ")))
    assert "xoxb" not in str(slack_delivery_error(answered("xoxb-1-secret")))
