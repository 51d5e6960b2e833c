"""What commands find by its meaning, with an embedder that knows a few concepts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import Search
from bot.errors import Unclear, UsageError
from bot.handlers.items import item_named
from bot.handlers.search.meaning import BY_WORDS, meant_text
from bot.handlers.search.pages import LONGEST_TOKEN, Position, read_page_token, write_page_token
from bot.handlers.search.query import SearchQuery, read_search, why_found
from bot.handlers.search.search import PAGE
from bot.handlers.search.similar import meant_item
from bot.models import And, Behind, Item, Page, Query, Reply
from bot.models.vectors import pack, text_of_item
from bot.query import parse
from bot.store.sqlite.store import SqliteStore
from tests.bot.handlers.askers import PAPERS, Asker, about, asker, button, said
from tests.bot.query.generate import trees
from tests.conftest import NOW
from tests.fakes.concepts import Concepts
from tests.fakes.works import paper, repo
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore


def keys(reply: Reply) -> list[str]:
    return [entry.item.key for entry in reply.entries if entry.item is not None]


async def leaf(ada: Asker, first: Reply) -> list[str]:
    """All pages from the first on, by their buttons."""
    found, reply = keys(first), first
    while any(each.label == f"Next {PAGE}" for each in reply.buttons):
        reply = await ada.ask(button(reply, f"Next {PAGE}"))
        assert reply.first == len(found) + 1
        found += keys(reply)
    return found


async def test_a_search_says_how_many_there_are_and_why_each_was_found(ada: Asker) -> None:
    reply = await ada.ask("search cache")

    assert reply.title == "Found for: cache"
    assert reply.text == ("3 found, best match first.",)
    assert set(keys(reply)) == {"arxiv:2603.00001", "arxiv:2603.00002", "arxiv:2603.00003"}
    assert all(entry.lines == ("in the title: cache",) for entry in reply.entries)
    assert reply.private


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("cache sort:new", "3 found, newest first."),
        ("cache kind:paper -blockchain", "2 found, with *kind:paper* and *-blockchain*, best match first."),
        ("kind:paper", "5 found, with *kind:paper*, newest first."),
        ("*", "5 found, newest first."),
        ("cache published:30d sort:upvotes", "3 found, with *published:30d*, most upvotes first."),
    ],
)
async def test_a_search_says_its_order_and_which_filters_hold(ada: Asker, query: str, told: str) -> None:
    assert (await ada.ask(f"search {query}")).text == (told,)


async def test_of_very_many_it_says_how_far_they_were_counted(ada: Asker) -> None:
    await ada.context.store.items.add([about(1000 + number, f"Tokamak {number}") for number in range(1010)], ada.now)
    first = await ada.ask("search tokamak")
    assert first.text == ("More than 1,000 found, best match first.",)
    assert (await ada.ask(button(first, f"Next {PAGE}"))).text == first.text


async def test_a_paper_and_its_code_are_one_entry(ada: Asker) -> None:
    code = repo("ada/ferrofluid", abstract="Ferrofluid pumps, the code.", stars=61, paper="arxiv:2603.00008")
    given = paper("2603.00008", title="Ferrofluid pumps", abstract="We pump.", repo="github:ada/ferrofluid")
    await ada.context.store.items.add([given, code], ada.now)

    reply = await ada.ask("search ferrofluid pumps")
    assert [(entry.item and entry.item.key, entry.lines[0]) for entry in reply.entries] == [
        ("arxiv:2603.00008", "Code: ada/ferrofluid, ★61")
    ]
    reply = await ada.ask("search ferrofluid pumps kind:repo")
    assert [(entry.item and entry.item.key, entry.lines[0]) for entry in reply.entries] == [
        ("github:ada/ferrofluid", "Paper: Ferrofluid pumps")
    ]


async def test_each_entry_offers_more_less_save_and_similar(ada: Asker) -> None:
    (entry,) = (await ada.ask("search gas")).entries

    assert [each.command for each in entry.buttons] == [
        "more arxiv:2603.00004",
        "less arxiv:2603.00004",
        "save arxiv:2603.00004",
        "similar arxiv:2603.00004",
    ]


async def test_old_papers_are_found_too_and_a_date_narrows(ada: Asker) -> None:
    long_ago = ada.now - timedelta(days=2000)
    await ada.context.store.items.add([about(8, "Ferrofluid", published=long_ago, appeared=long_ago)], ada.now)

    assert keys(await ada.ask("search ferrofluid")) == ["arxiv:2603.00008"]
    reply = await ada.ask("search ferrofluid published:1y")
    assert reply.text[0] == (
        'Nothing here is about "ferrofluid" that fits the rest of the search: '
        "no item has all of these words, or most of what they say."
    )
    assert keys(await ada.ask(button(reply, "Words alone"))) == ["arxiv:2603.00008"]


async def test_pages_put_together_are_the_list_whatever_comes_in_between(ada: Asker) -> None:
    await ada.context.store.items.add([about(100 + number, f"Tokamak {number}") for number in range(12)], ada.now)
    first = await ada.ask("search tokamak")
    await ada.context.store.items.add([about(200, "Tokamak news", appeared=ada.now)], ada.now + timedelta(hours=1))

    found = await leaf(ada.at(ada.now + timedelta(hours=2)), first)

    assert sorted(found) == [f"arxiv:2603.{100 + number:05}" for number in range(12)]
    assert "arxiv:2603.00200" in keys(await ada.ask("search tokamak"))


async def test_one_can_leaf_back(ada: Asker) -> None:
    await ada.context.store.items.add([about(100 + number, f"Tokamak {number}") for number in range(7)], ada.now)
    first = await ada.ask("search tokamak sort:best")

    second = await ada.ask(button(first, f"Next {PAGE}"))

    assert keys(await ada.ask(button(second, "Back"))) == keys(first)
    assert f"Next {PAGE}" not in [each.label for each in second.buttons]


async def test_a_page_of_another_search_is_refused(ada: Asker) -> None:
    await ada.context.store.items.add([about(100 + number, f"Tokamak {number}") for number in range(7)], ada.now)
    page = button(await ada.ask("search tokamak"), f"Next {PAGE}").split()[1].removeprefix("page=")

    with pytest.raises(UsageError, match="damaged, or of another search"):
        await ada.give(Search("cache", page))


async def test_the_order_is_a_tap_away(ada: Asker) -> None:
    best = await ada.ask("search cache paging")
    assert keys(best)[0] == "arxiv:2603.00001"
    assert best.text[0].endswith("best match first.")

    newest = await ada.ask(button(best, "Newest first"))

    assert keys(newest) == ["arxiv:2603.00001"]
    assert keys(await ada.ask(button(newest, "Best match first"))) == keys(best)


async def test_where_nothing_has_enough_of_the_words_any_of_them_is_offered(ada: Asker) -> None:
    reply = await ada.ask("search sourdough sharding rye")

    assert reply.text == (
        'Nothing here is about "sourdough sharding rye": no item has all of these words, or most of what they say.',
    )
    assert [each.label for each in reply.buttons] == ["Any word"]
    assert keys(await ada.ask(button(reply, "Any word"))) == ["arxiv:2603.00003"]


async def test_where_no_item_has_all_words_the_best_matches_are_offered(ada: Asker) -> None:
    reply = await ada.ask("search cooking blockchain sort:new")
    assert reply.text == ("No item has all of these words.",)
    assert [each.label for each in reply.buttons] == ["Best match first", "Any word"]
    assert set(keys(await ada.ask(button(reply, "Best match first")))) == {"arxiv:2603.00002", "arxiv:2603.00004"}


async def test_only_searches_that_find_something_are_offered(ada: Asker) -> None:
    reply = await ada.ask("search zebras giraffes")

    assert reply.text[1:] == ("A wider search finds nothing either.",)
    assert reply.buttons == ()
    assert reply.next_steps


def in_part(store: MemoryStore, examined: int = 0, behind: Behind | None = None) -> MemoryStore:
    """The same store, with an index that looks at so many items alone, or is so far behind."""

    async def search(*asked: Any, **how: Any) -> Page:
        return replace(await index.search(*asked, **how), examined=examined, behind=behind)

    index = store.index
    store.index = instead(index, search=search)
    return store


@pytest.mark.parametrize("query", ["cache", "cache sort:new", "cache topic-of:kv", "zebra"])
async def test_a_search_that_is_answered_in_part_says_so_and_what_to_narrow(query: str, now: datetime) -> None:
    store = MemoryStore()
    await store.items.add(PAPERS, now)
    whole = await asker(store, now).ask(f"search {query}")
    reply = await asker(in_part(store, 500), now).ask(f"search {query}")

    assert "In part" not in said(whole)
    assert reply.text[-1] == (
        "In part: all of it would take too much effort, so 500 items alone were looked at."
        " A category, a date or longer beginnings of words narrow the search, and it is answered in full."
    )
    assert keys(reply) == keys(whole)
    assert "no item has" not in said(reply)


@pytest.mark.parametrize("query", ["cache", "cache sort:new", "cache topic-of:kv", "zebra"])
@pytest.mark.parametrize(
    ("behind", "told"),
    [
        (
            Behind(1200, timedelta(seconds=3), is_being_made=True),
            "In part: the search index is being made: 1,200 items to go. In some minutes there may be more.",
        ),
        (
            Behind(0, timedelta(minutes=2, seconds=10)),
            "The search index is 2 minutes behind. What was collected last may be missing.",
        ),
        (
            Behind(1, timedelta(seconds=20)),
            "The search index is less than a minute behind: 1 item to go. What was collected last may be missing.",
        ),
    ],
)
async def test_a_search_in_an_index_that_is_behind_says_how_far(
    query: str, behind: Behind, told: str, now: datetime
) -> None:
    store = MemoryStore()
    await store.items.add(PAPERS, now)
    whole = await asker(store, now).ask(f"search {query}")
    reply = await asker(in_part(store, behind=behind), now).ask(f"search {query}")
    assert reply.text[-1] == told
    assert keys(reply) == keys(whole)


async def test_where_nothing_is_found_yet_that_was_collected_a_search_does_not_deny_it(now: datetime) -> None:
    store = in_part(MemoryStore(), behind=Behind(300, timedelta(seconds=1), is_being_made=True))
    reply = await asker(store, now).ask("search cache")
    assert reply.title == "Nothing found"
    assert "300 items to go" in reply.text[-1]


async def test_a_wider_search_that_was_answered_in_part_is_not_said_to_find_nothing(now: datetime) -> None:
    store = MemoryStore()
    await store.items.add(PAPERS, now)
    whole = store.index

    async def search(*asked: Any, limit: int, **how: Any) -> Page:
        page = await whole.search(*asked, limit=limit, **how)
        return replace(page, examined=500) if limit == 1 else page

    store.index = instead(whole, search=search)
    reply = await asker(store, now).ask("search zebras giraffes")
    assert "A wider search finds nothing either." not in reply.text
    assert "Any word" in [each.label for each in reply.buttons]


async def test_before_the_first_collection_a_search_says_so(ada: Asker) -> None:
    empty = MemoryStore()
    await empty.open()

    assert (await asker(empty, ada.now).ask("search cache")).title == "Nothing has been collected yet"


async def test_a_topic_ranks_what_a_search_found_and_leaves_nothing_out(ada: Asker) -> None:
    plain = await ada.ask("search measure")
    ranked = await ada.ask("search measure topic-of:kv")

    assert set(keys(ranked)) == set(keys(plain))
    assert keys(ranked)[0] == "arxiv:2603.00001"
    lines = [entry.lines[-1] for entry in ranked.entries]
    assert "matches *KV cache*" in lines[0]
    assert [line.startswith("score 0.") for line in lines] == [True, True, True, False, False]
    assert lines[-2:] == ["outside KV cache"] * 2
    assert ranked.text[0] == "5 found, ranked for KV cache: of what is found, the 200 best matches."


async def test_a_topic_that_is_not_there_cannot_rank(ada: Asker) -> None:
    with pytest.raises(UsageError, match='no topic "kvv"') as caught:
        await ada.ask("search cache topic-of:kvv")
    assert caught.value.hint == "Did you mean kv?"


async def test_an_entry_without_a_title_is_called_by_its_key(ada: Asker) -> None:
    await ada.context.store.items.add([about(9, "")], ada.now)

    assert "arxiv:2603.00009" in said(await ada.ask("similar arxiv:2603.00009"))


async def test_every_hit_and_everything_close_is_shown_with_what_it_says(ada: Asker) -> None:
    found = [
        paper("2603.00777", title="Zebra stripes", abstract="We count the stripes of a zebra."),
        repo("ada/zebra", abstract="A library that draws a zebra"),
        paper("2603.00778", title="Zebra and nothing else", abstract=""),
    ]
    await ada.context.store.items.add(found, ada.now)
    said_of = {
        "arxiv:2603.00777": "The authors count the stripes of a zebra.",
        "github:ada/zebra": "A library that draws a zebra.",
        "arxiv:2603.00778": "",
    }

    hits = await ada.ask("search zebra")
    assert {key: entry.gist for key, entry in zip(keys(hits), hits.entries, strict=True)} == said_of
    close = await ada.ask("similar 2603.00777")
    assert {entry.item.key: entry.gist for entry in close.entries if entry.item}["github:ada/zebra"] == said_of[
        "github:ada/zebra"
    ]


async def test_a_list_goes_without_where_nothing_can_be_said(ada: Asker) -> None:
    async def silent(items: Sequence[Item]) -> Sequence[str]:
        return [""] * len(items)

    quiet = replace(ada, context=replace(ada.context, gists=silent))

    told, bare = await ada.ask("search cache"), await quiet.ask("search cache")
    assert all(entry.gist for entry in told.entries)
    assert bare == replace(told, entries=tuple(replace(entry, gist="") for entry in told.entries))


PLACES = st.builds(
    Position,
    st.integers(0, 0xFFFF),
    st.integers(0, 2**32 - 1).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.integers(0, 10**16 - 1).map(str) | st.just(""),
)


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("kv cache", "best"),
        ("kv cache sort:best", "best"),
        ("sort:relevance kv", "best"),
        ("SORT:NEW kv", "new"),
        ("kv sort:stars", "stars"),
        ('title:"how to sort:new things"', "best"),
    ],
)
def test_a_search_is_for_the_best_match_unless_it_says_otherwise(text: str, sort: str) -> None:
    assert read_search(text).query.sort == sort


def test_an_empty_search_asks_what_is_sought() -> None:
    with pytest.raises(UsageError, match="What are you looking for") as caught:
        read_search("  ")
    assert caught.value.hint


@given(trees(), st.sampled_from(["new", "best", "stars", "upvotes"]), st.sampled_from(["", "gpu-systems"]))
def test_the_same_search_in_another_order_is_the_same_search(tree: And, sort: str, topic: str) -> None:
    asked = SearchQuery(Query("", tree, "new", topic))

    text = asked.sorted(sort)

    if text:
        again = read_search(text).query
        assert (again.sort, again.topic_of) == (sort, topic)
        assert again.tree == parse(asked.sorted("new")).tree


@given(PLACES, st.text())
def test_a_place_reads_back_and_is_short(place: Position, query: str) -> None:
    token = write_page_token(place, query)

    assert read_page_token(token, query) == place
    assert len(token) <= LONGEST_TOKEN
    assert not set(token) - set("0123456789abcdef.")


@given(PLACES, st.integers(0, 59), st.characters())
def test_a_damaged_place_and_one_of_another_search_are_refused(place: Position, at: int, other: str) -> None:
    token = write_page_token(place, "kv")
    damaged = token[:at] + other + token[at + 1 :]

    with pytest.raises(UsageError, match="damaged, or of another search"):
        read_page_token(token, "cache")
    if damaged != token:
        with pytest.raises(UsageError, match="damaged, or of another search"):
            read_page_token(damaged, "kv")


@given(st.text())
def test_a_made_up_place_is_refused(token: str) -> None:
    with pytest.raises(UsageError):
        read_page_token(token, "kv")


def test_ages_are_reckoned_from_the_first_page_on() -> None:
    place = Position(5, NOW - timedelta(days=1), "12")
    assert read_page_token(write_page_token(place, "kv"), "kv").asked == NOW - timedelta(days=1)


@pytest.fixture
def concepts() -> Concepts:
    return Concepts()


@pytest.fixture
async def ada(now: datetime, concepts: Concepts) -> Asker:
    """Ada, where five papers came in and have their vectors."""
    store = MemoryStore()
    await store.items.add(PAPERS, now - timedelta(hours=2))
    rows = await concepts.embed([text_of_item(each) for each in PAPERS])
    await store.vectors.save(concepts.space, PAPERS, pack(rows), quick=False)
    return asker(store, now, embedder=concepts)


def found(reply: Reply) -> list[str]:
    return [entry.item.key[-1] for entry in reply.entries if entry.item is not None]


def lines(reply: Reply) -> dict[str, str]:
    return {entry.item.key[-1]: entry.lines[-1] for entry in reply.entries if entry.item is not None}


async def test_the_best_match_may_have_none_of_the_words_and_says_that_it_is_close(ada: Asker) -> None:
    reply = await ada.ask("search stove sort:best")
    assert lines(reply) == {"4": "close in meaning"}
    assert (await ada.ask("search stove sort:new")).title == "Nothing found"


async def test_what_has_one_of_the_words_says_where(ada: Asker) -> None:
    assert lines(await ada.ask("search caching machines sort:best"))["1"] == "in the abstract: machines"
    assert "close" not in lines(await ada.ask("search cooking sort:best"))["4"]


async def test_what_is_found_by_its_meaning_keeps_to_the_rest_of_the_search(ada: Asker) -> None:
    assert found(await ada.ask("search memory sort:best")) == ["1", "3", "2"]
    assert found(await ada.ask("search memory -blockchain sort:best")) == ["1", "3"]
    assert found(await ada.ask('search memory "cache lines" sort:best')) == ["2"]
    assert (await ada.ask("search title:memory sort:best")).text[0] == 'No title here has "memory"; close by words:'


async def test_a_search_in_another_order_asks_for_no_vector(ada: Asker, concepts: Concepts) -> None:
    concepts.asked.clear()
    await ada.ask("search cache sort:new")
    await ada.ask("search cat:cs.LG sort:best")
    assert concepts.asked == []


async def test_the_best_match_is_offered_where_only_the_meaning_finds_something(ada: Asker) -> None:
    reply = await ada.ask("search hot stove sort:new")
    assert [each.label for each in reply.buttons] == ["Best match first"]


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
    assert (await meant_text(ada.context, "stove")).near is not None
    concepts.silent = True
    meant = await meant_text(ada.context, "stove", patience=0.01)
    assert (meant.near, meant.notes) == (None, (BY_WORDS,))
    assert "no vector in time" in caplog.text


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("search cache sort:best", True),
        ("search nosuchthing sort:best", True),
        ("search cache topic-of:kv sort:best", True),
        ("similar 2603.00001", False),  # its vector is stored
        ("search cache sort:new", False),
    ],
)
async def test_what_was_not_compared_by_its_meaning_is_said(
    ada: Asker, concepts: Concepts, command: str, told: bool
) -> None:
    assert BY_WORDS not in (await ada.ask(command)).text
    concepts.down = True
    assert (BY_WORDS in (await ada.ask(command)).text) is told


async def test_items_that_cannot_be_found_by_their_meaning_yet_are_told(ada: Asker, now: datetime) -> None:
    assert "vector" not in said(await ada.ask("search cache sort:best"))
    await ada.context.store.items.add([about(6, "Bitcoin explained"), about(7, "Accelerator code")], now)
    for command in ("search cache sort:best", "search stove title:zebra sort:best"):
        assert (await ada.ask(command)).text[-1] == "2 items have no vector yet, and can be found by words alone."
    told = "Compared with 5 of 7 so far; with the rest by words alone."
    assert (await ada.ask("similar 2603.00001")).text == (told,)
    assert "vector" not in said(await ada.ask("search cache sort:new"))


async def test_an_item_without_a_vector_is_compared_by_words_and_that_is_said(
    ada: Asker, concepts: Concepts, now: datetime
) -> None:
    await ada.context.store.items.add([about(6, "Bitcoin explained")], now)
    concepts.down = True
    assert (await ada.ask("similar 2603.00006")).text[-1] == BY_WORDS


async def test_words_that_mean_nothing_to_the_model_are_sought_as_words(ada: Asker) -> None:
    assert found(await ada.ask("search sharding sort:best")) == ["3"]


async def test_similar_items_are_close_by_words_and_by_meaning(ada: Asker, concepts: Concepts, now: datetime) -> None:
    await ada.context.store.items.add([about(6, "Bitcoin explained"), about(7, "Accelerator code")], now)
    items = list((await ada.context.store.items.find(["arxiv:2603.00006", "arxiv:2603.00007"])).values())
    rows = await concepts.embed([text_of_item(each) for each in items])
    await ada.context.store.vectors.save(concepts.space, items, pack(rows), quick=True)
    assert found(await ada.ask("similar 2603.00005"))[0] == "7"
    concepts.asked.clear()
    await ada.ask("similar 2603.00005")
    assert concepts.asked == []  # its vector is stored


async def test_a_long_text_means_the_same_before_its_vector_is_stored_and_after(
    ada: Asker, concepts: Concepts, now: datetime
) -> None:
    item = replace(about(6, "Caches"), abstract="cache " * 300 + "stove " * 300)
    await ada.context.store.items.add([item], now)
    before = (await meant_item(ada.context, item)).near
    await ada.context.store.vectors.save(
        concepts.space, [item], pack(await concepts.embed([text_of_item(item)])), quick=False
    )
    assert before == (await meant_item(ada.context, item)).near


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
    await ada.context.store.items.add([about(6, "Bitcoin explained")], now)
    told = {field.name: field.value for field in (await ada.ask("status")).fields}
    assert told["Meanings"] == "5 of 6 items have a vector"


async def test_why_something_was_found_is_one_short_reason(ada: Asker) -> None:
    item = replace(about(6, "The gated KV cache", authors=("Tri Dao",)), abstract="A compression of the cache lines.")
    told = {
        "kv cache compression": "in the title: kv, cache; in the abstract: compression",
        "the kv cache": "in the title: kv, cache",
        "the of": "",
        "author:dao": "",
        'author:dao title:gate* "cache lines"': 'in the title: gate*; in the abstract: "cache lines"',
        "cache cat:cs.LG -blockchain": "in the title: cache",
        "author:dao cat:cs.LG": "",
        "dao": "among the authors: dao",
        "(gated OR cache OR heat)": "in the title: gated, cache",
        "(cache OR cat:cs.LG)": "in the title: cache; category is cs.LG",
        "heat OR cache cat:cs.LG": "in the title: cache; category is cs.LG",
        "(cache OR stars:>100)": "in the title: cache",
        "(heat OR cat:cs.LG)": "category is cs.LG",
    }
    assert {text: why_found(parse(text).tree, item, ada.now) for text in told} == told


async def test_a_misspelt_word_is_searched_for_as_it_is_spelt_here_and_that_is_said(ada: Asker) -> None:
    reply = await ada.ask("search blokchain cache")
    assert reply.text[0] == 'Searched for *blockchain cache*: nothing here has "blokchain".'
    assert found(reply)[0] == "2"
    assert button(reply, "Newest first") == "search blockchain cache sort:new"


async def test_a_word_that_is_spelt_right_is_not_made_another_one(ada: Asker) -> None:
    await ada.context.store.items.add([about(7, "The store of goods")], ada.now)
    assert "Searched for" not in said(await ada.ask("search kitchen stove"))


async def test_a_word_that_few_have_is_misspelt_where_nothing_has_every_word(ada: Asker) -> None:
    given = [about(100 + number, f"Diffusion transformer {number}") for number in range(100)]
    given += [about(6, "A difusion of heat"), about(7, "The transfomer of currents")]
    await ada.context.store.items.add(given, ada.now)
    reply = await ada.ask("search difusion transfomer")
    assert reply.text[0] == 'Searched for *diffusion transformer*: few here have "difusion" or "transfomer".'
    assert "100 found" in reply.text[1]
    reply = await ada.ask("search difusion transformr")
    assert reply.text[0] == (
        'Searched for *diffusion transformer*: nothing here has "transformr", and few here have "difusion".'
    )
    for typed in ("difusion", "difusion heat", '"difusion" "transfomer"', "difusion gas"):
        assert "Searched for" not in said(await ada.ask(f"search {typed}")), typed


async def test_a_word_is_not_made_one_that_hardly_anything_has_unless_it_fits_the_others(
    now: datetime, tmp_path: Path
) -> None:
    given = [about(1000 + number, f"Paper {number}") for number in range(5000)]
    store = SqliteStore(tmp_path / "search.db")  # in memory each search would look at all of them
    await store.open()
    await store.items.add([*PAPERS, *given, about(6, "Weaving", authors=("Ann Raganelle",))], now)
    ada = asker(store, now)
    for typed in ("raganele", "raganele sleeves"):
        assert "Searched for" not in said(await ada.ask(f"search {typed}")), typed
    for typed in ("weaving raganele", "ann raganele", "author:raganele"):
        reply = await ada.ask(f"search {typed}")
        assert reply.text[0].endswith('nothing here has "raganele".'), typed
        assert found(reply) == ["6"], typed
    await store.close()


async def test_a_name_alone_is_an_author(ada: Asker) -> None:
    given = [
        about(6, "Fast attention", authors=("Tri Dao",)),
        about(7, "Dao of try", authors=("Ann Lee",)),
        about(8, "Scholar", authors=("Jürgen Müller",)),
    ]
    await ada.context.store.items.add(given, ada.now)
    for typed in ("Tri Dao", "tri dao", "papers by Tri Dao", "T. Dao", "what has Tri Dao written lately?", "Dao, Tri"):
        assert found(await ada.ask(f"search {typed}")) == ["6"], typed
    reply = await ada.ask("search Jurgen Mullerr")
    assert reply.text == (
        'Searched for *Jürgen Müller*: nothing here has "mullerr".',
        '1 found, with *author:"Jürgen Müller"*, newest first.',
    )


async def test_by_whom_is_a_filter_where_somebody_of_that_name_is_here(ada: Asker) -> None:
    await ada.context.store.items.add([about(6, "Paging the cache again", authors=("Rui Mao",))], ada.now)
    reply = await ada.ask("search papers on paging by Mao")
    assert reply.text[0] == '1 found, with *author:"Mao"*, best match first.'
    assert found(reply) == ["6"]
    assert set(found(await ada.ask("search kernels by hand"))) >= {"5"}


async def test_that_nobody_of_a_name_is_here_is_said(ada: Asker) -> None:
    reply = await ada.ask("search papers on paging by Zebulon Crickmarsh")
    assert reply.text[0] == 'Nobody of the name "Zebulon Crickmarsh" is here; close by words:'
    assert "1" in found(reply)
    reply = await ada.ask('search author:"Zebulon Crickmarsh"')
    assert (reply.title, reply.text[0]) == ("Nothing found", 'Nobody of the name "Zebulon Crickmarsh" is here.')
    reply = await ada.ask('search title:"paging for a cache"')
    assert reply.text[0] == 'No title here has "paging for a cache"; close by words:'
    assert found(reply)[0] == "1"


async def test_an_abbreviation_finds_what_it_stands_for_on_every_page(ada: Asker) -> None:
    long = [about(10 + number, f"Retrieval-augmented generation {number}") for number in range(6)]
    short = [about(20 + number, f"RAG {number}") for number in range(6)]
    await ada.context.store.items.add([*long, *short, about(30, "Retrieval-Augmented Generation (RAG)")], ada.now)
    for typed in ("RAG", "retrieval-augmented generation", "retrieval augmented generation"):
        assert len(await leaf(ada, await ada.ask(f"search {typed}"))) == 13
