"""The commands as Discord lists them: one command with a subcommand for each row of the table, and one on messages. Pure.

docs.discord.com/developers/interactions/application-commands has the shape and the limits.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.text import cut
from bot.commands import TABLE, FilterAction, Format, Part, ProfileAction, Scope, Usage
from bot.models import MOST_ENTRIES, MOST_WEIGHT

ROOT = "digest"
FIND_SIMILAR = "Find similar papers"
_DESCRIPTION = 100  # characters of a description

CHAT, ON_MESSAGE = 1, 3  # types of commands
SUBCOMMAND, GROUP, STRING, INTEGER, BOOLEAN, NUMBER = 1, 2, 3, 4, 5, 10  # types of options
_IN_SERVER, _IN_DIRECT = 0, 1  # contexts: a server, our direct conversation with a person
_SERVER_INSTALL = 0

Choices = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that a command takes."""

    name: str
    help: str
    kind: int = STRING
    required: bool = False
    suggests: str = ""  # what completes it: a kind of `suggest`, or "days"
    choices: Choices = ()
    least: float | None = None
    most: float | None = None


DAYS: Choices = (
    ("Every day", "daily"),
    ("Monday to Friday", "weekdays"),
    ("Monday, Wednesday, Friday", "mon,wed,fri"),
    ("Mondays", "weekly"),
    ("Saturday and Sunday", "weekends"),
    ("On the first of the month", "monthly"),
)


def _named(values: type[Part | FilterAction | ProfileAction | Format]) -> Choices:
    return tuple((value.value, value.value) for value in values)


_ITEM = Option(
    name="item", help="A number of the last digest, a link, an identifier or a title.", required=True, suggests="item"
)
_FOR = Option(name="topic", help="For which topic; needed where several are subscribed here.", suggests="topic")
_TOPIC = Option(name="topic", help="The topic.", required=True, suggests="topic")
_HERE = Option(name="topic", help="A topic that is subscribed here.", required=True, suggests="subscription")

# What each row of the table takes, in the order in which it is asked for.
OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "search": (
        Option(name="query", help='Words, "phrases", fields like stars:>100.', required=True, suggests="query"),
        Option(name="page", help="Where an earlier answer ended."),
    ),
    "similar": (_ITEM,),
    "why": (_ITEM, _FOR),
    "now": (Option(name="topic", help="Only this one of those subscribed here.", suggests="topic"),),
    "subscribe": (
        Option(name="topic", help="The topic. Leave it out for a form.", suggests="topic"),
        Option(name="days", help="When: daily, weekdays, mon,wed,fri, weekly, monthly on 15.", suggests="days"),
        Option(name="at", help="The time of day, such as 09:00."),
        Option(name="zone", help="The time zone, such as Europe/Zurich.", suggests="zone"),
        Option(name="entries", help="At most so many entries.", kind=INTEGER, least=1, most=MOST_ENTRIES),
        Option(name="min_score", help="Only what scores at least so much, from 0 to 1.", kind=NUMBER, least=0, most=1),
        Option(
            name="layout",
            help="The four parts in full, or a paragraph for each entry.",
            choices=(("full", "full"), ("compact", "compact")),
        ),
        Option(
            name="when_empty",
            help="What to do when there is nothing to post.",
            choices=(("stay quiet", "quiet"), ("say so", "always")),
        ),
        Option(name="filter", help="A query that everything posted here must satisfy.", suggests="query"),
        Option(
            name="as_usual",
            help="What goes back to what is usual.",
            choices=(("how many entries", "entries"), ("the least score", "min_score"), ("both", "entries min_score")),
        ),
    ),
    "unsubscribe": (_HERE,),
    "list": (Option(name="all", help="Those of the whole server.", kind=BOOLEAN),),
    "pause": (_HERE, Option(name="until", help="Until when: 2026-12-01, monday, tomorrow, 2w.")),
    "resume": (_HERE,),
    "topics": (),
    "topic show": (_TOPIC,),
    "topic create": (
        Option(name="name", help="Its name. Leave it out for a form."),
        Option(name="query", help="What enters it.", suggests="query"),
        Option(name="from", help="Or the topic to start from.", suggests="topic"),
    ),
    "topic edit": (
        _TOPIC,
        Option(name="part", help="What to change. Leave it out for a form.", choices=_named(Part)),
        Option(name="value", help="What to set, add or take away.", suggests="query"),
        Option(name="weight", help="Of an interest.", kind=NUMBER, least=-MOST_WEIGHT, most=MOST_WEIGHT),
        Option(name="remove", help="Take it away instead of adding it.", kind=BOOLEAN),
    ),
    "topic delete": (_TOPIC, Option(name="anyway", help="Also while channels subscribe to it.", kind=BOOLEAN)),
    "filter": (
        _TOPIC,
        Option(name="action", help="What to do; without it, the filter is shown.", choices=_named(FilterAction)),
        Option(name="query", help="The filter, or the clause to add or remove.", suggests="query"),
        Option(
            name="scope",
            help="Whose filter.",
            choices=(("this channel's", Scope.HERE.value), ("the topic's, everywhere", Scope.TOPIC.value)),
        ),
    ),
    "more": (_ITEM, _FOR),
    "less": (_ITEM, _FOR),
    "profile": (
        _TOPIC,
        Option(name="action", help="What to do; without it, the profile is shown.", choices=_named(ProfileAction)),
        Option(name="item", help="For undo: what you said of this item.", suggests="item"),
    ),
    "save": (_ITEM,),
    "unsave": (_ITEM,),
    "saved": (
        Option(name="format", help="As a file.", choices=_named(Format)),
        Option(name="page", help="Which page.", kind=INTEGER, least=1, most=10_000),
    ),
    "status": (),
    "settings": (
        Option(
            name="name",
            help="What to settle; without it, everything is shown.",
            choices=tuple((name, name) for name in ("manage", "zone", "top", "quiet", "daily", "alerts", "duplicates")),
        ),
        Option(name="value", help="How."),
    ),
    "history": (Option(name="topic", help="Only of this topic.", suggests="topic"),),
    "help": (Option(name="command", help="Which command.", suggests="command"),),
}


