"""Recorded answers of GitHub, for the fake web."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.web import Answer

FOLDER = Path(__file__).parents[2] / "payloads" / "github"


@dataclass(frozen=True)
class Recorded:
    """One answer as it was recorded; header names in lower case."""

    path: str
    status: int
    headers: dict[str, str]
    body: str

    def answer(self, **headers: str) -> Answer:
        """The answer for the fake web, with headers added or changed (`-` for `_`)."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return Answer(self.body, self.status, {**self.headers, **more})

    def json(self) -> Any:
        return json.loads(self.body)


def recorded(name: str) -> list[Recorded]:
    """Read the answers of one recording, in their order."""
    path = FOLDER / f"{name}.json"
    text = path.read_text("utf-8") if path.exists() else gzip.decompress(path.with_suffix(".json.gz").read_bytes()).decode()
    return [
        Recorded(one["path"], one["status"], {name.lower(): value for name, value in one["headers"].items()}, one["body"])
        for one in json.loads(text)
    ]


def repository(name: str = "some/repo", **fields: object) -> dict[str, Any]:
    """A repository as GitHub describes it, with the fields that we read."""
    return {
        "full_name": name,
        "html_url": f"https://github.com/{name}",
        "description": "Fast kernels.",
        "private": False,
        "fork": False,
        "archived": False,
        "created_at": "2026-03-25T10:00:00Z",
        "pushed_at": "2026-03-31T10:00:00Z",
        "stargazers_count": 12,
        "forks_count": 1,
        "language": "Cuda",
        "topics": ["cuda", "inference"],
        "license": {"spdx_id": "MIT"},
        "homepage": None,
        **fields,
    }


def release(tag: str = "v1.0", day: str = "2026-03-28", **fields: object) -> dict[str, Any]:
    """A release as GitHub describes it, with the fields that we read."""
    return {
        "tag_name": tag,
        "name": tag,
        "body": "",
        "draft": False,
        "prerelease": False,
        "created_at": f"{day}T09:00:00Z",
        "published_at": f"{day}T10:00:00Z",
        **fields,
    }
