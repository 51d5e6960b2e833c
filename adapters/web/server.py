"""The server of the pages: what every page is sent with, and what is told where there is none.

Everyone can reach it: bodies of at most 16 KiB, five seconds to send one, one request a connection.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from adapters import http_server
from adapters.http_server import SLOWEST
from adapters.rate_limit import RateLimit
from adapters.web.feeds.routes import FeedPages
from adapters.web.mail import BY_ADDRESS, LARGEST, NOWHERE, MailPages
from adapters.web.page import page, policy
from adapters.web.site.cards import CardPictures
from adapters.web.site.frame import PUBLIC
from adapters.web.site.pages import ArchivePages
from adapters.web.site.views import load
from adapters.web.site.visitors import Visitors
from bot.errors import BotError
from bot.handlers.archive.access import browser_context
from bot.handlers.context import HandlerContext
from bot.handlers.handle import failed
from bot.handlers.links import LinkSigner
from bot.models import Reply

MOST_CONNECTIONS = 250  # at a time: of the 1,024 files that a process may usually have open, others are the database's

_NOT_DONE = "Nothing was changed."
_TOLD = {  # by the status
    405: Reply(title="That cannot be done here", text=(_NOT_DONE,)),
    429: Reply(title="That was too often", text=("Try again in a minute.", _NOT_DONE)),
    503: Reply(title="That did not work", text=("Please try again later.",)),
}
_UNREAD = Reply(title="That could not be read", text=("Go back to the page, and press the button there.", _NOT_DONE))


@asynccontextmanager
async def serving(
    context: HandlerContext,
    signer: LinkSigner,
    clock: Callable[[], datetime],
    host: str,
    port: int,
    *,
    slowest: float = SLOWEST,
    by_address: RateLimit | None = None,
    by_subscription: RateLimit | None = None,
    by_feed: RateLimit | None = None,
    by_session: RateLimit | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> AsyncIterator[tuple[str, int]]:
    """Answer at the address until the block ends; port 0 takes a free one. Yields where it really is.

    Raises SettingsError when the address cannot be used.
    """
    await asyncio.to_thread(_load, clock())
    context = browser_context(context)
    by_address = by_address or RateLimit(BY_ADDRESS)
    mail = MailPages(context, signer, clock, slowest=slowest, by_address=by_address, by_subscription=by_subscription)
    visitors = Visitors(context, signer, clock, slowest=slowest, by_address=by_address, monotonic=monotonic)
    archive = ArchivePages(context, visitors, clock, by_session=by_session, monotonic=monotonic)
    cards = CardPictures(context, signer, visitors, clock)
    feeds = FeedPages(context, signer, clock, by_address=by_address, by_feed=by_feed)
    application = web.Application(client_max_size=LARGEST, middlewares=[_told(clock)])
    for part in (mail, visitors, archive, cards, feeds):  # a further part of the pages is made above, and named here
        application.add_routes(part.routes())
    application.on_response_prepare.append(_guarded)

    def refused(why: str) -> str:
        return f"No page can be read at {host}:{port}: {why}; change `port` or `host` in [web]."

    most = MOST_CONNECTIONS
    async with http_server.serving(application, host, port, refused, slowest=slowest, most=most) as place:
        yield place


def _load(now: datetime) -> None:
    """Read what pages are made of: later ones are made on the event loop."""
    page(NOWHERE, now.date(), note="")
    load()


def _told(clock: Callable[[], datetime]) -> Middleware:
    @web.middleware
    async def told(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Tell as a page what went wrong; of what nobody foresaw, a reference to the log."""
        try:
            return await handler(request)
        except web.HTTPException as error:
            headers = {name: error.headers[name] for name in ("Allow", "Retry-After") if name in error.headers}
            reply = NOWHERE if error.status == web.HTTPNotFound.status_code else _TOLD.get(error.status, _UNREAD)
            return _page(reply, error.status, headers, clock())
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            return _page(failed(error, ""), 503 if isinstance(error, BotError) else 500, {}, clock())

    return told


def _page(reply: Reply, status: int, headers: dict[str, str], now: datetime) -> web.Response:
    body = page(reply, now.date(), note="")
    return web.Response(text=body, status=status, headers=headers, content_type="text/html")


async def _guarded(request: web.Request, response: web.StreamResponse) -> None:
    """What a browser is to do with what it gets: no script but a page's own, no frame, nobody told where one comes from."""
    response.headers.setdefault("Content-Security-Policy", policy())
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Frame-Options"] = "DENY"
    is_page = response.status == web.HTTPOk.status_code and response.content_type == "text/html"
    if not (is_page and request.path.startswith(PUBLIC)):
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
