"""Which scope a method, an event or a way to be called needs: docs.slack.dev/reference/scopes."""

from collections.abc import Collection, Mapping

from tests.fakes.slack.state import Grant, Kind
from tests.fakes.slack.wrong import Wrong

_READ = {Kind.PUBLIC: "channels:read", Kind.PRIVATE: "groups:read", Kind.IM: "im:read", Kind.GROUP_IM: "mpim:read"}
_HISTORY = {kind: scope.replace(":read", ":history") for kind, scope in _READ.items()}
METHODS: Mapping[str, str] = {
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "chat.delete": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.unfurl": "links:write",
    "conversations.join": "channels:join",
    "conversations.open": "im:write",
    "users.info": "users:read",
    "team.info": "team:read",
    "files.getUploadURLExternal": "files:write",
    "files.completeUploadExternal": "files:write",
}
EVERYTHING = frozenset(
    {*METHODS.values(), *_READ.values(), *_HISTORY.values(), "commands", "links:read", "reactions:read", "app_mentions:read"}
)
EVENTS: Mapping[str, str] = {
    "link_shared": "links:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "channel_archive": "channels:read",
    "channel_unarchive": "channels:read",
    "channel_deleted": "channels:read",
    "channel_left": "channels:read",
    "channel_rename": "channels:read",
    "channel_id_changed": "channels:read",
    "group_archive": "groups:read",
    "group_unarchive": "groups:read",
    "group_deleted": "groups:read",
    "group_left": "groups:read",
    "group_rename": "groups:read",
    "member_joined_channel": "channels:read",
    "member_left_channel": "channels:read",
}  # the others need none


def demand(grant: Grant, method: str) -> None:
    """Raise Wrong where the token may not call the method at all."""
    if (needed := METHODS.get(method)) is not None:
        _demand(grant, {needed})


def demand_read(grant: Grant, kinds: Collection[Kind]) -> None:
    """Raise Wrong where conversations of these kinds may not be listed or looked at."""
    _demand(grant, {_READ[kind] for kind in kinds})


def demand_history(grant: Grant, kind: Kind) -> None:
    """Raise Wrong where the messages of such a conversation may not be read."""
    _demand(grant, {_HISTORY[kind]})


def _demand(grant: Grant, needed: Collection[str]) -> None:
    if missing := sorted(set(needed) - grant.scopes):
        raise Wrong("missing_scope", needed=",".join(missing), provided=",".join(sorted(grant.scopes)))
