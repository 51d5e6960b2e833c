"""What comes back by mail, as real servers write it, and what is read of it."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.email.receive import read
from bot.handlers.surfaces.returned import Bounce, Complaint, Proof, UnsubscribeMail

SAMPLES = Path(__file__).parents[2] / "payloads" / "bounces"
# What flufl.bounce's own tests say of its samples: to whom it could not be delivered, and which are delays only.
FAILED = {
    "dsn_01": "userx@example.com",
    "dsn_02": "zzzzz@example.uk",
    "dsn_03": "userx@example.be",
    "dsn_04": "userx@example.ch",
    "dsn_09": "userx@example.com",
    "dsn_10": "anne.person@dom.ain",
    "dsn_11": "joem@example.com",
    "dsn_12": "userx@example.jp",
    "dsn_13": "userx@example.com",
    "dsn_14": "userx@example.com.dk",
    "dsn_15": "userx@example.com",
    "dsn_16": "userx@example.com",
    "dsn_18": "email@replaced.net",
}
SOFT = {"dsn_01", "dsn_02", "dsn_03"}  # a full mailbox, a time that ran out, a message too large
DELAYED = ("dsn_05", "dsn_06", "dsn_07", "dsn_08", "dsn_17")
NUMBER, TOKEN = "0123456789abcdefghijklmn", "s1.abcdefghijklmnopqrstuv"

RETURNED = f"""Message-ID: <{NUMBER}@lab.example>
From: Broadsheet <papers@lab.example>
To: me@uni.example
Subject: GPU systems: one
List-Unsubscribe: <https://papers.lab.example/mail/s1/unsubscribe?s=abcdefghijklmnopqrstuv>,
 <mailto:inbox@lab.example?subject=unsubscribe%20{TOKEN}>
"""


def report(status: str, action: str = "failed", diagnostic: str = "", *, kind: str = "message/rfc822") -> bytes:
    """Return a bounce as Postfix writes it."""
    return f"""From: MAILER-DAEMON@mx.uni.example
To: inbox@lab.example
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain; charset=us-ascii

<me@uni.example>: host mx.uni.example said no

--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.uni.example
Arrival-Date: Wed, 1 Apr 2026 07:00:00 +0000

Final-Recipient: rfc822; me@uni.example
Original-Recipient: rfc822;me@uni.example
Action: {action}
Status: {status}
Remote-MTA: dns; mx.uni.example
Diagnostic-Code: smtp; {diagnostic}

--b1
Content-Type: {kind}

{RETURNED}
--b1--
""".encode()


def complaint(kind: str, returned: str = "message/rfc822") -> bytes:
    """Return a complaint as RFC 5965 has it."""
    return f"""From: feedback@provider.example
To: inbox@lab.example
Subject: FW: one
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="b1"

--b1
Content-Type: text/plain

This is an email abuse report.

--b1
Content-Type: message/feedback-report

Feedback-Type: {kind}
User-Agent: SomeGenerator/1.0
Version: 1

--b1
Content-Type: {returned}

