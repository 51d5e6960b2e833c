"""What a workspace settles for itself: who may manage, the usual time zone, how many entries, when it wants quiet."""

import difflib
from datetime import datetime

from bot.commands import Settings, write
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.insist import insist
from bot.handlers.lookup import check_may_manage, shown
from bot.handlers.mentioned import mentioning
from bot.handlers.registry import handles
from bot.handlers.settable import SETTINGS, Setting
from bot.models import Actor, Button, Change, Field, Preferences, Reply

_ALSO = {
    **dict.fromkeys(("permissions", "rights"), "manage"),
    **dict.fromkeys(("timezone", "tz"), "zone"),
    **dict.fromkeys(("entries", "limit"), "top"),
    **dict.fromkeys(("quiet-hours", "silence", "night", "do-not-disturb", "dnd"), "quiet"),
    **dict.fromkeys(("daily-entries", "per-day", "cap"), "daily"),
    **dict.fromkeys(("alert", "warnings"), "alerts"),
    **dict.fromkeys(("duplicate", "prefer-duplicate", "prefer-duplicates", "twice"), "duplicates"),
}
_OF_QUIET = ("quiet", "zone")  # what quiet hours hang on


@handles(Settings)
async def settings(context: HandlerContext, command: Settings, actor: Actor, now: datetime) -> Reply:
    """Show what the workspace settled, or settle one thing."""
    before = await context.store.preferences(actor.workspace)
    if not command.name.strip():
        return _naming(_shown(context, before, actor.channel), before)
    name, setting = _setting(command.name)
    if not command.value.strip():
        reply = Reply(
            title=setting.title,
            text=(_sentence(setting.tell(context, before, actor.channel)),),
            next_steps=(f"*{setting.example}* changes it, *settings {name} {setting.taken_back}* takes it back.",),
        )
        return _naming(reply, before)
    await _check(context, name, actor)
    return await insist(lambda: _change(context, (name, setting), _value(command.value), actor, now))


async def _change(context: HandlerContext, named: tuple[str, Setting], value: str, actor: Actor, now: datetime) -> Reply:
    """Settle one thing; raises Conflict when somebody settles something at the same time, which would be lost."""
    before = await context.store.preferences(actor.workspace)
    setting = named[1]
    if setting.takes_back(value.lower()):
        after = setting.unset(before, actor.channel)
    else:
        after = await setting.set(context, actor, before, value)
    return await _settled(context, named, (before, after), actor, now)


async def _settled(
    context: HandlerContext, settled: tuple[str, Setting], pair: tuple[Preferences, Preferences], actor: Actor, now: datetime
) -> Reply:
    (name, setting), (before, after) = settled, pair
    told = _sentence(setting.tell(context, after, actor.channel))
    if after == before:
        return _naming(Reply(title=f"{setting.title}: as before", text=(told,)), after)
    change = Change(
        workspace=actor.workspace,
        at=now,
        person=actor.person,
        what=f"settings {name}",
        before=setting.tell(context, before, ""),
        after=setting.tell(context, after, ""),
    )
    await context.store.save_preferences(actor.workspace, after, change, replaces=before)
    if name in _OF_QUIET:
        await context.ledger.release(
            now, workspace=actor.workspace
        )  # it may wait for the end of hours that are quiet no more
    undo = Button("Undo", write(Settings(name, setting.write(before, actor.channel) or setting.taken_back)))
    return _naming(Reply(title=f"Settled: {setting.title.lower()}", text=(told,), buttons=(undo,)), after)


def _naming(reply: Reply, preferences: Preferences) -> Reply:
    return mentioning(reply, channels=filter(None, (preferences.alerts, *preferences.prefer_duplicate)))


def _value(typed: str) -> str:
    """Return the value on one line, without the full stop that telephones put behind it."""
    return " ".join(typed.split()).rstrip(".,;!") or typed


def _shown(context: HandlerContext, preferences: Preferences, here: str) -> Reply:
    return Reply(
        title="Settings of this workspace",
        fields=tuple(Field(setting.title, setting.tell(context, preferences, here)) for setting in SETTINGS.values()),
        next_steps=tuple(f"*{setting.example}* changes it." for setting in SETTINGS.values()),
    )


def _setting(typed: str) -> tuple[str, Setting]:
    name = _ALSO.get(typed.strip().lower(), typed.strip().lower())
    if name not in SETTINGS:
        near = difflib.get_close_matches(name[:40], [*SETTINGS, *_ALSO], 1)
        hint = f"Did you mean {_ALSO.get(near[0], near[0])}?" if near else ""
        raise UsageError(f'There is no setting "{shown(typed)}"; there are {", ".join(SETTINGS)}.', hint=hint)
    return name, SETTINGS[name]


async def _check(context: HandlerContext, name: str, actor: Actor) -> None:
    if name == "manage" and not actor.may_administer:
        raise UsageError("Only administrators may say who manages topics and subscriptions.", hint="Ask one of them.")
    await check_may_manage(context, actor)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
