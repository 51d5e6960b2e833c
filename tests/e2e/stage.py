"""What the services of the tests stand on: items that were collected, and no source to collect more."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from bot.app import Service
from bot.models import Item
from bot.settings.sources import ArxivSettings, GitHubSettings, HuggingFaceSettings
from tests.conftest import NOW
from tests.fakes.works import paper, repo

NO_SOURCES: Mapping[str, Any] = {
    "arxiv": ArxivSettings(enabled=False),
    "huggingface": HuggingFaceSettings(enabled=False),
    "github": GitHubSettings(enabled=False),
}
_ROUND = ("tick", "publish", "deliver", "settle", "tell", "edit", "followers")
OLD = (
    "Paging the KV cache",
    "Sharding tensors in CUDA",
    "Quantised GPU inference",
    "Overlapping GPU communication",
    "A GPU scheduler for serving",
    "Sparse kernels for GPU training",
    "Compiling to GPU kernels",
)
NEW = ("Fused attention on GPUs", "Faster CUDA graphs", "GPU memory for long contexts")


def about(first: int, titles: Sequence[str], seen: datetime) -> list[Item]:
    """Papers of these titles, that were first seen then, a minute apart."""
    said = "{} is hard on GPUs. We propose a CUDA kernel for it. It is {} times faster than before. Users of GPUs gain."
    return [
        paper(
            f"2603.{number:05}",
            title=title,
            abstract=said.format(title, number),
            seen=seen - timedelta(minutes=number),
            published=seen,
            appeared=seen,
        )
        for number, title in enumerate(titles, start=first)
    ]


KIT = repo("acme/gpu-kit", abstract="CUDA kernels for GPU serving.", seen=NOW - timedelta(hours=3))
ITEMS = (*about(1, OLD, NOW - timedelta(hours=1)), KIT)


async def do_a_round(service: Service) -> None:
    """Do once what the service does by itself when something is due."""
    for name in _ROUND:
        await next(job for job in service.jobs if job.name == name).run()
