from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.commands import Search
from bot.errors import UsageError
from bot.handlers.finding import PAGE
from bot.models import Item, Reply
from tests.bot.handlers.askers import Asker, about, asker, button, said
from tests.fakes.works import paper, repo
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


async def test_a_search_says_how_far_it_looked_and_why_each_was_found(ada: Asker) -> None:
    reply = await ada.ask("search cache")

    assert reply.title == "Found for: cache"
    assert reply.text == ("Newest first, in the last 90 days (repositories of any age); add *published:1y* for more.",)
    assert set(keys(reply)) == {"arxiv:2603.00001", "arxiv:2603.00002", "arxiv:2603.00003"}
    assert all(entry.lines == ('title has "cache"',) for entry in reply.entries)
    assert reply.private


async def test_each_entry_offers_more_less_save_and_similar(ada: Asker) -> None:
    (entry,) = (await ada.ask("search gas")).entries

    assert [each.command for each in entry.buttons] == [
        "more arxiv:2603.00004",
        "less arxiv:2603.00004",
        "save arxiv:2603.00004",
        "similar arxiv:2603.00004",
    ]


async def test_old_papers_need_a_date_or_a_tap_and_repositories_do_not(ada: Asker) -> None:
    long_ago = ada.now - timedelta(days=200)
    code = repo("ada/ferrofluid", abstract="Ferrofluid pumps.", published=long_ago)
    await ada.context.store.add([about(8, "Ferrofluid", published=long_ago, appeared=long_ago), code], ada.now)

    assert keys(await ada.ask("search ferrofluid")) == ["github:ada/ferrofluid"]
    assert keys(await ada.ask("search ferrofluid published:1y kind:paper")) == ["arxiv:2603.00008"]
    reply = await ada.ask("search ferrofluid kind:paper")
    assert (reply.title, reply.text) == ("Nothing found", ("No item fits in the last 90 days.",))
    assert keys(await ada.ask(button(reply, "All time"))) == ["arxiv:2603.00008"]


async def test_pages_put_together_are_the_list_whatever_comes_in_between(ada: Asker) -> None:
    await ada.context.store.add([about(100 + number, f"Tokamak {number}") for number in range(12)], ada.now)
    first = await ada.ask("search tokamak")
    await ada.context.store.add([about(200, "Tokamak news", appeared=ada.now)], ada.now + timedelta(hours=1))

    found = await leaf(ada.at(ada.now + timedelta(hours=2)), first)

    assert sorted(found) == [f"arxiv:2603.{100 + number:05}" for number in range(12)]
    assert "arxiv:2603.00200" in keys(await ada.ask("search tokamak"))


async def test_one_can_leaf_back(ada: Asker) -> None:
    await ada.context.store.add([about(100 + number, f"Tokamak {number}") for number in range(7)], ada.now)
    first = await ada.ask("search tokamak sort:best")

    second = await ada.ask(button(first, f"Next {PAGE}"))

    assert keys(await ada.ask(button(second, "Back"))) == keys(first)
    assert f"Next {PAGE}" not in [each.label for each in second.buttons]


async def test_a_page_of_another_search_is_refused(ada: Asker) -> None:
    await ada.context.store.add([about(100 + number, f"Tokamak {number}") for number in range(7)], ada.now)
    page = button(await ada.ask("search tokamak"), f"Next {PAGE}").split()[1].removeprefix("page=")

    with pytest.raises(UsageError, match="damaged, or of another search"):
        await ada.give(Search("cache", page))


async def test_the_order_is_a_tap_away(ada: Asker) -> None:
    newest = await ada.ask("search cache paging")
    assert keys(newest) == ["arxiv:2603.00001"]

    best = await ada.ask(button(newest, "Best match first"))

    assert keys(best)[0] == "arxiv:2603.00001"
    assert len(keys(best)) == 3
    assert best.text[0].startswith("Best match first, in the last 90 days")
    assert keys(await ada.ask(button(best, "Newest first"))) == keys(newest)


async def test_where_no_item_has_all_words_any_of_them_are_offered(ada: Asker) -> None:
    reply = await ada.ask("search cooking blockchain")

    assert reply.text == ("No item has all of these words in the last 90 days.",)
    assert [each.label for each in reply.buttons] == ["Any of the words", "Any of the words, all time"]
    assert set(keys(await ada.ask(button(reply, "Any of the words")))) == {"arxiv:2603.00002", "arxiv:2603.00004"}


async def test_only_searches_that_find_something_are_offered(ada: Asker) -> None:
    reply = await ada.ask("search zebras giraffes")

    assert reply.text == ("No item has all of these words in the last 90 days.", "A wider search finds nothing either.")
    assert reply.buttons == ()
    assert reply.next_steps


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
    assert ranked.text[0].startswith("Ranked for KV cache: of what is found, the 200 newest")


async def test_a_topic_that_is_not_there_cannot_rank(ada: Asker) -> None:
    with pytest.raises(UsageError, match='no topic "kvv"') as caught:
        await ada.ask("search cache topic-of:kvv")
    assert caught.value.hint == "Did you mean kv?"


async def test_similar_shows_the_closest_with_how_close_they_are(ada: Asker) -> None:
    reply = await ada.ask("similar 2603.00001")

    assert reply.title == "Close to Paging the KV cache"
    assert "arxiv:2603.00001" not in keys(reply)
    assert keys(reply)[0] in ("arxiv:2603.00002", "arxiv:2603.00003")
    assert reply.entries[0].lines[0].startswith("closeness 0.")


async def test_where_nothing_is_close_it_says_so(ada: Asker) -> None:
    await ada.context.store.add([replace(about(9, "Zwölf Boxkämpfer"), abstract="Jagen Viktor quer.")], ada.now)

    assert (await ada.ask("similar 2603.00009")).title == "Nothing is close to Zwölf Boxkämpfer"


async def test_an_entry_without_a_title_is_called_by_its_key(ada: Asker) -> None:
    await ada.context.store.add([about(9, "")], ada.now)

    assert "arxiv:2603.00009" in said(await ada.ask("similar arxiv:2603.00009"))


async def test_every_hit_and_everything_close_is_shown_with_what_it_says(ada: Asker) -> None:
    found = [
        paper("2603.00777", title="Zebra stripes", abstract="We count the stripes of a zebra."),
        repo("ada/zebra", abstract="A library that draws a zebra"),
        paper("2603.00778", title="Zebra and nothing else", abstract=""),
    ]
    await ada.context.store.add(found, ada.now)
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
