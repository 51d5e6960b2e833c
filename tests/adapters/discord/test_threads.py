"""The rest of a digest hangs in a thread of its first message, or follows it in the channel where there is none."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from discord.http import Route
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.client.api import RestClient
from adapters.discord.send import DiscordMessenger
from bot.errors import Delayed, Refused, Rejected, Uncertain
from bot.models import Delivery, Layout
from tests.adapters.discord.test_send import again, deliveries
from tests.conftest import tries
from tests.fakes.discord import Channel, FakeDiscord, Fault, Guild, Kind, Message, Permission, running
from tests.fakes.looks import seek
from tests.stores.memory import MemoryStore

OPENING, WRITING, SENDING = (
    Permission.CREATE_PUBLIC_THREADS,
    Permission.SEND_MESSAGES_IN_THREADS,
    Permission.SEND_MESSAGES,
)


class Bench:
    """A Discord, and a messenger that hangs the rest of a digest in a thread."""

    def __init__(self, fake: FakeDiscord, door: RestClient) -> None:
        self.fake, self.door = fake, door
        self.guild: Guild = fake.guild("Lab")
        self.papers = fake.channel(self.guild, "papers")
        self.restart()

    def restart(self) -> None:
        self.messenger = DiscordMessenger(self.door, MemoryStore().chats)

    def parts(self, channel: Channel | None = None, *, entries: int = 12) -> Sequence[Delivery]:
        return deliveries(self.messenger, self.guild, channel or self.papers, entries=entries, layout=Layout.THREAD)

    @property
    def thread(self) -> Channel | None:
        return next((each for each in self.fake.channels.values() if each.is_thread), None)

    def seen(self, part: Delivery) -> list[Message]:
        """Every message that shows this part, wherever it stands."""
        every = [message for channel in self.fake.channels.values() for message in channel.messages.values()]
        return [each for each in every if each.nonce == part.id]


@asynccontextmanager
async def opened() -> AsyncIterator[Bench]:
    async with running() as fake:
        usual, Route.BASE = Route.BASE, fake.api_url
        fake.limits.buckets = dict.fromkeys(fake.limits.buckets, (10_000, 1.0))
        door = RestClient(fake.token)
        try:
            yield Bench(fake, door)
        finally:
            await door.close()
            Route.BASE = usual


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with opened() as made:
        yield made


async def test_without_the_right_to_open_a_thread_the_whole_digest_stands_in_the_channel(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.fake.let(bench.papers, may_not=OPENING)
    first, *rest = bench.parts()
    head = await bench.messenger.send(first)
    with caplog.at_level(logging.WARNING):
        names = [await bench.messenger.send(replace(each, thread=head)) for each in rest]

    assert [str(each) for each in bench.papers.messages] == [head, *names]
    assert [each.count("gets no thread") for each in caplog.messages] == [1], "said once"
    assert [await seek(bench.messenger, replace(each, thread=head)) for each in rest] == names
    assert bench.fake.wrong == []


@pytest.mark.parametrize("code", [160006, 50024, 50001, 50013, 40067])
async def test_whatever_keeps_a_thread_from_being_opened_keeps_nothing_of_the_digest_back(bench: Bench, code: int) -> None:
    first, second, *_ = bench.parts()
    head = await bench.messenger.send(first)
    bench.fake.befall("/threads", code=code)
    name = await bench.messenger.send(replace(second, thread=head))
    assert [str(each) for each in bench.papers.messages] == [head, name]


@pytest.mark.parametrize("kind", [Kind.VOICE, Kind.PUBLIC_THREAD])
async def test_where_there_are_no_threads_the_rest_follows_the_first(bench: Bench, kind: Kind) -> None:
    place = bench.fake.channel(bench.guild, "talk", kind) if kind is Kind.VOICE else bench.fake.thread(bench.papers, "gpu")
    first, second, *_ = bench.parts(place)
    head = await bench.messenger.send(first)
    name = await bench.messenger.send(replace(second, thread=head))
    assert [str(each) for each in place.messages] == [head, name]


async def test_a_first_part_that_was_deleted_takes_nothing_with_it(bench: Bench) -> None:
    first, second, *_ = bench.parts()
    head = await bench.messenger.send(first)
    bench.fake.delete_message(*bench.papers.messages.values())
    name = await bench.messenger.send(replace(second, thread=head))
    assert [str(each) for each in bench.papers.messages] == [name]


@pytest.mark.parametrize("how", ["deleted", "locked", "shut away", "forbidden"])
async def test_what_becomes_of_a_thread_between_two_parts_keeps_nothing_back(bench: Bench, how: str) -> None:
    first, second, third, *_ = bench.parts()
    head = await bench.messenger.send(first)
    await bench.messenger.send(replace(second, thread=head))
    thread = bench.thread
    assert thread is not None
    if how == "deleted":
        bench.fake.delete_channel(thread)
    elif how == "locked":
        thread.locked = True
    elif how == "shut away":
        bench.fake.archive(thread, locked=True)
    else:
        bench.fake.let(bench.papers, may_not=WRITING)

    name = await bench.messenger.send(replace(third, thread=head))

    assert [str(each) for each in bench.papers.messages] == [head, name]
    assert len(bench.seen(third)) == 1
    assert await seek(bench.messenger, replace(third, thread=head)) == name


async def test_a_channel_that_is_shut_is_named_and_not_the_thread(bench: Bench) -> None:
    first, second, *_ = bench.parts()
    head = await bench.messenger.send(first)
    bench.fake.let(bench.papers, may_not=OPENING | SENDING)
    with pytest.raises(Refused, match=r"^I need \*Send Messages\* in #papers\.$"):
        await bench.messenger.send(replace(second, thread=head))


async def test_what_the_nonce_finds_in_the_other_place_is_named_as_what_it_is(bench: Bench) -> None:
    first, second, *_ = bench.parts()
    head = await bench.messenger.send(first)
    second = replace(second, thread=head)
    name = await bench.messenger.send(second)
    bench.fake.let(bench.papers, may_not=WRITING)

    assert await bench.messenger.send(again(second)) == name
    assert len(bench.seen(second)) == 1


# --- the law


FAULTS = (None, None, (Fault.RESET, True), (Fault.RESET, False), (Fault.HALF, True))
CHANGES = (
    *("", "", "no opening", "opening", "no writing", "writing", "no sending"),
    *("deleted", "locked", "unlocked", "restart", "full"),
)
step = st.tuples(st.sampled_from(CHANGES), st.sampled_from(FAULTS), st.integers(0, 2), st.booleans())


# Requests about the thread that go before the one that posts: to open it, and to write in it in vain.
PASSED = {"": 1, "no opening": 1, "no writing": 2, "deleted": 2, "locked": 2, "full": 0}


def change(bench: Bench, what: str) -> None:
    """Let somebody do this in the server, or the service begin anew."""
    rights = {"opening": OPENING, "writing": WRITING, "sending": SENDING}
    name = what.removeprefix("no ")
    thread = bench.thread
    if name in rights:
        bench.fake.let(bench.papers, **{"may_not" if name != what else "may": rights[name]})
    elif what == "restart":
        bench.restart()
    elif what == "full":
        bench.fake.befall("/threads", code=160006)
    elif thread is not None and what == "deleted":
        bench.fake.delete_channel(thread)
    elif thread is not None and what in ("locked", "unlocked"):
        thread.locked = what == "locked"


async def deliver(bench: Bench, part: Delivery, steps: list[tuple[str, tuple[Fault, bool] | None, int, bool]]) -> str:
    """Post it as the ledger does: what may have been posted is sent again by its nonce, or looked for once that is over."""
    unsure = is_over = False  # whether it may have been posted, and whether its nonce may be forgotten by now
    for _ in range(60):
        what, fault, passed, forgotten = steps.pop(0) if steps else ("sending", None, 0, False)
        change(bench, what)
        if fault is not None:
            bench.fake.befall("/messages", fault=fault[0], commits=fault[1], after=passed)
        try:
            is_over = is_over or (unsure and forgotten)
            if is_over:
                bench.fake.nonces.clear()
                if found := await seek(bench.messenger, part):
                    return found
            return await bench.messenger.send(part)
        except Uncertain:
            unsure = True
        except (Refused, Rejected, Delayed):
            pass
        finally:
            bench.fake.troubles.clear()
    raise AssertionError("it is never settled")


@pytest.mark.parametrize("before", PASSED)
@pytest.mark.parametrize("after", ["", "opening", "writing", "no writing", "deleted", "locked", "restart"])
async def test_a_lost_answer_is_found_wherever_the_part_went_and_whatever_changed_since(
    bench: Bench, before: str, after: str
) -> None:
    first, second, third, *_ = bench.parts()
    head = await bench.messenger.send(first)
    await bench.messenger.send(replace(second, thread=head))
    third = replace(third, thread=head)
    change(bench, before)
    bench.fake.befall("/messages", fault=Fault.RESET, commits=True, after=PASSED[before])
    with pytest.raises(Uncertain):
        await bench.messenger.send(third)
    bench.fake.troubles.clear()
    change(bench, after)
    bench.fake.nonces.clear()

    found = await seek(bench.messenger, third) or await bench.messenger.send(third)

    assert found
    there = after != "deleted" or before in ("no writing", "locked", "deleted")
    assert len(bench.seen(third)) == 1 or not there


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(step, max_size=14))
def test_every_part_stands_once_somewhere_whatever_rights_and_answers_are_lost(
    steps: list[tuple[str, tuple[Fault, bool] | None, int, bool]],
) -> None:
    async def told() -> None:
        async with opened() as bench:
            deleted = any(what == "deleted" for what, *_ in steps)
            first, *rest = bench.parts()[:4]
            head = await bench.messenger.send(first)
            for each in rest:
                await deliver(bench, replace(each, thread=head), steps)
            for each in rest:
                assert len(bench.seen(each)) == 1 or (deleted and not bench.seen(each)), each.part
                posted = sum(message.marker == each.id for message in bench.fake.committed)
                assert posted == 1 or deleted, each.part
            assert bench.fake.wrong == []

    asyncio.run(told())
