"""Whether a request or a reply is what Discord's own OpenAPI description says, and where it is not."""

import gzip
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs as js

PATH = Path(__file__).parents[2] / "payloads" / "discord" / "openapi.json.gz"
PATHS = (
    "/applications/@me",
    "/applications/{application_id}/commands",
    "/applications/{application_id}/commands/{command_id}",
    "/applications/{application_id}/guilds/{guild_id}/commands",
    "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
    "/channels/{channel_id}",
    "/channels/{channel_id}/messages",
    "/channels/{channel_id}/messages/{message_id}",
    "/channels/{channel_id}/messages/{message_id}/crosspost",
    "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}",
    "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me",
    "/channels/{channel_id}/messages/{message_id}/threads",
    "/channels/{channel_id}/thread-members/{user_id}",
    "/channels/{channel_id}/threads",
    "/channels/{channel_id}/threads/archived/public",
    "/channels/{channel_id}/typing",
    "/gateway",
    "/gateway/bot",
    "/guilds/{guild_id}",
    "/guilds/{guild_id}/channels",
    "/guilds/{guild_id}/members/{user_id}",
    "/guilds/{guild_id}/roles",
    "/guilds/{guild_id}/threads/active",
    "/interactions/{interaction_id}/{interaction_token}/callback",
    "/oauth2/applications/@me",
    "/users/@me",
    "/users/@me/channels",
    "/users/@me/guilds",
    "/users/@me/guilds/{guild_id}",
    "/users/{user_id}",
    "/webhooks/{webhook_id}/{webhook_token}",
    "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
    "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
)
_URI = "https://discord.com/openapi"
# In the documentation, and sent by discord.py, but missing in the description.
_ALSO = {
    "ApplicationCommandCreateRequest": ("nsfw",),
    "ApplicationCommandUpdateRequest": ("nsfw",),
    "CreateForumThreadRequest": ("type",),
    "RichEmbed": ("flags",),
}

Where = tuple[str | int, ...]
Flaw = tuple[Where, str]
"""Where something is wrong, and what."""


class Description:
    """The description, compiled: once for replies, and once for requests, where nothing may stand that it does not know."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._paths = document["paths"]
        self._lax = _Compiled(document)
        self._strict = _Compiled(_closed(document))

    def request_flaws(self, method: str, path: str, body: Any) -> list[Flaw]:
        """Return what is wrong with a request's JSON body (None: there is none) at the path as the description writes it."""
        said = self._paths.get(path, {}).get(method.lower())
        if said is None:
            return [((), f"There is no {method} {path}.")]
        if "requestBody" not in said:
            return [] if body is None else [((), "This request has no body.")]
        if body is None:
            return [((), "This request needs a body.")] if said["requestBody"].get("required") else []
        return self._strict.flaws(_place(path, method, "requestBody", "content", "application/json", "schema"), body)

    def reply_flaws(self, method: str, path: str, status: int, body: Any) -> list[Flaw]:
        """Return what is wrong with a reply's JSON body (None: there is none)."""
        replies = self._paths.get(path, {}).get(method.lower(), {}).get("responses", {})
        name = str(status) if str(status) in replies else f"{status // 100}XX"
        if name not in replies:
            return [] if status >= 500 else [((), f"No reply of {status} is described for {method} {path}.")]
        if "$ref" in replies[name]:
            kind = replies[name]["$ref"].rpartition("/")[2]
            return self._lax.flaws(f"#/components/responses/{kind}/content/application~1json/schema", body)
        if "content" not in replies[name]:
            return [] if body is None else [((), "This reply has no body.")]
        return self._lax.flaws(_place(path, method, "responses", name, "content", "application/json", "schema"), body)


class _Compiled:
    """A document whose parts are compiled when they are first asked for."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._registry = js.Registry([(_URI, {"$schema": "https://json-schema.org/draft/2020-12/schema", **document})])
        self._parts: dict[str, js.Validator] = {}

    def flaws(self, pointer: str, body: Any) -> list[Flaw]:
        """Return what is wrong with the body, measured by the part at that pointer."""
        if pointer not in self._parts:
            self._parts[pointer] = js.Draft202012Validator(
                {"$ref": _URI + pointer}, registry=self._registry, mask="what stands there"
            )
        return [_deepest(error) for error in self._parts[pointer].iter_errors(body)]


def _place(*names: str) -> str:
    """Return the pointer to what stands under these names in `paths`."""
    return "#/paths/" + "/".join(each.lower() if at == 1 else _quoted(each) for at, each in enumerate(names))


def _quoted(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")


def _closed(node: Any) -> Any:
    """Return the document with every object closed: no property but the known ones."""
    if isinstance(node, list):
        return [_closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: _closed(value) for key, value in node.items()}
    for name, more in _ALSO.items():
        if name in found and "properties" in found[name]:
            found[name]["properties"].update(dict.fromkeys(more, True))
    if {"content", "embeds"} <= found.get("properties", {}).keys():
        found["properties"].setdefault("tts", True)  # sent with every change of a message
    if found.get("format") == "snowflake":
        found["type"] = ["string", "integer"]  # requests may write identifiers as either
    if isinstance(found.get("properties"), dict) and found.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found


def _deepest(error: js.ValidationError) -> Flaw:
    """Return the error that lies deepest: where there are branches, that of the one which came furthest."""
    return max(_leaves(error), key=lambda flaw: len(flaw[0]))


def _leaves(error: js.ValidationError) -> Iterator[Flaw]:
    branches = getattr(error.kind, "context", None)
    if not branches or not any(branches):
        yield tuple(error.instance_path), error.message
        return
    # A branch that is refused for its very type is not the one that was meant.
    meant = [each for each in branches if each and not _is_another_kind(each, error)] or branches
    for branch in meant:
        found = [leaf for each in branch for leaf in _leaves(each)]
        if found:
            yield max(found, key=lambda flaw: len(flaw[0]))


def _is_another_kind(branch: list[js.ValidationError], error: js.ValidationError) -> bool:
    here = len(error.instance_path)
    return any(
        (len(each.instance_path) == here + 1 and each.instance_path[-1] == "type")
        or (len(each.instance_path) == here and each.kind.name == "type")
        for each in branch
    )


@cache
def official() -> Description:
    """Return Discord's description; about a second to read."""
    return Description(json.loads(gzip.decompress(PATH.read_bytes())))
