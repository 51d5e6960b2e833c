"""The forms that pages send."""

import asyncio
from collections.abc import Mapping

from aiohttp import web


async def read_form(request: web.Request, slowest: float) -> Mapping[str, str]:
    """Return the fields of the form that was sent, which may take so many seconds to come in; files are none.

    Raises HTTPBadRequest, HTTPRequestTimeout and HTTPRequestEntityTooLarge.
    """
    try:
        async with asyncio.timeout(slowest):
            sent = await request.post()
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    except web.HTTPException:  # too large
        raise
    except Exception as error:  # of all that aiohttp may raise for what is no form
        raise web.HTTPBadRequest from error
    return {name: value for name, value in sent.items() if isinstance(value, str)}
