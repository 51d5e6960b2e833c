"""What a workspace settles for itself: who may manage, the usual time zone, how many entries, when it wants quiet."""

import asyncio
import difflib
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot import zones
from bot.commands import ChangeSettings, read_hours
from bot.commands.declaration import Choices
from bot.errors import DeliveryError, UsageError
from bot.handlers.context import HandlerContext, change_by, handles, no_followers, retry_on_conflict
from bot.handlers.wording.replies import button, excerpt, mentioning, one_line, read_number
from bot.models import MOST_ENTRIES, USUAL_AT_ONCE, Actor, Field, Layout, Preferences, Reply, is_mail
from bot.wording import some

_MOST_AT_ONCE = 50  # messages a day
_MOST_DAILY = 500  # entries a day: ten of the longest digests
_ALERTED_BY = "alerts"
_ALERTED = f"settings {_ALERTED_BY}"  # what the audit calls that setting
_NOT_TOLD = "in no channel, but in status and the log"
_WHO = {"anyone": "anyone", "everyone": "anyone", "all": "anyone", "admins": "admins", "admin": "admins"}
_UNSET = frozenset({"default", "none", "unset", "reset", "-"})  # as the operator's settings say
_OFF = frozenset({"off", "no", "never"})
_HERE = frozenset({"here", "this channel", "in this channel", "on", "yes"})
_A_DAY = re.compile(r"(?:up to |at most )?(\S+?)(?: entries)?(?: (?:a|per|each|every) day| daily|/day)?")


_USUAL = ("as the operator settled", "default")
_MANAGE = (("everybody who may write in the channel", "anyone"), ("who may manage the channel", "admins"), _USUAL)
_TOPS = (*((f"up to {number} entries", str(number)) for number in (3, 5, 7, 10, 12)), _USUAL)
_LAYOUTS = (
    ("a line or two each", "brief"),
    ("brief, and each in full in a thread", "thread"),
    ("the parts of each in the channel", "full"),
    _USUAL,
)
_QUIET = (
    ("nothing is posted at night", "22:00-07:00"),
    ("nothing is posted outside working hours", "18:00-08:00"),
    ("at any hour", "off"),
)
_DAILY = (
    *((f"up to {number} entries a day", str(number)) for number in (10, 20, 50)),
    ("as many as its digests have", "off"),
)
_AT_ONCE = (*((f"up to {number} messages a day", str(number)) for number in (3, 5, 10)), ("as is usual", "default"))
_ACTIVITY = (("counts, without names", "on"), ("what one saves is one's own", "off"))
_ALERTS = (("they are told in this channel", "here"), ("in status and the log alone", "off"))
_PUBLISH = (("to who follows this channel", "here"), ("not published from this channel", "off"))
_WEB = (("everybody who has the address may read this channel's", "public"), ("who may read the channel alone", "private"))
_DUPLICATES = (("in this channel rather twice than not at all", "here"), ("never sent again in this channel", "off"))


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it is for, how it is read off and into the preferences."""

    title: str
    example: str
    fields: tuple[str, ...]  # of the preferences, which hold it
    tell: Callable[[HandlerContext, Preferences, str], str]  # as one in this channel is told it; "": as anybody anywhere is
    set: Callable[
        [HandlerContext, Actor, Preferences, str], Awaitable[Preferences]
    ]  # raises UsageError for what it cannot be
    taken_back: str = "default"  # the value that unsets it; another stands for it where the operator settles nothing
    write_here: Callable[[Preferences, str], str] | None = None  # as `write`, where it is not just the field's value
    unset_here: Callable[[Preferences, str], Preferences] | None = None  # where it is a channel's own
    offers: Choices = ()  # values that complete it: (what it means, the value)

    def takes_back(self, value: str) -> bool:
        """Say whether this value unsets it."""
        return value in _UNSET or value == self.taken_back or (self.taken_back == "off" and value in _OFF)

    def unset(self, preferences: Preferences, here: str) -> Preferences:
        """Return the preferences without it; in this channel, where it is a channel's own."""
        if self.unset_here is not None:
            return self.unset_here(preferences, here)
        unset: dict[str, Any] = {name: getattr(Preferences(), name) for name in self.fields}
        return replace(preferences, **unset)

    def write(self, preferences: Preferences, here: str) -> str:
        """Return the value that sets it so again in this channel; "" where it is not set."""
        if self.write_here is not None:
            return self.write_here(preferences, here)
        return str(getattr(preferences, self.fields[0]) or "")


