from datetime import timedelta

import pytest

from bot.errors import UsageError
from bot.models import Item
from tests.bot.handlers.askers import Asker, about, said
from tests.fakes.works import repo


async def collected(ada: Asker, upvoted: int = 2) -> None:
    """Some papers with upvotes, and repositories that gained stars since the day before."""
    papers = [about(20 + each, f"Paper {each}", upvotes=100 - each, published=ada.now) for each in range(upvoted)]

    def rose(name: str, stars: int, **given: object) -> Item:
        return repo(name, updated=ada.now, stars=stars, **given)

    await ada.context.store.items.add([rose("a/fast", 100), rose("a/slow", 100)], ada.now - timedelta(days=1))
    await ada.context.store.items.add([*papers, rose("a/fast", 1300), rose("a/slow", 150)], ada.now)


async def test_papers_and_repositories_are_told_in_turn_with_what_they_gained(ada: Asker) -> None:
    await collected(ada)

    reply = await ada.ask("trending")

    assert reply.private
    assert [(entry.item.title, entry.lines) for entry in reply.entries if entry.item] == [
        ("Paper 0", ()),
        ("a/fast", ("★ +1,200 in 1 day",)),
        ("Paper 1", ()),
        ("a/slow", ("★ +50 in 1 day",)),
    ]
    assert [button.command for button in reply.buttons] == ["trending papers", "trending repos"]


async def test_one_kind_alone_is_paged(ada: Asker) -> None:
    await collected(ada, upvoted=7)

    first, second = await ada.ask("top papers"), await ada.ask("trending papers page 2")

    assert [len(first.entries), len(second.entries), second.first] == [5, 2, 6]
    assert ("Next", "trending papers page 2") in [(each.label, each.command) for each in first.buttons]
    assert "a/fast" not in said(first)
    assert {entry.item.key for entry in (await ada.ask("hot repos")).entries if entry.item} == {
        "github:a/fast",
        "github:a/slow",
    }
    with pytest.raises(UsageError, match="It has 2 pages"):
        await ada.ask("trending papers page 3")


async def test_the_code_of_a_paper_that_trends_is_not_told_twice(ada: Asker) -> None:
    await collected(ada)
    linked = about(40, "With code", upvotes=500, published=ada.now, repo="github:a/fast")
    await ada.context.store.items.add([linked], ada.now)

    told = [entry.item.key for entry in (await ada.ask("trending")).entries if entry.item]

    assert told[0] == "arxiv:2603.00040"
    assert "github:a/fast" not in told
    assert "github:a/slow" in told


async def test_where_nothing_trends_it_is_said_why(ada: Asker) -> None:
    reply = await ada.ask("trending")

    assert reply.title == "Nothing trends among what was collected in the last 7 days"
    assert not reply.entries
