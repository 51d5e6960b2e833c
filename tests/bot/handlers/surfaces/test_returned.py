"""What follows from a mail that came back, and that nothing follows from one that proves nothing."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from bot.errors import Reach
from bot.handlers.links import LinkAction, LinkSigner, SignedLink, letter_link
from bot.handlers.surfaces.returned import Bounce, Complaint, Proof, Returned, UnsubscribeMail, follow_up
from bot.models import (
    CODE_HOLDS,
    Delivery,
    Notice,
    Occurrence,
    OccurrenceState,
    OptIn,
    Recipient,
    Schedule,
    Subscription,
    Suppression,
    code_kept,
    mail_channel,
)
from bot.models.mail import MOST_SOFT_BOUNCES, address_hash
from bot.ports.store import Store
from tests.bot.deliveries import change
from tests.bot.handlers.askers import Asker

ADDRESS = "me@uni.example"
CHANNEL = mail_channel("00112233445566aa", ADDRESS)
OTHER = mail_channel("00112233445566bb", ADDRESS)
NUMBER = "0123456789abcdefghijklmn"
OURS = (Proof(delivery=NUMBER),)
HARD = Bounce(OURS, (ADDRESS,), "A mail came back: there is no such mailbox (5.1.1).", hard=True)
COMPLAINT = Complaint(OURS, (ADDRESS,))
SOFT = replace(HARD, said="A mail came back: the mailbox is full (5.2.2).", hard=False)


@dataclass(frozen=True, slots=True)
class Sent:
    """A mail that went to a recipient of Ada's."""

    ada: Asker
    token: Proof

    async def comes(self, returned: Returned, later: timedelta = timedelta(hours=1)) -> str:
        return await follow_up(self.ada.context, returned, self.ada.now + later)

    async def recipient(self) -> Recipient:
        found = await self.ada.context.store.recipients.named(CHANNEL)
        assert found is not None
        return found

    async def subscribed(self) -> int:
        return len(await self.ada.context.store.workspaces.subscriptions("slack:T1", channel=CHANNEL))

    async def confirmed(self, workspace: str, channel: str, at: datetime, *, is_list: bool = False) -> None:
        await confirmed(self.ada.context.store, workspace, channel, at, is_list=is_list)

    async def subscribes(self, workspace: str, channel: str) -> None:
        await subscribed(self.ada.context.store, workspace, channel, self.ada.now)

    async def suppression(self, workspace: str = "slack:T1") -> Suppression | None:
        return await self.ada.context.store.recipients.suppression(workspace, ADDRESS)


async def confirmed(store: Store, workspace: str, channel: str, at: datetime, *, is_list: bool = False) -> None:
    code = code_kept(workspace, "U-ada", "123456")
    asked = OptIn(
        workspace=workspace,
        person="U-ada",
        address=ADDRESS,
        is_list=is_list,
        code=code,
        command="subscribe kv",
        asked_at=at,
        until=at + CODE_HOLDS,
    )
    await store.recipients.ask(asked)
    assert await store.recipients.confirm(workspace, "U-ada", code, channel, at)


async def subscribed(store: Store, workspace: str, channel: str, now: datetime) -> Subscription:
    made = Subscription(
        id="s1" if channel == CHANNEL else f"of {channel}",
        workspace=workspace,
        channel=channel,
        topic="kv",
        schedule=Schedule(),
        baseline=now,
        made_by="U-ada",
        made_at=now,
    )
    return await store.workspaces.save_subscription(made, change(workspace, now), replaces=0)


@pytest.fixture
async def sent(ada: Asker) -> Sent:
    store, now = ada.context.store, ada.now
    await confirmed(store, "slack:T1", CHANNEL, now)
    made = await subscribed(store, "slack:T1", CHANNEL, now)
    due = Occurrence(subscription="s1", workspace="slack:T1", channel=CHANNEL, topic="kv", day=now.date(), due=now)
    await store.ledger.open_occurrences([due], made, now + timedelta(days=1))
    mail = Delivery(
        id=NUMBER,
        occurrence=("s1", now.date(), 0),
        workspace="slack:T1",
        channel=CHANNEL,
        topic="kv",
        payload="{}",
        due=now,
        next_at=now,
    )
    assert await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), now, deliveries=[mail])
    signature = LinkSigner(await store.recipients.key()).signature(SignedLink(LinkAction.UNSUBSCRIBE, "s1"))
    return Sent(ada, Proof(subscription="s1", signature=signature))


