"""What a mail server says, and whom the ledger takes it to speak of."""

from datetime import timedelta

import pytest

from adapters.email.relay.replies import AddressRefused, RelayReply, Stage, delivery_error, is_of_address, told
from bot.errors import Delayed, Reach, Rejected

# Replies as servers give them: Postfix, Exim, Exchange, Gmail, Sendmail.
OF_ADDRESS = (
    (Stage.RECIPIENT, 550, "5.1.1 <me@lab.example>: Recipient address rejected: User unknown in virtual mailbox table"),
    (Stage.RECIPIENT, 550, "5.1.1 The email account that you tried to reach does not exist."),
    (Stage.RECIPIENT, 550, "Unrouteable address"),
    (Stage.RECIPIENT, 550, "No such user here"),
    (Stage.RECIPIENT, 551, "User not local; please try <you@lab.example>"),
    (Stage.RECIPIENT, 553, "5.1.3 Invalid address"),
    (Stage.RECIPIENT, 550, "<me@lab.example>: Recipient address rejected: User unknown in local recipient table"),
    (Stage.RECIPIENT, 550, "sorry, no mailbox here by that name. (#5.1.1)"),
    (Stage.RECIPIENT, 550, "5.1.0 Address rejected: no such user"),
    (Stage.RECIPIENT, 550, "5.2.0 Mailbox does not exist"),
    (Stage.RECIPIENT, 550, "Requested action not taken: mailbox not found"),
    (Stage.RECIPIENT, 553, "Invalid recipient"),
    (Stage.RECIPIENT, 550, "Account disabled"),
    (Stage.RECIPIENT, 556, "5.1.10 Recipient address has null MX"),
    (Stage.TEXT, 550, "5.2.1 The email account that you tried to reach is disabled."),
)
OF_NOBODY = (
    (Stage.RECIPIENT, 550, "5.7.1 Relaying denied"),
    (Stage.RECIPIENT, 550, "relay not permitted"),
    (Stage.RECIPIENT, 554, "5.7.1 <me@lab.example>: Relay access denied"),
    (Stage.RECIPIENT, 530, "5.7.0 Authentication required"),
    (Stage.RECIPIENT, 550, "5.4.1 Recipient address rejected: Access denied"),
    (Stage.RECIPIENT, 550, "5.1.8 Sender address rejected: Domain not found"),
    (Stage.RECIPIENT, 550, "Blocked by our list of bad hosts"),
    (Stage.RECIPIENT, 550, "Sender verify failed"),
    (Stage.RECIPIENT, 550, "Verification failed for <papers@unknown.example>"),
    (Stage.RECIPIENT, 550, "Verification failed for <papers@lab.example>\nNo Such User Here\nSender verify failed"),
    (Stage.RECIPIENT, 553, "sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"),
    (Stage.RECIPIENT, 553, "sorry, that domain isn't in my list of allowed rcpthosts"),
    (Stage.RECIPIENT, 550, "No valid sender domain"),
    (Stage.RECIPIENT, 550, "5.1.0 Sender rejected"),
    (Stage.RECIPIENT, 550, "5.1.0 <papers@lab.example>: Sender address rejected: User unknown in local recipient table"),
    (Stage.RECIPIENT, 550, "5.1.1 <papers@lab.example>: Sender address rejected: User unknown"),
    (Stage.RECIPIENT, 553, "5.1.7 Sender address rejected"),
    (Stage.RECIPIENT, 550, "too many messages, slow down"),
    (Stage.RECIPIENT, 550, "Too many invalid recipients"),
    (Stage.RECIPIENT, 550, "Message to unknown users refused from 5.1.1.9"),
    (Stage.RECIPIENT, 550, "Requested action not taken: mailbox unavailable"),
    (Stage.RECIPIENT, 550, ""),
    (Stage.RECIPIENT, 553, "5.5.4 HELO: invalid address"),
    (Stage.RECIPIENT, 552, "5.2.2 The email account that you tried to reach is over quota"),
    (Stage.RECIPIENT, 552, "5.2.2 Mailbox full"),
    (Stage.RECIPIENT, 552, "mailbox is full"),
    (Stage.RECIPIENT, 552, ""),
    (Stage.RECIPIENT, 552, "5.2.3 Message exceeds maximum fixed size"),
    (Stage.TEXT, 552, "5.2.3 Message exceeds maximum fixed size"),
    (Stage.TEXT, 552, "5.2.2 Mailbox full"),
    (Stage.DATA, 554, "5.5.1 Error: no valid recipients"),
    (Stage.TEXT, 554, "5.7.1 Message rejected as spam by content filtering"),
    (Stage.TEXT, 552, "5.3.4 Message size exceeds fixed limit"),
    (Stage.TEXT, 550, "no such thing"),
)
OF_RELAY = (
    (Stage.CONNECT, 554, "5.7.1 No SMTP service here"),
    (Stage.LOGIN, 535, "5.7.8 Username and Password not accepted"),
    (Stage.SENDER, 553, "5.7.1 Sender address rejected: not owned by user"),
    (Stage.SENDER, 550, "5.1.8 no such domain"),
    (Stage.CONNECT, 421, "4.7.0 too many connections"),
    (Stage.LOGIN, 454, "4.7.0 Temporary authentication failure"),
    (Stage.RECIPIENT, 421, "4.4.2 closing"),
    (Stage.TEXT, 421, "4.3.2 shutting down"),
)


