"""What is told of what is similar: only what both say of themselves."""

from dataclasses import replace

import pytest

from bot.handlers.search.similar import common_ground
from bot.models import Hit, Item, Kind
from tests.bot.handlers.askers import Asker, about
from tests.fakes.works import paper, repo

MINE = paper(
    "2603.00001",
    title="Evicting the KV cache",
    authors=("Tri Dao", "Ada Núñez", "Alan Turing"),
    categories=("cs.CL", "cs.LG"),
)


def other(**changes: object) -> Item:
    return replace(paper("2603.00002", title="Another", authors=("Eve",), categories=("stat.ML",)), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "shared", "told"),
    [
        (other(), (), "Close in meaning"),
        (other(), ("KV cache", "eviction"), "Both: *KV cache*, *eviction*"),
        (other(categories=("cs.LG", "cs.CL")), ("KV cache",), "Both: *KV cache*; cs.CL"),
        (other(categories=("cs.LG",)), (), "Close in meaning; both cs.LG"),
        (other(authors=("Bob", "ada nunez")), ("KV cache",), "Both: *KV cache*; by Ada Núñez"),
        (
            other(authors=MINE.authors, categories=("cs.CL",)),
            ("eviction",),
            "Both: *eviction*; by Tri Dao, Ada Núñez and 1 more; cs.CL",
        ),
        (
            replace(repo("lab/again"), kind=Kind.REPO, paper="arxiv:2603.00001", authors=(), categories=()),
            ("eviction",),
            "Code of this paper. Both: *eviction*",
        ),
    ],
)
def test_what_both_have_in_common_is_told_and_nothing_else(found: Item, shared: tuple[str, ...], told: str) -> None:
    assert common_ground(MINE, Hit(found, 0.5, shared=shared)) == told


def test_two_repositories_have_their_language_in_common() -> None:
    mine, theirs = (replace(repo(name), language="Rust", authors=(), categories=()) for name in ("a/b", "c/d"))
    assert common_ground(mine, Hit(theirs, 0.5)) == "Close in meaning; both Rust"
    assert common_ground(mine, Hit(replace(theirs, language="Go"), 0.5)) == "Close in meaning"


async def test_each_entry_says_what_it_shares(ada: Asker) -> None:
    await ada.context.store.items.add([about(6, "The KV cache in pages")], ada.now)
    reply = await ada.ask("similar 2603.00001")

    assert reply.title == "Close to Paging the KV cache"
    assert next(entry.item.key for entry in reply.entries if entry.item is not None) == "arxiv:2603.00006"
    assert reply.entries[0].lines == ("Both: *KV cache*; by Ada Lovelace, Alan Turing; cs.LG",)


async def test_where_nothing_is_close_that_is_the_answer(ada: Asker) -> None:
    strange = replace(about(9, "Zwölf Boxkämpfer"), abstract="Jagen Viktor quer.")
    await ada.context.store.items.add([strange], ada.now)

    reply = await ada.ask("similar 2603.00009")
    assert reply.title == "Nothing here is close to Zwölf Boxkämpfer"
    assert not reply.entries


async def test_what_shares_a_common_word_is_not_offered(ada: Asker) -> None:
    wine = replace(about(9, "A study of zweigelt"), abstract="We show by hand how a grape ripens, in gas and in oak.")
    await ada.context.store.items.add([wine], ada.now)

    assert (await ada.ask("similar 2603.00009")).title == "Nothing here is close to A study of zweigelt"
