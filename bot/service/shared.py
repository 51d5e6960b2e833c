"""The service of one process among several on a database: its jobs by its roles, and what others are to know of it."""

import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.collect.collector import Collector
from bot.collect.polling import PollingSchedule
from bot.delivery import Deliverer, DeliveryContext, Preparer, Scheduler, SubscriptionResumer
from bot.digest.request import RequestBuilder
from bot.embed.backfill import VectorBackfill
from bot.models import Behind
from bot.ports.digests import DigestMaker
from bot.ports.ledger import Ledger
from bot.ports.maintenance import Maintenance
from bot.ports.runner import Job
from bot.ports.shared.lanes import DELIVER, MAKE, LaneJobs, Lanes
from bot.ports.source import Source
from bot.ports.store import Store
from bot.service.backups import Backups
from bot.service.health import Duties, LaneMetrics, ProcessMetrics, SharedMetrics
from bot.service.jobs import (
    BEAT,
    TICK,
    Clock,
    collecting,
    embedding,
    keeping_time,
    listening,
    settling,
    speaking,
    upkeep,
)
from bot.service.lane_runner import LaneRunner
from bot.service.lanes import SWEEP, WORKERS, LaneParts, LaneWorker
from bot.service.leased import WorkLease, under_lease
from bot.service.measurements import Measurements, count_waits, count_writes
from bot.service.presence import PRESENT, OpenedPlaces, Presence, SharedHeartbeat
from bot.service.runner import LocalRunner
from bot.service.supervise import Outage
from bot.settings.load import Settings
from bot.settings.sections import Role

WAKE = timedelta(seconds=2)  # as often as one process alone looks what is to be made
LIMITS = timedelta(seconds=0.5)  # what other processes were asked to leave alone
OVERDUE = timedelta(seconds=5)  # a lane that is worked on has settled by then what it may have sent before
CLOCK = "clock"  # the lease of who notes what is due


@dataclass(frozen=True, slots=True)
class SharedDatabase:
    """A database that several processes work on, as one of them has it."""

    process: str  # its id
    opened: OpenedPlaces  # what its platforms say may be open again
    lanes: Lanes
    jobs: LaneJobs
    clock: Clock  # the database's
    measured: Job  # what measures that clock
    schema: int  # the step of the tables that this version was made for
    described: Callable[[], Awaitable[str]]  # what the database is, in words
    expect_usable: Callable[[], Awaitable[None]]  # raises Superseded where this version may not go on with it
    behind: Callable[[], Behind | None]  # how far this process's search copy is behind; None: it is not open


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """What a service works with."""

    settings: Settings
    store: Store
    maintenance: Maintenance
    delivery: DeliveryContext
    maker: DigestMaker
    requests: RequestBuilder
    collector: Collector
    sources: Sequence[Source]
    filler: VectorBackfill | None
    backups: Backups | None


