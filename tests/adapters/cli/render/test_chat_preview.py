import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from adapters.cli.render import chat_preview
from adapters.cli.render.digest import MEASURE
from adapters.cli.render.message_view import MessageView
from bot.models import Digest, Layout
from tests.adapters.golden import check
from tests.fakes.digests import EMPTY, GPU, HOSTILE

GOLDEN = Path(__file__).parent / "golden"
PLATFORMS = ("slack", "discord")


def printed(views: Iterable[MessageView], width: int) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False, _environ={})
    for each in views:
        console.print(each)
    return out.getvalue()


def words(text: str) -> list[str]:
    return text.translate(str.maketrans("│┃┌┐└┘─\u200b\u2060", " " * 7 + "\u200a" * 2)).replace("\u200a", "").split()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_message_looks_as_it_did(platform: str) -> None:
    check(GOLDEN / f"{platform}-80.txt", printed(chat_preview.whole_messages([GPU], platform, layout=Layout.FULL), 80))


def test_slacks_markup_is_shown_as_it_is_read() -> None:
    shown = printed(chat_preview.whole_messages([GPU], "slack", layout=Layout.BRIEF), MEASURE)
    assert "1.  Kernel-Smith: A Unified Recipe for Evolutionary Kernel…  [⋯]" in shown
    assert not [each for each in ("<http", "|Kernel", "*1.", "&amp;") if each in shown]


def test_an_excerpt_of_both_looks_as_it_did() -> None:
    check(GOLDEN / "excerpts-120.txt", printed(chat_preview.excerpts(GPU, layout=Layout.BRIEF), 120))


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("digest", [GPU, EMPTY, HOSTILE])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_frame_is_closed_and_fits_the_terminal(platform: str, digest: Digest, width: int) -> None:
    lines = printed(chat_preview.whole_messages([digest], platform, layout=Layout.FULL), width).splitlines()
    assert {cell_len(line) for line in lines} == {max(20, min(width, MEASURE))}
    assert all(line[-1] in "│┐┘" for line in lines)


def test_whatever_stands_in_slacks_message_stands_in_its_picture() -> None:
    shown = set(words(printed(chat_preview.whole_messages([GPU, HOSTILE], "slack", layout=Layout.FULL), MEASURE)))
    for message in chat_preview.sent_messages(GPU, "slack", layout=Layout.FULL):
        for text in texts(message["blocks"]):
            assert not set(words(text)) - shown


def texts(value: Any) -> Iterator[str]:
    """Yield what Slack shows of blocks: every text in them, without their values and names, and what a closed menu holds."""
    if isinstance(value, dict) and value.get("type") == "overflow":
        yield "⋯"
    elif isinstance(value, dict):
        yield from (each for name, each in value.items() if name == "text" and isinstance(each, str))
        yield from (found for each in value.values() for found in texts(each))
    elif isinstance(value, list | tuple):
        yield from (found for each in value for found in texts(each))


def test_discords_markdown_is_shown_as_it_is_read() -> None:
    shown = printed(chat_preview.whole_messages([GPU], "discord", layout=Layout.FULL), MEASURE)
    assert "1. Kernel-Smith: A Unified Recipe" in shown
    assert "Why here  GPU kernel, Triton" in shown
    assert not [each for each in ("**", "](<", "\\", "-# ", "### ") if each in shown]


@pytest.mark.parametrize(("platform", "menu"), [("slack", "[⋯]"), ("discord", "[ Open a card…  ▾ ]")])
def test_a_brief_is_shown_whole(platform: str, menu: str) -> None:
    shown = printed(chat_preview.whole_messages([GPU], platform, layout=Layout.BRIEF), MEASURE)
    assert shown.partition("\n")[2] in printed(chat_preview.excerpts(GPU, layout=Layout.BRIEF), MEASURE)
    assert menu in shown


def test_a_digest_without_entries_is_shown_whole() -> None:
    shown = printed(chat_preview.excerpts(EMPTY, layout=Layout.FULL), 80)
    assert shown.count("0 of 412: ") == 2
    assert "… " not in shown
