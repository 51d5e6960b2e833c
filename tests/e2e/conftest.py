"""The desk that every test of the whole command sits at."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from adapters.cli.demo.replay import replay
from tests.e2e.desk import WARNINGS, Desk
from tests.fakes.forked import Forks


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    made = Forks("adapters.cli.main", {"PATH": os.environ["PATH"], "PYTHONWARNINGS": WARNINGS})
    yield made
    made.close()


@pytest.fixture
async def desk(tmp_path: Path, forks: Forks) -> AsyncIterator[Desk]:
    async with replay() as url:
        desk = Desk(tmp_path, url, forks)
        desk.settle()
        yield desk
