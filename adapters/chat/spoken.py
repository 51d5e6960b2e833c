"""Messages that people write to us: which of their words are to us, and what buttons of the answers stand for.

What somebody says in a message is used for the answer alone. A button of it that would carry their words carries a name for
them; the words themselves are held in memory for as long as the service runs, and never stored. Where several processes hear
what is pressed, the words are stored encrypted, with a key of their own that stands in the button alone: the database by
itself says nothing of them.
"""

import logging
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_urlsafe

from cryptography.exceptions import InvalidTag  # noqa: TID251 - words that several processes find
from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: TID251 - the same

from adapters.chat.context import ListenerContext
from bot.commands import Follow, Search, read
from bot.errors import BotError, StoreError
from bot.handlers.surfaces.spoken import MOST, SPAN, MessageRate, Turn
from bot.models import Button, Reply, text_key
from bot.ports.chats import Chats
from bot.service.platforms import Cluster

log = logging.getLogger(__name__)

_NAMED = re.compile(r"~([0-9A-Za-z_-]{22})([0-9A-Za-z_-]{22})?")  # a key of words; the second is what encrypts them
_NONCE = bytes(12)  # the same for all: each key encrypts one text
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
    """What buttons stand for that carry what somebody said in a message."""

    def __init__(self, shared: Chats | None = None, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """`shared` is where several processes find them, encrypted; without it they are held in memory alone."""
        self._held: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._shared, self._clock = shared, clock

    async def named(self, workspace: str, reply: Reply) -> Reply:
        """Return the reply with a name in each button that would carry words of a message."""
        every = (*reply.buttons, *(button for each in reply.entries for button in each.buttons))
        names = await self._names(
            workspace, list(dict.fromkeys(each.command for each in every if _holds_words(each.command)))
        )

        def renamed(buttons: Iterable[Button]) -> tuple[Button, ...]:
            return tuple(replace(each, command=names.get(each.command, each.command)) for each in buttons)

        entries = tuple(replace(each, buttons=renamed(each.buttons)) for each in reply.entries)
        return replace(reply, entries=entries, buttons=renamed(reply.buttons))

    async def _names(self, workspace: str, commands: Sequence[str]) -> Mapping[str, str]:
        for command in commands:
            self._hold(workspace, command)
        held = {command: f"~{text_key(command)}" for command in commands}
        if self._shared is None or not commands:
            return held
        secrets = [token_urlsafe(16) for _ in commands]
        sealed = [_sealed(command, secret) for command, secret in zip(commands, secrets, strict=True)]
        try:
            keys = await self._shared.keep_texts(workspace, sealed, self._clock())
        except BotError as error:
            log.warning("what was said to us can be gone on with in this process alone: %s", error)
            return held
        return {command: f"~{key}{secret}" for command, key, secret in zip(commands, keys, secrets, strict=True)}

    def _hold(self, workspace: str, command: str) -> None:
        key = text_key(command)
        self._held[workspace, key] = command
        self._held.move_to_end((workspace, key))
        if len(self._held) > _MOST:
            self._held.popitem(last=False)

    def is_name(self, carried: str) -> bool:
        """Say whether a button carries such a name."""
        return _NAMED.fullmatch(carried) is not None

    async def command(self, workspace: str, carried: str) -> str | None:
        """Return the command that a name stands for in the workspace, None where it is not kept (any more)."""
        if (found := _NAMED.fullmatch(carried)) is None:
            return None
        key, secret = found.groups()
        if not secret:
            return self._held.get((workspace, key))
        try:
            sealed = await self._shared.kept_text(workspace, key) if self._shared is not None else None
        except BotError as error:
            log.warning("what a button stands for could not be read: %s", error)
            return None
        return _opened(sealed, secret) if sealed else None


def _sealed(text: str, secret: str) -> str:
    found = AESGCM(urlsafe_b64decode(f"{secret}==")).encrypt(_NONCE, text.encode("utf-8", "surrogatepass"), None)
    return urlsafe_b64encode(found).decode()


def _opened(sealed: str, secret: str) -> str | None:
    """Return the text; None where the key is not the one that it was encrypted with."""
    try:
        found = AESGCM(urlsafe_b64decode(f"{secret}==")).decrypt(_NONCE, urlsafe_b64decode(sealed), None)
    except (ValueError, InvalidTag):
        return None
    return found.decode("utf-8", "surrogatepass")


def _holds_words(command: str) -> bool:
    return len(command) > _LONG or isinstance(read(command), Search | Follow)


class SpokenState:
    """What is remembered of messages while the service runs, and what several processes know of them together."""

    def __init__(self, chats: Chats, clock: Callable[[], datetime], cluster: Cluster | None = None) -> None:
        self.words = PassingWords(chats if cluster else None, clock)
        self._chats, self._cluster, self._rate = chats, cluster, MessageRate()

    async def turn(self, platform: str, person: str, now: datetime) -> Turn:
        """Note a message of the person, whom the name tells from everybody else, and say what becomes of it."""
        found = self._rate.turn(person, now)
        if found is not Turn.ANSWERED or self._cluster is None:
            return found
        try:
            if await self._cluster.budgets.spend(f"messages of {person}", 1, MOST, SPAN):
                return found
            is_first = await self._chats.first_time(platform, f"too many messages of {person}", now, SPAN)
        except StoreError as error:
            log.warning("how much somebody wrote to other processes is not known: %s", error)
            return found
        return Turn.TOLD if is_first else Turn.LEFT


async def is_first(context: ListenerContext, platform: str, message: str) -> bool:
    """Note the message, by what names it, and say whether it comes for the first time; who cannot tell answers it."""
    try:
        return await context.platform.chats.first_time(platform, f"heard {message}", context.now)
    except StoreError as error:
        log.error("a message could not be noted: %s", error)  # noqa: TRY400 - foreseen
        return True
