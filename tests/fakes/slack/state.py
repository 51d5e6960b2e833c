"""What a Slack holds: workspaces with people, channels and messages; views; tokens."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = dict[str, Any]


class Kind(StrEnum):
    """What a conversation is, in the words of `types`."""

    PUBLIC = "public_channel"
    PRIVATE = "private_channel"
    IM = "im"
    GROUP_IM = "mpim"


@dataclass(slots=True, kw_only=True, eq=False)
class Person:
    """Somebody of a workspace, or the app's own user there."""

    id: str
    name: str
    team: str
    is_admin: bool = False
    is_owner: bool = False
    is_bot: bool = False
    is_deleted: bool = False
    is_guest: bool = False  # of the workspace, who sees no channel but those that they are in
    is_single_channel_guest: bool = False  # such a guest, who is in one
    zone: str = "Europe/Zurich"
    offset: int = 7200  # seconds


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """One message as it stands now."""

    ts: str
    channel: str
    team: str
    user: str
    at: float  # seconds since 1970
    text: str = ""
    blocks: Sequence[Json] = ()
    metadata: Json | None = None
    thread: str = ""
    shown_to: str = ""  # the one person who sees it; "": everybody
    answers: str = ""  # the response_url that made it
    is_unseen: bool = False  # a private one in a thread that has not begun, which Slack shows to nobody
    is_app: bool = True
    is_edited: bool = False
    is_deleted: bool = False
    unfurls: Json = field(default_factory=dict)
    asked: Json = field(default_factory=dict)  # the call that made it, as it was asked
    reactions: dict[str, list[str]] = field(default_factory=dict)
    changed: int = 0  # when it was made or changed, as a count of all changes

    @property
    def words(self) -> str:
        """Everything that can be read in it."""
        return "\n".join([self.text, *texts(self.blocks)])

    @property
    def labels(self) -> list[str]:
        """The labels of its buttons and the entries of its ⋯ menus, in order."""
        return [label for label, _, _ in pressable(self.blocks)]

    def shown(self) -> Json:
        """Return it as the Web API does."""
        made: Json = {"type": "message", "user": self.user, "text": self.text, "ts": self.ts, "team": self.team}
        if self.is_app:
            made |= {"bot_id": "B0BROAD", "app_id": "A0BROAD"}
        if self.blocks:
            made["blocks"] = list(self.blocks)
        if self.thread:
            made["thread_ts"] = self.thread
        if self.is_edited:
            made["edited"] = {"user": self.user, "ts": self.ts}
        if self.reactions:
            made["reactions"] = [{"name": n, "users": u, "count": len(u)} for n, u in self.reactions.items()]
        return made


@dataclass(slots=True, kw_only=True, eq=False)
class Channel:
    """A conversation."""

    id: str
    name: str
    team: str
    kind: Kind = Kind.PUBLIC
    members: set[str] = field(default_factory=set)
    is_archived: bool = False
    is_gone: bool = False
    shared_with: list[str] = field(default_factory=list)  # other workspaces that have it too, under the same name
    messages: list[Message] = field(default_factory=list)

    def shown(self, app: str) -> Json:
        """Return it as conversations.info does, as the app's user sees it."""
        if self.kind is Kind.IM:
            other = next((each for each in sorted(self.members) if each != app), app)
            return {"id": self.id, "created": 1, "is_im": True, "is_org_shared": False, "user": other, "is_archived": False}
        return {
            "id": self.id,
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": self.kind is Kind.PUBLIC,
            "is_group": self.kind is Kind.PRIVATE,
            "is_im": False,
            "is_mpim": self.kind is Kind.GROUP_IM,
            "is_private": self.kind is not Kind.PUBLIC,
            "is_archived": self.is_archived,
            "is_member": app in self.members,
            "created": 1449252889,
            "creator": "U0ANNA",
            "topic": {"value": "", "creator": "", "last_set": 0},
            "purpose": {"value": "", "creator": "", "last_set": 0},
            "num_members": len(self.members),
            "is_shared": bool(self.shared_with),
            "is_ext_shared": bool(self.shared_with),
            "is_org_shared": False,
            **({"conversation_host_id": self.team, "shared_team_ids": self.teams} if self.shared_with else {}),
        }

    @property
    def teams(self) -> list[str]:
        """The workspaces that have it, its host first."""
        return [self.team, *self.shared_with]


