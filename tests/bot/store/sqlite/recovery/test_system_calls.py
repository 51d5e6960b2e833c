"""`broadsheet db restore` and a start, killed before each system call by which they change a file, by strace."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot.store.sqlite.recovery.kills import BACKED_UP, DATABASE, OLD, ROOT
from tests.bot.store.sqlite.recovery.test_restore import held_by, kills, number_in, partials, put_aside, restored_again

CALLS = (
    "rename,renameat,renameat2,unlink,unlinkat,link,linkat,mkdir,openat,write,pwrite64,ftruncate,fsync,fdatasync,"
    "chmod,fchmodat"
)
STRACE = shutil.which("strace")


def may_trace() -> bool:
    return STRACE is not None and subprocess.run([STRACE, "-f", "-o", os.devnull, "true"], check=False).returncode == 0


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not may_trace(), reason="strace is not there, or may not trace"),
]


class Served:
    """A process that does work in children, which strace is attached to before they begin."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.bot.store.sqlite.recovery.kills", ".", "serve"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def trace(self, work: str, folder: Path, *options: str) -> list[str]:
        """Do the work on the folder under strace with these options; return what it traced."""
        assert STRACE is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        go, log = folder.with_name(f"{folder.name}.go"), folder.with_name(f"{folder.name}.log")
        print(work, folder, file=self.process.stdin, flush=True)
        child = self.process.stdout.readline().strip()
        command = [STRACE, "-f", "-p", child, "-o", str(log), "-e", f"trace={CALLS}", "-e", "signal=none", *options]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
            assert strace.stderr is not None
            assert "attached" in strace.stderr.readline()
            go.touch()
            strace.wait(timeout=60)
        assert self.process.stdout.readline() == "over\n"
        go.unlink()
        return log.read_text("utf-8", "replace").splitlines()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    made = Served()
    yield made
    made.process.communicate()


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calls") / "staged"
    kills(folder)
    return folder


def changes(lines: list[str], folder: Path) -> list[tuple[str, int]]:
    """Return which calls change a file, each as its name and which one it is of that name in its thread."""
    found, counted = [], Counter[tuple[str, str]]()
    for line in lines:
        parsed = re.match(r"(\d+) +(\w+)\((.*)", line)
        if parsed is None:
            continue
        thread, call, rest = parsed.groups()
        counted[thread, call] += 1
        if call != "openat" or (str(folder) in rest and "O_CREAT" in rest):
            found.append((call, counted[thread, call]))
    return list(dict.fromkeys(found))


def killed(served: Served, staged: Path, work: str) -> list[Path]:
    """Do the work on copies of the folder, killed before each call that changes a file; return the copies."""
    whole = staged.with_name(f"{work}-whole")
    shutil.copytree(staged, whole)
    left = []
    for call, number in changes(served.trace(work, whole), whole):
        folder = staged.with_name(f"{work}-{call}-{number}")
        shutil.copytree(staged, folder)
        served.trace(work, folder, "-e", f"inject={call}:signal=KILL:when={number}")
        left.append(folder)
    return [*left, whole]


def what_was_said(folder: Path) -> str:
    said = folder.with_name(f"{folder.name}.said")
    return said.read_text("utf-8") if said.exists() else ""


async def test_a_restore_killed_before_any_system_call_leaves_the_old_database_or_the_backup(
    served: Served, staged: Path
) -> None:
    left = await asyncio.to_thread(killed, served, staged, "command")
    found = Counter[int]()
    for folder in left:
        number = await number_in(folder / DATABASE)
        found[number] += 1
        assert number == BACKED_UP or "Restored" not in await asyncio.to_thread(what_was_said, folder), folder
        assert partials(folder) == [], folder
        await restored_again(folder)
    print(len(left), "kills;", dict(found))
    assert set(found) == {OLD, BACKED_UP}
    assert len(left) > 50


async def test_a_start_killed_before_any_system_call_while_it_ends_a_restore_is_ended_by_the_next(
    served: Served, tmp_path: Path, staged: Path
) -> None:
    await asyncio.to_thread(shutil.copytree, staged, tmp_path / "staged")
    left = await asyncio.to_thread(kills, tmp_path / "staged", "restore")
    decided = next(folder for folder in left if (folder / f"{DATABASE}.restoring").exists())
    again = await asyncio.to_thread(killed, served, decided, "start")
    for folder in again:
        assert await number_in(folder / DATABASE) == BACKED_UP, folder
        assert OLD in await asyncio.to_thread(lambda aside: [held_by(each) for each in aside], put_aside(folder))
        assert partials(folder) == [], folder
    print(len(again), "kills")
