"""R4 and R5: connections that fail in five ways, and platforms that ask for pauses, at Slack's and Discord's own clients."""

from dataclasses import replace

from benchmarks.soak import discord, slack
from benchmarks.soak.killed import BOTH, LAG, ORDINARY, REMEMBERED
from benchmarks.soak.limits import FAULTS, TRUE
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import Outcome, Plan, run
from benchmarks.soak.scoreboard import Ask
from benchmarks.soak.work import SCALE, Work
from tests.fakes.platform import Behaviour

_HALF = 0.5  # of the tries fail, so that there are as many faults as deliveries
_CUT = 0.12  # of what passes a TLS connection; a try is some four pieces
_SLACK = Work(speed=SCALE, workers=16)
_DISCORD = replace(BOTH, speed=SCALE, workers=16)
_FAULTS = {
    "reset": Behaviour(resets=_HALF),
    "half reply": Behaviour(halves=_HALF),
    "stall": Behaviour(stalls=_HALF, stall=FAULTS["stall"].stall),
    "5xx": Behaviour(broken=_HALF),
}
_TIMES = 10  # so many times as fast are the storm's pauses and the ten minutes in which invalid requests are counted
_INVALID = 1000  # in ten minutes


async def faults_in_slack(ask: Ask) -> Row:
    """Each kind in turn, with so many deliveries, in Slack."""
    return await _faults("Slack", ask)


async def faults_in_discord(ask: Ask) -> Row:
    """Each kind in turn, with so many deliveries, in Discord."""
    return await _faults("Discord", ask)


async def _faults(platform: str, ask: Ask) -> Row:
    found = {name: await run(plan(platform, each, ask)) for name, each in _FAULTS.items()}
    ordinary = Behaviour(seed=ask.seed)
    found["TLS cut"] = await run(replace(plan(platform, ordinary, ask), cut=_CUT))
    kept = all(each.verdict.is_clean and _number(name, each) for name, each in found.items())
    told = "; ".join(
        f"{name} {each.verdict.lost} / {each.verdict.duplicate} ({_number(name, each):,} times)"
        for name, each in found.items()
    )
    unclean = "".join(f"; {name}: {each.verdict.figures()}" for name, each in found.items() if not each.verdict.is_clean)
    expected = next(iter(found.values())).verdict.expected
    what = f"connections that fail, {platform}: reset, half a reply, stall of 36 s, 5xx, a TLS connection cut; times / 30"
    return Row(what, f"5 kinds × {expected:,} deliveries", "0 lost / 0 duplicate", told + unclean, kept)


def plan(platform: str, behaviour: Behaviour, ask: Ask) -> Plan:
    """Return the plan of a run on "Slack" or "Discord"."""
    if platform == "Slack":
        behaviour, work, parts = replace(behaviour, lag=LAG, seed=ask.seed), _SLACK, (2, 3, 2)
    else:
        behaviour = replace(behaviour, lag=LAG, remembers=REMEMBERED / SCALE, seed=ask.seed)
        work, parts = _DISCORD, (1, 2, 1)
    return Plan(behaviour=behaviour, work=work, deliveries=ask.size, parts=parts, platform=platform.lower())


def _number(name: str, outcome: Outcome) -> int:
    """Return how often the fault happened."""
    counts = {"reset": "reset", "half reply": "half", "stall": "stall", "5xx": "broken", "TLS cut": "cut"}
    return outcome.counts[counts[name]]


async def storm_in_discord(ask: Ask) -> Row:
    """Three of ten posts get a 429, some for the whole bot; pauses and ten minutes are a tenth as long."""
    low, high = 0.1 / _TIMES, 120.0 / _TIMES
    behaviour = Behaviour(
        limited=0.3, all_limited=3 / ask.size, rests=(low, high), remembers=REMEMBERED, per_second=50 * _TIMES, seed=ask.seed
    )
    work = replace(TRUE, nonce_window=120.0, finds=True, per_second=50.0 * _TIMES, per_channel_second=1.0, speed=_TIMES)
    outcome = await run(Plan(behaviour=behaviour, work=work, deliveries=ask.size, parts=(1,), platform="discord"))
    verdict, counts = outcome.verdict, outcome.counts
    share, invalid = counts["inside"] / counts["posts"], counts["invalid in 60 s"]
    measured = (
        f"{verdict.figures()}; {counts['429']:,} of {counts['posts']:,} requests limited, {100 * share:.2f} % inside a"
        f" Retry-After, at most {invalid:,} invalid requests in a tenth of ten minutes"
    )
    kept = verdict.is_clean and share <= 0.01 and invalid <= _INVALID
    what = "Discord, 30 % of the posts get a 429, Retry-After 0.1–120 s, three for the whole bot; these times / 10"
    target = "0 lost, at most 1 % of the requests inside a Retry-After, at most 1,000 invalid ones in 10 min"
    return Row(what, f"{ask.size:,} channels", target, measured, kept)


async def storm_in_slack(ask: Ask) -> Row:
    """Slack's storm, at its true times and tiers."""
    (row,) = await slack.storm(Size(channels=25 * ask.size, seed=ask.seed))
    return row


async def kills_in_discord(ask: Ask) -> Row:
    """R1."""
    (row,) = await discord.killed(Size(deliveries=ask.size, kills=ask.size // 40, seed=ask.seed))
    return row


async def kills_in_slack(ask: Ask) -> Row:
    """R2."""
    (row,) = await slack.killed(Size(deliveries=ask.size, kills=ask.size // 40, seed=ask.seed))
    return row


async def kills_in_slack_without_history(ask: Ask) -> Row:
    """R2, where the app may not read what was posted."""
    behaviour = replace(ORDINARY, readable=False, seed=ask.seed)
    asked = Plan(
        behaviour=behaviour, work=_SLACK, deliveries=ask.size, parts=(2, 3, 2), kills=ask.size // 40, platform="slack"
    )
    outcome = await run(asked)
    kept = outcome.verdict.is_clean_but_for_unknown and outcome.kills >= asked.kills
    sizes = f"{outcome.verdict.expected:,} deliveries, {outcome.kills} kills"
    target = "0 duplicate, the unknown ones listed"
    return Row("Slack, `kill -9`, no right to read history", sizes, target, outcome.verdict.figures(), kept)
