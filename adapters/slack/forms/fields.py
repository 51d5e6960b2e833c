"""What forms in Slack are made of, and what a person said in one. Pure.

A field's block is named "<field>|<version>": with another version Slack forgets what was typed there, and shows the field's
own value anew. Limits: docs.slack.dev, "Block Kit" and "Views".
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.chat.forms import FormKind, FormRequest, form_carried
from adapters.slack.render.blocks import exact, literal
from adapters.text import clean, cut
from adapters.words import SpanKind, spans

View = dict[str, Any]
Block = dict[str, Any]
Said = str | tuple[str, ...]  # one value, or those that are ticked

TITLE, LABEL, HINT, OPTION, BUTTON, PLACEHOLDER = 24, 150, 150, 75, 75, 150  # characters
BLOCKS = 100
_INPUT = 3000  # characters that Slack takes as what stands in a text field


# Which form it is: what the button that opens it carries as its action, and the view as its callback.
FORM_IDS: Mapping[FormKind, str] = {
    FormKind.SUBSCRIPTION: "form:subscribe",
    FormKind.TOPIC: "form:topic",
    FormKind.FILTER: "form:filter",
    FormKind.SEARCH: "form:search",
}
_KINDS = {form_id: kind for kind, form_id in FORM_IDS.items()}


def form_of(form_id: str, carried: str = "") -> FormRequest:
    """Return the form that a button or a view names."""
    return form_carried(_KINDS[form_id], carried)


def button_row(block: str, *buttons: dict[str, Any]) -> Block:
    """Return a row of buttons."""
    return {"type": "actions", "block_id": block, "elements": list(buttons)}


def form_button(form: FormRequest, label: str) -> dict[str, Any]:
    """Return a button that opens the form."""
    button = {"type": "button", "action_id": FORM_IDS[form.kind], "text": plain_text(label, BUTTON)}
    return button | ({"value": form.carried} if form.carried else {})


def form_option(form: FormRequest, label: str) -> dict[str, Any]:
    """Return the entry of a menu that opens the form."""
    return {"text": plain_text(label, OPTION), "value": f"{FORM_IDS[form.kind]} {form.carried}".rstrip()}


def form_opened_by(value: str) -> FormRequest | None:
    """Return the form that an entry of a menu opens, None for one that opens none."""
    form_id, _, carried = value.partition(" ")
    return form_of(form_id, carried) if form_id in _KINDS else None


def form_row(form: FormRequest) -> tuple[Block, ...]:
    """Return what stands at the end of an answer, to open the form."""
    return (button_row("form:0", form_button(form, form.label)),)


# --- what a form shows


def plain_text(text: str, limit: int) -> dict[str, Any]:
    """Return plain text of at most so many characters."""
    return {"type": "plain_text", "text": cut(literal(clean(text)), limit) or "–", "emoji": False}


def option(value: str, label: str) -> dict[str, Any]:
    """Return one line of a list to choose from."""
    return {"text": plain_text(label, OPTION), "value": value}


def field(
    name: str, label: str, element: Mapping[str, Any], *, version: str = "", hint: str = "", optional: bool = True
) -> Block:
    """Return a field with its label; one that is `live`, or has a `dispatch_action_config`, is heard while it changes."""
    shown: dict[str, Any] = {**element, "action_id": name}
    live = shown.pop("live", False) or "dispatch_action_config" in shown
    block: Block = {
        "type": "input",
        "block_id": f"{name}|{version}",
        "label": plain_text(label, LABEL),
        "element": shown,
    }
    block |= {"optional": optional, "dispatch_action": bool(live)}
    return block | ({"hint": plain_text(hint, HINT)} if hint else {})


def text_input(text: str = "", *, multiline: bool = False, placeholder: str = "", longest: int = _INPUT) -> dict[str, Any]:
    """Return a text field with this text in it."""
    element: dict[str, Any] = {"type": "plain_text_input", "multiline": multiline, "max_length": longest}
    element |= {"initial_value": text[:longest]} if text else {}
    return element | ({"placeholder": plain_text(placeholder, PLACEHOLDER)} if placeholder else {})


def number_input(value: str, least: str, most: str, *, decimal: bool = False) -> dict[str, Any]:
    """Return a field for a number; "" for none."""
    element: dict[str, Any] = {"type": "number_input", "is_decimal_allowed": decimal, "min_value": least, "max_value": most}
    return element | ({"initial_value": value} if value else {})


def one_of(choices: Sequence[tuple[str, str]], chosen: str, kind: str = "radio_buttons") -> dict[str, Any]:
    """Return a list of (value, label) of which one is chosen; "" for none yet."""
    options = [option(*choice) for choice in choices]
    initial = next((each for each in options if each["value"] == chosen), None)
    return {"type": kind, "options": options} | ({"initial_option": initial} if initial else {})


def some_of(choices: Sequence[tuple[str, str]], chosen: Sequence[str], kind: str = "checkboxes") -> dict[str, Any]:
    """Return a list of (value, label) of which some are ticked."""
    options = [option(*choice) for choice in choices]
    initial = [each for value in chosen for each in options if each["value"] == value]  # in the order of what is chosen
    return {"type": kind, "options": options} | ({"initial_options": initial} if initial else {})


def search_select(chosen: str, label: str, placeholder: str, least: int = 0) -> dict[str, Any]:
    """Return a list that is asked for as the person types, from so many characters on."""
    element = {"type": "external_select", "min_query_length": least, "placeholder": plain_text(placeholder, PLACEHOLDER)}
    return element | ({"initial_option": option(chosen, label)} if chosen else {})


def note(name: str, text: str) -> Block:
    """Return a quiet line; what stands between *asterisks* is bold."""
    return {"type": "context", "block_id": f"{name}|", "elements": [mrkdwn(text)]}


def mrkdwn(text: str, limit: int = 2000) -> dict[str, Any]:
    """Return one sentence of ours as marked text: commands as code, strangers' words harmless."""
    marked = "".join(_MARKS[kind].format(exact(piece)) for piece, kind in spans(cut(clean(text), limit)))
    return {"type": "mrkdwn", "text": marked or "–", "verbatim": True}


