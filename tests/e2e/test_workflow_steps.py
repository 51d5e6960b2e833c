"""Steps of Slack's workflows, executed over a real socket: answered once, for the workspace alone, and nothing is posted.

BROADSHEET_TRANSCRIPT names a file to which what was executed and answered is written.
"""

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.install.steps import DIGEST_STEP, SEARCH_STEP
from tests.e2e.slack_desk import WORKSPACE, SlackDesk, sitting
from tests.fakes.platform import Fault
from tests.fakes.slack.faults import Failure
from tests.fakes.slack.rights import NotOffered
from tests.fakes.slack.steps import Execution

_TOLD = os.environ.get("BROADSHEET_TRANSCRIPT", "")  # read now: each test begins without any of our variables


@dataclass(slots=True)
class Workflow:
    """Executes steps and waits for their end."""

    desk: SlackDesk
    lines: list[str] = field(default_factory=list)

    async def runs(self, callback: str, *, delivered: int = 1, with_token: bool = True, **inputs: Any) -> Execution:
        made = await self.desk.fake.run_step(callback, delivered=delivered, with_token=with_token, **inputs)
        await self.desk.fake.until(lambda: made.has_ended)
        self.lines += ["", f"(a workflow executes {callback} with {inputs})"]
        said = made.error or made.outputs["text"] if made.outputs else made.error
        self.lines += [f"  | {line}" for line in str(said).splitlines()]
        if made.outputs:
            self.lines.append(f"  | count: {made.outputs['count']}, link: {made.outputs.get('link', '')}")
        return made


def found(made: Execution) -> tuple[str, int, str]:
    """Return what a step gave on."""
    assert made.error == ""
    assert made.outputs is not None
    return made.outputs["text"], made.outputs["count"], made.outputs.get("link", "")


async def test_a_workflow_searches_and_has_a_digest_made_and_nothing_else_comes_of_it(tmp_path: Path) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        workflow = Workflow(desk)
        text, count, link = found(await workflow.runs(SEARCH_STEP, query="cache", limit=2))
        assert 1 <= count <= 2
        assert link.startswith("https://")
        assert link in text
        assert text.startswith("Found for: cache\n")
        assert "1. " in text

        text, count, link = found(await workflow.runs(DIGEST_STEP, topic="gpu-systems", limit=3, days=7))
        assert 1 <= count <= 3
        assert text.startswith("GPU systems · ")
        assert " seen" in text.splitlines()[-1]

        text, count, link = found(await workflow.runs(SEARCH_STEP, query="zygomorphic"))
        assert (count, link) == (0, "")
        assert "zygomorphic" in text
        if _TOLD:
            told = "\n".join(workflow.lines).strip() + "\n"
            Path(_TOLD).write_text(told, encoding="utf-8")  # noqa: ASYNC240 - at the end of the test
        assert not [each for each in desk.fake.world.history if each.is_app]
        assert not await desk.app.store.workspaces.subscriptions(WORKSPACE)
        assert [(each.method, each.error) for each in desk.fake.rejected] == []


@pytest.mark.parametrize(
    ("callback", "inputs", "said"),
    [
        (SEARCH_STEP, {"query": "stars:>"}, "stars"),
        (SEARCH_STEP, {"query": " "}, 'Give the step a query, such as "kv cache" published:7d.'),
        (SEARCH_STEP, {"query": "cache", "limit": 11}, "The step takes 1 to 10 entries, and was given 11."),
        (DIGEST_STEP, {"topic": "gpu-sistems"}, 'There is no topic "gpu-sistems". Did you mean gpu-systems?'),
        (DIGEST_STEP, {"topic": "-"}, "/digest topics lists those there are."),
        (DIGEST_STEP, {"topic": "gpu-systems", "days": 0}, "The step takes 1 to 14 days, and was given 0."),
    ],
)
async def test_what_a_step_cannot_do_is_told_in_a_sentence_that_says_what_to_do(
    tmp_path: Path, callback: str, inputs: dict[str, Any], said: str
) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        made = await Workflow(desk).runs(callback, **inputs)
        assert said in made.error
        assert made.outputs is None
        assert "*" not in made.error


