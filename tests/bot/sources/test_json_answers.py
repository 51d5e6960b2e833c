import json
import sys
from datetime import UTC, datetime
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import SourceChanged
from bot.sources.json_answers import folded, moment, objects, read_json


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": NaN, "b": -Infinity}', {"a": None, "b": None}),
        (b"[123456789012345678, 1234567890123456789]", [123456789012345678, None]),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\xff"', "\ufffd"),
    ],
)
def test_json_is_read_though_parts_of_it_are_odd(body: bytes, value: object) -> None:
    assert read_json(body, "X") == value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "X sent an empty answer"),
        (b" \n", "X sent an empty answer"),
        (b"\n<!DOCTYPE html><p>", "X sent a web page instead of JSON"),
        (b"<HTML>", "X sent a web page instead of JSON"),
        (b"<?xml version='1.0'?>", "X sent a web page instead of JSON"),
        (b'{"a":', "X sent JSON that is broken or cut off"),
        (b"[" * 1_000_000, "X sent JSON that is broken or cut off"),
    ],
)
def test_what_is_no_json_is_a_change_that_says_what_came(body: bytes, said: str) -> None:
    with pytest.raises(SourceChanged, match=f"^{said}$"):
        read_json(body, "X")


@given(st.binary(max_size=50))
def test_any_bytes_are_json_or_a_change(body: bytes) -> None:
    try:
        read_json(body, "X")
    except SourceChanged as error:
        assert str(error).startswith("X sent ")  # noqa: PT017


LONG = b" " * 2**18  # an answer of so many bytes is read in another way


def outcome(body: bytes) -> object:
    try:
        return read_json(body, "X")
    except SourceChanged as error:
        return str(error)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
)


@given(VALUES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=50).filter(lambda body: bool(body.strip())))
def test_a_long_answer_is_read_as_a_short_one(body: bytes) -> None:
    assert repr(outcome(body + LONG)) == repr(outcome(body))


def test_other_threads_may_run_between_any_two_values_of_a_long_answer() -> None:
    body = b"[" + b"[[],[]]," * 40_000 + b"0]"
    steps = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal steps
        steps += event == "call"  # where Python looks whether another thread waits

    sys.setprofile(count)
    try:
        read_json(body, "X")
    finally:
        sys.setprofile(None)
    assert steps > 40_000


@given(st.text())
def test_folded_text_is_one_line_that_can_be_stored(text: str) -> None:
    line = folded(text, 20)
    assert len(line) <= 20
    assert line == " ".join(line.split())
    line.encode()


def test_the_marks_that_emoji_and_scripts_need_stay() -> None:
    assert folded("👩\u200d🔬 \u0646\u200c\u0627\u202e x") == "👩\u200d🔬 \u0646\u200c\u0627 x"


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-04-28T05:34:52.058Z", datetime(2026, 4, 28, 5, 34, 52, 58000, UTC)),
        ("2009-12-10T13:41:49-08:00", datetime(2009, 12, 10, 21, 41, 49, tzinfo=UTC)),
        (" 2026-04-28 ", datetime(2026, 4, 28, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("yesterday", None),
        ("", None),
        (5, None),
        (None, None),
    ],
)
def test_times_are_read_in_utc(text: object, time: datetime | None) -> None:
    assert moment(text) == time


def test_only_objects_are_taken_from_a_list() -> None:
    assert objects([{"a": 1}, None, 5, [], {}]) == [{"a": 1}, {}]
    assert objects({"a": 1}) == []
