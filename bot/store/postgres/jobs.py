"""Jobs in PostgreSQL that wake a worker for a lane, by procrastinate. Nothing is lost with them: the ledger is the truth.

Its tables stand in a schema of their own. A job is named by its verb and lane, `make slack:3`: while one waits there is no
second one, and while one runs no second one begins. What has ended is removed.
"""

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from importlib.resources import files

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.manager import JobManager
from procrastinate.schema import SchemaManager
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool

from bot.errors import StoreError
from bot.ports.shared.lanes import DELIVER, MAKE, LaneJob, LaneWork
from bot.store.postgres.connections import Connections, Db, aside

log = logging.getLogger(__name__)

SCHEMA = "procrastinate"
BEAT, SILENT = timedelta(seconds=5), timedelta(seconds=20)  # between two signs of a worker's life; it is gone after that
LOOK = timedelta(seconds=2)  # whether a job waits that no notice came of
_CONNECTIONS = 3  # beside the one that listens
_PATIENCE = timedelta(seconds=10)
_STOOD_STILL = "This process stood still for so long that the others did its work; it begins anew by itself."
_VERSION = re.compile(r"(\d+\.\d+\.\d+)_\d+_(pre|post)?")

_INSIDE = f"set local search_path to {SCHEMA}"
# It is named as the table of our own steps is.
_STEPS = f"create table if not exists {SCHEMA}.schema_steps (name text primary key)"
_LOCK = "select pg_advisory_lock(hashtextextended('broadsheet jobs', 0))"
_TELL = "select pg_notify(%(channel)s, %(told)s)"
_UNLOCK = "select pg_advisory_unlock(hashtextextended('broadsheet jobs', 0))"


class _Pool(AsyncConnectionPool):
    """A pool that waits no longer for a server at its beginning than for a connection later."""

    async def open(self, wait: bool = False, timeout: float = 30.0) -> None:  # noqa: ASYNC109 - as the class has it
        await super().open(wait, min(timeout, self.timeout))


class _Manager(JobManager):
    """procrastinate's, which forgives that a job was taken for stalled, and removed, while its worker could not be seen."""

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        try:
            await super().finish_job(job, status, delete_job)
            # One that waited for this one to end was told of when nobody might take it yet.
            told = json.dumps({"type": "job_inserted", "job_id": job.id})
            await self.connector.execute_query_async(_TELL, channel=f"procrastinate_queue_v1#{job.queue}", told=told)
        except ConnectorException as error:
            # Whether that is so or the database is away: the sweeper finds it, nothing hangs on it.
            log.info("the end of job %s could not be noted: %s", job.lock, type(error.__cause__ or error).__name__)


class PostgresLaneJobs:
    """bot.ports.shared.lanes.LaneJobs."""

    def __init__(self, connections: Connections, *, beat: timedelta = BEAT, silent: timedelta = SILENT) -> None:
        """`silent` is after how long without a sign of life a worker is taken for gone, `beat` how often it gives one."""
        self._connections = connections
        self._beat, self._silent = beat, silent
        self._work: LaneWork | None = None
        self._app: App | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Connect; the tables are there. It is done with the first job, too. Raises StoreError."""
        await self._opened()

    async def _opened(self) -> App:
        async with self._opening:
            if self._app is None:
                self._app = await self._connected()
            return self._app

    async def _connected(self) -> App:
        # What it says of single jobs is for whoever looks into one; what fails is told by who called.
        logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
        app = App(connector=self._connector())
        app.job_manager = _Manager(app.connector)
        for verb in (MAKE, DELIVER):
            app.task(name=verb, queue=verb)(self._task(verb))
        with self._errors():
            try:
                await app.open_async()
            except BaseException:
                await app.close_async()
                raise
        return app

    async def close(self) -> None:
        """Let go of the connections."""
        app, self._app = self._app, None
        if app is not None:
            await app.close_async()

    async def defer(self, verb: str, lane: str) -> bool:
        """As in the port."""
        name, app = f"{verb} {lane}", await self._opened()
        with self._errors():
            try:
                await app.configure_task(verb, queue=verb, lock=name, queueing_lock=name).defer_async(lane=lane)
            except AlreadyEnqueued:
                return False
        return True

    async def work(self, verbs: Sequence[str], do: LaneWork, at_once: int) -> None:
        """As in the port."""
        self._work, app = do, await self._opened()
        with self._errors():
            await app.run_worker_async(
                queues=list(verbs),
                concurrency=at_once,
                wait=True,
                fetch_job_polling_interval=LOOK.total_seconds(),
                listen_notify=True,
                delete_jobs=DeleteJobCondition.ALWAYS,
                install_signal_handlers=False,
                update_heartbeat_interval=self._beat.total_seconds(),
                stalled_worker_timeout=self._silent.total_seconds(),
            )
        # It ends by itself where its sign of life or its listening failed.
        raise StoreError(f"The connection to the jobs in {self._connections.name} was lost; it is made anew by itself.")

    async def jobs(self) -> Sequence[LaneJob]:
        """As in the port."""
        app = await self._opened()
        with self._errors():
            found = await app.job_manager.list_jobs_async()
        live = [each for each in found if each.status in (Status.TODO.value, Status.DOING.value)]
        return [LaneJob(each.task_name, _lane(each), each.status == Status.DOING.value) for each in live]

    async def rescue(self) -> Sequence[LaneJob]:
        """As in the port."""
        manager, seconds = (await self._opened()).job_manager, self._silent.total_seconds()
        with self._errors():
            await manager.prune_stalled_workers(seconds)
            stalled = await manager.get_stalled_jobs(seconds_since_heartbeat=seconds)
            rescued = [LaneJob(each.task_name, _lane(each), True) for each in stalled if await _removed(manager, each)]
        for job in rescued:
            await self.defer(job.verb, job.lane)
        return rescued

    def _task(self, verb: str) -> Callable[..., Awaitable[None]]:
        async def run(lane: str) -> None:
            if self._work is not None:
                await self._work(verb, lane)

        return run

    def _connector(self) -> PsycopgConnector:
        conninfo = self._connections.conninfo()
        options = f"{conninfo_to_dict(conninfo).get('options') or ''} -c search_path={SCHEMA}".strip()
        return PsycopgConnector(
            conninfo=make_conninfo(conninfo, options=options),
            min_size=1,
            max_size=_CONNECTIONS,
            timeout=_PATIENCE.total_seconds(),
            reconnect_timeout=_PATIENCE.total_seconds(),
            name="jobs",
            pool_factory=_Pool,
        )

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what procrastinate raises inside the block into a StoreError that says what to do, and holds no secret."""
        with self._connections.errors():
            try:
                yield
            except ConnectorException as error:
                cause = error.__cause__
                if isinstance(cause, psycopg.errors.ForeignKeyViolation):  # its worker's row is gone
                    raise StoreError(_STOOD_STILL) from error
                if isinstance(cause, psycopg.Error):
                    raise cause from error
                raise StoreError(
                    f"The jobs in {self._connections.name} failed ({type(cause or error).__name__})."
                ) from error


