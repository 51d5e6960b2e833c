"""How many steps of workflows are answered in a minute, held against Slack's own counting; and whose turn it is."""

import asyncio

import pytest

from adapters.slack.listeners.steps import A_MINUTE, LONGEST, StepPace, StepTurns
from tests.fakes.slack.tiers import Tiers


@pytest.mark.parametrize("a_minute", [30, 45, 100, 600])
def test_however_often_a_workflow_runs_slack_is_never_asked_too_often(a_minute: int) -> None:
    now = 0.0
    done, refused, tiers = StepPace(lambda: now), StepPace(lambda: now), Tiers()
    asked: list[tuple[float, str]] = []
    for number in range(20 * a_minute):
        now = number * 60 / a_minute
        for pace, method in ((done, "functions.completeSuccess"), (refused, "functions.completeError")):
            wait = pace.wait("slack:T0BROAD", LONGEST)
            if wait is not None:
                assert wait <= LONGEST
                asked.append((now + wait, method))
                break
    assert [tiers.wait(method, "T0BROAD", "", at) for at, method in sorted(asked)] == [0.0] * len(asked)
    if a_minute <= A_MINUTE:
        assert [at for at, _ in asked] == pytest.approx([number * 60 / a_minute for number in range(20 * a_minute)])


def test_one_workspaces_steps_keep_no_others_waiting() -> None:
    pace = StepPace(lambda: 0.0)
    for _ in range(A_MINUTE):
        assert pace.wait("slack:T0BROAD", LONGEST) == 0.0
    assert pace.wait("slack:T0BROAD", LONGEST) == 60.0
    assert pace.wait("slack:T0OTHER", LONGEST) == 0.0


async def test_one_workspaces_slow_steps_hold_up_no_others() -> None:
    turns, slow, begun = StepTurns(), asyncio.Event(), list[str]()

    async def step(workspace: str, name: str) -> None:
        async with turns.of(workspace):
            begun.append(name)
            if workspace == "slack:T0SLOW":
                await slow.wait()

    async with asyncio.TaskGroup() as steps:
        for number in range(5):
            steps.create_task(step("slack:T0SLOW", f"slow {number}"))
        for number in range(3):
            steps.create_task(step("slack:T0OTHER", f"other {number}"))
        for _ in range(50):
            await asyncio.sleep(0)
        assert begun == ["slow 0", "other 0", "other 1", "other 2"]
        slow.set()
    assert begun[-4:] == [f"slow {number}" for number in range(1, 5)], "each in its turn"
