"""What every test stands on: no blocking on the event loop, no settings leaking in, a clock that stands still."""

import logging
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings

from tests.fakes.web import Web, serving
from tests.stores import postgres_server

# An example takes as long as it takes: on a busy machine neither a law nor its strategy is wrong for that.
settings.register_profile("full", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("half", settings.get_profile("full"), max_examples=50)
settings.register_profile("quick", settings.get_profile("full"), max_examples=25)
settings.load_profile("quick")  # `--hypothesis-profile` comes after this
_SHARE = {"full": 1, "half": 2}

# Wednesday, after Tuesday evening's announcement on the US east coast.
NOW = datetime(2026, 4, 1, 7, 0, tzinfo=UTC)


def tries(number: int) -> int:
    """Return how many examples a law is tried with where the full profile tries so many."""
    return min(number, max(8, number // _SHARE.get(settings.get_current_profile_name(), 4)))


def stride() -> int:
    """Return how far apart the cases of a long row are that are tried: 1 with the full profile, 2 with half, 4 otherwise."""
    return _SHARE.get(settings.get_current_profile_name(), 4)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return two more than there are cores: many tests wait for a process or a clock."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(trylast=True)  # after hypothesis has marked its own, and others are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, and measure no coverage of it nor of laws: it would take two or three times as long, and
    what they reach is reached by an example that is written down.
    """
    items.sort(key=lambda each: "long" not in each.keywords)
    for each in items:
        if "long" in each.keywords or "hypothesis" in each.keywords:
            each.add_marker("no_cover")


@pytest.fixture(scope="session")
def postgres_address() -> str:
    """Return the address of a PostgreSQL server, without a database; skips the test where there is none, and says so."""
    try:
        return postgres_server.shared(Path(os.environ[_NOTE]))
    except postgres_server.NoServerError as error:
        if postgres_server.GIVEN == postgres_server.REQUIRED:
            raise
        pytest.skip(f"no PostgreSQL: {error}; name one in {postgres_server.NAME}")


@pytest.fixture(scope="session")
def postgres(postgres_address: str, worker_id: str) -> str:
    """Return the address of a database of this worker's; a test that writes has it emptied first."""
    return postgres_server.database(postgres_address, f"broadsheet_test_{worker_id}")


_NOTE = "TESTS_POSTGRES_NOTE"  # the variable that tells every worker of a run where its server is noted down


def pytest_configure(config: pytest.Config) -> None:
    """Say where the run's server is noted down: by who begins the run, for its workers too."""
    if not hasattr(config, "workerinput"):
        os.environ[_NOTE] = str(Path(tempfile.gettempdir()) / f"broadsheet-postgres-{os.getpid()}.json")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the server of the run: by who began the run, when every worker has ended."""
    if not hasattr(session.config, "workerinput"):
        postgres_server.end_shared(Path(os.environ[_NOTE]))


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith("BROADSHEET_"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def the_log_as_it_was() -> Iterator[None]:
    """What a command that runs in this process settles of the log, its level and where it is written, ends with the test."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
    root.handlers[:] = [each for each in root.handlers if type(each) is not logging.StreamHandler]


@pytest.fixture(scope="session")
def buster() -> BlockBuster:
    """Return what finds calls that block, made once: it looks up sixty functions, which takes longer than many a test."""
    made = BlockBuster(scanned_modules=["bot", "adapters"])
    # Measuring coverage takes a lock of its own while our code runs; that is not our code blocking.
    made.functions["threading.Lock.acquire"].can_block_in("coverage/collector.py", {"lock_data"})
    return made


@pytest.fixture(autouse=True)
def nothing_blocks_the_loop(buster: BlockBuster) -> Iterator[BlockBuster]:
    """Any file or socket call of ours that blocks inside the event loop fails the test."""
    buster.activate()
    yield buster
    buster.deactivate()


@pytest.fixture
def unknown_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the resolver say at once that there is no name under .invalid, also where it could be asked for long."""
    usual = socket.getaddrinfo

    def resolve(host: Any, *others: Any, **more: Any) -> Any:
        if str(host).endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return usual(host, *others, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serving() as fake:
        yield fake
