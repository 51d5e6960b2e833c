"""Messages that people write to us: which of their words are to us, and what buttons of the answers stand for.

What somebody says in a message is used for the answer alone. A button of it that would carry their words carries a name for
them; the words themselves are held in memory for as long as the service runs, and never stored.
"""

import logging
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from adapters.chat.context import ListenerContext
from bot.commands import Follow, Search, read
from bot.errors import StoreError
from bot.handlers.surfaces.spoken import MessageRate
from bot.models import Button, Reply, text_key

log = logging.getLogger(__name__)

_NAMED = re.compile(r"~([0-9A-Za-z_-]{22})")
_LONG = 60  # characters of a command that may hold what somebody said
_MOST = 5_000  # texts that are held

FORGOTTEN = "It was for an answer to a message, and what one writes to me is never kept. Please ask again."


def words_to_us(text: str, person: str) -> str | None:
    """Return what a message that mentions us says to us; None for one that does not.

    That is what stands behind the mention, or where nothing does, what stands before it. `person` is who we are there.
    """
    before, *behind = re.split(rf"<@!?{re.escape(person)}(?:\|[^<>]*)?>", text)
    if not behind:
        return None
    said = " ".join(behind)
    return said if re.search(r"\w", said) or not re.search(r"\w", before) else before


class PassingWords:
    """What buttons stand for that carry what somebody said in a message; held in memory alone."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, str], str] = OrderedDict()

    def named(self, workspace: str, reply: Reply) -> Reply:
        """Return the reply with a name in each button that would carry words of a message."""
        entries = tuple(replace(each, buttons=self._buttons(workspace, each.buttons)) for each in reply.entries)
        return replace(reply, entries=entries, buttons=self._buttons(workspace, reply.buttons))

    def _buttons(self, workspace: str, buttons: Iterable[Button]) -> tuple[Button, ...]:
        return tuple(
            replace(each, command=self._name(workspace, each.command)) if _holds_words(each.command) else each
            for each in buttons
        )

    def _name(self, workspace: str, command: str) -> str:
        key = text_key(command)
        self._held[workspace, key] = command
        self._held.move_to_end((workspace, key))
        if len(self._held) > _MOST:
            self._held.popitem(last=False)
        return f"~{key}"

    def is_name(self, carried: str) -> bool:
        """Say whether a button carries such a name."""
        return _NAMED.fullmatch(carried) is not None

    def command(self, workspace: str, carried: str) -> str | None:
        """Return the command that a name stands for in the workspace, None where it is not held (any more)."""
        found = _NAMED.fullmatch(carried)
        return self._held.get((workspace, found[1])) if found else None


def _holds_words(command: str) -> bool:
    return len(command) > _LONG or isinstance(read(command), Search | Follow)


@dataclass(frozen=True, slots=True)
class SpokenState:
    """What is remembered of messages while the service runs."""

    rate: MessageRate = field(default_factory=MessageRate)
    words: PassingWords = field(default_factory=PassingWords)


async def is_first(context: ListenerContext, platform: str, message: str) -> bool:
    """Note the message, by what names it, and say whether it comes for the first time; who cannot tell answers it."""
    try:
        return await context.platform.chats.first_time(platform, f"heard {message}", context.now)
    except StoreError as error:
        log.error("a message could not be noted: %s", error)  # noqa: TRY400 - foreseen
        return True
