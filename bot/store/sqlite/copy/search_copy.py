"""The search index of a process that works on a database elsewhere: a copy in a folder of its own, kept up to date.

It searches as the store in one SQLite file does, in FTS5 or tantivy. What the database has is copied in the background;
meanwhile what is there is found, and a page says how far it is behind. The database out of reach changes nothing but that.
"""

import asyncio
import contextlib
import logging
import os
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bot.errors import StoreError
from bot.models import Behind, Hit, Item, Near, Page, Query, Tree, WordUse
from bot.ports.items import Items, Making
from bot.ports.vectors import Vectors
from bot.private_files import tighten
from bot.store.sqlite.connections import Connections, store_errors
from bot.store.sqlite.copy import rows
from bot.store.sqlite.copy.follower import CopyFollower
from bot.store.sqlite.copy.rows import CopyDamagedError, damage_told
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.items import SqliteItems
from bot.store.sqlite.locks import FileLock
from bot.store.sqlite.recovery.network_disk import refuse_network_disk
from bot.store.sqlite.search.index import SqliteIndex
from bot.store.sqlite.search.meaning import VectorCopy

if TYPE_CHECKING:  # the library is there where the settings ask for it
    from bot.store.index.follower import IndexFollower

T = TypeVar("T")
_log = logging.getLogger(__name__)

COPY = "search.sqlite3"
EVERY = timedelta(seconds=1)  # that the database is asked what changed
_LONGEST = timedelta(seconds=8)  # between two tries while it cannot be reached
PATIENCE = timedelta(seconds=2)  # that whoever stored something waits until it is found here
_TAKING = 15.0  # seconds that another process may take to let go of the folder
_STEP = 0.05
# From where on a page says it: less is missing wherever something was stored a moment ago.
TOLD_SPAN = timedelta(seconds=10)
TOLD_ARRIVALS = 1000
_MARK = re.compile("[0-9]{1,16}")