@dataclass(slots=True, kw_only=True, eq=False)
class View:
    """A modal or a Home, with what was typed into it."""

    id: str
    team: str  # by whose installation it is shown
    user: str
    body: Json  # as the app gave it
    hash: str
    root: str
    previous: str | None = None
    values: Json = field(default_factory=dict)
    is_open: bool = True
    errors: Mapping[str, str] = field(default_factory=dict)  # what the last submission was answered with, by block
    opened_by: str = ""  # the trigger
    changed: int = 0

    @property
    def blocks(self) -> Sequence[Json]:
        found: Sequence[Json] = self.body.get("blocks", [])
        return found

    @property
    def title(self) -> str:
        return str(self.body.get("title", {}).get("text", ""))

    @property
    def words(self) -> str:
        return "\n".join([self.title, *texts(self.blocks)])

    @property
    def labels(self) -> list[str]:
        return [label for label, _, _ in pressable(self.blocks)]

    def shown(self, home: str = "") -> Json:
        """Return it as Slack does, with its state, to somebody of that workspace."""
        defaults = {"private_metadata": "", "callback_id": "", "external_id": ""}
        flags = {"clear_on_close": False, "notify_on_close": False, "close": None, "submit": None, "title": None}
        return {
            **defaults,
            **flags,
            **self.body,
            "id": self.id,
            "team_id": home or self.team,
            "state": {"values": self.values},
            "hash": self.hash,
            "previous_view_id": self.previous,
            "root_view_id": self.root,
            "app_id": "A0BROAD",
            "app_installed_team_id": self.team,
            "bot_id": "B0BROAD",
        }


@dataclass(slots=True, kw_only=True, eq=False)
class Grant:
    """A token and what it allows."""

    token: str
    kind: str  # "bot" or "app"
    teams: tuple[str, ...]
    enterprise: str = ""
    scopes: frozenset[str] = frozenset()
    trouble: str = ""  # the error that each call with it gets
    expires: float | None = None  # seconds since 1970
    refresh: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class Team:
    """A workspace."""

    id: str
    domain: str
    name: str
    app_user: Person
    enterprise: str = ""
    is_org_wide: bool = False  # whether the app was installed in the whole organisation
    people: dict[str, Person] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)
    edit_window: float | None = None  # seconds for which a message may be edited, as the workspace settled; None: any number


class Times:
    """The clock, and Slack's timestamps: unique, and later each time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._last = 0
        self._count = itertools.count(1)

    def ts(self) -> str:
        """Return the next timestamp."""
        self._last = max(self._last + 1, int(self.clock() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def count(self) -> int:
        """Return a number that rises with every call."""
        return next(self._count)


def texts(node: object) -> Iterator[str]:
    """Yield every text that a reader sees in blocks, in order."""
    if isinstance(node, Mapping):
        if isinstance(node.get("text"), str) and node.get("type") in ("mrkdwn", "plain_text", "text", "markdown", "link"):
            yield node["text"]
        for name, value in node.items():
            if name not in ("metadata", "private_metadata", "value"):
                yield from texts(value)
    elif isinstance(node, list | tuple):
        for each in node:
            yield from texts(each)


def pressable(node: object, block: str = "") -> Iterator[tuple[str, Json, Json | None]]:
    """Yield (label, element, chosen entry) of every button and entry of a ⋯ menu; each element knows its `block_id`."""
    if isinstance(node, Mapping):
        block = str(node.get("block_id", block))
        element = {**node, "block_id": block}
        if node.get("type") == "button":
            yield node["text"]["text"], element, None
        elif node.get("type") == "overflow":
            for each in node["options"]:
                yield each["text"]["text"], element, each
        else:
            for value in node.values():
                yield from pressable(value, block)
    elif isinstance(node, list | tuple):
        for each in node:
            yield from pressable(each, block)
