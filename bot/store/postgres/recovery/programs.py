"""PostgreSQL's own programs: pg_dump, which makes backups, and pg_restore and psql, which put one back.

What is secret goes to them by the environment: a command line is seen by all who use the machine.
"""

import asyncio
import contextlib
import os
import shutil
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bot.atomic_file import in_place
from bot.errors import StoreError
from bot.redact import redacted
from bot.store.postgres.connections import Db
from bot.store.postgres.jobs import SCHEMA as JOBS

ASIDE = "before_"  # how the schemas begin in which restores set aside what was there
_LONGEST_ERROR = 64_000  # bytes of what a program says
_AT_ONCE = 1 << 16  # bytes of a script
_HEAD = 16_384  # bytes in which a script has its settings
# pg_restore of PostgreSQL 17 and newer sets it, and older servers refuse it.
_TOO_NEW = (b"SET transaction_timeout = 0;\n", 17)


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs as they are found on PATH, for a server of this major version."""

    server: int

    async def path(self, name: str, purpose: str) -> str:
        """Return where the program is; raises StoreError, which begins with the purpose, where it is not there."""
        found = await asyncio.to_thread(shutil.which, name)
        if found is None:
            raise StoreError(f"{purpose} {name}, which is not here; {self.install}.")
        return found

    @property
    def install(self) -> str:
        """What to install, as the end of a sentence."""
        return (
            f"install PostgreSQL's client programs of version {self.server} or newer"
            f" (the package postgresql-client-{self.server} of Debian and Ubuntu), and see that it stands first on PATH"
        )


async def programs_for(db: Db) -> Programs:
    """Return the programs for the server of a connection."""
    return Programs(db.info.server_version // 10_000)


@dataclass(frozen=True, slots=True)
class _Access:
    """How a program is to connect: what its command line says, and its environment."""

    named: str
    environment: Mapping[str, str]


def _access(conninfo: str, program: str) -> _Access:
    given = {name: str(value) for name, value in conninfo_to_dict(conninfo).items() if value is not None}
    secret = {name: value for name in ("password", "sslpassword") if (value := given.pop(name, None))}
    if "sslpassword" in secret:
        raise StoreError(f"{program} cannot be given the password of a key unseen; use a key without one for the database.")
    environment = _environment() | ({"PGPASSWORD": secret["password"]} if secret else {})
    return _Access(f"--dbname={make_conninfo(**given)}", environment)


def _environment() -> dict[str, str]:
    """Return what libpq goes by and how programs are found; nothing else of ours, no secret above all."""
    kept = ("PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR")
    ours = {name: value for name, value in os.environ.items() if name in kept or name.startswith("PG")}
    return {**ours, "LC_ALL": "C"}  # what it says is looked at


@contextlib.asynccontextmanager
async def _ending(child: Process) -> AsyncIterator[None]:
    """End the program where the block is left before it has ended."""
    try:
        yield
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
        await child.wait()


async def _said(stream: asyncio.StreamReader | None) -> str:
    """Return the end of what comes of a pipe, when it is closed."""
    assert stream is not None  # noqa: S101 - a pipe was asked for
    said = b""
    while piece := await stream.read(_LONGEST_ERROR):
        said = (said + piece)[-_LONGEST_ERROR:]
    return said.decode(errors="replace")


def _last_of(said: str) -> str:
    """Return the last line that says what went wrong, without a secret that may stand in it, and without a full stop."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.partition("ERROR:")[2] or line for line in lines if "ERROR:" in line or "FATAL:" in line]
    return redacted((errors or lines or ["it did not say why"])[-1].strip()).rstrip(".")


# --- backups


async def dump(programs: Programs, conninfo: str, path: Path) -> None:
    """Write what pg_dump makes of the database, without jobs and what restores set aside; raises StoreError."""
    program = await programs.path("pg_dump", "A backup of a PostgreSQL database is made by")
    access = _access(conninfo, "pg_dump")
    left_out = [f"--exclude-schema={JOBS}", f"--exclude-schema={ASIDE}*"]
    command = [program, "--format=custom", "--no-password", "--lock-wait-timeout=60s", *left_out]
    async with _put_in_place(path) as partial:
        child = await asyncio.create_subprocess_exec(
            *command,
            f"--file={partial}",
            access.named,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
            env=access.environment,
        )
        async with _ending(child):
            said = await _said(child.stderr)
            status = await child.wait()
        if status:
            raise StoreError(_no_backup(said, programs))


def _no_backup(said: str, programs: Programs) -> str:
    if "version mismatch" in said:
        older = f"pg_dump is older than the server, which is PostgreSQL {programs.server}"
        return f"No backup was made: {older}; {programs.install}."
    return f"No backup was made: {_last_of(said)}."


