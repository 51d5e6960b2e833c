import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.commands import EditTopic, Part
from bot.errors import Conflict, Unclear, UsageError
from bot.models import Change, Interest
from bot.query import parse as parse_query
from tests.bot.handlers.askers import PACKS, Asker, about, button, changes, said, topic

PACK = PACKS[0]


async def test_editing_a_pack_makes_a_copy_of_the_workspaces_own_and_says_so(ada: Asker) -> None:
    reply = await ada.ask("topic edit kv title Caches of all kinds")

    assert await topic(ada) == replace(PACK, title="Caches of all kinds", revision=1)
    assert "you have your own copy from now on" in said(reply)
    assert "own copy" not in said(await ada.ask("topic edit kv title Caches"))


@pytest.mark.parametrize(
    ("part", "changed", "text"),
    [
        ("title Caches", {"title": "Caches"}, ("It was: KV cache", "It is now: Caches")),
        (
            "description All  about\ncaches",
            {"description": "All about caches"},
            ("It was: Caches of keys and values.", "It is now: All about caches"),
        ),
        ('description ""', {"description": ""}, ("It was: Caches of keys and values.", "It is now: empty")),
        ("query KV OR cache", {"query": parse_query("KV OR cache")}, ("It was: cache", "It is now: KV OR cache")),
        ("sources arxiv feed:lab", {"sources": ("arxiv", "feed:lab")}, ("It was: all", "It is now: arxiv, feed:lab")),
        (
            "categories cs.ro, stat.*",
            {"categories": ("cs.RO", "stat.AP", "stat.CO", "stat.ME", "stat.ML", "stat.OT", "stat.TH")},
            ("It was: none", "It is now: cs.RO, stat.AP, stat.CO, stat.ME, stat.ML, stat.OT, stat.TH"),
        ),
        ("min 0,25", {"min_score": 0.25}, ("It was: 0", "It is now: 0.25")),
        (
            "interest weight 2.5 CUDA OR ROCm",
            {"interests": (*PACK.interests, Interest("CUDA OR ROCm", 2.5))},
            ("New: weight 2.5 CUDA OR ROCm",),
        ),
        (
            "interest weight -1 PAGING",
            {"interests": (PACK.interests[0], Interest("paging", -1.0))},
            ("Gone: weight 1 paging", "New: weight -1 paging"),
        ),
        ("remove interest 1", {"interests": PACK.interests[1:]}, ('Gone: weight 2 "KV cache"',)),
        ("remove interest PAGING", {"interests": PACK.interests[:1]}, ("Gone: weight 1 paging",)),
        (
            "example https://arxiv.org/abs/2603.00003v2",
            {"examples": (*PACK.examples, "arxiv:2603.00003")},
            ("New: arxiv:2603.00003", "It is Sharding a cache in CUDA (arxiv:2603.00003)."),
        ),
        (
            "example keys that are evicted early",
            {"examples": (*PACK.examples, "keys that are evicted early")},
            ("New: keys that are evicted early", "It is taken as a text to be close to, as no item is called so."),
        ),
        ("remove example 2603.00001", {"examples": PACK.examples[1:]}, ("Gone: arxiv:2603.00001",)),
        (
            "remove example 2",
            {"examples": PACK.examples[:1]},
            ("Gone: Keys and values in blocks that need not lie side by side.",),
        ),
        ("repositories topic:cuda stars:>5", {"repositories": ("topic:cuda stars:>5",)}, ("New: topic:cuda stars:>5",)),
    ],
)
async def test_each_part_is_changed_alone_and_the_change_is_told_and_undone(
    ada: Asker, part: str, changed: dict[str, object], text: tuple[str, ...]
) -> None:
    reply = await ada.ask(f"topic edit kv {part}")

    after = await topic(ada)
    assert after == replace(PACK, revision=1, **changed)  # type: ignore[arg-type]
    assert reply.text[: len(text)] == text
    assert not reply.private

    await ada.ask(button(reply, "Undo"))
    undone = await topic(ada)
    assert replace(undone, revision=0, interests=(), examples=()) == replace(PACK, interests=(), examples=())
    assert set(undone.interests) == set(PACK.interests)
    assert set(undone.examples) == set(PACK.examples)


async def test_a_new_query_is_tried_at_once(ada: Asker) -> None:
    reply = await ada.ask("topic edit kv query CUDA")

    assert "1 of the 5 items of the last 7 days enters it; the best:" in reply.text
    assert [each.item.title for each in reply.entries if each.item] == ["Sharding a cache in CUDA"]


@pytest.mark.parametrize(
    "part",
    [
        "title KV cache",
        "query Cache",
        "sources all",
        "categories none",
        "min 0.0",
        "interest weight 2 'kv cache'".replace("'", '"'),
        "example 2603.00001",
    ],
)
async def test_what_is_so_already_is_not_written_again(ada: Asker, part: str) -> None:
    reply = await ada.ask(f"topic edit kv {part}")

    assert reply.title == "KV cache is so already"
    assert not await changes(ada)
    assert not await ada.context.store.workspaces.topics(ada.actor.workspace)


