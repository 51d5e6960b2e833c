"""Discord's markdown, of which a stranger's text is to hold none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.render import markdown
from adapters.discord.render.limits import length
from adapters.text import clean
from tests.adapters.discord.hostile import live

PIECES = st.sampled_from(
    [
        *("@everyone", "@here", "<@1234>", "<@&12>", "<#99>", "</digest:1>", "<t:0:R>", "<a:x:1>", "<id:home>"),
        *(
            "\\",
            "`",
            "```",
            "**",
            "__",
            "~~",
            "||",
            "# ",
            "- ",
            "> ",
            "1. ",
            "-# ",
            " ",
            "\n",
            "\u202e",
            "é",
            "数",
            "👩‍👩‍👧",
        ),
        *(
            "[a](https://evil.example)",
            "https://a.example/x_y_(z)",
            "javascript:alert(1)",
            "http://@",
            "<https://x.example>",
        ),
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join)


def seen(markup: str) -> str:
    """Return what a reader sees of escaped text."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markup).replace("\u200b", "")


@given(HOSTILE)
def test_a_strangers_text_mentions_nobody(text: str) -> None:
    for made in (markdown.escaped(text), markdown.link(text, "https://a.example", 300), markdown.stressed(text, 300)):
        assert live(made) == []
    assert live(re.sub(r"`[^`]*`", "", markdown.sentence(text, 300))) == [], "what stands in code is not read"


@given(HOSTILE.filter(lambda text: "http" not in text.lower()))
def test_a_strangers_text_is_seen_as_it_was_written(text: str) -> None:
    assert seen(markdown.escaped(text)) == clean(text).replace("\u200b", "")


@given(HOSTILE.filter(lambda text: "http" not in text.lower()))
def test_no_sign_of_a_strangers_styles_anything(text: str) -> None:
    made = markdown.escaped(text)
    assert not re.search(r"[*_~`|\[\]]", re.sub(r"\\[\\*_~`|\[\]]", "", made))
    assert not re.match(r"(#{1,3} |- |\+ |>|-# |\d+[.)] )", made)


@given(HOSTILE, st.integers(min_value=1, max_value=80))
def test_no_more_room_is_taken_than_is_given(text: str, room: int) -> None:
    assert length(markdown.escaped_to_fit(text, room)) <= room
    assert length(markdown.stressed(text, room)) <= room
    assert length(markdown.sentence(text, room)) <= room


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("snake_case and 2*3", r"snake\_case and 2\*3"),
        ("see https://github.com/a/b_c.", "see <https://github.com/a/b_c>."),
        ("# heading", r"\# heading"),
        ("1. first", r"1\. first"),
        ("-1 is fine", "-1 is fine"),
        ("a < b and c > d", "a < b and c > d"),
        ("C# and #12", "C# and #12"),
        ("cut at https://a.example/x_…", "cut at https\u200b://a.example/x\\_…"),
    ],
)
def test_what_is_harmless_stays_readable(text: str, made: str) -> None:
    assert markdown.escaped(text) == made


@pytest.mark.parametrize(
    ("label", "url", "made"),
    [
        ("A [new] title", "https://arxiv.org/abs/1", r"[A \[new\] title](<https://arxiv.org/abs/1>)"),
        ("Wiki", "https://a.example/x_(y)", "[Wiki](<https://a.example/x_%28y%29>)"),
        ("Bad", "javascript:alert(1)", "Bad"),
        ("https://real.example", "https://evil.example", "[https\u200b://real.example](<https://evil.example>)"),
        ("", "https://a.example", ""),
    ],
)
def test_a_link_leads_where_it_says(label: str, url: str, made: str) -> None:
    assert markdown.link(label, url, 300) == made


def test_a_command_in_a_sentence_is_shown_as_one_types_it() -> None:
    assert markdown.sentence("*search kv cache* finds more.", 200) == "`/digest search query:kv cache` finds more."
    assert markdown.sentence("*filter stars:>100* is the end of one.", 200) == "`filter:stars:>100` is the end of one."


def test_nobody_is_mentioned_by_a_command_either() -> None:
    made = markdown.sentence("*search <@123456789012345678>* finds @everyone.", 200)
    assert made == "`/digest search query:@\u200b123456789012345678` finds @\u200beveryone."


def test_a_channel_in_our_own_sentence_is_a_link() -> None:
    said = markdown.with_channels("Paused: gpu-systems in 123456789012345678.")
    assert said == "Paused: gpu-systems in <#123456789012345678>."
