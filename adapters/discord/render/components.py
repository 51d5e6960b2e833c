"""The pieces of a message in Discord's components: texts, rules, rows of buttons, and how much room they take. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from adapters.chat.forms import FormKind, FormRequest, form_carried
from adapters.discord.render.limits import ALT, CONTENT, CUSTOM_ID, LABEL, NONCE, OPTION, OPTIONS, PLACEHOLDER, ROW, length
from adapters.text import clean, cut
from bot.models import Attachment, Button, text_key

IS_COMPONENTS_V2 = 1 << 15
SUPPRESS_EMBEDS = 1 << 2
NO_MENTIONS: dict[str, list[str]] = {"parse": []}

_MARK = len("d::") + NONCE
_ROOM = CUSTOM_ID - _MARK
_READ = re.compile(r"(?:d:(?P<delivery>[0-9a-z]{1,25}):)?(?:c:(?P<command>.+)|k:(?P<key>[0-9A-Za-z_-]{22}))", re.DOTALL)
_MARKED = re.compile(r"d:([0-9a-z]{1,25}):")
_FORMS = f"{FormKind.SUBSCRIPTION}|{FormKind.TOPIC}|{FormKind.FILTER}"
_OPENS = re.compile(rf"o:(?P<of>{_FORMS}):(?P<carried>.*)|r:(?P<again>{_FORMS}):(?P<kept>.*)", re.DOTALL)
_GO_ON = "Go on in the form"
BUTTON, SELECT = 2, 3  # types of components
SECONDARY, DANGER = 2, 4


@dataclass(frozen=True, slots=True)
class ButtonValue:
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


def select_menu(about: str, offers: Sequence[tuple[str, str]], number: int = 1) -> tuple[dict[str, Any], list[str]]:
    """Return a select of (label, command) pairs under what it is about, and the texts to keep for it.

    Two commands alike are one; Discord takes 25 options. `number` tells the selects of a message apart.
    """
    carried = {custom_id(command)[0]: (label, command) for label, command in reversed(offers)}
    options = [
        {"label": cut(clean(label), OPTION, length) or "…", "value": value}
        for value, (label, _) in reversed(carried.items())
    ]
    kept = [text for text in (custom_id(command)[1] for _, command in offers) if text]
    name = "s:choice" if number == 1 else f"s:choice:{number}"
    return {
        "type": SELECT,
        "custom_id": name,
        "placeholder": cut(about, PLACEHOLDER, length),
        "options": options[:OPTIONS],
    }, kept


def form_button(form: FormRequest) -> dict[str, Any]:
    """Return a button that opens the form, with what was said in it where that is kept."""
    label, carried = (_GO_ON, f"r:{form.kind}:{form.kept}") if form.kept else (form.label, f"o:{form.kind}:{form.carried}")
    return {"type": BUTTON, "style": SECONDARY, "label": label, "custom_id": carried[:CUSTOM_ID]}


def form_opened_by(custom_id: str) -> FormRequest | None:
    """Return the form that a button opens; None for a button that opens none."""
    found = _OPENS.fullmatch(custom_id)
    if found is None:
        return None
    return (
        FormRequest(FormKind(found["again"]), kept=found["kept"])
        if found["again"]
        else form_carried(FormKind(found["of"]), found["carried"])
    )


def read_button(custom_id: str) -> ButtonValue | None:
    """Read what a button carries; None for one that is none of ours."""
    found = _READ.fullmatch(custom_id)
    if found is None:
        return None
    return ButtonValue(found["delivery"] or "", found["command"] or "", found["key"] or "")


def with_delivery(custom_id: str, delivery: str) -> str:
    """Return it with the delivery's marker."""
    return f"d:{delivery}:{custom_id}"


Component = dict[str, Any]

# The types of components.
_ROW, _SECTION, _TEXT, _GALLERY, _FILE, _RULE, _CONTAINER = 1, 9, 10, 12, 13, 14, 17
_ACCENT = 0xB3261E  # the red of the terminal's numbers, as the bar at the side


@dataclass(frozen=True, slots=True)
class ComponentGroup:
    """What belongs together and is not parted between two messages: an entry with its buttons."""

    components: tuple[Component, ...]
    keep: tuple[str, ...] = ()  # texts for the store, too long for the buttons
    keys: tuple[str, ...] = ()  # of the items that it shows

    @property
    def texts(self) -> int:
        """How many characters of text it takes."""
        return sum(length(each["content"]) for each in nested(self.components) if each["type"] == _TEXT)

    @property
    def count(self) -> int:
        """How many components it takes."""
        return sum(1 for _ in nested(self.components))


def text(content: str) -> Component:
    """Return a text."""
    return {"type": _TEXT, "content": content}


def rule() -> Component:
    """Return a line between two texts."""
    return {"type": _RULE, "divider": True, "spacing": 1}


def beside(content: str, one: Button) -> ComponentGroup:
    """Return a text with a button at its side."""
    made, kept = button(one.label, one.command, danger=one.danger)
    section = {"type": _SECTION, "components": [text(content)], "accessory": made}
    return ComponentGroup((section,), (kept,) if kept else ())


def container(components: Sequence[Component]) -> Component:
    """Return the card that everything of a message stands on; of two buttons that do the same, the first."""
    return {"type": _CONTAINER, "accent_color": _ACCENT, "components": list(_each_once(components))}


