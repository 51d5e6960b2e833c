"""Lines that begin with a verb and were meant as a search."""

import pytest

from bot.commands import Search, search_meant
from bot.errors import Incomplete, UsageError

FAULT = UsageError("It cannot be done.")


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("log parsing", "log parsing"),
        ("status quo bias", "status quo bias"),
        ("why do language models hallucinate?", "why do language models hallucinate?"),
        ("/list decoding", "list decoding"),
        ("topic modeling", "topic modeling"),
        ("show attention maps of vision transformers", "attention maps of vision transformers"),
    ],
)
def test_what_would_only_tell_something_may_be_searched_for_at_once(line: str, query: str) -> None:
    meant = search_meant(line, FAULT)

    assert meant is not None
    assert meant.at_once
    assert meant.search == Search(query)


@pytest.mark.parametrize(
    "line",
    [
        "post training quantization",
        "remove background noise from speech",
        "unsubscribe attack",
        "resume screening bias",
        "pause tokens",
        "filter pruning",
        "settings of the adam optimizer",
        "save memory with gradient checkpointing",
        "more efficient transformers",
        "follow the leader algorithms",
        "subscribe me to everything",
        "unsubscrib attack",  # a slip in such a verb
    ],
)
def test_where_something_could_be_changed_the_search_is_offered_alone(line: str) -> None:
    meant = search_meant(line, FAULT)

    assert meant is not None
    assert not meant.at_once
    assert meant.search == Search(line)


@pytest.mark.parametrize("line", ["list al", "trending repo", "help serch", "saved bibtx"])
def test_a_slip_in_what_stands_behind_the_verb_is_told(line: str) -> None:
    meant = search_meant(line, FAULT)

    assert meant is None or not meant.at_once


def test_what_was_suggested_is_told_first() -> None:
    meant = search_meant("now gpu sytems", UsageError("There is no such topic.", hint="Did you mean *gpu-systems*?"))

    assert meant is not None
    assert not meant.at_once


@pytest.mark.parametrize(
    "line",
    [
        "",
        "log",
        "show 3",
        "show 2606.01234",
        "why 1 2",
        'log "parsing"',
        "show owner/name",
        "now gpu: systems",
        "search kv cache",
        "kv cache",
    ],
)
def test_what_has_signs_or_numbers_alone_or_no_such_verb_is_no_search(line: str) -> None:
    assert search_meant(line, FAULT) is None


def test_a_line_for_which_a_form_can_be_filled_in_is_no_search() -> None:
    assert search_meant("topic create something", Incomplete(FAULT, "topic")) is None
