import base64
import hashlib
import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.cli.render.page import page
from bot.models import Digest
from tests.adapters.golden import check
from tests.conftest import NOW, tries
from tests.fakes.digests import EMPTY, GPU, HOSTILE

GOLDEN = Path(__file__).parent / "golden"
VOID = {"meta", "link", "br"}


class Reader(HTMLParser):
    """Reads a page as a browser would: the elements with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def made(*digests: Digest) -> str:
    return page(digests, made_at=NOW, version="0.1.0")


def test_the_page_looks_as_it_did() -> None:
    check(GOLDEN / "page.html", made(GPU, EMPTY))


def test_the_page_is_whole_and_needs_nothing_else() -> None:
    for html in (made(GPU, EMPTY), made(HOSTILE), made()):
        reader = Reader(html)
        assert reader.open == []
        tags = {tag for tag, _ in reader.elements}
        assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base", "svg", "video", "audio"}
        assert [link["href"] for link in reader.all("link")] == ["data:,"]
        assert "url(" not in html
        assert "@import" not in html
        assert not any(name.startswith("on") for _, attributes in reader.elements for name in attributes)
        assert not any("style" in attributes for _, attributes in reader.elements)


def test_every_link_goes_to_the_web_or_within_the_page_and_tells_nothing() -> None:
    reader = Reader(made(GPU, HOSTILE, EMPTY))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for anchor in reader.all("a"):
        href = anchor["href"] or ""
        if href.startswith("#"):
            assert href[1:] in ids
        else:
            assert href.startswith(("https://", "http://"))
            assert anchor["rel"] == "noopener noreferrer"


def test_the_policy_allows_the_pages_own_style_and_nothing_else() -> None:
    html = made(GPU)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    wanted = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = next(meta["content"] for meta in Reader(html).all("meta") if "http-equiv" in meta) or ""
    assert f"style-src 'sha256-{wanted}'" in policy
    assert policy.startswith("default-src 'none'")


def test_hostile_text_stays_text() -> None:
    html = made(HOSTILE)
    assert "<script>" not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "<script>alert(1)</script>" in Reader(html).text
    assert "</style><img src=x onerror=alert(1)>" in Reader(html).text


def test_headings_go_down_one_step_at_a_time() -> None:
    levels = [int(tag[1]) for tag, _ in Reader(made(GPU, EMPTY, GPU)).elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip([0, *levels], levels, strict=False))


def test_everything_a_digest_says_is_on_the_page() -> None:
    text = " ".join(Reader(made(GPU, EMPTY)).text.split())
    for entry in GPU.entries:
        assert entry.ranked.item.title in text
        assert entry.gist in text
        assert entry.why_here in text
        for part in entry.card:
            assert part.text in text
    assert "Why matches GPU kernel ×2, Triton, SGLang; 13 upvotes on Hugging Face; new today; score 0.78" in text.replace(
        "\xa0", " "
    )
    assert "does not say" not in text
    assert "GitHub was down" in text
    assert "0 of 412: nothing came close to the topic today. 400 outside the topic and 12 below the bar." in text
    assert "3 entries in 2 topics" in text


def test_signs_have_words_for_those_who_listen() -> None:
    one = replace(GPU.entries[0], ranked=replace(GPU.entries[0].ranked, item=replace(GPU.entries[0].ranked.item, upvotes=1)))
    html = made(replace(GPU, entries=(one,)))
    assert '<span aria-hidden="true">▲1</span><span class="spoken">1 upvote</span>' in html
    assert '<span aria-hidden="true">code ★' in html
    assert re.search(r'<span class="spoken">code, [\d.]+ stars?</span>', html)


def test_the_brief_stands_before_the_cards_and_leads_to_each() -> None:
    reader = Reader(made(GPU, EMPTY))
    leads = [anchor["href"] for anchor in reader.all("a") if anchor.get("class") == "headline"]
    assert leads == [f"#topic-1-gpu-systems-{number}" for number in (1, 2, 3)]
    first = [attributes.get("id") for name, attributes in reader.elements if name == "h3"]
    assert [f"#{each}" for each in first] == leads
    tags = [name for name, _ in reader.elements]
    assert tags.index("ol") < tags.index("article")


def test_a_page_without_topics_is_a_page() -> None:
    assert "0 entries in 0 topics" in made()


def test_the_page_bears_the_day_of_its_digests_and_says_when_it_was_printed() -> None:
    text = Reader(page([GPU], made_at=NOW + timedelta(days=3), version="0.1.0")).text
    assert "Wednesday 1 April 2026" in text
    assert "07:00 UTC on Saturday 4 April 2026" in text


def luminance(colour: str) -> float:
    """Return WCAG 2.2's relative luminance of #rrggbb."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize("text", ["ink", "soft", "accent"])
def test_text_stands_out_from_the_paper_as_wcag_aa_asks(scheme: int, text: str) -> None:
    style = made()
    colours = {name: re.findall(rf"--{name}: (#[0-9a-f]{{6}});", style) for name in ("paper", text)}
    dark, light = sorted(luminance(found[scheme]) for found in colours.values())
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@settings(max_examples=tries(50), deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_makes_a_whole_page(text: str) -> None:
    entry = GPU.entries[0]
    parts = tuple(replace(part, text=text) for part in entry.summary.parts)
    item = replace(entry.ranked.item, title=text, authors=(text,), org=text)
    told = {"gist": text, "card": parts, "why_here": text}
    hurt = replace(entry, ranked=replace(entry.ranked, item=item), **told)  # type: ignore[arg-type]
    html = made(replace(GPU, topic=text, title=text, entries=(hurt,)))
    html.encode()
    assert Reader(html).open == []
