"""Pictures drawn by a process of their own: resvg lets no other thread of its process go on, the event loop's neither."""

from adapters.pictures.png import ZOOM
from bot.child_process import run_module

_PATIENCE = 20.0  # seconds for drawing one, of which it takes a small part
_MOST = 8 * 2**20  # bytes of a picture: a hundred times what one takes


async def drawn_apart(picture: str, zoom: float = ZOOM) -> bytes:
    """Return the SVG as PNG, as `adapters.pictures.png.drawn` does; one is drawn at a time. Raises ProcessFailed."""
    given = (picture.encode("utf-8", "replace"),)
    return await run_module("adapters.pictures.png", str(zoom), data=given, wall_clock=_PATIENCE, most=_MOST)
