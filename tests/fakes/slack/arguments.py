"""The arguments of a call: read from what came in, and held against the official description where it knows them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.fakes.slack.state import Json
from tests.fakes.slack.wrong import Wrong

_FILE = Path(__file__).parents[2] / "payloads" / "slack" / "web_api.json"
_KNOWN: Mapping[str, Mapping[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))["methods"]
# Documented since that description was written: name → (type, whether it must be given); docs.slack.dev/reference/methods.
_SINCE: Mapping[str, Mapping[str, tuple[str, bool]]] = {
    "chat.postMessage": {"metadata": ("string", False), "markdown_text": ("string", False)},
    "chat.update": {
        "metadata": ("string", False),
        "markdown_text": ("string", False),
        "reply_broadcast": ("boolean", False),
    },
    "chat.postEphemeral": {"markdown_text": ("string", False)},
    "chat.unfurl": {"source": ("string", False), "unfurl_id": ("string", False), "metadata": ("string", False)},
    "conversations.history": {"include_all_metadata": ("boolean", False)},
    "conversations.replies": {"include_all_metadata": ("boolean", False)},
    "oauth.v2.access": {"grant_type": ("string", False), "refresh_token": ("string", False)},
    "apps.connections.open": {},
    "functions.completeError": {"function_execution_id": ("string", True), "error": ("string", True)},
    "functions.completeSuccess": {"function_execution_id": ("string", True), "outputs": ("string", True)},
    "auth.teams.list": {
        "cursor": ("string", False),
        "limit": ("integer", False),
        "include_icon": ("boolean", False),
    },
    "files.getUploadURLExternal": {
        "filename": ("string", True),
        "length": ("integer", True),
        "alt_txt": ("string", False),
        "snippet_type": ("string", False),
    },
    "files.completeUploadExternal": {
        "files": ("string", True),
        "channel_id": ("string", False),
        "channels": ("string", False),
        "initial_comment": ("string", False),
        "thread_ts": ("string", False),
    },
}
_MUST = {"conversations.info": {"channel"}, "conversations.history": {"channel"}, "conversations.replies": {"channel", "ts"}}
_STRUCTURED = frozenset(
    {"blocks", "attachments", "view", "unfurls", "metadata", "files", "outputs"}
)  # JSON within a string, or as such
_NEVER_MUST = frozenset({"token", "code"})  # given in a header; not with a refresh token


def known(method: str) -> Mapping[str, tuple[str, bool]]:
    """Return the parameters of a method: name → (type, whether it must be given)."""
    described = _KNOWN.get(method, {"parameters": []})["parameters"]
    must = _MUST.get(method, set())
    found = {
        each["name"]: (each["type"], (each["required"] or each["name"] in must) and each["name"] not in _NEVER_MUST)
        for each in described
    }
    return {"team_id": ("string", False), **found, **_SINCE.get(method, {})}  # slack_sdk gives the workspace with every call


def is_known(method: str) -> bool:
    """Say whether there is such a method."""
    return method in _KNOWN or method in _SINCE


async def read(request: web.Request) -> Json:
    """Return what a request asks with: JSON, a form, or the address."""
    found: Json = dict(request.query)
    if request.content_type == "application/json":
        body = await request.json()
        if not isinstance(body, dict):
            raise Wrong("json_not_object")
        return found | body
    form = await request.post()
    return found | dict(form)


def checked(method: str, given: Json) -> Json:
    """Return the arguments as the values they stand for; raises Wrong."""
    parameters = known(method)
    told = [f"[ERROR] unknown argument [json-pointer:/{name}]" for name in given if name not in parameters]
    told += [
        f"[ERROR] missing required field: {name}" for name, (_, must) in parameters.items() if must and not given.get(name)
    ]
    values: Json = {}
    for name, value in given.items():
        try:
            values[name] = _valued(name, value, parameters.get(name, ("string", False))[0])
        except (ValueError, TypeError):
            told.append(f"[ERROR] invalid value [json-pointer:/{name}]")
    if told:
        raise Wrong("invalid_arguments", told=told)
    return values


def _valued(name: str, value: Any, kind: str) -> Any:
    if name in _STRUCTURED:
        found = json.loads(value) if isinstance(value, str) else value
        if not isinstance(found, dict | list):
            raise ValueError(name)
        return found
    if kind == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}[_lower(value)]
    if kind == "integer":
        return int(value)
    if kind == "number":
        float(value)
        return str(value)
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _lower(value: Any) -> str:
    found = str(value).lower()
    if found not in ("true", "false", "1", "0"):
        raise ValueError(found)
    return found
