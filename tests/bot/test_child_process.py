"""A process that computes for us ends, whatever it does; that of the feeds is asked more in its own tests."""

import sys

import pytest

from bot.child_process import run_module
from bot.errors import ProcessFailed

PATIENT = 600.0  # seconds: a busy machine must not give another verdict


async def test_what_the_module_writes_is_returned() -> None:
    given = (b'{"a":', b" [1]}")

    said = await run_module("json.tool", "--compact", data=given, wall_clock=PATIENT, most=100)

    assert said == b'{"a":[1]}\n'


async def test_one_that_takes_too_long_may_do_another_time() -> None:
    with pytest.raises(ProcessFailed, match=r"longer than 0\.01 seconds") as raised:
        await run_module("json.tool", data=(b"[]",), wall_clock=0.01, most=100)
    assert raised.value.is_temporary


async def test_one_that_cannot_be_started_may_be_another_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(ProcessFailed, match="could not be started") as raised:
        await run_module("json.tool", data=(b"[]",), wall_clock=PATIENT, most=100)
    assert raised.value.is_temporary


@pytest.mark.parametrize(("data", "why"), [(b"nothing", "status 1"), (b"[" + b"1," * 999 + b"1]", "more than 1,000 bytes")])
async def test_one_that_fails_or_says_too_much_will_do_so_again(data: bytes, why: str) -> None:
    with pytest.raises(ProcessFailed, match=why) as raised:
        await run_module("json.tool", data=(data,), wall_clock=PATIENT, most=1000)
    assert not raised.value.is_temporary
