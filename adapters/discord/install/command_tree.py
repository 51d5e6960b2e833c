"""The commands as Discord lists them, two commands with a subcommand for each declaration and one on messages, and what a
person chose of them. Pure.

What sets the service up stands under a command of its own, which Discord offers to those who may manage channels: whether
they may is looked at here as well.

docs.discord.com/developers/interactions/application-commands has the shape and the limits.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.text import cut
from bot.commands import TABLE, Option, Permission, Usage
from bot.errors import UsageError

ROOT = "digest"
MANAGE_ROOT = "digest-manage"  # what asks for the right to manage
ROOTS = {ROOT: "Your team's daily paper of papers.", MANAGE_ROOT: "What is posted here, and the topics it is made of."}
PERSONAL = "papers"  # what a person installs for themselves, and has wherever they are
FIND_SIMILAR = "Find similar papers"
_MANAGE_CHANNELS = 1 << 4  # docs.discord.com/developers/topics/permissions
_DESCRIPTION = 100  # characters of a description

CHAT, ON_MESSAGE = 1, 3  # types of commands
SUBCOMMAND, GROUP, STRING, INTEGER, BOOLEAN, USER, CHANNEL, NUMBER = 1, 2, 3, 4, 5, 6, 7, 10  # types of options
_LISTED = {"channel": CHANNEL, "person": USER}  # what Discord has lists of its own for
_KINDS = {int: INTEGER, bool: BOOLEAN, float: NUMBER}
# What can be posted in: text, voice, announcements, threads of three kinds, stages, forums; the API takes no media channels
# here (docs.discord.com/developers/resources/channel#channel-object-channel-types).
_POSTED_IN = (0, 2, 5, 10, 11, 12, 13, 15)
_IN_SERVER, _IN_DIRECT, _IN_OTHERS = 0, 1, 2  # contexts: a server, our direct conversation with a person, one of others
_SERVER_INSTALL, _USER_INSTALL = 0, 1
FOR_A_PERSON = ("search", "show")  # by their words

Values = Mapping[str, Any]  # what was chosen, by option
# What stands elsewhere than by its words: beside the other commands about topics, as Discord takes 25 of its own.
PLACES = {"topics": "topic list", "feeds": "topic feeds"}
USAGES = {PLACES.get(usage.words, usage.words): usage for usage in TABLE}


def path(usage: Usage) -> str:
    """Return the words under which Discord lists the command: "digest topic list", "digest-manage subscribe"."""
    return f"{_root(usage)} {PLACES.get(usage.words, usage.words)}"


def _root(usage: Usage) -> str:
    return MANAGE_ROOT if usage.permission is Permission.MANAGE else ROOT


@dataclass(frozen=True, slots=True)
class Offered:
    """What of the commands is offered besides the usual, and to whom."""

    everybody_manages: bool = False  # what sets the service up is offered to every member of a server
    personal: bool = False  # what a person installs is there, too


USUALLY = Offered()


def tree(offered: Offered = USUALLY) -> list[dict[str, Any]]:
    """Return the commands as Discord's bulk overwrite takes them."""
    may = {ROOT: None, MANAGE_ROOT: None if offered.everybody_manages else _MANAGE_CHANNELS}
    everywhere = {"integration_types": [_SERVER_INSTALL], "contexts": [_IN_SERVER, _IN_DIRECT], "nsfw": False}
    anywhere = _ANYWHERE if offered.personal else {}
    listed = [
        {
            "type": CHAT,
            "name": root,
            "description": description,
            "options": _subcommands(root),
            "default_member_permissions": may[root],
            **everywhere,
        }
        for root, description in ROOTS.items()
    ]
    similar = {"type": ON_MESSAGE, "name": FIND_SIMILAR, "default_member_permissions": None, **everywhere, **anywhere}
    return [*listed, similar, *([_personal()] if offered.personal else [])]


