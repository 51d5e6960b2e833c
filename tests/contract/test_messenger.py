"""What the ledger asks of every platform's Messenger. A platform joins by one line in tests.contract.messengers."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.delivery import delivery_id, sealed
from bot.errors import Delayed, Reach, Refused, Rejected, Uncertain
from bot.models import Delivery, Digest, Layout, Presses
from tests.conftest import NOW
from tests.contract.messengers import BENCHES, Bench
from tests.fakes.digests import EMPTY, GPU, HOSTILE
from tests.fakes.looks import seek
from tests.fakes.transcript import delivery


@pytest.fixture(params=BENCHES)
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    async with BENCHES[request.param](tmp_path) as opened:
        yield opened


async def of_a_digest(bench: Bench, number: int = 1, *, topic: str = "gpu-systems") -> Delivery:
    """Return the delivery of a real digest, as the ledger makes it."""
    digest = replace(GPU, topic=topic)
    payload = (await asyncio.to_thread(bench.messenger.render, digest, layout=Layout.FULL, late=False))[0]
    name = delivery_id(f"s{number}", NOW.date(), 0, 1)
    plain = delivery(number, now=NOW, topic=topic, payload=payload, seal=sealed(payload))
    return replace(plain, id=name, workspace=bench.workspace, channel=bench.channel, first_try=NOW)


async def test_what_is_sent_stands_there_with_every_entry_under_the_name_that_is_returned(bench: Bench) -> None:
    sent = await of_a_digest(bench)
    name = await bench.messenger.send(sent)

    (seen,) = bench.seen()
    assert name
    for each in GPU.entries:
        assert each.ranked.item.title in seen or each.ranked.item.key in seen
    if bench.messenger.abilities.finds:
        assert await seek(bench.messenger, sent) == name


async def test_what_was_posted_has_an_address_of_its_own_or_none(bench: Bench) -> None:
    posted = [replace(await of_a_digest(bench, number), message=f"m{number}") for number in (1, 2)]
    links = [bench.messenger.link(each) for each in posted]

    assert links[0] != links[1] or links == ["", ""]


async def test_sending_again_within_the_nonces_time_posts_nothing_new(bench: Bench) -> None:
    if not bench.messenger.abilities.nonce_window and bench.limit is not None:
        pytest.skip("it says that it remembers nothing")
    sent = await of_a_digest(bench)
    names = [await bench.messenger.send(sent), await bench.messenger.send(replace(sent, token=2, attempts=2))]

    assert len(bench.seen()) == 1
    assert names[0] == names[1]


async def test_two_deliveries_are_two_messages_though_they_say_the_same(bench: Bench) -> None:
    one, other = await of_a_digest(bench, 1), await of_a_digest(bench, 2)
    names = {await bench.messenger.send(one), await bench.messenger.send(other)}

    assert len(bench.seen()) == len(names) == 2
    if bench.messenger.abilities.finds:
        assert {await seek(bench.messenger, one), await seek(bench.messenger, other)} == names


async def test_what_was_never_sent_is_not_found(bench: Bench) -> None:
    if not bench.messenger.abilities.finds:
        pytest.skip("it finds nothing")
    assert await seek(bench.messenger, await of_a_digest(bench)) == ""
    await bench.messenger.send(await of_a_digest(bench, 1))
    assert await seek(bench.messenger, await of_a_digest(bench, 2)) == ""
    assert await seek(bench.messenger, await of_a_digest(bench, 1, topic="databases")) == "" or bench.limit is not None


async def test_a_refusal_is_raised_as_one_and_nothing_stands_there(bench: Bench) -> None:
    bench.refuse()
    with pytest.raises(Refused, match=r"\.$"):
        await bench.messenger.send(await of_a_digest(bench))
    assert bench.seen() == []


async def test_what_is_refused_for_no_known_reason_is_raised_as_such_with_what_names_the_failure(bench: Bench) -> None:
    if not bench.reject():
        pytest.skip("every reason is known")
    sent = await of_a_digest(bench)
    with pytest.raises(Rejected, match=r"\.$") as caught:
        await bench.messenger.send(sent)
    assert caught.value.failure
    assert caught.value.failure in str(caught.value)
    assert sent.channel not in caught.value.failure
    assert sent.id not in caught.value.failure
    assert bench.seen() == []


async def test_what_a_proxy_says_is_no_word_of_the_platforms(bench: Bench) -> None:
    if not bench.intercept():
        pytest.skip("nothing stands in between")
    with pytest.raises(Delayed, match=r"\.$") as caught:
        await bench.messenger.send(await of_a_digest(bench))
    assert (caught.value.reach, caught.value.retry_after) == (Reach.PLATFORM, None)
    assert bench.seen() == []


async def test_a_delay_is_raised_as_one_with_the_wait_that_was_asked_for(bench: Bench) -> None:
    wait = bench.delay()
    with pytest.raises(Delayed, match=r"\.$") as caught:
        await bench.messenger.send(await of_a_digest(bench))
    assert caught.value.retry_after == wait
    assert bench.seen() == []


async def test_a_lost_answer_is_raised_as_uncertain(bench: Bench) -> None:
    if not bench.lose():
        pytest.skip("no answer can be lost on the way from a disk")
    with pytest.raises(Uncertain, match=r"\.$"):
        await bench.messenger.send(await of_a_digest(bench))
    assert len(bench.seen()) == 1


async def posted(bench: Bench) -> Delivery:
    """Return a delivery that stands in its channel."""
    if not bench.messenger.abilities.edits:
        pytest.skip("it edits nothing")
    sent = await of_a_digest(bench)
    return replace(sent, message=await bench.messenger.send(sent))


async def test_an_edited_message_says_at_its_end_what_was_pressed_and_else_what_it_said(bench: Bench) -> None:
    standing = await posted(bench)
    (before,) = bench.seen()
    assert "Readers" not in before
    for number, (presses, line) in enumerate(
        (
            (Presses(more=3), "Readers: 3\xa0more"),
            (Presses(3, 2), "Readers: 3\xa0more · 2\xa0saved"),
            (Presses(saved=1), "1\xa0saved"),
        ),
        1,
    ):
        await bench.messenger.edit(standing, presses, number)
        (seen,) = bench.seen()
        assert line in seen
        assert seen.count("Readers:") in (1, 2)  # Slack's text says what its blocks say
        for each in GPU.entries:
            assert each.ranked.item.title in seen or each.ranked.item.key in seen
    await bench.messenger.edit(standing, Presses(), 4)
    (seen,) = bench.seen()
    assert "Readers" not in seen


async def test_an_edited_message_is_found_by_its_marker_and_the_same_edit_again_changes_nothing(bench: Bench) -> None:
    standing = await posted(bench)
    for number in (1, 1, 2):
        await bench.messenger.edit(standing, Presses(more=1), number)
        if bench.messenger.abilities.finds:
            assert await seek(bench.messenger, standing) == standing.message
    assert len(bench.seen()) == 1


async def test_a_message_that_was_taken_away_is_neither_edited_nor_posted_anew(bench: Bench) -> None:
    standing = await posted(bench)
    bench.delete()
    with pytest.raises(Rejected, match=r"\.$"):
        await bench.messenger.edit(standing, Presses(more=1), 1)
    assert bench.seen() == []


async def test_an_obstacle_is_told_while_it_lasts_and_nothing_is_posted_to_find_out(bench: Bench) -> None:
    assert await bench.messenger.obstacle(bench.workspace, bench.channel) == ""
    for _ in range(2):
        bench.close()
        assert (await bench.messenger.obstacle(bench.workspace, bench.channel)).endswith(".")
        bench.open()
        assert await bench.messenger.obstacle(bench.workspace, bench.channel) == ""
        assert await bench.messenger.obstacle(bench.workspace, "") == ""
    assert bench.seen() == []


async def test_where_nobody_can_tell_there_is_neither_an_obstacle_nor_none(bench: Bench) -> None:
    if not bench.hide():
        pytest.skip("it always tells")
    with pytest.raises((Delayed, Uncertain, Rejected), match=r"\.$"):
        await bench.messenger.obstacle(bench.workspace, bench.channel)


@pytest.mark.parametrize("digest", [GPU, EMPTY, HOSTILE], ids=["gpu", "empty", "hostile"])
@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("late", [True, False])
def test_every_digest_is_rendered_within_the_limits_and_the_same_each_time(
    bench: Bench, digest: Digest, layout: Layout, late: bool
) -> None:
    payloads = bench.messenger.render(digest, layout=layout, late=late)

    assert payloads
    assert payloads == bench.messenger.render(digest, layout=layout, late=late)
    assert all(bench.limit is None or len(each) <= bench.limit for each in payloads)
    assert all("late" in each.lower() for each in payloads[:1]) or not late


def test_abilities_say_what_can_be_relied_on(bench: Bench) -> None:
    able = bench.messenger.abilities
    assert timedelta(0) <= able.nonce_window <= timedelta(minutes=2), "nobody says that a nonce is remembered for longer"
    for each in (able.per_second, able.per_channel_second, able.per_workspace_minute, able.at_once):
        assert each is None or each > 0
    assert ":" not in bench.messenger.platform