# --- who may, the zone, the length of a digest


def _who(context: HandlerContext, preferences: Preferences, _here: str) -> str:
    return preferences.manage or f"{context.manage}, as the operator settled"


async def _set_who(_context: HandlerContext, _actor: Actor, preferences: Preferences, value: str) -> Preferences:
    if value.lower() not in _WHO:
        raise UsageError(
            f'"{excerpt(value)}" is not who may manage: it is anyone or admins.', hint="*settings manage admins*"
        )
    return replace(preferences, manage=_WHO[value.lower()])


def _zone(context: HandlerContext, preferences: Preferences, _here: str) -> str:
    return preferences.zone or f"the zone of who subscribes, where it is known, else {context.zone or 'UTC'}"


async def _set_zone(_context: HandlerContext, _actor: Actor, preferences: Preferences, value: str) -> Preferences:
    return replace(preferences, zone=await asyncio.to_thread(zones.resolve, value))


def _top(context: HandlerContext, preferences: Preferences, _here: str) -> str:
    return (
        f"up to {preferences.entries}" if preferences.entries else f"up to {context.limits.entries}, as the operator settled"
    )


async def _set_top(_context: HandlerContext, _actor: Actor, preferences: Preferences, value: str) -> Preferences:
    if (entries := read_number(value, MOST_ENTRIES)) is None:
        raise UsageError(f"A digest has 1 to {MOST_ENTRIES} entries.", hint="*settings top 7*")
    return replace(preferences, entries=entries)


def _layout(context: HandlerContext, preferences: Preferences, _here: str) -> str:
    return preferences.layout.value if preferences.layout else f"{context.layouts.usual.value}, as the operator settled"


async def _set_layout(_context: HandlerContext, _actor: Actor, preferences: Preferences, value: str) -> Preferences:
    if value.lower() not in (each.value for each in Layout):
        raise UsageError("A digest is laid out as *brief*, *thread* or *full*.", hint="*settings layout full*")
    return replace(preferences, layout=Layout(value.lower()))


# --- when, and how much a day


def _quiet(_context: HandlerContext, preferences: Preferences, _here: str) -> str:
    begin, end = preferences.quiet_from, preferences.quiet_until
    if begin is None or end is None:
        return "none, what is due is posted at any hour"
    zone = f"in {preferences.zone}" if preferences.zone else "in the time zone of each subscription"
    return f"from {begin:%H:%M} to {end:%H:%M}{'' if begin < end else ' of the next day'}, {zone}"


async def _set_quiet(_context: HandlerContext, _actor: Actor, preferences: Preferences, value: str) -> Preferences:
    begin, end = read_hours(re.sub("(?i)^hours? ", "", value))
    return replace(preferences, quiet_from=begin, quiet_until=end)


def _hours(preferences: Preferences, _here: str) -> str:
    begin, end = preferences.quiet_from, preferences.quiet_until
    return "" if begin is None or end is None else f"{begin:%H:%M}-{end:%H:%M}"


def _daily(_context: HandlerContext, preferences: Preferences, _here: str) -> str:
    return f"up to {preferences.daily_entries}" if preferences.daily_entries else "as many as its digests have"


async def _set_daily(_context: HandlerContext, _actor: Actor, preferences: Preferences, value: str) -> Preferences:
    found = _A_DAY.fullmatch(value.lower())
    if found is None or (entries := read_number(found[1], _MOST_DAILY)) is None:
        raise UsageError(
            f"A channel gets 1 to {_MOST_DAILY} entries a day, or as many as its digests have.",
            hint="*settings daily 20*, or *settings daily off*",
        )
    return replace(preferences, daily_entries=entries)


