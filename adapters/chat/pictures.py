"""The pictures of an answer's charts."""

import asyncio
import logging
from collections.abc import Sequence

from adapters.pictures.drawing import drawn_apart
from adapters.pictures.png import chart_svg
from bot.errors import ProcessFailed
from bot.models import Chart

log = logging.getLogger(__name__)


async def drawn_charts(charts: Sequence[Chart]) -> list[bytes]:
    """Return each chart as PNG; b"" for one that cannot be drawn, which is logged. Raises nothing."""
    return [await _drawn(each) for each in charts]


async def _drawn(chart: Chart) -> bytes:
    try:
        return await drawn_apart(await asyncio.to_thread(chart_svg, chart))
    except ProcessFailed as error:
        log.warning("The chart %s could not be drawn, its numbers are told: %s", chart.name, error)
    except Exception:
        log.exception("The chart %s could not be drawn; its numbers are told", chart.name)
    return b""
