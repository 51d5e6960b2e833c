"""What Discord demands of messages and forms beyond its OpenAPI description.

From its documentation (resources/message, components/reference, interactions), and where that is silent from what libraries
found out: 4,000 characters over all texts of a message of components (docs.jda.wiki, TextDisplay).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.discord.description import Flaw, Where
from tests.fakes.discord.things import V2, parts_of

_CONTENT, _EMBEDS, _TEXTS, _PARTS, _ROWS, _ROW, _OPTIONS = 2000, 6000, 4000, 40, 5, 5, 25
_SELECTS = frozenset({3, 5, 6, 7, 8})
_OF_V2 = frozenset({9, 10, 11, 12, 13, 14, 17})
_FORM_PARTS = frozenset({1, 10, 18})
_LINK, _PREMIUM = 5, 6


def message_flaws(body: Mapping[str, Any], *, flags: int | None = None) -> list[Flaw]:
    """Return what is wrong with a message; `flags` are those it has already, when it is edited."""
    components = body.get("components") or []
    if (flags if flags is not None else body.get("flags") or 0) & V2:
        found = list(_v2(body, components))
    else:
        found = [*_plain(body), *_rows(components)]
    found += _embeds(body.get("embeds") or [])
    return found + list(_interactive(components, ("components",)))


def is_empty(body: Mapping[str, Any]) -> bool:
    """Whether there is nothing in the message."""
    parts = ("embeds", "components", "attachments", "sticker_ids", "poll", "message_reference")
    return not str(body.get("content") or "").strip() and not any(body.get(each) for each in parts)


def merged(embeds: list[dict[str, Any]]) -> list[Flaw]:
    """Return which embeds vanish: those with the address of one before them become one with it."""
    seen: set[str] = set()
    found: list[Flaw] = []
    for at, each in enumerate(embeds):
        if each.get("url") in seen:
            found.append((("embeds", at, "url"), "An embed before it has the same url; this one is not shown."))
        seen.add(each.get("url") or f"{at}")
    return found


def form_flaws(data: Mapping[str, Any]) -> list[Flaw]:
    """Return what is wrong with a form, called modal by Discord."""
    parts = data.get("components") or []
    found: list[Flaw] = []
    if not 1 <= len(parts) <= _ROWS:
        found.append((("components",), "Must have between 1 and 5 components."))
    for at, each in enumerate(parts):
        if each.get("type") not in _FORM_PARTS:
            found.append((("components", at), "This component cannot stand in a form."))
    if not str(data.get("title") or "").strip():
        found.append((("title",), "This field is required"))
    for each in parts_of(parts):
        value = each.get("value")
        if (
            each.get("type") == 4
            and value
            and not (each.get("min_length") or 0) <= len(value) <= (each.get("max_length") or 4000)
        ):
            found.append(
                (("components",), f"The text that stands in {each['custom_id']} is shorter or longer than it may be.")
            )
    return found + list(_interactive(parts, ("components",)))


def _v2(body: Mapping[str, Any], components: list[dict[str, Any]]) -> Iterator[Flaw]:
    for name in ("content", "embeds", "sticker_ids", "poll"):
        if body.get(name):
            yield (name,), "The message is made of components (IS_COMPONENTS_V2): this cannot be used."
    parts = parts_of(components)
    if len(parts) > _PARTS:
        yield ("components",), f"{len(parts)} components; at most {_PARTS}, nested ones included."
    texts = [str(each.get("content") or "") for each in parts if each.get("type") == 10]
    if sum(map(len, texts)) > _TEXTS:
        yield ("components",), f"{sum(map(len, texts))} characters in all texts; at most {_TEXTS}."
    if not all(each.strip() for each in texts):
        yield ("components",), "A text display is empty."


def _plain(body: Mapping[str, Any]) -> Iterator[Flaw]:
    content = body.get("content") or ""
    if len(content) > _CONTENT:
        yield ("content",), f"Must be {_CONTENT} or fewer in length."
    for at, each in enumerate(body.get("components") or []):
        if each.get("type") in _OF_V2:
            yield ("components", at), "Only with the flag IS_COMPONENTS_V2."


def _embeds(embeds: list[dict[str, Any]]) -> Iterator[Flaw]:
    sizes = [_size(each) for each in embeds]
    if sum(sizes) > _EMBEDS:
        yield ("embeds",), f"Embed size exceeds maximum size of {_EMBEDS}"
    for at, each in enumerate(embeds):
        for number, one in enumerate(each.get("fields") or []):
            for name in ("name", "value"):
                if not str(one.get(name) or "").strip():
                    yield ("embeds", at, "fields", number, name), "This field is required"
        url = each.get("url")
        if url and not url.startswith(("http://", "https://")):
            yield ("embeds", at, "url"), "Scheme must be one of ('http', 'https')."


def _size(embed: Mapping[str, Any]) -> int:
    fields = [one.get(name) for one in embed.get("fields") or [] for name in ("name", "value")]
    parts = [embed.get("title"), embed.get("description"), *fields]
    parts += [(embed.get("footer") or {}).get("text"), (embed.get("author") or {}).get("name")]
    return sum(len(str(each).strip()) for each in parts if each)


def _rows(components: list[dict[str, Any]]) -> Iterator[Flaw]:
    if len(components) > _ROWS:
        yield ("components",), f"Must be {_ROWS} or fewer in length."


def _interactive(components: list[dict[str, Any]], where: Where) -> Iterator[Flaw]:
    parts = parts_of(components)
    names = Counter(each["custom_id"] for each in parts if each.get("custom_id"))
    for name, many in names.items():
        if many > 1:
            yield where, f"Component custom id cannot be duplicated: {name!r}"
    numbers = Counter(each["id"] for each in parts if each.get("id"))
    if any(many > 1 for many in numbers.values()):
        yield where, "Component id cannot be duplicated"
    for each in parts:
        check = {1: _row, 2: _button}.get(each.get("type", 0), _select if each.get("type") in _SELECTS else None)
        if check is not None:
            yield from ((where, what) for what in check(each))


def _row(row: Mapping[str, Any]) -> Iterator[str]:
    kinds = [each.get("type") for each in row.get("components") or []]
    if not kinds or len(kinds) > _ROW:
        yield "A row has between 1 and 5 components."
    if len(kinds) > 1 and any(each in _SELECTS or each == 4 for each in kinds):
        yield "A select or a text input has its row for itself."


def _button(button: Mapping[str, Any]) -> Iterator[str]:
    style = button.get("style")
    label = str(button.get("label") or "")
    if style == _LINK and (not button.get("url") or button.get("custom_id")):
        yield f"The link button {label!r} needs a url and no custom_id."
    if style not in (_LINK, _PREMIUM) and (not button.get("custom_id") or button.get("url")):
        yield f"The button {label!r} needs a custom_id and no url."
    if style != _PREMIUM and not label.strip() and not button.get("emoji"):
        yield "A button needs a label or an emoji."


def _select(select: Mapping[str, Any]) -> Iterator[str]:
    name, options = select.get("custom_id"), select.get("options") or []
    if select.get("type") == 3 and not 1 <= len(options) <= _OPTIONS:
        yield f"The select {name!r} has {len(options)} options; between 1 and {_OPTIONS} are needed."
    values = Counter(each.get("value") for each in options)
    if any(many > 1 for many in values.values()):
        yield f"The options of the select {name!r} have a value in common."
    least, most = select.get("min_values"), select.get("max_values")
    if options and not (1 if least is None else least) <= (1 if most is None else most) <= len(options):
        yield f"The select {name!r} asks for more values than it has."
    if sum(1 for each in options if each.get("default")) > (1 if most is None else most):
        yield f"More options of {name!r} are chosen beforehand than may be chosen."