def _at_once(_context: HandlerContext, preferences: Preferences, _here: str) -> str:
    if preferences.at_once_daily:
        return f"up to {preferences.at_once_daily} a day in a channel"
    return f"up to {USUAL_AT_ONCE} a day in a channel, as is usual"


async def _set_at_once(_context: HandlerContext, _actor: Actor, preferences: Preferences, value: str) -> Preferences:
    found = _A_DAY.fullmatch(value.lower())
    if found is None or (messages := read_number(found[1], _MOST_AT_ONCE)) is None:
        raise UsageError(
            f"A channel gets 1 to {_MOST_AT_ONCE} messages a day at once; what comes in besides waits for the next day.",
            hint=f"*settings at-once {USUAL_AT_ONCE}*",
        )
    return replace(preferences, at_once_daily=messages)


# --- the channels

_ON = frozenset({"on", "yes", "always", "count", "counts"})


def _activity(_context: HandlerContext, preferences: Preferences, _here: str) -> str:
    if preferences.activity:
        listed = "what somebody saves in a channel counts in its list, which *saved here* tells"
        return f"yes, counts without names: {listed}, and its digests tell how many said more or saved something"
    return "no, what one saves is one's own"


async def _set_activity(_context: HandlerContext, _actor: Actor, preferences: Preferences, value: str) -> Preferences:
    if value.lower() not in _ON:
        raise UsageError(f'"{excerpt(value)}" is not *on* or *off*.', hint="*settings activity on*")
    return replace(preferences, activity=True)


def _alerts(_context: HandlerContext, preferences: Preferences, here: str) -> str:
    return _channel(preferences.alerts, here) if preferences.alerts else _NOT_TOLD


async def _set_alerts(context: HandlerContext, actor: Actor, preferences: Preferences, value: str) -> Preferences:
    channel = actor.channel if value.lower() in _HERE else value
    if channel != actor.channel and channel not in await _known(context, actor.workspace):
        raise UsageError(
            f'"{excerpt(value)}" is not *here*: give the command in the channel it is for.', hint="*settings alerts here*"
        )
    if channel == actor.channel and (why := await context.obstacle(actor)):
        raise UsageError(why, hint="Then *settings alerts here* has them told here.")
    return replace(preferences, alerts=channel)


async def _known(context: HandlerContext, workspace: str) -> set[str]:
    """The channels that are surely the workspace's own; an identifier that anybody types may be of another one."""
    subscribed = await context.store.workspaces.subscriptions(workspace)
    changes = await context.store.workspaces.changes(workspace, about=_ALERTED)
    settled = {channel for each in changes for channel in (each.before, each.after)} - {_NOT_TOLD}
    return settled | {each.channel for each in subscribed if not is_mail(each.channel)}


def _twice(_context: HandlerContext, preferences: Preferences, here: str) -> str:
    channels = preferences.prefer_duplicate
    return _channels(channels, here) if channels else "in no channel, what may have been posted is not sent again"


async def _set_twice(_context: HandlerContext, actor: Actor, preferences: Preferences, value: str) -> Preferences:
    if value.lower() not in _HERE:
        raise UsageError(
            f'"{excerpt(value)}" is not *here* or *off*: give the command in the channel it is for.',
            hint="*settings duplicates here*",
        )
    return replace(preferences, prefer_duplicate=tuple(sorted({*preferences.prefer_duplicate, actor.channel})))


def _once(preferences: Preferences, here: str) -> Preferences:
    return replace(preferences, prefer_duplicate=tuple(each for each in preferences.prefer_duplicate if each != here))


def _publish(_context: HandlerContext, preferences: Preferences, here: str) -> str:
    return _channels(preferences.publish, here) if preferences.publish else "in no channel"


