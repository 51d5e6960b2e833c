import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.text import (
    brief,
    clean,
    cut,
    emphasised,
    encodable,
    safe_url,
    shown_url,
    thousands,
)

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=200)


def test_escape_sequences_are_dropped_whole() -> None:
    assert clean("a\x1b[31mb\x1b]8;;https://evil.example\x07c\x9b2Jd\x1b]0;title\x1b\\e") == "a b c d e"


def test_an_unfinished_escape_sequence_loses_its_escape() -> None:
    assert "\x1b" not in clean("a\x1b]0;no end")


def test_direction_overrides_and_invisible_tags_are_dropped() -> None:
    assert clean("safe\u202etxt.exe\u2069\U000e0041\ufeff\u200b") == "safetxt.exe"


def test_emoji_sequences_accents_and_joiners_stay() -> None:
    assert clean("👩‍👩‍👧 ❤️ e\u0301 می\u200cخواهم") == "👩‍👩‍👧 ❤️ e\u0301 می\u200cخواهم"


def test_zalgo_text_keeps_four_marks() -> None:
    assert clean("z" + "\u0301" * 50 + "a") == "z" + "\u0301" * 4 + "a"


def test_lone_surrogates_become_printable() -> None:
    assert clean("a\ud800b").encode() == "a\ufffdb".encode()


@given(ANYTHING)
def test_cleaning_leaves_one_printable_line_and_is_final(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert not any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in once)
    once.encode()


@pytest.mark.parametrize(
    ("text", "limit", "want"),
    [
        ("short", 5, "short"),
        ("the quick brown fox", 12, "the quick…"),
        ("the quick, brown fox", 12, "the quick…"),
        ("https://example.org/a/very/long/path", 12, "https://exa…"),
        ("多模态大型语言模型", 5, "多模态大…"),
        ("word", 1, "…"),
        ("word", 0, ""),
        ("👩‍👩‍👧👩‍👩‍👧", 7, "👩‍👩‍👧…"),
        ("cafe\u0301 creme", 5, "caf…"),
    ],
)
def test_text_is_cut_at_a_word(text: str, limit: int, want: str) -> None:
    assert cut(text, limit) == want


@given(ANYTHING, st.integers(min_value=-1, max_value=50))
def test_a_cut_text_never_measures_more_than_its_limit(text: str, limit: int) -> None:
    def utf16(part: str) -> int:
        return len(part.encode("utf-16-le", "surrogatepass")) // 2

    for measure in (len, utf16):
        assert measure(cut(text, limit, measure)) <= max(limit, 0)


def test_what_an_encoding_lacks_gets_a_stand_in_of_the_same_length() -> None:
    assert encodable("━ ★ 3 · é “x” 多", "ascii") == '= * 3 | e "x" ?'
    assert encodable("é ★", "latin-1") == "é *"
    assert encodable("★", "utf-8") == "★"
    assert encodable("★", "no-such-encoding") == "?"


def test_emphasis_is_found_between_asterisks() -> None:
    assert emphasised("matches *KV cache* ×3, *GPU*") == [
        ("matches ", False),
        ("KV cache", True),
        (" ×3, ", False),
        ("GPU", True),
    ]
    assert emphasised("2 * 3 * 4") == [("2 * 3 * 4", False)]


def test_numbers_are_written_for_readers() -> None:
    assert [thousands(54002), brief(9999), brief(10000), brief(74868), brief(99949), brief(99950)] == [
        "54,002",
        "9,999",
        "10.0k",
        "74.9k",
        "99.9k",
        "100k",
    ]
    assert [brief(485129), brief(999499), brief(999500), brief(1250000)] == ["485k", "999k", "1.0M", "1.2M"]


@pytest.mark.parametrize(
    ("url", "want"),
    [
        ("https://arxiv.org/abs/2603.28342", "https://arxiv.org/abs/2603.28342"),
        (" HTTP://Example.ORG:8080/a?b=c#d ", "http://example.org:8080/a?b=c#d"),
        ("https://ok.example/über", "https://ok.example/%C3%BCber"),
        ("https://аpple.com/", "https://xn--pple-43d.com/"),
        ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//example.org/x", ""),
        ("https://", ""),
        ("https://arxiv.org@evil.example/", ""),
        ("https://ok.example/\x1b]8;;", ""),
        ('https://ok.example/"onmouseover=x', ""),
        ("https://ok.example/a b", ""),
        ("https://ok.example:99999/", ""),
        ("https://[::1/", ""),
        ("https://ok.example\\@evil.example/", ""),
        ("https://" + "a" * 64 + ".example/", ""),
        ("https://ok.example/" + "a" * 2000, ""),
    ],
)
def test_only_harmless_links_are_followed(url: str, want: str) -> None:
    assert safe_url(url) == want


@given(ANYTHING)
@example("\ud800")
@example("¸")
@example("․")
def test_no_text_makes_a_link_that_is_not_plain(text: str) -> None:
    for url in (text, "https://" + text, "https://ok.example/" + text):
        safe = safe_url(url)
        assert safe.isascii()
        assert not set(safe) & set(" \"'<>\\`\x1b")
        assert safe == "" or safe.startswith(("http://", "https://"))
        assert safe_url(safe) == safe


def test_links_are_shown_without_what_says_nothing() -> None:
    assert shown_url("https://www.example.org/a/") == "example.org/a"
    assert shown_url("javascript:x") == ""
    assert shown_url("https://example.org/" + "a" * 100, 20) == "example.org/aaaaaaa…"
