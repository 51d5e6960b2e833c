"""Mails over real sockets, to a relay that fails: what is sent once, what is tried again, whose subscription is paused."""

import asyncio
import io
import json
import random
import sqlite3
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import dns.asyncresolver
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest
from pydantic import SecretStr

from adapters.chat.connection import Advice
from adapters.cli.doctor import examine
from adapters.cli.main import main
from adapters.cli.platforms import opened, send_test_mail
from adapters.email.check import check
from adapters.email.message import OutgoingMail, as_bytes
from adapters.email.receive import read
from adapters.email.relay.connection import Unreached
from adapters.email.relay.relay import CONNECTIONS, IDLE, Relay, trust
from adapters.email.relay.replies import AddressRefused
from adapters.email.send import EmailMessenger
from benchmarks.soak.tls import self_signed
from bot.app import built
from bot.delivery import Deliverer, DeliveryContext, SubscriptionResumer
from bot.errors import (
    Delayed,
    DeliveryError,
    NetworkFault,
    Reach,
    Refused,
    Rejected,
    SettingsError,
    StoreError,
    Uncertain,
    UsageError,
)
from bot.handlers.links import LinkAction, LinkSigner, SignedLink, letter_hash
from bot.handlers.surfaces.returned import Bounce, Proof, UnsubscribeMail, follow_up
from bot.models import (
    Delivery,
    DeliveryState,
    Preferences,
    Suppression,
    mail_channel,
)
from bot.models.mail import address_hash
from bot.ports.mail import Mailer
from bot.ports.messenger import Messenger
from bot.settings.load import Settings
from bot.settings.mail import MailSettings
from bot.settings.web import WebSettings
from bot.store.sqlite.store import SqliteStore
from tests.adapters.email.test_receive import NUMBER, report
from tests.bot.deliveries import Harness, change, confirmed
from tests.bot.handlers.askers import asker
from tests.conftest import NOW
from tests.fakes.smtp import HOST, PASSWORD, USER, At, FakeRelay, running

ADDRESSES = ("me@lab.example", "you@lab.example", "they@other.example")
CHANNELS = tuple(mail_channel(f"00112233445566{number:02x}", each) for number, each in enumerate(ADDRESSES))
MINE, YOURS, THEIRS = CHANNELS
PAYLOAD = json.dumps({"subject": "GPU systems: one", "text": "One\n.\n..two\n", "html": "<p>One</p>\n.\n", "keys": []})


def settings(relay: FakeRelay, **changes: Any) -> MailSettings:
    sender = "Broadsheet <papers@lab.example>"
    plain: dict[str, Any] = {"host": HOST, "port": relay.port, "tls": "off", "sender": sender, "timeout": 5.0}
    return MailSettings(**(plain | changes))


NO_DNS = dns.asyncresolver.Resolver(configure=False)
NO_DNS.nameservers = []


class House(Harness):
    """A workspace of a chat with three recipients, each subscribed to one topic, and what sends to them."""

    def __init__(self, relay: FakeRelay, **changes: Any) -> None:
        super().__init__()
        self.relay = relay
        self.settings_of_mail = settings(relay, **changes)
        trusted = trust(self.settings_of_mail)
        self.smtp = Relay(self.settings_of_mail, trusted, self.clock, timer=lambda: self.clock().timestamp())
        self.signer = LinkSigner(b"0" * 32, "https://papers.lab.example")
        self.messenger = self.sending(self.store.ledger.begin)
        self.direct = self.sending(self._always)  # sends what nobody claimed

    def sending(self, begin: Callable[[Delivery], Awaitable[bool]]) -> EmailMessenger:
        store = self.store.recipients
        return EmailMessenger(self.smtp, store, self.settings_of_mail, self.signer, begin, clock=self.clock)

    async def _always(self, _: Delivery) -> bool:
        return True

    def mail_context(self) -> DeliveryContext:
        messengers: dict[str, Messenger] = {"chat": self.chat, "email": self.messenger}
        return DeliveryContext(self.store, self.store.ledger, messengers, self.settings, random.Random(0))

    async def furnish(self) -> "House":
        for address, channel in zip(ADDRESSES, CHANNELS, strict=True):
            await confirmed(self.store, address, channel)
        await self.plant([of(channel) for channel in CHANNELS])
        return self

    async def rounds(self, number: int = 1, *, apart: timedelta = timedelta(minutes=2)) -> None:
        deliverer = Deliverer(self.mail_context(), pause=self.clock.pause)
        for _ in range(number):
            await deliverer.deliver_due(self.clock)
            await deliverer.reconcile(self.clock)
            await deliverer.send_notices(self.clock)
            self.clock.advance(apart)

    async def states(self) -> dict[str, DeliveryState]:
        return {each.channel: each.state for each in (await self.rows()).values()}

    async def paused(self) -> dict[str, str]:
        held = await self.store.workspaces.subscriptions("chat:T1")
        return {each.channel: each.paused_because for each in held if each.is_paused(self.clock())}