async def test_a_step_that_slack_tells_of_three_times_is_answered_once(tmp_path: Path) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        made = await Workflow(desk).runs(SEARCH_STEP, delivered=3, query="cache")
        await (await desk.fake.command("help")).answer()
        assert made.answers == ["functions.completeSuccess"]
        assert desk.fake.counts["functions.completeSuccess"] == 1


@pytest.mark.parametrize("commits", [True, False])
async def test_an_answer_of_which_slack_does_not_say_whether_it_took_it_ends_the_step_once(
    tmp_path: Path, commits: bool
) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        desk.fake.fail("functions.completeSuccess", Failure(cut=Fault.RESET, commits=commits))
        made = await Workflow(desk).runs(SEARCH_STEP, query="cache")
        await desk.fake.until(lambda: desk.fake.counts["functions.completeSuccess"] == 2 + commits)
        assert made.answers == ["functions.completeSuccess"]


@pytest.mark.parametrize("with_token", [True, False])
async def test_a_step_whose_own_token_ended_is_answered_with_the_apps(tmp_path: Path, with_token: bool) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        fake = desk.fake
        fake.fail("functions.completeSuccess", Failure(error="token_expired"))
        made = await Workflow(desk).runs(SEARCH_STEP, with_token=True, query="cache")
        assert made.answers == ["functions.completeSuccess"]
        tokens = [each.token for each in fake.requests if each.method == "functions.completeSuccess"]
        assert tokens == [made.token, fake.bot_token]
        if not with_token:
            made = await Workflow(desk).runs(SEARCH_STEP, with_token=False, query="cache")
            assert made.answers == ["functions.completeSuccess"]


async def test_a_step_of_a_workspace_that_has_not_installed_the_app_is_not_answered(tmp_path: Path) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        await (await desk.fake.command("topic create ours cache", user=desk.fake.anna)).answer()
        _, count, _ = found(await Workflow(desk).runs(DIGEST_STEP, topic="ours", days=14))
        assert count
        other = desk.fake.add_team("T0OTHER")
        desk.fake.add_grant("xoxb-0-T0OTHER-aaaa", team=other)
        made = await desk.fake.run_step(DIGEST_STEP, team=other, topic="ours")
        await (await desk.fake.command("help")).answer()
        assert not made.has_ended  # Broadsheet has no token of that workspace: what comes from it is not answered


async def test_what_a_private_channel_subscribes_to_plays_no_part(tmp_path: Path) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        fake = desk.fake
        fake.secret.members.add(fake.team.app_user.id)
        usual = found(await Workflow(desk).runs(SEARCH_STEP, query="cache topic-of:gpu-systems", limit=10))
        await (await fake.command("subscribe gpu-systems filter has:code", channel=fake.secret)).answer()
        assert await desk.app.store.workspaces.subscriptions(WORKSPACE)
        assert found(await Workflow(desk).runs(SEARCH_STEP, query="cache topic-of:gpu-systems", limit=10)) == usual


async def test_without_the_setting_no_workflow_is_offered_a_step(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        with pytest.raises(NotOffered):
            await desk.fake.run_step(SEARCH_STEP, query="cache")


async def test_a_step_that_this_version_does_not_know_is_refused(tmp_path: Path) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        manifest = desk.fake.rights.manifest
        assert manifest is not None
        manifest["functions"]["another"] = manifest["functions"][SEARCH_STEP]
        made = await Workflow(desk).runs("another", query="cache")
        assert "give the app the manifest of this version" in made.error


async def test_a_hundred_executions_at_once_wait_their_turn_and_people_are_answered(tmp_path: Path) -> None:
    async with sitting(tmp_path, workflow_steps=True) as desk:
        made = [await desk.fake.run_step(SEARCH_STEP, query="cache") for _ in range(100)]
        await (await desk.fake.command("search cache")).answer()
        await desk.fake.until(lambda: sum(each.has_ended for each in made) >= 45)
        await asyncio.sleep(0)
        assert desk.fake.counts["functions.completeSuccess"] == 45  # in the first minute; Slack takes 50
