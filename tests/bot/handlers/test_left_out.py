"""What the last digest left out, as it is asked for."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.errors import UsageError
from bot.models import LeftOut, Reply
from tests.bot.handlers.askers import Asker, about, button, said

DAY = timedelta(days=1)
LETTERS = "abcdefghijklmnopqrst"


@pytest.fixture
async def later(ada: Asker) -> Asker:
    """Ada, whose channel was posted the two best of twenty papers about caches."""
    await ada.ask("subscribe kv daily at 12:00 top 2")
    fresh = [about(20 + place, f"A cache of {letter * 9} and {letter * 7}") for place, letter in enumerate(LETTERS)]
    await ada.context.store.items.add(fresh, ada.now)
    await post(ada)
    return ada


async def post(asker: Asker) -> None:
    digest = (await asker.ask("now kv")).digests[0]
    await asker.context.store.digests.save(asker.actor.workspace, asker.actor.channel, digest, asker.now)


def titles(reply: Reply) -> list[str]:
    return [each.item.title if each.item else each.title for each in reply.entries]


async def test_the_rest_is_listed_a_title_each_numbered_on_from_the_digest(later: Asker) -> None:
    first = await later.ask("rest kv")
    second = await later.ask(button(first, "Next"))

    assert first.title == "18 more on topic for KV cache"
    assert first.text == ("What the digest of Wednesday 1 April has no place for, the best first.",)
    assert (first.first, len(first.entries), second.first, len(second.entries)) == (3, 15, 18, 3)
    assert all(each.title_only and each.item for each in first.entries)
    assert [each.label for each in first.entries[0].buttons] == ["Details", "More like this", "Save"]
    assert first.entries[0].buttons[0].command.endswith(" for kv"), "its card is as the topic ranks it"
    assert len({*titles(first), *titles(second)}) == 18
    assert "*more 3 for kv* and *save 3 for kv* take these numbers." in first.next_steps
    assert button(second, "Back") == "rest kv"
    assert first.private
    with pytest.raises(UsageError, match="The list fills 2 pages"):
        await later.ask("rest kv page 3")


async def test_a_digest_of_before_is_not_said_to_have_left_nothing_out(later: Asker) -> None:
    tomorrow = later.at(later.now + DAY)
    made = (await tomorrow.ask("now kv")).digests[0]
    before = replace(made, left_out=(), above=0, cap=0, min_score=0.0)  # what that edition did not write
    await later.context.store.digests.save(later.actor.workspace, later.actor.channel, before, tomorrow.now)

    reply = await tomorrow.ask("rest kv")

    assert reply.title == "What else was on topic for KV cache was not noted"
    assert reply.text == ("The digest of Thursday 2 April is older than that.",)


async def test_what_is_counted_and_not_listed_is_said(later: Asker) -> None:
    tomorrow = later.at(later.now + DAY)
    made = (await tomorrow.ask("now kv")).digests[0]
    over = tuple(LeftOut(f"arxiv:2603.{number:05}", "over the cap", number, 0.5) for number in range(3, 103))
    long = replace(made, left_out=over, others=1204)
    await later.context.store.digests.save(later.actor.workspace, later.actor.channel, long, tomorrow.now)

    reply = await tomorrow.ask("rest kv")

    assert reply.title == "1,204 more on topic for KV cache"
    assert reply.text == ("What the digest of Thursday 2 April has no place for, the best first: the first 100.",)


async def test_its_numbers_are_taken_wherever_an_item_is_named(later: Asker) -> None:
    listed = titles(await later.ask("rest kv"))

    assert titles(await later.ask("save 3")) == listed[:1]
    assert listed[1] in said(await later.ask("more 4"))
    assert (await later.ask("why 5 for kv")).title == f"Why: {listed[2]}"


async def test_more_of_what_a_digest_left_out_is_for_its_topic_though_others_are_subscribed_here(later: Asker) -> None:
    await later.ask("subscribe gpu-systems")

    assert (await later.ask("more 3")).title == "More like this in KV cache"


async def test_what_is_not_kept_any_more_is_told_by_its_key(later: Asker) -> None:
    listed = await later.ask("rest kv")
    gone = listed.entries[0].item
    assert gone is not None
    await later.context.store.items.add([], later.now, retired=[gone.key])

    assert titles(await later.ask("rest kv"))[0] == gone.key


async def test_it_says_so_where_nothing_else_was_on_topic_or_nothing_was_posted(ada: Asker) -> None:
    assert (await ada.ask("rest kv")).title == "No digest of KV cache was posted here yet"
    await ada.ask("subscribe gpu-systems")
    await ada.context.store.items.add([about(30, "A GPU")], ada.now)
    digest = (await ada.ask("now gpu-systems")).digests[0]
    await ada.context.store.digests.save(ada.actor.workspace, "C1", replace(digest, left_out=()), ada.now)

    assert (await ada.ask("rest gpu-systems")).title == "Nothing else was on topic for GPU systems"
    with pytest.raises(UsageError, match="There is no topic"):
        await ada.ask("rest nothing")


async def test_the_rest_of_an_earlier_digest_is_listed_by_its_day_and_its_numbers_are_not_taken(later: Asker) -> None:
    before = titles(await later.ask("rest kv"))
    tomorrow = later.at(later.now + DAY)
    await post(tomorrow)

    reply = await tomorrow.ask("rest kv on 2026-04-01")

    assert titles(reply) == before
    assert reply.next_steps == (
        "Name one by its title or link: numbers are those of the last digest in the channel where you use them.",
    )
    assert button(reply, "Next") == "rest kv on 2026-04-01 page 2"
    assert titles(await tomorrow.ask("rest kv"))[0] != before[0]
    with pytest.raises(UsageError, match="No digest of KV cache of that day is known here"):
        await tomorrow.ask("rest kv on 2026-03-01")
    with pytest.raises(UsageError, match='"monday" is no day'):
        await tomorrow.ask("rest kv on monday")
