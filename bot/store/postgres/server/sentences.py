"""What is said of a server and of what it refuses, for people: never a user or a password."""

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout

from bot.errors import StoreError

BUSY = "The database {name} does not answer, or all connections to it are busy; is the server up?"


# Of a pipeline that was given up the first error may not be told any more; nothing of it was done.
IN_THE_WAY = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.PipelineAborted,
)


class InTheWayError(StoreError):
    """Another transaction came in the way of this one, which left nothing behind."""


class BusyError(StoreError):
    """No connection is free, or none can be made."""


class DeadError(StoreError):
    """The connection is gone."""


def parts(address: str) -> dict[str, str] | None:
    """Return what libpq reads in an address; None where it cannot, or takes a part of the password for the server's name."""
    try:
        given = {name: str(value) for name, value in conninfo_to_dict(address).items() if value is not None}
    except psycopg.Error:
        return None
    is_torn = any("@" in given.get(name, "") for name in ("host", "port", "dbname"))
    return None if is_torn or not set(given.get("port", "")) <= set("0123456789,") else given


def named(address: str) -> str:
    """Return the server and the database of an address, for people: never a user or a password."""
    given = parts(address)
    if given is None:
        return "PostgreSQL"
    host, port = given.get("host") or given.get("hostaddr") or "localhost", given.get("port")
    return f"{host}{f':{port}' if port else ''}/{given.get('dbname') or ''}"


def is_dead(error: psycopg.Error) -> bool:
    """Say whether the connection is gone, and another one may be tried."""
    if isinstance(error, PoolTimeout | PoolClosed):
        return False
    lost = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
    return lost or (error.sqlstate or "").startswith("57P") or (error.sqlstate or "").startswith("08")


def sentence(error: psycopg.Error, name: str) -> str:
    """Return what is said of an error of the database of that name, with what to do."""
    if isinstance(error, PoolTimeout):
        return BUSY.format(name=name)
    sentences = dict(_SENTENCES)
    for each, sentence in sentences.items():
        if isinstance(error, each):
            return sentence.format(name=name)
    if str(error).startswith(("connection", "failed to resolve")):  # none was made, and libpq says why in words alone
        found = (sentences[kind] for words, kind in _AT_CONNECTING if words in str(error))
        return next(found, "The database {name} cannot be reached; is the server up?").format(name=name)
    if is_dead(error):
        return f"The connection to the database {name} was lost; it is made anew by itself."
    if isinstance(error, psycopg.DataError) and error.sqlstate is None:
        return f"A text cannot be stored in {name}: it holds a character that PostgreSQL has no room for (0)."
    # Of psycopg's own errors without a state the text may hold how it was to connect.
    said = error.diag.message_primary or type(error).__name__
    return f"The database {name} failed: {said.rstrip('.')}."


_AT_CONNECTING: tuple[tuple[str, type[psycopg.Error]], ...] = (
    ("authentication failed", psycopg.errors.InvalidPassword),
    ("no password supplied", psycopg.errors.InvalidPassword),
    ("no pg_hba.conf entry", psycopg.errors.InvalidPassword),
    ("does not exist", psycopg.errors.InvalidCatalogName),
    ("too many clients", psycopg.errors.TooManyConnections),
    ("connection slots", psycopg.errors.TooManyConnections),
    ("read-only", psycopg.errors.ReadOnlySqlTransaction),
)
_SENTENCES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (
        psycopg.errors.DiskFull,
        "The disk of the database {name} is full; make room, nothing that was being written is half there.",
    ),
    (
        psycopg.errors.ReadOnlySqlTransaction,
        "The database {name} may only be read: is it a standby? Name its primary, or both.",
    ),
    (
        psycopg.errors.InsufficientPrivilege,
        "The user of the database {name} may not do that; it must own the database's tables.",
    ),
    (psycopg.errors.InvalidPassword, "The database {name} does not take the user or the password."),
    (
        psycopg.errors.InvalidCatalogName,
        "The database {name} or its user does not exist; make them with `createuser` and `createdb`.",
    ),
    (
        psycopg.errors.TooManyConnections,
        "The server of {name} takes no more connections; raise max_connections, or lower `connections`.",
    ),
    (
        psycopg.errors.LockNotAvailable,
        "Another process has held what is to be changed in {name} for ten seconds; it is tried again.",
    ),
    (
        psycopg.errors.ProgramLimitExceeded,
        "A text cannot be stored in {name}: it is a name that is too long, of more than about 2,700 bytes.",
    ),
    (psycopg.errors.QueryCanceled, "The database {name} took longer than a minute for one statement."),
    (psycopg.errors.UndefinedTable, "The database {name} lacks tables; run `broadsheet db migrate`."),
)
