import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import Command, Show, help_for, parse, write
from bot.commands.borrowed import BORROWED
from bot.errors import UsageError
from tests.bot.commands.generate import commands, texts


@given(commands())
def test_every_command_is_read_back_from_what_is_written(command: Command) -> None:
    text = write(command)

    assert text.splitlines() == [text]
    assert parse(text) == command


_OWN = ("", "search ", "subscribe x ", "subscribe x at ", "topic ", "topic edit x ", "more ", "filter x ", "pause x ")
_VERBS = (*_OWN, *(f"{verb} " for verb in BORROWED))


def _asked(text: str) -> Command | UsageError:
    try:
        return parse(text)
    except UsageError as error:
        return error


@given(st.sampled_from(_VERBS), texts())
def test_any_text_is_a_command_or_a_usage_error_that_points_into_it(verb: str, rest: str) -> None:
    text = verb + rest
    answer = _asked(text)

    if isinstance(answer, UsageError):
        assert answer.position is None or 0 <= answer.position <= len(text)
        assert str(answer).endswith(".")
        help_for(text)
    else:
        assert parse(write(answer)) == answer
        assert help_for(text) is not None


@pytest.mark.parametrize("verb", BORROWED)
def test_a_borrowed_verb_alone_is_a_command_or_an_error_that_is_a_sentence(verb: str) -> None:
    answer = _asked(verb)

    assert not isinstance(answer, UsageError) or str(answer).endswith(".")


@given(
    st.from_regex(r"[1-9]|26\d\d\.0\d{4}|[a-z]+/[a-z]+", fullmatch=True), st.from_regex(r"|[a-z]+-[a-z]+", fullmatch=True)
)
def test_of_an_items_card_the_bibtex_is_asked_for_before_behind_or_between(item: str, topic: str) -> None:
    of_topic = f" for {topic}" if topic else ""
    for said in (f"bibtex {item}{of_topic}", f"{item} bibtex{of_topic}", f"{item}{of_topic} bibtex"):
        assert parse(f"show {said}") == Show(item, topic, bibtex=True)
