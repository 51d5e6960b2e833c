from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from yarl import URL

from adapters.slack.client.errors import REVOKED, slack_delivery_error
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected, Uncertain

HERE, ALL, EVERYWHERE = Reach.CHANNEL, Reach.WORKSPACE, Reach.PLATFORM


def answered(
    error: str = "", *, status: int = 200, headers: dict[str, str] | None = None, foreign: bool = False, **more: Any
) -> SlackApiError:
    """Return what slack_sdk raises for such an answer; a `foreign` one is not Slack's."""
    response = AsyncSlackResponse(
        client=AsyncWebClient(),
        http_verb="POST",
        api_url="https://slack.com/api/chat.postMessage",
        req_args={},
        data={**({} if foreign else {"ok": False}), **({"error": error} if error else {}), **more},
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
        ("no_permission", Refused, HERE),
        ("access_denied", Refused, HERE),
        ("msg_too_long", Rejected, HERE),
        ("msg_blocks_too_long", Rejected, HERE),
        ("no_text", Rejected, HERE),
        ("too_many_attachments", Rejected, HERE),
        ("invalid_blocks", Rejected, HERE),
        ("invalid_blocks_format", Rejected, HERE),
        ("metadata_too_large", Rejected, HERE),
        ("invalid_metadata_format", Rejected, HERE),
        ("metadata_must_be_sent_from_app", Rejected, HERE),
        ("cannot_reply_to_message", Rejected, HERE),
        ("restricted_action_non_threadable_channel", Rejected, HERE),
        ("restricted_action_thread_locked", Rejected, HERE),
        ("slack_connect_file_link_sharing_blocked", Rejected, HERE),
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
        ("accesslimited", Delayed, ALL),
        ("an_error_of_tomorrow", Rejected, HERE),
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


def test_only_what_never_passes_ends_a_token_for_good() -> None:
    for code in REVOKED:
        found = slack_delivery_error(answered(code))
        assert (type(found), found.reach) == (Refused, ALL), code


def test_a_pause_is_told_as_long_as_it_was_asked_for() -> None:
    for given, wait in (("30", 30.0), ("0.5", 0.5), ("soon", None), ("-1", None), ("999999999", None)):
        found = slack_delivery_error(answered("ratelimited", status=429, headers={"Retry-After": given}))
        assert isinstance(found, Delayed)
        assert found.retry_after == (None if wait is None else timedelta(seconds=wait))


@pytest.mark.parametrize(
    ("status", "kind", "reach"),
    [
        (500, Uncertain, HERE),
        (503, Uncertain, HERE),
        (401, Delayed, EVERYWHERE),
        (403, Delayed, EVERYWHERE),
        (404, Delayed, EVERYWHERE),
        (429, Delayed, ALL),
    ],
)
def test_an_answer_that_is_not_slacks_is_judged_by_its_status(status: int, kind: type[DeliveryError], reach: Reach) -> None:
    found = slack_delivery_error(answered(status=status))

    assert (type(found), found.reach) == (kind, reach)


def test_a_proxy_that_answers_in_slacks_place_with_a_word_of_slacks_pauses_nothing() -> None:
    for word in ("access_denied", "not_authed", "blocked by policy"):
        found = slack_delivery_error(answered(word, status=403, foreign=True))
        assert (type(found), found.reach) == (Delayed, EVERYWHERE)


def test_a_proxy_that_lets_nothing_through_has_posted_nothing() -> None:
    request: Any = SimpleNamespace(real_url=URL("https://slack.com"))
    found = slack_delivery_error(aiohttp.ClientHttpProxyError(request, (), status=403, message="Forbidden"))
    assert (type(found), found.reach) == (Delayed, EVERYWHERE)


def test_what_is_not_known_is_named_so_that_two_can_be_compared() -> None:
    first, other = (slack_delivery_error(answered(word)) for word in ("an_error_of_tomorrow", "one_of_next_week"))
    assert isinstance(first, Rejected)
    assert isinstance(other, Rejected)
    assert (first.failure, other.failure) == ("an_error_of_tomorrow", "one_of_next_week")
    assert first.failure in str(first)


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