async def test_a_hard_bounce_stops_the_address_and_leaves_the_pausing_to_the_service(sent: Sent) -> None:
    assert await sent.comes(HARD) == f"a bounce stops {CHANNEL}"
    assert (await sent.recipient()).stopped == HARD.said
    assert await sent.suppression() is Suppression.BOUNCED
    assert await sent.suppression("slack:T2") is None
    (refusal,) = await sent.ada.context.store.outbox.refusals()
    assert (refusal.channel, refusal.reach, refusal.reason) == (CHANNEL, Reach.CHANNEL, HARD.said)
    await sent.comes(HARD)
    assert len(await sent.ada.context.store.outbox.refusals()) == 1, "whoever is told is told once"


async def test_soft_ones_count_and_stop_it_when_they_go_on(sent: Sent) -> None:
    for day in range(1, MOST_SOFT_BOUNCES):
        assert await sent.comes(SOFT, timedelta(days=day)) == f"a bounce of {CHANNEL} counts"
        assert not (await sent.recipient()).stopped
    assert await sent.comes(SOFT, timedelta(days=MOST_SOFT_BOUNCES)) == f"a bounce stops {CHANNEL}"
    assert await sent.suppression() is None, "a mailbox that is full is emptied again"
    assert len(await sent.ada.context.store.outbox.refusals()) == 1


async def test_a_complaint_ends_everything_there_for_all_and_its_owner_hears_of_it(sent: Sent) -> None:
    assert await sent.comes(COMPLAINT) == f"a complaint ends {CHANNEL}"
    assert await sent.subscribed() == 0
    assert (await sent.recipient()).stopped == "Who reads it marked a mail as spam."
    assert await sent.suppression("slack:T2") is Suppression.COMPLAINED
    (notices,) = (await sent.ada.context.store.outbox.notices()).values()
    assert [each.person for each in notices] == ["U-ada"]
    assert "KV cache" in notices[0].text
    assert ADDRESS not in notices[0].text


async def test_a_complaint_stays_for_its_workspace_when_another_one_has_the_address_confirmed(sent: Sent) -> None:
    await sent.comes(COMPLAINT)
    later = sent.ada.now + timedelta(hours=2)
    await sent.confirmed("slack:T2", OTHER, later)
    assert await sent.suppression("slack:T2") is None
    assert await sent.suppression() is Suppression.COMPLAINED
    assert (await sent.recipient()).stopped


async def test_a_complaint_of_a_mail_to_a_list_ends_nothing_and_its_owner_hears_of_it_once_a_day(sent: Sent) -> None:
    await sent.confirmed("slack:T1", CHANNEL, sent.ada.now, is_list=True)
    for hours in (1, 2, 23, 26):
        assert await sent.comes(COMPLAINT, timedelta(hours=hours)) == f"a reader of the list {CHANNEL} complains"
    assert (await sent.subscribed(), await sent.suppression(), (await sent.recipient()).stopped) == (1, None, "")
    told = await all_told(sent)
    assert [(each.person, each.since - sent.ada.now) for each in told] == [("U-ada", timedelta(hours=h)) for h in (1, 26)]
    assert "KV cache" in told[0].text


@pytest.mark.parametrize("bounce", [HARD, SOFT])
async def test_no_bounce_stops_a_list_and_its_owner_hears_of_them_once_a_day(sent: Sent, bounce: Bounce) -> None:
    await sent.confirmed("slack:T1", CHANNEL, sent.ada.now, is_list=True)
    for hours in range(1, MOST_SOFT_BOUNCES + 3):
        assert await sent.comes(bounce, timedelta(hours=4 * hours)) == f"a bounce of the list {CHANNEL} counts"
    list_, outbox = await sent.recipient(), sent.ada.context.store.outbox
    assert (await sent.subscribed(), await sent.suppression(), list_.stopped) == (1, None, "")
    assert (list_.soft_bounces, await outbox.refusals()) == (MOST_SOFT_BOUNCES + 2, [])
    told = await all_told(sent)
    assert [(each.person, each.since - sent.ada.now) for each in told] == [("U-ada", timedelta(hours=h)) for h in (4, 28)]
    assert f"KV cache. {bounce.said} It is the 1st lately." in told[0].text
    assert "It is the 7th lately." in told[1].text
    assert ADDRESS not in told[0].text


async def all_told(sent: Sent) -> list[Notice]:
    """What is owed to people, taken away."""
    outbox, told = sent.ada.context.store.outbox, list[Notice]()
    while found := await outbox.notices():
        told += [each for notices in found.values() for each in notices]
        await outbox.remove_notice(told[-1])
    return told


