"""Processes that are killed: at once, or before the nth call by which they would change a file of one folder.

Run as a program it does the work again and again, each time on a copy of a folder and killed one call later, until it is
done before the kill: `python -m tests.bot.store.sqlite.recovery.kills FOLDER WORK`.
"""

import asyncio
import contextlib
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapters.cli.main import _status
from bot.errors import StoreError
from bot.models import Item, Kind
from bot.store.sqlite.store import SqliteStore

NOW = datetime(2026, 4, 1, 7, tzinfo=UTC)
ROOT = Path(__file__).parents[5]
DATABASE, BACKUP = "a.db", "copy/b.db"
UNDECIDED = 77  # the exit status of who is asked whose the log is
OLD, LATER, BACKED_UP = 40, 15, 25  # items: in the old database, of these only in its log; and in the backup

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {"os.rename", "os.remove", "os.link", "os.truncate", "os.mkdir", "os.chmod", "sqlite3.connect", "fcntl.flock"}


def items(number: int, start: int = 0) -> list[Item]:
    return [
        Item(key=f"arxiv:2604.{at:05}", kind=Kind.PAPER, title=f"Paper {at} on caches", abstract="It caches.", seen=NOW)
        for at in range(start, start + number)
    ]


def killed_before(number: int, folder: Path) -> None:
    """From now on, count what changes files of the folder, and die without a word before the nth."""
    left = number

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, str) and path.startswith(str(folder)) and isinstance(flags, int) and flags & _WRITES:
                count()
        elif event in _CHANGES:
            count()

    def connected(*arguments: Any, **settings: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = connect(*arguments, **settings)
        made.set_trace_callback(count)  # before each statement
        return made

    connect: Any = sqlite3.connect
    sqlite3.connect = connected  # type: ignore[assignment]
    sys.addaudithook(hook)


async def fill(path: Path, *batches: list[Item]) -> SqliteStore:
    store = SqliteStore(path)
    await store.open()
    for batch in batches:
        await store.items.add(batch, NOW)
    return store


async def opened(path: Path) -> None:
    store = SqliteStore(path, exclusive=True)
    await store.open()
    await store.facts.set("opened", "yes")
    await store.close()


def restore(folder: Path) -> None:
    SqliteStore(folder / DATABASE).maintenance.restore(folder / BACKUP, NOW)


def start(folder: Path) -> None:
    asyncio.run(opened(folder / DATABASE))


def restore_by_command(folder: Path) -> None:
    """Do as a person does, and keep what is said beside the folder."""
    os.environ["BROADSHEET_DATABASE"] = str(folder / DATABASE)
    os.chdir(folder)
    with folder.with_name(f"{folder.name}.said").open("w", encoding="utf-8") as said, contextlib.redirect_stdout(said):
        sys.exit(_status(["db", "restore", "--yes", str(folder / BACKUP)]))


WORKS: dict[str, Callable[[Path], None]] = {"restore": restore, "start": start, "command": restore_by_command}


def die_holding(path: Path, batches: int = 1) -> None:
    """Write batches of items into the database and be killed with them in its log."""

    async def work() -> None:
        store = SqliteStore(path)
        await store.open()
        begun = (await store.items.counts())["items"]
        for at in range(batches):
            await store.items.add(items(LATER, begun + LATER * at), NOW)
        os.kill(os.getpid(), signal.SIGKILL)

    forked(lambda: asyncio.run(work()))


def forked(work: Callable[[], None], allow: int = 0) -> int:
    """Do the work in a process of its own; return its exit status, which is 0 or as allowed, or -9 where it was killed."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        except BaseException:  # told before the process ends
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL, allow), "the work failed"
    return status


def stage(folder: Path) -> None:
    """Make a folder with a killed service's database, its heartbeat beside it, and a backup of it from before."""
    folder.mkdir(parents=True)
    (folder / "copy").mkdir()

    async def fill_both() -> None:
        store = await fill(folder / DATABASE, items(BACKED_UP))
        await store.maintenance.backup(folder / BACKUP)
        await store.close()

    forked(lambda: asyncio.run(fill_both()))
    die_holding(folder / DATABASE)
    assert OLD == BACKED_UP + LATER
    (folder / f"{DATABASE}.alive").write_text(NOW.isoformat())


def kill_everywhere(staged: Path, work: str) -> list[Path]:
    """Do the work on copies of the folder, killed before its first change, its second, …; return the copies."""
    left: list[Path] = []
    killed = True
    while killed:
        copy = staged.with_name(f"{staged.name}-{work}-{len(left) + 1:03}")
        shutil.copytree(staged, copy)
        number = len(left) + 1

        def one(copy: Path = copy, number: int = number) -> None:
            killed_before(number, copy)
            WORKS[work](copy)

        killed = forked(one) != 0
        left.append(copy)
    return left


COPIES: list[Callable[[Path, Path], object]] = [shutil.copyfile, shutil.copy2]


class Walk:
    """A database at random: written, closed, killed, backed up, copied, and put over; each step says what must be found."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder, self.place = folder, 0
        self.expected, self.written = 0, 0  # items that must be found; those there were after the last transaction
        self.in_doubt = False  # whether the log may go on from what was put over its database
        self.kept: list[tuple[Path, int]] = []  # copies, and how many items they have
        self.known: set[Path] = set()  # of these, what a log can go on from: made by hand, or put before
        self.closed = True
        (folder / "0").mkdir(parents=True)

    @property
    def path(self) -> Path:
        return self.folder / str(self.place) / DATABASE

    def run(self, steps: int) -> None:
        self.write(killed=False)
        for _ in range(steps):
            self.random.choice(
                [self.die, self.die, self.die, self.close, self.back_up, self.copy, self.put, self.put, self.carry]
            )()
        self.close()

    def die(self) -> None:
        self.write(killed=True)

    def close(self) -> None:
        self.write(killed=False)

    def write(self, *, killed: bool) -> None:
        number = self.random.choice([0, 1, 20, 20, 400])
        status = forked(lambda: asyncio.run(self._write(number, killed=killed)), allow=UNDECIDED)
        if status == UNDECIDED:
            assert self.in_doubt, "it is known"
            keep = self.random.random() < 0.5
            SqliteStore(self.path).maintenance.settle_log(keep=keep)
            self.expected = self.written if keep else self.expected
            self.in_doubt = False
            self.write(killed=killed)
            return
        self.expected += number
        self.written, self.in_doubt, self.closed = self.expected, False, not killed

    async def _write(self, number: int, *, killed: bool) -> None:
        store = SqliteStore(self.path)
        try:
            await store.open()
        except StoreError as error:
            if "db wal keep" not in str(error):
                raise
            os._exit(UNDECIDED)
        found = (await store.items.counts())["items"]
        assert found == self.expected, (found, self.expected, self.in_doubt)
        assert await store.maintenance.check() == []
        if number:
            await store.items.add(items(number, found), NOW)
        if killed:
            os.kill(os.getpid(), signal.SIGKILL)
        await store.close()

    def back_up(self) -> None:
        self.close()
        path = self.folder / f"backup-{len(self.kept)}"

        async def work() -> None:
            store = await fill(self.path)
            await store.maintenance.backup(path)
            await store.close()

        forked(lambda: asyncio.run(work()))
        self.kept.append((path, self.expected))

    def copy(self) -> None:
        """Copy the file by hand, as it is allowed: when nobody has it open and it was closed."""
        if self.closed:
            path = self.folder / f"copy-{len(self.kept)}"
            shutil.copy2(self.path, path)
            self.kept.append((path, self.expected))
            self.known.add(path)

    def put(self) -> None:
        """Put a copy in the place of the database, and leave what lies beside it."""
        if not self.kept:
            return
        source, number = self.random.choice(self.kept)
        moved = source.with_name("moved")
        self.random.choice(COPIES)(source, moved)
        if self.random.random() < 0.5:
            moved.replace(self.path)
        else:
            self.random.choice(COPIES)(moved, self.path)
        self.in_doubt = not self.closed and source in self.known
        self.known.add(source)
        self.expected = number

    def carry(self) -> None:
        """Go on with a copy of the database and its log elsewhere, copied in any order, and open it there."""
        if self.in_doubt:
            return
        before, self.place = self.path.parent, self.place + 1
        self.path.parent.mkdir()
        files = [each for each in before.iterdir() if each.suffix != ".open" or self.random.random() < 0.5]
        self.random.shuffle(files)
        for each in files:
            if not each.name.endswith((".lock", "-shm")):
                self.random.choice(COPIES)(each, self.path.parent / each.name)
        self.die()


def serve() -> None:
    """For each line "WORK FOLDER": do it in a process of its own, begun when the folder's `.go` is there."""
    import bot.app  # noqa: F401 - what the command would import while it is traced

    for line in sys.stdin:
        work, _, name = line.strip().partition(" ")
        folder = Path(name)
        child = os.fork()
        if not child:
            while not folder.with_name(f"{folder.name}.go").exists():
                time.sleep(0.001)
            with contextlib.suppress(SystemExit):
                WORKS[work](folder)
            os._exit(0)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("over", flush=True)


def main(folder: Path, works: list[str]) -> None:
    if not works:
        stage(folder)
    if works == ["serve"]:
        serve()
        return
    for name in works:
        if name in WORKS:
            print(*kill_everywhere(folder, name), sep="\n")
        elif name.startswith("walk:"):
            Walk(folder, int(name.removeprefix("walk:"))).run(12)
            print(folder)
        else:
            die_holding(folder / DATABASE, batches={"die": 1, "much": 200}[name])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
