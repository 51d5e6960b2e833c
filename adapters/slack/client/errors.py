"""What Slack's errors mean: nothing posted and never will be, not this message, not now, or perhaps posted. Pure.

The errors are those of docs.slack.dev/reference/methods/chat.postMessage, conversations.history, .replies, .join and .open.
`fatal_error` and `internal_error` say of themselves that some of it may have succeeded. Any other error says that nothing
was posted. Only one that is known to speak of a place or of the token refuses for good; one that is not known says that this
message was not taken. What does not answer as Slack does, is not Slack.
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientHttpProxyError,
    ClientResponseError,
    ConnectionTimeoutError,
    InvalidURL,
)
from slack_sdk.errors import SlackApiError

from bot.errors import BotError, Delayed, DeliveryError, Reach, Refused, Rejected, Uncertain

FAILURES = (SlackApiError, ClientError, OSError, asyncio.TimeoutError)  # how a call ends that does not succeed
CLIENT_FAILURES = (BotError, *FAILURES)  # what a call raises that needs a workspace's client first
# Slack's words for a token that is good for nothing any more.
REVOKED = frozenset(
    {
        "token_revoked",
        "token_expired",
        "invalid_auth",
        "account_inactive",
        "not_authed",
        "team_not_found",
    }
)

_INVITE = "Invite the app to the channel with /invite @Broadsheet."
_REINSTALL = "Install Broadsheet in this workspace again, or give it a new bot token."
ASK = "A workspace administrator can allow it."

# Never, in this channel or to this person.
_CHANNEL: Mapping[str, str] = {
    "channel_not_found": f"Slack knows no such channel, or it is private and Broadsheet is not in it. {_INVITE}",
    "not_in_channel": f"Broadsheet is not in the channel. {_INVITE}",
    "is_archived": "The channel is archived: unarchive it, or subscribe in another one.",
    "channel_is_archived": "The channel is archived: unarchive it, or subscribe in another one.",
    "messages_tab_disabled": "The app's Messages tab is off: switch it on under App Home in the app's settings.",
    "user_not_found": "Slack knows no such person in this workspace.",
    "users_not_found": "Slack knows no such person in this workspace.",
    "user_not_visible": "Broadsheet may not see this person.",
    "user_disabled": "This person's account is deactivated.",
    "cannot_dm_bot": "Slack lets no app write to another app.",
    "ekm_access_denied": f"The workspace's encryption keys are closed to Broadsheet. {ASK}",
    "method_not_supported_for_channel_type": "Slack does not let an app do this in such a channel.",
    "is_inactive": "The channel is frozen by its owners.",
    "no_permission": f"Broadsheet may not post in the channel. {_INVITE}",
    "access_denied": f"The workspace does not let Broadsheet into the channel. {ASK}",
}
# Never, in this workspace.
_WORKSPACE: Mapping[str, str] = {
    "not_authed": f"Slack was given no token. {_REINSTALL}",
    "invalid_auth": f"Slack does not know Broadsheet's token. {_REINSTALL}",
    "token_revoked": f"Broadsheet's token was revoked. {_REINSTALL}",
    "token_expired": f"Broadsheet's token has run out. {_REINSTALL}",
    "account_inactive": f"Broadsheet was removed from this workspace. {_REINSTALL}",
    "app_uninstalled": f"Broadsheet was removed from this workspace. {_REINSTALL}",
    "not_allowed_token_type": "That is no bot token: give the one that begins with xoxb-.",
    "team_access_not_granted": f"The organisation has not given Broadsheet this workspace. {ASK}",
    "team_not_found": "Slack knows no such workspace.",
    "enterprise_is_restricted": f"The organisation does not allow it. {ASK}",
    "two_factor_setup_required": "The workspace demands two-factor authentication of who installed Broadsheet.",
}
_AS_LAID_OUT = "Slack does not take the message as it is laid out."
_TOO_LONG = "The message is longer than Slack takes."
_MARK = "Slack does not take the mark by which Broadsheet finds its message again."
_SHARED = "The channel is shared with others, who do not allow what the message holds."
# Of this one message.
_OF_THE_MESSAGE: Mapping[str, str] = {
    "no_text": "Slack takes no empty message.",
    "msg_too_long": _TOO_LONG,
    "msg_blocks_too_long": _TOO_LONG,
    "too_many_attachments": "The message holds more than Slack takes.",
    "invalid_blocks": _AS_LAID_OUT,
    "invalid_blocks_format": _AS_LAID_OUT,
    "metadata_too_large": _MARK,
    "invalid_metadata_format": _MARK,
    "metadata_must_be_sent_from_app": _MARK,
    "slack_connect_canvas_sharing_blocked": _SHARED,
    "slack_connect_file_link_sharing_blocked": _SHARED,
}
# Not now, in this workspace.
_LATER: Mapping[str, str] = {
    "ratelimited": "Slack asked for a pause.",
    "rate_limited": "Slack asked for a pause.",
    "message_limit_exceeded": "The workspace has posted as many messages as its plan allows.",
    "team_added_to_org": "The workspace is being moved into an organisation.",
    "org_login_required": "The workspace is being moved into an organisation.",
    "external_channel_migrating": "The channel is being moved.",
    "request_timeout": "Slack did not receive the whole message.",
    "accesslimited": "Slack does not let Broadsheet into the workspace from this machine's address.",
}
# The first message was deleted, or nothing may hang on it; these say nothing of the channel.
NO_THREAD = frozenset(
    {
        "thread_not_found",
        "message_not_found",
        "invalid_thread_ts",
        "cannot_reply_to_message",
        "restricted_action_non_threadable_channel",
        "restricted_action_thread_locked",
        "thread_locked",
    }
)
_UNSURE = frozenset({"fatal_error", "internal_error", "service_unavailable"})
_NAME = re.compile(r"[a-z][a-z0-9_]{1,60}")
_SCOPE = re.compile(r"[a-z_.:,-]{1,100}")


def failure_reason(error: BaseException) -> str:
    """Return why a call failed in a word or two, without anything that was sent: Slack's own word where it gave one."""
    if isinstance(error, SlackApiError):
        response: Any = error.response
        with suppress(KeyError, TypeError, ValueError):
            if named := response["error"]:
                return str(named)
        return f"HTTP status {getattr(response, 'status_code', None) or getattr(response, 'status', '?')}"
    if isinstance(error, ClientResponseError):
        return f"HTTP status {error.status}"
    if isinstance(error, asyncio.TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError):
        return "no connection"
    return type(error).__name__


