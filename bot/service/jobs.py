"""What the service does by itself, and how often: collect, notice what is due, make and deliver it, look after the data."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from bot.collect.collector import Collector
from bot.collect.polling import PollingSchedule
from bot.delivery import Deliverer, Preparer, Scheduler, SubscriptionResumer
from bot.embed.backfill import VectorBackfill
from bot.models import EMAIL
from bot.ports.facts import HEARTBEAT, Facts
from bot.ports.maintenance import Maintenance
from bot.ports.runner import Job
from bot.ports.source import Source, SourceStates
from bot.service.backups import Backups

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]

TICK = timedelta(seconds=15)  # how long after its time a digest is noticed, at the latest
BEAT = timedelta(seconds=15)  # between two heartbeats, whatever else there is to do
PUBLISH = timedelta(seconds=2)
DELIVER = timedelta(seconds=1)
SETTLE = timedelta(seconds=15)
TELL = timedelta(seconds=2)
EDIT = timedelta(seconds=30)  # whether a message says other counts than stand
FOLLOWERS = timedelta(seconds=5)  # whether what was posted is to be published to who follows a channel
RESUME = timedelta(seconds=5)  # whether something is to be asked about what is paused
LOOK = timedelta(minutes=1)  # whether a source is due
LISTEN = timedelta(seconds=30)  # whether people are heard
LIMITS = timedelta(seconds=0.5)  # what other processes were asked to leave alone
EMBED = timedelta(seconds=30)  # whether an item lacks its vector
UPKEEP = timedelta(hours=1)  # whether it is time for a backup, and to drop what is old
PRUNED = timedelta(days=1)

# A call to a platform may take 15 seconds, and its outcome is to be recorded: all ends within 30 seconds after SIGTERM.
SENDING = timedelta(seconds=20)

_PRUNED = "pruned"  # the fact that says when


@dataclass(frozen=True, slots=True)
class DeliveryJobs:
    """Keeps the schedules and delivers.

    `write_heartbeat` shows that the service lives; when that cannot be written, nothing is due.
    """

    scheduler: Scheduler
    preparer: Preparer
    deliverer: Deliverer
    resumer: SubscriptionResumer
    write_heartbeat: Callable[[datetime], Awaitable[None]]

    def jobs(self, clock: Clock) -> Sequence[Job]:
        """Return its jobs; each may run at any moment beside the others."""
        deliverer, preparer = self.deliverer, self.preparer
        return (
            *keeping_time(self.scheduler, self.resumer, self.write_heartbeat, clock),
            Job("publish", PUBLISH, _logged("made", lambda: preparer.prepare_due(clock())), stop=preparer.stop),
            _sending(deliverer, "deliver", DELIVER, "delivered or put off", lambda: deliverer.deliver_due(clock), False),
            settling(deliverer, clock),
            *speaking(deliverer, clock),
        )


def keeping_time(
    scheduler: Scheduler,
    resumer: SubscriptionResumer,
    write_heartbeat: Callable[[datetime], Awaitable[None]],
    clock: Clock,
) -> Sequence[Job]:
    """Return what shows that the service lives, notes what is due, and resumes what may go on: `beat`, `tick`, `resume`."""
    writing = asyncio.Lock()

    async def beat() -> datetime:
        # One after another, each with the clock as it is then: the file beside the database would else be later than
        # what stands in the database, which then looks restored.
        async with writing:
            now = clock()
            await write_heartbeat(now)
            return now

    async def beat_on() -> None:
        await beat()

    async def tick() -> int:
        # First the heartbeat: whatever is found due is then never later than it, which tells a restored database.
        return await scheduler.tick(await beat())

    return (
        Job("beat", BEAT, beat_on, at_once=True),
        Job("tick", TICK, _logged("due", tick), at_once=True),
        Job("resume", RESUME, _logged("resumed", lambda: resumer.resume_due(clock))),
    )


def settling(deliverer: Deliverer, clock: Clock, every: timedelta = SETTLE, overdue: timedelta = timedelta(0)) -> Job:
    """Return what finds out what became of what may have been posted, where that could be known for so long: `settle`."""
    return _sending(deliverer, "settle", every, "looked for", lambda: deliverer.reconcile(clock, overdue=overdue))


def speaking(deliverer: Deliverer, clock: Clock) -> Sequence[Job]:
    """Return what tells people, edits what stands and publishes it to followers: `tell`, `edit`, `followers`."""
    return (
        _sending(deliverer, "tell", TELL, "told", lambda: deliverer.send_notices(clock)),
        _sending(deliverer, "edit", EDIT, "edited or put off", lambda: deliverer.edit_messages(clock), False),
        _sending(deliverer, "followers", FOLLOWERS, "published to followers", lambda: deliverer.publish_to_followers(clock)),
    )


def _sending(
    deliverer: Deliverer, name: str, every: timedelta, what: str, do: Callable[[], Awaitable[int]], at_once: bool = True
) -> Job:
    return Job(name, every, _logged(what, do), at_once=at_once, stop=deliverer.stop, grace=SENDING)


def _logged(what: str, do: Callable[[], Awaitable[int]]) -> Callable[[], Awaitable[None]]:
    """Return what does it, and logs how much was done when anything was."""

    async def run() -> None:
        if done := await do():
            log.info("%s: %d", what, done)

    return run


def sharing_limits(deliverer: Deliverer, clock: Clock) -> Sequence[Job]:
    """Return the job by which a process learns what others were asked to leave alone, where several share a database."""
    return (Job("limits", LIMITS, lambda: deliverer.refresh_limits(clock), at_once=True),)


def collecting(
    collector: Collector,
    states: SourceStates,
    sources: Sequence[Source],
    pace: PollingSchedule,
    clock: Clock,
    failed: Callable[[str], None] = lambda name: None,
) -> Sequence[Job]:
    """Return a job for each source, which asks it when it is due: one that is slow holds up no other.

    `failed` is told the name of a source that did not deliver.
    """

    def job(source: Source) -> Job:
        async def collect() -> None:
            now = clock()
            if not pace.is_due(source, await states.get(source.name), now):
                return
            for each in await collector.collect([source], now):
                log.info("%s: %d read, %d new. %s", each.title, each.read, each.fresh, each.state.note)
                if each.error is not None:
                    failed(source.name)

        return Job(f"collect {source.name}", LOOK, collect, at_once=True)

    return [job(source) for source in sources]


def upkeep(
    facts: Facts, maintenance: Maintenance, items: timedelta, readings: timedelta, backups: Backups | None, clock: Clock
) -> Sequence[Job]:
    """Return what looks after the data. `items` and `readings` are kept for so long; without `backups` none are made."""

    async def prune() -> None:
        now = clock()
        if not _is_over(await facts.get(_PRUNED), PRUNED, now):
            return
        dropped = await maintenance.prune(items_before=now - items, readings_before=(now - readings).date(), now=now)
        await facts.set(_PRUNED, now.isoformat())
        log.info("pruned: %s", dict(dropped))

    async def back_up() -> None:
        if backups is not None:
            await backups.make_due(maintenance, clock())

    made = [Job("backup", UPKEEP, back_up, at_once=True)] if backups is not None else []
    return [Job("prune", UPKEEP, prune), *made]


def embedding(filler: VectorBackfill | None, clock: Clock) -> Sequence[Job]:
    """Return what gives the items their vectors, nothing where there is no filler."""

    async def embed() -> None:
        if filler is not None:
            await filler.run(clock)

    return [Job("embed", EMBED, embed, stop=filler.stop)] if filler is not None else []


def listening(troubles: Mapping[str, Callable[[datetime], str]], clock: Clock) -> Sequence[Job]:
    """Return what tells the log when a platform, by name, gets into trouble, and when that is over."""
    told: dict[str, str] = {}

    async def listen() -> None:
        for name, trouble in troubles.items():
            said = trouble(clock())
            if said and not told.get(name):
                log.warning("%s: %s. %s", name, "no mail is sent" if name == EMAIL else "nobody is heard", said)
            elif not said and told.get(name):
                log.info("%s: %s again", name, "mails can be sent" if name == EMAIL else "people are heard")
            told[name] = said

    return [Job("listen", LISTEN, listen)] if troubles else []


async def write_heartbeat(facts: Facts, write: Callable[[Path, datetime], None], database: Path, now: datetime) -> None:
    """Show that the service lives: in the database, and then beside it. Raises StoreError when either cannot be written."""
    await facts.set(HEARTBEAT, now.isoformat())
    await asyncio.to_thread(write, database, now)


def _is_over(then: str, span: timedelta, now: datetime) -> bool:
    """Say whether so long has passed since then; a time that a clock wrote that had run ahead is none."""
    try:
        passed = now - datetime.fromisoformat(then)
    except (ValueError, TypeError):
        return True
    return not timedelta(0) <= passed < span
