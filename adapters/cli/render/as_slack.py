"""A digest as Slack would show its messages. Imports slack_sdk, by which they are made: only where somebody asks for it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.style import Style
from rich.text import Text

from adapters.cli.render.digest import STYLES
from adapters.cli.render.message import Buttons, Message, Part, Rule, Words
from adapters.slack.render.messages import digest
from bot.models import Digest

Json = Mapping[str, Any]


def as_json(made: Digest, *, compact: bool) -> list[dict[str, Any]]:
    """Return the messages as Slack is given them: `text` and `blocks`, which Slack's Block Kit Builder shows too."""
    postings = digest(made, compact=compact, late=False, layout="message")
    return [{"text": each.text, "blocks": list(each.blocks)} for each in postings]


def messages(made: Digest, *, compact: bool) -> list[Message]:
    """Return the messages of the digest."""
    return [Message(tuple(_parts(each["blocks"]))) for each in as_json(made, compact=compact)]


def _parts(blocks: Iterable[Json]) -> Iterator[Part]:
    for block in blocks:
        yield from _PARTS[block["type"]](block)


def _header(block: Json) -> Iterator[Part]:
    yield Words((Text(block["text"]["text"], style=STYLES["heading"]),))


def _context(block: Json) -> Iterator[Part]:
    yield Words(tuple(Text(line, style=STYLES["quiet"]) for each in block["elements"] for line in each["text"].split("\n")))


def _rich(block: Json) -> Iterator[Part]:
    for element in block["elements"]:
        if element["type"] in ("rich_text_section", "rich_text_quote"):
            yield Words(tuple(_runs(element["elements"]).split("\n")), element["type"] == "rich_text_quote")


def _runs(runs: Sequence[Json]) -> Text:
    return Text.assemble(*((run["text"], _style(run)) for run in runs))


def _style(run: Json) -> Style:
    given = run.get("style") or {}
    return Style(bold=given.get("bold"), italic=given.get("italic"), link=run.get("url"))


def _actions(block: Json) -> Iterator[Part]:
    yield Buttons(tuple(each["text"]["text"] for each in block["elements"]))


def _divider(block: Json) -> Iterator[Part]:
    yield Rule()


_PARTS: Mapping[str, Callable[[Json], Iterator[Part]]] = {
    "header": _header,
    "context": _context,
    "rich_text": _rich,
    "actions": _actions,
    "divider": _divider,
}