async def _set_publish(context: HandlerContext, actor: Actor, preferences: Preferences, value: str) -> Preferences:
    if why := await context.publishing(actor):
        raise UsageError(why, hint="It is settled in the announcement channel that it is for, or *in #CHANNEL* names that.")
    if value.lower() not in _HERE:
        raise UsageError(
            f'"{excerpt(value)}" is not *here* or *off*: give the command in the channel it is for.',
            hint="*settings publish here*",
        )
    return replace(preferences, publish=tuple(sorted({*preferences.publish, actor.channel})))


def _unpublished(preferences: Preferences, here: str) -> Preferences:
    return replace(preferences, publish=tuple(each for each in preferences.publish if each != here))


def _web(_context: HandlerContext, preferences: Preferences, here: str) -> str:
    return _channels(preferences.public, here) if preferences.public else "those of no channel"


_PUBLIC = frozenset({"public", "everybody", "everyone"})


async def _set_web(context: HandlerContext, actor: Actor, preferences: Preferences, value: str) -> Preferences:
    if value.lower() not in _PUBLIC:
        raise UsageError(
            f'"{excerpt(value)}" is neither public nor private: give the command in the channel it is for.',
            hint="*settings web public*",
        )
    if actor.channel not in await _open_to_all(context, actor):
        raise UsageError(
            "Only a channel that everybody here may read can be shown to everybody, and this one is not.",
            hint="*web* gives who is in it a link of their own.",
        )
    return replace(preferences, public=tuple(sorted({*preferences.public, actor.channel})))


async def _open_to_all(context: HandlerContext, actor: Actor) -> Collection[str]:
    try:
        return await context.channel_access.open_to_all(actor.workspace, [actor.channel])
    except DeliveryError as error:
        raise UsageError(
            "It cannot be told now whether everybody here may read this channel; nothing was changed.",
            hint="Please try again later.",
        ) from error


_NOT_SERVED = (
    "Nothing can be read in a browser here yet: whoever runs Broadsheet gives its pages an address, by the setting web.url, "
    "or writes them as files, by broadsheet site build."
)


def _private(preferences: Preferences, here: str) -> Preferences:
    return replace(preferences, public=tuple(each for each in preferences.public if each != here))


def _told_as_here(actor: Actor) -> str:
    """Return the channel that is "this channel" to who reads the answer; "" where another one is meant."""
    return "" if actor.place else actor.channel


def _channel(channel: str, here: str) -> str:
    return "this channel" if channel == here else "an address" if is_mail(channel) else channel


def _channels(channels: Sequence[str], here: str) -> str:
    ordered = sorted(channels, key=lambda each: (each != here, each))
    return some([_channel(each, here) for each in ordered])


