"""A browser that reads the archive over a real socket, keeps its cookie, and looks at every page that it gets."""

import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
from selectolax.lexbor import LexborHTMLParser, LexborNode
from yarl import URL

from adapters.web.server import serving
from adapters.web.site.views import script
from bot.errors import Delayed
from bot.handlers.archive.channel_access import ChannelAccess
from bot.handlers.links import LinkSigner
from bot.models import Change, Preferences
from tests.adapters.web.reader import ANSWERED, KEY
from tests.bot.handlers.askers import Asker

KEPT = "public, max-age=300"
_HEAD = {"html", "head", "meta", "title", "link", "style"}
_TAGS = {"body", "header", "main", "footer", "nav", "section", "article", "h1", "h2", "h3", "p", "a", "span", "strong", "em"}
_TAGS |= {"ul", "ol", "li", "dl", "dt", "dd", "div", "time", "code", "details", "summary"}
_TAGS |= {"figure", "figcaption", "svg", "text", "rect", "path", "circle"}
_TAGS |= {"form", "label", "input", "button", "script"}
_ATTRIBUTES = {"lang", "charset", "name", "content", "rel", "href", "class", "method", "action", "type", "value"}
_ATTRIBUTES |= {"id", "for", "datetime", "start", "role", "maxlength", "autocomplete", "spellcheck", "placeholder"}
_ATTRIBUTES |= {"title", "property", "aria-current", "aria-hidden", "aria-label", "aria-labelledby"}
_ATTRIBUTES |= {"xmlns", "viewBox", "font-family", "font-size", "text-anchor", "fill", "stroke", "stroke-width"}
_ATTRIBUTES |= {"stroke-linejoin", "x", "y", "width", "height", "d", "cx", "cy", "r"}


@dataclass(frozen=True, slots=True)
class Page:
    """What was answered, as a browser has it."""

    url: str
    status: int
    html: str
    headers: dict[str, str]
    cookies: tuple[str, ...] = ()  # as they were set

    @property
    def is_feed(self) -> bool:
        """Whether it is a feed that everybody may read, or the list of these."""
        return self.status == 200 and "/feeds/" in urlsplit(self.url).path

    @property
    def tree(self) -> LexborHTMLParser:
        return LexborHTMLParser(self.html)

    @property
    def title(self) -> str:
        return _text(self.tree.css("h1"))

    @property
    def text(self) -> str:
        return _text(self.tree.css("body"))

    @property
    def buttons(self) -> dict[str, tuple[str, dict[str, str]]]:
        """By each button's label where its form is sent, and what it sends."""
        found = {}
        for form in self.tree.css("form[method=post]"):
            fields = {str(each.attributes["name"]): str(each.attributes["value"]) for each in form.css("input")}
            for button in form.css("button"):
                named = {"do": str(button.attributes["value"])} if "value" in button.attributes else {}
                where = urljoin(self.url, str(form.attributes.get("action") or self.url))
                found[_text([button])] = (where, fields | named)
        return found

    @property
    def links(self) -> list[str]:
        """Where it leads that is ours, whole."""
        host = urlsplit(self.url).netloc
        nodes = self.tree.css("a[href], link[rel=alternate]")
        whole = [urljoin(self.url, str(each.attributes["href"])) for each in nodes]
        return [each for each in whole if urlsplit(each).netloc == host]


def _text(nodes: Sequence[LexborNode]) -> str:
    return " ".join(" ".join(each.text() for each in nodes).split())


def live(html: str) -> set[str]:
    """What a page has that none of ours needs: foreign scripts, pictures, and what is fetched from elsewhere."""
    tree = LexborHTMLParser(html)
    nodes = tree.css("*") if html else []
    found = {str(each.tag) for each in nodes} - _TAGS - _HEAD
    found |= {name for each in nodes for name in each.attributes} - _ATTRIBUTES
    found |= {each.text() for each in tree.css("script")} - {script()}
    for each in tree.css("a[href]"):
        href = str(each.attributes["href"])
        if not href.startswith(("/", "#")) and (
            not href.startswith(("https://", "http://")) or each.attributes.get("rel") != "noopener noreferrer"
        ):
            found.add(href)
    found |= {str(each.attributes["href"]) for each in tree.css("link:not([rel=alternate])")} - {"data:,"}
    return found | set(re.findall(r"@import|url\(", html))