def of(channel: str, **changes: Any) -> Delivery:
    number = channel[5:21]
    made = Delivery(
        id=f"d{number}",
        occurrence=(f"s{number}", NOW.date(), 0),
        workspace="chat:T1",
        channel=channel,
        topic="kv",
        payload=PAYLOAD,
        due=NOW,
        next_at=NOW,
    )
    return replace(made, **changes)


@asynccontextmanager
async def house(context: ssl.SSLContext | None = None, *, at_once: bool = False, **changes: Any) -> AsyncIterator[House]:
    async with running(context, at_once=at_once, needs_login="username" in changes) as relay:
        made = await House(relay, **changes).furnish()
        try:
            yield made
        finally:
            await made.smtp.close()


@pytest.fixture
def encrypted(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """What a server of this machine needs to speak TLS, and the certificate that a client is to trust."""
    path = tmp_path / "certificate.pem"
    path.write_bytes(self_signed())
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)
    return context, path


async def failure(made: House) -> DeliveryError:
    with pytest.raises(DeliveryError) as raised:
        await made.direct.send(of(MINE))
    assert "@" not in str(raised.value)
    return raised.value


# --- what goes well


async def test_three_mails_go_over_few_connections_each_with_its_delivery_as_identifier() -> None:
    async with house() as made:
        await made.rounds(apart=timedelta(0))
        assert {each.recipient: each.number for each in made.relay.taken} == {
            address: f"d{channel[5:21]}" for address, channel in zip(ADDRESSES, CHANNELS, strict=True)
        }
        assert set((await made.states()).values()) == {DeliveryState.DONE}
        assert {each.sender for each in made.relay.taken} == {"papers@lab.example"}
        before = made.relay.counts["connections"]
        assert before <= CONNECTIONS
        await made.direct.send(of(MINE))
        assert made.relay.counts["connections"] == before, "the one that is open is used again"


async def test_lines_that_begin_with_a_dot_arrive_as_they_are() -> None:
    async with house() as made:
        await made.direct.send(of(MINE))
        parts = list(made.relay.taken[0].parsed.iter_parts())
        said = [cast(Any, each).get_content().replace("\r\n", "\n") for each in parts]
        assert said == ["One\n.\n..two\n", "<p>One</p>\n.\n"]


async def test_what_comes_back_goes_to_the_inbox_and_a_list_is_not_unsubscribed_by_one_of_it() -> None:
    async with house(inbox="inbox@lab.example") as made:
        await made.direct.send(of(MINE))
        assert made.relay.taken[0].sender == "inbox@lab.example"
        assert "mailto:inbox@lab.example" in made.relay.taken[0].parsed["List-Unsubscribe"]
        channel = mail_channel("ffffffffffffffff", "all@lab.example")
        await confirmed(made.store, "all@lab.example", channel, person="U-bob", is_list=True)
        await made.direct.send(of(channel))
        assert made.relay.taken[1].parsed["List-Unsubscribe"] is None


async def test_a_connection_that_ended_meanwhile_is_replaced_without_a_word() -> None:
    async with house() as made:
        await made.direct.send(of(MINE))
        made.relay.faults.replies = {At.MAIL: "421 4.4.2 idle for too long"}
        asyncio.get_running_loop().call_later(0.2, made.relay.faults.replies.clear)
        made.relay.faults.waits = {At.CONNECT: 0.3}
        await made.direct.send(of(YOURS))
        assert len(made.relay.taken) == 2
        made.clock.advance(timedelta(seconds=2 * IDLE))
        await made.smtp.close_idle()
        await made.direct.send(of(YOURS))
        assert made.relay.counts["connections"] == 3


