"""What Discord demands of application commands beyond its OpenAPI description (interactions/application-commands)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fakes.discord.description import Flaw, Where

_NAME = re.compile(r"[-_'\w]{1,32}")  # besides letters and digits of every script, the marks of Devanagari and Thai
_LARGEST, _OPTIONS, _CHOICES, _COMMANDS = 8000, 25, 25, 100
_TYPED: dict[int, type | tuple[type, ...]] = {3: str, 4: int, 10: (int, float)}
SUBCOMMAND, GROUP = 1, 2
_DEEPEST = 2


def commands_flaws(commands: Sequence[Mapping[str, Any]]) -> list[Flaw]:
    """Return what is wrong with the commands of one scope."""
    found = [flaw for at, each in enumerate(commands) for flaw in command_flaws(each, (at,))]
    names = Counter((each.get("type") or 1, each.get("name")) for each in commands)
    found += [((), f"Application command names must be unique: {name[1]}") for name, many in names.items() if many > 1]
    kinds = Counter(each.get("type") or 1 for each in commands)
    if kinds[1] > _COMMANDS or kinds[2] > 5 or kinds[3] > 5:
        found.append(((), "Maximum number of application commands reached"))
    return found


def command_flaws(command: Mapping[str, Any], where: Where = ()) -> list[Flaw]:
    """Return what is wrong with one command."""
    if (command.get("type") or 1) != 1:
        return [
            ((*where, name), "Context menu commands have none.") for name in ("description", "options") if command.get(name)
        ]
    found = [*_named(command, where), *_options(command, where, 0)]
    if size(command) > _LARGEST:
        found.append((where, f"Command exceeds maximum size ({_LARGEST})"))
    return found


def size(command: Mapping[str, Any]) -> int:
    """Return the characters of names, descriptions and values, each in its longest translation."""
    own = sum(_longest(command, name) for name in ("name", "description"))
    choices = sum(_longest(each, "name") + len(str(each["value"])) for each in command.get("choices") or [])
    return own + choices + sum(map(size, command.get("options") or []))


def _longest(command: Mapping[str, Any], name: str) -> int:
    others = command.get(f"{name}_localizations") or {}
    return max(len(each) for each in (command.get(name) or "", *others.values()))


def _named(thing: Mapping[str, Any], where: Where) -> Iterator[Flaw]:
    for name in (thing.get("name") or "", *(thing.get("name_localizations") or {}).values()):
        if not _NAME.fullmatch(name) or name != name.lower() or _has_odd(name):
            yield (*where, "name"), f"{name!r}: String value did not match validation regex."
    if not str(thing.get("description") or "").strip():
        yield (*where, "description"), "This field is required"


def _has_odd(name: str) -> bool:
    return any(unicodedata.category(each)[0] not in "LNM" and each not in "-_'" for each in name)


def _options(command: Mapping[str, Any], where: Where, depth: int) -> Iterator[Flaw]:
    options = command.get("options") or []
    if len(options) > _OPTIONS:
        yield (*where, "options"), f"Must be {_OPTIONS} or fewer in length."
    names = Counter(each.get("name") for each in options)
    if any(many > 1 for many in names.values()):
        yield (*where, "options"), "Option names must be unique"
    nested = [each.get("type") in (SUBCOMMAND, GROUP) for each in options]
    if any(nested) and not all(nested):
        yield (*where, "options"), "Sub-command and sub-command group option types are mutually exclusive to all other types"
    required = [bool(each.get("required")) for each in options]
    if required != sorted(required, reverse=True):
        yield (*where, "options"), "Required options must be placed before non-required options"
    for at, each in enumerate(options):
        place = (*where, "options", at)
        yield from _named(each, place)
        if each.get("type") in (SUBCOMMAND, GROUP):
            yield from _inner(each, place, depth)
        else:
            yield from _value(each, place)


def _inner(option: Mapping[str, Any], where: Where, depth: int) -> Iterator[Flaw]:
    if option["type"] == GROUP and (
        depth > 0 or any(each.get("type") != SUBCOMMAND for each in option.get("options") or [])
    ):
        yield where, "A group stands in a command and holds sub-commands alone"
    if option["type"] == SUBCOMMAND and any(each.get("type") in (SUBCOMMAND, GROUP) for each in option.get("options") or []):
        yield where, "A sub-command holds no sub-commands"
    if depth < _DEEPEST:
        yield from _options(option, where, depth + 1)


def _value(option: Mapping[str, Any], where: Where) -> Iterator[Flaw]:
    choices = option.get("choices") or []
    if choices and option.get("autocomplete"):
        yield (*where, "autocomplete"), "Autocomplete cannot be enabled when choices are present"
    if option.get("autocomplete") and option.get("type") not in _TYPED:
        yield (*where, "autocomplete"), "This type of option has no autocomplete"
    yield from (((*where, "choices", *at), what) for at, what in choice_flaws(choices, option.get("type", 3)))


def choice_flaws(choices: Sequence[Mapping[str, Any]], kind: int) -> Iterator[Flaw]:
    """Yield what is wrong with choices for an option of that type."""
    if len(choices) > _CHOICES:
        yield (), f"Must be {_CHOICES} or fewer in length."
    for name in ("name", "value"):
        if any(many > 1 for many in Counter(each.get(name) for each in choices).values()):
            yield (), f"Two choices have the same {name}"
    for at, each in enumerate(choices):
        if not 1 <= len(str(each.get("name") or "").strip()) <= 100:
            yield (at, "name"), "Must be between 1 and 100 in length."
        if not isinstance(each.get("value"), _TYPED.get(kind, object)) or len(str(each.get("value"))) > 100:
            yield (at, "value"), "Not a value of the option's type, or longer than 100 characters"
