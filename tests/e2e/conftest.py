"""The desk that every test of the whole command sits at."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.cli.demo.replay import replay
from tests.e2e.desk import Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with replay() as url:
        desk = Desk(tmp_path, url)
        desk.settle()
        yield desk