async def test_starttls_and_tls_and_a_login(encrypted: tuple[ssl.SSLContext, Path]) -> None:
    context, path = encrypted
    login: dict[str, Any] = {"username": USER, "password": SecretStr(PASSWORD), "ca_file": path}
    async with house(context, tls="starttls", **login) as made:
        await made.direct.send(of(MINE))
        assert len(made.relay.taken) == 1
    async with house(context, at_once=True, tls="tls", ca_file=path) as made:
        await made.direct.send(of(MINE))
        assert len(made.relay.taken) == 1


# --- what is not encrypted as it should be


async def test_without_starttls_nothing_is_sent_and_nobody_paused(encrypted: tuple[ssl.SSLContext, Path]) -> None:
    context, path = encrypted
    async with house(context, tls="starttls", ca_file=path) as made:
        made.relay.faults.no_starttls = True
        found = await failure(made)
        assert isinstance(found, Unreached)
        assert (found.reach, found.fault) == (Reach.PLATFORM, NetworkFault.TLS)
        await made.rounds(3)
        assert made.relay.taken == []
        assert await made.paused() == {}
        assert "no STARTTLS" in made.smtp.trouble
        rows = await made.rows()
        assert {each.state for each in rows.values()} == {DeliveryState.PENDING}
        assert any("no STARTTLS" in each.reason for each in rows.values())
        made.relay.faults.no_starttls = False
        made.clock.advance(timedelta(minutes=10))
        await made.rounds(4)
        assert len(made.relay.taken) == 3
        assert made.smtp.trouble == ""


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_certificate_that_is_not_trusted_stops_it(encrypted: tuple[ssl.SSLContext, Path], at_once: bool) -> None:
    async with house(encrypted[0], at_once=at_once, tls="tls" if at_once else "starttls") as made:
        found = await failure(made)
        assert isinstance(found, Unreached)
        assert (found.reach, found.fault) == (Reach.PLATFORM, NetworkFault.TLS)
        assert "certificate" in str(found)


async def test_tls_where_there_is_none_is_told(encrypted: tuple[ssl.SSLContext, Path]) -> None:
    async with house(tls="tls", ca_file=encrypted[1]) as made:
        found = await failure(made)
        assert isinstance(found, Unreached)
        assert found.fault in (NetworkFault.TLS, NetworkFault.CONNECTION)


def test_a_file_without_certificates_is_a_fault_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing")
    with pytest.raises(SettingsError, match=r"email\.ca_file"):
        trust(MailSettings(host="relay.example", sender="papers@lab.example", ca_file=tmp_path / "none.pem"))


# --- what fails, and what becomes of it


@pytest.mark.parametrize("at", [At.CONNECT, At.EHLO, At.MAIL, At.RCPT, At.DATA, At.TEXT])
@pytest.mark.parametrize("code", ["421", "450", "451"])
async def test_what_the_relay_cannot_now_is_tried_again(at: At, code: str) -> None:
    async with house() as made:
        made.relay.faults.replies = {at: f"{code} not now"}
        found = await failure(made)
        assert isinstance(found, Delayed)
        channel_only = at in (At.RCPT, At.DATA, At.TEXT) and code != "421"
        assert found.reach is (Reach.CHANNEL if channel_only else Reach.PLATFORM)
        made.relay.faults.replies = {}
        await made.rounds(3)
        assert sorted(each.recipient for each in made.relay.taken) == sorted(ADDRESSES)
        assert await made.paused() == {}


@pytest.mark.parametrize("at", [At.CONNECT, At.MAIL, At.RCPT, At.DATA])
async def test_a_connection_that_is_cut_before_the_text_is_begun_loses_nothing(at: At) -> None:
    async with house() as made:
        made.relay.faults.drops = {at}
        assert isinstance(await failure(made), Delayed)
        await made.rounds()
        made.relay.faults.drops = set()
        await made.rounds(4)
        assert sorted(each.recipient for each in made.relay.taken) == sorted(ADDRESSES)
        assert set((await made.states()).values()) == {DeliveryState.DONE}


async def test_what_was_claimed_and_never_begun_is_sent_as_if_nobody_had_claimed_it() -> None:
    async with house() as made:
        for each in (await made.rows()).values():
            assert await made.store.ledger.claim(replace(each, unbegun=True), made.clock(), timedelta(minutes=1))
        await made.rounds(3)  # whoever claimed them was killed before the text
        assert sorted(each.recipient for each in made.relay.taken) == sorted(ADDRESSES)
        assert {(each.state, each.reason) for each in (await made.rows()).values()} == {(DeliveryState.DONE, "")}


