"""The app's manifest: what an administrator pastes into Slack to make the app. Pure.

Its shape is Slack's: https://docs.slack.dev/reference/app-manifest; a test holds it against the official schema.
"""

from typing import Any
from urllib.parse import urlsplit

from adapters.slack.install import permissions, steps
from bot.errors import UsageError
from bot.settings.chat import LOOPBACK, SlackSettings
from bot.sources.registry import HOSTS

EVENTS_PATH = "/slack/events"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"

_LONGEST_NAME = 35  # characters, of the schema
_DESCRIPTION = "Your team's daily paper of papers: new research and code, ranked for your topics."
_LONG_DESCRIPTION = (
    "Broadsheet collects new research papers and code repositories, ranks them against your team's topics, and says of each"
    " in one statement, and on demand on a card, what it is about: problem, method, evidence, and why it matters. Digests"
    " are posted on schedule to the channels that subscribed them. With /digest you search what was collected, subscribe"
    " topics, and set filters; the menu of each entry teaches a topic what to bring more or less of."
)

_AGENT = "Finds research papers and code in what your team collects: in your own words, or by a link. It makes nothing up."
_PROMPTS = (
    {"title": "What can I ask?", "message": "help"},
    {"title": "Search for papers", "message": "kv cache compression"},
    {"title": "The card of a paper", "message": "show arxiv.org/abs/1706.03762"},
)


def manifest(settings: SlackSettings, *, socket: bool, url: str, name: str) -> dict[str, Any]:
    """Return the manifest of an app of this name, for these settings.

    With `socket` the app needs no public address; otherwise Slack reaches it at `url`, or at the settings' public_url. Where
    neither is given, the settings' mode decides. Raises UsageError for a name or an address that Slack would not take.
    """
    if not 1 <= len(name) <= _LONGEST_NAME:
        raise UsageError(f"The name of a Slack app has 1 to {_LONGEST_NAME} characters.")
    address = _address(settings, socket, url)
    installs_at = address or (settings.public_url if settings.client_id else "")
    made = {
        "_metadata": {"major_version": 1, "minor_version": 1},
        "display_information": {
            "name": name,
            "description": _DESCRIPTION,
            "long_description": _LONG_DESCRIPTION,
            "background_color": "#1f2a37",
        },
        "features": _features(settings, name, address),
        "oauth_config": _oauth(settings, installs_at),
        "settings": _settings(settings, address, rotates=bool(installs_at)),
    }
    return made | ({"functions": dict(steps.functions())} if settings.workflow_steps else {})


def _address(settings: SlackSettings, socket: bool, url: str) -> str:
    """Return where Slack reaches the app, "" for the socket."""
    if socket or not (url or settings.mode == "http"):
        return ""
    address = (url or settings.public_url).rstrip("/")
    if not address:
        raise UsageError("Say where Slack reaches the app, with --url https://…, or set `public_url` in [slack].")
    if not is_public(address):
        raise UsageError(f'Slack sends nothing to "{address}": the address must begin with https:// and name a host.')
    return address


def is_public(address: str) -> bool:
    """Say whether installing at this address is safe: HTTPS, or the machine itself."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def _features(settings: SlackSettings, name: str, address: str) -> dict[str, Any]:
    command = {
        "command": permissions.COMMAND,
        "description": "Papers and repositories: search, subscribe, digest",
        "usage_hint": "search <query> | subscribe <topic> daily at 09:00 | now | help",
        "should_escape": False,
    }
    features: dict[str, Any] = {
        # Not read-only: a command can be given where a message can be written.
        "app_home": {"home_tab_enabled": True, "messages_tab_enabled": True, "messages_tab_read_only_enabled": False},
        "bot_user": {"display_name": name, "always_online": True},
        "shortcuts": [
            {
                "name": each.name,
                "type": "message" if each.on_message else "global",
                "callback_id": each.callback,
                "description": each.description,
            }
            for each in permissions.SHORTCUTS
        ],
        "slash_commands": [command | ({"url": address + EVENTS_PATH} if address else {})],
    }
    if settings.agent:
        # Slack's word for what was `assistant_view`: docs.slack.dev/reference/app-manifest, and the official schema.
        features["agent_view"] = {"agent_description": _AGENT, "suggested_prompts": [dict(each) for each in _PROMPTS]}
    if settings.link_previews:
        features["unfurl_domains"] = list(HOSTS)
    return features


def _oauth(settings: SlackSettings, address: str) -> dict[str, Any]:
    scopes = {"scopes": {"bot": list(permissions.scopes(settings))}}
    return scopes | ({"redirect_urls": [address.rstrip("/") + REDIRECT_PATH]} if address else {})


def _settings(settings: SlackSettings, address: str, *, rotates: bool) -> dict[str, Any]:
    events: dict[str, Any] = {"bot_events": list(permissions.events(settings))}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if address:
        events["request_url"] = interactivity["request_url"] = address + EVENTS_PATH
        interactivity["message_menu_options_url"] = address + EVENTS_PATH
    return {
        # Without it Slack takes an app with functions for one that it is to run itself.
        **({"function_runtime": "remote"} if settings.workflow_steps else {}),
        "event_subscriptions": events,
        "interactivity": interactivity,
        "org_deploy_enabled": True,
        "socket_mode_enabled": not address,
        # A token that was pasted into the settings cannot be renewed; one from an installation can.
        "token_rotation_enabled": rotates,
    }