async def _removed(manager: JobManager, job: Job) -> bool:
    """Remove a job; False where another process was first, or it has ended by now."""
    try:
        await manager.finish_job_by_id_async(job.id or 0, Status.FAILED, delete_job=True)
    except ConnectorException as error:
        if isinstance(error.__cause__, psycopg.errors.RaiseException):
            return False
        raise
    return True


def _lane(job: Job) -> str:
    return str(job.task_kwargs.get("lane", ""))


# --- its tables


async def prepare_jobs(db: Db) -> None:
    """Make procrastinate's tables, or bring them to what this version of it needs; `db` is in no transaction.

    Of the steps of its newest version those that take something away ("post") wait for the version after it: processes with
    the version before may still run beside this one.
    """
    await db.execute(_LOCK)
    try:
        for names, statements in await aside(partial(_missing, await _applied(db))):
            await _take(db, statements, names)
    finally:
        await db.execute(_UNLOCK)


def due_steps(names: Sequence[str], applied: frozenset[str]) -> list[str]:
    """Return which of these names of procrastinate's steps are to be taken now, in their order."""
    newest = max((_version(name) for name in names), default=())
    return [name for name in names if name not in applied and not ("_post_" in name and _version(name) == newest)]


def _version(name: str) -> tuple[int, ...]:
    found = _VERSION.match(name)
    return tuple(map(int, found[1].split("."))) if found else ()


def _missing(applied: frozenset[str] | None) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return what is to be run, each in one transaction, with the names of the steps that it takes."""
    steps = {each.name.removesuffix(".sql"): each for each in files("procrastinate.sql.migrations").iterdir()}
    names = sorted(name for name, file in steps.items() if file.name.endswith(".sql"))
    if applied is None:
        return [(names, (f"create schema {SCHEMA}", _INSIDE, SchemaManager.get_schema(), _STEPS))]
    return [((name,), (_INSIDE, steps[name].read_text("utf-8"))) for name in due_steps(names, applied)]


async def _applied(db: Db) -> frozenset[str] | None:
    """Return the names of the steps that were taken; None where there are no tables."""
    cursor = await db.execute("select to_regclass(%s)", [f"{SCHEMA}.schema_steps"])
    if (await cursor.fetchone()) == (None,):
        return None
    rows = await (await db.execute(f"select name from {SCHEMA}.schema_steps".encode())).fetchall()
    return frozenset(name for (name,) in rows)


async def _take(db: Db, statements: Sequence[str], names: Sequence[str]) -> None:
    """Run the statements in one transaction, and note the steps of these names as taken."""
    async with db.transaction():
        for each in statements:
            await db.execute(each.encode())
        await db.execute(f"insert into {SCHEMA}.schema_steps (name) select unnest(%s::text[])".encode(), [list(names)])
