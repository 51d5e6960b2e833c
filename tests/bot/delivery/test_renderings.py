"""Digests that say the same are rendered once in a round, and every channel gets what its own digest says."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.delivery import Preparer
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.models import Delivery, Digest, DigestRequest, Layout, Limits, Subscription, Window, mail_channel
from bot.query import parse
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import Harness
from tests.bot.delivery.test_prepare import TOPICS, due, furnished
from tests.conftest import NOW
from tests.fakes.transcript import Clock, Transcript

_Asked = tuple[Digest, Layout, bool]
PLACES = [f"C{number}" for number in range(1, 31)]


class Verbatim(Transcript):
    """Says all that it is told of a digest, and notes what it was asked to render."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.asked: list[_Asked] = []

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        self.asked.append((digest, layout, late))
        return [repr((digest, layout, late))]


class Noting(Publisher):
    """Notes what it made for each channel."""

    made: dict[str, Digest]

    async def make(self, request: DigestRequest, now: datetime) -> Digest:
        self.made[request.channel] = await super().make(request, now)
        return self.made[request.channel]


def on(chat: Transcript, harness: Harness) -> tuple[Preparer, Noting]:
    """Return who makes what is due on the platform, and who is asked for it."""
    publisher = Noting(harness.store, Extractive(), {"arxiv": "arXiv"})
    publisher.made = {}
    requests = RequestBuilder(harness.store.workspaces, TOPICS, Limits(entries=3))
    return Preparer(replace(harness.context(), messengers={"chat": chat, "email": chat}), publisher, requests), publisher


async def rendered(harness: Harness) -> tuple[list[_Asked], dict[str, Delivery], dict[str, Digest]]:
    """Make what is due; return what was asked, what is to be said in each channel, and what was made for it."""
    chat = Verbatim(harness.clock)
    preparer, publisher = on(chat, harness)
    await preparer.prepare_due(NOW)
    waiting = await harness.store.ledger.due_deliveries(NOW, limit=1000)
    return chat.asked, {each.channel: each for each in waiting}, publisher.made


async def subscribed(harness: Harness, number: int, **changes: Any) -> Subscription:
    return await due(harness, number=number, workspace=f"chat:T{number % 7}", **{"layout": Layout.FULL, **changes})


async def test_the_same_digest_is_rendered_once_for_all_the_channels_that_have_it_in_one_layout() -> None:
    harness = await furnished()
    for number, _ in enumerate(PLACES, start=1):
        layout = Layout.FULL if number % 3 == 0 else Layout.THREAD
        await subscribed(harness, number, topic="gpu" if number % 5 == 0 else "kv", layout=layout)
    asked, said, _ = await rendered(harness)
    assert sorted(said) == sorted(PLACES)
    assert len(asked) == 2 * 2 * 2  # two topics in two layouts, and what each says once it is late
    assert len({each.payload for each in said.values()}) == 2 * 2


async def test_what_is_rendered_once_says_what_the_digest_of_each_channel_says() -> None:
    harness = await furnished()
    for number, _ in enumerate(PLACES, start=1):
        narrowed = parse("beans") if number % 4 == 0 else parse("")
        await subscribed(harness, number, filter=narrowed, tag="papers" if number % 2 else "", entries=1 + number % 3)
    asked, said, made = await rendered(harness)
    for number, channel in enumerate(PLACES, start=1):
        told = replace(made[channel], subscription="", window=Window(), tag="papers" if number % 2 else "")
        assert said[channel].payload == repr((told, Layout.FULL, False))
        assert said[channel].if_late == repr((told, Layout.FULL, True))
    assert len(asked) == len({each.payload for each in said.values()}) + len({each.if_late for each in said.values()})


async def test_what_is_due_in_the_next_round_is_rendered_with_what_its_platform_knows_by_then() -> None:
    harness = await furnished()
    chat = Verbatim(harness.clock)
    preparer, _ = on(chat, harness)
    for number in (1, 2):
        await subscribed(harness, number)
        await preparer.prepare_due(NOW)
        assert len(chat.asked) == 2 * number


async def test_a_mail_is_rendered_for_the_subscription_whose_links_it_holds() -> None:
    harness = await furnished()
    mails = Verbatim(harness.clock)
    preparer, _ = on(mails, harness)
    for number, address in enumerate(("me@lab.example", "you@lab.example"), start=1):
        await due(harness, number=number, channel=mail_channel(f"00112233445566a{number}", address))
    await preparer.prepare_due(NOW)
    assert {asked.subscription for asked, *_ in mails.asked} == {"s1", "s2"}