SETTINGS: Mapping[str, Setting] = {
    "manage": Setting(
        "Who may change subscriptions, topics and filters",
        "settings manage admins",
        ("manage",),
        _who,
        _set_who,
        offers=_MANAGE,
    ),
    "zone": Setting("Time zone of new subscriptions", "settings zone Europe/Zurich", ("zone",), _zone, _set_zone),
    "top": Setting("Entries of a digest", "settings top 7", ("entries",), _top, _set_top, offers=_TOPS),
    "layout": Setting(
        "Layout of a digest whose subscription names none",
        "settings layout full",
        ("layout",),
        _layout,
        _set_layout,
        offers=_LAYOUTS,
    ),
    "quiet": Setting(
        "Quiet hours, in which nothing is posted",
        "settings quiet 22:00-07:00",
        ("quiet_from", "quiet_until"),
        _quiet,
        _set_quiet,
        "off",
        write_here=_hours,
        offers=_QUIET,
    ),
    "daily": Setting(
        "Entries that a channel gets in a day",
        "settings daily 20",
        ("daily_entries",),
        _daily,
        _set_daily,
        "off",
        offers=_DAILY,
    ),
    "at-once": Setting(
        "Messages of what is posted at once",
        "settings at-once 5",
        ("at_once_daily",),
        _at_once,
        _set_at_once,
        offers=_AT_ONCE,
    ),
    "activity": Setting(
        "Whether channels are told how many saved or wanted more of something there",
        "settings activity on",
        ("activity",),
        _activity,
        _set_activity,
        "off",
        write_here=lambda preferences, _here: "on" if preferences.activity else "",
        offers=_ACTIVITY,
    ),
    "alerts": Setting(
        "Where it is told what could not be posted",
        "settings alerts here",
        ("alerts",),
        _alerts,
        _set_alerts,
        "off",
        write_here=lambda preferences, here: "here" if preferences.alerts == here != "" else preferences.alerts,
        offers=_ALERTS,
    ),
    "duplicates": Setting(
        "Where a digest is rather seen twice than missed",
        "settings duplicates here",
        ("prefer_duplicate",),
        _twice,
        _set_twice,
        "off",
        write_here=lambda preferences, here: "here" if here in preferences.prefer_duplicate else "",
        unset_here=_once,
        offers=_DUPLICATES,
    ),
    "publish": Setting(
        "Where each digest is published to who follows the announcement channel",
        "settings publish here",
        ("publish",),
        _publish,
        _set_publish,
        "off",
        write_here=lambda preferences, here: "here" if here in preferences.publish else "",
        unset_here=_unpublished,
        offers=_PUBLISH,
    ),
    "web": Setting(
        "Whose digests everybody may read in a browser",
        "settings web public",
        ("public",),
        _web,
        _set_web,
        "private",
        write_here=lambda preferences, here: "public" if here in preferences.public else "",
        unset_here=_private,
        offers=_WEB,
    ),
}

_ALSO = {
    **dict.fromkeys(("permissions", "rights"), "manage"),
    **dict.fromkeys(("timezone", "tz"), "zone"),
    **dict.fromkeys(("entries", "limit"), "top"),
    **dict.fromkeys(("quiet-hours", "silence", "night", "do-not-disturb", "dnd"), "quiet"),
    **dict.fromkeys(("daily-entries", "per-day", "cap"), "daily"),
    **dict.fromkeys(("atonce", "at_once", "instant"), "at-once"),
    **dict.fromkeys(("counts", "saves", "reading-list"), "activity"),
    **dict.fromkeys(("alert", "warnings"), "alerts"),
    **dict.fromkeys(("crosspost", "followers", "announce", "publishing"), "publish"),
    **dict.fromkeys(("public", "browser", "website"), "web"),
    **dict.fromkeys(("duplicate", "prefer-duplicate", "prefer-duplicates", "twice"), "duplicates"),
}
_OF_FOLLOWERS = "publish"  # told where channels can be followed; elsewhere it is refused with what keeps it from being
_OF_PAGES = "web"  # told where there are pages
_OF_AN_ADDRESS = "duplicates"  # the others are the whole workspace's, or a channel's alone
_OF_QUIET = ("quiet", "zone", "daily", "at-once")  # what waits for them may have its turn


@handles(ChangeSettings)
async def settings(context: HandlerContext, command: ChangeSettings, actor: Actor, now: datetime) -> Reply:
    """Show what the workspace settled, or settle one thing."""
    before = await context.store.workspaces.preferences(actor.workspace)
    if not command.name.strip():
        return _naming(_shown(context, before, actor), before)
    name, setting = _setting(command.name)
    if is_mail(actor.channel) and name != _OF_AN_ADDRESS:
        raise UsageError(_not_by_mail(context, name), hint=f"*settings {_OF_AN_ADDRESS} here* can be settled for one.")
    if not command.value.strip():
        reply = Reply(
            title=setting.title,
            text=(_sentence(setting.tell(context, before, _told_as_here(actor))),),
            next_steps=(f"*{setting.example}* changes it, *settings {name} {setting.taken_back}* takes it back.",),
        )
        return _naming(reply, before)
    await _check(context, name, actor)
    return await retry_on_conflict(lambda: _change(context, (name, setting), _value(command.value), actor, now))


