"""What the service tells over HTTP of how it is, asked over a real socket."""

import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.health.server import serving
from bot import __version__
from bot.errors import SettingsError, StoreError
from bot.models import Health, SourceState
from bot.ports.runner import Job
from bot.service.health import ServiceHealth
from bot.service.measurements import Measurements
from tests.conftest import NOW
from tests.fakes.concepts import Concepts
from tests.fakes.scripted import Scripted
from tests.fakes.works import paper
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

TICK = timedelta(seconds=15)


class Broken(MemoryStore):
    """A store whose database cannot be read any more."""

    broken = False

    def __init__(self) -> None:
        super().__init__()
        self.kept_facts, self.facts = self.facts, instead(self.facts, get=self.get_fact)
        self.kept_source_states, self.source_states = self.source_states, instead(self.source_states, get=self.source_state)

    async def get_fact(self, name: str) -> str:
        if self.broken:
            raise StoreError("The database /home/ada/b.sqlite3 is gone.")
        return await self.kept_facts.get(name)

    async def source_state(self, name: str) -> SourceState:
        if self.broken:
            raise StoreError("The database /home/ada/b.sqlite3 is gone.")
        return await self.kept_source_states.get(name)


class Watched:
    """A service that is watched: its ticks are run by hand, its timer is set by hand."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.store = Broken()
        self.measurements = Measurements(lambda: self.time)
        self.fails = False
        self.job = self.measurements.watched(Job("tick", TICK, self._tick))
        sources = [Scripted("arxiv"), Scripted('feed:"odd"')]
        self.troubles = {"slack": "", "discord": ""}
        heard = {name: lambda now, name=name: self.troubles[name] for name in self.troubles}
        self.health = ServiceHealth(self.measurements, self.store, sources, lambda: NOW, ("tick", TICK), heard, Concepts())
        self.url = ""

    async def _tick(self) -> None:
        if self.fails:
            raise StoreError("The disk is full.")

    async def tick(self) -> None:
        with contextlib.suppress(StoreError):
            await self.job.run()

    async def get(self, path: str) -> tuple[int, str]:
        async with aiohttp.ClientSession() as session, session.get(self.url + path) as response:
            assert response.headers["Server"] == "broadsheet"
            assert response.headers["Cache-Control"] == "no-store"
            return response.status, await response.text()

    async def values(self) -> dict[str, dict[str, float]]:
        """What /metrics says: by name, by the labels' values."""
        _, text = await self.get("/metrics")
        found: dict[str, dict[str, float]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found.setdefault(sample.name, {})[" ".join(sample.labels.values())] = sample.value
        return found


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    made = Watched()
    async with serving(made.health, "127.0.0.1", 0) as (host, port):
        made.url = f"http://{host}:{port}"
        yield made


async def test_it_lives_while_its_ticks_end_also_when_they_fail(watched: Watched) -> None:
    assert (await watched.get("/healthz"))[0] == 200
    watched.fails = True
    watched.time += 299
    await watched.tick()
    watched.time += 299
    assert (await watched.get("/healthz"))[0] == 200

    watched.time += 2
    status, text = await watched.get("/healthz")
    assert status == 503
    assert "the last tick ended 301 s ago" in text


async def test_it_is_ready_after_a_tick_that_went_well_and_for_three_intervals(watched: Watched) -> None:
    assert (await watched.get("/readyz"))[0] == 503
    await watched.tick()
    watched.time += 44
    assert (await watched.get("/readyz"))[0] == 200

    watched.fails = True
    await watched.tick()
    watched.time += 2
    status, text = await watched.get("/readyz")
    assert status == 503
    assert "the last tick that went well ended 46 s ago" in text


async def test_it_is_not_ready_without_its_database_and_names_no_path(watched: Watched) -> None:
    await watched.tick()
    watched.store.broken = True

    status, text = await watched.get("/readyz")

    assert status == 503
    assert '"database": {"well": false' in text
    assert "/home/ada" not in text
    assert (await watched.get("/healthz"))[0] == 200


@pytest.mark.parametrize(("down", "status"), [(1, 200), (2, 503)])
async def test_it_is_not_ready_when_no_source_answers(watched: Watched, down: int, status: int) -> None:
    await watched.tick()
    for name in ("arxiv", 'feed:"odd"')[:down]:
        await watched.store.source_states.save(SourceState(name=name, health=Health.DOWN, failures=3))

    assert (await watched.get("/readyz"))[0] == status


async def test_the_metrics_tell_jobs_deliveries_and_sources(watched: Watched) -> None:
    await watched.tick()
    watched.fails = True
    await watched.tick()
    watched.time += 7
    watched.measurements.counts["posted"] += 4
    watched.measurements.counts["late"] += 1
    watched.measurements.source_failed("arxiv")
    answered = NOW - timedelta(minutes=5)
    state = SourceState(name='feed:"odd"', health=Health.OK, asked=answered, answered=answered, items=12)
    await watched.store.source_states.save(state)

    told = await watched.values()

    assert told["broadsheet_last_tick_age_seconds"] == {"": 7}
    assert told["broadsheet_job_runs_total"] == {"tick": 2}
    assert told["broadsheet_job_failures_total"] == {"tick": 1}
    assert told["broadsheet_posts_total"]["posted"] == 4
    assert told["broadsheet_digests_total"] == {"made": 0, "empty": 0, "skipped": 0, "late": 1}
    assert told["broadsheet_deliveries"]["ambiguous"] == 0
    assert told["broadsheet_due_digests"] == {"": 0}
    assert told["broadsheet_source_answer_age_seconds"] == {'feed:"odd"': 300}
    assert told["broadsheet_source_items"]['feed:"odd"'] == 12
    assert told["broadsheet_source_errors_total"] == {"arxiv": 1, 'feed:"odd"': 0}
    assert any(__version__ in labels for labels in told["broadsheet_build_info"])


async def test_a_database_that_does_not_answer_is_told_by_what_is_missing(watched: Watched) -> None:
    watched.store.broken = True

    told = await watched.values()

    assert told["broadsheet_database_up"] == {"": 0}
    assert "broadsheet_source_up" not in told
    assert "broadsheet_uptime_seconds" in told


async def test_nothing_else_is_there_and_nothing_is_taken(watched: Watched) -> None:
    async with aiohttp.ClientSession() as session:
        for path in ("/", "/metrics/../etc/passwd", "/debug"):
            async with session.get(watched.url + path) as response:
                assert response.status == 404
        async with session.post(watched.url + "/metrics", data=b"x") as response:
            assert response.status == 405


@pytest.mark.parametrize("place", [lambda taken: ("127.0.0.1", taken), lambda _: ("192.0.2.1", 0)])
async def test_an_address_that_cannot_be_used_is_told_in_a_sentence(
    watched: Watched, place: Callable[[int], tuple[str, int]]
) -> None:
    host, port = place(int(watched.url.rpartition(":")[2]))

    with pytest.raises(SettingsError, match=rf"Nothing can be told at {re.escape(host)}:\d+: .*; change `port` or `host`"):
        async with serving(watched.health, host, port):
            pass


async def test_it_is_ready_while_people_are_heard_on_one_platform_and_says_what_is_wrong_with_the_other(
    watched: Watched,
) -> None:
    await watched.tick()
    watched.troubles["slack"] = "The token xoxb-1-secret was not taken."
    status, text = await watched.get("/readyz")
    assert status == 200
    assert json.loads(text)["signs"]["platforms"] == {
        "well": True,
        "text": "slack: The token [hidden] was not taken.; discord: people are heard",
    }
    assert (await watched.values())["broadsheet_platform_up"] == {"slack": 0.0, "discord": 1.0}

    watched.troubles["discord"] = "The gateway is away."
    status, text = await watched.get("/readyz")
    assert status == 503
    assert "discord: The gateway is away." in text


@pytest.mark.parametrize(
    ("down", "well", "text"),
    [
        ({}, True, "slack: people are heard; email: mails can be sent, as far as is known"),
        ({"slack"}, False, "slack: It is down.; email: mails can be sent, as far as is known"),
        ({"email"}, True, "slack: people are heard; email: It is down."),
    ],
)
async def test_by_e_mail_nobody_is_heard_and_where_a_chat_is_set_up_that_counts(
    watched: Watched, down: set[str], well: bool, text: str
) -> None:
    def health(*names: str) -> ServiceHealth:
        troubles = {name: lambda now, name=name: "It is down." if name in down else "" for name in names}
        return ServiceHealth(watched.measurements, watched.store, [], lambda: NOW, ("tick", TICK), troubles)

    (*_, platforms) = await health("slack", "email").ready()
    assert (platforms.well, platforms.text) == (well, text)
    (*_, alone) = await health("email").ready()
    assert alone.well == ("email" not in down), "where nothing else is set up"


async def test_how_many_items_have_a_vector_is_measured(watched: Watched) -> None:
    items = [paper(f"2603.{number:05}") for number in range(3)]
    await watched.store.items.add(items, NOW)
    await watched.store.vectors.save(Concepts.space, items[:1], [b"\1" * 8], quick=True)
    assert (await watched.values())["broadsheet_items_by_vector"] == {"whole": 0.0, "quick": 1.0, "lacking": 2.0}
