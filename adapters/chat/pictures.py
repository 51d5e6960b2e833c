"""The pictures of an answer's charts, drawn beside the event loop."""

import asyncio
import logging
from collections.abc import Sequence

from adapters.pictures.png import png
from bot.models import Chart

log = logging.getLogger(__name__)


async def drawn_charts(charts: Sequence[Chart]) -> list[bytes]:
    """Return each chart as PNG; b"" for one that cannot be drawn, which is logged. Raises nothing."""
    return list(await asyncio.gather(*(asyncio.to_thread(_drawn, each) for each in charts)))


def _drawn(chart: Chart) -> bytes:
    try:
        return png(chart)
    except Exception:
        log.exception("The chart %s could not be drawn; its numbers are told", chart.name)
        return b""