async def test_what_was_begun_by_one_who_was_killed_is_unknown() -> None:
    async with house() as made:
        for each in (await made.rows()).values():
            held = await made.store.ledger.claim(replace(each, unbegun=True), made.clock(), timedelta(minutes=1))
            assert held is not None
            assert await made.store.ledger.begin(held)
        await made.rounds(3)
        assert made.relay.taken == []
        assert set((await made.states()).values()) == {DeliveryState.AMBIGUOUS}


async def test_of_what_another_holds_by_now_no_text_is_sent() -> None:
    async with house() as made:
        (mine,) = [each for each in (await made.rows()).values() if each.channel == MINE]
        held = await made.store.ledger.claim(replace(mine, unbegun=True), made.clock(), timedelta(minutes=1))
        assert held is not None
        made.clock.advance(timedelta(minutes=2))
        assert await made.store.ledger.claim(held, made.clock(), timedelta(minutes=1))
        with pytest.raises(Delayed, match="Somebody else"):
            await made.messenger.send(held)
        assert made.relay.taken == []
        await made.direct.send(of(YOURS))
        assert [each.recipient for each in made.relay.taken] == ["you@lab.example"], "the next goes over a whole connection"


async def test_where_it_cannot_be_kept_that_a_mail_is_begun_none_is() -> None:
    async with house() as made:

        async def full(_: Delivery) -> bool:
            raise StoreError("the disk is full")

        with pytest.raises(Delayed, match="could not be kept"):
            await made.sending(full).send(of(MINE))
        assert made.relay.taken == []


@pytest.mark.parametrize(("at", "taken"), [(At.INSIDE, 0), (At.TEXT, 0), (At.COMMITTED, 3)])
async def test_what_is_lost_after_the_text_was_begun_is_unknown_and_not_sent_again(at: At, taken: int) -> None:
    async with house() as made:
        made.relay.faults.drops = {at}
        assert isinstance(await failure(made), Uncertain)
        made.relay.taken.clear()
        await made.rounds()
        made.relay.faults.drops = set()
        await made.rounds(3)
        assert len(made.relay.taken) == taken
        rows = await made.rows()
        assert {each.state for each in rows.values()} == {DeliveryState.AMBIGUOUS}
        assert all(each.reason.startswith("unknown: ") for each in rows.values())
        assert await made.paused() == {}


async def test_who_would_rather_have_it_twice_gets_it_again_and_is_told() -> None:
    async with house() as made:
        wish = Preferences(prefer_duplicate=(MINE,))
        await made.store.workspaces.save_preferences("chat:T1", wish, change(), replaces=Preferences())
        made.relay.faults.drops = {At.COMMITTED}
        await made.rounds()
        made.relay.faults.drops = set()
        await made.rounds(3)
        assert [each.recipient for each in made.relay.taken].count("me@lab.example") == 2
        rows = {each.channel: each for each in (await made.rows()).values()}
        assert (rows[MINE].state, rows[YOURS].state) == (DeliveryState.DONE, DeliveryState.AMBIGUOUS)
        assert "twice" in rows[MINE].reason


async def test_who_would_rather_have_it_twice_gets_no_third_from_a_relay_that_always_loses_its_answers() -> None:
    async with house() as made:
        wish = Preferences(prefer_duplicate=(MINE,))
        await made.store.workspaces.save_preferences("chat:T1", wish, change(), replaces=Preferences())
        made.relay.faults.drops = {At.COMMITTED}
        await made.rounds(12)
        assert [each.recipient for each in made.relay.taken].count("me@lab.example") == 2
        rows = {each.channel: each for each in (await made.rows()).values()}
        assert rows[MINE].state is DeliveryState.AMBIGUOUS
        assert rows[MINE].reason.startswith("unknown: It was sent once more")


async def test_a_slow_relay_is_given_up_before_the_text_and_is_unknown_after_it() -> None:
    async with house(timeout=0.3) as made:
        made.relay.faults.waits = {At.MAIL: 1.0}
        assert isinstance(await failure(made), Delayed)
        made.relay.faults.waits = {At.TEXT: 1.0}
        assert isinstance(await failure(made), Uncertain)


