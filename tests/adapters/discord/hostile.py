"""What Discord would read as more than text, judged apart from the code that escapes it."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

# docs.discord.com/developers/reference#message-formatting
_LIVE = re.compile(
    r"<@[!&]?\d+>|<#\d+>|</[\w -]+:\d+>|<a?:\w+:\d+>|<t:-?\d+(?::[tTdDfFR])?>|<id:\w+>|@everyone|@here", re.IGNORECASE
)


def live(text: str) -> list[str]:
    """Return what would mention somebody, or be shown as something else than was written."""
    return _LIVE.findall(text)


def contents(components: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield every text of a message's components."""
    return (each["content"] for each in _all(components) if "content" in each)


def count(components: Iterable[dict[str, Any]]) -> int:
    """Return how many components there are."""
    return sum(1 for _ in _all(components))


def faults(body: dict[str, Any]) -> list[str]:
    """Return what Discord would not take in a message of components, or would make live."""
    components = body["components"]
    texts = list(contents(components))
    found = [f"live: {each}" for text in texts for each in live(text)]
    total = sum(len(text.encode("utf-16-le", "surrogatepass")) // 2 for text in texts)
    found += [f"{total} characters"] if total > 4000 else []
    found += [f"{count(components)} components"] if count(components) > 40 else []
    found += ["an empty text"] if not all(text.strip() for text in texts) else []
    carried = [each["custom_id"] for each in _all(components) if "custom_id" in each]
    found += ["two alike"] if len(set(carried)) != len(carried) else []
    found += [f"custom_id of {len(each)}" for each in carried if not 1 <= len(each) <= 100]
    options = [each.get("options", ()) for each in _all(components) if each["type"] == 3]
    found += [f"{len(each)} options" for each in options if not 1 <= len(each) <= 25]
    for one in (one for each in options for one in each):
        found += [f"{name} of an option: {one[name]!r}" for name in ("label", "value") if not 1 <= len(one[name]) <= 100]
    found += [f"url of {len(each['url'])}" for each in _all(components) if len(each.get("url", "")) > 512]
    labels = [each["label"] for each in _all(components) if "label" in each]
    found += [f"label {label!r}" for label in labels if not 1 <= len(label) <= 80]
    found += ["mentions"] if body["allowed_mentions"] != {"parse": []} else []
    return found


def _all(components: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in components:
        yield each
        yield from _all(each.get("components", ()))
        yield from _all([each["accessory"]] if "accessory" in each else ())
