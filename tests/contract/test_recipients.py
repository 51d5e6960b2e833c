"""Who is sent digests by e-mail, on every store."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from bot.models import (
    CODE_HOLDS,
    MOST_TRIES,
    Asked,
    OptIn,
    Suppression,
    code_kept,
    mail_channel,
)
from bot.models.mail import LETTERS_REFUSED, MOST_SOFT_BOUNCES, address_hash
from tests.conftest import NOW
from tests.contract.test_ledger import made, subscribed
from tests.stores import AnyStore

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ME = "Me@lab.example"
CHANNEL = mail_channel("00112233445566aa", ME)
OTHER = mail_channel("00112233445566bb", ME)


def asks(**said: object) -> OptIn:
    usual = OptIn(
        workspace="slack:T1",
        person="U1",
        address=ME,
        code=code_kept("slack:T1", "U1", "123456"),
        command="subscribe gpu-systems daily",
        asked_at=NOW,
        until=NOW + CODE_HOLDS,
    )
    return replace(usual, **said)  # type: ignore[arg-type]


async def confirmed(store: AnyStore, opt_in: OptIn | None = None, channel: str = CHANNEL) -> None:
    wanted = opt_in or asks()
    await store.recipients.ask(wanted)
    found = await store.recipients.confirm(wanted.workspace, wanted.person, wanted.code, channel, NOW + HOUR)
    assert found is not None


async def test_a_code_makes_a_recipient_once_and_tells_what_is_to_be_done(store: AnyStore) -> None:
    await store.recipients.ask(asks())
    assert await store.recipients.at("slack:T1", ME) is None
    found = await store.recipients.confirm("slack:T1", "U1", asks().code, CHANNEL, NOW + HOUR)
    assert found is not None
    assert found.command == "subscribe gpu-systems daily"
    assert (found.recipient.address, found.recipient.person, found.recipient.confirmed_at) == (ME, "U1", NOW + HOUR)
    assert await store.recipients.confirm("slack:T1", "U1", asks().code, CHANNEL, NOW + HOUR) is None
    assert await store.recipients.named(CHANNEL) == found.recipient
    assert await store.recipients.at("slack:T1", "mE@LAB.example") == found.recipient
    assert await store.recipients.of("slack:T1", person="U1") == [found.recipient]
    assert await store.recipients.of("slack:T1", person="U2") == []
    assert await store.recipients.at("slack:T2", ME) is None


async def test_a_code_is_of_one_person_in_one_workspace_and_ends(store: AnyStore) -> None:
    await store.recipients.ask(asks())
    for workspace, person, later in (("slack:T1", "U2", HOUR), ("slack:T2", "U1", HOUR), ("slack:T1", "U1", CODE_HOLDS)):
        assert await store.recipients.opt_in(workspace, person, asks().code, NOW + later) is None
        assert await store.recipients.confirm(workspace, person, asks().code, CHANNEL, NOW + later) is None
        if later == CODE_HOLDS:
            assert await store.recipients.opt_in_by_link(asks().code, NOW + later) is None
    assert await store.recipients.opt_in("slack:T1", "U1", asks().code, NOW + HOUR) == asks()
    assert await store.recipients.opt_in_by_link(asks().code, NOW + HOUR) == asks()
    assert await store.recipients.opt_in_by_link("another", NOW + HOUR) is None


async def test_after_some_wrong_codes_the_right_one_holds_no_longer(store: AnyStore) -> None:
    await store.recipients.ask(asks())
    for _ in range(MOST_TRIES - 1):
        assert await store.recipients.confirm("slack:T1", "U1", "wrong", CHANNEL, NOW) is None
    assert await store.recipients.opt_in("slack:T1", "U1", asks().code, NOW) is not None
    assert await store.recipients.confirm("slack:T1", "U1", "wrong", CHANNEL, NOW) is None
    assert await store.recipients.confirm("slack:T1", "U1", asks().code, CHANNEL, NOW) is None


async def test_a_new_code_ends_the_one_before(store: AnyStore) -> None:
    await store.recipients.ask(asks(code="first"))
    await store.recipients.ask(asks(code="second", asked_at=NOW + HOUR))
    assert await store.recipients.confirm("slack:T1", "U1", "first", CHANNEL, NOW + HOUR) is None
    assert await store.recipients.confirm("slack:T1", "U1", "second", CHANNEL, NOW + HOUR) is not None


async def test_codes_are_counted_also_when_they_hold_no_longer(store: AnyStore) -> None:
    assert await store.recipients.asked("slack:T1", "U1", ME, NOW) == Asked()
    await store.recipients.ask(asks(code="first"))
    await store.recipients.ask(asks(code="second", asked_at=NOW + HOUR))
    await store.recipients.ask(asks(workspace="slack:T2", person="U9", address="me@LAB.example"))
    await store.recipients.ask(asks(person="U2", address="you@lab.example"))
    assert await store.recipients.asked("slack:T1", "U1", ME, NOW) == Asked(2, 3, 3, 2, in_all=4)
    assert await store.recipients.asked("slack:T1", "U2", ME, NOW) == Asked(1, 3, 3, 0, in_all=4)
    assert await store.recipients.asked("slack:T1", "U1", ME, NOW + HOUR) == Asked(1, 1, 1, 1, in_all=1)
    await store.recipients.ask(asks(person="U3", code="never sent", until=NOW))
    assert await store.recipients.asked("slack:T1", "U3", ME, NOW) == Asked(1, 3, 4, 1, in_all=4)
    await store.recipients.forget("", ME, NOW + HOUR)
    assert (await store.recipients.asked("slack:T1", "U1", ME, NOW)).to_address == 3
    await store.maintenance.prune(items_before=NOW, readings_before=date(2020, 1, 1), now=NOW + 2 * DAY + HOUR / 2)
    assert await store.recipients.asked("slack:T1", "U1", ME, NOW) == Asked(1, 1, 1, 1, in_all=1)


async def test_what_is_withdrawn_counts_no_longer_and_its_code_holds_not(store: AnyStore) -> None:
    await store.recipients.ask(asks(code="first"))
    await store.recipients.ask(asks(code="second", asked_at=NOW + HOUR))
    await store.recipients.withdraw(asks(code="second", asked_at=NOW + HOUR))
    assert (await store.recipients.asked("slack:T1", "U1", ME, NOW)).by_person == 1
    assert await store.recipients.opt_in("slack:T1", "U1", "second", NOW + HOUR) is None
    assert await store.recipients.opt_in("slack:T1", "U1", "first", NOW + HOUR) is None


async def test_who_confirms_again_keeps_the_channel_and_is_sent_to_again(store: AnyStore) -> None:
    await confirmed(store)
    await store.recipients.bounced(CHANNEL, "no such mailbox", NOW, hard=True)
    await confirmed(store, asks(address=ME.upper(), is_list=True), OTHER)
    (found,) = await store.recipients.of("slack:T1")
    assert (found.channel, found.address, found.is_list, found.stopped) == (CHANNEL, ME.upper(), True, "")


async def test_a_hard_bounce_stops_a_recipient_and_soft_ones_when_there_are_many(store: AnyStore) -> None:
    assert await store.recipients.bounced(CHANNEL, "gone", NOW, hard=True) is None
    await confirmed(store)
    for day in range(MOST_SOFT_BOUNCES - 1):
        found = await store.recipients.bounced(CHANNEL, "the mailbox is full", NOW + day * DAY, hard=False)
        assert found is not None
        assert found.stopped == ""
    found = await store.recipients.bounced(CHANNEL, "the mailbox is full", NOW + 60 * DAY, hard=False)
    assert found is not None
    assert (found.soft_bounces, found.stopped) == (1, "")
    for day in range(MOST_SOFT_BOUNCES - 1):
        found = await store.recipients.bounced(CHANNEL, "the mailbox is full", NOW + (61 + day) * DAY, hard=False)
    assert found is not None
    assert found.stopped == "the mailbox is full"
    assert await store.recipients.named(CHANNEL) == found


async def test_what_is_suppressed_is_known_by_another_spelling_and_lifted_by_a_new_confirmation(store: AnyStore) -> None:
    assert await store.recipients.suppression("slack:T1", ME) is None
    await store.recipients.suppress(ME, Suppression.UNSUBSCRIBED, NOW, workspace="slack:T1")
    assert await store.recipients.suppression("slack:T1", "me@lab.EXAMPLE") is Suppression.UNSUBSCRIBED
    assert await store.recipients.suppression("slack:T2", ME) is None
    await store.recipients.suppress(ME, Suppression.COMPLAINED, NOW)
    assert await store.recipients.suppression("slack:T1", ME) is Suppression.COMPLAINED
    assert await store.recipients.suppression("slack:T2", ME) is Suppression.COMPLAINED
    await confirmed(store)
    assert await store.recipients.suppression("slack:T1", ME) is None


async def test_a_confirmation_lifts_for_its_own_workspace_alone_what_holds_for_all(store: AnyStore) -> None:
    await store.recipients.suppress(ME, Suppression.COMPLAINED, NOW)
    await store.recipients.suppress(ME, Suppression.COMPLAINED, NOW, workspace="slack:T1")
    await confirmed(store, asks(workspace="slack:T2"), OTHER)
    assert await store.recipients.suppression("slack:T2", ME) is None
    assert await store.recipients.suppression("slack:T1", ME) is Suppression.COMPLAINED
    assert await store.recipients.suppression("slack:T3", ME) is Suppression.COMPLAINED
    await confirmed(store)
    assert await store.recipients.suppression("slack:T1", ME) is None
    await store.recipients.suppress(ME, Suppression.COMPLAINED, NOW + 2 * HOUR)
    assert await store.recipients.suppression("slack:T1", ME) is Suppression.COMPLAINED, "who complains again is heard again"


async def test_what_holds_for_all_holds_not_for_a_list_that_a_workspace_has_confirmed(store: AnyStore) -> None:
    await confirmed(store, asks(is_list=True))
    await store.recipients.suppress(ME, Suppression.COMPLAINED, NOW + 2 * HOUR)
    assert await store.recipients.suppression("slack:T1", ME) is None, "one of its readers may have confirmed it elsewhere"
    assert await store.recipients.suppression("slack:T2", ME) is Suppression.COMPLAINED
    await store.recipients.suppress(ME, Suppression.UNSUBSCRIBED, NOW, workspace="slack:T1")
    assert await store.recipients.suppression("slack:T1", ME) is Suppression.UNSUBSCRIBED


async def test_the_recipients_of_one_address_are_found_in_every_workspace(store: AnyStore) -> None:
    await confirmed(store)
    await confirmed(store, asks(workspace="slack:T2", address=ME.upper()), OTHER)
    await confirmed(store, asks(address="you@lab.example"), mail_channel("00112233445566cc", ME))
    assert [each.channel for each in await store.recipients.everywhere("me@lab.example")] == [CHANNEL, OTHER]
    assert await store.recipients.everywhere("nobody@lab.example") == []


async def test_what_came_back_and_was_complained_of_is_lifted_by_hand_everywhere_and_no_wish_is(store: AnyStore) -> None:
    recipients = store.recipients
    assert await recipients.allow(ME) == ()
    await confirmed(store)
    await confirmed(store, asks(workspace="slack:T2"), OTHER)
    await recipients.bounced(OTHER, "the mailbox is full", NOW, hard=False)
    assert await recipients.allow(ME) == (), "it is sent to all the while"
    await recipients.bounced(CHANNEL, "gone", NOW, hard=True)
    assert await recipients.allow(ME) == (Suppression.BOUNCED,), "as the mail server refused it"
    await recipients.bounced(CHANNEL, "gone", NOW, hard=True)
    await recipients.suppress(ME, Suppression.BOUNCED, NOW, workspace="slack:T1")
    await recipients.suppress(ME, Suppression.COMPLAINED, NOW + 2 * HOUR)
    await recipients.suppress(ME, Suppression.UNSUBSCRIBED, NOW, workspace="slack:T2")
    await recipients.suppress("you@lab.example", Suppression.BOUNCED, NOW, workspace="slack:T1")
    await recipients.refuse_letters(address_hash(await recipients.key(), ME), Suppression.COMPLAINED, NOW)
    assert await recipients.allow(ME.upper()) == (Suppression.BOUNCED, Suppression.COMPLAINED)
    assert [(each.stopped, each.soft_bounces) for each in await recipients.everywhere(ME)] == [("", 0), ("", 0)]
    assert await recipients.suppression("slack:T1", ME) is None
    assert await recipients.suppression("slack:T2", ME) is Suppression.UNSUBSCRIBED
    assert await recipients.suppression("slack:T1", "you@lab.example") is Suppression.BOUNCED
    assert not await recipients.refuses_letters(ME, NOW)


async def test_who_asked_takes_back_a_code_of_theirs_and_it_counts_all_the_same(store: AnyStore) -> None:
    await store.recipients.ask(asks())
    await store.recipients.ask(asks(person="U2", code=code_kept("slack:T1", "U2", "123456")))
    assert not await store.recipients.take_back("slack:T1", "U3", ME)
    assert not await store.recipients.take_back("slack:T1", "U1", "you@lab.example")
    assert await store.recipients.take_back("slack:T1", "U1", ME.upper())
    assert not await store.recipients.take_back("slack:T1", "U1", ME)
    assert await store.recipients.opt_in("slack:T1", "U1", asks().code, NOW) is None
    assert await store.recipients.opt_in("slack:T1", "U2", code_kept("slack:T1", "U2", "123456"), NOW) is not None
    assert (await store.recipients.asked("slack:T1", "U1", ME, NOW - DAY)).by_person_to_address == 1


async def test_no_other_reason_takes_the_place_of_a_complaint(store: AnyStore) -> None:
    await store.recipients.suppress(ME, Suppression.UNSUBSCRIBED, NOW, workspace="slack:T1")
    await store.recipients.suppress(ME, Suppression.COMPLAINED, NOW, workspace="slack:T1")
    await store.recipients.suppress(ME, Suppression.BOUNCED, NOW, workspace="slack:T1")
    await store.recipients.forget("slack:T1", ME, NOW)
    await store.recipients.forget("", ME, NOW)
    assert await store.recipients.suppression("slack:T1", ME) is Suppression.COMPLAINED
    assert await store.recipients.suppression("slack:T2", ME) is Suppression.FORGOTTEN


@pytest.mark.parametrize("reason", LETTERS_REFUSED)
async def test_an_address_is_sent_no_codes_for_a_time_where_they_came_back(store: AnyStore, reason: Suppression) -> None:
    recipients, holds = store.recipients, LETTERS_REFUSED[reason]
    assert not await recipients.refuses_letters(ME, NOW)
    await recipients.refuse_letters(address_hash(await recipients.key(), ME.upper()), reason, NOW)
    assert await recipients.refuses_letters(ME, NOW + holds - HOUR)
    assert not await recipients.refuses_letters(ME, NOW + holds)
    assert not await recipients.refuses_letters("you@lab.example", NOW)
    assert await recipients.suppression("slack:T1", ME) is None, "what is subscribed there goes on"
    await confirmed(store)
    assert not await recipients.refuses_letters(ME, NOW + HOUR), "who gave the last code wants them"


async def test_a_code_that_came_back_takes_not_the_place_of_a_complaint_of_one(store: AnyStore) -> None:
    hashed = address_hash(await store.recipients.key(), ME)
    for reason in (Suppression.COMPLAINED, Suppression.BOUNCED):
        await store.recipients.refuse_letters(hashed, reason, NOW)
    assert await store.recipients.refuses_letters(ME, NOW + LETTERS_REFUSED[Suppression.COMPLAINED] - HOUR)


async def test_a_workspace_may_write_again_where_the_reason_it_may_not_is_lifted(store: AnyStore) -> None:
    await store.recipients.suppress(ME, Suppression.UNSUBSCRIBED, NOW, workspace="slack:T1")
    await store.recipients.suppress(ME, Suppression.UNSUBSCRIBED, NOW, workspace="slack:T2")
    await store.recipients.lift("slack:T1", ME, Suppression.BOUNCED)
    assert await store.recipients.suppression("slack:T1", ME) is Suppression.UNSUBSCRIBED
    await store.recipients.lift("slack:T1", ME.upper(), Suppression.UNSUBSCRIBED)
    await store.recipients.lift("slack:T1", "nobody@lab.example", Suppression.UNSUBSCRIBED)
    assert await store.recipients.suppression("slack:T1", ME) is None
    assert await store.recipients.suppression("slack:T2", ME) is Suppression.UNSUBSCRIBED


@pytest.mark.parametrize("workspace", ["slack:T1", ""])
async def test_what_is_forgotten_leaves_nothing_but_its_hash(store: AnyStore, workspace: str) -> None:
    await confirmed(store)
    await confirmed(store, asks(workspace="slack:T2"), OTHER)
    held = await subscribed(store, workspace="slack:T1", channel=CHANNEL)
    assert await store.recipients.subscription(held.id) == held
    await store.recipients.ask(asks(person="U2", code="another"))
    gone = await store.recipients.forget(workspace, ME.lower(), NOW)
    assert set(gone) == ({CHANNEL} if workspace else {CHANNEL, OTHER})
    assert await store.recipients.named(CHANNEL) is None
    assert await store.recipients.opt_in("slack:T1", "U2", "another", NOW) is None
    assert await store.workspaces.subscriptions("slack:T1", channel=CHANNEL) == []
    assert await store.recipients.subscription(held.id) is None
    assert await store.recipients.suppression("slack:T1", ME) is Suppression.FORGOTTEN
    assert (await store.recipients.named(OTHER) is None) is (workspace == "")
    assert await store.recipients.forget(workspace, ME, NOW) == []


async def test_a_subscription_of_a_channel_of_a_chat_is_none_by_mail(store: AnyStore) -> None:
    await confirmed(store)
    held = await subscribed(store, workspace="slack:T1", channel="C1")
    assert await store.recipients.subscription(held.id) is None
    assert await store.recipients.subscription("nobody's") is None


async def test_the_key_is_made_once(store: AnyStore) -> None:
    first = await store.recipients.key()
    assert len(first) == 32
    assert await store.recipients.key() == first


async def test_a_delivery_tells_to_whom_it_was_sent_by_e_mail(store: AnyStore) -> None:
    await confirmed(store)
    await made(store, await subscribed(store, "s1", "slack:T1", channel=CHANNEL))
    (mail,) = await store.ledger.deliveries("slack:T1", channel=CHANNEL)
    await made(store, await subscribed(store, "s2", "slack:T1"))
    (post,) = await store.ledger.deliveries("slack:T1", channel="C-s2")
    found = await store.recipients.reader_of(mail.id)
    assert found is not None
    assert found.address == ME
    assert await store.recipients.reader_of(post.id) is None
    assert await store.recipients.reader_of("nothing") is None
    await store.recipients.forget("slack:T1", ME, NOW)
    assert await store.recipients.reader_of(mail.id) is None
