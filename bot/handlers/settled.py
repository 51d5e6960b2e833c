"""What a workspace settles for itself: who may manage, the usual time zone, how many entries."""

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot import zones
from bot.commands import MOST_ENTRIES, Settings, write
from bot.errors import UsageError
from bot.handlers.desk import Desk
from bot.handlers.insist import insist
from bot.handlers.lookup import check_may_manage, numbered, shown
from bot.models import Actor, Button, Change, Field, Preferences, Reply

_ALSO = {"permissions": "manage", "rights": "manage", "timezone": "zone", "tz": "zone", "entries": "top", "limit": "top"}
_WHO = {"anyone": "anyone", "everyone": "anyone", "all": "anyone", "admins": "admins", "admin": "admins"}
_UNSET = frozenset({"default", "none", "unset", "reset", "-"})  # as the operator's settings say


@dataclass(frozen=True, slots=True)
class _Setting:
    """One setting: what it is for, how it is read off and into the preferences."""

    title: str
    example: str
    tell: Callable[[Desk, Preferences], str]
    set: Callable[[Preferences, str], Awaitable[Preferences]]
    unset: Callable[[Preferences], Preferences]


async def settings(desk: Desk, command: Settings, actor: Actor, now: datetime) -> Reply:
    """Show what the workspace settled, or settle one thing."""
    before = await desk.store.preferences(actor.workspace)
    if not command.name.strip():
        return _shown(desk, before)
    name, setting = _setting(command.name)
    if not command.value.strip():
        return Reply(
            title=setting.title,
            text=(_sentence(setting.tell(desk, before)),),
            next_steps=(f"*{setting.example}* changes it, *settings {name} default* takes it back.",),
        )
    await _check(desk, name, actor)
    return await insist(lambda: _change(desk, (name, setting), " ".join(command.value.split()), actor, now))


async def _change(desk: Desk, named: tuple[str, _Setting], value: str, actor: Actor, now: datetime) -> Reply:
    """Settle one thing; raises Conflict when somebody settles something at the same time, which would be lost."""
    before = await desk.store.preferences(actor.workspace)
    setting = named[1]
    after = setting.unset(before) if value.lower() in _UNSET else await setting.set(before, value)
    return await _settled(desk, named, (before, after), actor, now)


async def _settled(
    desk: Desk, settled: tuple[str, _Setting], pair: tuple[Preferences, Preferences], actor: Actor, now: datetime
) -> Reply:
    (name, setting), (before, after) = settled, pair
    told, was = setting.tell(desk, after), setting.tell(desk, before)
    if after == before:
        return Reply(title=f"{setting.title} stays", text=(_sentence(told),))
    what = f"settings {name}"
    change = Change(workspace=actor.workspace, at=now, person=actor.person, what=what, before=was, after=told)
    await desk.store.save_preferences(actor.workspace, after, change, replaces=before)
    return Reply(
        title=f"Settled: {setting.title.lower()}",
        text=(_sentence(told),),
        buttons=(Button("Undo", write(Settings(name, _raw(name, before) or "default"))),),
    )


def _raw(name: str, preferences: Preferences) -> str:
    values = {"manage": preferences.manage, "zone": preferences.zone, "top": str(preferences.entries or "")}
    return values[name]


def _shown(desk: Desk, preferences: Preferences) -> Reply:
    return Reply(
        title="Settings of this workspace",
        fields=tuple(Field(setting.title, setting.tell(desk, preferences)) for setting in _SETTINGS.values()),
        next_steps=tuple(f"*{setting.example}* changes it." for setting in _SETTINGS.values()),
    )


def _setting(typed: str) -> tuple[str, _Setting]:
    name = _ALSO.get(typed.strip().lower(), typed.strip().lower())
    if name not in _SETTINGS:
        near = difflib.get_close_matches(name[:40], [*_SETTINGS, *_ALSO], 1)
        hint = f"Did you mean {_ALSO.get(near[0], near[0])}?" if near else ""
        raise UsageError(f'There is no setting "{shown(typed)}"; there are {", ".join(_SETTINGS)}.', hint=hint)
    return name, _SETTINGS[name]


async def _check(desk: Desk, name: str, actor: Actor) -> None:
    if name == "manage" and not actor.may_administer:
        raise UsageError("Only administrators may say who manages topics and subscriptions.", hint="Ask one of them.")
    await check_may_manage(desk, actor)


# --- the settings


def _who(desk: Desk, preferences: Preferences) -> str:
    return preferences.manage or f"{desk.manage}, as the operator settled"


async def _set_who(preferences: Preferences, value: str) -> Preferences:
    if value.lower() not in _WHO:
        raise UsageError(f'"{shown(value)}" is not who may manage: it is anyone or admins.', hint="*settings manage admins*")
    return replace(preferences, manage=_WHO[value.lower()])


def _zone(desk: Desk, preferences: Preferences) -> str:
    return preferences.zone or "the zone of who subscribes, where it is known, else UTC"


async def _set_zone(preferences: Preferences, value: str) -> Preferences:
    return replace(preferences, zone=await asyncio.to_thread(zones.resolve, value))


def _top(desk: Desk, preferences: Preferences) -> str:
    return f"up to {preferences.entries}" if preferences.entries else f"up to {desk.limits.entries}, as the operator settled"


async def _set_top(preferences: Preferences, value: str) -> Preferences:
    if (entries := numbered(value, MOST_ENTRIES)) is None:
        raise UsageError(f"A digest has 1 to {MOST_ENTRIES} entries.", hint="*settings top 7*")
    return replace(preferences, entries=entries)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


_SETTINGS: Mapping[str, _Setting] = {
    "manage": _Setting(
        "Who may change subscriptions, topics and filters",
        "settings manage admins",
        _who,
        _set_who,
        lambda preferences: replace(preferences, manage=""),
    ),
    "zone": _Setting(
        "Time zone of new subscriptions",
        "settings zone Europe/Zurich",
        _zone,
        _set_zone,
        lambda preferences: replace(preferences, zone=""),
    ),
    "top": _Setting(
        "Entries of a digest",
        "settings top 7",
        _top,
        _set_top,
        lambda preferences: replace(preferences, entries=None),
    ),
}