@pytest.mark.parametrize(("stage", "code", "text"), OF_ADDRESS)
def test_what_speaks_of_the_address_pauses_it(stage: Stage, code: int, text: str) -> None:
    found = delivery_error(stage, RelayReply(code, text))
    assert isinstance(found, AddressRefused)
    assert found.reach is Reach.CHANNEL


@pytest.mark.parametrize("status", ["5.2.2", "5.2.3", "5.2.4", "5.1.7", "5.1.8", "5.3.4"])
def test_no_status_of_a_full_mailbox_the_message_or_the_sender_speaks_of_the_address(status: str) -> None:
    assert not is_of_address(status)


@pytest.mark.parametrize(("stage", "code", "text"), OF_NOBODY)
def test_what_speaks_of_the_message_or_of_us_pauses_nobody(stage: Stage, code: int, text: str) -> None:
    found = delivery_error(stage, RelayReply(code, text))
    assert isinstance(found, Rejected)
    assert found.of_message == (stage is Stage.TEXT)


@pytest.mark.parametrize(("stage", "code", "text"), OF_RELAY)
def test_what_the_relay_says_of_itself_holds_for_all_and_is_tried_again(stage: Stage, code: int, text: str) -> None:
    found = delivery_error(stage, RelayReply(code, text))
    assert isinstance(found, Delayed)
    assert found.reach is Reach.PLATFORM
    assert found.retry_after == (timedelta(minutes=5) if code >= 500 else None)


@pytest.mark.parametrize(
    ("text", "reach"),
    [
        ("4.2.0 greylisted", Reach.CHANNEL),
        ("4.7.1 try later", Reach.CHANNEL),
        ("", Reach.CHANNEL),
        ("4.1.2 domain not found just now", Reach.WORKSPACE),
        ("4.4.1 no answer from host", Reach.WORKSPACE),
    ],
)
def test_what_passes_holds_for_the_address_or_its_domain(text: str, reach: Reach) -> None:
    found = delivery_error(Stage.RECIPIENT, RelayReply(450, text))
    assert isinstance(found, Delayed)
    assert found.reach is reach


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("code", [421, 450, 550, 554])
@pytest.mark.parametrize("status", ["", "5.1.1 ", "5.7.1 ", "4.2.0 "])
def test_no_error_tells_an_address(stage: Stage, code: int, status: str) -> None:
    found = delivery_error(stage, RelayReply(code, f"{status}<me@lab.example> of\r\nme@lab.example: no"))
    assert "@" not in str(found)
    assert "\n" not in str(found)
    assert "me" not in str(found).replace("message", "").replace("time", "").replace("Mail", "").split()


def test_the_operator_reads_what_the_relay_said() -> None:
    assert told(RelayReply(535, "5.7.8 Bad credentials for papers@lab.example,\nsee the manual")) == (
        "535 5.7.8 Bad credentials for … see the manual"
    )