@contextlib.asynccontextmanager
async def _put_in_place(path: Path) -> AsyncIterator[Path]:
    """Give an empty file that takes the place of `path` when the block ends, and goes where it fails; raises StoreError."""
    manager = in_place(path)
    try:
        partial = await asyncio.to_thread(manager.__enter__)
        try:
            yield partial
        except BaseException as error:
            await asyncio.to_thread(manager.__exit__, type(error), error, error.__traceback__)
            raise
        await asyncio.to_thread(manager.__exit__, None, None, None)
    except OSError as error:
        raise StoreError(f"The backup cannot be written to {path}: {error.strerror or error}.") from error


# --- putting one back


async def contents(programs: Programs, path: Path) -> str:
    """Return the list of what a backup holds, as pg_restore writes it; raises StoreError where it is none, or not whole."""
    program = await programs.path("pg_restore", "A backup of a PostgreSQL database is read by")
    # The list stands at the beginning of the file: only who reads all of it knows that it is whole.
    await _read(program, programs, path, "--file=/dev/null")
    return await _read(program, programs, path, "--list")


async def _read(program: str, programs: Programs, path: Path, how: str) -> str:
    child = await asyncio.create_subprocess_exec(
        program, how, str(path), stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=_environment()
    )
    async with _ending(child):
        assert child.stdout is not None  # noqa: S101 - a pipe was asked for
        found, said = await asyncio.gather(child.stdout.read(), _said(child.stderr))
        status = await child.wait()
    if status:
        raise StoreError(_unread(said, programs, path))
    return found.decode(errors="replace")


def _unread(said: str, programs: Programs, path: Path) -> str:
    if "unsupported version" in said:
        return f"{path} was made by a newer pg_dump than this pg_restore reads; {programs.install}."
    if "does not appear to be a valid archive" in said or "too short" in said:
        return f"{path} is no backup that pg_restore reads: `broadsheet db backup` and `pg_dump --format=custom` make them."
    return f"The backup {path} is damaged ({_last_of(said)}); choose another one."


@dataclass(frozen=True, slots=True)
class Script:
    """What psql is to run around a backup, in one transaction: nothing of it is done where any of it fails."""

    before: str
    after: str


async def load(programs: Programs, conninfo: str, path: Path, schema: str, script: Script) -> None:
    """Run the script around what the backup has in the schema; raises StoreError, and then nothing has changed.

    psql is told to commit only when pg_restore has ended well: to a file that ends early it would not object.
    """
    reader = await programs.path("pg_restore", "A backup of a PostgreSQL database is put back by")
    writer = await programs.path("psql", "A backup of a PostgreSQL database is put back by")
    access = _access(conninfo, "psql")
    # Its owner and rights are those of the one who restores: roles of another server may not be there.
    restoring = [reader, f"--schema={schema}", "--no-owner", "--no-privileges", "--file=-", str(path)]
    reading = await asyncio.create_subprocess_exec(*restoring, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=_environment())
    async with _ending(reading):
        writing = await asyncio.create_subprocess_exec(
            *(writer, "--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--file=-", access.named),
            stdin=PIPE,
            stdout=DEVNULL,
            stderr=PIPE,
            env=access.environment,
        )
        async with _ending(writing):
            fed, read_said, write_said = await asyncio.gather(
                _feed(reading, writing, script, programs.server), _said(reading.stderr), _said(writing.stderr)
            )
            status = await writing.wait()
    if not fed and reading.returncode and not write_said:
        raise StoreError(_unread(read_said, programs, path))
    if not fed or status:
        why = (
            f"psql is older than pg_restore; {programs.install}" if "invalid command" in write_said else _last_of(write_said)
        )
        raise StoreError(f"Nothing was restored, all is as it was: {why}.")


async def _feed(reading: Process, writing: Process, script: Script, server: int) -> bool:
    """Give psql the script around what pg_restore writes; return whether all of it was given."""
    assert reading.stdout is not None  # noqa: S101 - pipes were asked for
    assert writing.stdin is not None  # noqa: S101
    to = writing.stdin
    try:
        to.write(script.before.encode())
        head = await _beginning(reading.stdout)
        to.write(head if server >= _TOO_NEW[1] else head.replace(_TOO_NEW[0], b"", 1))
        while piece := await reading.stdout.read(_AT_ONCE):
            to.write(piece)
            await to.drain()
        if await reading.wait():
            writing.kill()  # without a commit the server undoes it
            return False
        to.write(script.after.encode())
        await to.drain()
        to.close()
        await to.wait_closed()
    except (BrokenPipeError, ConnectionResetError):  # it has ended, and says why
        with contextlib.suppress(ProcessLookupError):
            reading.kill()
        return False
    return True


async def _beginning(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readexactly(_HEAD)
    except asyncio.IncompleteReadError as error:
        return error.partial
