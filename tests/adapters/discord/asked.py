"""A command as a person would choose it from Discord's options: the inverse of bot.commands.Command.chosen."""

from dataclasses import fields
from typing import Any

from adapters.discord.install.command_tree import GROUP, PLACES, SUBCOMMAND, kind_of, path
from bot.commands import Command, Subscribe, Usual
from bot.commands.words import mail_place

_NAMES = {"kind": "only", "everywhere": "all", "origin": "from", "form": "format", "former": "from"}
_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def values_of(command: Command) -> dict[str, Any]:
    """Return what was chosen, by option; an address has an option of its own."""
    how, address = mail_place(command.place)
    if how:
        return values_of(command.placed("")) | {how: address}
    if isinstance(command, Subscribe):
        return _subscribe(command)
    names = {option.name for option in command.usage.options}
    found: dict[str, Any] = {}
    for each in fields(command):
        name = _NAMES.get(each.name, each.name)
        name = "topic" if name == "name" and "name" not in names else name
        value = getattr(command, each.name)
        if name in names and value is not None and value is not False and value != "":
            found[name] = getattr(value, "value", value)
    return found


def _subscribe(command: Subscribe) -> dict[str, Any]:
    found: dict[str, Any] = {"topic": command.topic}
    if command.weekdays is not None:
        found["days"] = ",".join(_WEEK[day] for day in command.weekdays)
    if command.month_day is not None:
        found["days"] = f"monthly on {command.month_day}"
    if command.at_once:
        found["days"] = "at once"
    if command.at is not None:
        found["at"] = f"{command.at:%H:%M}"
    said: dict[str, Any] = {"zone": command.zone, "tag": command.tag, "filter": command.filter}
    said["channel"] = command.channel
    numbers = {"entries": command.entries, "min_score": command.min_score, "layout": command.layout}
    said |= {name: value for name, value in numbers.items() if value is not Usual.USUAL}
    said["as_usual"] = " ".join(name for name, value in numbers.items() if value is Usual.USUAL)
    if command.always is not None:
        said["when_empty"] = "always" if command.always else "quiet"
    return found | {name: value for name, value in said.items() if value not in (None, "")}


def data_of(command: Command) -> dict[str, Any]:
    """Return what Discord sends of it."""
    words = PLACES.get(command.usage.words, command.usage.words)
    kinds = {option.name: kind_of(option) for option in command.usage.options}
    options: list[dict[str, Any]] = [
        {"type": kinds[name], "name": name, "value": value} for name, value in values_of(command).items()
    ]
    first, _, second = words.partition(" ")
    inner = {"type": SUBCOMMAND, "name": second or first, "options": options}
    outer = {"type": GROUP, "name": first, "options": [inner]} if second else inner
    root = path(command.usage).partition(" ")[0]
    return {"id": "1", "name": root, "type": 1, "options": [outer]}
