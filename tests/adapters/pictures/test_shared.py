"""The picture beside a link: as large as programs want it, and nothing leaves it."""

import re
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.pictures.png import advances, drawn
from adapters.pictures.shared import SharedCard, shared, shared_svg
from tests.adapters.pictures.test_png import dots, size
from tests.conftest import tries

CARD = SharedCard(
    topic="GPU systems",
    title="FlashDecoding++: Faster Large Language Model Inference on GPUs",
    name="arxiv.org/abs/2603.28342",
    text="Three kernel changes make decoding of long contexts up to 2.4 times as fast on one H100.",
    foot="Wednesday 1 April 2026 · Mao, Rui, Ying +4 · ▲23 · 61 stars",
)
EMPTY = SharedCard("", "", "", "", "")
CHINESE = "大规模语言模型的高效推理"
HOSTILE = (
    "W" * 5000,
    "WWW " * 900,
    CHINESE * 300,
    "<b>&amp;]]>\ud800\x00\u202e",
    "é" * 900,
    "m—%@" * 300,
    "🦙" * 90,
    "Ж " * 900,
)


def said(card: SharedCard) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", shared_svg(card))


def margins(card: SharedCard) -> list[bytes]:
    """What stands at the sides, and below the last line."""
    whole = 'width="1200" height="630" viewBox="0 0 1200 630"'
    parts = ((0, 0, 76, 630), (1124, 0, 76, 630), (0, 580, 1200, 50))
    made = shared_svg(card)
    return [
        dots(drawn(made.replace(whole, f'width="{wide}" height="{high}" viewBox="{x} {y} {wide} {high}"', 1)))
        for x, y, wide, high in parts
    ]


def test_it_is_of_the_size_that_programs_show_whole_and_its_texts_are_drawn() -> None:
    picture = shared(CARD)
    assert size(picture) == (1200, 630)
    assert len(picture) < 200_000
    assert sum(a != b for a, b in zip(dots(picture), dots(shared(EMPTY)), strict=True)) > 20_000
    assert said(CARD)[0] == "Broadsheet · GPU systems"
    assert " ".join(said(CARD)[1:-1]) == f"{CARD.title} {CARD.text}"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_leaves_it_whatever_stands_on_it(text: str) -> None:
    assert margins(SharedCard(text, text, text, text, text)) == margins(EMPTY)


@settings(max_examples=tries(30), deadline=None)
@given(st.builds(SharedCard, *[st.text(max_size=300)] * 5))
def test_every_line_is_within_its_width_by_the_fonts_own_widths_and_all_are_above_the_last(card: SharedCard) -> None:
    lines = re.findall(r'<text x="80" y="(\d+)" font-size="(\d+)"[^>]*>([^<]*)</text>', shared_svg(card))
    for _, high, line in lines:
        told = (
            line.replace("&amp;", "&")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", '"')
            .replace("&#x27;", "'")
        )
        assert sum(advances()[ord(char)] for char in told) * int(high) <= 1041
    heights = [int(y) for y, _, _ in lines]
    assert heights == sorted(heights)
    assert heights[-1] == 560
    assert all(y <= 500 for y in heights[:-1])


def test_what_is_too_long_ends_in_an_ellipsis() -> None:
    lines = said(SharedCard("t", "word " * 300, "n", "gist " * 300, "foot " * 300))
    assert [line.endswith("…") for line in lines] == [False, False, False, False, True, False, True, True]


def test_a_title_that_the_font_lacks_is_told_by_what_else_the_thing_is_called() -> None:
    card = SharedCard(CHINESE, CHINESE, "arxiv.org/abs/2603.28342", CHINESE, "1 April")
    assert said(card) == ["Broadsheet", "arxiv.org/abs/2603.28342", "1 April"]
    assert said(SharedCard("", f"Attention is all you: {CHINESE[:5]}", "", "", "x"))[1] == "Attention is all you: …"


def test_the_widths_are_those_of_the_font() -> None:
    assert advances()[ord("W")] > advances()[ord("m")] > advances()[ord("i")] > 0.1
    assert ord("大") not in advances()
    assert struct.unpack(">I", shared(EMPTY)[16:20]) == (1200,)