async def test_who_waits_for_a_connection_has_all_the_time_of_a_mail_once_it_is_there() -> None:
    async with house(timeout=2.0) as made:
        made.relay.faults.waits = {At.TEXT: 0.6}
        sender = ("", "papers@lab.example")
        mail = OutgoingMail(number="d1", sender=sender, recipient=ADDRESSES[0], subject="GPU systems: one", text="One")
        message = as_bytes(mail, NOW)
        sent = (made.smtp.send(f"u{each}@d{each}.example", message, patience=60.0) for each in range(4 * CONNECTIONS))
        assert [each for each in await asyncio.gather(*sent, return_exceptions=True) if each is not None] == []
        assert len(made.relay.taken) == 4 * CONNECTIONS
        assert made.smtp.trouble == ""


async def test_who_gets_no_connection_soon_is_put_off_a_moment_and_nothing_fails() -> None:
    async with house() as made:
        made.relay.faults.waits = {At.TEXT: 1.5}
        sent = await asyncio.gather(
            *(made.smtp.send(each, b"Subject: one\r\n\r\nOne", patience=0.2) for each in ADDRESSES * 2),
            return_exceptions=True,
        )
        put_off = [each for each in sent if each is not None]
        assert len(put_off) == 2 * len(ADDRESSES) - CONNECTIONS
        for each in put_off:
            assert isinstance(each, Delayed)
            assert (each.reach, each.retry_after) == (Reach.CHANNEL, timedelta(seconds=1))
        assert made.smtp.trouble == ""
        made.relay.wrong.clear()  # these were no whole mails


@pytest.mark.parametrize(("said", "kind"), [("554 5.7.1 spam", Rejected), ("451 4.3.0 later", Delayed)])
async def test_a_refusal_that_came_is_one_also_where_nothing_more_is_answered(said: str, kind: type[DeliveryError]) -> None:
    async with house(timeout=0.6) as made:
        made.relay.faults.replies, made.relay.faults.waits = {At.TEXT: said}, {At.RESET: 3.0}
        found = await failure(made)
        assert isinstance(found, kind)
        assert said[:9] in str(found)


async def test_a_relay_that_is_not_there_delays_everything() -> None:
    async with running() as relay:
        made = await House(relay, timeout=1.0).furnish()
    found = await failure(made)
    assert isinstance(found, Unreached)
    assert found.fault is NetworkFault.CONNECTION
    await made.rounds()
    assert set((await made.states()).values()) == {DeliveryState.PENDING}


async def test_an_address_that_is_refused_pauses_its_subscription_alone_and_its_owner_hears_of_it_once() -> None:
    async with house() as made:
        made.relay.faults.recipients = {"me@lab.example": "550 5.1.1 <me@lab.example>: User unknown"}
        assert isinstance(await failure(made), AddressRefused)
        await made.rounds(3)
        assert await made.states() == {
            MINE: DeliveryState.FAILED,
            YOURS: DeliveryState.DONE,
            THEIRS: DeliveryState.DONE,
        }
        paused = await made.paused()
        assert list(paused) == [MINE]
        assert "there is no such mailbox" in paused[MINE]
        said = [each for each in made.chat.told if each[1] == "U-ada"]
        why = "The mail server does not deliver to the address: there is no such mailbox (550 5.1.1)."
        again = "They go on by themselves once the address is confirmed again: subscribe to them there anew."
        assert [each[2] for each in said] == [f"The digests of kv by e-mail are paused. {why} {again}"]
        recipient = await made.store.recipients.named(MINE)
        assert recipient is not None
        assert recipient.stopped
        assert await made.messenger.obstacle("chat:T1", MINE) == recipient.stopped


async def test_a_new_confirmation_lifts_the_pause_by_itself() -> None:
    async with house() as made:
        made.relay.faults.recipients = {"me@lab.example": "550 5.1.1 User unknown"}
        await made.rounds(2)
        assert list(await made.paused()) == [MINE]
        resumer = SubscriptionResumer(made.mail_context())
        await resumer.resume_due(made.clock)
        assert list(await made.paused()) == [MINE]
        await confirmed(made.store, "me@lab.example", MINE, made.clock())
        for _ in range(4):
            made.clock.advance(timedelta(minutes=30))
            await resumer.resume_due(made.clock)
        assert await made.paused() == {}


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (At.EHLO, "554 5.3.2 go away"),
        (At.MAIL, "553 5.7.1 Sender address rejected"),
        (At.RCPT, "554 5.7.1 Relay access denied"),
        (At.TEXT, "554 5.7.1 spam"),
    ],
)
async def test_what_the_relay_refuses_of_its_own_pauses_nobody(at: At, said: str) -> None:
    async with house() as made:
        made.relay.faults.replies = {at: said}
        found = await failure(made)
        assert isinstance(found, Delayed | Rejected)
        await made.rounds(3)
        assert await made.paused() == {}
        assert set((await made.states()).values()) == {DeliveryState.PENDING}
        made.relay.faults.replies = {}
        await made.rounds(20)
        assert set((await made.states()).values()) == {DeliveryState.DONE}


