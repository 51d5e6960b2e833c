import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.render.blocks import BlockGroup, actions, block_group, messages_of, paragraph, rich, text_run
from adapters.slack.render.limits import BLOCKS, CHARACTERS, SENT, TEXT, characters, fits, problems, sent, units
from bot.models import Button
from tests.adapters.slack.hostile import unlike_the_sdk


def of_length(length: int) -> BlockGroup:
    """Return a piece that shows so many characters, with a button."""
    row = actions("entry", [Button("Help", "help")])
    return block_group(rich(paragraph(text_run("x" * length))), row.blocks, text="y" * length, brief="b")


def read(block: Mapping[str, Any]) -> str:
    return str(block["elements"][0]["elements"][0]["text"])


@settings(deadline=None)
@given(st.lists(st.integers(1, 2500), min_size=1, max_size=60))
def test_pieces_are_packed_in_their_order_each_once_and_every_message_fits(lengths: list[int]) -> None:
    end, begin = block_group(rich(paragraph(text_run("end")))), block_group(rich(paragraph(text_run("begin"))))
    postings = messages_of([of_length(each) for each in lengths], lambda _shown, _then: (end, begin))
    shown = [[read(block) for block in each.blocks if block["type"] == "rich_text"] for each in postings]

    assert [len(text) for texts in shown for text in texts if text[0] == "x"] == lengths
    assert all(fits(each.blocks) and len(each.blocks) <= BLOCKS for each in postings)
    assert all(units(each.text) <= TEXT for each in postings)
    assert [texts[0] == "begin" for texts in shown] == [number > 0 for number in range(len(shown))]
    assert [texts[-1:] == ["end"] for texts in shown] == [number < len(shown) - 1 for number in range(len(shown))]


def test_the_numbers_in_the_names_of_blocks_are_counted_too() -> None:
    for length in range(200, 400):
        assert all(fits(each.blocks) for each in messages_of([of_length(length)] * 40))


def test_a_message_is_counted_as_it_is_sent_wide_characters_and_entities_included() -> None:
    assert units("a&b<c>") == len("a&amp;b&lt;c&gt;")
    assert units("👍") == 2
    blocks = rich(paragraph(text_run("x" * 100)))
    assert characters(blocks) == 100
    assert sent(blocks) == len(json.dumps(blocks, separators=(",", ":"))) + 22
    assert SENT < 13_200
    assert CHARACTERS == 9_000


@pytest.mark.parametrize(
    "block",
    [
        {"type": "header", "text": {"type": "plain_text", "text": "x" * 151}},
        {"type": "header", "text": {"type": "plain_text", "text": ""}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}},
        {
            "type": "actions",
            "elements": [{"type": "button", "text": {"type": "plain_text", "text": "x"}, "value": "v" * 2001}],
        },
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": []}]},
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "link", "url": ""}]}]},
    ],
    ids=["long header", "empty text", "long section", "long value", "empty section", "empty link"],
)
def test_what_slack_would_not_take_is_found_before_it_is_sent(block: dict[str, object]) -> None:
    assert problems([block]) != []


def test_what_slacks_own_models_do_not_know_is_found_where_everything_that_is_drawn_is_looked_at() -> None:
    assert unlike_the_sdk([{"type": "nonsense"}]) != []
    assert unlike_the_sdk([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]) != []
    assert unlike_the_sdk([{"type": "divider", "unheard": "of"}]) != []
    assert unlike_the_sdk([{"type": "divider"}]) == []


def test_blocks_of_the_same_name_are_found() -> None:
    block = {"type": "divider", "block_id": "entry:1"}

    assert problems([block]) == []
    assert problems([block, block]) != []
    assert problems([{"type": "divider"}] * 46) != []