{RETURNED}
One
--b1--
""".encode()


@pytest.mark.parametrize(("name", "address"), FAILED.items())
def test_a_bounce_says_who_was_not_reached(name: str, address: str) -> None:
    found = read((SAMPLES / f"{name}.txt").read_bytes(), "lab.example")
    assert isinstance(found, Bounce)
    assert address in found.addresses
    assert found.hard is (name not in SOFT)
    assert "@" not in found.said
    assert found.proofs == (), "it answers no mail of ours"


@pytest.mark.parametrize("name", DELAYED)
def test_a_delay_is_no_bounce(name: str) -> None:
    assert read((SAMPLES / f"{name}.txt").read_bytes(), "lab.example") is None


def test_texts_that_no_standard_describes_are_left_alone() -> None:
    others = [path for path in SAMPLES.glob("*.txt") if not path.name.startswith("dsn_")]
    assert len(others) >= 15
    for path in others:
        found = read(path.read_bytes(), "lab.example")
        assert found is None or (isinstance(found, Bounce) and not found.addresses), path.name


@pytest.mark.parametrize("kind", ["message/rfc822", "text/rfc822-headers", "message/rfc822-headers", "text/plain"])
def test_what_is_returned_proves_that_it_was_ours(kind: str) -> None:
    found = read(report("5.1.1", diagnostic="550 5.1.1 no such user", kind=kind), "lab.example")
    assert isinstance(found, Bounce)
    assert Proof(delivery=NUMBER) in found.proofs
    assert Proof(subscription="s1", signature="abcdefghijklmnopqrstuv") in found.proofs
    assert found.addresses == ("me@uni.example",)
    assert found.said == "A mail came back: there is no such mailbox (5.1.1)."


@pytest.mark.parametrize(
    ("status", "action", "diagnostic", "hard"),
    [
        ("5.1.1", "failed", "550 5.1.1 user unknown", True),
        ("5.1.2", "failed", "", True),
        ("5.1.10", "failed", "556 5.1.10 null MX", True),
        ("5.2.1", "failed", "550 5.2.1 disabled", True),
        ("5.4.4", "failed", "", True),
        ("5.0.0", "failed", "550 unknown user", True),
        ("5.0.0", "failed", "550 5.1.1 unknown user", True),
        ("5.2.2", "failed", "552 5.2.2 over quota", False),
        ("5.2.3", "failed", "552 5.2.3 message exceeds maximum size", False),
        ("5.2.4", "failed", "550 5.2.4 mailing list expansion problem", False),
        ("5.0.0", "failed", "550 5.2.3 longer than it takes", False),
        ("5.0.0", "failed", "552 no room", False),
        ("5.0.0", "failed", "552 mailbox is full", False),
        ("5.0.0", "failed", "554 blocked by our list", False),
        ("5.7.1", "failed", "550 5.7.1 looks like spam", False),
        ("5.3.4", "failed", "552 5.3.4 too big", False),
        ("4.4.7", "failed", "delivery time expired", False),
        ("4.4.1", "delayed", "", None),
        ("2.1.5", "delivered", "", None),
        ("2.0.0", "relayed", "", None),
        ("2.0.0", "expanded", "", None),
    ],
)
def test_what_is_hard_is_the_addresss_for_good(status: str, action: str, diagnostic: str, hard: bool | None) -> None:
    found = read(report(status, action, diagnostic), "lab.example")
    assert found is None if hard is None else isinstance(found, Bounce) and found.hard is hard


@pytest.mark.parametrize("returned", ["message/rfc822", "text/rfc822-headers"])
def test_a_complaint_is_one_by_what_it_calls_itself(returned: str) -> None:
    for kind in ("abuse", "Abuse", "fraud", "opt-out"):
        found = read(complaint(kind, returned), "lab.example")
        assert isinstance(found, Complaint), kind
        assert Proof(delivery=NUMBER) in found.proofs
        assert found.addresses == ("me@uni.example",), "as the mail that it returns was sent to"
    for kind in ("not-spam", "auth-failure", "dmarc", ""):
        assert read(complaint(kind, returned), "lab.example") is None, kind


def test_a_complaint_says_of_whom_it_is_by_its_own_fields_too() -> None:
    names = b"Original-Rcpt-To: <you@uni.example>\nRemoval-Recipient: they@uni.example\nVersion: 1\n"
    found = read(complaint("abuse").replace(b"Version: 1\n", names), "lab.example")
    assert isinstance(found, Complaint)
    assert found.addresses == ("you@uni.example", "they@uni.example", "me@uni.example")
    hidden = read(complaint("abuse").replace(b"To: me@uni.example", b"To: redacted"), "lab.example")
    assert isinstance(hidden, Complaint)
    assert hidden.addresses == ()


@pytest.mark.parametrize(
    "text",
    [
        f"Subject: unsubscribe {TOKEN}\n\n",
        f"Subject: Re:  Unsubscribe   {TOKEN}\n\nplease",
        f"Subject: unsubscribe%20{TOKEN}\n\n",
        f"Subject: =?utf-8?q?unsubscribe_{TOKEN}?=\n\n",
        f"Subject: bye\nContent-Type: text/plain\n\nunsubscribe {TOKEN}\n",
        f"Subject: bye\nAuto-Submitted: no\nReturn-Path: <me@uni.example>\n\n\n unsubscribe {TOKEN} \n-- \nMe\n",
    ],
)
def test_a_mail_with_the_token_unsubscribes(text: str) -> None:
    found = read(text.encode(), "lab.example")
    assert found == UnsubscribeMail((Proof(subscription="s1", signature="abcdefghijklmnopqrstuv"),))


QUOTED = f"""Hi. This is the qmail-send program at uni.example.
I'm afraid I wasn't able to deliver your message to the following addresses.

<me@uni.example>:
User's mailbox is over quota. (#5.2.2)

--- Below this line is a copy of the message.

{RETURNED}
One
"""


@pytest.mark.parametrize(
    "text",
    [
        f"Return-Path: <>\nSubject: failure notice\n\n{QUOTED}",
        f"Subject: failure notice\n\n{QUOTED}",
        f"Subject: Re: GPU systems: one\n\nPlease unsubscribe {TOKEN}, said the header.",
        f"Subject: Out of office\nAuto-Submitted: auto-replied\n\nunsubscribe {TOKEN}",
        f"Subject: Re: unsubscribe {TOKEN}\nAuto-Submitted: auto-replied (away)\n\nI am away.",
        f"Subject: unsubscribe {TOKEN}\nReturn-Path: <>\n\n",
    ],
)
def test_who_only_quotes_the_token_wishes_nothing(text: str) -> None:
    assert read(text.encode(), "lab.example") is None


@pytest.mark.parametrize(
    "text",
    [
        "Subject: unsubscribe\n\n",
        "Subject: unsubscribe s1\n\n",
        "Subject: unsubscribe s1.tooshort\n\n",
        "Subject: Out of office\nAuto-Submitted: auto-replied\n\nI am away.",
        "",
        "\x00\x01",
        "Subject: =?utf-8?b?!!!?=\n\n",
        "Subject: =?no-such-charset?q?a?=\n\nb",
        "Content-Type: multipart/report; report-type=delivery-status\n\nno boundary",
        "Content-Type: message/delivery-status\n\n\n\n\n",
    ],
)
def test_everything_else_is_left_alone(text: str) -> None:
    assert read(text.encode("latin-1"), "lab.example") is None


def test_what_is_nested_a_thousand_times_ends() -> None:
    nested = b"".join(b"Content-Type: message/rfc822\n\n" for _ in range(3000))
    assert read(nested + b"Subject: x\n\n", "lab.example") is None
    many = b'Content-Type: multipart/mixed; boundary="b"\n\n' + b"--b\n\nx\n" * 20_000
    assert read(many, "lab.example") is None


@given(st.binary(max_size=400), st.sampled_from(sorted(FAILED)), st.integers(0, 3000))
def test_no_bytes_make_it_fail(noise: bytes, name: str, at: int) -> None:
    raw = (SAMPLES / f"{name}.txt").read_bytes()
    read(raw[:at] + noise + raw[at:], "lab.example")
    read(noise, "lab.example")


def test_only_identifiers_of_our_own_domain_are_read() -> None:
    other = re.sub(rb"@lab\.example>", b"@lab.example.evil>", report("5.1.1"))
    found = read(other, "lab.example")
    assert isinstance(found, Bounce)
    assert all(not each.delivery for each in found.proofs)