@dataclass
class Rooms:
    """A platform that tells who may see which channel."""

    visible: set[str]  # to everybody who asks by name
    open: set[str] = field(default_factory=set)
    answers: bool = True
    left: set[str] = field(default_factory=set)  # people who are in the workspace no more

    async def visible_to(self, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
        return self._told(self.visible, channels)

    async def is_member(self, workspace: str, person: str) -> bool:
        return person not in self.left and bool(self._told({"member"}, ["member"]))

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        return self._told(self.open, channels)

    def _told(self, which: set[str], channels: Collection[str]) -> Collection[str]:
        if not self.answers:
            raise Delayed("The platform does not answer.")
        return which & set(channels)


def where(ada: Asker, rooms: Rooms, monotonic: Callable[[], float] = time.monotonic) -> Asker:
    """Ada, where the platform tells that of its channels."""
    access = ChannelAccess({"slack": rooms}.get, monotonic=monotonic)
    return replace(ada, context=replace(ada.context, channel_access=access, web_url="http://127.0.0.1"))


def sees(ada: Asker, *channels: str) -> Asker:
    """Ada, who may see these channels."""
    return where(ada, Rooms(set(channels)))


async def publish(ada: Asker, *channels: str, workspace: str = "slack:T1") -> None:
    """Make these channels public."""
    line = Change(workspace=workspace, at=ada.now, person="U-ada", what="settings web")
    await ada.context.store.workspaces.save_preferences(workspace, Preferences(public=channels), line)


class Browser:
    """Somebody who reads pages of the server, which stands before no proxy."""

    def __init__(self, base: str, signer: LinkSigner, session: aiohttp.ClientSession) -> None:
        self.base, self.signer, self._session = base, signer, session
        self.strips = ""  # the beginning of each path that a proxy takes away

    @property
    def cookies(self) -> tuple[str, ...]:
        """The values of the cookies that it keeps."""
        return tuple(each.value for each in self._session.cookie_jar)

    @cookies.setter
    def cookies(self, values: tuple[str, ...]) -> None:
        self._session.cookie_jar.clear()
        for each in values:
            self._session.cookie_jar.update_cookies({"broadsheet": each}, URL(self.base))

    async def get(self, where: str = "/", method: str = "GET", **given: Any) -> Page:
        """Return what is answered at a path or address; what every answer has is looked at here."""
        whole = urljoin(self.base, where)
        url = URL(whole.replace(self.base + self.strips, self.base, 1), encoded=True)
        async with self._session.request(method, url, allow_redirects=False, **given) as response:
            cookies = tuple(response.headers.getall("Set-Cookie", []))
            page = Page(whole, response.status, await response.text(), dict(response.headers), cookies)
        expected = ANSWERED | ({"Cache-Control": KEPT} if page.is_feed else {})
        assert {name: page.headers.get(name) for name in ANSWERED} == expected
        policy = page.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        if page.headers.get("Content-Type", "").startswith("text/html"):
            assert live(page.html) == set()
        return page

    async def press(self, page: Page, label: str, **given: Any) -> Page:
        """Send the form of a page's button."""
        where, fields = page.buttons[label]
        return await self.get(where, "POST", data=fields, **given)

    async def enter(self, ada: Asker) -> Page:
        """Follow a link that Ada got in the chat, and return the front page."""
        asked = await self.get(self.opening(ada))
        entered = await self.press(asked, "Open")
        assert entered.status == 303, entered.text
        return await self.get(entered.headers["Location"])

    def opening(self, ada: Asker) -> str:
        """The link that Ada gets in the chat."""
        who = ada.actor
        return self.signer.opening_url(who.workspace, who.channel, who.person, token_urlsafe(9), ada.now)

    async def crawl(self, start: str = "/", most: int = 500) -> dict[str, Page]:
        """Return every page that can be reached by links, by its address."""
        found: dict[str, Page] = {}
        waiting = [urljoin(self.base, start)]
        while waiting and len(found) < most:
            url = waiting.pop()
            if url in found:
                continue
            found[url] = await self.get(url)
            if "Location" in found[url].headers:
                waiting.append(urljoin(self.base, found[url].headers["Location"]))
            waiting += [each.partition("#")[0] for each in found[url].links]
        return found


@asynccontextmanager
async def browsing(ada: Asker, *, clock: Any = None, **given: Any) -> AsyncIterator[Browser]:
    """Serve the pages of Ada's context, and read them."""
    signer = LinkSigner(KEY)
    async with serving(ada.context, signer, clock or (lambda: ada.now), "127.0.0.1", 0, **given) as (host, port):
        signer.base = f"http://{host}:{port}"
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            yield Browser(signer.base, signer, session)
