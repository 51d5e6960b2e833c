"""Names in a search: whom they mean, alone, together and beside a subject."""

import pytest

from bot.models import Reply
from tests.bot.handlers.askers import Asker, about, asker, said
from tests.conftest import NOW
from tests.stores.memory import MemoryStore

WORKS = (
    about(1, "Paging the KV cache", authors=("Kaiming He", "Sergey Levine")),
    about(2, "Robots that fold towels", authors=("Sergey Levine", "Chelsea Finn")),
    about(3, "Learning from all of the data", authors=("Chelsea Finn",)),
    about(4, "Deep ray tracing of caches", authors=("Deep Ray", "Percy Liang")),
    about(5, "Deep learning for folding towels", authors=("Percy Liang",)),
    about(6, "Deep caches", authors=("Abdullah All", "Rui Mao")),
    about(7, "All of it at once", authors=("Rui Mao",)),
    about(8, "All or nothing", authors=("Rui Mao",)),
)


@pytest.fixture
async def ada() -> Asker:
    store = MemoryStore()
    await store.items.add(WORKS, NOW)
    return asker(store, NOW)


def numbers(reply: Reply) -> set[int]:
    return {int(entry.item.key[-1]) for entry in reply.entries if entry.item is not None}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Kaiming He", {1}),  # "he" is a function word elsewhere
        ("kaiming he", {1}),
        ("Sergey Levine", {1, 2}),
        ("Levine, Sergey", {1, 2}),
        ("Sergey Levine and Chelsea Finn", {2}),
        ("sergey levine, chelsea finn", {2}),
        ("Levine & Finn", {2}),
        ("papers by Chelsea Finn and Sergey Levine", {2}),
        ("Sergey Levine towels", {2}),
        ("folding towels percy liang", {5}),
        ("show me papers on towels by Percy Liang", {5}),
    ],
)
async def test_names_are_authors_alone_together_and_beside_a_subject(ada: Asker, query: str, found: set[int]) -> None:
    reply = await ada.ask(f"search {query}")

    assert numbers(reply) == found
    assert "author:" in said(reply)


@pytest.mark.parametrize(
    "query",
    [
        "deep ray tracing",  # nearly all that has "deep" has it as no name
        "learning from all",
        "caches and towels",
        "Sergey Levine cache line blockchain",  # nothing of theirs is about that
    ],
)
async def test_words_that_are_somebodys_name_elsewhere_stay_words(ada: Asker, query: str) -> None:
    assert "author:" not in said(await ada.ask(f"search {query}"))


async def test_where_nothing_is_by_all_of_them_it_is_said_and_what_any_of_them_wrote_is_shown(ada: Asker) -> None:
    reply = await ada.ask("search Kaiming He and Percy Liang")

    assert numbers(reply) == {1, 4, 5}
    assert reply.text[0] == "Nothing here is by both: searched for what any of them wrote."


@pytest.mark.parametrize("name", ["Kaiming Finn", "kaiming finn"])
async def test_the_first_name_of_one_and_the_last_of_another_are_nobodys(ada: Asker, name: str) -> None:
    reply = await ada.ask(f"search {name}")

    assert reply.text[0] == f'Nobody of the name "{name}" is here; by others with the name {name.split()[1]}:'
    assert numbers(reply) == {2, 3}