def tree() -> list[dict[str, Any]]:
    """Return the commands as Discord's bulk overwrite takes them."""
    groups: dict[str, list[dict[str, Any]]] = {}
    options: list[dict[str, Any]] = []
    for usage in TABLE:
        first, _, second = usage.words.partition(" ")
        if not second:
            options.append(_subcommand(first, usage))
            continue
        if first not in groups:
            groups[first] = []
            options.append(
                {"type": GROUP, "name": first, "description": f"Show, make and change a {first}.", "options": groups[first]}
            )
        groups[first].append(_subcommand(second, usage))
    everywhere = {"integration_types": [_SERVER_INSTALL], "contexts": [_IN_SERVER, _IN_DIRECT], "nsfw": False}
    return [
        {
            "type": CHAT,
            "name": ROOT,
            "description": "Your team's daily paper of papers.",
            "options": options,
            "default_member_permissions": None,
            **everywhere,
        },
        {"type": ON_MESSAGE, "name": FIND_SIMILAR, "default_member_permissions": None, **everywhere},
    ]


def fingerprint() -> str:
    """Return what changes when the commands do."""
    return hashlib.sha256(json.dumps(tree(), sort_keys=True).encode()).hexdigest()[:16]


def _subcommand(name: str, usage: Usage) -> dict[str, Any]:
    taken = sorted(OPTIONS[usage.words], key=lambda option: not option.required)
    described = cut(usage.help, _DESCRIPTION)
    return {"type": SUBCOMMAND, "name": name, "description": described, "options": [_option(each) for each in taken]}


def _option(option: Option) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": option.kind,
        "name": option.name,
        "description": option.help,
        "required": option.required,
    }
    if option.choices:
        made["choices"] = [{"name": name, "value": value} for name, value in option.choices]
    elif option.suggests:
        made["autocomplete"] = True
    whole = option.kind == INTEGER
    bounds = {"min_value": option.least, "max_value": option.most}
    return made | {name: int(bound) if whole else bound for name, bound in bounds.items() if bound is not None}
