"""The pages behind the links in mails: what a link asks, and what is done when its button is pressed.

A link's signature is what lets its bearer act: there is no session, and so nothing that another site could make use of.
Whoever has no link is told nothing: every link that leads nowhere gets one and the same answer.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from aiohttp import web

from adapters.rate_limit import RateLimit
from adapters.web.client import client_of
from adapters.web.forms import read_form
from adapters.web.page import FIELD, page
from bot.errors import BotError
from bot.handlers.addresses.opt_in import asked_by_link, confirm_by_link
from bot.handlers.context import HandlerContext
from bot.handlers.handle import answer, failed
from bot.handlers.links import LinkAction, LinkSigner, SignedLink
from bot.handlers.surfaces.linked import (
    Pressed,
    end_letters,
    letters_of,
    linked,
    note_pressed,
    pressed,
    pressed_button,
    question,
    told_by_page,
    with_tokens,
)
from bot.models import Button, OptIn, Reply

LARGEST = 2**14  # bytes of a body: the token of a long filter
LINK = "/mail/{subscription}/{action}"
CONFIRMATION = "/mail/confirm/{token}"
BY_ADDRESS = 600  # requests a minute: an office behind one address, and a scanner that follows every link of its mails
WRONG = 20  # what a request costs that no link of ours made: 30 a minute
BY_SUBSCRIPTION = 120  # requests a minute

_ONE_CLICK = ("List-Unsubscribe", "One-Click")  # RFC 8058, 3.1: what the form that a mail program sends consists of
_BEARER = "Whoever has this link can do what it says. If you pass the mail on, you pass that on, too."
_NOT_YET = f"Nothing is done before you press. {_BEARER}"
_YES = "yes"  # what the form of a confirmation sends
_UNTIL_YES = "If that was not you, do nothing: then nothing more is sent there."
_UNSUBSCRIBED = partial(web.Response, text="Unsubscribed.\n")  # for a mail program
_NO_MORE_CODES = Reply(
    title="No more codes?",
    text=("Then no codes for digests by e-mail are sent for a year to the address of that mail, whoever asks.",),
    buttons=(Button("No more codes", _YES, danger=True),),
)
# The same for what is not there, what is another workspace's, and what its reader may not know of.
NOWHERE = Reply(
    title="This link leads nowhere",
    text=(
        "It may lack a part, have been used, or be of something that has ended or that cannot be read in this browser now.",
        "Nothing was changed just now.",
        "What is sent by e-mail can be changed and ended in the chat, too, where it was asked for.",
        "Where the archive is read in a browser, *web* in the chat gives a link that opens it anew.",
    ),
)


class MailPages:
    """Answers what is asked for below /mail."""

    def __init__(
        self,
        context: HandlerContext,
        signer: LinkSigner,
        clock: Callable[[], datetime],
        *,
        slowest: float,
        by_address: RateLimit | None = None,
        by_subscription: RateLimit | None = None,
    ) -> None:
        """`slowest` is the time in seconds for a form to come in."""
        self._context, self._signer, self._clock, self._slowest = context, signer, clock, slowest
        self._by_address = by_address or RateLimit(BY_ADDRESS)
        self._by_subscription = by_subscription or RateLimit(BY_SUBSCRIPTION)
        self._confirming = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """Return what is answered, and by what."""
        paths = (LINK, LINK + "/{item:[^/]+}")
        routes = [web.get(CONFIRMATION, self.ask_to_confirm), web.post(CONFIRMATION, self.confirm)]
        return routes + [route for path in paths for route in (web.get(path, self.ask), web.post(path, self.press))]

    async def ask(self, request: web.Request) -> web.Response:
        """Return the question that a link asks; nothing is changed."""
        link = self._link(request)
        if link is not None and letters_of(link):
            return _html(_NO_MORE_CODES, self._clock(), _NOT_YET, is_question=True)
        found = None if link is None else await linked(self._context, link)
        if link is None or found is None:
            raise web.HTTPNotFound
        return self._page(await question(found, self._clock()), found.link, found.recipient.channel, is_question=True)

    async def press(self, request: web.Request) -> web.Response:
        """Do what a button of the page says, and tell what became of it."""
        form = await read_form(request, self._slowest)
        one_click = form.get(_ONE_CLICK[0]) == _ONE_CLICK[1]
        link = self._link(request, one_click=one_click)
        if link is None:
            raise web.HTTPNotFound
        if hashed := letters_of(link):
            return await self._no_more_codes(hashed, form, one_click=one_click)
        if one_click and link.action is LinkAction.UNSUBSCRIBE:
            return await self._unsubscribed(link)
        if not isinstance(form.get(FIELD), str):
            raise web.HTTPBadRequest
        signed = self._signer.read_button(form[FIELD], link.subscription, self._clock())
        done = None if signed is None else await pressed_button(self._context, signed)
        if done is None:
            raise web.HTTPNotFound
        return self._page(await self._done(done), link, done.recipient.channel)

    async def _unsubscribed(self, link: SignedLink) -> web.Response:
        """Unsubscribe for a mail program, which shows the answer to nobody and may send it twice."""
        found = await linked(self._context, link)
        if found is not None:
            await self._done(pressed(found))
        if await self._context.store.recipients.subscription(link.subscription) is not None:
            raise web.HTTPNotFound if found is None else web.HTTPServiceUnavailable
        return _UNSUBSCRIBED()

    async def _no_more_codes(self, hashed: str, form: Mapping[str, str], *, one_click: bool) -> web.Response:
        """End the letters with codes to an address, for a mail program or for who pressed."""
        if not one_click and form.get(FIELD) != _YES:
            raise web.HTTPBadRequest
        told = await end_letters(self._context, hashed, self._clock())
        return _UNSUBSCRIBED() if one_click else _html(told, self._clock(), "")

    async def _done(self, done: Pressed) -> Reply:
        reply = await answer(self._context, done.command, done.actor, self._clock())
        await note_pressed(self._context, done, self._clock())
        return told_by_page(reply, done.actor)

    async def ask_to_confirm(self, request: web.Request) -> web.Response:
        """Return the question whether digests are wanted at an address; what somebody typed is no part of it."""
        wanted = await self._opt_in(request)
        said = "Somebody asked Broadsheet, a daily paper of research papers, for digests at this address."
        title = f"Digests by e-mail to {wanted.address}?"
        reply = Reply(title=title, text=(f"{said} If that was you, confirm it.",), buttons=(Button("Confirm", _YES),))
        return _html(reply, self._clock(), _UNTIL_YES, is_question=True)

    async def confirm(self, request: web.Request) -> web.Response:
        """Confirm the address, and tell what was done for it."""
        form = await read_form(request, self._slowest)
        async with self._confirming:  # pressed twice, the second finds it done
            wanted = await self._opt_in(request)
            if form.get(FIELD) != _YES:
                raise web.HTTPBadRequest
            try:
                reply = await confirm_by_link(self._context, wanted, self._clock())
            except BotError as error:
                reply = replace(failed(error, ""), buttons=())
        return _html(reply, self._clock(), "")

    async def _opt_in(self, request: web.Request) -> OptIn:
        """Return what the address of a page confirms; raises HTTPNotFound and HTTPTooManyRequests."""
        said = self._signer.read_confirmation(request.match_info["token"])
        self._count(self._by_address, client_of(request), 1 if said else WRONG)
        wanted = None
        if said:
            self._count(self._by_subscription, said)
            wanted = await asked_by_link(self._context, said, self._clock())
        if wanted is None:
            raise web.HTTPNotFound
        return wanted

    def _link(self, request: web.Request, *, one_click: bool = False) -> SignedLink | None:
        """Return the link that was followed, None where we made none such; raises HTTPTooManyRequests.

        A mail program that unsubscribes its users comes from few addresses, and is never too often for them.
        """
        said, client = request.match_info, client_of(request)
        link = None
        with contextlib.suppress(ValueError):  # no action of ours
            link = SignedLink(LinkAction(said["action"]), said["subscription"], said.get("item", ""))
        if link is None or not self._signer.holds(link, request.query.get("s", "")):
            self._count(self._by_address, client, WRONG)
            return None
        if not one_click:
            self._count(self._by_address, client)
        self._count(self._by_subscription, link.subscription)
        return link

    def _count(self, limit: RateLimit, name: str, cost: float = 1) -> None:
        if not limit.takes(name, cost):
            raise web.HTTPTooManyRequests(headers={"Retry-After": "60"})

    def _page(self, reply: Reply, link: SignedLink, channel: str, *, is_question: bool = False) -> web.Response:
        now = self._clock()
        signed = with_tokens(reply, self._signer, link.subscription, channel, now)
        return _html(signed, now, _NOT_YET if is_question else _BEARER, is_question=is_question)


def _html(reply: Reply, now: datetime, note: str, *, is_question: bool = False) -> web.Response:
    return web.Response(text=page(reply, now.date(), note=note, is_question=is_question), content_type="text/html")
