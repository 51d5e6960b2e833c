"""The form that subscribes a channel: form to view, and what a person said in it back to a form. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import time
from typing import Any

from adapters.slack.forms.fields import (
    Block,
    Said,
    View,
    field,
    line,
    modal,
    note,
    number,
    one_of,
    searched,
    some_of,
)
from bot.commands.forms import SubscribeForm
from bot.models import MOST_ENTRIES
from bot.wording import DAYS

KIND = "form:subscribe"
TITLE = "Subscribe a channel"
_DAYS = tuple((str(day), name) for day, name in enumerate(DAYS))
_LAYOUTS = (("full", "Full: four parts of each entry"), ("compact", "Compact: one paragraph each"))
_EMPTY = (("quiet", "Stay quiet"), ("always", "Say that there is nothing"))
_LONGEST = 2000  # characters of a query


def view_of(form: SubscribeForm | None, channel: str, memory: Mapping[str, str]) -> View:
    """Return the view of the form; of None while no topic is chosen.

    Its fields are the subscription's of this channel to this topic: with another of either, they are shown anew.
    """
    blocks = [_topic(form), _channel(channel)]
    if form is None:
        return modal(KIND, TITLE, blocks, memory, submit="Next")
    version = f"{channel}:{form.topic}"
    if form.subscribed:
        blocks.append(
            note("already", "The channel subscribes to this topic: what stands here is how, and you can change it.")
        )
    blocks += [_with(version, *each) for each in _fields(form)]
    return modal(KIND, TITLE, blocks, memory, submit="Save" if form.subscribed else "Subscribe")


def _topic(form: SubscribeForm | None) -> Block:
    chosen = (form.topic, f"{form.title} ({form.topic})") if form else ("", "")
    return field("topic", "Topic", searched(*chosen, placeholder="Type a few letters") | {"live": True}, optional=False)


def _channel(channel: str) -> Block:
    """The channels and direct messages that the person sees; through its response_url also one we are not in is answered."""
    element: dict[str, Any] = {"type": "conversations_select", "response_url_enabled": True, "live": True}
    element |= {"initial_conversation": channel} if channel else {"default_to_current_conversation": True}
    element["filter"] = {"include": ["public", "private", "im"], "exclude_bot_users": False}
    return field("channel", "Channel", element, optional=False)


_Field = tuple[str, str, dict[str, Any], dict[str, Any]]


def _with(version: str, name: str, label: str, element: dict[str, Any], more: dict[str, Any]) -> Block:
    return field(name, label, element, version=version, **more)


def _fields(form: SubscribeForm) -> tuple[_Field, ...]:
    month_day = str(form.month_day) if form.month_day else ""
    least = "" if form.min_score is None else f"{form.min_score:g}"
    at: dict[str, Any] = {"type": "timepicker", "initial_time": f"{form.at:%H:%M}"}
    zone = searched(form.zone, form.zone.replace("_", " "), "A city or a zone", least=2)
    return (
        ("days", "Days", some_of(_DAYS, [str(day) for day in form.weekdays]), {}),
        ("month_day", "Or once a month, on day", number(month_day, "1", "31"), {"hint": "Instead of days of the week."}),
        ("at", "At", at, {"optional": False}),
        ("zone", "Time zone", zone, {"optional": False}),
        (
            "entries",
            "Entries at most",
            number(str(form.entries or ""), "1", str(MOST_ENTRIES)),
            {"hint": "Empty: the usual."},
        ),
        ("min", "Least score", number(least, "0", "1", decimal=True), {"hint": "From 0 to 1. Empty: as the topic says."}),
        ("layout", "Layout", one_of(_LAYOUTS, "compact" if form.compact else "full"), {"optional": False}),
        ("empty", "When there is nothing", one_of(_EMPTY, "always" if form.always else "quiet"), {"optional": False}),
        (
            "filter",
            "Filter",
            line(form.filter, placeholder="has:code -survey", longest=_LONGEST),
            {"hint": "What else an item must satisfy to be posted here; /digest help query says how."},
        ),
    )


def is_whole(said: Mapping[str, Said]) -> bool:
    """Say whether all the fields were there, not the choice of a topic alone."""
    return "days" in said


def form_said(said: Mapping[str, Said], like: SubscribeForm) -> SubscribeForm:
    """Return the form with what is said in its fields."""
    month_day = int(_text(said["month_day"]) or 0)
    return replace(
        like,
        weekdays=() if month_day else tuple(sorted(int(day) for day in said["days"])),
        month_day=month_day,
        at=time.fromisoformat(_text(said["at"])),
        zone=_text(said["zone"]),
        entries=int(_text(said["entries"])) if said["entries"] else None,
        min_score=float(_text(said["min"])) if said["min"] else None,
        compact=said["layout"] == "compact",
        always=said["empty"] == "always",
        filter=" ".join(_text(said["filter"]).split()),
    )


def _text(said: Said) -> str:
    return said if isinstance(said, str) else ""
