import pytest

from bot.commands import TABLE, Help, Usage, parse
from bot.errors import UsageError
from bot.query import FIELDS
from tests.bot.handlers.askers import Asker


async def test_the_help_names_every_command_with_its_sentence(ada: Asker) -> None:
    lines = {line for entry in (await ada.ask("help")).entries for line in entry.lines}

    assert lines == {f"*{usage.words}*: {usage.help}" for usage in TABLE}


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: usage.words)
async def test_the_help_on_a_command_says_how_it_goes_with_an_example_that_parses(ada: Asker, usage: Usage) -> None:
    words = usage.words

    fields = {field.name: field.value for field in (await ada.give(Help(words))).fields}

    assert fields["Usage"].startswith(words)
    assert isinstance(parse(fields["Example"]), usage.command)


async def test_the_help_knows_other_words_groups_and_near_misses(ada: Asker) -> None:
    assert (await ada.give(Help("Bookmark"))).title == "save"
    assert [entry.title for entry in (await ada.give(Help("topic"))).entries] == [
        "topic show",
        "topic create",
        "topic edit",
        "topic delete",
    ]
    near = await ada.give(Help("serach"))
    assert (near.title, near.text[0]) == ("search", 'There is no command "serach"; the nearest is this.')
    with pytest.raises(UsageError, match='no command "xyzzy"'):
        await ada.give(Help("xyzzy"))


async def test_the_help_on_queries_names_every_field(ada: Asker) -> None:
    for asked in ("query", "search", "filter"):
        (entry,) = (await ada.give(Help(asked))).entries
        assert len(entry.lines) == len(FIELDS)
        assert all(line.startswith(f"*{field.name}*") for line, field in zip(entry.lines, FIELDS, strict=True))
