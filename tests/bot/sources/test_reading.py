"""One answer is read at a time."""

import asyncio
import threading

import pytest

from bot.errors import SourceChanged
from bot.sources.reading import read_in_turn


async def test_one_answer_is_read_at_a_time_and_not_by_the_event_loop() -> None:
    going: list[int] = []
    together: list[int] = []
    threads: set[threading.Thread] = set()

    def read(number: int) -> int:
        threads.add(threading.current_thread())
        going.append(number)
        for _ in range(20_000):  # others would run meanwhile, if they might
            together.append(len(going))
        going.remove(number)
        return number

    assert await asyncio.gather(*(read_in_turn(read, number) for number in range(6))) == [*range(6)]
    assert set(together) == {1}
    assert threading.current_thread() not in threads


async def test_what_cannot_be_read_keeps_nobody_from_reading() -> None:
    def fail() -> None:
        raise SourceChanged("X sent nothing")

    with pytest.raises(SourceChanged, match="X sent nothing"):
        await read_in_turn(fail)
    assert await read_in_turn(lambda: 1) == 1
