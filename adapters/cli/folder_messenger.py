"""The terminal's Messenger: each digest that is due becomes a text file and a page in a folder.

The text file is written last: where it stands, the digest is posted. Both end in the delivery's identifier, by which it is
found again; the same delivery written twice is the same two files.
"""

import asyncio
import errno
import io
import json
import logging
import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from rich.console import Console

from adapters.cli.render.digest import MEASURE, DigestView
from adapters.cli.render.page import page
from bot import __version__
from bot.atomic_file import write_whole
from bot.errors import Delayed, Reach, Refused, Rejected
from bot.models import ABSENT, Abilities, Delivery, Digest, Layout, Look, Presses

log = logging.getLogger(__name__)

PLATFORM = "local"
_LATE = "Late: this digest was due earlier."
_MOST = 1000  # digests of one topic on one day, which have that many subscriptions at most
_TRIAL = ".trial"  # a file that is written to see whether one can be
_NAME = 80  # characters of a topic in a file's name
# What a person has to mend; everything else, a full disk among it, may have passed by the next try.
_FOR_GOOD = frozenset(
    {errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG}
)


class FolderMessenger:
    """bot.ports.messenger.Messenger for the workspace `local`."""

    platform = PLATFORM
    abilities = Abilities(finds=True)

    def __init__(self, folder: Path) -> None:
        """`folder` is made when the first digest is written."""
        self._folder = folder
        self._turn = asyncio.Lock()  # two that look for a free name at once would find the same

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        """Return one message: the digest as text and as a page. Reads files at first: not on the event loop."""
        console = Console(file=io.StringIO(), width=MEASURE, color_system=None, legacy_windows=False, _environ={})
        with console.capture() as printed:
            console.print(*([_LATE, ""] if late else []), DigestView(digest, layout), sep="\n")
        html = page([digest], made_at=digest.until, version=__version__)
        return [json.dumps({"text": printed.get(), "html": html})]

    async def send(self, delivery: Delivery) -> str:
        """Write the two files and return their name without ending. Raises Refused and Delayed."""
        async with self._turn:
            return await asyncio.to_thread(self._write, delivery)

    def _write(self, delivery: Delivery) -> str:
        message = json.loads(delivery.payload)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            stem = self._free(delivery)
            # Pages to be read: by whom, the umask says.
            write_whole(self._folder / f"{stem}.html", f"{message['html']}<!-- {_mark(delivery)} -->\n", mode=0o666)
            write_whole(self._folder / f"{stem}.txt", f"{message['text']}\n{_mark(delivery)}\n", mode=0o666)
        except OSError as error:
            raise _translated(error, self._folder) from error
        return stem

    async def find(self, delivery: Delivery) -> Look:
        """Look for the delivery's files, whose name it is. Raises Refused and Delayed."""
        found = await asyncio.to_thread(self._found, delivery)
        return Look(message=found) if found else ABSENT

    def _found(self, delivery: Delivery) -> str | None:
        try:
            return next((stem for stem in self._stems(delivery) if self._holds(stem, delivery)), None)
        except OSError as error:
            raise _translated(error, self._folder) from error

    def _free(self, delivery: Delivery) -> str:
        """Return the name that is the delivery's already, else the first that nobody has."""
        found = self._found(delivery)
        taken = set(self._stems(delivery))
        return found or next(stem for stem in _names(delivery) if stem not in taken)

    def _stems(self, delivery: Delivery) -> Iterator[str]:
        """Yield the names, of those that the delivery may have, that some delivery has."""
        for stem in _names(delivery):
            if not (self._folder / f"{stem}.txt").exists():
                return
            yield stem

    def _holds(self, stem: str, delivery: Delivery) -> bool:
        text = (self._folder / f"{stem}.txt").read_text(encoding="utf-8", errors="replace")
        return text.rstrip().endswith(_mark(delivery))

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        """Leave the files as they are: nobody presses anything in them."""
        raise Rejected("What was written to a folder is not changed.", failure="a folder")

    async def publish(self, posted: Delivery) -> None:
        """Raise Rejected: nobody follows a folder."""
        raise Rejected("Nobody follows a folder.", failure="a folder")

    def link(self, delivery: Delivery) -> str:
        """Return the path of the page."""
        return str(self._folder / f"{delivery.message}.html")

    async def tell(self, workspace: str, person: str, text: str) -> None:
        """Log it: nobody sits at a terminal of the service's."""
        log.warning("for %s: %s", person, text)

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        """Log it."""
        log.warning("%s", text)

    async def obstacle(self, workspace: str, channel: str) -> str:
        """Return why no files can be written to the folder now. Raises Delayed."""
        return await asyncio.to_thread(self._shut)

    def _shut(self) -> str:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._folder / _TRIAL, "", mode=0o600)
            (self._folder / _TRIAL).unlink()
        except OSError as error:
            why = _translated(error, self._folder)
            if isinstance(why, Refused):
                return str(why)
            raise why from error
        return ""


def _mark(delivery: Delivery) -> str:
    return f"delivery {delivery.id}"


def _names(delivery: Delivery) -> Iterator[str]:
    """Yield 2026-11-20-gpu-systems, 2026-11-20-gpu-systems-2, … : a topic may be subscribed anew on the same day."""
    day: date = delivery.occurrence[1]
    topic = re.sub(r"[^a-z0-9]+", "-", delivery.topic.lower()).strip("-")[:_NAME]
    stem = f"{day.isoformat()}-{topic}".rstrip("-")
    yield stem
    yield from (f"{stem}-{number}" for number in range(2, _MOST + 1))


def _translated(error: OSError, folder: Path) -> Refused | Delayed:
    said = f"The digest cannot be written to {folder}: {error.strerror}."
    if error.errno in _FOR_GOOD:
        return Refused(said, reach=Reach.WORKSPACE)
    return Delayed(said, reach=Reach.PLATFORM)
