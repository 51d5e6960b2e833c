"""Connections that fail, platforms that ask for pauses, and how quick it is."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.soak.killed import BOTH, HISTORY, LAG, NONCE, REMEMBERED
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import Outcome, Plan, run
from benchmarks.soak.work import SCALE, Strategy, Work
from tests.fakes.platform import Behaviour

_OFTEN = 0.2  # of the requests
# A stalled answer takes longer than anybody waits, and what it commits it commits before the quarantine is over.
FAULTS = {
    "reset": Behaviour(resets=_OFTEN),
    "half reply": Behaviour(halves=_OFTEN),
    "stall": Behaviour(stalls=_OFTEN, stall=1.2),
    "5xx": Behaviour(broken=_OFTEN),
}
# The service's own times, not those of the tests with kills.
TRUE = Work(timeout=15.0, lease=45.0, quarantine=60.0, first_wait=5.0, longest_wait=1800.0, workers=16)


async def faults(size: Size) -> Sequence[Row]:
    """Every fifth connection fails, after the message was committed or before."""
    rows = []
    for where, work, changes in (("nonces", NONCE, REMEMBERED), ("history", HISTORY, 0.0), ("both", BOTH, 180 / SCALE)):
        outcomes = {
            name: await run(
                Plan(
                    behaviour=replace(each, remembers=changes, lag=LAG, seed=size.seed),
                    work=work,
                    deliveries=size.deliveries // 4,
                )
            )
            for name, each in FAULTS.items()
        }
        rows.append(faulty(where, outcomes))
    return rows


def faulty(where: str, outcomes: dict[str, Outcome]) -> Row:
    """Return the row of what each kind of fault led to."""
    verdicts = {name: each.verdict for name, each in outcomes.items()}
    measured = "; ".join(f"{name} {each.lost} / {each.duplicate}" for name, each in verdicts.items())
    number = sum(each.expected for each in verdicts.values())
    kept = all(each.is_clean for each in verdicts.values())
    return Row(f"20 % of the connections fail, {where}", f"{number} deliveries", "0 lost / 0 duplicate", measured, kept)


async def storm(size: Size) -> Sequence[Row]:
    """Three of ten posts are told to wait, some of these for the whole platform; the true times."""
    behaviour = Behaviour(limited=0.3, all_limited=3 / size.channels, remembers=REMEMBERED, seed=size.seed)
    work = replace(TRUE, nonce_window=120.0)
    outcome = await run(Plan(behaviour=behaviour, work=work, deliveries=size.channels, parts=(1,)))
    counts = outcome.counts
    share = counts["inside"] / counts["posts"]
    measured = (
        f"{outcome.verdict.figures()}; {counts['429']} of {counts['posts']} requests limited, "
        f"{100 * share:.2f} % inside a Retry-After; {outcome.seconds:.0f} s"
    )
    target = "0 lost, at most 1 % of the requests inside a Retry-After"
    kept = outcome.verdict.is_clean and share <= 0.01
    what = "30 % of the posts get a 429, Retry-After 0.1–120 s, some for the whole platform"
    return [Row(what, f"{size.channels} channels", target, measured, kept)]


async def fan_out(size: Size) -> Sequence[Row]:
    """One digest to every channel on a platform that takes 50 requests in any second; the true times."""
    behaviour = Behaviour(per_second=50, remembers=REMEMBERED, seed=size.seed)
    work = replace(TRUE, nonce_window=120.0, per_second=50.0)
    outcome = await run(Plan(behaviour=behaviour, work=work, deliveries=size.channels, parts=(1,)))
    ratio = outcome.span / (size.channels / 50)
    measured = f"{outcome.verdict.figures()}; {outcome.span:.1f} s, {ratio:.3f} × the bound, {outcome.counts['429']} × 429"
    kept = outcome.verdict.is_clean and ratio <= 1.15 and not outcome.counts["429"]
    return [Row("fan-out at 50 requests/s", f"{size.channels} channels", "at most 1.15 × the bound, no 429", measured, kept)]


async def throughput(size: Size) -> Sequence[Row]:
    """How many deliveries a second without any limit, beside posting alone."""
    behaviour = Behaviour(remembers=REMEMBERED, seed=size.seed)
    work = replace(TRUE, nonce_window=120.0, workers=64, print_first=True)
    plan = Plan(behaviour=behaviour, work=work, deliveries=size.deliveries, parts=(1,))
    ours = await run(plan)
    bare = await run(replace(plan, work=replace(work, strategy=Strategy.BARE)))
    speed, most = (len(each.posts) / each.span for each in (ours, bare))
    measured = f"{ours.verdict.figures()}; {speed:.0f}/s; posting alone {most:.0f}/s"
    kept = ours.verdict.is_clean and speed >= 300
    sizes = f"{ours.verdict.expected} deliveries, 64 at a time, a request takes 5–60 ms"
    return [Row("throughput without limits", sizes, "at least 300 deliveries/s", measured, kept)]
