"""How a call of Slack's Web API ends that does not succeed."""

import asyncio
from typing import Any

from aiohttp import ClientError, ClientResponseError
from slack_sdk.errors import SlackApiError

FAILURES = (SlackApiError, ClientError, OSError, asyncio.TimeoutError)
# Slack's words for a token that is good for nothing any more.
REVOKED = frozenset(
    {
        "token_revoked",
        "token_expired",
        "invalid_auth",
        "account_inactive",
        "not_authed",
        "org_login_required",
        "team_not_found",
    }
)


def reason(error: BaseException) -> str:
    """Return why a call failed in a word or two, without anything that was sent: Slack's own word where it gave one."""
    if isinstance(error, SlackApiError):
        response: Any = error.response
        try:
            return str(response["error"])
        except (KeyError, TypeError, ValueError):
            return f"HTTP status {getattr(response, 'status_code', None) or getattr(response, 'status', '?')}"
    if isinstance(error, ClientResponseError):
        return f"HTTP status {error.status}"
    if isinstance(error, asyncio.TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError):
        return "no connection"
    return type(error).__name__
