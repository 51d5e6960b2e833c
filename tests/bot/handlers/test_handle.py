"""Every command is answered, and whatever is asked there is an answer that a person can act on."""

import asyncio
import logging
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.commands import TABLE, Command, Help, More, Search, parse, read
from bot.errors import Conflict, StoreError, SummaryUnavailable, UsageError
from bot.handlers import handle as handling
from bot.handlers.context import HANDLERS, handles
from bot.handlers.handle import answer
from bot.handlers.surfaces.forms import filter_form, topic_form
from bot.handlers.wording.failures import usage_failure
from bot.models import Reply
from tests.bot.commands.generate import commands, texts
from tests.bot.handlers.askers import PAPERS, Asker, about, asker, said
from tests.conftest import NOW, tries
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

LINES = st.builds("{} {}".format, st.sampled_from([usage.words for usage in TABLE]), texts())


async def told(ada: Asker, asked: str | Command) -> Reply:
    return await answer(ada.context, read(asked) if isinstance(asked, str) else asked, ada.actor, ada.now)


def test_every_command_has_a_function_that_answers_it() -> None:
    assert set(HANDLERS) == {usage.command for usage in TABLE}


def test_no_command_has_two_functions_that_answer_it() -> None:
    with pytest.raises(ValueError, match="Search is answered by search already"):
        handles(Search)(HANDLERS[More])


def test_a_handler_is_there_whichever_module_is_imported_first() -> None:
    for first in ("bot.handlers.surfaces.forms", "bot.handlers.handle"):
        code = f"import {first}, bot.handlers.handle as one; print(len(one.HANDLERS))"
        told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert int(told.stdout) == len(TABLE)


async def test_a_command_may_come_as_text_or_as_it_is(ada: Asker) -> None:
    assert await told(ada, "search cache") == await told(ada, Search("cache"))


async def test_who_is_no_member_of_the_workspace_reads_and_changes_nothing_and_is_told_so(ada: Asker) -> None:
    """Somebody of another organisation, in a channel that is shared with it; whoever they are there."""
    stranger = replace(ada.actor, is_external=True, may_administer=True)
    before = await ada.context.store.workspaces.subscriptions(ada.actor.workspace)
    refused: set[str] = set()
    for usage in TABLE:
        reply = await answer(ada.context, read(usage.example), stranger, ada.now)
        if "That is for members of the workspace whose Broadsheet this is." in said(reply):
            refused.add(usage.words)

    readers = {
        "search",
        "show",
        "bibtex",
        "similar",
        "trending",
        "trends",
        "why",
        "now",
        "rest",
        "more",
        "less",
        "save",
        "unsave",
        "saved",
        "help",
    }
    assert refused == {usage.words for usage in TABLE} - readers
    assert await ada.context.store.workspaces.subscriptions(ada.actor.workspace) == before
    for opened in (topic_form(ada.context, stranger, ""), filter_form(ada.context, stranger, "kv")):
        with pytest.raises(UsageError, match="for members"):
            await opened


# --- what did not work


async def test_a_mistake_is_told_with_what_to_write_and_an_example(ada: Asker) -> None:
    reply = await told(ada, "search cache stras:>500")

    assert reply.title == "That did not work"
    assert reply.text[0].startswith("There is no field `stras:`; did you mean `stars:`?")
    assert reply.text[0].endswith("It is here: stras:>500")
    assert len(reply.text) <= 2
    assert not reply.fields
    assert [parse(button.command) for button in reply.buttons] == [Help("search")]
    assert reply.private


async def test_a_command_as_it_is_has_its_help_too(ada: Asker) -> None:
    reply = await told(ada, Search("cache page:(", page="1.2"))

    assert [parse(button.command) for button in reply.buttons] == [Help("search")]


@pytest.mark.parametrize("words", ["filter", "subscribe", "topic create", "topic edit"])
def test_what_was_filled_in_wrongly_is_told_without_pointing_at_anything_else(words: str) -> None:
    reply = usage_failure(UsageError("This parenthesis is never closed.", position=2), words)

    assert reply.text == ("This parenthesis is never closed.",)
    assert [parse(button.command) for button in reply.buttons] == [Help(words)]


