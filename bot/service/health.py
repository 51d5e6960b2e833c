"""How the running service is: whether it lives, whether it can do its work, and what it would be measured by."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from bot.errors import BotError
from bot.models import EMAIL, Health, SourceState
from bot.ports.facts import HEARTBEAT
from bot.ports.source import Source
from bot.ports.store import Store
from bot.ports.vectors import Embedder
from bot.redact import redacted
from bot.service.measurements import JobRuns, Measurements

PATIENCE = 5.0  # seconds that the database may take to answer
DEAD = 20  # ticks: so long without one that ended, well or not, the process itself is stuck

_DOWN = (Health.DOWN, Health.CHANGED)


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One thing that was looked at."""

    name: str
    well: bool
    text: str


@dataclass(frozen=True, slots=True)
class SourceMetrics:
    """How a source is."""

    name: str
    well: bool  # it answered when it was last asked, or was not asked yet
    age: float | None  # since it last answered
    items: int  # read in the last collection that answered
    failures: int  # in a row
    errors: int  # since the service began


@dataclass(frozen=True, slots=True)
class LaneMetrics:
    """What waits in a lane."""

    verb: str
    lane: str
    waiting: int
    age: float  # of what waits longest, since it was due


@dataclass(frozen=True, slots=True)
class ProcessMetrics:
    """One process on the database, which may be this one."""

    id: str
    roles: str
    version: str
    age: float  # of its last sign of life


@dataclass(frozen=True, slots=True)
class SharedMetrics:
    """What is counted and timed where several processes work on one database; ages and waits in seconds."""

    lanes: Sequence[LaneMetrics] = ()
    leases: Sequence[str] = ()  # that this process holds
    processes: Sequence[ProcessMetrics] = ()
    rests: Sequence[str] = ()  # places that platforms asked to be left alone
    rescues: Mapping[str, int] = field(default_factory=dict)  # by this process's sweeper, by what it found
    waits: Mapping[str, float] = field(default_factory=dict)  # of this process for its turn among all, by platform
    behind: tuple[int, float] | None = None  # its search copy: changes, and for how long


@dataclass(frozen=True, slots=True)
class Duties:
    """What a process among several does, by which it is told whether it can."""

    alive: tuple[str, timedelta]  # a job that runs in every process, and how often
    recent: Mapping[str, timedelta]  # the jobs that must have gone well lately, and how often each runs
    asks_sources: bool
    hears: bool
    measure: Callable[[], Awaitable[SharedMetrics]]


@dataclass(frozen=True, slots=True)
class Metrics:
    """Everything that is counted and timed; ages in seconds, None where it never happened."""

    uptime: float
    tick_age: float | None  # since the last tick that went well
    lag: float
    blocked: int
    jobs: Mapping[str, tuple[int, int]]  # how often each ran, and how often it failed
    counts: Mapping[str, int]  # since the service began, by the words of bot.service.measurements
    ledger: Mapping[str, int] | None  # deliveries by state, and `due`; None: the database did not answer
    sources: Sequence[SourceMetrics]
    platforms: Mapping[str, bool] = field(default_factory=dict)  # as `broadsheet_platform_up` tells
    unreadable: Mapping[str, int] = field(default_factory=dict)  # events of each that its library could not read
    untold: Mapping[str, int] = field(default_factory=dict)  # answers to people that reached nobody, by platform
    vectors: Mapping[str, int] = field(default_factory=dict)  # how many items have one, a quick one, none; nothing if off
    shared: SharedMetrics | None = None  # None where one process does everything, or the database did not answer


# Why nobody is heard at a time, or by e-mail nothing can be sent, in a sentence; "" while all is well.
WhyUnheard = Callable[[datetime], str]
_SENT = "mails can be sent, as far as is known"  # the relay is met with the next mail