async def test_a_wrong_password_pauses_nobody_and_is_not_tried_every_few_seconds(
    encrypted: tuple[ssl.SSLContext, Path],
) -> None:
    login: dict[str, Any] = {"username": USER, "password": SecretStr("wrong"), "ca_file": encrypted[1], "tls": "tls"}
    async with house(encrypted[0], at_once=True, **login) as made:
        await made.rounds(10, apart=timedelta(seconds=10))
        assert 1 <= made.relay.counts["connections"] <= 3 * 2
        assert await made.paused() == {}
        assert "535" in made.smtp.trouble
        assert "wrong" not in made.smtp.trouble


async def test_who_is_not_to_be_written_to_is_not() -> None:
    async with house() as made:
        await made.store.recipients.suppress("me@lab.example", Suppression.UNSUBSCRIBED, NOW, workspace="chat:T1")
        await made.store.recipients.suppress("they@other.example", Suppression.COMPLAINED, NOW)
        await made.rounds(2)
        assert [each.recipient for each in made.relay.taken] == ["you@lab.example"]
        assert set(await made.paused()) == {MINE, THEIRS}
        assert "spam" in await made.messenger.obstacle("chat:T1", THEIRS)
        with pytest.raises(Refused):
            await made.direct.send(of(YOURS, workspace="chat:T2"))
        assert "taken away" in await made.messenger.obstacle("chat:T1", mail_channel("0" * 16, "x@lab.example"))


async def test_the_addresses_of_one_domain_keep_its_pace() -> None:
    async with house(domain_minute=1) as made:
        await made.rounds(apart=timedelta(0))
        first = sorted(each.recipient.partition("@")[2] for each in made.relay.taken)
        assert first == ["lab.example", "other.example"]
        await made.rounds(2, apart=timedelta(seconds=70))
        assert len(made.relay.taken) == 3


async def test_doctor_tells_whether_the_relay_answers_and_sends_nothing(encrypted: tuple[ssl.SSLContext, Path]) -> None:
    login: dict[str, Any] = {"username": USER, "password": SecretStr(PASSWORD), "ca_file": encrypted[1]}
    async with running(encrypted[0], needs_login=True) as relay:
        found, *_ = await check(settings(relay, tls="starttls", **login), NOW, resolver=NO_DNS)
        assert (found.well, found.text) == (True, f"{HOST} port {relay.port} answers over STARTTLS, logged in as {USER}")
        wrong = login | {"password": SecretStr("wrong")}
        found, *_ = await check(settings(relay, tls="starttls", **wrong), NOW, resolver=NO_DNS)
        assert not found.well
        assert "535" in found.text
        relay.faults.no_starttls = True
        found, *_ = await check(settings(relay, tls="starttls", **login), NOW, resolver=NO_DNS)
        assert (found.well, found.fault) == (False, NetworkFault.TLS)
    found, *_ = await check(settings(relay, tls="off"), NOW, resolver=NO_DNS)
    assert (found.well, found.fault) == (False, NetworkFault.CONNECTION)
    assert relay.taken == []


async def test_the_service_opens_it_from_its_settings_and_tells_its_trouble(tmp_path: Path) -> None:
    async with running() as relay:
        chosen = Settings(database=tmp_path / "b.sqlite3", email=settings(relay))
        async with built(chosen) as app, opened(chosen, app.platform_context(lambda: NOW), app.messengers) as found:
            (platform,) = found.platforms
            assert platform.messenger.platform == "email"
            assert isinstance(platform.messenger, Mailer)
            assert platform.trouble(NOW) == ""
            relay.faults.replies = {At.EHLO: "554 5.3.2 closed"}
            with pytest.raises(Delayed):
                await platform.messenger.write("me@lab.example", "A", "B")
            assert platform.trouble(NOW).startswith("No e-mail can be sent since 2026-04-01 07:00 UTC: ")