class SharedService:
    """What one process of the service does, and shows of itself."""

    def __init__(
        self,
        database: SharedDatabase,
        parts: ServiceParts,
        roles: Sequence[Role],
        measurements: Measurements,
    ) -> None:
        self.database, self.roles, self.measurements = database, roles, measurements
        self._parts, self._opened = parts, database.opened
        self._clock = database.clock
        self._outage = Outage()
        self._leases: dict[str, WorkLease] = {}
        budgets = count_waits(parts.store.budgets, measurements.waited)
        self._delivery = replace(parts.delivery, ledger=self._counted(parts.store.ledger), budgets=budgets)
        self._deliverer = Deliverer(self._delivery)
        verbs = [verb for verb in (MAKE, DELIVER) if verb in roles]
        self.lanes = LaneWorker(self._lane_parts(), verbs, self._clock, self._outage, process=database.process)
        self._has_lanes = bool(verbs)
        self.presence = Presence(
            parts.store.processes, database.process, roles, database.schema, self._clock(), self._figures
        )

    def jobs(self, troubles: Mapping[str, Callable[[datetime], str]]) -> list[Job]:
        """Return what this process does again and again; `troubles` tell of its platforms, by name."""
        by_role: Mapping[Role, Callable[[], Iterable[Job]]] = {
            "clock": self._keeping_time,
            "collect": self._collecting,
            "deliver": self._delivering,
            "embed": self._embedding,
        }
        found = [*self._always(), *(job for role, made in by_role.items() if role in self.roles for job in made())]
        if self._has_lanes:
            found.append(Job("sweep", SWEEP, self.lanes.sweep, at_once=True))
        found += listening(troubles, self._clock)
        return [self._outage.told(self.measurements.watched(job)) for job in found]

    def runner(self, local: LocalRunner) -> LaneRunner:
        """Return what runs the jobs, and is stopped with `local`; to be called after `jobs`."""
        lanes, leases = self.lanes if self._has_lanes else None, [*self._leases.values()]
        return LaneRunner(local, self.presence, lanes, leases, self.database.expect_usable)

    def duties(self) -> Duties:
        """Return by what this process is told whether it can do its part."""
        recent = {"tick": TICK} if "clock" in self.roles else {}
        recent |= {"sweep": SWEEP} if self._has_lanes else {}
        hears = "front" in self.roles or "gateway" in self.roles
        return Duties(("process", PRESENT), recent, "collect" in self.roles, hears, self._measure)

    async def _measure(self) -> SharedMetrics:
        store, now = self._parts.store, self._clock()
        lanes = [
            LaneMetrics(each.verb, each.lane, each.waiting, max(0.0, (now - each.oldest).total_seconds()))
            for each in await self.database.lanes.waiting(now)
        ]
        processes = [
            ProcessMetrics(each.id, " ".join(each.roles), each.version, max(0.0, (now - each.beat).total_seconds()))
            for each in await store.processes.every()
        ]
        behind = self.database.behind()
        return SharedMetrics(
            lanes,
            [each.name for each in await store.leases.held() if each.holder == self.database.process],
            processes,
            [each.place for each in await store.budgets.rests()],
            dict(self.lanes.rescues),
            {platform: waited / 1000 for platform, waited in self.measurements.waited.items()},
            None if behind is None else (behind.arrivals, behind.span.total_seconds()),
        )

    # --- by role

    def _always(self) -> Iterable[Job]:
        heartbeat = SharedHeartbeat(self._parts.store.facts, self._parts.settings.database_path)
        return (
            Job("process", PRESENT, self.presence.beat),
            replace(self.database.measured, name="database's clock"),
            Job("follow", BEAT, heartbeat.follow),
            Job("opened", PRESENT, self._opened.tell),
            Job("limits", LIMITS, lambda: self._deliverer.refresh_limits(self._clock), at_once=True),
        )

    def _keeping_time(self) -> Iterable[Job]:
        """Note what is due, resume what may go on, and look after the data: one process does all of it."""
        keep, store = self._parts.settings.keep, self._parts.store
        heartbeat = SharedHeartbeat(store.facts, self._parts.settings.database_path)
        resumer = SubscriptionResumer(self._delivery)
        named = {job.name: job for job in keeping_time(Scheduler(self._delivery), resumer, heartbeat.beat, self._clock)}
        span = timedelta(days=keep.items_days), timedelta(days=keep.readings_days)
        found = [
            named["beat"],
            named["tick"],
            replace(named["resume"], run=self._after_hints(resumer, named["resume"])),
            Job("wake", WAKE, self._wake),
            *upkeep(store.facts, self._parts.maintenance, *span, self._parts.backups, self._clock),
        ]
        return [under_lease(job, self._lease(CLOCK)) for job in found]

    def _collecting(self) -> Iterable[Job]:
        parts, minutes = self._parts, self._parts.settings.run.collect_minutes
        pace, failed = PollingSchedule(timedelta(minutes=minutes), random.Random()), self.measurements.source_failed
        found = collecting(parts.collector, parts.store.source_states, parts.sources, pace, self._clock, failed)
        return [under_lease(job, self._lease(job.name)) for job in found]

    def _delivering(self) -> Iterable[Job]:
        """Tell, edit and publish what is to be; what is due is sent by lane, and what may have been sent settled there.

        Of a process that is gone others take the lanes over, once its silence is long enough. What it left is settled by
        whoever finds it overdue, without a lease: of two that come to the same delivery one is given it.
        """
        speaks = speaking(self._deliverer, self._clock)
        settle = settling(self._deliverer, self._clock, SWEEP, OVERDUE)
        return [settle, *(under_lease(job, self._lease(job.name)) for job in speaks)]

    def _embedding(self) -> Iterable[Job]:
        return [under_lease(job, self._lease(job.name)) for job in embedding(self._parts.filler, self._clock)]

    def _after_hints(self, resumer: SubscriptionResumer, resume: Job) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            for place in await self._opened.taken():
                resumer.hint(*place)
            self._delivery.obstacle_state.next_look = None  # other processes pause things, too
            await resume.run()

        return run

    async def _wake(self) -> None:
        await self.lanes.wake()

    # --- parts

    def _lease(self, name: str) -> WorkLease:
        if name not in self._leases:
            self._leases[name] = WorkLease(self._parts.store.leases, name, self.database.process)
        return self._leases[name]

    def _counted(self, ledger: Ledger) -> Ledger:
        return count_writes(ledger, self.measurements.counts)

    def _lane_parts(self) -> LaneParts:
        """Return what works on lanes: all of them share what this process knows of its platforms."""
        delivery, parts = self._delivery, self._parts
        of_lane = replace(delivery, settings=replace(delivery.settings, workers=WORKERS))
        return LaneParts(
            self.database.lanes,
            self.database.jobs,
            parts.store.processes,
            lambda ledger: Preparer(replace(of_lane, ledger=self._counted(ledger)), parts.maker, parts.requests),
            lambda ledger: Deliverer(replace(of_lane, ledger=self._counted(ledger))),
        )

    def _figures(self) -> Mapping[str, float]:
        behind = self.database.behind()
        copy = {} if behind is None else {"behind_changes": behind.arrivals, "behind_seconds": behind.span.total_seconds()}
        return {"lanes": self.lanes.in_hand, "lag": self.measurements.lag, **copy}
