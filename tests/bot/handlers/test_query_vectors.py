"""What commands find by its meaning, with an embedder that knows a few concepts."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.errors import Unclear, UsageError
from bot.handlers.items import item_named
from bot.handlers.query_vectors import near_item, near_text
from bot.models import Reply
from bot.models.vectors import pack, text_of_item
from tests.bot.handlers.askers import PAPERS, Asker, about, asker
from tests.fakes.concepts import Concepts
from tests.stores.memory import MemoryStore


@pytest.fixture
def concepts() -> Concepts:
    return Concepts()


@pytest.fixture
async def ada(now: datetime, concepts: Concepts) -> Asker:
    """Ada, where five papers came in and have their vectors."""
    store = MemoryStore()
    await store.add(PAPERS, now - timedelta(hours=2))
    rows = await concepts.embed([text_of_item(each) for each in PAPERS])
    await store.save_vectors(concepts.space, PAPERS, pack(rows), quick=False)
    return asker(store, now, embedder=concepts)


def found(reply: Reply) -> list[str]:
    return [entry.item.key[-1] for entry in reply.entries if entry.item is not None]


def lines(reply: Reply) -> dict[str, str]:
    return {entry.item.key[-1]: entry.lines[-1] for entry in reply.entries if entry.item is not None}


async def test_the_best_match_may_have_none_of_the_words_and_says_that_it_is_close(ada: Asker) -> None:
    reply = await ada.ask("search stove sort:best")
    assert lines(reply) == {"4": "close in meaning"}
    assert (await ada.ask("search stove")).title == "Nothing found"


async def test_what_has_one_of_the_words_says_where(ada: Asker) -> None:
    assert lines(await ada.ask("search caching machines sort:best"))["1"] == 'abstract has "machines"'
    assert "close" not in lines(await ada.ask("search cooking sort:best"))["4"]


async def test_what_is_found_by_its_meaning_keeps_to_the_rest_of_the_search(ada: Asker) -> None:
    assert found(await ada.ask("search memory sort:best")) == ["1", "3", "2"]
    assert found(await ada.ask("search memory -blockchain sort:best")) == ["1", "3"]
    assert found(await ada.ask('search memory "cache lines" sort:best')) == ["2"]
    assert (await ada.ask("search title:memory sort:best")).title == "Nothing found"


async def test_a_search_in_another_order_asks_for_no_vector(ada: Asker, concepts: Concepts) -> None:
    concepts.asked.clear()
    await ada.ask("search memory")
    await ada.ask("search cat:cs.LG sort:best")
    assert concepts.asked == []


async def test_a_wider_search_is_offered_where_only_the_meaning_finds_something(ada: Asker) -> None:
    reply = await ada.ask("search hot stove")
    assert [each.label for each in reply.buttons] == ["Any of the words", "Any of the words, all time"]


async def test_without_a_vector_a_search_goes_by_its_words_and_nothing_fails(ada: Asker, concepts: Concepts) -> None:
    concepts.down = True
    assert set(found(await ada.ask("search cache sort:best"))) == {"1", "2", "3"}
    assert (await ada.ask("search stove sort:best")).title == "Nothing found"
    assert set(found(await ada.ask("similar 2603.00001"))) >= {"2", "3"}
    concepts.down = False
    assert found(await ada.ask("search stove sort:best")) == ["4"]


async def test_a_vector_that_does_not_come_is_not_waited_for(
    ada: Asker, concepts: Concepts, caplog: pytest.LogCaptureFixture
) -> None:
    assert await near_text(ada.context, "stove") is not None
    concepts.silent = True
    assert await near_text(ada.context, "stove", patience=0.01) is None
    assert "no vector in time" in caplog.text


async def test_words_that_mean_nothing_to_the_model_are_sought_as_words(ada: Asker) -> None:
    assert found(await ada.ask("search sharding sort:best")) == ["3"]


async def test_similar_items_are_close_by_words_and_by_meaning(ada: Asker, concepts: Concepts, now: datetime) -> None:
    await ada.context.store.add([about(6, "Bitcoin explained"), about(7, "Accelerator code")], now)
    items = list((await ada.context.store.find(["arxiv:2603.00006", "arxiv:2603.00007"])).values())
    rows = await concepts.embed([text_of_item(each) for each in items])
    await ada.context.store.save_vectors(concepts.space, items, pack(rows), quick=True)
    assert found(await ada.ask("similar 2603.00005"))[0] == "7"
    concepts.asked.clear()
    await ada.ask("similar 2603.00005")
    assert concepts.asked == []  # its vector is stored


async def test_a_long_text_means_the_same_before_its_vector_is_stored_and_after(
    ada: Asker, concepts: Concepts, now: datetime
) -> None:
    item = replace(about(6, "Caches"), abstract="cache " * 300 + "stove " * 300)
    await ada.context.store.add([item], now)
    before = await near_item(ada.context, item)
    await ada.context.store.save_vectors(
        concepts.space, [item], pack(await concepts.embed([text_of_item(item)])), quick=False
    )
    assert before == await near_item(ada.context, item)


async def test_a_title_that_nothing_has_may_mean_something_that_is_there(ada: Asker) -> None:
    with pytest.raises(Unclear) as told:
        await item_named(ada.context, ada.actor, "a kitchen stove")
    assert str(told.value) == (
        'No item has "a kitchen stove" in its title. Close to it: Cooking with gas (arxiv:2603.00004). Which one?'
    )
    assert told.value.choices == (("Cooking with gas", "arxiv:2603.00004"),)
    with pytest.raises(UsageError, match="No item has"):
        await item_named(ada.context, ada.actor, "a quantum of solace")


async def test_the_status_says_how_far_it_is_while_vectors_are_missing(ada: Asker, now: datetime) -> None:
    assert "Meanings" not in {field.name for field in (await ada.ask("status")).fields}
    await ada.context.store.add([about(6, "Bitcoin explained")], now)
    told = {field.name: field.value for field in (await ada.ask("status")).fields}
    assert told["Meanings"] == "5 of 6 items have a vector"
