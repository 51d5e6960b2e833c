"""Pictures drawn by a process of their own: resvg lets no other thread of its process go on, the event loop's neither."""

import asyncio
from collections import OrderedDict
from weakref import WeakKeyDictionary

from adapters.pictures.png import ZOOM
from bot.child_process import run_module

_PATIENCE = 20.0  # seconds for drawing one, of which it takes a small part
_MOST = 8 * 2**20  # bytes of a picture: a hundred times what one takes
_HELD = 32  # of some 60 KB each: people ask for the same charts after one another

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
_held: OrderedDict[tuple[str, float], bytes] = OrderedDict()


async def drawn_apart(picture: str, zoom: float = ZOOM) -> bytes:
    """Return the SVG as PNG, as `adapters.pictures.png.drawn` does; the last ones are held. Raises ProcessFailed.

    One is drawn at a time: who asks for the same meanwhile has it then.
    """
    of = picture, zoom
    async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        made = _held.pop(of, b"")
        if not made:
            data = (picture.encode("utf-8", "replace"),)
            made = await run_module("adapters.pictures.png", str(zoom), data=data, wall_clock=_PATIENCE, most=_MOST)
        _held[of] = made
        if len(_held) > _HELD:
            _held.popitem(last=False)
    return made
