from hypothesis import given
from hypothesis import strategies as st

from bot.commands import Command, help_for, parse, write
from bot.errors import UsageError
from tests.bot.commands.generate import commands, texts


@given(commands())
def test_every_command_is_read_back_from_what_is_written(command: Command) -> None:
    text = write(command)

    assert text.splitlines() == [text]
    assert parse(text) == command


_VERBS = ("", "search ", "subscribe x ", "subscribe x at ", "topic ", "topic edit x ", "more ", "filter x ", "pause x ")


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
