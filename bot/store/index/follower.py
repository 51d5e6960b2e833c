"""Keeping tantivy's index in step with the items: a follower of their numbered changes.

What it has followed stands in a file beside the index, written after the index's own commit: whoever is killed in between
follows some changes twice, which changes nothing. Whatever is not as it should be, the folder gone, damaged, of another
version or of a database that was put back, is made anew from the items; meanwhile it answers nothing, and FTS5 does.
"""

import asyncio
import contextlib
import json
import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

from tantivy import Index, IndexWriter

from bot.atomic_file import write_whole
from bot.errors import StoreError
from bot.models import Item
from bot.ports.items import Items, Making
from bot.store.index.documents import INDEX_VERSION, document, opened, schema
from bot.store.index.view import IndexFailed, View, index_errors
from bot.store.sqlite.locks import FileLock

T = TypeVar("T")
_log = logging.getLogger(__name__)

_AT_ONCE = 500  # items that are read and indexed at a time: a few tenths of a second of one thread
_COMMITTED = 5_000  # items of an index that is being made between two commits: what a kill makes it do again
_HEAP = 100_000_000  # bytes that are indexed before they are written
_TRIES = 3  # to make an index while more changes come than are remembered
_NOWHERE = -1
_STEPS = 10  # items, some milliseconds, after which other threads get their turn
_PAUSE = 0.0002  # seconds: as long as a thread takes to wake up


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the index is: up to which change, and while it is made up to which arrival of how many."""

    number: int = _NOWHERE
    reached: int | None = 0  # None: it is whole
    version: str = INDEX_VERSION


class IndexFollower:
    """An index in a folder of its own. One process at a time writes it; others read what is there.

    With `keeps` it goes on being the one who writes, as the service does, which stores the most; others let go each time.
    """

    def __init__(self, folder: Path, items: Items, *, keeps: bool = False) -> None:
        self._folder, self._items, self._keeps = folder, items, keeps
        self._lock = asyncio.Lock()
        self._ours = FileLock(folder, ".lock")  # held by who writes the index
        # One thread: what was cancelled may still be going on there, and nothing else is done meanwhile.
        self._thread: ThreadPoolExecutor | None = None
        self._progress = Progress()
        self._index: Index | None = None
        self._view: View | None = None  # of the index as it was last asked
        self._writer: IndexWriter | None = None
        self._building: asyncio.Task[None] | None = None
        self._waits = False  # whether another process was making it
        self._spoilt = False  # whether it is to be made anew
        self.doubted = False  # whether it was made anew because of what a search met
        self.asked = self.answered = 0  # how often it was asked, and was in step
        self.last_arrival = 0  # of the items, while the index is made

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self._progress

    async def open(self) -> None:
        """Look at what is in the folder, and begin to make the index in the background where there is none."""
        async with self._lock:
            with contextlib.suppress(IndexFailed):
                await self._in_thread(self._look)
        self._go_on()

    async def close(self) -> None:
        """Stop what is going on; what was committed stays."""
        if self._building is not None:
            self._building.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._building
            self._building = None
        async with self._lock:
            with contextlib.suppress(IndexFailed):
                await self._in_thread(self._let_go)
            if self._thread is not None:
                self._thread.shutdown(wait=False)
                self._thread = None

    async def built(self) -> None:
        """Wait until the index is made, where that is going on."""
        if self._building is not None:
            await asyncio.wait([self._building])

    async def follow(self) -> None:
        """Return when the index has all changes there are; at once where it is not whole or another process writes it."""
        if self._progress.reached is not None:
            return
        async with self._lock:
            await self._catch_up()

    async def view(self) -> View | None:
        """Return the index as it is where it has all changes there are, None where it has not.

        What is behind and can be brought up is; nobody waits while that is going on already.
        """
        self.asked += 1
        if self._waits:
            self._go_on()
        number = await self._items.last_change()
        if self._progress.number != number and not self._lock.locked():
            async with self._lock:
                await self._catch_up()
        index, progress = self._index, self._progress
        if index is None or progress.reached is not None or progress.number < number:
            return None
        self.answered += 1
        if self._view is None or (self._view.index, self._view.number) != (index, progress.number):
            self._view = View(index, progress.number)
        return self._view

    async def making(self) -> Making | None:
        """Return how far the index is while it is made; None once it is whole."""
        if self._progress.reached is not None and not self._lock.locked():
            async with self._lock:
                with contextlib.suppress(IndexFailed):
                    await self._in_thread(self._look)  # another process may be making it
        reached = self._progress.reached
        return None if reached is None else Making(reached, await self._items.last_arrival())

    async def doubt(self) -> None:
        """Make the index anew, as a search could not read it; once, as the search itself may be what it cannot do."""
        if not self.doubted:
            self.doubted = True
            await self._begin_anew("a search could not read it")

    # --- with the lock

    async def _catch_up(self) -> None:
        """Bring the index up to the last change, as far as it is whole and ours to write."""
        try:
            if not await self._in_thread(self._take):
                await self._in_thread(self._look)
                return
            while self._progress.reached is None:
                changes = await self._items.changes(self._progress.number, limit=_AT_ONCE)
                if changes is None:
                    raise IndexFailed("what came after what it has is not known any more")
                if not changes:
                    return
                latest = {arrival: item for _, arrival, item in changes}
                await self._in_thread(self._write, latest, replace(self._progress, number=changes[-1].number))
                if len(changes) < _AT_ONCE:
                    return
        except IndexFailed as error:
            self._give_up(error)
        except StoreError as error:
            _log.warning("the search index stays behind: %s", error)
        finally:
            await self._release()

    def _give_up(self, why: object) -> None:
        _log.warning("the search index is made anew: %s", why)
        self._progress, self._index, self._writer, self._spoilt = Progress(), None, None, True
        self._go_on()

    # --- making it

    def _go_on(self) -> None:
        if self._progress.reached is not None and (self._building is None or self._building.done()):
            self._building = asyncio.create_task(self._build(), name="making the search index")

    async def _begin_anew(self, why: str) -> None:
        async with self._lock:
            self._give_up(why)

    async def _build(self) -> None:
        """Make the index of all items; one that was begun goes on where it was."""
        try:
            for _ in range(_TRIES):
                self._waits = not await self._begun()
                if self._waits:
                    return
                while self._progress.reached is not None:
                    await self._build_some(self._progress.reached)
                _log.info("the search index is made, of %d arrivals", self.last_arrival)
                async with self._lock:
                    await self._catch_up()
                if self._progress.reached is None:
                    return
        except (IndexFailed, StoreError) as error:
            _log.warning("the search index cannot be made, FTS5 goes on answering: %s", error)
        finally:
            async with self._lock:
                await self._release()

    async def _release(self) -> None:
        """Let others write, who may wait for it."""
        if not self._keeps and (self._building is None or self._building.done() or self._building is asyncio.current_task()):
            await self._in_thread(self._stop_writing)

    async def _begun(self) -> bool:
        """Have an index to make; False where another process makes it."""
        async with self._lock:
            if not await self._in_thread(self._take):
                return False
            known = await self._items.changes(self._progress.number, limit=1)
            if self._progress.number == _NOWHERE or known is None:
                number = await self._items.last_change()
                await self._in_thread(self._begin, Progress(number))
            return True

    async def _build_some(self, reached: int) -> None:
        """Index the items up to the next commit, or all that are left."""
        self.last_arrival = await self._items.last_arrival()
        until = min(reached + _COMMITTED, self.last_arrival)
        for at in range(reached, until, _AT_ONCE):
            some = await self._items.arrived(at, min(at + _AT_ONCE, until))
            async with self._lock:
                await self._in_thread(self._put, some)
        async with self._lock:
            whole = until >= self.last_arrival
            await self._in_thread(self._commit, replace(self._progress, reached=None if whole else until))
        _log.info("the search index is being made: %d of %d arrivals", until, self.last_arrival)

    # --- in a thread, with the lock

    async def _in_thread(self, job: Callable[..., T], *given: object) -> T:
        def run() -> T:
            with index_errors():
                return job(*given)

        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="index")
        return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def _look(self) -> None:
        """Read how far the index is, and open it or see it as it is now."""
        progress = _read(self._folder / "progress.json")
        if progress == self._progress and self._index is not None:
            return
        try:
            if progress.version != INDEX_VERSION:
                progress = Progress()
            if progress.number != _NOWHERE:
                self._open_index()
            self._progress = progress
        except (ValueError, OSError) as error:
            _log.warning("the search index cannot be opened: %s", error)
            self._index, self._progress = None, Progress()

    def _open_index(self) -> None:
        if self._index is None:
            if not Index.exists(str(self._folder)):
                raise OSError("it is gone")
            self._index = opened(str(self._folder), schema())
            self._index.config_reader("manual")
        self._index.reload()

    def _take(self) -> bool:
        """Be the one who writes; False where another process is."""
        if self._writer is None:
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._ours.take():
                return False
            self._look()  # who wrote it until now may have gone on
            if self._index is None or self._spoilt:
                self._make()
        if self._writer is None and self._index is not None:
            self._writer = self._index.writer(_HEAP, 1)
            # What a killed writer left has names that are given again, and tantivy fails where such a file is there.
            self._writer.garbage_collect_files()
        return True

    def _make(self) -> None:
        """Make an empty index in the place of whatever is in the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._index, self._progress, self._spoilt = opened(str(self._folder), schema()), Progress(), False
        self._index.config_reader("manual")

    def _begin(self, progress: Progress) -> None:
        assert self._writer is not None  # noqa: S101 - `_take` sees to it
        self._writer.delete_all_documents()
        self._commit(progress)

    def _put(self, items: Iterable[tuple[int, Item | None]]) -> None:
        assert self._writer is not None  # noqa: S101 - `_take` sees to it
        for number, item in giving_way(items):
            self._writer.delete_documents_by_term("id", number)
            if item is not None:
                self._writer.add_document(document(number, item))

    def _write(self, latest: dict[int, Item | None], progress: Progress) -> None:
        self._put(latest.items())
        self._commit(progress)

    def _commit(self, progress: Progress) -> None:
        assert self._writer is not None  # noqa: S101 - whoever commits has it
        assert self._index is not None  # noqa: S101 - likewise
        self._writer.commit()
        write_whole(self._folder / "progress.json", json.dumps(asdict(progress)))
        self._index.reload()
        self._progress = progress

    def _stop_writing(self) -> None:
        if self._writer is not None:
            self._writer = None
            self._ours.release()

    def _let_go(self) -> None:
        """Stop writing; what was not committed goes.

        A merge of large parts may take many seconds: it ends with the process, and what it wrote is no part of the index.
        """
        if self._writer is not None:
            self._writer.rollback()
        self._writer = self._index = None
        self._ours.close()


def giving_way(items: Iterable[T], pause: Callable[[float], None] = time.sleep) -> Iterator[T]:
    """Give the items, with a pause before each ten of them.

    tantivy lets go of the interpreter and takes it back at each document. Whoever waits for it, as the event loop does, is
    woken too late each time, and begins to wait anew, before Python asks for it to be given up: for a tenth of a second.
    """
    for at, item in enumerate(items):
        if at % _STEPS == 0:
            pause(_PAUSE)
        yield item


def _read(path: Path) -> Progress:
    """Return what the file says, nothing where it is not there or not to be read."""
    try:
        return Progress(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return Progress()