_MARKS = {SpanKind.PLAIN: "{}", SpanKind.STRESSED: "*{}*", SpanKind.TYPED: "`{}`"}


def unmarked(text: str) -> str:
    """Return one sentence of ours as it is read where nothing can be marked."""
    return "".join(piece for piece, _ in spans(text))


def with_unique_ids(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks of several messages for one view, in which no two may have the same name."""
    return [
        {**block, "block_id": f"{block['block_id']}.{number}"} if "block_id" in block else block
        for number, block in enumerate(blocks)
    ]


def modal(kind: str, title: str, blocks: Sequence[Block], memory: Mapping[str, str], *, submit: str = "") -> View:
    """Return a view of this kind, that remembers something."""
    view: View = {
        "type": "modal",
        "callback_id": kind,
        "title": plain_text(title, TITLE),
        "close": plain_text("Cancel" if submit else "Close", TITLE),
        "blocks": list(blocks)[:BLOCKS],
        "private_metadata": json.dumps(memory, separators=(",", ":")),
    }
    return view | ({"submit": plain_text(submit, TITLE)} if submit else {})


def memory_of(view: Mapping[str, Any]) -> dict[str, str]:
    """Return what the view remembers."""
    return dict(json.loads(view.get("private_metadata") or "{}"))


_SENT = ("type", "callback_id", "title", "submit", "close", "blocks", "private_metadata")


def replace_block(view: Mapping[str, Any], block: Block) -> View:
    """Return the view as it can be sent again, with this block instead of the one of its name."""
    kept: View = {name: view[name] for name in _SENT if view.get(name)}
    kept["blocks"] = [block if each.get("block_id") == block["block_id"] else each for each in view["blocks"]]
    return kept


# --- what a person said in it


def entered_values(view: Mapping[str, Any]) -> dict[str, Said]:
    """Return what stands in each field now."""
    values = view.get("state", {}).get("values", {})
    return {_name(block): _value(element) for block, elements in values.items() for element in elements.values()}


def initial_values(view: Mapping[str, Any]) -> dict[str, Said]:
    """Return what stood in each field when the person was given the form."""
    inputs = (block for block in view["blocks"] if block["type"] == "input")
    return {_name(block["block_id"]): _value(block["element"], at_first=True) for block in inputs}


def block_of(view: Mapping[str, Any], name: str) -> str:
    """Return the name of the block of this field; the first field's where there is none of the name."""
    blocks = [str(block["block_id"]) for block in view["blocks"] if block["type"] == "input"]
    return next((each for each in blocks if _name(each) == name), blocks[0])


def _name(block: str) -> str:
    return block.partition("|")[0]


_NOW = ("selected_conversation", "selected_time", "value")
_AT_FIRST = ("initial_conversation", "initial_time", "initial_value")


def _value(element: Mapping[str, Any], *, at_first: bool = False) -> Said:
    """Return what stands in an element, now or at first."""
    chosen = "initial" if at_first else "selected"
    if several := element.get(f"{chosen}_options"):
        return tuple(each["value"] for each in several)
    if one := element.get(f"{chosen}_option"):
        return str(one["value"])
    if element["type"] in ("checkboxes", "multi_static_select"):
        return ()
    return next((str(element[name]) for name in (_AT_FIRST if at_first else _NOW) if element.get(name)), "")
