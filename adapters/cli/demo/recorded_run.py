"""`broadsheet demo`: recorded answers of arXiv, Hugging Face and GitHub through the whole path, on a database of its own."""

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from adapters.cli.demo.replay import replay
from adapters.cli.progress import ProgressBars
from bot.app import built
from bot.models import Digest
from bot.settings.load import Settings
from bot.settings.sections import EmbeddingsSettings
from bot.settings.sources import ArxivSettings, GitHubSettings, HuggingFaceSettings

# Just before arXiv's next feed: the recordings are the newest that there were.
NOW = datetime(2026, 4, 1, 4, 15, tzinfo=UTC)
ENTRIES = 4  # per topic: three topics are to be read at a glance
TOPICS = ("gpu-systems", "llm-agents", "vision-language")


def settings_for(url: str, folder: Path, topics: Sequence[str] = TOPICS) -> Settings:
    """Return settings that send every source to `url`, at no pace, and keep everything in `folder`; no file, no variable."""
    return Settings.model_construct(
        **{name: info.get_default() for name, info in Settings.model_fields.items()}
        | {
            "database": folder / "demo.sqlite3",
            "topics": tuple(topics),
            "fetch_on_request": False,
            "embeddings": EmbeddingsSettings(use="off"),  # vectors would take longer than all the rest
            "arxiv": ArxivSettings(
                feed_url=f"{url}/atom",
                api_url=f"{url}/api/query",
                oai_url=f"{url}/oai",
                seconds_between=0,
                follow_topics=False,  # one digest for one topic, whichever others are asked for beside it
            ),
            "huggingface": HuggingFaceSettings(base_url=url),
            "github": GitHubSettings(base_url=url),
        }
    )


def run_demo(*, shown: bool = True, topics: Sequence[str] = TOPICS, entries: int = ENTRIES) -> Sequence[Digest]:
    """Collect, then make a digest for each topic of at most so many entries; `shown` says whether the progress is.

    Raises SourceError when a source did not answer.
    """
    with tempfile.TemporaryDirectory(prefix="broadsheet-demo-") as folder:
        return asyncio.run(_make(Path(folder), topics, entries, shown=shown))


async def _make(folder: Path, topics: Sequence[str], entries: int, *, shown: bool) -> Sequence[Digest]:
    async with replay() as url, built(settings_for(url, folder, topics)) as app:
        with ProgressBars(shown=shown) as bars:
            collected = await app.collector.collect(app.sources, NOW, progress=bars.update)
        failed = next((each.error for each in collected if each.error is not None), None)
        if failed is not None:
            raise failed
        requests = [await app.request(name, entries=entries) for name in topics]
        return await app.publisher.publish(requests, NOW)