def _each_once(components: Iterable[Component]) -> Iterator[Component]:
    met: set[str] = set()
    for each in components:
        if each["type"] != _ROW:
            yield each
            continue
        kept = [one for one in each["components"] if one.get("custom_id") not in met]
        met.update(one["custom_id"] for one in kept if "custom_id" in one)
        if kept:
            yield {**each, "components": kept}


def file(name: str) -> Component:
    """Return the place of an attached file."""
    return {"type": _FILE, "file": {"url": f"attachment://{name}"}}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that is sent with a message, and what it shows for who does not see it."""

    name: str
    png: bytes
    alt: str


def gallery(picture: Picture) -> Component:
    """Return the place of an attached picture."""
    shown = {"media": {"url": f"attachment://{picture.name}"}, "description": cut(clean(picture.alt), ALT, length) or "…"}
    return {"type": _GALLERY, "items": [shown]}


def shown_in(components: Iterable[Component], pictures: Iterable[Picture]) -> tuple[Picture, ...]:
    """Return those of the pictures that have a place among the components."""
    places = {item["media"]["url"] for each in nested(components) for item in each.get("items", ())}
    return tuple(each for each in pictures if f"attachment://{each.name}" in places)


def rows(buttons: Iterable[Button], form: FormRequest | None = None) -> ComponentGroup:
    """Return rows of five buttons at most and about as many in each; two alike are one. The last one opens the form."""
    made = [button(each.label, each.command, danger=each.danger) for each in buttons if each.command.strip()]
    unique = list({each["custom_id"]: (each, kept) for each, kept in reversed(made)}.values())[::-1]
    shown = [each for each, _ in unique]
    shown += [form_button(form)] if form else []
    many = ceil(len(shown) / ceil(len(shown) / ROW)) if shown else ROW
    lines = [{"type": _ROW, "components": shown[start : start + many]} for start in range(0, len(shown), many)]
    return ComponentGroup(tuple(lines), tuple(kept for _, kept in unique if kept))


def select(about: str, offers: Sequence[tuple[str, str]], number: int = 1) -> ComponentGroup:
    """Return a row with a select of (label, command) pairs, the message's first or that of this number; nothing for none."""
    if not offers:
        return ComponentGroup(())
    made, kept = select_menu(about, offers, number)
    return ComponentGroup(({"type": _ROW, "components": [made]},), tuple(kept))


def joined(*pieces: ComponentGroup) -> ComponentGroup:
    """Return several pieces as one."""
    return ComponentGroup(
        tuple(each for piece in pieces for each in piece.components),
        tuple(dict.fromkeys(each for piece in pieces for each in piece.keep)),
        tuple(dict.fromkeys(each for piece in pieces for each in piece.keys)),
    )


def fill_messages(pieces: Iterable[ComponentGroup], texts: int, count: int) -> Iterator[list[ComponentGroup]]:
    """Fill one message after the other, each with at most so many characters and components."""
    sheet: list[ComponentGroup] = []
    for piece in pieces:
        together = (*sheet, piece)
        if sheet and (sum(each.texts for each in together) > texts or sum(each.count for each in together) > count):
            yield sheet
            sheet = []
        sheet.append(piece)
    yield sheet


def nested(components: Iterable[Component]) -> Iterator[Component]:
    """Yield every component, those that stand in others too, in reading order."""
    for each in components:
        yield each
        yield from nested(each.get("components", ()))
        yield from nested([each["accessory"]] if "accessory" in each else ())


def delivery_of(carried: str) -> str:
    """Return the delivery whose marker a button or select carries, "" for none."""
    found = _MARKED.match(carried)
    return found[1] if found else ""


def custom_ids(components: Iterable[Component]) -> Iterator[Component]:
    """Yield every component that carries something, in reading order."""
    return (each for each in nested(components) if "custom_id" in each)


# --- whole messages


@dataclass(frozen=True, slots=True)
class DiscordMessage:
    """One message: its components, a plain text that says as much as 2,000 characters can, and what goes with it."""

    components: tuple[Component, ...]
    plain: str
    keep: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()  # of the items, by entry
    attachment: Attachment | None = None
    pictures: tuple[Picture, ...] = ()
    hangs: bool = False  # it belongs in a thread of the first message

    def body(self) -> dict[str, Any]:
        """Return the fields of the message."""
        return {"components": list(self.components), "flags": IS_COMPONENTS_V2, "allowed_mentions": NO_MENTIONS}

    def plain_body(self) -> dict[str, Any]:
        """Return the fields of the same message without components."""
        return {"content": self.plain, "flags": SUPPRESS_EMBEDS, "allowed_mentions": NO_MENTIONS}


def headline(piece: ComponentGroup) -> str:
    """Return the first line of a piece's text."""
    return next((each["content"].split("\n")[0] for each in piece.components if "content" in each), "")


def plain_text(lines: Iterable[str]) -> str:
    """Return as many of the lines as a plain message takes."""
    kept: list[str] = []
    for line in filter(None, lines):
        if sum(map(length, kept)) + len(kept) + length(line) > CONTENT:
            break
        kept.append(line)
    return "\n".join(kept) or "…"
