"""Whatever the sources send, the round goes on and the digest's footer names who failed."""

import gzip
import logging
import re
from datetime import datetime
from pathlib import Path

import pytest

from adapters.cli.demo.recorded_run import settings_for
from adapters.cli.demo.replay import replay
from adapters.words import coverage_line
from bot.app import built
from bot.models import Health
from bot.settings.load import Settings
from bot.settings.sections import FeedGuardSettings
from bot.settings.sources import FeedSettings, GitHubSettings, HuggingFaceSettings
from tests.fakes.web import Answer, Web

BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;">]><feed><title>&d;</title></feed>"""
XML = {"Content-Type": "application/xml"}
JSON = {"Content-Type": "application/json"}
UGLY = {
    "nothing": Answer(b""),
    "a page instead": Answer(
        "<html><body><h1>We are down for maintenance</h1></body></html>", headers={"Content-Type": "text/html"}
    ),
    "cut off xml": Answer(b"<?xml version='1.0'?><feed><entry><id>http://arxiv.org/abs/1", headers=XML),
    "cut off json": Answer(b'{"total_count": 3, "items": [{"full_na', headers=JSON),
    "an entity bomb": Answer(BOMB, headers=XML),
    "a number": Answer(b"42", headers=JSON),
    "nulls": Answer(b'[null, null, {"paper": null}]', headers=JSON),
    "nested": Answer(b"[" * 100_000, headers=JSON),
    "not a number": Answer(b'{"items": [{"stargazers_count": NaN}], "total_count": Infinity}', headers=JSON),
    "bytes": Answer(bytes(range(256)) * 64),
    "10 MB": Answer(b"<feed>" + b" " * 10 * 2**20),
    "a gzip bomb": Answer(gzip.compress(b"0" * 40 * 2**20), headers={"Content-Encoding": "gzip"}),
    "500": Answer(b"oops", status=500),
    "403": Answer(b"<html>Forbidden</html>", status=403),
    "429": Answer(b"Rate exceeded.", status=429),
    "404": Answer(b"", status=404),
    "301 to itself": Answer(b"", status=301, headers={"Location": "/"}),
    "cut connection": Answer(reset=True),
}


def everything_at(url: str, folder: Path) -> Settings:
    host = url.removeprefix("http://")
    return settings_for(url, folder).model_copy(
        update={
            "feeds": (FeedSettings(name="lab", url=f"{url}/feed"),),
            "feed_guard": FeedGuardSettings(allow_hosts=(host,)),
            "topics": ("gpu-systems",),
        }
    )


@pytest.mark.parametrize("kind", UGLY)
async def test_an_ugly_answer_of_every_source_ends_in_a_digest_that_names_them(
    web: Web, tmp_path: Path, now: datetime, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    web.rule(lambda _: UGLY[kind])
    with caplog.at_level(logging.ERROR):
        async with built(everything_at(web.url, tmp_path)) as app:
            results = await app.collector.collect(app.sources, now)
            (digest,) = await app.publisher.publish([await app.request("gpu-systems")], now)

    assert "unexpected" not in caplog.text
    assert "Traceback" not in caplog.text
    for result in results:
        assert result.state.health is not Health.OK, (result.title, result.state)
        assert result.state.note, result.title
    footer = coverage_line(digest)
    for title in ("arXiv", "Hugging Face", "GitHub", "lab"):
        assert title in footer
    _, _, troubles = footer.partition(" kept")
    said = r"[\w, ]+ (was|were) down|[\w, ]+ answered in an unknown form|[\w, ]+ delivered only a part"
    assert all(re.fullmatch(said, piece) for piece in troubles.split(" · ")[1:]), footer


async def test_one_source_that_fails_costs_nothing_of_the_others(web: Web, tmp_path: Path, now: datetime) -> None:
    web.rule(lambda _: Answer(status=502))
    async with replay() as url:
        settings = settings_for(url, tmp_path)
        broken = settings.model_copy(update={"github": GitHubSettings(base_url=web.url)})
        async with built(broken) as app:
            results = {result.state.name: result for result in await app.collector.collect(app.sources, now)}
            (digest,) = await app.publisher.publish([await app.request("gpu-systems")], now)

    assert results["github"].state.health is Health.DOWN
    assert results["arxiv"].fresh > 100
    assert digest.entries
    assert "GitHub" in coverage_line(digest)


async def test_what_was_missed_is_there_on_the_next_day(web: Web, tmp_path: Path, now: datetime) -> None:
    web.rule(lambda _: Answer(status=503))
    async with replay() as url:
        settings = settings_for(url, tmp_path)
        async with built(replace_base(settings, web.url)) as app:
            await app.collector.collect(app.sources, now)
            assert (await app.maintenance.statistics())["items"] > 0
        async with built(settings) as app:
            (result,) = await app.collector.collect(app.sources_named(["huggingface"]), now, force=True)
            assert result.fresh > 0


def replace_base(settings: Settings, url: str) -> Settings:
    """The same settings with Hugging Face somewhere else."""
    return settings.model_copy(update={"huggingface": HuggingFaceSettings(base_url=url)})
