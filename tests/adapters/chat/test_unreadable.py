"""What is said of an event that could not be read: names, and nothing that somebody wrote."""

import json
import logging
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.unreadable import UnreadableEvents, failure_place


def raised(reading: Any, what: Any) -> Exception:
    try:
        reading(what)
    except Exception as error:
        return error
    raise AssertionError


def noted(caplog: pytest.LogCaptureFixture, *events: object, error: Exception) -> tuple[list[str], int]:
    caplog.set_level(logging.ERROR)
    counts: Counter[str] = Counter()
    unreadable = UnreadableEvents("discord", counts, {"json"})
    for each in events:
        unreadable.note(each, error)
    return [record.getMessage() for record in caplog.records], counts["discord"]


def test_the_event_the_place_and_the_missing_name_are_said(caplog: pytest.LogCaptureFixture) -> None:
    lines, count = noted(caplog, "GUILD_CREATE", error=raised(lambda said: said["roles"], {}))
    assert count == 1
    assert lines[0].startswith("discord: GUILD_CREATE (test_unreadable.py:")
    assert "KeyError 'roles') could not be read and is left out" in lines[0]


def test_the_place_is_the_last_one_in_the_library() -> None:
    assert failure_place(raised(json.loads, "{"), {"json"}).startswith("decoder.py:")
    assert failure_place(raised(lambda said: said.get("id"), None), {"json"}).endswith("AttributeError 'get'")
    assert failure_place(KeyError("payload"), {"json"}) == "KeyError 'payload'"


def test_the_first_the_tenth_and_the_hundredth_are_logged_and_all_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    lines, count = noted(caplog, *["READY"] * 150, error=KeyError("id"))
    assert count == 150
    assert [line.rpartition("(number ")[2].split()[0] for line in lines] == ["1", "10", "100"]


@given(secret=st.text(min_size=6).filter(lambda text: not text.replace("_", "").replace(".", "").isascii()), name=st.text())
def test_no_value_is_said(secret: str, name: str) -> None:
    for error in (ValueError(secret), KeyError(secret), KeyError((secret,)), raised(int, secret), TypeError(secret)):
        assert secret not in failure_place(error, {"json"})
    assert failure_place(KeyError("xoxb-1234-abcd"), set()) == "KeyError"


def test_an_event_with_a_strange_name_is_said_to_have_none(caplog: pytest.LogCaptureFixture) -> None:
    lines, _ = noted(caplog, None, ["READY"], "x" * 100, "two\nlines", error=KeyError("id"))
    assert all("an event without a known name" in line for line in lines)


def test_a_library_that_called_something_else_was_not_reading() -> None:
    unreadable = UnreadableEvents("discord", Counter(), {"json"})

    def hook(_: Any) -> None:
        raise ValueError

    assert unreadable.is_its_own(raised(json.loads, "{"))
    assert not unreadable.is_its_own(raised(lambda text: json.loads(text, object_hook=hook), "{}"))
    assert not unreadable.is_its_own(raised(int, "x"))
