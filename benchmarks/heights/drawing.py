"""What a chat must tell for its messages to be drawn."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.models import Digest

Json = Mapping[str, Any]
LAYOUTS = ("brief", "thread", "full")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chat: what it is sent of a digest, and how it draws it."""

    name: str
    style: str  # CSS; a column of a phone has the class "phone"
    messages: Callable[
        [Digest, str], Sequence[Json]
    ]  # in one of LAYOUTS: the bodies of its messages, those in a thread last
    in_channel: Callable[[str], int | None]  # of a layout: how many of its messages stand in the channel; None: all
    drawn: Callable[[Json], str]  # one message as HTML
    laid_out: Callable[[Json], object]  # the part of a message whose JSON counts: its blocks, its components
    estimate: Callable[[Json, int], int] | None = None  # how tall tests take a message for, in a column of that width

    def size(self, message: Json) -> int:
        """Return the bytes of the JSON of what is laid out."""
        return len(json.dumps(self.laid_out(message), ensure_ascii=False, separators=(",", ":")).encode())