async def test_a_code_is_mailed_as_plain_text() -> None:
    async with house() as made:
        await made.messenger.write("new@lab.example", "Your code", "Type: confirm 123456")
        found = made.relay.taken[0]
        assert found.recipient == "new@lab.example"
        assert found.parsed.get_content_type() == "text/plain"
        assert "123456" in found.parsed.get_content()
        assert found.parsed["List-Id"] is None


async def test_a_letter_with_a_code_can_be_refused_by_whoever_gets_it() -> None:
    async with house(inbox="inbox@lab.example") as made:
        await made.messenger.write("new@lab.example", "Your code", "Type: confirm 123456")
        way = unquote(str(made.relay.taken[0].parsed["List-Unsubscribe"]))
        wish = f"To: inbox@lab.example\nSubject: {way.partition('subject=')[2].rstrip('>')}\n\n"
        found = read(wish.encode(), "lab.example")
        assert isinstance(found, UnsubscribeMail)
        key, (proof,) = await made.store.recipients.key(), found.proofs
        assert letter_hash(proof.subscription) == address_hash(key, "new@lab.example")
        assert made.signer.holds(SignedLink(LinkAction.UNSUBSCRIBE, proof.subscription), proof.signature)
        link = made.signer.url(SignedLink(LinkAction.UNSUBSCRIBE, proof.subscription))
        assert way.startswith(f"<{link}>, <mailto:inbox@lab.example")
        assert made.relay.taken[0].parsed["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


# --- what comes back


def test_a_bounce_through_the_pipe_stops_the_address_and_everything_else_ends_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "b.sqlite3"
    (tmp_path / "b.toml").write_text(
        f'database = "{database}"\n[email]\nhost = "{HOST}"\nsender = "papers@lab.example"\ntls = "off"\n'
    )
    store = SqliteStore(database)

    async def planted() -> str:
        await store.open()
        harness = Harness(store=cast(Any, store))
        await confirmed(store, ADDRESSES[0], MINE)
        await harness.plant([of(MINE)])
        await store.close()
        return of(MINE).id

    async def stopped() -> str:
        await store.open()
        found = await store.recipients.named(MINE)
        await store.close()
        return found.stopped if found else ""

    def given(raw: bytes) -> int:
        stdin = io.TextIOWrapper(io.BytesIO(raw))
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(SystemExit) as ended:
            main(["--config", str(tmp_path / "b.toml"), "mail", "receive"])
        return int(ended.value.code or 0)

    number = asyncio.run(planted())
    bounce = report("5.1.1", diagnostic="550 5.1.1 unknown").replace(b"me@uni.example", ADDRESSES[0].encode())
    assert given(b"") == 0
    assert given(b"Subject: I am away\n\nback on Monday") == 0
    assert given(bounce) == 0
    assert asyncio.run(stopped()) == "", "it answers no delivery of ours"
    ours = bounce.replace(NUMBER.encode(), number.encode())
    lock = sqlite3.connect(database, isolation_level=None)
    lock.execute("pragma locking_mode = exclusive")
    lock.execute("begin exclusive")
    assert given(ours) == 75
    lock.close()
    assert given(ours) == 0
    assert asyncio.run(stopped()) == "A mail came back: there is no such mailbox (5.1.1)."


# --- what the domain tells


class Zone(asyncio.DatagramProtocol):
    """A name server that has these records and no others; names above one that is there exist."""

    def __init__(self, records: Mapping[tuple[str, str], Sequence[str]]) -> None:
        self.records = records

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        asked = dns.message.from_wire(data)
        question = asked.question[0]
        name, kind = question.name.to_text().rstrip("."), dns.rdatatype.to_text(question.rdtype)
        reply = dns.message.make_response(asked)
        if found := self.records.get((name, kind)):
            reply.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, *found))
        elif not any(known == name or known.endswith(f".{name}") for known, _ in self.records):
            reply.set_rcode(dns.rcode.NXDOMAIN)
        self.transport.sendto(reply.to_wire(), addr)


@asynccontextmanager
async def named(records: Mapping[tuple[str, str], Sequence[str]]) -> AsyncIterator[dns.asyncresolver.Resolver]:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: Zone(records), local_addr=(HOST, 0))
    resolver = dns.asyncresolver.Resolver(configure=False)
    resolver.nameservers, resolver.port = [HOST], transport.get_extra_info("sockname")[1]
    try:
        yield resolver
    finally:
        transport.close()