class SearchCopy:
    """bot.ports.items.SearchIndex, in a copy that follows the items and the vectors of a database.

    One process at a time writes a copy. With `exclusive`, as in a service, it does so for its life, and keeps out every
    other such process; others, such as a command beside the service, search in what it writes, and write while nobody else
    does. It is opened by `open`, or when it is first asked.
    """

    def __init__(
        self,
        folder: Path,
        items: Items,
        vectors: Vectors,
        *,
        exclusive: bool = False,
        follower: "type[IndexFollower] | None" = None,
        every: timedelta = EVERY,
    ) -> None:
        """`follower` is the search index beside the copy, where there is to be one."""
        self.path = path = folder / COPY
        self._exclusive, self._every = exclusive, every
        self._ours = FileLock(path, ".copy")  # held by who writes the copy
        self._connections = Connections(path, durable=False)
        self.following = CopyFollower(items, vectors, self._connections)
        self.beside = follower(_folder_of_index(path), SqliteItems(self._connections), keeps=exclusive) if follower else None
        self._index = self._new_index()
        self._opening, self._step = asyncio.Lock(), asyncio.Lock()
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._spacing: asyncio.Task[bool] | None = None  # what begins to follow other vectors
        self._is_open = self._holds = self._is_beside_open = self._is_damaged = False
        self._level_at = 0.0  # by the monotonic clock; when it was opened, until it has all there is

    # --- being open, and following

    async def open(self) -> None:
        """Have a copy to search in, empty at first, and begin to bring it up to the database in the background.

        Raises StoreError where another process has the folder.
        """
        async with self._opening:
            if self._is_open:
                return
            try:
                with store_errors(self.path):
                    await asyncio.to_thread(self._enter)
                await self._made_ready()
            except BaseException:
                await self._leave()
                raise
            self._level_at, self._is_open = time.monotonic(), True
            self._begin(self._keep_up())
            await self._wait(self._begin(self._catch_up(items_alone=False)))

    async def close(self) -> None:
        """End what goes on in the background and let go of the folder."""
        async with self._opening:
            self._is_open = False
            tasks = set(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._connections.is_open or self._holds:
                await self._leave()

    def expect(self, space: str) -> None:
        """Follow the vectors of a space from now on, in the background, before anybody asks for what they find."""
        if space != self.following.position.space and (self._spacing is None or self._spacing.done()):
            self._spacing = self._begin(self._follow_space(space))

    async def follow(self) -> None:
        """Return when the copy has all there is; raises StoreError where that cannot be done."""
        await self.open()
        while not await self._follow_some():
            pass

    async def added(self) -> None:
        """Return when the copy has what was stored, after `PATIENCE` at the latest; at once where it is not open."""
        if not self._is_open:
            return
        self._wake.set()
        await self._wait(self._begin(self._catch_up()))

    def behind(self) -> Behind | None:
        """Return how far the copy is behind the database, as far as that is known; None while it is not open."""
        if not self._is_open:
            return None
        span = timedelta(seconds=time.monotonic() - self._level_at)
        return Behind(self.following.lacking, span, is_being_made=not self.following.position.is_complete)

    def _begin(self, job: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _wait(self, task: asyncio.Task[bool]) -> bool:
        """Return what the task says, False where it takes longer than `PATIENCE`; it goes on."""
        done, _ = await asyncio.wait([task], timeout=PATIENCE.total_seconds())
        return bool(done) and not task.cancelled() and task.result()

    async def _keep_up(self) -> None:
        """Follow until it is closed. Where that cannot be done it is tried again, a little later each time."""
        pause, failed = self._every, False
        while True:
            self._wake.clear()
            is_level, why = await self._tried()
            if why and not failed:
                _log.warning("the search copy stays behind, and goes on answering: %s", why)
            elif failed and not why:
                _log.info("the search copy follows the database again")
            pause, failed = min(2 * pause, _LONGEST) if why else self._every, bool(why)
            if is_level or failed:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), pause.total_seconds())

    async def _tried(self) -> tuple[bool, str]:
        """Bring the copy a little further; return whether it has all there is, and why that could not be done, or ""."""
        try:
            return await self._follow_some(), ""
        except StoreError as error:
            return False, str(error)
        except Exception as error:  # noqa: BLE001 - whatever it was, it is tried again
            _log.exception("the search copy met what it does not know")
            return False, type(error).__name__

    async def _catch_up(self, *, items_alone: bool = True) -> bool:
        """Write what changed of the items, or whatever is missing; return whether that could be done."""
        with contextlib.suppress(StoreError):  # `_keep_up` meets it too, and says so
            while not await self._follow_some(items_alone=items_alone):
                pass
            return True
        return False

    async def _follow_some(self, *, items_alone: bool = False) -> bool:
        """Bring the copy a little further, and return whether it has all there is."""
        async with self._step:
            if not await self._is_ours():
                await self._in_copy(self.following.look())
                is_level = await (self.following.has_items if items_alone else self.following.has_all)()
                if not is_level:
                    await asyncio.sleep(_STEP)
            else:
                if self._is_damaged:
                    await self._make_anew()
                further = self.following.follow_items if items_alone else self.following.follow_some
                is_level = await self._in_copy(further())
                await self._follow_beside()
                await self._let_others()
            if is_level and not items_alone:
                self._level_at = time.monotonic()
            return is_level

    async def _follow_beside(self) -> None:
        """Let the index beside the copy follow it, once the copy has what there is to make it of."""
        if self.beside is None or not self.following.position.is_complete:
            return
        if self._is_beside_open:
            await self.beside.follow()
        else:
            self._is_beside_open = True
            await self.beside.open()

    async def _in_copy(self, job: Awaitable[T]) -> T:
        try:
            return await job
        except CopyDamagedError as error:
            _log.warning("the search copy is made anew: %s", error)
            self._is_damaged = True
            self._wake.set()
            raise

    # --- the folder

    async def _is_ours(self) -> bool:
        """Be the one who writes the copy, where nobody else is."""
        if not self._holds:
            with store_errors(self.path):
                self._holds = await asyncio.to_thread(self._ours.take)
            if self._holds:
                await self._in_copy(self.following.look())  # who wrote it until now may have gone on
        return self._holds

    async def _let_others(self) -> None:
        if not self._exclusive:
            self._holds = False
            await asyncio.to_thread(self._ours.release)

    def _enter(self) -> None:
        refuse_network_disk(self.path)
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._holds = self._ours.take(_TAKING if self._exclusive else 0.0)
        if self._holds:
            self._ours.sign()
        elif self._exclusive:
            holder = self._ours.signature()
            raise StoreError(
                f"Another Broadsheet{f' (process {holder})' if holder else ''} has its search copy in {self.path.parent};"
                " give each process a folder of its own: `folder` under [postgres]."
            )

    async def _made_ready(self) -> None:
        """Open the copy; one that cannot be used is made anew, by who may write it."""
        self._connections.open()
        if self._holds:
            try:
                await self._make_ready()
            except CopyDamagedError as error:
                _log.warning("the search copy is made anew: %s", error)
                await self._make_anew()
            await self.following.look()
            await self._let_others()
            return
        await self._wait_until_it_is_ready()

    async def _make_ready(self) -> None:
        with damage_told():
            await self._connections.write(rows.make_ready)
        await asyncio.to_thread(tighten, [self.path])

    async def _make_anew(self) -> None:
        """Make an empty copy in the place of what is there."""
        await self._index.close()
        if self._connections.is_open:
            await self._connections.close()
        with store_errors(self.path):
            await asyncio.to_thread(self._remove)
        self._connections.open()
        self._index = self._new_index()  # what the one before knows is of the copy that is gone
        await self._make_ready()
        await self.following.look()
        self._is_damaged = False

    def _new_index(self) -> SqliteIndex:
        return SqliteIndex(self._connections, follower=self.beside, vectors=VectorCopy(self.path))

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm", "-journal", ".vectors"):
            Path(f"{os.path.realpath(self.path)}{ending}").unlink(missing_ok=True)

    async def _wait_until_it_is_ready(self) -> None:
        """Wait for who is making the copy's tables; raises StoreError where that takes too long."""
        end = time.monotonic() + _TAKING
        while True:
            try:
                return await self.following.look()
            except StoreError:
                if time.monotonic() >= end:
                    raise
            await asyncio.sleep(_STEP)

    async def _leave(self) -> None:
        if self.beside is not None and self._connections.is_open:
            await self.beside.close()
            self._is_beside_open = False
        await self._index.close()
        if self._connections.is_open:
            await self._connections.close()
        self._index = self._new_index()  # a closed one makes no file of vectors any more
        self._holds = False
        await asyncio.to_thread(self._ours.close)

    # --- searching

    async def _ask(self, ask: Callable[[SqliteIndex], Awaitable[T]]) -> T:
        async def asked() -> T:
            with damage_told():
                return await ask(self._index)

        await self.open()
        return await self._in_copy(asked())

    async def search(
        self,
        query: Query,
        now: datetime,
        *,
        limit: int = 10,
        offset: int = 0,
        mark: str = "",
        near: Near | None = None,
        cards: bool = False,
    ) -> Page:
        """As in the port; the page of a copy that lacks much says so."""
        await self._knows_space(near)
        mark = await self._known_mark(mark)
        page = await self._ask(
            lambda index: index.search(query, now, limit=limit, offset=offset, mark=mark, near=near, cards=cards)
        )
        return replace(page, behind=self._told())

    def _told(self) -> Behind | None:
        behind = self.behind()
        if behind is None:
            return None
        if behind.is_being_made or behind.span > TOLD_SPAN or behind.arrivals > TOLD_ARRIVALS:
            return behind
        return None

    async def _knows_space(self, near: Near | None) -> None:
        """Follow the vectors that are asked for; wait a little for those where no others were asked for before."""
        await self.open()
        if near is None or near.space == self.following.position.space:
            return
        self.expect(near.space)
        if self._spacing is not None:
            await self._wait(self._spacing)

    async def _follow_space(self, space: str) -> bool:
        with contextlib.suppress(StoreError):
            async with self._step:
                if not await self._is_ours():
                    return False
                await self._in_copy(self.following.follow_space(space))
            await self.follow()
            return True
        return False

    async def _known_mark(self, mark: str) -> str:
        """Return the mark of a page, which another process may have shown that was further than this one is."""
        if not _MARK.fullmatch(mark) or int(mark) <= await self._last_arrival():
            return mark
        if await self._wait(self._begin(self._catch_up())) and self.following.position.is_complete:
            return mark  # what it names nobody has, or it is there now
        return str(min(int(mark), await self._last_arrival()))

    async def _last_arrival(self) -> int:
        with damage_told():
            return await self._connections.read(last_id)

    async def similar(self, item: Item, now: datetime, *, limit: int = 10, near: Near | None = None) -> Sequence[Hit]:
        """As in the port."""
        await self._knows_space(near)
        return await self._ask(lambda index: index.similar(item, now, limit=limit, near=near))

    async def values(self, field: str, beginning: str, *, limit: int = 25) -> Sequence[tuple[str, int]]:
        """As in the port."""
        return await self._ask(lambda index: index.values(field, beginning, limit=limit))

    async def word_use(self, words: Sequence[str]) -> Mapping[str, WordUse]:
        """As in the port."""
        return await self._ask(lambda index: index.word_use(words))

    async def stands_for(self, spelt: Sequence[str]) -> Mapping[str, Sequence[tuple[str, int]]]:
        """As in the port."""
        return await self._ask(lambda index: index.stands_for(spelt))

    async def count(self, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        """As in the port."""
        return await self._ask(lambda index: index.count(tree, now, since=since))

    async def matching(self, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        """As in the port."""
        return await self._ask(lambda index: index.matching(tree, now, since=since))

    async def months(self, tree: Tree, now: datetime) -> Mapping[date, int]:
        """As in the port."""
        return await self._ask(lambda index: index.months(tree, now))

    async def texts(self, tree: Tree, now: datetime, *, limit: int) -> Sequence[tuple[str, str]]:
        """As in the port."""
        return await self._ask(lambda index: index.texts(tree, now, limit=limit))

    async def making(self) -> Making | None:
        """Return how far the copy is while it is made, or the index beside it."""
        await self.open()
        following = self.following
        if not following.position.is_complete:
            return Making(following.position.reached or 0, following.last_arrival)
        return await self._ask(lambda index: index.making())


def _folder_of_index(path: Path) -> Path:
    return path.with_name(f"{path.name}.search")