async def test_a_hint_that_stands_in_the_sentence_is_not_said_twice(ada: Asker) -> None:
    reply = await told(ada, "topic show gpu-system")

    assert reply.text == ('There is no topic "gpu-system".', "Did you mean gpu-systems?")


async def test_what_may_be_several_things_is_a_tap_away(ada: Asker) -> None:
    await ada.context.store.items.add([about(9, "Sharding a cache in Triton")], ada.now)

    reply = await told(ada, "more sharding a cache for kv")

    assert reply.title == "Which one?"
    assert {button.command for button in reply.buttons} == {
        "more arxiv:2603.00003 for kv",
        "more arxiv:2603.00009 for kv",
    }
    assert "Sharding a cache in CUDA" in [button.label for button in reply.buttons]


class _Failing(MemoryStore):
    """A database that fails in the way it is told to."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.index = instead(self.index, search=self.search)
        self._failure = failure

    async def search(self, *args: Any, **options: Any) -> Any:
        raise self._failure


async def failing(failure: Exception) -> Reply:
    return await told(asker(_Failing(failure), NOW), "search cache")


async def test_a_failure_of_ours_is_one_sentence_without_blame(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, handling.__name__):
        reply = await failing(StoreError("The disk with /home/ada/b.sqlite3 is full; make room."))

    (sentence,) = reply.text
    assert "database" in sentence
    assert reply.fields == ()
    assert "/home/ada" not in said(reply), "that is for the operator, who reads the log"
    assert "/home/ada" in caplog.text


async def test_which_file_of_the_installation_is_damaged_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, handling.__name__):
        reply = await failing(SummaryUnavailable("The model file /opt/ada/roles.npz is missing or damaged."))

    assert "/opt/ada" not in said(reply)
    assert "*broadsheet doctor* says what to do" in said(reply)
    assert "/opt/ada/roles.npz is missing" in caplog.text


async def test_a_conflict_says_that_somebody_else_was_there() -> None:
    reply = await failing(Conflict("Bob changed the topic; look at it and try again."))

    assert (reply.title, reply.text) == ("Somebody else changed it", ("Bob changed the topic; look at it and try again.",))


async def test_what_nobody_foresaw_is_told_with_a_reference_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, handling.__name__):
        reply = await failing(ZeroDivisionError("secret"))

    (sentence,) = reply.text
    reference = sentence.rstrip(".").split()[-1]
    assert f"[{reference}]" in caplog.text
    assert "secret" in caplog.text
    assert "secret" not in said(reply)


# --- anything that can be asked


def _asked(asked: str | Command) -> Reply:
    """Ask a fresh context with a digest posted, a subscription and something saved."""

    async def asking() -> Reply:
        store = MemoryStore()
        await store.open()
        await store.items.add(PAPERS, NOW - timedelta(hours=2))
        ada = asker(store, NOW)
        await ada.ask("subscribe kv")
        await ada.ask("save 2603.00004")
        await store.digests.save(ada.actor.workspace, ada.actor.channel, (await ada.ask("now kv")).digests[0], NOW)
        return await told(ada, asked)

    return asyncio.run(asking())


def _is_whole(reply: Reply) -> None:
    """An answer has a title, something to read, and buttons that do what they say."""
    assert reply.title
    assert "Something went wrong" not in said(reply)
    for button in (*reply.buttons, *(button for entry in reply.entries for button in entry.buttons)):
        assert button.label
        parse(button.command)


@settings(max_examples=tries(150), deadline=None)
@given(commands())
def test_every_command_is_answered_and_its_buttons_can_be_pressed(command: Command) -> None:
    _is_whole(_asked(command))


@settings(max_examples=tries(150), deadline=None)
@given(LINES | st.text(max_size=200))
def test_every_text_is_answered(text: str) -> None:
    _is_whole(_asked(text))


def test_a_title_of_option_words_comes_back_as_it_was() -> None:
    _is_whole(_asked(More('"for" until top 7', "kv")))
