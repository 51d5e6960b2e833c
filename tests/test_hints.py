"""What a sentence tells people to write can be written: in a line of words, and in Discord by options."""

import pytest

from adapters.discord.install.command_tree import ROOTS, chosen, path
from adapters.discord.render.hints import hint_of, option_of
from adapters.discord.render.markdown import sentence, stressed
from adapters.words import SpanKind, line_spans, spans
from bot.commands import TABLE, Command, EditTopic, Usage, parse, read
from bot.query import FIELDS
from bot.query.fields import QueryField
from tests.adapters.discord.asked import data_of
from tests.hints import Hint, hints

HINTS = tuple(hints())
COMMANDS = tuple(each for each in HINTS if spans(f"*{each.text}*")[0][1] is SpanKind.TYPED)
IDS = dict(zip(ROOTS, ("11", "22"), strict=True))

# What is stressed and no command: words of a line, names of options and their values, parts of a query, things outside.
_WORDS = "at in by top min brief thread full quiet always tag filter until layout usual from weight query page page="
_VALUES = (
    "rev= rev=3 here off all on -word sort: topic-of: monday tomorrow 3d 2w mon,wed,fri weekdays 22:00-07:00 weekly daily"
)
_LONGER = (
    "a OR b, at 9am, at once, monthly on, monthly on 15, mon to fri, weekdays at 09:00, from 10pm until 7am, until monday,"
    " until 2w, filter stars:>100, filter -survey stars:>100, broadsheet doctor, Subscribe a channel, View Channel,"
    " Send Messages, Take over, kv cache compression, 1 for gpu-systems"
)
STRESSED = frozenset((*_WORDS.split(), *_VALUES.split(), *_LONGER.split(", ")))


def test_there_are_hints_to_look_at() -> None:
    assert len(COMMANDS) > 70


@pytest.mark.parametrize("hint", HINTS, ids=lambda hint: f"{hint.where} {hint.text}")
def test_what_is_stressed_is_a_command_or_known_to_be_none(hint: Hint) -> None:
    known = hint in COMMANDS or hint.text in STRESSED or option_of(hint.text)

    assert known, f"{hint.where} stresses *{hint.text}*: spell the command as it is typed, or add it to those that are none"


@pytest.mark.parametrize("hint", COMMANDS, ids=lambda hint: f"{hint.where} {hint.text}")
def test_every_hint_can_be_given_in_a_line_and_in_discord(hint: Hint) -> None:
    asked = read(hint.text)

    listed = hint_of(hint.text)
    assert listed is not None, f"{hint.where}: *{hint.text}* is no command"
    if not isinstance(asked, Command):
        assert hint.text in {usage.words for usage in TABLE}, f"{hint.where}: *{hint.text}* cannot be read"
        return
    assert listed.path == path(asked.usage)
    if not (isinstance(asked, EditTopic) and asked.revision is not None):  # which only a line of words can say
        assert asked.usage.command.chosen(asked.by_option()) == asked
        assert listed.options == " ".join(f"{name}:{shown(value)}" for name, value in asked.by_option().items())
    assert sentence(f"*{hint.text}*", 500, IDS).startswith(f"</{listed.path}:{IDS[listed.path.split()[0]]}>")


def shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: usage.words)
def test_every_example_can_be_given_in_discord(usage: Usage) -> None:
    command = parse(usage.example)
    listed = hint_of(usage.example)

    assert listed is not None
    assert chosen(data_of(command))[0] is usage
    assert usage.command.chosen(command.by_option()) == command


@pytest.mark.parametrize("usage", [each for each in TABLE if "[" in each.syntax], ids=lambda usage: usage.words)
def test_how_a_command_goes_is_told_by_its_options_in_discord(usage: Usage) -> None:
    told = sentence(f"*{usage.syntax}*", 2_000, IDS)

    listed = path(usage)
    assert told.startswith(f"</{listed}:{IDS[listed.split()[0]]}>")
    named = {each.strip("[]:") for each in told.partition("`")[2].rstrip("`").split()}
    assert named == {option.name for option in usage.options}


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_field_of_a_query_is_no_command(field: QueryField) -> None:
    line = f"*{field.name}*: {field.help}"

    assert stressed(line, 500, IDS).startswith(f"**{field.name}**"), "Discord"
    assert line_spans(line)[0] == (field.name, SpanKind.STRESSED), "Slack"


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: usage.words)
def test_a_line_about_a_command_has_it_as_it_is_given(usage: Usage) -> None:
    line = f"*{usage.words}*: {usage.help}"

    assert line_spans(line)[0] == (f"/digest {usage.words}", SpanKind.TYPED)
    assert stressed(line, 500, IDS).startswith(f"</{path(usage)}:")
    assert stressed(f"matches *{usage.words}* ×3", 500, IDS) == f"matches **{usage.words}** ×3", "somebody's word"
