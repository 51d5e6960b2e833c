"""What a button of ours carries: the command itself, or the key of one that is too long. Pure; nothing is kept in memory.

c:more arxiv:2603.28342 for gpu-systems       the command
k:q83vEt0aQ1qB7Jt2mXy9Zw                      the key of a command that is kept in the store
d:<24 characters>:c:…                         besides, the delivery whose message it stands in: its marker
o:topic:gpu-systems                           the form of a topic, a subscription or a filter
r:topic:q83vEt0aQ1qB7Jt2mXy9Zw                the form with what was said in it, which is kept in the store
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adapters.discord.render.limits import CUSTOM_ID, LABEL, NONCE, OPTION, OPTIONS, length
from adapters.forms import CHANGE, Form, Kind
from adapters.text import clean, cut
from bot.models import text_key

_MARK = len("d::") + NONCE
_ROOM = CUSTOM_ID - _MARK
_READ = re.compile(r"(?:d:(?P<delivery>[0-9a-z]{1,25}):)?(?:c:(?P<command>.+)|k:(?P<key>[0-9A-Za-z_-]{22}))", re.DOTALL)
_OPENS = re.compile(rf"o:(?P<of>{'|'.join(Kind)}):(?P<topic>.*)|r:(?P<again>{'|'.join(Kind)}):(?P<kept>.*)", re.DOTALL)
_GO_ON = "Go on in the form"
BUTTON, SELECT = 2, 3  # types of components
SECONDARY, DANGER = 2, 4


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a pressed button says; one of `command` and `key` is ""."""

    delivery: str
    command: str
    key: str


def custom_id(command: str) -> tuple[str, str]:
    """Return what the button carries, and the text that must be kept for it in the store, "" for none."""
    if length(command) + 2 <= _ROOM and command.isprintable():
        return f"c:{command}", ""
    return f"k:{text_key(command)}", command


def button(label: str, command: str, *, danger: bool = False) -> tuple[dict[str, Any], str]:
    """Return a button, and the text to keep for it, "" for none."""
    carried, kept = custom_id(command)
    shown = cut(clean(label), LABEL, length) or cut(clean(command), LABEL, length) or "…"
    return {"type": BUTTON, "style": DANGER if danger else SECONDARY, "label": shown, "custom_id": carried}, kept


def choice(about: str, offers: Sequence[tuple[str, str]]) -> tuple[dict[str, Any], list[str]]:
    """Return a select of (label, command) pairs under what it is about, and the texts to keep for it.

    Two commands alike are one; Discord takes 25 options.
    """
    carried = {custom_id(command)[0]: (label, command) for label, command in reversed(offers)}
    options = [
        {"label": cut(clean(label), OPTION, length) or "…", "value": value}
        for value, (label, _) in reversed(carried.items())
    ]
    kept = [text for text in (custom_id(command)[1] for _, command in offers) if text]
    return {"type": SELECT, "custom_id": "s:choice", "placeholder": about, "options": options[:OPTIONS]}, kept


def opener(form: Form) -> dict[str, Any]:
    """Return a button that opens the form, with what was said in it where that is kept."""
    label, carried = (_GO_ON, f"r:{form.of}:{form.kept}") if form.kept else (CHANGE, f"o:{form.of}:{form.topic}")
    return {"type": BUTTON, "style": SECONDARY, "label": label, "custom_id": carried[:CUSTOM_ID]}


def opened(custom_id: str) -> Form | None:
    """Return the form that a button opens; None for a button that opens none."""
    found = _OPENS.fullmatch(custom_id)
    if found is None:
        return None
    return Form(Kind(found["again"]), kept=found["kept"]) if found["again"] else Form(Kind(found["of"]), found["topic"])


def pressed(custom_id: str) -> Pressed | None:
    """Read what a button carries; None for one that is none of ours."""
    found = _READ.fullmatch(custom_id)
    if found is None:
        return None
    return Pressed(found["delivery"] or "", found["command"] or "", found["key"] or "")


def marked(custom_id: str, delivery: str) -> str:
    """Return it with the delivery's marker."""
    return f"d:{delivery}:{custom_id}"