async def test_a_complaint_has_what_the_address_is_sent_elsewhere_paused_and_not_what_a_list_is_sent(sent: Sent) -> None:
    listed = mail_channel("00112233445566cc", ADDRESS)
    await sent.confirmed("slack:T2", OTHER, sent.ada.now)
    await sent.confirmed("slack:T3", listed, sent.ada.now, is_list=True)
    for workspace, channel in (("slack:T2", OTHER), ("slack:T3", listed)):
        await sent.subscribes(workspace, channel)
    await sent.comes(COMPLAINT)

    (refusal,) = await sent.ada.context.store.outbox.refusals()
    assert (refusal.workspace, refusal.channel, refusal.reach) == ("slack:T2", OTHER, Reach.CHANNEL)
    assert refusal.reason == (
        "Who reads it marked a mail as spam. Nothing is sent to that address any more, and only an administrator"
        " can have it confirmed again."
    )
    assert await sent.suppression("slack:T3") is None
    told = {each.workspace: each for each in await all_told(sent)}
    assert told.keys() == {"slack:T1", "slack:T3"}, "those of the second are told by whoever pauses"
    assert "Nothing has ended" in told["slack:T3"].text


async def test_a_complaint_that_names_no_address_is_known_by_the_token_and_else_by_nothing(sent: Sent) -> None:
    assert await sent.comes(Complaint(OURS)) == ""
    assert await sent.comes(Complaint(OURS, ("you@uni.example",))) == ""
    assert await sent.subscribed() == 1
    assert await sent.comes(Complaint((*OURS, sent.token))) == f"a complaint ends {CHANNEL}"


async def test_a_mail_with_its_token_unsubscribes_and_nothing_is_sent_there_until_it_is_asked_for(sent: Sent) -> None:
    assert await sent.comes(UnsubscribeMail((sent.token,))) == f"a mail unsubscribes {CHANNEL}"
    assert await sent.subscribed() == 0
    assert await sent.suppression() is Suppression.UNSUBSCRIBED
    assert await sent.comes(UnsubscribeMail((sent.token,))) == "a mail unsubscribes what has ended already"


async def test_a_bounce_is_known_by_the_token_where_the_identifier_was_replaced(sent: Sent) -> None:
    assert await sent.comes(replace(HARD, proofs=(Proof(delivery="other"), sent.token)))
    assert (await sent.recipient()).stopped


async def of_letter(sent: Sent, address: str = ADDRESS) -> Proof:
    key = await sent.ada.context.store.recipients.key()
    link = letter_link(address_hash(key, address))
    return Proof(subscription=link.subscription, signature=LinkSigner(key).signature(link))


@pytest.mark.parametrize("kind", [HARD, COMPLAINT, Complaint(()), UnsubscribeMail(())])
async def test_a_letter_that_is_refused_is_the_last_and_what_is_subscribed_goes_on(sent: Sent, kind: Returned) -> None:
    assert await sent.comes(replace(kind, proofs=(await of_letter(sent),))) == "an address is sent no more codes"
    assert await sent.ada.context.store.recipients.refuses_letters(ADDRESS, sent.ada.now)
    assert (await sent.subscribed(), await sent.suppression(), (await sent.recipient()).stopped) == (1, None, "")


async def test_no_letter_is_refused_by_what_proves_nothing(sent: Sent) -> None:
    proof = await of_letter(sent)
    forged = replace(proof, signature="a" * 22)
    for returned in (
        replace(HARD, proofs=(forged,)),
        Complaint((forged,)),
        UnsubscribeMail((forged,)),
        replace(SOFT, proofs=(proof,)),
        replace(HARD, proofs=(proof,), addresses=("you@uni.example",)),
        Complaint((Proof(subscription="letter-", signature=proof.signature), Proof(subscription="letter-é"))),
    ):
        assert await sent.comes(returned) == ""
    assert not await sent.ada.context.store.recipients.refuses_letters(ADDRESS, sent.ada.now)


async def test_what_proves_nothing_does_nothing(sent: Sent) -> None:
    forged = Proof(subscription="s1", signature="a" * 22)
    for returned in (
        replace(HARD, proofs=()),
        replace(HARD, proofs=(Proof(delivery="0" * 24), forged)),
        replace(HARD, addresses=("you@uni.example",)),
        replace(HARD, addresses=()),
        Complaint((), (ADDRESS,)),
        Complaint((forged,), (ADDRESS,)),
        UnsubscribeMail((forged,)),
        UnsubscribeMail(OURS),
    ):
        assert await sent.comes(returned) == ""
    assert not (await sent.recipient()).stopped
    assert (await sent.subscribed(), await sent.suppression()) == (1, None)
    assert await sent.ada.context.store.outbox.refusals() == []