@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        (Part.TITLE, "x" * 81, "80 characters"),
        (Part.TITLE, " \n", "Say what the title is to be"),
        (Part.DESCRIPTION, "x" * 2001, "2,000 characters"),
        (Part.QUERY, "(a", "never closed"),
        (Part.QUERY, "a sort:new", "belong to a search"),
        (Part.QUERY, "sort:best", "Say what is to enter"),
        (Part.INTEREST, "stras:>5", "no field `stras:`"),
        (Part.INTEREST, "*", "needs something to look for"),
        (Part.EXAMPLE, "2603.99999", "not among the items"),
        (Part.EXAMPLE, "word " * 500, "2,000 characters"),
        (Part.SOURCES, "arxiv, medrxiv", 'There is no source "medrxiv"'),
        (Part.CATEGORIES, "cs.AI, cs.XX", 'arXiv has no category "cs.XX"'),
        (Part.CATEGORIES, "cs.*", "may need 20 categories; these are 40"),
        (Part.MIN, "1.5", "between 0 and 1"),
        (Part.MIN, "nan", "between 0 and 1"),
        (Part.MIN, "much", "between 0 and 1"),
        (Part.REPOSITORIES, "x" * 257, "has 257 characters; there is room for 220"),
        (Part.REPOSITORIES, "topik:cuda", "unknown qualifier, topik:"),
        (Part.REPOSITORIES, "a OR b OR c OR d OR e OR f OR g", "GitHub takes at most 5"),
    ],
)
async def test_a_value_that_a_part_cannot_take_is_refused_before_anything_is_written(
    ada: Asker, part: Part, value: str, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence.replace("(", r"\(")):
        await ada.give(EditTopic(name="kv", part=part, value=value))
    assert not await changes(ada)


@pytest.mark.parametrize("weight", [0.0, 11.0, float("nan"), float("-inf")])
async def test_a_weight_lies_within_bounds(ada: Asker, weight: float) -> None:
    with pytest.raises(UsageError, match="between -10 and 10"):
        await ada.give(EditTopic(name="kv", part=Part.INTEREST, value="a", weight=weight))


@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        (Part.INTEREST, "3", "The topic has no interest 3"),
        (Part.EXAMPLE, "2603.00005", "The topic has no example 2603.00005"),
        (Part.REPOSITORIES, "topic:x", "The topic has no repository search topic:x"),
        (Part.TITLE, "KV cache", "always has a title"),
    ],
)
async def test_what_is_not_there_cannot_be_removed(ada: Asker, part: Part, value: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        await ada.give(EditTopic(name="kv", part=part, value=value, remove=True))


async def test_a_topic_takes_only_so_many_interests(ada: Asker) -> None:
    crowded = replace(PACK, interests=tuple(Interest(f"word{number}") for number in range(100)))
    note = Change(workspace=ada.actor.workspace, at=ada.now, person="U1", what="topic kv")
    await ada.context.store.workspaces.save_topic(ada.actor.workspace, crowded, note, replaces=0)

    with pytest.raises(UsageError, match="100 interests"):
        await ada.ask("topic edit kv interest another")
    assert (await ada.ask("topic edit kv interest weight 3 word7")).title == "Changed the interests of KV cache"


async def test_an_example_that_may_be_several_items_is_asked_about(ada: Asker) -> None:
    await ada.context.store.items.add([about(7, "Twin caches"), about(8, "Twin caches again")], ada.now)

    with pytest.raises(Unclear) as raised:
        await ada.ask("topic edit kv example twin")
    assert raised.value.field == "value"
    assert len(raised.value.choices) == 2


# --- two at once


async def test_an_edit_of_an_outdated_revision_says_how_it_stands_and_who_changed_it(ada: Asker) -> None:
    await ada.by(person="U-bob").ask("topic edit kv query caches OR stores")

    with pytest.raises(Conflict) as raised:
        await ada.at(ada.now + timedelta(minutes=3)).ask("topic edit kv rev=0 query keys")

    assert str(raised.value) == (
        "kv is in revision 1 now, by U-bob, 3 minutes ago; nothing was changed. Its query now: caches OR stores."
    )
    assert "rev=1" in raised.value.hint
    assert (await ada.ask("topic edit kv rev=1 query keys")).title == "Changed the query of KV cache"


async def test_edits_of_different_parts_at_once_are_all_kept(ada: Asker) -> None:
    parts = ("title Caches", "min 0.3", "sources arxiv", "interest eviction", "interest weight 3 offloading")

    await asyncio.gather(*(ada.ask(f"topic edit kv {part}") for part in parts))

    after = await topic(ada)
    assert (after.title, after.min_score, after.sources) == ("Caches", 0.3, ("arxiv",))
    assert {each.clause for each in after.interests} == {'"KV cache"', "paging", "eviction", "offloading"}
    assert after.revision == len(await changes(ada)) == 5


async def test_of_two_edits_of_one_part_at_once_the_second_is_told_and_loses_nothing(ada: Asker) -> None:
    outcomes = await asyncio.gather(
        *(ada.by(person=f"U{word}").ask(f"topic edit kv query {word}") for word in ("keys", "values")),
        return_exceptions=True,
    )

    (refused,) = [each for each in outcomes if isinstance(each, Conflict)]
    winner = (await topic(ada)).query.text
    assert str(refused).endswith(f"Its query now: {winner}.")
    assert f"by U{winner}" in str(refused)


async def test_an_edit_of_a_topic_that_is_being_deleted_gets_a_clear_answer(ada: Asker) -> None:
    await ada.ask("topic create new GPU")

    outcomes = await asyncio.gather(
        ada.ask("topic delete new"), ada.ask("topic edit new title Newer"), return_exceptions=True
    )

    assert all(not isinstance(each, Exception) or isinstance(each, UsageError) for each in outcomes)
    assert not await ada.context.store.workspaces.topics(ada.actor.workspace)
