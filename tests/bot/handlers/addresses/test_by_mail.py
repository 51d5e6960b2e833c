"""Digests by e-mail: asked for, confirmed by a code, changed, listed and forgotten, without an address in any log."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.commands import Command, parse, read
from bot.errors import Delayed, Refused, Uncertain, UsageError
from bot.handlers.addresses.forgetting import forget_everywhere
from bot.handlers.addresses.places import with_addresses_told
from bot.handlers.handle import answer
from bot.handlers.links import LinkAction, SignedLink
from bot.handlers.settings import SETTINGS
from bot.handlers.surfaces.linked import linked, question
from bot.handlers.surfaces.suggestions import suggest
from bot.models import MAIL, Asked, OccurrenceState, OptIn, Recipient, Reply, Subscription, Suppression, is_mail
from bot.models.mail import address_hash
from tests.bot.deliveries import change, occurrence
from tests.bot.handlers.askers import ADA, Asker, about, button, changes, said
from tests.bot.handlers.test_status import happened
from tests.fakes.letters import Mailbox
from tests.fakes.transcript import delivery

ME, OTHER = "ada@lab.example", "ben@lab.example"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def anna(ada: Asker, mailbox: Mailbox) -> Asker:
    """Ada, who administers nothing, where e-mail is set up."""
    return replace(ada, context=replace(ada.context, letters=mailbox.opened()))


async def recipients(asker: Asker) -> Sequence[Recipient]:
    return await asker.context.store.recipients.of(ADA.workspace)


async def held(asker: Asker) -> list[Subscription]:
    """What is subscribed by e-mail."""
    return [each for each in await asker.context.store.workspaces.subscriptions(ADA.workspace) if is_mail(each.channel)]


async def confirmed(asker: Asker, mailbox: Mailbox, address: str = ME, line: str = "subscribe kv by email {}") -> Recipient:
    await asker.ask(line.format(address))
    await asker.ask(f"confirm {mailbox.code}")
    found = await asker.context.store.recipients.at(ADA.workspace, address)
    assert found is not None
    return found


async def refused(asker: Asker, line: str) -> str:
    """What is told where it cannot be."""
    with pytest.raises(UsageError) as caught:
        await asker.ask(line)
    assert ME not in str(caught.value)
    assert OTHER not in str(caught.value)
    return f"{caught.value} {caught.value.hint}".strip()


async def test_nothing_is_subscribed_before_the_code_is_typed(anna: Asker, mailbox: Mailbox) -> None:
    asked = await anna.ask(f"subscribe kv by email {ME} weekdays at 07:00 top 3")
    assert asked.title == "A code was sent"
    assert asked.private
    assert asked.next_steps[0].startswith("*confirm 123456* here")
    assert mailbox.addresses == [ME]
    assert mailbox.code not in said(asked)
    assert (await held(anna), await recipients(anna)) == ([], [])

    done = await anna.by(channel="C9").ask(f"confirm {mailbox.code[:3]} {mailbox.code[3:]}")
    (subscription,), (recipient,) = await held(anna), await recipients(anna)
    assert subscription.channel == recipient.channel
    assert (subscription.workspace, subscription.entries, subscription.made_by) == (ADA.workspace, 3, ADA.person)
    assert done.title == "Subscribed to KV cache"
    assert done.text[0] == f"{ME} is confirmed."
    assert f"will be posted by e-mail to {ME} on weekdays at 07:00" in done.text[1]
    assert done.private
    await refused(anna, f"confirm {mailbox.code}")


async def test_what_follows_is_for_the_address_and_no_button_carries_it(anna: Asker, mailbox: Mailbox) -> None:
    await anna.ask(f"subscribe kv by email {ME}")
    done = await anna.ask(f"confirm {mailbox.code}")
    (recipient,) = await recipients(anna)
    for each in done.buttons:
        assert ME not in each.command
        command = read(each.command)
        assert isinstance(command, Command)
        assert command.place == recipient.channel, each.command
    assert recipient.channel in button(done, "Pause")
    paused = await anna.ask(button(done, "Pause"))
    assert f"*resume kv by email {ME}* goes on" in paused.text[-1]
    (subscription,) = await held(anna)
    assert subscription.paused
    resumed = await anna.ask(f"resume kv by email {ME.upper()}")
    assert resumed.title.startswith("KV cache")
    ended = await anna.ask(f"unsubscribe kv by email {ME}")
    assert f"by e-mail to {ME}" in ended.text[0]
    assert await held(anna) == []
    assert (await anna.ask(button(ended, "Undo"))).title == "Subscribed to KV cache", "it is confirmed still"
    assert len(mailbox.letters) == 1


async def test_the_second_subscription_of_an_address_needs_no_code(anna: Asker, mailbox: Mailbox) -> None:
    await confirmed(anna, mailbox)
    reply = await anna.ask(f"subscribe gpu-systems monthly on 15 by email {ME}")
    assert reply.title == "Subscribed to GPU systems"
    followed = await anna.ask(f"follow caches weekly by email {ME}")
    assert followed.private
    assert len(await held(anna)) == 3
    assert len(mailbox.letters) == 1


async def test_no_button_of_a_failure_carries_an_address(anna: Asker, mailbox: Mailbox) -> None:
    async def fails(line: str) -> Reply:
        return await answer(anna.context, parse(line), anna.actor, anna.now, line)

    rui, ran = (replace(about(71 + at, "Paged"), authors=(name,)) for at, name in enumerate(("Rui Mao", "Ran Mao")))
    await anna.context.store.items.add([rui, ran], anna.now - HOUR)
    unclear = await fails(f"follow https://arxiv.org/a/mao_r_1 by email {ME}")
    assert (unclear.title, unclear.buttons, mailbox.letters) == ("Which one?", (), [])
    assert "Rui Mao" in unclear.text[-1]
    assert "Ran Mao" in unclear.text[-1]

    theirs = await confirmed(anna, mailbox)
    await anna.ask(f"subscribe kv weekly by email {ME}")
    for line in (f"pause kv by email {ME}", f"unsubscribe kv by email {ME}", f"filter kv here add -survey by email {ME}"):
        reply = await fails(line)
        assert reply.title == "Which one?", line
        for each in reply.buttons:
            command = read(each.command)
            assert isinstance(command, Command)
            assert command.place == theirs.channel, each.command
    assert (await anna.ask(button(await fails(f"pause kv by email {ME}"), "Weekly"))).title.startswith("KV cache is paused")


@pytest.mark.parametrize(
    "line",
    [
        "list by email {}",
        "status by email {}",
        "now kv by email {}",
        "filter kv here add -survey by email {}",
        "settings duplicates here by email {}",
        "why 2603.00001 by email {}",
        "pause kv by email {} until 2026-12-01",
    ],
)
async def test_what_is_for_a_channel_is_for_an_address_too(anna: Asker, mailbox: Mailbox, line: str) -> None:
    await confirmed(anna, mailbox)
    reply = await anna.ask(line.format(ME))
    assert reply.private
    settled = await anna.context.store.workspaces.preferences(ADA.workspace)
    (subscription,) = await held(anna)
    if line.startswith("settings"):
        assert settled.prefer_duplicate == (subscription.channel,)
        assert "An address." in said(await anna.ask("settings duplicates")), "others are not told which"
    if line.startswith("filter"):
        assert subscription.filter.text == "-survey"
    assert "is subscribed here" not in said(reply)


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "duplicates"])
async def test_an_address_changes_no_setting_of_the_whole_workspace(anna: Asker, mailbox: Mailbox, name: str) -> None:
    await confirmed(anna, mailbox)
    before = await anna.context.store.workspaces.preferences(ADA.workspace)
    for line in (f"{SETTINGS[name].example} by email {ME}", f"settings {name} by email {ME}"):
        with pytest.raises(UsageError, match=r"not for (one|an) address|not by e-mail") as caught:
            await anna.by(may_administer=True).ask(line)
        assert "*settings duplicates here" in caught.value.hint
        assert f"*{SETTINGS[name].example}" not in caught.value.hint, "what was refused is not offered"
    assert await anna.context.store.workspaces.preferences(ADA.workspace) == before


async def test_the_settings_of_an_address_are_those_that_can_be_its_own(anna: Asker, mailbox: Mailbox) -> None:
    await confirmed(anna, mailbox)
    shown = await anna.ask(f"settings by email {ME}")
    assert (shown.title, len(shown.fields)) == ("Settings of this address", 1), said(shown)
    assert shown.next_steps == (f"*settings duplicates here by email {ME}* changes it.",)
    assert len((await anna.ask("settings")).fields) > 1


async def test_what_waits_is_done_as_it_was_asked(anna: Asker, mailbox: Mailbox) -> None:
    await anna.ask(f'follow "paged attention" weekly by email {ME}')
    done = await anna.ask(f"confirm {mailbox.code}")
    assert "paged attention" in done.title
    (subscription,) = await held(anna)
    assert subscription.rhythm == "weekly"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("subscribe nothing-like-it by email {}", "There is no topic"),
        ("subscribe kv in Nowhere/Land by email {}", "Nowhere"),
        ("subscribe kv by email {} filter (((", ""),
        ("subscribe kv by email not@an@address", "That is no e-mail address."),
        ("subscribe kv by email me@localhost", "That is no e-mail address."),
        ("pause kv by email {}", "No address of yours like that"),
        ("list by email {}", "No address of yours like that"),
        ("list by email mail:0123456789abcdef.012345", "No address of yours like that"),
        ("forget {}", "No address of yours like that"),
    ],
)
async def test_what_cannot_be_is_told_before_a_letter_is_written(
    anna: Asker, mailbox: Mailbox, line: str, told: str
) -> None:
    assert told in await refused(anna, line.format(ME))
    assert mailbox.letters == []


async def test_without_e_mail_set_up_no_code_is_promised(ada: Asker) -> None:
    assert "No e-mail is set up here" in await refused(ada, f"subscribe kv by email {ME}")
    asked = await ada.context.store.recipients.asked(ADA.workspace, ADA.person, ME, ada.now - DAY)
    assert asked == Asked()


async def test_who_may_not_manage_is_sent_no_code(anna: Asker, mailbox: Mailbox) -> None:
    strict = replace(anna, context=replace(anna.context, manage="admins"))
    assert "Only administrators" in await refused(strict, f"subscribe kv by email {ME}")
    assert mailbox.letters == []


# --- codes


async def test_ones_own_inbox_is_ones_own_to_pause_and_to_end_whoever_manages_the_channels(
    anna: Asker, mailbox: Mailbox
) -> None:
    await confirmed(anna, mailbox)
    await anna.by(person="boss", may_administer=True).ask("settings manage admins")
    assert "Only administrators" in await refused(anna, f"subscribe kv by email {ME} top 3")
    assert "Only administrators" in await refused(anna, f"filter kv here add -survey by email {ME}")
    await anna.ask(f"pause kv by email {ME}")
    await anna.ask(f"resume kv by email {ME}")
    await anna.ask(f"unsubscribe kv by email {ME}")
    assert await held(anna) == []


async def test_a_code_is_one_persons_in_one_workspace_and_holds_a_day(anna: Asker, mailbox: Mailbox) -> None:
    await anna.ask(f"subscribe kv by email {ME}")
    for other in (anna.by(person="U-ben"), anna.by(workspace="slack:T2"), anna.at(anna.now + DAY)):
        assert "not a code that holds" in await refused(other, f"confirm {mailbox.code}")
    assert (await anna.ask(f"confirm {mailbox.code}.")).title == "Subscribed to KV cache"


async def test_five_wrong_codes_end_the_right_one(anna: Asker, mailbox: Mailbox) -> None:
    await anna.ask(f"subscribe kv by email {ME}")
    wrong = f"{(int(mailbox.code) + 1) % 10**6:06}"
    for _ in range(5):
        await refused(anna, f"confirm {wrong}")
    assert "not a code that holds" in await refused(anna, f"confirm {mailbox.code}")
    assert await recipients(anna) == []


async def test_codes_are_limited_by_address_person_and_workspace(anna: Asker, mailbox: Mailbox) -> None:
    async def asks(asker: Asker, address: str) -> str:
        try:
            return (await asker.ask(f"subscribe kv by email {address}")).title
        except UsageError as error:
            return str(error)

    assert await asks(anna, ME) == "A code was sent"
    assert "less than 10 minutes ago" in await asks(anna, ME.upper()), "another spelling is the same mailbox"
    assert [await asks(anna, f"{name}@lab.example") for name in "bc"] == ["A code was sent"] * 2
    assert "3 codes an hour" in await asks(anna, "d@lab.example")
    later = anna.at(anna.now + 2 * HOUR)
    assert [await asks(later, f"{name}@lab.example") for name in "def"] == ["A code was sent"] * 3
    assert "6 a day" in await asks(anna.at(anna.now + 4 * HOUR), "g@lab.example")
    ben = anna.by(person="U-ben")
    assert [await asks(ben.at(anna.now + number * HOUR), OTHER) for number in range(3)] == ["A code was sent"] * 3
    assert "3 codes a day to one address" in await asks(ben.at(anna.now + 5 * HOUR), OTHER)
    sent = len(mailbox.letters)
    for number in range(60):
        await asks(anna.by(person=f"V{number}").at(anna.now + 6 * HOUR), f"v{number}@lab.example")
    assert len(mailbox.letters) == 50
    assert sent < 50
    assert "50 codes are sent a day" in await asks(anna.by(person="W").at(anna.now + 6 * HOUR), "w@lab.example")


async def test_what_others_asked_at_an_address_is_told_nobody_and_locks_nobody_out(anna: Asker, mailbox: Mailbox) -> None:
    strangers = [anna.by(workspace=f"slack:T{number}", person=f"U{number}") for number in range(2, 6)]
    told = said(await anna.ask("subscribe kv by email new@lab.example"))
    for hours in (0, 1, 2):
        for stranger in strangers:
            answer_to = await stranger.at(anna.now + hours * HOUR).ask(f"subscribe kv by email {ME}")
            assert said(answer_to) == told.replace("new@lab.example", ME)
    assert mailbox.addresses.count(ME) == 6, "of the strangers' twelve"
    for number in range(1, 8):
        another = anna.by(person=f"V{number}").at(anna.now + 3 * HOUR)
        assert said(await another.ask(f"subscribe kv by email {ME}")) == told.replace("new@lab.example", ME)
        assert mailbox.addresses.count(ME) == min(6 + number, 12)


async def test_codes_are_limited_for_all_workspaces_together(anna: Asker, mailbox: Mailbox) -> None:
    store = anna.context.store
    for number in range(500):
        asked = OptIn(
            workspace=f"slack:T{number}",
            person="U1",
            address=f"a{number}@lab.example",
            code=f"{number}",
            command="subscribe kv",
            asked_at=anna.now,
            until=anna.now + DAY,
        )
        await store.recipients.ask(asked)
    assert "As many codes were sent today as may be." in await refused(anna, f"subscribe kv by email {ME}")
    assert (await anna.at(anna.now + DAY + HOUR).ask(f"subscribe kv by email {ME}")).title == "A code was sent"


async def test_who_refused_codes_is_sent_none_whoever_asks_and_nobody_is_told(anna: Asker, mailbox: Mailbox) -> None:
    recipients = anna.context.store.recipients
    usual = await anna.ask("subscribe kv by email you@lab.example")
    await recipients.refuse_letters(address_hash(await recipients.key(), ME), Suppression.COMPLAINED, anna.now)
    for asker in (anna, anna.by(workspace="slack:T2", person="U9", may_administer=True).at(anna.now + HOUR)):
        told = await asker.ask(f"subscribe kv by email {ME.upper()}")
        assert (told.title, told.text[1:], told.next_steps) == (usual.title, usual.text[1:], usual.next_steps)
    assert mailbox.addresses == ["you@lab.example"]


async def test_several_commands_at_once_send_no_more_codes_than_one_after_another(anna: Asker, mailbox: Mailbox) -> None:
    lines = [f"subscribe kv by email a{number}@lab.example" for number in range(12)]
    await asyncio.gather(*(anna.ask(line) for line in lines), return_exceptions=True)
    assert len(mailbox.letters) == 3


@pytest.mark.parametrize(
    ("fails", "title"),
    [
        (Refused("The mail server takes nothing for it."), "The code could not be sent"),
        (Delayed("The mail server asks for patience."), "The code could not be sent"),
        (Uncertain("The connection broke."), "A code may have been sent"),
    ],
)
async def test_a_letter_that_is_not_taken_is_told(
    anna: Asker, mailbox: Mailbox, fails: Exception, title: str, caplog: pytest.LogCaptureFixture
) -> None:
    mailbox.fails = fails
    reply = await anna.ask(f"subscribe kv by email {ME}")
    assert reply.title == title
    assert ME not in caplog.text


async def test_a_letter_that_the_server_could_not_take_counts_as_none(anna: Asker, mailbox: Mailbox) -> None:
    mailbox.fails = Delayed("The mail server could not be reached.")
    for _ in range(4):
        assert (await anna.ask(f"subscribe kv by email {ME}")).title == "The code could not be sent"
    mailbox.fails = None
    assert (await anna.ask(f"subscribe kv by email {ME}")).title == "A code was sent"
    mailbox.fails = Refused("The mail server takes nothing for it.")
    await anna.ask(f"subscribe kv by email {OTHER}")
    assert "less than 10 minutes ago" in await refused(anna, f"subscribe kv by email {OTHER}"), (
        "what an address refuses counts"
    )


# --- whose an address is


async def test_an_address_of_somebody_else_is_told_as_one_that_nobody_confirmed(anna: Asker, mailbox: Mailbox) -> None:
    theirs = await confirmed(anna, mailbox)
    ben = anna.by(person="U-ben").at(anna.now + HOUR)
    for line in ("list by email {}", "unsubscribe kv by email {}", "pause kv by email {}", "forget {}"):
        assert await refused(ben, line.format(ME)) == await refused(ben, line.format("nobody@lab.example"))
        if line != "forget {}":
            assert await refused(ben, line.format(theirs.channel)) == await refused(ben, line.format(ME))
    told = [said(await ben.ask(f"subscribe kv by email {each}")).replace(each, "") for each in (ME, "nobody@lab.example")]
    assert told[0] == told[1]
    listed = said(await ben.ask("list all"))
    assert "lab.example" not in listed
    assert "mail:" not in listed
    assert "mail:" not in said(await ben.ask("history"))
    assert "mail:" not in said(await ben.ask("topic show kv"))
    assert "mail:" not in said(await ben.ask("transfer"))


async def test_an_address_stays_with_who_confirmed_it_until_it_is_forgotten(anna: Asker, mailbox: Mailbox) -> None:
    early = anna.by(person="U-eve")
    await early.ask(f"subscribe kv weekly by email {ME}")
    early_code = mailbox.code
    theirs = await confirmed(anna, mailbox)
    assert "Another person here has confirmed" in await refused(early, f"confirm {early_code}")
    later, free = anna.by(person="U-eve").at(anna.now + HOUR), "free@lab.example"
    told = said(await later.ask(f"subscribe kv weekly by email {ME}"))
    assert told.replace(ME, free) == said(await later.ask(f"subscribe kv weekly by email {free}"))
    _, subject, letter = mailbox.letters[-2]
    assert subject == "Digests were asked for at your address"
    assert "Another person there has confirmed it already" in letter
    assert "http" not in letter
    assert "confirm 1" not in letter
    root = anna.by(person="U-root", may_administer=True).at(anna.now + HOUR)
    assert "Another person here has confirmed" in await refused(root, f"subscribe kv weekly by email {ME}")
    assert [(each.person, each.channel) for each in await recipients(anna)] == [(ADA.person, theirs.channel)]

    await root.ask(f"forget {ME} surely")
    anew = later.at(anna.now + 2 * HOUR)
    await confirmed(anew, mailbox)
    (recipient,) = await recipients(anna)
    assert recipient.person == "U-eve"
    assert recipient.channel != theirs.channel, "links of before lead nowhere"


async def test_what_became_of_mails_to_others_is_told_to_administrators_alone(anna: Asker, mailbox: Mailbox) -> None:
    theirs = await confirmed(anna, mailbox)
    await happened(anna.by(channel=theirs.channel), OccurrenceState.SKIPPED, reason="noticed too late")
    told = "was skipped: noticed too late"
    assert told in said(await anna.by(channel="").ask("status"))
    assert told in said(await anna.by(channel="", person="U-root", may_administer=True).ask("status"))
    assert told not in said(await anna.by(channel="", person="U-ben").ask("status"))


async def test_a_list_becomes_nobodys_own(anna: Asker, mailbox: Mailbox) -> None:
    admin, papers = anna.by(may_administer=True), "papers@lists.lab.example"
    await admin.ask(f"subscribe kv by list {papers}")
    await admin.ask(f"confirm {mailbox.code}")
    eve = anna.by(person="U-eve").at(anna.now + HOUR)
    assert (await eve.ask(f"subscribe kv by email {papers}")).title == "A code was sent"
    assert "there is no code" in mailbox.letters[-1][2]
    (recipient,) = await recipients(anna)
    assert recipient.is_list


async def test_ones_own_are_listed_and_those_of_others_only_to_administrators_and_masked(
    anna: Asker, mailbox: Mailbox
) -> None:
    theirs = await confirmed(anna, mailbox)
    await anna.ask("subscribe gpu-systems")
    mine = await anna.ask("list all")
    assert [each.title for each in mine.entries] == [
        "this channel: GPU systems (gpu-systems)",
        f"by e-mail to {ME}: KV cache (kv)",
    ]
    paused = await anna.ask(next(each.command for each in mine.entries[1].buttons if each.label == "Pause"))
    assert ME in said(paused)
    admin = anna.by(person="U-root", may_administer=True)
    listed = await admin.ask("list all")
    assert "by e-mail to a…@lab.example: KV cache (kv)" in [each.title for each in listed.entries]
    assert ME not in said(listed)
    resumed = await admin.ask(f"resume kv by email {theirs.channel}")
    assert ME not in said(resumed)
    assert "by e-mail to a…@lab.example" in said(await admin.ask(f"list by email {theirs.channel}"))
    assert f"by email {ME}" in said(await admin.ask(f"pause kv by email {ME}")), "who names it knows it"


async def test_buttons_tell_an_address_to_whose_it_is_alone(anna: Asker, mailbox: Mailbox) -> None:
    theirs = await confirmed(anna, mailbox)
    directly = anna.by(is_direct=True, channel="D1")
    replies = [
        await anna.ask(f"pause kv by email {ME}"),
        await anna.ask("list all"),
        await directly.ask("list"),
        await directly.ask("status"),
        await anna.ask(f"forget {ME}"),
    ]
    for reply in replies:
        shown = [
            each for each in (*reply.buttons, *(b for e in reply.entries for b in e.buttons)) if is_mail_in(each.command)
        ]
        assert shown, reply.title
        for each in shown:
            assert each.told == each.command.replace(theirs.channel, ME)
            assert "by email" not in each.told or parse(each.told).place == f"email:{ME}"
    root = await anna.by(person="U-root", may_administer=True).ask("list all")
    assert is_mail_in(root.entries[0].buttons[-1].command)
    assert {each.told for each in root.entries[0].buttons} == {""}, "what they know masked cannot be typed"
    openly = replace(replies[0], private=False, buttons=tuple(replace(each, told="") for each in replies[0].buttons))
    assert await with_addresses_told(anna.context, openly, anna.actor) == openly


def is_mail_in(command: str) -> bool:
    return MAIL in command


async def test_where_nobody_else_reads_ones_own_stand_beside_the_channels(anna: Asker, mailbox: Mailbox) -> None:
    await confirmed(anna, mailbox)
    ben = anna.by(is_direct=True, person="U-ben", may_administer=True)
    assert "Nothing is subscribed" in (await ben.ask("list")).title
    directly = anna.by(is_direct=True, channel="D1")
    assert [each.title for each in (await directly.ask("list")).entries] == [f"by e-mail to {ME}: KV cache (kv)"]
    assert (await directly.ask("list")).title == "1 subscription by e-mail", "the channel has none"
    await directly.ask("subscribe gpu-systems")
    listed = await directly.ask("list")
    assert listed.title == "2 subscriptions in this channel and by e-mail"
    assert [each.title for each in listed.entries] == ["GPU systems (gpu-systems)", f"by e-mail to {ME}: KV cache (kv)"]
    assert len((await directly.ask(f"list by email {ME}")).entries) == 1
    assert ME not in said(await anna.ask("list"))


async def test_a_person_has_three_addresses_and_an_administrator_more(anna: Asker, mailbox: Mailbox) -> None:
    for number in range(3):
        await confirmed(anna.at(anna.now + 2 * number * HOUR), mailbox, f"a{number}@lab.example")
    later = anna.at(anna.now + 7 * HOUR)
    assert "3 addresses of yours" in await refused(later, "subscribe kv by email a3@lab.example")
    assert (await later.ask("subscribe gpu-systems by email a2@lab.example")).title == "Subscribed to GPU systems"
    assert (await later.by(may_administer=True).ask("subscribe kv by email a3@lab.example")).title == "A code was sent"


async def test_a_list_is_for_administrators_and_who_is_alone_administers_nobody(anna: Asker, mailbox: Mailbox) -> None:
    papers = "papers@lists.lab.example"
    told = await refused(anna, f"subscribe kv by list {papers}")
    assert "Only administrators" in told
    assert await refused(anna.by(may_administer=True, is_alone=True), f"subscribe kv by list {papers}") == told
    admin = anna.by(may_administer=True)
    await admin.ask(f"subscribe kv by list {papers}")
    assert "Only administrators" in await refused(anna, f"confirm {mailbox.code}"), "whose rights were taken back meanwhile"
    await admin.ask(f"confirm {mailbox.code}")
    (recipient,) = await recipients(anna)
    assert recipient.is_list
    other = anna.by(person="U-root", may_administer=True)
    assert f"by e-mail to {papers}: KV cache (kv)" in said(await other.ask("list all"))
    assert (await other.ask(f"subscribe gpu-systems by list {papers}")).title == "Subscribed to GPU systems"
    assert papers not in said(await anna.ask("list all"))


async def test_who_complained_is_asked_again_by_an_administrator_alone(anna: Asker, mailbox: Mailbox) -> None:
    await anna.context.store.recipients.suppress(ME, Suppression.COMPLAINED, anna.now)
    ben = anna.by(person="U-ben")
    for later in (0 * HOUR, HOUR / 12, HOUR, 2 * HOUR, 3 * HOUR):
        told = [
            await answer(ben.context, parse(f"subscribe kv by email {each}"), asking.actor, anna.now + later)
            for each, asking in ((ME, ben), ("new@lab.example", ben.by(person="U-eve")))
        ]
        assert said(told[0]).replace(ME, "") == said(told[1]).replace("new@lab.example", "")
    assert ME not in mailbox.addresses
    assert "not a code that holds" in await refused(ben, "confirm 123456")
    assert (await anna.by(may_administer=True).ask(f"subscribe kv by email {ME}")).title == "A code was sent"


@pytest.mark.parametrize("reason", [Suppression.UNSUBSCRIBED, Suppression.BOUNCED])
async def test_where_nothing_is_sent_any_more_a_new_code_is_needed(
    anna: Asker, mailbox: Mailbox, reason: Suppression
) -> None:
    theirs = await confirmed(anna, mailbox)
    await anna.ask(f"pause kv by email {ME}")
    if reason is Suppression.BOUNCED:
        await anna.context.store.recipients.bounced(theirs.channel, "No such mailbox.", anna.now, hard=True)
    else:
        await anna.context.store.recipients.suppress(ME, reason, anna.now, workspace=ADA.workspace)
    later = anna.at(anna.now + HOUR)
    blocked = await later.ask(f"resume kv by email {ME}")
    assert blocked.title == "KV cache is still paused"
    assert "sends a new code" in blocked.text[0]
    assert (await later.ask(f"subscribe gpu-systems by email {ME}")).title == "A code was sent"
    await later.ask(f"confirm {mailbox.code}")
    assert (await later.ask(f"resume kv by email {ME}")).title != "KV cache is still paused"
    assert {each.channel for each in await held(anna)} == {theirs.channel}


async def test_confirming_anew_lets_go_on_at_once_what_the_service_paused_there(anna: Asker, mailbox: Mailbox) -> None:
    theirs = await confirmed(anna, mailbox)
    await anna.ask(f"follow caches weekly by email {ME}")
    await anna.ask(f"subscribe gpu-systems by email {ME}")
    await anna.ask(f"pause caches by email {ME}")
    await anna.ask("subscribe kv")
    for each in await anna.context.store.workspaces.subscriptions(ADA.workspace, topic="kv"):
        held_back = each.held_back(None, anna.now, "No such mailbox.")
        await anna.context.store.workspaces.save_subscription(held_back, change(), replaces=each.revision)
    await anna.context.store.recipients.bounced(theirs.channel, "No such mailbox.", anna.now, hard=True)

    later = anna.at(anna.now + 2 * DAY)
    await later.ask(f"subscribe gpu-systems by email {ME} top 4")
    assert {each.topic for each in await held(anna) if each.paused} == {"kv", "caches"}, "before the code is typed"
    done = await later.ask(f"confirm {mailbox.code}")

    assert done.text[:2] == (f"{ME} is confirmed.", "What was paused when mail could not be sent there goes on: KV cache.")
    assert {each.topic for each in await held(anna) if each.paused} == {"caches"}, "which a person paused"
    (here,) = await anna.here()
    assert here.is_held_by_service, "of a channel nothing is known"


async def test_a_pause_after_a_bounce_names_what_ends_it(anna: Asker, mailbox: Mailbox) -> None:
    theirs = await confirmed(anna, mailbox)
    (subscription,) = await held(anna)
    paused = subscription.held_back(None, anna.now, "No such mailbox.")
    await anna.context.store.workspaces.save_subscription(paused, change(), replaces=subscription.revision)
    await anna.context.store.recipients.bounced(theirs.channel, "No such mailbox.", anna.now, hard=True)
    ends = f"It goes on once the address is confirmed again: *subscribe kv by email {ME}*."
    directly = anna.by(is_direct=True, channel="D1")
    for reply in (
        await anna.ask(f"list by email {ME}"),
        await anna.ask(f"status by email {ME}"),
        await directly.ask("list"),
    ):
        assert ends in said(reply), said(reply)
        assert "goes on by itself" not in said(reply)
    resumed = await anna.ask(f"resume kv by email {ME}")
    assert resumed.text[-1] == ends
    assert "press" not in said(resumed)


async def test_without_e_mail_set_up_resume_says_that_first(anna: Asker, ada: Asker, mailbox: Mailbox) -> None:
    await confirmed(anna, mailbox)
    await anna.ask(f"pause kv by email {ME}")
    told = said(await ada.ask(f"resume kv by email {ME}"))
    assert "No e-mail is set up here" in told
    assert "press *Resume*" in told


async def test_status_names_ones_own_by_e_mail_where_nobody_else_reads(anna: Asker, mailbox: Mailbox) -> None:
    theirs = await confirmed(anna, mailbox)
    directly = anna.by(is_direct=True, channel="D1")
    told = await directly.ask("status")
    assert [each.title for each in told.entries] == [f"by e-mail to {ME}: KV cache (kv)"]
    assert not any("Nothing is subscribed" in each for each in told.text)
    assert f"kv by email {theirs.channel}" in told.entries[0].buttons[0].command
    for other in (anna, directly.by(person="U-ben"), directly.by(person="U-root", may_administer=True)):
        reply = await other.ask("status")
        assert (reply.entries, ME in said(reply)) == ((), False)
        assert any("Nothing is subscribed" in each for each in reply.text)


async def test_administrators_are_told_that_mails_wait_and_why(anna: Asker, mailbox: Mailbox) -> None:
    await confirmed(anna, mailbox)
    (subscription,) = await held(anna)
    ledger = anna.context.store.ledger
    due = occurrence(subscription, now=anna.now)
    await ledger.open_occurrences([due], subscription, anna.now + DAY)
    waits = delivery(
        now=anna.now,
        occurrence=due.key[1:],
        workspace=ADA.workspace,
        channel=subscription.channel,
        reason="The mail server could not be reached.",
    )
    made = replace(due, state=OccurrenceState.MADE)
    await ledger.close_occurrence(made, anna.now, deliveries=[waits])
    admin = anna.by(person="U-root", may_administer=True)
    assert "1 mail waits to be sent: The mail server could not be reached." in (await admin.ask("status")).text
    assert "waits to be sent" not in said(await anna.ask("status"))
    mine = await anna.by(is_direct=True, channel="D1").ask("status")
    assert "waits to be posted: The mail server could not be reached." in said(mine)


@pytest.mark.parametrize("action", [LinkAction.PAUSE, LinkAction.UNSUBSCRIBE])
async def test_a_page_says_on_which_days_what_it_ends_comes(anna: Asker, mailbox: Mailbox, action: LinkAction) -> None:
    await confirmed(anna, mailbox, line="subscribe kv by email {} weekdays at 07:00")
    (subscription,) = await held(anna)
    named = await linked(anna.context, SignedLink(action, subscription.id))
    assert named is not None
    asked = await question(named, anna.now)
    assert "its digest, on weekdays at 07:00 (UTC), comes to your inbox" in asked.text[0]
    assert "daily" not in asked.text[0]


# --- forgetting


async def test_forgetting_asks_first_and_erases_all(anna: Asker, mailbox: Mailbox) -> None:
    await confirmed(anna, mailbox)
    await anna.ask(f"follow caches weekly by email {ME}")
    asked = await anna.ask(f"forget {ME}")
    assert asked.title == f"Forget {ME}?"
    assert "KV cache, every day at 09:00 (UTC)" in asked.text[0]
    assert len(await held(anna)) == 2
    assert ME not in button(asked, "Forget it")
    done = await anna.ask(button(asked, "Forget it"))
    assert done.title == f"{ME} is forgotten"
    assert (await held(anna), await recipients(anna)) == ([], [])
    assert await anna.context.store.recipients.suppression(ADA.workspace, ME) is Suppression.FORGOTTEN
    assert "caches" not in await anna.context.store.workspaces.topics(ADA.workspace), "what nobody follows any more goes"
    await confirmed(anna.at(anna.now + HOUR), mailbox)
    assert len(await held(anna)) == 1


async def test_an_administrator_forgets_anybodys_even_where_nothing_was_confirmed(anna: Asker, mailbox: Mailbox) -> None:
    theirs = await confirmed(anna, mailbox)
    admin = anna.by(person="U-root", may_administer=True)
    asked = await admin.ask(f"forget {theirs.channel}")
    assert asked.title == "Forget a…@lab.example?"
    await admin.ask(button(asked, "Forget it"))
    assert await recipients(anna) == []
    await anna.at(anna.now + HOUR).ask(f"subscribe kv by email {OTHER}")
    await admin.ask(f"forget {OTHER}")
    await refused(anna.at(anna.now + HOUR), f"confirm {mailbox.code}")


async def test_who_mistyped_an_address_takes_their_code_back_and_nobody_elses(anna: Asker, mailbox: Mailbox) -> None:
    typo = "ada@lab.exmaple"
    await anna.ask(f"subscribe kv by email {typo}")
    assert "No address of yours like that" in await refused(anna.by(person="U-ben"), f"forget {typo}")
    assert (await anna.ask(f"forget {typo}")).title == f"{typo} is forgotten"
    assert "not a code that holds" in await refused(anna, f"confirm {mailbox.code}")
    assert "No address of yours like that" in await refused(anna, f"forget {typo}")


async def test_who_runs_the_service_forgets_an_address_in_every_workspace(anna: Asker, mailbox: Mailbox) -> None:
    await confirmed(anna, mailbox)
    await anna.ask(f"follow caches weekly by email {ME}")
    other = anna.by(workspace="slack:T2")
    await other.ask(f"follow caches by email {ME}")
    waits = mailbox.code
    assert await forget_everywhere(anna.context, ME.upper(), anna.now) == 2
    assert (await held(anna), await recipients(anna)) == ([], [])
    assert "caches" not in await anna.context.store.workspaces.topics(ADA.workspace)
    assert "not a code that holds" in await refused(other, f"confirm {waits}")
    assert await anna.context.store.recipients.suppression("slack:T3", ME) is Suppression.FORGOTTEN
    assert await forget_everywhere(anna.context, ME, anna.now) == 0


# --- nothing of it is written down


async def test_no_address_reaches_the_log_the_audit_or_an_error(
    anna: Asker, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    at, told = anna.now, []

    async def do(line: str) -> Reply:
        nonlocal at
        at += timedelta(minutes=30)
        told.append(line)
        return await answer(anna.context, read(line), anna.by(may_administer=True).actor, at, line)

    await do(f"subscribe kv by email {ME}")
    await do(f"confirm {mailbox.code}")
    for line in ("subscribe kv to {}", "follow caches email {}", "filter kv add -survey {}", "mail {} kv", "pause kv {}"):
        assert f"by email {ME}" in said(await do(line.format(ME)))
    for line in ("list", "status", "pause kv", "resume kv", "now kv", "unsubscribe kv", "unsubscribe kv", "post kv"):
        await do(f"{line} by email {ME}")
    await do(f"subscribe kv by email {ME}")
    await do("settings alerts here by email " + ME)
    for fails in (Refused("no"), Uncertain("no"), ValueError("no")):
        mailbox.fails = fails
        await do(f"subscribe kv by list {type(fails).__name__}@lab.example")
    await do(f"forget {ME}")
    audit = await changes(anna)
    assert audit
    kept = "".join(f"{each.what}{each.before}{each.after}" for each in audit)
    assert "lab.example" not in kept
    assert "lab.example" not in caplog.text


async def test_what_suits_an_address_is_suggested_to_whose_it_is(anna: Asker, mailbox: Mailbox, now: datetime) -> None:
    await confirmed(anna, mailbox)
    found = await suggest(anna.context, "address", "ada", anna.actor, now)
    assert [each.value for each in found] == [ME]
    assert await suggest(anna.context, "address", "", anna.by(person="U-ben").actor, now) == []
    root = anna.by(person="U-root", may_administer=True).actor
    assert await suggest(anna.context, "address", "", root, now) == [], "an administrator is not told them either"
    here = await suggest(anna.context, "subscription", "", anna.actor, now, {"email": ME})
    assert [each.value for each in here] == ["kv"]
    assert await suggest(anna.context, "subscription", "", anna.actor, now) == []
