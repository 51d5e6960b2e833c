"""The same through discord.py and Broadsheet's own Messenger, on the Discord of the tests."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.soak.killed import BOTH, HISTORY, LAG, ORDINARY, REMEMBERED
from benchmarks.soak.limits import FAULTS, TRUE, faulty
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import Outcome, Plan, run
from benchmarks.soak.work import SCALE
from tests.fakes.platform import Behaviour

# It remembers nonces for six seconds here, is believed to for four, and its history lags.
_REMEMBERED = REMEMBERED / SCALE


async def killed(size: Size) -> Sequence[Row]:
    """A Discord that forgets nonces after a while and loses connections; its clients are killed."""
    behaviour = replace(ORDINARY, remembers=_REMEMBERED, lag=LAG, seed=size.seed)
    outcome = await run(_plan(behaviour, size.deliveries, size.kills))
    verdict = outcome.verdict
    sizes = f"{verdict.expected} deliveries, {outcome.kills} kills"
    kept = verdict.is_clean and outcome.kills >= size.kills
    return [Row("Discord, `kill -9`", sizes, "0 lost, 0 duplicate, integrity ok", outcome.figures(), kept)]


async def faults(size: Size) -> Sequence[Row]:
    """Every fifth post fails on the way, committed or not."""
    return [faulty("Discord", {name: await fault(name, replace(size, deliveries=size.deliveries // 4)) for name in FAULTS})]


async def fault(name: str, size: Size) -> Outcome:
    """Every fifth post fails in that one way."""
    behaviour = replace(FAULTS[name], remembers=_REMEMBERED, lag=LAG, seed=size.seed)
    return await run(_plan(behaviour, size.deliveries))


async def storm(size: Size) -> Sequence[Row]:
    """Three of ten posts get a 429, some for the whole bot; the true times, buckets and 50 requests a second.

    With many more channels the messenger takes a rest: after 1,000 refused requests in ten minutes.
    """
    channels = size.channels // 10
    behaviour = Behaviour(limited=0.3, all_limited=1 / channels, remembers=REMEMBERED, per_second=50, seed=size.seed)
    work = replace(TRUE, nonce_window=120.0, finds=True, per_second=50.0, per_channel_second=1.0)
    outcome = await run(replace(_plan(behaviour, channels), work=work, parts=(1,)))
    verdict, counts = outcome.verdict, outcome.counts
    share = counts["inside"] / counts["posts"]
    measured = (
        f"{verdict.figures()}; {counts['429']} of {counts['posts']} requests limited, {100 * share:.2f} % inside a "
        f"Retry-After, {counts['too fast']} over 50/s; {outcome.seconds:.0f} s"
    )
    kept = verdict.is_clean and share <= 0.01
    target = "0 lost, at most 1 % of the requests inside a Retry-After"
    return [Row("Discord, 30 % of the posts get a 429, 50 requests/s", f"{channels} channels", target, measured, kept)]


async def crowded(size: Size) -> Sequence[Row]:
    """Half the posts are lost on the way, in channels in which people wrote 5,000 messages; no nonce is remembered."""
    behaviour = Behaviour(resets=0.5, commits=0.5, others=5000, lag=LAG, seed=size.seed)
    outcome = await run(replace(_plan(behaviour, max(28, size.deliveries // 50)), work=replace(HISTORY, speed=SCALE)))
    verdict, counts = outcome.verdict, outcome.counts
    measured = f"{verdict.figures()}; {counts['reset']} lost answers, {counts['finds']} looks; {outcome.seconds:.0f} s"
    what, sizes = "Discord, 5,000 messages of others in each channel", f"{verdict.expected} deliveries"
    return [Row(what, sizes, "0 lost, 0 duplicate, integrity ok", measured, verdict.is_clean)]


def _plan(behaviour: Behaviour, deliveries: int, kills: int = 0) -> Plan:
    return Plan(behaviour=behaviour, work=replace(BOTH, speed=SCALE), deliveries=deliveries, kills=kills, platform="discord")
