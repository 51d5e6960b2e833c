"""Whatever answers people fails in each way in which Slack was seen to fail, planned or drawn by a seed."""

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from tests.fakes import slack
from tests.fakes.platform import Behaviour, Fault
from tests.fakes.slack import Failure, FakeSlack
from tests.fakes.slack.app import client

SAID = {"text": "Found"}


async def respond(fake: FakeSlack, url: str) -> tuple[int, str]:
    """Answer at a response_url: the status, 0 where there was none, and what was said."""
    async with aiohttp.ClientSession() as session:
        try:
            async with asyncio.timeout(0.2), session.post(url, json=SAID) as answer:
                return answer.status, await answer.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            return 0, type(error).__name__


@pytest.mark.parametrize(
    ("failure", "status", "said"),
    [
        (Failure(status=500), 500, "<html>"),
        (Failure(status=200), 200, "<html>"),
        (Failure(error="expired_url"), 404, "expired_url"),
        (Failure(error="used_url"), 404, "used_url"),
        (Failure(retry_after=7), 429, "rate_limited"),
        (Failure(cut=Fault.RESET), 0, ""),
        (Failure(cut=Fault.HALF), 0, ""),
        (Failure(cut=Fault.STALL, stall=1.0), 0, "Timeout"),
    ],
)
@pytest.mark.parametrize("commits", [False, True])
async def test_an_address_to_answer_at_fails_as_planned(failure: Failure, status: int, said: str, commits: bool) -> None:
    async with slack.running() as fake:
        commits = commits and failure.retry_after is None
        url, _ = fake.answers.way("commands", fake.ben.id, fake.general)
        fake.fail(
            "response_url", Failure(**{name: getattr(failure, name) for name in failure.__slots__} | {"commits": commits})
        )
        answered = await respond(fake, url)
        assert answered[0] == status
        assert said in answered[1]
        assert [each.text for each in fake.seen_by(fake.ben)] == (["Found"] if commits else [])
        assert await respond(fake, url) == (200, "ok")


async def test_the_bytes_of_a_file_are_refused_as_planned() -> None:
    async with slack.running() as fake:
        for failure in (Failure(status=500), Failure(retry_after=1), Failure(cut=Fault.RESET)):
            fake.fail("upload", failure)
            with pytest.raises(Exception, match=r"500|429|disconnect|reset"):
                await client(fake).files_upload_v2(channel=fake.direct(fake.ben).id, filename="a.bib", content="@misc{}")
        await client(fake).files_upload_v2(channel=fake.direct(fake.ben).id, filename="a.bib", content="@misc{}")
        assert [each["name"] for each in fake.files] == ["a.bib"]


async def test_a_behaviour_lets_all_that_answers_people_fail_by_its_seed_and_nothing_else_unless_it_says_so() -> None:
    async def failures(behaviour: Behaviour) -> list[int]:
        async with slack.running(behaviour, tiers=False) as fake:
            web, count = client(fake), [0, 0, 0]

            async def fails(asking: Any) -> int:
                try:
                    await asking
                except (SlackApiError, aiohttp.ClientError):
                    return 1
                return 0

            for _ in range(40):
                url, _ = fake.answers.way("commands", fake.ben.id, fake.general)
                count[0] += (await respond(fake, url))[0] != 200
                count[1] += await fails(web.chat_postEphemeral(channel="C0GENERAL", user="U0BEN", text="Found"))
                count[2] += await fails(web.auth_test())
            return count

    storm = {"takes": (0.0, 0.0), "resets": 0.1, "broken": 0.1, "limited": 0.1, "rests": (0.1, 0.2)}
    assert await failures(Behaviour(**storm)) == [0, 0, 0]  # type: ignore[arg-type]
    found = await failures(Behaviour(**storm, answers=True))  # type: ignore[arg-type]
    assert 4 <= found[0] <= 20
    assert 4 <= found[1] <= 20
    assert found[2] == 0
    assert await failures(Behaviour(**storm, answers=True)) == found  # type: ignore[arg-type]
