"""What is answered to a line that begins with a verb and was meant as a search."""

import pytest

from bot.commands import read
from bot.handlers.handle import answer
from bot.models import Reply
from tests.bot.handlers.askers import Asker, about, asker, said
from tests.conftest import NOW
from tests.stores.memory import MemoryStore

WORKS = (
    about(1, "Log parsing with language models"),
    about(2, "Attention maps of vision transformers"),
    about(3, "Post training quantization of vision transformers"),
    about(4, "Status quo bias in preferences"),
)


@pytest.fixture
async def ada() -> Asker:
    store = MemoryStore()
    await store.items.add(WORKS, NOW)
    return asker(store, NOW)


async def typed(ada: Asker, line: str) -> Reply:
    return await answer(ada.context, read(line), ada.actor, ada.now, line)


@pytest.mark.parametrize(
    ("line", "first", "example"),
    [
        ("log parsing", 1, "history gpu-systems"),
        ("show vision transformers", 0, "show 2606.01234 for gpu-systems"),
        ("status quo bias", 4, "status"),
    ],
)
async def test_what_is_no_command_is_searched_for_and_how_the_command_is_written_is_said(
    ada: Asker, line: str, first: int, example: str
) -> None:
    reply = await typed(ada, line)

    assert reply.entries[0].item is not None
    assert reply.entries[0].item.key in ([f"arxiv:2603.0000{first}"] if first else ["arxiv:2603.00002", "arxiv:2603.00003"])
    assert reply.text[0] == f"Searched for as words; the command is written for example *{example}*."
    assert reply.buttons[-1].command.startswith("help ")


@pytest.mark.parametrize("line", ["post training quantization", "unsubscribe attention", "resume parsing", "pause maps"])
async def test_where_something_could_be_changed_the_fault_is_told_and_the_search_a_tap_away(ada: Asker, line: str) -> None:
    reply = await typed(ada, line)

    assert reply.title == "That did not work"
    assert not reply.entries
    assert (reply.buttons[-1].label, reply.buttons[-1].command) == ("Search for it", f"search {line}")


async def test_a_topic_that_is_there_or_nearly_was_meant_and_the_fault_is_told(ada: Asker) -> None:
    for line in ("now kv untill friday", "history gpu-sytems"):
        reply = await typed(ada, line)
        assert reply.title == "That did not work", line


async def test_where_nothing_is_found_the_fault_is_told(ada: Asker) -> None:
    assert "does not understand" in said(await typed(ada, "status sourdough"))


async def test_a_command_without_a_line_of_words_is_never_searched_for(ada: Asker) -> None:
    reply = await answer(ada.context, read("log parsing"), ada.actor, ada.now)

    assert (reply.title, reply.entries) == ("That did not work", ())
