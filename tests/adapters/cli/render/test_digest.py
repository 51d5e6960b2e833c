import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from adapters.cli.render.digest import MEASURE, DigestView
from bot.models import Digest, Layout
from tests.adapters.golden import check
from tests.conftest import tries
from tests.fakes.digests import EMPTY, GPU, HOSTILE

GOLDEN = Path(__file__).parent / "golden"


def printed(
    digest: Digest, width: int, *, layout: Layout = Layout.FULL, terminal: bool = False, no_color: bool = False
) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=terminal,
        color_system="truecolor" if terminal else None,
        no_color=no_color,
        _environ={},
    )
    console.print(DigestView(digest, layout))
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_digest_looks_as_it_did(width: int) -> None:
    check(GOLDEN / f"digest-{width}.txt", printed(GPU, width))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_brief_looks_as_it_did(width: int) -> None:
    check(GOLDEN / f"digest-brief-{width}.txt", printed(GPU, width, layout=Layout.BRIEF))


def test_a_narrow_sheet_says_whole_what_a_digest_holds_and_how_long_it_takes() -> None:
    coverage = replace(GPU.coverage, seen=1526)
    lines = [line.strip() for line in printed(replace(GPU, coverage=coverage), 40).splitlines()[:5]]

    assert f"3 of 1,526 · {GPU.minutes} min" in lines
    assert "Wednesday 1 April 2026" in lines


def test_the_brief_is_what_is_printed_where_nobody_says_how() -> None:
    assert DigestView(GPU).layout is Layout.BRIEF
    brief = printed(GPU, 80, layout=Layout.BRIEF)
    assert GPU.entries[0].gist.split()[-1] in brief
    assert "Evidence" not in brief


def test_an_empty_digest_looks_as_it_did() -> None:
    check(GOLDEN / "digest-empty-80.txt", printed(EMPTY, 80))


def test_what_is_told_once_stands_below_a_digest() -> None:
    news = "Digests are short now: *subscribe gpu-systems full* brings the full cards back."

    last = " ".join(printed(replace(GPU, news=news), 100).split())[-len(news) - 20 :]
    assert last.endswith("Digests are short now: subscribe gpu-systems full brings the full cards back.")


def test_hostile_text_looks_as_it_did() -> None:
    check(GOLDEN / "digest-hostile-80.txt", printed(HOSTILE, 80))


@pytest.mark.parametrize("width", [10, 20, 40, 59, 60, 80, 120, 200])
@pytest.mark.parametrize("digest", [GPU, EMPTY, HOSTILE])
@pytest.mark.parametrize("layout", [Layout.FULL, Layout.BRIEF])
def test_no_line_is_wider_than_the_terminal_or_the_measure(digest: Digest, width: int, layout: Layout) -> None:
    limit = max(10, min(width, MEASURE))
    for line in printed(digest, width, layout=layout).splitlines():
        assert cell_len(line) <= limit, line
        assert line == line.rstrip()


def test_wide_characters_are_counted_as_the_terminal_shows_them() -> None:
    entry = GPU.entries[0]
    item = replace(entry.ranked.item, title="面向图形处理器内核优化的统一进化方法" * 6, org="北京大学 👩‍👩‍👧")
    digest = replace(GPU, title="图形处理器 ❤️", entries=(replace(entry, ranked=replace(entry.ranked, item=item)),))
    for width in (40, 61, 80):
        lines = printed(digest, width).splitlines()
        assert all(cell_len(line) <= width for line in lines)
        assert sum(cell_len(line) == width for line in lines) >= 2  # both rules are whole


def test_piped_text_has_no_escape_sequence_at_all() -> None:
    for digest in (GPU, HOSTILE):
        assert "\x1b" not in printed(digest, 80)


def test_a_terminal_gets_colour_and_links_but_none_from_the_text() -> None:
    text = printed(HOSTILE, 80, terminal=True)
    assert "\x1b]8;" in text
    assert "]8;;https://evil.example" not in text
    assert "javascript:" not in text
    assert "\u202e" not in text
    assert "[bold]red[/bold]" in text


def test_no_color_leaves_no_colour() -> None:
    coloured, plain = (printed(GPU, 80, terminal=True, no_color=flag) for flag in (False, True))
    assert "\x1b[36m" in coloured
    assert "\x1b[36m" not in plain


def test_a_terminal_that_knows_only_ascii_gets_a_stand_in_for_every_sign() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    Console(file=out, width=80, _environ={}).print(DigestView(GPU))
    out.flush()
    text = raw.getvalue().decode("ascii")
    assert text.startswith("=" * 80)
    assert "^13" in text


def test_a_card_says_why_it_is_here_and_keeps_scores_and_provenance_to_itself() -> None:
    text = printed(GPU, 100)
    assert "Why here        GPU kernel, Triton" in text
    assert not {"score", "×2", "extracted", "Chosen"} & set(text.partition("Asked ")[0].split())


def test_a_part_that_is_not_found_is_not_there() -> None:
    entry = GPU.entries[0]
    silent = replace(entry, card=entry.card[:1], why_here="", gist="")
    text = printed(replace(GPU, entries=(silent,)), 80)
    assert "Why it matters" not in text
    assert "does not say" not in text


def test_a_repository_that_stands_on_the_same_card_is_not_linked_twice() -> None:
    assert printed(GPU, 80).count("github.com/InternLM/Kernel-Smith") == 1


@settings(max_examples=tries(60), deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=300), st.integers(min_value=10, max_value=130))
def test_any_text_can_be_printed_at_any_width(text: str, width: int) -> None:
    entry = GPU.entries[0]
    parts = tuple(replace(part, text=text) for part in entry.summary.parts)
    item = replace(entry.ranked.item, title=text, authors=(text,), org=text)
    told = {"gist": text, "card": parts, "why_here": text}
    hurt = replace(entry, ranked=replace(entry.ranked, item=item), **told)  # type: ignore[arg-type]
    for line in printed(replace(GPU, title=text, entries=(hurt,)), width).splitlines():
        assert cell_len(line) <= max(10, min(width, MEASURE))