def error_code(error: BaseException) -> str:
    """Return Slack's name of an error: is_archived; "" where there is none."""
    data = getattr(getattr(error, "response", None), "data", None)
    # A proxy's JSON may have an error too; Slack's has an `ok` beside it.
    code = data.get("error") if isinstance(data, Mapping) and "ok" in data else None
    return code if isinstance(code, str) else ""


def channel_sentence(code: str) -> str:
    """Return what an error of this name says of a channel, which is also said where only its cause was seen."""
    return _CHANNEL[code]


def slack_delivery_error(error: BaseException) -> DeliveryError:
    """Return what a failed call of Slack's Web API means, as one sentence without anything secret."""
    if isinstance(error, DeliveryError):
        return error
    if isinstance(error, ClientConnectorError | ClientHttpProxyError | ConnectionTimeoutError | InvalidURL):
        return Delayed("Slack could not be reached.", reach=Reach.PLATFORM)
    if isinstance(error, SlackApiError):
        return _answered(error)
    return Uncertain("The connection to Slack was lost, or Slack did not answer in time.")


def _answered(error: SlackApiError) -> DeliveryError:
    code, status = error_code(error), _status(error)
    if status == 429 or code in {"ratelimited", "rate_limited"}:
        # Slack counts by method and workspace (docs.slack.dev/apis/web-api/rate-limits), whatever the channel.
        return Delayed(_LATER["ratelimited"], reach=Reach.WORKSPACE, retry_after=_retry_after(error))
    if code in _UNSURE or status >= 500 or (status == 200 and not code):
        return Uncertain(
            f"Slack failed, and does not say whether the message was posted ({_shown(code) if code else status})."
        )
    if not code:
        return Delayed(f"Something on the way to Slack answered in its place (status {status}).", reach=Reach.PLATFORM)
    return _by_code(code, error)


def _by_code(code: str, error: SlackApiError) -> DeliveryError:
    if code == "missing_scope":
        return Refused(_scope(error), reach=Reach.WORKSPACE)
    if code.startswith("restricted_action") and code not in NO_THREAD:
        return Refused(f"The channel's settings do not let Broadsheet post there. {ASK}")
    if code in _CHANNEL:
        return Refused(_CHANNEL[code])
    if code in _WORKSPACE:
        return Refused(_WORKSPACE[code], reach=Reach.WORKSPACE)
    if code in _LATER:
        return Delayed(_LATER[code], reach=Reach.WORKSPACE)
    said = _OF_THE_MESSAGE.get(code, "Slack did not take the message.")
    return Rejected(f"{said[:-1]} ({_shown(code)}).", failure=_shown(code), of_message=code in _OF_THE_MESSAGE)


def _scope(error: SlackApiError) -> str:
    return missing_scope_sentence(str(error.response.data.get("needed", "")))


def missing_scope_sentence(needed: str) -> str:
    """Return what to do about a scope that is missing; what is no scope's name is not repeated."""
    named = f" {needed}" if _SCOPE.fullmatch(needed) else ""
    return f"Broadsheet lacks the permission{named}: add it under OAuth & Permissions and install the app again."


def _status(error: SlackApiError) -> int:
    """Return the HTTP status; where the answer could not be read, the response is aiohttp's own."""
    status = getattr(error.response, "status_code", None) or getattr(error.response, "status", None)
    return status if isinstance(status, int) else 0


def _retry_after(error: SlackApiError) -> timedelta | None:
    headers: Any = getattr(error.response, "headers", None) or {}
    try:
        seconds = float(next((value for name, value in headers.items() if name.lower() == "retry-after"), ""))
        return timedelta(seconds=seconds) if 0 <= seconds <= 86_400 else None
    except (TypeError, ValueError):
        return None


def _shown(code: str) -> str:
    """Return the error's name; what is none is not repeated, whatever it says."""
    return code if _NAME.fullmatch(code) else "it gave no reason"
