"""What may stand under [email]."""

from typing import Any

import pytest
from pydantic import ValidationError

from bot.settings.mail import MailSettings

PLAIN: dict[str, Any] = {"host": "mail.lab.example", "sender": "Broadsheet <Papers@Lab.Example>"}


def test_it_is_on_as_soon_as_there_is_a_relay_and_a_sender() -> None:
    assert not MailSettings().enabled
    found = MailSettings(**PLAIN)
    assert found.enabled
    assert (found.name, found.address, found.domain) == ("Broadsheet", "Papers@lab.example", "lab.example")
    assert found.returns_to == found.address
    assert MailSettings(**PLAIN, inbox="In@Lab.example").returns_to == "In@lab.example"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sender": ""}, "belong together"),
        ({"host": ""}, "belong together"),
        ({"host": "mail.lab.example/x"}, "name or the address"),
        ({"sender": "Broadsheet"}, "must be an address"),
        ({"sender": "A <a@lab.example>\nBcc: b@lab.example"}, "must be an address"),
        ({"inbox": "no"}, "must be an address"),
        ({"username": "papers"}, "belong together"),
        ({"password": "x"}, "belong together"),
        ({"tls": "off"}, "allow_unencrypted"),
        ({"tls": "off", "allow_unencrypted": True, "username": "a", "password": "b"}, "password in the clear"),
        ({"timeout": 20}, "14"),
        ({"tls": "maybe"}, "starttls"),
    ],
)
def test_what_cannot_work_is_an_error_that_says_why(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        MailSettings(**PLAIN | changes)


def test_in_the_clear_is_for_this_machine_or_said_twice() -> None:
    assert MailSettings(**PLAIN | {"host": "127.0.0.1", "tls": "off"}).enabled
    assert MailSettings(**PLAIN | {"tls": "off", "allow_unencrypted": True}).enabled
