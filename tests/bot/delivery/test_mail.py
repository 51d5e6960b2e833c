"""What is subscribed by e-mail goes by e-mail, whatever chat its workspace is in."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bot.delivery import Deliverer, Preparer
from bot.delivery.context import DeliveryContext
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.models import (
    Abilities,
    Delivery,
    DeliveryState,
    Digest,
    Layout,
    Method,
    Preferences,
    mail_channel,
)
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import Harness, change, confirmed
from tests.bot.delivery.test_prepare import TOPICS, due, furnished
from tests.conftest import NOW
from tests.fakes.transcript import NEITHER, Clock, Transcript, delivery
from tests.stores.memory import MemoryStore

MINE = mail_channel("00112233445566aa", "me@lab.example")
YOURS = mail_channel("00112233445566bb", "you@lab.example")
ELSEWHERE = mail_channel("00112233445566cc", "you@other.example")


class Mails(Transcript):
    """A platform to which e-mails go; it notes which digests are for lists."""

    platform = "email"

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        return [
            f"{'list' if digest.is_for_list else 'reader'}: {said}"
            for said in super().render(digest, layout=layout, late=late)
        ]


async def test_a_digest_by_mail_is_sent_by_who_sends_mails_and_one_of_a_channel_by_the_chat() -> None:
    harness = await furnished()
    mails = Mails(harness.clock)
    context = DeliveryContext(
        harness.store, harness.store.ledger, {"chat": harness.chat, "email": mails}, harness.settings, random.Random(0)
    )
    await due(harness, number=1)
    await due(harness, number=2, channel=MINE)
    publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
    await Preparer(context, publisher, RequestBuilder(harness.store.workspaces, TOPICS)).prepare_due(NOW)
    await Deliverer(context, pause=harness.clock.pause).deliver_due(harness.clock)
    assert [each.channel for each in mails.messages] == [MINE]
    assert [each.channel for each in harness.chat.messages] == ["C1"]
    rows = await harness.rows()
    assert {each.channel: each.state for each in rows.values()} == dict.fromkeys(("C1", MINE), DeliveryState.DONE)


def test_the_addresses_of_one_domain_keep_one_pace() -> None:
    store = MemoryStore()
    context = DeliveryContext(store, store.ledger, {})
    places = [context.call(Method.POST, "slack:T1", each).workspace for each in (MINE, YOURS, ELSEWHERE, "C1")]
    assert places[0] == places[1]
    assert len(set(places)) == 3
    assert places[3] == "slack:T1"
    assert context.call(Method.POST, "slack:T1", MINE).platform == "email"


async def test_a_mail_has_its_cards_unless_its_subscription_says_otherwise() -> None:
    harness = await furnished()
    requests = RequestBuilder(harness.store.workspaces, TOPICS)
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(layout=Layout.BRIEF), change())
    channel = await due(harness, number=1)
    mail = await due(harness, number=2, channel=MINE)
    brief = await due(harness, number=3, channel=YOURS, layout=Layout.BRIEF, at=NOW + timedelta(hours=1))
    assert [await requests.layout("chat:T1", each) for each in (channel, mail, brief)] == [
        Layout.BRIEF,
        Layout.THREAD,
        Layout.BRIEF,
    ]


async def test_who_renders_a_mail_knows_that_it_goes_to_a_list() -> None:
    harness = await furnished()
    for address, channel, is_list in (("me@lab.example", MINE, False), ("all@lab.example", YOURS, True)):
        await confirmed(harness.store, address, channel, is_list=is_list)
    mails = Mails(harness.clock)
    context = DeliveryContext(harness.store, harness.store.ledger, {"email": mails}, harness.settings)
    for number, channel in enumerate((MINE, YOURS), start=1):
        await due(harness, number=number, channel=channel)
    publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
    await Preparer(context, publisher, RequestBuilder(harness.store.workspaces, TOPICS)).prepare_due(NOW)
    rows = await harness.rows()
    assert {each.channel: each.payload.partition(":")[0] for each in rows.values()} == {MINE: "reader", YOURS: "list"}


class SlowMails(Mails):
    """A relay that takes four at a time, and answers none before something was posted in the chat."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, Abilities(at_once=4))
        self.answers = asyncio.Event()
        self.held = self.most = 0

    async def send(self, delivery: Delivery) -> str:
        self.held += 1
        self.most = max(self.most, self.held)
        await self.answers.wait()
        self.held -= 1
        return await super().send(delivery)


@dataclass
class Chat(Transcript):
    """It notes that something was posted."""

    posts: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, delivery: Delivery) -> str:
        self.posts.set()
        return await super().send(delivery)


@pytest.mark.parametrize("number", [20, 100])
async def test_mails_that_take_long_hold_up_no_digest_in_a_chat(number: int) -> None:
    harness = Harness(NEITHER)
    mails = SlowMails(harness.clock)
    chat = Chat(harness.clock, NEITHER, posts=mails.answers)
    channels = [mail_channel(f"{each:016x}", f"me@d{each}.example") for each in range(number)]
    waiting = [delivery(each, now=NOW, channel=channel) for each, channel in enumerate(channels, 1)]
    await harness.plant([*waiting, delivery(number + 1, now=NOW + timedelta(seconds=1), channel="C1")])
    harness.clock.advance(timedelta(seconds=2))
    context = replace(harness.context(), messengers={"chat": chat, "email": mails})
    async with asyncio.timeout(10):
        await Deliverer(context, pause=harness.clock.pause).deliver_due(harness.clock)
    assert mails.most == 4
    assert (len(chat.messages), len(mails.messages)) == (1, number)
    assert {each.state for each in (await harness.rows()).values()} == {DeliveryState.DONE}
