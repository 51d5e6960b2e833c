"""Somebody who reads mails, follows links over a real socket, and presses what the pages have."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import aiohttp
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

from adapters.web.server import serving
from bot.handlers.links import LinkAction, LinkSigner, SignedLink
from bot.models import Change, OptIn, Recipient, Schedule, Subscription, code_kept, mail_channel
from tests.bot.handlers.askers import Asker

KEY = bytes(range(32))
ME = "me@lab.example"
PAPER = "arxiv:2603.00001"
ANSWERED = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Server": "broadsheet",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as a browser has it."""

    status: int
    html: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self._text("h1")

    @property
    def text(self) -> str:
        return " ".join(self._text("main").split())

    @property
    def buttons(self) -> dict[str, dict[str, str]]:
        """What each button sends, by its label."""
        found = {}
        for form in LexborHTMLParser(self.html).css("form"):
            assert (form.attributes.get("method"), form.attributes.get("action")) == ("post", None)
            fields = {str(each.attributes["name"]): str(each.attributes["value"]) for each in form.css("input")}
            (button,) = form.css("button")
            found[button.text()] = fields
        return found

    def _text(self, what: str) -> str:
        node = LexborHTMLParser(self.html).css_first(what)
        return node.text() if node is not None else ""


_HEAD = {"html", "head", "meta", "title", "link", "style"}
_TAGS = {"body", "header", "main", "footer", "h1", "ul", "li", "p", "dl", "div", "dt", "dd", "strong", "code"} | _HEAD
_FORM = {"form", "input", "button"}
_ATTRIBUTES = {"lang", "charset", "name", "content", "rel", "href", "class", "method", "type", "value"}


def _live(html: str) -> set[str]:
    """What a page has that none of ours needs: scripts, pictures, links, and what is fetched from elsewhere."""
    nodes = LexborHTMLParser(html).css("*") if html else []
    found = {each.tag for each in nodes if each.tag} - _TAGS - _FORM
    found |= {name for each in nodes for name in each.attributes} - _ATTRIBUTES
    found |= {str(each.attributes["href"]) for each in nodes if "href" in each.attributes} - {"data:,"}
    return found | set(re.findall(r"@import|url\(", html))


class Reader:
    """Follows links of the server, which stands before no proxy."""

    def __init__(self, url: str, signer: LinkSigner, session: aiohttp.ClientSession) -> None:
        self.base, self.signer, self._session = url, signer, session

    def link(self, action: str, subscription: str, item: str = "") -> str:
        return self.signer.url(SignedLink(LinkAction(action), subscription, item))

    async def open(self, url: str, method: str = "GET", **given: Any) -> Shown:
        """Return what is answered; what every answer has is looked at here."""
        async with self._session.request(method, URL(url, encoded=True), allow_redirects=False, **given) as response:
            shown = Shown(response.status, await response.text(), dict(response.headers))
        assert {name: shown.headers.get(name) for name in ANSWERED} == ANSWERED
        policy = shown.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "form-action 'self'" in policy
        assert "Set-Cookie" not in shown.headers
        assert _live(shown.html) == set()
        return shown

    async def press(self, url: str, shown: Shown, label: str, **given: Any) -> Shown:
        """Send the form of a page's button, as a browser does: to where the page came from."""
        return await self.open(url, "POST", data=shown.buttons[label], **given)

    async def follow(self, action: str, subscription: str, item: str = "") -> Shown:
        """Open a link and press its one button."""
        url = self.link(action, subscription, item)
        shown = await self.open(url)
        (label,) = shown.buttons
        return await self.press(url, shown, label)


@asynccontextmanager
async def reading(ada: Asker, *, clock: Any = None, **given: Any) -> AsyncIterator[Reader]:
    """Serve the pages of Ada's context, and read them."""
    signer = LinkSigner(KEY)
    time = clock or (lambda: ada.now)
    async with (
        serving(ada.context, signer, time, "127.0.0.1", 0, **given) as (host, port),
        aiohttp.ClientSession() as session,
    ):
        signer.base = f"http://{host}:{port}"
        yield Reader(signer.base, signer, session)


def recipient_of(ada: Asker, number: int = 1, address: str = ME) -> Asker:
    """Ada's own inbox, as a channel."""
    return replace(ada, actor=replace(ada.actor, channel=mail_channel(f"{number:016x}", address)))


async def confirmed(inbox: Asker, address: str = ME, *, is_list: bool = False) -> Recipient:
    """Make the inbox a recipient."""
    recipients, who = inbox.context.store.recipients, inbox.actor
    code = code_kept(who.workspace, who.person, "123456")
    until = inbox.now + timedelta(hours=1)
    asked = {"workspace": who.workspace, "person": who.person, "address": address, "is_list": is_list}
    await recipients.ask(OptIn(**asked, code=code, command="list", asked_at=inbox.now, until=until))  # type: ignore[arg-type]
    made = await recipients.confirm(who.workspace, who.person, code, who.channel, inbox.now)
    assert made is not None
    return made.recipient


async def subscribed(inbox: Asker, topic: str = "kv", number: str = "a1", **given: Any) -> Subscription:
    """Subscribe the inbox to a topic."""
    made_at: datetime = inbox.now - timedelta(days=3)
    values: dict[str, Any] = {"schedule": Schedule(), "baseline": made_at, "made_at": made_at, "made_by": inbox.actor.person}
    values |= {"workspace": inbox.actor.workspace, "channel": inbox.actor.channel, "topic": topic}
    made = Subscription(id=number, **values | given)
    note = Change(workspace=made.workspace, at=made_at, person=made.made_by, what="subscription")
    return await inbox.context.store.workspaces.save_subscription(made, note, replaces=0)
