"""One run: a crowd planted, a platform, a worker that may be killed, and the verdict."""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.soak.judge import Verdict, is_sound, judged
from benchmarks.soak.kills import Killer
from benchmarks.soak.plant import Crowd, ledger, plant
from benchmarks.soak.stands import Stand, stand
from benchmarks.soak.tls import Wire, wire
from benchmarks.soak.work import Strategy, Work
from tests.fakes.platform import Behaviour, Message
from tests.fakes.smtp import FakeRelay

_LEDGERLESS = (Strategy.MARK_BEFORE, Strategy.MARK_AFTER, Strategy.BARE)
_A_MINUTE_AGO = timedelta(minutes=1)
_LOOK = 0.05  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended."""

    verdict: Verdict
    kills: int
    seconds: float  # in all
    posts: Sequence[Message]
    counts: Mapping[str, int]  # the platform's
    late: float = 0.0  # seconds by which the platform was late at most, since the machine was busy

    def figures(self) -> str:
        """Return the verdict in words; of a platform that was late itself, by how much: the quarantine is 2 s here."""
        return self.verdict.figures() + (f"; the platform was up to {self.late:.1f} s late" if self.late >= 1 else "")

    @property
    def span(self) -> float:
        """Return the seconds from the first post to the last."""
        return max(each.at for each in self.posts) - min(each.at for each in self.posts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is run."""

    behaviour: Behaviour
    work: Work
    deliveries: int
    parts: tuple[int, ...] = (1, 2, 1)
    kills: int = 0
    platform: str = "fake"
    tiers: bool = False  # whether Slack counts requests as it says that it does
    twice: bool = False  # whether a digest is rather seen twice than missed
    cut: float = 0.0  # of all that passes, so much is cut in its middle; the platform is then behind TLS


def due_just_now() -> datetime:
    """Return an instant on the minute, a minute ago or a little longer."""
    return datetime.now(UTC).replace(second=0, microsecond=0) - _A_MINUTE_AGO


async def run(plan: Plan) -> Outcome:
    """Deliver it all and judge."""
    channels = round(plan.deliveries * len(plan.parts) / sum(plan.parts))
    crowd = Crowd(channels, due_just_now(), plan.parts, plan.platform, twice=plan.twice)
    made = crowd.deliveries()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "broadsheet.db"
        has_ledger = plan.work.strategy not in _LEDGERLESS
        if has_ledger:
            await plant(database, crowd)
        async with stand(plan.behaviour, crowd, tiers=plan.tiers) as platform:
            async with _way(plan, platform.url) as way, lateness() as late:
                work = replace(plan.work, database=str(database), url=way.url, trusted=way.trusted).of(crowd)
                killer = Killer(work, plan.kills, plan.behaviour.seed, lambda: len(made) - _posted(platform))
                seconds = await killer.run()
        rows = await ledger(database, made) if has_ledger else {}
        verdict = judged(
            made,
            platform.committed,
            rows,
            sound=is_sound(database),
            came=platform.came if isinstance(platform, FakeRelay) else None,
        )
    return Outcome(
        verdict=verdict,
        kills=killer.kills,
        seconds=seconds,
        posts=platform.committed,
        counts=Counter({**platform.counts, "cut": way.cut}),
        late=max(late),
    )


def _posted(platform: Stand) -> int:
    """Return how many deliveries are posted, however often each."""
    return len({each.marker for each in platform.committed})


@asynccontextmanager
async def lateness() -> AsyncIterator[list[float]]:
    """Note by how many seconds this process, in which the platform is, comes late to what it is to do."""
    found = [0.0]

    async def note() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(_LOOK)
            found.append(time.monotonic() - before - _LOOK)

    noting = asyncio.create_task(note())
    try:
        yield found
    finally:
        noting.cancel()


@asynccontextmanager
async def _way(plan: Plan, url: str) -> AsyncIterator[Wire]:
    if not plan.cut:
        yield Wire(url, "")
        return
    async with wire(url, plan.cut, plan.behaviour.seed) as found:
        yield found