GOOD = {
    ("lab.example", "TXT"): ['"other"', '"v=spf1 include:relay.example -all"'],
    ("_dmarc.lab.example", "TXT"): ['"v=DMARC1; p=quarantine"'],
    ("s1._domainkey.lab.example", "TXT"): ['"v=DKIM1; p=abc"'],
    ("lab.example", "MX"): ["10 mx.lab.example."],
}


@pytest.mark.parametrize(
    ("records", "noted", "said"),
    [
        (GOOD, set(), "p=quarantine"),
        ({}, {"SPF", "DKIM", "DMARC", "MX"}, "no SPF record"),
        (GOOD | {("lab.example", "MX"): ["0 ."]}, {"MX"}, "takes no mail"),
        (GOOD | {("lab.example", "TXT"): ['"v=spf1 +all"']}, {"SPF"}, "everybody"),
        (GOOD | {("lab.example", "TXT"): ['"v=spf1 -all"', '"v=spf1 ~all"']}, {"SPF"}, "counts as none"),
    ],
)
async def test_doctor_advises_on_what_the_senders_domain_tells(
    records: Mapping[tuple[str, str], Sequence[str]], noted: set[str], said: str
) -> None:
    async with running() as relay, named(records) as resolver:
        first, *found = await check(settings(relay), NOW, resolver=resolver)
        assert first.well
        assert {each.name for each in found if isinstance(each, Advice) or not each.well} == noted
        assert said in " ".join(each.text for each in found)


async def test_a_dns_that_does_not_answer_is_no_fault_of_the_settings() -> None:
    async with running() as relay:
        _, found = await check(settings(relay), NOW, resolver=NO_DNS)
        assert (found.name, type(found)) == ("DNS", Advice)


async def test_doctor_sends_a_test_message_where_it_is_asked_to() -> None:
    async with running() as relay:
        sent = await send_test_mail(settings(relay), "me@lab.example", NOW)
        assert (sent.well, sent.text) == (True, "the mail server took it; whether it arrives, the inbox shows")
        assert relay.taken[0].parsed["Subject"] == "A test from Broadsheet"
        relay.faults.replies = {At.MAIL: "553 5.7.1 not you"}
        assert "553 5.7.1" in (await send_test_mail(settings(relay), "me@lab.example", NOW)).text
        with pytest.raises(UsageError):
            await send_test_mail(settings(relay), "nobody", NOW)
    with pytest.raises(UsageError):
        await send_test_mail(MailSettings(), "me@lab.example", NOW)


async def test_doctor_says_what_is_missing_for_one_click_and_for_bounces(tmp_path: Path) -> None:
    async with running() as relay:
        for chosen, missing in (
            ({"email": settings(relay)}, {"unsubscribing", "bounces"}),
            ({"email": settings(relay, inbox="in@lab.example")}, {"unsubscribing"}),
            ({"email": settings(relay), "web": WebSettings(url="https://papers.lab.example")}, {"bounces"}),
            ({}, set()),
        ):
            async with built(Settings(database=tmp_path / "b.sqlite3", **cast(Any, chosen))) as app:
                found = await examine(app, NOW, None, offline=True)
            assert {each.name for each in found} & {"unsubscribing", "bounces"} == missing


async def test_a_bounce_pauses_through_the_service_and_a_new_confirmation_lifts_it() -> None:
    async with house() as made:
        await made.rounds()
        assert len(made.relay.taken) == 3
        said = "A mail came back: there is no such mailbox (5.1.1)."
        bounce = Bounce((Proof(delivery=of(MINE).id),), (ADDRESSES[0],), said, hard=True)
        context = asker(cast(Any, made.store), made.clock()).context
        assert await follow_up(context, bounce, made.clock())
        await made.rounds(2)
        assert await made.paused() == {MINE: said}
        assert len(made.chat.told) == 1
        assert await made.messenger.obstacle("chat:T1", MINE) == said
        resumer = SubscriptionResumer(made.mail_context())
        await resumer.resume_due(made.clock)
        assert list(await made.paused()) == [MINE]
        await confirmed(made.store, ADDRESSES[0], MINE, made.clock())
        for _ in range(4):
            made.clock.advance(timedelta(minutes=30))
            await resumer.resume_due(made.clock)
        assert await made.paused() == {}