class ServiceHealth:
    """Looks at the service from within."""

    def __init__(
        self,
        measurements: Measurements,
        store: Store,
        sources: Sequence[Source],
        clock: Callable[[], datetime],
        tick: tuple[str, timedelta],
        platforms: Mapping[str, WhyUnheard] | None = None,
        embedder: Embedder | None = None,
        duties: Duties | None = None,
    ) -> None:
        """`tick` names the job that everything hangs on, and how often it runs; `platforms` are asked for their trouble.

        With `duties` it is one process among several: then those say what it hangs on.
        """
        self._duties = duties
        self._embedder = embedder
        self._platforms = platforms or {}
        self._clock = clock
        self._measurements = measurements
        self._store = store
        self._sources = sources
        self._tick, self._every = tick

    def alive(self) -> HealthCheck:
        """Say whether the process does anything at all: its loop answers, and its ticks end, even where they fail."""
        name, every = self._duties.alive if self._duties is not None else (self._tick, self._every)
        ended = self._measurements.jobs.get(name, JobRuns()).ended
        age = self._measurements.timer() - (self._measurements.started if ended is None else ended)
        what = "the last tick ended" if name == self._tick else f"the job {name} last ended"
        return HealthCheck("alive", age <= DEAD * every.total_seconds(), _ago(what, self._age(ended)))

    async def ready(self) -> Sequence[HealthCheck]:
        """Say whether digests would be noticed, made and posted now: the database, the last tick, at least one source, and
        at least one chat platform where any is configured; e-mail where nothing else is. Of one process among several,
        whether it does its part of that now.
        """
        duties = self._duties
        heard = (self._heard(),) if self._platforms and (duties is None or duties.hears) else ()
        if duties is not None:
            recent = [self._went_well(name, every) for name, every in duties.recent.items()]
            reached = (await self._reached(),) if duties.asks_sources else ()
            return (await self._database(), *recent, *reached, *heard)
        return (await self._database(), self._ticked(), await self._reached(), *heard)

    async def measure(self) -> Metrics:
        """Return all that is measured. A database that does not answer is measured too, by what is missing."""
        measurements = self._measurements
        try:
            async with asyncio.timeout(PATIENCE):
                ledger: Mapping[str, int] | None = await self._store.ledger.counts()
                states = await self._states()
                vectors = await self._vectors()
                shared = await self._duties.measure() if self._duties is not None else None
        except (BotError, TimeoutError):
            ledger, states, vectors, shared = None, [], {}, None
        return Metrics(
            uptime=measurements.timer() - measurements.started,
            tick_age=self._age(self._runs().succeeded),
            lag=measurements.lag,
            blocked=measurements.blocked,
            jobs={name: (runs.runs, runs.failures) for name, runs in measurements.jobs.items()},
            counts=dict(measurements.counts),
            ledger=ledger,
            sources=[self._source(each) for each in states],
            platforms={name: not said for name, said in self._troubles().items()},
            unreadable={name: measurements.unreadable[name] for name in self._platforms},
            untold={name: measurements.untold[name] for name in self._platforms},
            vectors=vectors,
            shared=shared,
        )

    async def _vectors(self) -> Mapping[str, int]:
        return asdict(await self._store.vectors.embedded(self._embedder.space)) if self._embedder is not None else {}

    def _source(self, state: SourceState) -> SourceMetrics:
        return SourceMetrics(
            state.name,
            state.health not in _DOWN,
            None if state.answered is None else (self._clock() - state.answered).total_seconds(),
            state.items,
            state.failures,
            self._measurements.source_errors[state.name],
        )

    def _runs(self) -> JobRuns:
        return self._measurements.jobs.get(self._tick, JobRuns())

    def _age(self, then: float | None) -> float | None:
        return None if then is None else self._measurements.timer() - then

    async def _states(self) -> list[SourceState]:
        return [await self._store.source_states.get(source.name) for source in self._sources]

    async def _database(self) -> HealthCheck:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._store.facts.get(HEARTBEAT)
        except TimeoutError:
            return HealthCheck("database", False, f"it did not answer within {PATIENCE:g} seconds")
        except BotError:
            # Its sentence names the path, which is the operator's to know: it stands in the log.
            return HealthCheck("database", False, "it cannot be read")
        return HealthCheck("database", True, "it answers")

    def _troubles(self) -> Mapping[str, str]:
        now = self._clock()
        return {name: redacted(trouble(now)) for name, trouble in self._platforms.items()}

    def _heard(self) -> HealthCheck:
        said = self._troubles()
        told = [f"{name}: {trouble or (_SENT if name == EMAIL else 'people are heard')}" for name, trouble in said.items()]
        chats = [trouble for name, trouble in said.items() if name != EMAIL]
        return HealthCheck("platforms", not all(chats or said.values()), "; ".join(told))

    def _ticked(self) -> HealthCheck:
        age = self._age(self._runs().succeeded)
        well = age is not None and age < 3 * self._every.total_seconds()
        return HealthCheck("tick", well, _ago("the last tick that went well ended", age))

    def _went_well(self, name: str, every: timedelta) -> HealthCheck:
        age = self._age(self._measurements.jobs.get(name, JobRuns()).succeeded)
        well = age is not None and age < 3 * every.total_seconds()
        return HealthCheck(name, well, _ago(f"the job {name} last went well", age))

    async def _reached(self) -> HealthCheck:
        try:
            async with asyncio.timeout(PATIENCE):
                states = await self._states()
        except (BotError, TimeoutError):
            return HealthCheck("sources", False, "how they are cannot be read")
        down = sum(each.health in _DOWN for each in states)
        asked = f"{len(states) - down} of {len(states)} answered when they were last asked, or were not asked yet"
        text = asked if states else "none is switched on"
        return HealthCheck("sources", not states or down < len(states), text)


def _ago(what: str, age: float | None) -> str:
    return f"{what}: not yet" if age is None else f"{what} {age:.0f} s ago"
