"""Every Messenger on a bench: what it is, what a reader sees of it, and how it is brought to fail in each way.

A new platform is one more bench in BENCHES.
"""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from discord.http import Route

from adapters.cli.folder_messenger import FolderMessenger
from adapters.discord.client.api import RestClient
from adapters.discord.send import DiscordMessenger
from adapters.words import presses_line
from bot.errors import Refused, Rejected
from bot.models import Abilities, Presses
from bot.ports.messenger import Messenger
from tests.adapters.slack.running_messenger import Room, posting
from tests.conftest import NOW
from tests.fakes.discord import FakeDiscord, Permission, running
from tests.fakes.platform import Fault as Cut
from tests.fakes.slack import Failure
from tests.fakes.transcript import BOTH, HISTORY, NONCE, Clock, Fault, Transcript
from tests.stores.memory import MemoryStore


class Bench(Protocol):
    """One Messenger, and the world behind it."""

    @property
    def messenger(self) -> Messenger:
        """What is held to the suite."""
        ...

    @property
    def limit(self) -> int | None:
        """Characters of a payload; None: none is known."""
        ...

    @property
    def workspace(self) -> str:
        """Where the channel is."""
        ...

    @property
    def channel(self) -> str:
        """Where it posts."""
        ...

    def seen(self) -> Sequence[str]:
        """Return what a reader sees of every message that stands there."""
        ...

    def refuse(self) -> None:
        """Have the platform refuse what comes next."""
        ...

    def close(self) -> None:
        """Close the channel to us, until `open` opens it again."""
        ...

    def open(self) -> None:
        """Open it again."""
        ...

    def hide(self) -> bool:
        """Have the platform not say now what the channel is; False where it always does."""
        ...

    def reject(self) -> bool:
        """Have it refuse what comes next for no known reason; False where every reason is known."""
        ...

    def intercept(self) -> bool:
        """Have a proxy answer in its place what comes next; False where none can stand in between."""
        ...

    def delay(self) -> timedelta | None:
        """Have it take nothing for now; return how long it asks to wait, None when it does not say."""
        ...

    def lose(self) -> bool:
        """Have it take what comes next and lose the answer; False where no answer can be lost."""
        ...

    def delete(self) -> None:
        """Have somebody take away every message."""
        ...


class Folder:
    """The terminal's: two files in a folder."""

    limit = None
    workspace, channel = "local", "local"

    def delete(self) -> None:
        for path in self._folder.iterdir():
            path.unlink()

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "digests"
        self.messenger = FolderMessenger(self._folder)

    def seen(self) -> Sequence[str]:
        pages = {path.stem for path in self._folder.glob("*.html")}
        texts = {path.stem: path.read_text(encoding="utf-8") for path in self._folder.glob("*.txt")}
        assert pages == set(texts)
        assert len(list(self._folder.glob(".*"))) == 0
        return list(texts.values())

    def refuse(self) -> None:
        self._folder.write_text("in the way")

    def reject(self) -> bool:
        return False

    def intercept(self) -> bool:
        return False

    def close(self) -> None:
        if self._folder.is_dir():
            self._folder.rmdir()
        self._folder.write_text("in the way")

    def open(self) -> None:
        self._folder.unlink()

    def hide(self) -> bool:
        self.messenger = FolderMessenger(Path("/proc/self/digests"))
        return True

    def delay(self) -> timedelta | None:
        self.messenger = FolderMessenger(Path("/proc/self/digests"))  # a place that takes no files
        return None

    def lose(self) -> bool:
        return False


class Chat:
    """The transcript's, which shows that the suite can be passed and failed in every way."""

    limit = 2000
    workspace, channel = "chat:W1", "C1"

    def __init__(self, abilities: Abilities) -> None:
        self.messenger: Transcript = Transcript(Clock(NOW), abilities)

    def seen(self) -> Sequence[str]:
        said = self.messenger.says
        standing = (each for each in self.messenger.messages if each.id not in self.messenger.deleted)
        return [f"{each.payload}\n{presses_line(said.get(each.id, Presses()))}" for each in standing]

    def delete(self) -> None:
        self.messenger.deleted = {each.id for each in self.messenger.messages}

    def refuse(self) -> None:
        self.messenger.faults = self.messenger.looks = [Fault.REFUSED] * 2

    def reject(self) -> bool:
        self.messenger.closed["C1"] = Rejected("It was not taken (code 99).", failure="code 99")
        return True

    def intercept(self) -> bool:
        self.messenger.faults = [Fault.DELAYED]
        return True

    def close(self) -> None:
        self.messenger.closed[self.channel] = Refused("The channel is archived.")

    def open(self) -> None:
        self.messenger.closed.clear()

    def hide(self) -> bool:
        self.messenger.examinations = [Fault.LOST_REQUEST]
        return True

    def delay(self) -> timedelta | None:
        self.messenger.faults = [Fault.RETRY_AFTER]
        return timedelta(seconds=30)

    def lose(self) -> bool:
        self.messenger.faults = [Fault.LOST_ANSWER]
        return True