def _subcommands(root: str) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    options: list[dict[str, Any]] = []
    for place, usage in USAGES.items():
        if _root(usage) != root:
            continue
        first, _, second = place.partition(" ")
        if not second:
            options.append(_subcommand(first, usage))
            continue
        if first not in groups:
            groups[first] = []
            does = "Make and change" if root == MANAGE_ROOT else "List and show"
            options.append({"type": GROUP, "name": first, "description": f"{does} each {first}.", "options": groups[first]})
        groups[first].append(_subcommand(second, usage))
    return options


_ANYWHERE = {
    "integration_types": [_SERVER_INSTALL, _USER_INSTALL],
    "contexts": [_IN_SERVER, _IN_DIRECT, _IN_OTHERS],
}


def _personal() -> dict[str, Any]:
    """Return what a person has in every server and conversation, also where we are not: in a workspace of their own."""
    return {
        "type": CHAT,
        "name": PERSONAL,
        "description": "Search papers and repositories, and show one.",
        "options": [_subcommand(words, USAGES[words]) for words in FOR_A_PERSON],
        "default_member_permissions": None,
        **_ANYWHERE,
        "integration_types": [_USER_INSTALL],
        "nsfw": False,
    }


def fingerprint(offered: Offered = USUALLY) -> str:
    """Return what changes when the commands do."""
    return hashlib.sha256(json.dumps(tree(offered), sort_keys=True).encode()).hexdigest()[:16]


def _subcommand(name: str, usage: Usage) -> dict[str, Any]:
    taken = sorted(usage.options, key=lambda option: not option.required)
    described = cut(usage.help, _DESCRIPTION)
    return {"type": SUBCOMMAND, "name": name, "description": described, "options": [_option(each) for each in taken]}


def kind_of(option: Option) -> int:
    """Return the type by which Discord knows the option."""
    return _LISTED.get(option.suggests) or _KINDS.get(option.kind, STRING)


def _option(option: Option) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": kind_of(option),
        "name": option.name,
        "description": option.help,
        "required": option.required,
    }
    if made["type"] == CHANNEL:
        made["channel_types"] = list(_POSTED_IN)
    elif option.choices:
        made["choices"] = [{"name": label, "value": value} for label, value in option.choices]
    elif made["type"] == STRING and (option.suggests or option.offers):
        made["autocomplete"] = True
    whole = option.kind is int
    bounds = {"min_value": option.least, "max_value": option.most}
    return made | {name: int(bound) if whole else bound for name, bound in bounds.items() if bound is not None}


# --- what a person chose, or is typing


def chosen(data: Mapping[str, Any]) -> tuple[Usage, Values]:
    """Return the command that an interaction names, and what was chosen for it; raises UsageError for none."""
    name, options = _named(data)
    if name not in USAGES:
        raise UsageError("Discord shows a command that I no longer have.", hint="Reload Discord, and try again.")
    return USAGES[name], {str(each["name"]): each.get("value") for each in options}


def focused(data: Mapping[str, Any]) -> tuple[Option | None, str]:
    """Return the option that is being typed, None where I no longer have it, and what was typed of it."""
    name, options = _named(data)
    typing = next((each for each in options if each.get("focused")), {})
    known = USAGES[name].options if name in USAGES else ()
    return next((each for each in known if each.name == typing.get("name")), None), str(typing.get("value", ""))


def filled_in(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what is filled in beside the option that is being typed, by the names of the options."""
    _, options = _named(data)
    return {str(each["name"]): str(each.get("value", "")) for each in options if not each.get("focused")}


def _named(data: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return the words of the subcommand, and its options."""
    words: list[str] = []
    options: Sequence[Mapping[str, Any]] = data.get("options") or ()
    while options and options[0].get("type") in (SUBCOMMAND, GROUP):
        words.append(str(options[0]["name"]))
        options = options[0].get("options") or ()
    return " ".join(words), options
