"""Mails through a relay over real sockets, whose sender is killed: nothing tells afterwards which of them it has."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.soak.killed import ORDINARY
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import Plan, run
from benchmarks.soak.work import Work
from bot.models import EMAIL

_MORE = 3  # kills: the run may end before the last of them, as what is unknown is never posted


async def killed(size: Size) -> Sequence[Row]:
    """Readers who get each mail at most once, and readers who would rather have it twice."""
    return [await killed_once(size, twice=False), await killed_once(size, twice=True)]


async def killed_once(size: Size, *, twice: bool) -> Row:
    """The ones or the others."""
    behaviour = replace(ORDINARY, seed=size.seed)
    plan = Plan(
        behaviour=behaviour,
        work=Work(),
        deliveries=size.deliveries,
        parts=(1,),
        kills=size.kills + _MORE,
        platform=EMAIL,
        twice=twice,
    )
    outcome = await run(plan)
    verdict = outcome.verdict
    kept = verdict.sound and not (verdict.lost or verdict.untold or verdict.unclaimed) and outcome.kills >= size.kills
    if twice:
        target = "0 lost, each duplicate told"  # what a second kill meets as it is sent again is unknown, and listed so
    else:
        target, kept = "0 lost, 0 duplicate, the unknown ones listed", kept and not verdict.duplicate
    sizes = f"{verdict.expected} deliveries, {outcome.kills} kills"
    what = "E-mail, `kill -9`" + (", rather twice than not" if twice else "")
    return Row(what, sizes, target, outcome.figures(), kept)