class Slack:
    """Slack's, through slack_sdk and real sockets."""

    workspace, channel = "slack", "C1"
    limit = 40_000  # Slack takes 50 blocks and 13,200 characters of them, and 4,000 of text

    def __init__(self, room: Room) -> None:
        self._fake = room.fake
        self.messenger = room.messenger
        self._channel = room.fake.add_channel("C1", "papers", joined=True)

    def seen(self) -> Sequence[str]:
        return [f"{each.text}\n{json.dumps(each.blocks, ensure_ascii=False)}" for each in self._fake.messages(self._channel)]

    def delete(self) -> None:
        for each in self._fake.messages(self._channel):
            each.is_deleted = True

    def refuse(self) -> None:
        self._fake.fail("chat.postMessage", Failure(error="is_archived"), times=2)

    def reject(self) -> bool:
        self._fake.fail("chat.postMessage", Failure(error="an_error_of_tomorrow"))
        return True

    def intercept(self) -> bool:
        self._fake.fail("chat.postMessage", Failure(status=403))
        return True

    def close(self) -> None:
        self._channel.is_archived = True

    def open(self) -> None:
        self._channel.is_archived = False

    def hide(self) -> bool:
        self._fake.fail("conversations.info", Failure(status=503))
        return True

    def delay(self) -> timedelta | None:
        self._fake.fail("chat.postMessage", Failure(retry_after=30))
        return timedelta(seconds=30)

    def lose(self) -> bool:
        self._fake.fail("chat.postMessage", Failure(cut=Cut.RESET, commits=True))
        return True


class Discord:
    """Discord's, through discord.py and real sockets."""

    limit = 40_000  # Discord takes 4,000 characters of text and 40 components

    def __init__(self, fake: FakeDiscord, door: RestClient) -> None:
        self._fake = fake
        self._channel = fake.channel(fake.guild("Lab"), "papers")
        self.messenger = DiscordMessenger(door, MemoryStore().chats)
        assert self._channel.guild is not None
        self.workspace, self.channel = f"discord:{self._channel.guild.id}", str(self._channel.id)

    def seen(self) -> Sequence[str]:
        assert self._fake.wrong == []
        return [each.text for each in self._fake.of_bot(self._channel)]

    def delete(self) -> None:
        for each in self._fake.of_bot(self._channel):
            self._fake.delete_message(each)

    def refuse(self) -> None:
        self._fake.befall("POST /channels", code=10003, times=2)

    def reject(self) -> bool:
        self._fake.befall("POST /channels", code=98765, status=400)
        return True

    def intercept(self) -> bool:
        self._fake.befall("POST /channels", answer="<html>Forbidden</html>", status=403)
        return True

    def close(self) -> None:
        self._fake.let(self._channel, may_not=Permission.SEND_MESSAGES)

    def open(self) -> None:
        self._fake.let(self._channel, Permission.SEND_MESSAGES)

    def hide(self) -> bool:
        self._fake.befall("GET /channels", fault=Cut.BROKEN)
        return True

    def delay(self) -> timedelta | None:
        self._fake.befall("POST /channels", fault=Cut.LIMITED, retry_after=30)
        return timedelta(seconds=30)

    def lose(self) -> bool:
        self._fake.befall("POST /channels", fault=Cut.RESET, commits=True)
        return True


@asynccontextmanager
async def _ready(bench: Bench) -> AsyncIterator[Bench]:
    yield bench


@asynccontextmanager
async def _slack() -> AsyncIterator[Bench]:
    async with posting() as room:
        yield Slack(room)


@asynccontextmanager
async def _discord() -> AsyncIterator[Bench]:
    async with running() as fake:
        usual, Route.BASE = Route.BASE, fake.api_url
        door = RestClient(fake.token)
        try:
            yield Discord(fake, door)
        finally:
            await door.close()
            Route.BASE = usual


BENCHES: dict[str, Callable[[Path], AbstractAsyncContextManager[Bench]]] = {
    "terminal": lambda folder: _ready(Folder(folder)),
    "nonce": lambda _: _ready(Chat(NONCE)),
    "history": lambda _: _ready(Chat(HISTORY)),
    "both": lambda _: _ready(Chat(BOTH)),
    "slack": lambda _: _slack(),
    "discord": lambda _: _discord(),
}
