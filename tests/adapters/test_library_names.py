"""Every name that we use of discord.py, slack_sdk and slack_bolt without their documenting it, and what breaks without it.

What they document they keep, or announce beforehand. Another name may be gone with any release: this says at once which, and
what hangs on it. Names that begin with an underscore are not used at all.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = ("discord", "slack_sdk", "slack_bolt")
MODULES = sorted(path for chat in ("discord", "slack") for path in (ROOT / "adapters" / chat).rglob("*.py"))

# By the library's own module and name: what is used of it, and what breaks without it.
HELD = {
    "discord.gateway.DiscordWebSocket": (
        "DEFAULT_GATEWAY close received_message",
        "`discord.gateway_url` is not heeded; one event that cannot be read ends the connection, which is said in the log",
    ),
    "discord.http.Route": ("BASE key major_parameters", "`discord.api_url`; nothing can be asked of Discord"),
    "discord.http.HTTPClient": (
        "request send_message start_private_message get_message close",
        "nothing can be posted or looked up",
    ),
    "discord.http.MultipartParameters": ("payload multipart files", "nothing with a file or a nonce can be posted"),
    "discord.http.json_or_text": ("", "answers cannot be read"),
    "discord.asset.Asset": ("BASE", "`discord.cdn_url` is not heeded"),
    "discord.Client": ("dispatch", "events that cannot be read are not known by name, and end the connection"),
    "discord.VoiceClient": ("warn_nacl warn_dave", "two needless lines in the log at each start"),
    "slack_bolt.adapter.aiohttp.to_aiohttp_response": ("", "Slack is not heard by HTTP"),
    "slack_bolt.app.async_app.AsyncApp": ("async_dispatch error", "Slack is not heard"),
    "slack_bolt.authorization.AuthorizeResult": ("", "no request is authorised"),
    "slack_bolt.authorization.async_authorize.AsyncAuthorize": ("__call__", "no request is authorised"),
    "slack_bolt.context.ack.async_ack.AsyncAck": ("__call__", "dialogues are answered when their work ends, often too late"),
    "slack_bolt.context.async_context.AsyncBoltContext": ("ack", "the same"),
    "slack_bolt.request.async_request.AsyncBoltRequest": ("", "Slack is not heard"),
    "slack_bolt.response.BoltResponse": ("first_headers", "Slack is not answered by socket"),
    "slack_sdk.signature.Clock": ("now", "signed requests are judged by another clock"),
    "slack_sdk.socket_mode.aiohttp.SocketModeClient": (
        "connect close issue_new_wss_url monitor_current_session receive_messages send_socket_mode_response",
        "Slack is not heard by socket",
    ),
    "slack_sdk.socket_mode.async_client.AsyncBaseSocketModeClient": ("", "a type alone"),
    "slack_sdk.socket_mode.request.SocketModeRequest": ("", "Slack is not heard by socket"),
    "slack_sdk.socket_mode.response.SocketModeResponse": ("", "nothing from a socket is acknowledged"),
}
# What is set when one is made, and so stands in no class. Without `last_ping_pong_time` an open socket counts as heard.
SET = {
    "slack_sdk.socket_mode.aiohttp.SocketModeClient": (
        "aiohttp_client_session closed current_session current_session_monitor last_ping_pong_time message_listeners "
        "message_processor message_receiver ping_interval proxy socket_mode_request_listeners wss_uri"
    ),
    "slack_bolt.context.ack.async_ack.AsyncAck": "response",
    "slack_bolt.request.async_request.AsyncBoltRequest": "body context",
    "slack_bolt.response.BoltResponse": "status body",
    "discord.http.HTTPClient": "token proxy user_agent",
    "discord.http.Route": "method path url",
    "discord.gateway.DiscordWebSocket": "socket",
}
# Documented on their sites, though not from the first module of the package.
DOCUMENTED = {
    "discord.errors",
    "discord.utils",
    "slack_bolt.async_app",
    "slack_sdk.errors",
    "slack_sdk.oauth.installation_store",
    "slack_sdk.signature",
    "slack_sdk.web.async_client",
}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported() -> Iterator[tuple[Path, str, str]]:
    """Yield which name each module imports of which module of a library."""
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in LIBRARIES:
                yield from ((path, node.module or "", each.name) for each in node.names)


def thing(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


@pytest.mark.parametrize(("name", "members"), [(name, members.split()) for name, (members, _) in HELD.items()])
def test_what_is_not_documented_is_there(name: str, members: list[str]) -> None:
    found = thing(name)
    assert [each for each in members if not hasattr(found, each)] == [], HELD[name][1]


@pytest.mark.parametrize(("name", "members"), [(name, members.split()) for name, members in SET.items()])
def test_what_is_set_on_what_is_made_is_there(name: str, members: list[str]) -> None:
    source = inspect.getsource(thing(name))
    assert [each for each in members if f"self.{each}" not in source and f"def {each}" not in source] == [], HELD[name][1]


def test_events_are_read_one_by_one_in_a_coroutine() -> None:
    found = thing("discord.gateway.DiscordWebSocket")
    assert inspect.iscoroutinefunction(found.received_message)
    assert "self.received_message(" in inspect.getsource(found.poll_event)
    read = inspect.getsource(inspect.unwrap(found.received_message))
    assert read.index("self.log_receive(") < read.index("_discord_parsers"), "what is read is told before it is"


def test_no_private_name_of_a_library_is_used() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.attr}"
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.endswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"})
    ]
    assert found == []


def test_what_is_made_of_a_library_s_class_hides_nothing_private_of_it() -> None:
    from adapters.discord.client.api import RestClient
    from adapters.discord.connection.gateway import GatewayClient
    from adapters.slack.connection.dispatch import _Ack
    from adapters.slack.connection.socket_mode import _Client

    for made in (RestClient, GatewayClient, _Ack, _Client):
        above = {name for each in made.__mro__[1:] for name in vars(each)}
        own = {name for name in vars(made) if name.startswith("_") and not name.endswith("__")}
        set_here = {name.attr for name in ast.walk(ast.parse(inspect.getsource(made))) if isinstance(name, ast.Attribute)}
        set_above = {
            node.attr
            for each in made.__mro__[1:-1]
            if each.__module__.partition(".")[0] in LIBRARIES
            for node in ast.walk(ast.parse(inspect.getsource(each)))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        }
        private = {name for name in own | set_here if name.startswith("_") and not name.endswith("__")}
        assert private & (above | set_above) == set(), made


def test_whatever_is_imported_of_a_library_is_documented_or_held_here() -> None:
    unknown = {
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for path, module, name in imported()
        if module not in LIBRARIES and module not in DOCUMENTED and f"{module}.{name}" not in HELD
    }
    assert unknown == set()
    assert [module for _, module, _ in imported() if "internal" in module or "._" in module] == []
