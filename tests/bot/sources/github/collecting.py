"""Collecting from a GitHub that answers on the loopback interface."""

import base64
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from bot.errors import SourceError
from bot.http.client import Http
from bot.models import Batch, Item, SourceState
from bot.settings.sources import GitHubSettings
from bot.sources.github.source import GitHubSource
from tests.fakes.web import Answer, Web

SEARCH = "/search/repositories"


def source(http: Http, web: Web, **options: Any) -> GitHubSource:
    async def sleep(seconds: float) -> None:
        """Never waits."""

    parts = {name: options.pop(name) for name in ("pages", "requested") if name in options}
    settings = GitHubSettings.model_validate({"base_url": web.url, "readmes": 0, "releases": 0, **options})
    return GitHubSource(http, settings, sleep=sleep, **parts)


async def collect(github: GitHubSource, now: datetime, watermark: str = "") -> list[Batch]:
    return [batch async for batch in github.collect(SourceState(name="github", watermark=watermark), now)]


async def collect_until_failure(github: GitHubSource, now: datetime, watermark: str = "") -> tuple[list[Batch], SourceError]:
    batches: list[Batch] = []
    with pytest.raises(SourceError) as caught:  # noqa: PT012 (what came before the failure is wanted too)
        async for batch in github.collect(SourceState(name="github", watermark=watermark), now):
            batches.append(batch)
    return batches, caught.value


def items_of(batches: Sequence[Batch]) -> list[Item]:
    return [item for batch in batches for item in batch.items]


def keys_of(batches: Sequence[Batch]) -> list[str]:
    return [item.key for item in items_of(batches)]


def notes_of(batches: Sequence[Batch]) -> list[str]:
    return [note for batch in batches for note in batch.notes]


def last_mark(batches: Sequence[Batch]) -> str:
    return next(batch.watermark for batch in reversed(batches) if batch.watermark is not None)


def found(*repositories: dict[str, Any], **fields: object) -> Answer:
    return Answer(
        json.dumps({"total_count": len(repositories), "incomplete_results": False, "items": repositories, **fields})
    )


def readme(text: str) -> Answer:
    return Answer(
        json.dumps({"encoding": "base64", "content": base64.encodebytes(text.encode()).decode(), "name": "README.md"})
    )


def releases(*listed: dict[str, Any], **headers: str) -> Answer:
    return Answer(json.dumps(listed), headers=headers)
