"""The same through slack_sdk and Broadsheet's own Messenger, on the Slack of the tests."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.soak.killed import LAG, ORDINARY
from benchmarks.soak.limits import FAULTS, TRUE, faulty
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import Plan, run
from benchmarks.soak.work import SCALE, Work
from tests.fakes.platform import Behaviour

_WORK = Work(speed=SCALE)
_PARTS = (2, 3, 2)  # a message, and one or two entries in its thread
_TARGET = "0 lost, 0 duplicate, integrity ok"


async def killed(size: Size) -> Sequence[Row]:
    """A Slack whose history lags and which loses connections; its clients are killed."""
    behaviour = replace(ORDINARY, lag=LAG, seed=size.seed)
    outcome = await run(_plan(behaviour, size.deliveries, size.kills))
    verdict = outcome.verdict
    sizes = f"{verdict.expected} deliveries, {outcome.kills} kills"
    kept = verdict.is_clean and outcome.kills >= size.kills
    return [Row("Slack, `kill -9`", sizes, _TARGET, verdict.figures(), kept)]


async def faults(size: Size) -> Sequence[Row]:
    """Every fifth post fails on the way, or Slack says fatal_error or internal_error; committed or not."""
    outcomes = {
        name: await run(_plan(replace(each, lag=LAG, seed=size.seed), size.deliveries // 4)) for name, each in FAULTS.items()
    }
    return [faulty("Slack", outcomes)]


async def storm(size: Size) -> Sequence[Row]:
    """Three of ten posts get a 429, some for a whole workspace, and Slack's tiers are counted; the true times."""
    channels = size.channels // 25
    behaviour = Behaviour(limited=0.3, all_limited=3 / channels, rests=(0.1, 30.0), seed=size.seed)
    plan = _plan(behaviour, 2 * channels)
    outcome = await run(replace(plan, work=TRUE, parts=(2,), tiers=True))
    verdict, counts = outcome.verdict, outcome.counts
    share = counts["inside"] / counts["posts"]
    measured = (
        f"{verdict.figures()}; {counts['429']} of {counts['posts']} requests limited, {100 * share:.2f} % inside a"
        f" Retry-After, {counts['too often']} over a tier; {outcome.seconds:.0f} s"
    )
    kept = verdict.is_clean and share <= 0.01 and not counts["too often"]
    target = "0 lost, at most 1 % inside a Retry-After, none over a tier"
    return [Row("Slack, 30 % of the posts get a 429, tiers counted", f"{channels} channels", target, measured, kept)]


def _plan(behaviour: Behaviour, deliveries: int, kills: int = 0) -> Plan:
    return Plan(behaviour=behaviour, work=_WORK, deliveries=deliveries, parts=_PARTS, kills=kills, platform="slack")
