"""Whether blocks are acceptable: slack_sdk's own validators, and the limits that docs.slack.dev/reference/block-kit gives.

The limit over all blocks of a message is documented nowhere: about 13,200 characters (slackapi/bolt-js#2509).
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from tests.fakes.slack.state import Json, texts
from tests.fakes.slack.wrong import Wrong

MOST = {"message": 50, "modal": 100, "home": 100}
ALL_TOGETHER = 13_200
TEXT = 40_000
_BLOCKS = frozenset(
    {
        "section",
        "divider",
        "image",
        "actions",
        "context",
        "input",
        "header",
        "rich_text",
        "markdown",
        "video",
        "file",
        "table",
    }
)
_NOT_IN = {"message": {"input"}, "modal": {"markdown", "file", "table"}, "home": {"file", "table"}}
_PLAIN_ONLY = frozenset({"title", "submit", "close", "label", "placeholder", "hint"})
_BUTTON_STYLES = (None, "primary", "danger")
_ACTIONS = frozenset(
    {
        *("button", "overflow", "checkboxes", "radio_buttons", "datepicker", "timepicker", "datetimepicker"),
        *("static_select", "external_select", "users_select", "conversations_select", "channels_select"),
        *(f"multi_{kind}_select" for kind in ("static", "external", "users", "conversations", "channels")),
        *("plain_text_input", "email_text_input", "url_text_input", "number_input", "rich_text_input"),
    }
)
# type → field → most characters of it, of a text object or a plain string
_LENGTHS: Mapping[str, Mapping[str, int]] = {
    "section": {"text": 3000},
    "header": {"text": 150},
    "image": {"image_url": 3000, "alt_text": 2000, "title": 2000},
    "input": {"label": 2000, "hint": 2000},
    "markdown": {"text": 12_000},
    "button": {"text": 75, "value": 2000, "url": 3000, "accessibility_label": 75},
    "option": {"text": 75, "value": 150, "description": 75, "url": 3000},
    "option_group": {"label": 75},
    "confirm": {"title": 100, "text": 300, "confirm": 30, "deny": 30},
    "modal": {"title": 24, "submit": 24, "close": 24, "private_metadata": 3000, "callback_id": 255, "external_id": 255},
    "home": {"private_metadata": 3000, "callback_id": 255, "external_id": 255},
}
# type → field → (fewest, most) members of a list
_MEMBERS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "section": {"fields": (1, 10)},
    "actions": {"elements": (1, 25)},
    "context": {"elements": (1, 10)},
    "static_select": {"options": (1, 100), "option_groups": (1, 100)},
    "multi_static_select": {"options": (1, 100), "option_groups": (1, 100)},
    "option_group": {"options": (1, 100)},
    "overflow": {"options": (2, 5)},
    "checkboxes": {"options": (1, 10)},
    "radio_buttons": {"options": (1, 10)},
    "table": {"rows": (1, 100)},
}
_FORMATS = {
    "initial_time": re.compile(r"([01]\d|2[0-3]):[0-5]\d"),
    "initial_date": re.compile(r"\d{4}-\d\d-\d\d"),
    "user_id": re.compile(r"[UW][A-Z0-9]+"),
    "channel_id": re.compile(r"[CDG][A-Z0-9]+"),
}


def check_message(text: str, blocks: Sequence[Json]) -> None:
    """Raise Wrong where a message may not be posted like this."""
    if len(text) > TEXT:
        raise Wrong("msg_too_long")
    _refuse("invalid_blocks", [*_surface(blocks, "message")])
    if sum(map(len, texts(blocks))) > ALL_TOGETHER:
        raise Wrong("msg_blocks_too_long")


def check_view(view: Json) -> None:
    """Raise Wrong where a view may not be shown like this."""
    kind = view.get("type", "")
    if kind not in ("modal", "home"):
        raise Wrong("invalid_arguments", told=["[ERROR] unsupported type [json-pointer:/view/type]"])
    told = [*_surface(view.get("blocks", []), kind), *_within(view, kind, "/view")]
    inputs = any(block.get("type") == "input" for block in view.get("blocks", []))
    if kind == "modal" and not view.get("title", {}).get("text"):
        told.append(_said("missing required field: title", "/view"))
    if kind == "modal" and inputs and not view.get("submit"):
        told.append(_said("a modal with inputs needs submit", "/view"))
    told += [
        _said("must be plain_text", f"/view/{name}")
        for name in ("title", "submit", "close")
        if view.get(name) and view[name].get("type") != "plain_text"
    ]
    if len(json.dumps(view)) > 250_000:
        raise Wrong("view_too_large")
    _refuse("invalid_arguments", told)


def _refuse(error: str, told: Sequence[str]) -> None:
    if told:
        raise Wrong(error, told=told)


def _said(what: str, where: str) -> str:
    return f"[ERROR] {what} [json-pointer:{where}]"


def _surface(blocks: object, kind: str) -> Iterator[str]:
    if not isinstance(blocks, Sequence) or isinstance(blocks, str):
        yield _said("must be an array", "/blocks")
        return
    if len(blocks) > MOST[kind]:
        yield _said(f"no more than {MOST[kind]} items allowed", "/blocks")
    for number, block in enumerate(blocks):
        where = f"/blocks/{number}"
        if not isinstance(block, dict) or block.get("type") not in _BLOCKS - _NOT_IN[kind]:
            yield _said("unsupported block", where)
            continue
        yield from _validated(block, where)
        yield from _node(block, where)
    yield from _repeated(blocks, "block_id", "/blocks")
    for number, block in enumerate(blocks):
        yield from _repeated(block, "action_id", f"/blocks/{number}")


def _repeated(node: object, name: str, where: str) -> Iterator[str]:
    for value, times in Counter(_named(node, name)).items():
        if times > 1:
            yield _said(f"{name} {value!r} is not unique", where)


def _validated(block: Json, where: str) -> Iterator[str]:
    """Ask slack_sdk."""
    logger = logging.getLogger("slack_sdk.models.blocks.blocks")
    disabled, logger.disabled = logger.disabled, True
    try:
        parsed = Block.parse(dict(block))
        if parsed is not None:
            parsed.validate_json()
    except (SlackObjectFormationError, TypeError, ValueError, KeyError) as error:
        yield _said(str(error), where)
    finally:
        logger.disabled = disabled


def _node(node: object, where: str, name: str = "") -> Iterator[str]:
    """Look at a block, an element or an object, and everything in it."""
    if isinstance(node, Mapping):
        kind = str(node.get("type", ""))
        if kind in ("mrkdwn", "plain_text"):
            yield from _text_object(node, where, name)
            return
        kind = _kind(node, kind, name)
        yield from _within(node, kind, where)
        yield from _own(node, kind, where)
        for each, value in node.items():
            yield from _node(value, f"{where}/{each}", each)
    elif isinstance(node, list | tuple):
        for number, each in enumerate(node):
            yield from _node(each, f"{where}/{number}", name)


def _kind(node: Mapping[str, object], kind: str, name: str) -> str:
    """Return the type of what has none."""
    named = {"confirm": "confirm", "options": "option", "initial_option": "option", "initial_options": "option"}
    return kind or named.get(name, "option_group" if name == "option_groups" else "")


def _text_object(node: Mapping[str, object], where: str, name: str) -> Iterator[str]:
    text = node.get("text")
    if not isinstance(text, str) or not text.strip():
        yield _said("must be more than 0 characters", where)
        return
    most = {"fields": 2000, "placeholder": 150}.get(name, 3000)
    if len(text) > most:
        yield _said(f"must be less than {most + 1} characters", where)
    if name in _PLAIN_ONLY and node["type"] != "plain_text":
        yield _said("must be plain_text", where)
    if node["type"] == "plain_text" and "verbatim" in node:
        yield _said("verbatim is for mrkdwn alone", where)


def _within(node: Mapping[str, object], kind: str, where: str) -> Iterator[str]:
    for name, most in _LENGTHS.get(kind, {}).items():
        value = node.get(name)
        text = value.get("text", "") if isinstance(value, Mapping) else value
        if isinstance(text, str) and len(text) > most:
            yield _said(f"must be less than {most + 1} characters", f"{where}/{name}")
    for name, (fewest, most) in _MEMBERS.get(kind, {}).items():
        members = node.get(name)
        if isinstance(members, Sequence) and not fewest <= len(members) <= most:
            yield _said(f"must have {fewest} to {most} items", f"{where}/{name}")
    for name in ("block_id", "action_id"):
        if len(str(node.get(name, ""))) > 255:
            yield _said("must be less than 256 characters", f"{where}/{name}")


def _own(node: Mapping[str, object], kind: str, where: str) -> Iterator[str]:
    """Rules of single types."""
    if kind == "section" and not (node.get("text") or node.get("fields")):
        yield _said("a section needs text or fields", where)
    if kind == "button" and (node.get("style") not in _BUTTON_STYLES or not node.get("text")):
        yield _said("a button needs a text, and primary, danger or no style", where)
    if kind == "actions":
        elements = node.get("elements")
        for each in elements if isinstance(elements, Sequence) else ():
            if not isinstance(each, Mapping) or each.get("type") not in _ACTIONS:
                yield _said("unsupported element", where)
    if kind in _ACTIONS and not node.get("action_id") and kind not in ("button", "overflow"):
        yield _said("missing required field: action_id", where)
    for name, form in _FORMATS.items():
        value = node.get(name)
        if value is not None and not form.fullmatch(str(value)):
            yield _said(f"must be like {form.pattern}", f"{where}/{name}")
    yield from _address(node, kind, where)
    yield from _chosen(node, kind, where)


def _address(node: Mapping[str, object], kind: str, where: str) -> Iterator[str]:
    url = node.get("url", node.get("image_url"))
    if url is not None and not re.match(r"(https?|mailto|slack):", str(url)):
        yield _said("invalid url", where)


def _chosen(node: Mapping[str, object], kind: str, where: str) -> Iterator[str]:
    """What is chosen at first must be one of the options, exactly."""
    if kind not in ("static_select", "multi_static_select", "radio_buttons", "checkboxes"):
        return
    offered = list(_options(node))
    first = node.get("initial_options", [node["initial_option"]] if "initial_option" in node else [])
    if (
        not isinstance(first, Sequence)
        or any(each not in offered for each in first)
        or ("initial_options" in node and not first)
    ):
        yield _said("what is chosen at first must be one of the options", where)
    values = [each.get("value") for each in offered]
    if len(set(values)) != len(values):
        yield _said("values of options must be unique", where)


def _options(node: Mapping[str, object]) -> Iterator[Json]:
    options, groups = node.get("options", []), node.get("option_groups", [])
    assert isinstance(options, list)
    assert isinstance(groups, list)
    yield from options
    for group in groups:
        yield from group["options"]


def _named(node: object, name: str) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get(name), str):
            yield node[name]
        for value in node.values():
            yield from _named(value, name)
    elif isinstance(node, list | tuple):
        for each in node:
            yield from _named(each, name)