async def _change(context: HandlerContext, named: tuple[str, Setting], value: str, actor: Actor, now: datetime) -> Reply:
    """Settle one thing; raises Conflict when somebody settles something at the same time, which would be lost."""
    before = await context.store.workspaces.preferences(actor.workspace)
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
    told = _sentence(setting.tell(context, after, _told_as_here(actor)))
    if after == before:
        return _naming(Reply(title=f"{setting.title}: as before", text=(told,)), after)
    change = change_by(actor, f"settings {name}", setting.tell(context, before, ""), setting.tell(context, after, ""), now)
    await context.store.workspaces.save_preferences(actor.workspace, after, change, replaces=before)
    if name in _OF_QUIET:
        await context.store.ledger.release(
            now, workspace=actor.workspace
        )  # it may wait for the end of hours that are quiet no more, or of a day that may have more
    undo = button("Undo", ChangeSettings(name, setting.write(before, actor.channel) or setting.taken_back))
    is_unseen = name == _OF_PAGES and not context.web_url and actor.channel in after.public
    text = (told, _NOT_SERVED) if is_unseen else (told,)
    return _naming(Reply(title=f"Settled: {setting.title.lower()}", text=text, buttons=(undo,)), after)


def _naming(reply: Reply, preferences: Preferences) -> Reply:
    named = (preferences.alerts, *preferences.prefer_duplicate, *preferences.publish, *preferences.public)
    return mentioning(reply, channels=filter(None, named))


def _value(typed: str) -> str:
    """Return the value on one line, without the full stop that telephones put behind it."""
    return one_line(typed).rstrip(".,;!") or typed


def _not_by_mail(context: HandlerContext, name: str) -> str:
    """Return why a setting is not one of an address."""
    title = SETTINGS[name].title
    if name == _ALERTED_BY:
        return "What could not be posted is told in a channel, not by e-mail."
    if name in (_OF_FOLLOWERS, _OF_PAGES):
        return f'"{title}" is settled for a channel, not for an address.'
    return f'"{title}" is settled for the whole {context.workspace_word}, not for one address.'


def _shown(context: HandlerContext, preferences: Preferences, actor: Actor) -> Reply:
    """Return what is settled: of an address the one thing that can be for it."""
    hidden = {
        _OF_FOLLOWERS: not preferences.publish and context.publishing is no_followers,
        _OF_PAGES: not preferences.public and not context.web_url,
    }
    names = [name for name in SETTINGS if not hidden.get(name)]
    title = f"Settings of this {context.workspace_word}"
    if is_mail(actor.channel):
        names, title = [_OF_AN_ADDRESS], "Settings of this address"
    told = [SETTINGS[name] for name in names]
    return Reply(
        title=title,
        fields=tuple(Field(setting.title, setting.tell(context, preferences, _told_as_here(actor))) for setting in told),
        next_steps=tuple(f"*{setting.example}* changes it." for setting in told),
    )


def _setting(typed: str) -> tuple[str, Setting]:
    name = _ALSO.get(typed.strip().lower(), typed.strip().lower())
    if name not in SETTINGS:
        near = difflib.get_close_matches(name[:40], [*SETTINGS, *_ALSO], 1)
        hint = f"Did you mean {_ALSO.get(near[0], near[0])}?" if near else ""
        raise UsageError(f'There is no setting "{excerpt(typed)}"; there are {", ".join(SETTINGS)}.', hint=hint)
    return name, SETTINGS[name]


async def _check(context: HandlerContext, name: str, actor: Actor) -> None:
    if name == "manage" and not actor.may_administer:
        raise UsageError("Only administrators may say who manages topics and subscriptions.", hint="Ask one of them.")
    if name == _OF_PAGES and not actor.may_administer:
        raise UsageError("Only administrators may say what everybody may read in a browser.", hint="Ask one of them.")
    await context.check_may_manage(actor)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
