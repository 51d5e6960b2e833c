"""A store that is away is told of once, and when it is there again."""

from datetime import timedelta

import pytest

from bot.errors import StoreError
from bot.ports.runner import Job
from bot.service.supervise import Outage

AGAIN = "the database does its work again"


def job(name: str, said: list[str]) -> Job:
    """One that fails with each of these in turn, and then goes well."""

    async def run() -> None:
        if said:
            raise StoreError(said.pop(0))

    return Job(name, timedelta(seconds=1), run)


async def test_each_reason_is_told_once_and_that_it_is_over_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    outage = Outage()
    tick = outage.told(job("tick", ["It is away.", "It is away.", "It does not answer.", "It is away."]))
    tell = outage.told(job("tell", ["It is away."] * 3))
    for _ in range(5):
        await tick.run()
        await tell.run()

    errors = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert errors == [
        "job tick failed: It is away. It is tried again by itself.",
        "job tick failed: It does not answer. It is tried again by itself.",
    ]
    assert caplog.text.count(AGAIN) == 1


async def test_what_fails_another_time_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    outage = Outage()
    for said in ([], ["It is away."], [], ["It is away."], []):
        await outage.told(job("tick", said)).run()

    assert caplog.text.count("It is away.") == 2
    assert caplog.text.count(AGAIN) == 2


async def test_what_fails_otherwise_is_the_runners_to_tell() -> None:
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Outage().told(Job("tick", timedelta(seconds=1), fail)).run()
