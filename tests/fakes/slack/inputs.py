"""What people type and choose in a view: Slack's `state.values`."""

from collections.abc import Iterator, Mapping, Sequence

from tests.fakes.slack.state import Json

# type of element → the field of its state, and of what stands in it at first
_SINGLE = {
    "plain_text_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "static_select": ("selected_option", "initial_option"),
    "external_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "checkboxes": ("selected_options", "initial_options"),
    "multi_static_select": ("selected_options", "initial_options"),
    "multi_external_select": ("selected_options", "initial_options"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "users_select": ("selected_user", "initial_user"),
    "channels_select": ("selected_channel", "initial_channel"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "multi_users_select": ("selected_users", "initial_users"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
}
_LISTS = frozenset({"checkboxes", *(kind for kind in _SINGLE if kind.startswith("multi_"))})


def elements(blocks: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    """Yield every (block, element) that keeps a value."""
    for block in blocks:
        for each in _within(block):
            yield block, each


def _within(block: Json) -> Iterator[Json]:
    found = [block.get("element"), block.get("accessory"), *block.get("elements", [])]
    yield from (each for each in found if isinstance(each, dict) and each.get("type") in _SINGLE)


def first_values(blocks: Sequence[Json]) -> Json:
    """Return the state as it is before anybody typed."""
    values: Json = {}
    for block, element in elements(blocks):
        field, first = _SINGLE[element["type"]]
        nothing: list[Json] | None = [] if element["type"] in _LISTS else None
        values.setdefault(block["block_id"], {})[element["action_id"]] = {
            "type": element["type"],
            field: element.get(first, nothing),
        }
    return values


def label(block: Json, element: Json) -> str:
    """Return what a person would call it: the label, the section's text, or the placeholder."""
    for named in (block.get("label"), block.get("text"), element.get("placeholder")):
        if named:
            return str(named["text"])
    return str(element["action_id"])


def found(blocks: Sequence[Json], what: str) -> tuple[Json, Json]:
    """Return the (block, element) of that label, action_id or block_id; raises KeyError."""
    every = list(elements(blocks))
    for block, element in every:
        if what in (element["action_id"], block["block_id"], label(block, element)):
            return block, element
    raise KeyError(f"{what!r} is none of {[label(*each) for each in every]}")


def state(element: Json, value: object) -> Json:
    """Return the state of an element in which somebody put this; options by their label or value, or whole."""
    kind = element["type"]
    field, _ = _SINGLE[kind]
    if field == "selected_option":
        return {"type": kind, field: None if value is None else _option(element, value)}
    if field == "selected_options":
        assert isinstance(value, Sequence)
        return {"type": kind, field: [_option(element, each) for each in value]}
    if field == "value" and isinstance(value, str) and not value:
        value = None  # Slack gives an empty text as none
    longest = element.get("max_length")
    if longest is not None and len(str(value or "")) > longest:
        raise ValueError(f"nobody can type more than {longest} characters there")
    return {"type": kind, field: value}


def is_empty(kept: Json) -> bool:
    """Say whether nothing stands there."""
    return all(not value for name, value in kept.items() if name != "type")


def _option(element: Json, value: object) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    groups = element.get("option_groups", [])
    offered = [*element.get("options", []), *(each for group in groups for each in group["options"])]
    for each in offered:
        if value in (each["value"], each["text"]["text"]):
            return dict(each)
    raise KeyError(f"{value!r} is none of {[each['text']['text'] for each in offered]}")
