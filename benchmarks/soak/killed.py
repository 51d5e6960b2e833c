"""Processes killed at random: on a platform with nonces, with history, with neither; and what plain strategies do there."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import Plan, run
from benchmarks.soak.work import SCALE, Strategy, Work
from tests.fakes.platform import Behaviour

# What real platforms do all the time: 4 % of the connections are lost, 3 % of the posts told to wait.
ORDINARY = Behaviour(resets=0.04, limited=0.03, rests=(0.1 / SCALE, 120.0 / SCALE))
LAG = 0.3  # of the history
WINDOW, REMEMBERED = 120.0, 180.0  # of nonces: what we rely on, and what the platform does

NONCE = Work(nonce_window=WINDOW)
HISTORY = Work(finds=True)
BOTH = Work(nonce_window=WINDOW / SCALE, finds=True)


async def nonce(size: Size) -> Sequence[Row]:
    """A platform that remembers nonces for longer than the test takes, and no history."""
    return [await _killed("nonces", replace(ORDINARY, remembers=REMEMBERED, readable=False), NONCE, size)]


async def history(size: Size) -> Sequence[Row]:
    """A platform without nonces whose history lags."""
    return [await _killed("history", replace(ORDINARY, lag=LAG), HISTORY, size)]


async def both(size: Size) -> Sequence[Row]:
    """A platform that forgets nonces after a while, and has a history for what is older."""
    behaviour = replace(ORDINARY, remembers=REMEMBERED / SCALE, lag=LAG)
    return [await _killed("nonces for six seconds, then history", behaviour, BOTH, size)]


async def no_right(size: Size) -> Sequence[Row]:
    """A platform without nonces whose history may not be read."""
    return [await _killed("no right to read history", replace(ORDINARY, readable=False), HISTORY, size)]


async def plain(size: Size) -> Sequence[Row]:
    """The two plain strategies on the same platform, which has no nonces."""
    return [
        await _plain("done is marked before the post, one blind retry", Strategy.MARK_BEFORE, size),
        await _plain("done is marked after the post", Strategy.MARK_AFTER, size),
    ]


async def _killed(what: str, behaviour: Behaviour, work: Work, size: Size) -> Row:
    plan = Plan(behaviour=replace(behaviour, seed=size.seed), work=work, deliveries=size.deliveries, kills=size.kills)
    outcome = await run(plan)
    verdict, kept = outcome.verdict, outcome.verdict.is_clean
    target = "0 lost, 0 duplicate, integrity ok"
    if not (work.nonce_window or behaviour.readable):
        kept, target = verdict.is_clean_but_for_unknown, "0 duplicate, the unknown ones listed"
    kept = kept and outcome.kills >= size.kills
    return Row(
        f"`kill -9`, {what}", f"{verdict.expected} deliveries, {outcome.kills} kills", target, outcome.figures(), kept
    )


async def _plain(what: str, strategy: Strategy, size: Size) -> Row:
    plan = Plan(
        behaviour=replace(ORDINARY, seed=size.seed),
        work=Work(strategy=strategy),
        deliveries=size.deliveries,
        parts=(1,),
        kills=size.kills,
    )
    outcome = await run(plan)
    measured = f"{outcome.verdict.lost} lost, {outcome.verdict.duplicate} duplicate"
    sizes = f"{outcome.verdict.expected} deliveries, {outcome.kills} kills"
    return Row(f"for comparison: {what}", sizes, "", measured)
