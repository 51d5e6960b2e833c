"""An answer about another channel than the one in which somebody asks: what one may do next is for that one. Pure."""

import re
from dataclasses import replace

from bot.commands import Command, read, write
from bot.commands.words import is_mail_place
from bot.models import Actor, Button, Reply, ReplyEntry, is_mail

_STRESSED = re.compile(r"\*([^*\n]+)\*")


def told_elsewhere(reply: Reply, there: Actor) -> Reply:
    """Return the answer to who acts in another place: theirs alone, as not everybody here may know of it."""
    entries = tuple(_entry(each, there) for each in reply.entries)
    return replace(
        reply,
        text=tuple(for_channel(each, there) for each in reply.text),
        next_steps=tuple(for_channel(each, there) for each in reply.next_steps),
        entries=entries,
        buttons=_buttons(reply.buttons, there),
        private=True,
    )


def for_channel(sentence: str, there: Actor) -> str:
    """Return a sentence of ours in which each command that takes a channel names this one."""
    place = there.place.removeprefix("#")
    if is_mail(there.channel):  # what is masked names nothing
        place = there.channel if "…" in place else f"email:{place}"
    return _STRESSED.sub(lambda found: f"*{placed_command(found[1], place)}*", sentence)


def _entry(entry: ReplyEntry, there: Actor) -> ReplyEntry:
    ours = entry.item is None  # the lines of an item stress words of its topic
    lines = tuple(for_channel(each, there) for each in entry.lines) if ours else entry.lines
    return replace(entry, lines=lines, buttons=_buttons(entry.buttons, there))


def _buttons(buttons: tuple[Button, ...], there: Actor) -> tuple[Button, ...]:
    return tuple(replace(each, command=placed_command(each.command, there.channel)) for each in buttons)


def placed_command(typed: str, channel: str) -> str:
    """Return a command for the place, where it takes one and names none."""
    asked = read(typed)
    if not isinstance(asked, Command) or asked.place:
        return typed
    if is_mail_place(channel) and not asked.usage.takes_mail:
        return typed
    placed = asked.placed(channel)
    return typed if placed == asked else write(placed)
