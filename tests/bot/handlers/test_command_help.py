from io import StringIO

import pytest
from rich.console import Console

from adapters.cli.render.reply import ReplyView
from bot.commands import BORROWED, TABLE, Command, Help, Search, Usage, parse
from bot.errors import UsageError
from bot.models import Reply
from bot.query import FIELDS
from tests.bot.handlers.askers import Asker


async def test_the_help_for_all_names_every_command_with_its_sentence(ada: Asker) -> None:
    lines = {line for entry in (await ada.ask("help all")).entries for line in entry.lines}

    assert lines == {f"*{usage.words}*: {usage.help}" for usage in TABLE}


async def test_the_help_fits_a_screen_of_a_terminal(ada: Asker) -> None:
    told = StringIO()
    Console(file=told, width=80).print(ReplyView(await ada.ask("help"), ada.now.date()))

    lines = told.getvalue().splitlines()
    assert len(lines) <= 20
    assert len(first_commands(await ada.ask("help"))) == 8


def first_commands(reply: Reply) -> list[Command]:
    return [parse(line[1:].partition("*")[0]) for line in reply.text]


async def test_every_command_is_one_tap_behind_the_help(ada: Asker) -> None:
    opened = [await ada.ask(button.command) for button in (await ada.ask("help")).buttons]

    named = {line[1:].partition("*")[0] for reply in opened for line in reply.text}
    assert named >= {usage.words for usage in TABLE}


@pytest.mark.parametrize("verb", BORROWED)
async def test_a_verb_of_another_tool_is_read_or_leads_on(ada: Asker, verb: str) -> None:
    other = BORROWED[verb]
    assert parse(other.example).usage is other.usage
    assert (await ada.give(Help(verb))).title == other.usage.words


@pytest.mark.parametrize("words", ["abstract reasoning", "feed forward networks"])
def test_words_that_only_begin_like_a_verb_are_searched_for(words: str) -> None:
    assert parse(words) == Search(words)


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: usage.words)
async def test_the_help_on_a_command_says_how_it_goes_with_an_example_that_parses(ada: Asker, usage: Usage) -> None:
    words = usage.words

    fields = {field.name: field.value for field in (await ada.give(Help(words))).fields}

    assert fields["Usage"].startswith(f"*{words}")
    assert isinstance(parse(fields["Example"].strip("*")), usage.command)


async def test_the_help_knows_other_words_groups_and_near_misses(ada: Asker) -> None:
    assert (await ada.give(Help("Bookmark"))).title == "save"
    rows = [usage for usage in TABLE if usage.words.startswith("topic ")]
    assert list((await ada.give(Help("topic"))).text) == [f"*{row.syntax}*: {row.help}" for row in rows]
    near = await ada.give(Help("serach"))
    assert (near.title, near.text[0]) == ("search", 'There is no command "serach"; the nearest is this.')
    with pytest.raises(UsageError, match='no command "xyzzy"'):
        await ada.give(Help("xyzzy"))


async def test_the_help_on_queries_names_every_field(ada: Asker) -> None:
    (entry,) = (await ada.give(Help("query"))).entries
    assert len(entry.lines) == len(FIELDS)
    assert all(line.startswith(f"*{field.name}*") for line, field in zip(entry.lines, FIELDS, strict=True))


@pytest.mark.parametrize("asked", ["search", "filter", "follow", "topic create", "topic edit"])
async def test_the_help_on_what_takes_a_query_leads_to_its_fields(ada: Asker, asked: str) -> None:
    told = await ada.give(Help(asked))

    assert not told.entries
    assert "*help query* lists all of them" in " ".join(told.next_steps)
    assert "help query" in [button.command for button in told.buttons]
