"""A reply as a page: whatever strangers wrote, only what our template has is markup."""

import re
from datetime import date

from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from adapters.cli.render.page import page as digests_page
from adapters.web.page import page, policy
from bot.models import Button, Field, Item, Reply, ReplyEntry
from tests.conftest import NOW
from tests.fakes.digests import GPU
from tests.fakes.works import paper

HOSTILE = (
    "</h1><script>",
    "<img src=x onerror=y>",
    "&lt;b&gt;",
    '"><a href="javascript:x">',
    "*b*",
    "{{ 7*7 }}",
    "\u202e",
    "]]>",
)
TEXTS = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8)), max_size=5).map("".join)
ITEMS: st.SearchStrategy[Item] = st.builds(lambda title, name: paper(title=title, authors=(name,)), TEXTS, TEXTS)
REPLIES = st.builds(
    Reply,
    title=TEXTS,
    text=st.lists(TEXTS, max_size=2).map(tuple),
    entries=st.lists(st.builds(ReplyEntry, item=st.none() | ITEMS, title=TEXTS, lines=st.tuples(TEXTS)), max_size=2).map(
        tuple
    ),
    fields=st.lists(st.builds(Field, TEXTS, TEXTS), max_size=2).map(tuple),
    next_steps=st.lists(TEXTS, max_size=1).map(tuple),
    buttons=st.lists(st.builds(Button, TEXTS, TEXTS, st.booleans()), max_size=2).map(tuple),
)
ALLOWED = {
    "html",
    "head",
    "meta",
    "title",
    "link",
    "style",
    "body",
    "header",
    "main",
    "footer",
    "h1",
    "ul",
    "li",
    "p",
    "strong",
}
ALLOWED |= {"code", "dl", "div", "dt", "dd", "form", "input", "button"}


@given(REPLIES, TEXTS)
def test_nothing_that_strangers_wrote_is_markup(reply: Reply, note: str) -> None:
    html = page(reply, date(2026, 4, 1), note=note)
    tree = LexborHTMLParser(html)
    assert {str(each.tag) for each in tree.css("*")} <= ALLOWED
    assert [
        each for node in tree.css("*") for each in node.attributes if each.startswith("on") or each in ("src", "action")
    ] == []
    assert [node.attributes["href"] for node in tree.css("[href]")] == ["data:,"]
    assert len(tree.css("form")) == len(reply.buttons)
    assert len(tree.css("h1")) == 1
    assert "\u202e" not in tree.css_first("main").text()  # type: ignore[union-attr]


def test_what_a_form_sends_is_what_the_button_carries() -> None:
    carried = "a\"><script>'&amp;"
    html = page(Reply(title="x", buttons=(Button("Go", carried),)), date(2026, 4, 1), note="")
    (sent,) = LexborHTMLParser(html).css("input")
    assert (sent.attributes["name"], sent.attributes["value"]) == ("do", carried)


def test_the_policy_lets_a_browser_show_the_style_and_send_forms_to_us_alone() -> None:
    assert policy().startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in policy()


def test_the_pages_look_like_the_page_of_digests() -> None:
    styles = [
        re.findall("<style>(.*?)</style>", html, re.DOTALL)
        for html in (page(Reply(title="x"), NOW.date(), note=""), digests_page([GPU], made_at=NOW, version="1"))
    ]
    assert styles[0] == styles[1] != []
