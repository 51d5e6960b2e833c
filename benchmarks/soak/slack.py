"""The same through slack_sdk and Broadsheet's own Messenger, on the Slack of the tests."""

from collections.abc import Sequence
from dataclasses import replace

from adapters.slack.send import SlackMessenger
from benchmarks.soak.killed import LAG, ORDINARY
from benchmarks.soak.limits import FAULTS, TRUE, faulty
from benchmarks.soak.plant import WORKSPACES
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import Outcome, Plan, run
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
    return [Row("Slack, `kill -9`", sizes, _TARGET, outcome.figures(), kept)]


async def faults(size: Size) -> Sequence[Row]:
    """Every fifth post fails on the way, or Slack says fatal_error or internal_error; committed or not."""
    return [faulty("Slack", {name: await fault(name, size) for name in FAULTS})]


async def fault(name: str, size: Size) -> Outcome:
    """Every fifth post fails in one way."""
    return await run(_plan(replace(FAULTS[name], lag=LAG, seed=size.seed), size.deliveries // 4))


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
        f" Retry-After ({counts['on the way']} more were on their way), {counts['too often']} over a tier;"
        f" {outcome.seconds:.0f} s"
    )
    kept = verdict.is_clean and share <= 0.01 and not counts["too often"]
    target = "0 lost, at most 1 % inside a Retry-After, none over a tier"
    return [Row("Slack, 30 % of the posts get a 429, tiers counted", f"{channels} channels", target, measured, kept)]


async def fan_out(size: Size) -> Sequence[Row]:
    """A header and an entry to every channel, as fast as Slack's own limits allow; the true times."""
    channels = size.channels // 2
    plan = _plan(Behaviour(seed=size.seed), 2 * channels)
    outcome = await run(replace(plan, work=replace(TRUE, print_first=True), parts=(2,), tiers=True))
    verdict, limited = outcome.verdict, outcome.counts["429"]
    bound = 60 * (2 * channels / WORKSPACES) / (SlackMessenger.abilities.per_workspace_minute or 1)
    measured = f"{verdict.figures()}; {outcome.span:.0f} s, {outcome.span / bound:.2f} × the bound, {limited} × 429"
    sizes = f"{channels} channels in {WORKSPACES} workspaces, two messages each"
    target = "at most 1.15 × the bound of 300 messages a minute in each workspace, no 429"
    kept = verdict.is_clean and outcome.span <= 1.15 * bound and not limited
    return [Row("Slack, fan-out", sizes, target, measured, kept)]


async def crowded(size: Size) -> Sequence[Row]:
    """Half the posts are lost on the way, in channels in which people wrote 5,000 messages in the minutes before."""
    return [await _looked_for("5,000 messages of others in each channel", Behaviour(others=5000), size)]


async def slow(size: Size) -> Sequence[Row]:
    """The same for an app that is distributed outside the Marketplace: one look a minute in each workspace, 15 messages."""
    behaviour = Behaviour(others=100, page=15, between_looks=60 / SCALE)
    return [await _looked_for("one look a minute, 15 messages each; 100 of others in each channel", behaviour, size)]


async def without_metadata(size: Size) -> Sequence[Row]:
    """The same on a server that keeps messages without their metadata."""
    return [await _looked_for("no metadata is given back", Behaviour(keeps_metadata=False), size)]


async def _looked_for(what: str, behaviour: Behaviour, size: Size) -> Row:
    behaviour = replace(behaviour, resets=0.5, commits=0.5, lag=LAG, seed=size.seed)
    outcome = await run(_plan(behaviour, max(28, size.deliveries // 50)))
    verdict, counts = outcome.verdict, outcome.counts
    measured = f"{verdict.figures()}; {counts['reset']} lost answers, {counts['finds']} looks; {outcome.seconds:.0f} s"
    return Row(f"Slack, {what}", f"{verdict.expected} deliveries", _TARGET, measured, verdict.is_clean)


def _plan(behaviour: Behaviour, deliveries: int, kills: int = 0) -> Plan:
    return Plan(behaviour=behaviour, work=_WORK, deliveries=deliveries, parts=_PARTS, kills=kills, platform="slack")
