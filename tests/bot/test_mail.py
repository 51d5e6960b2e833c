"""Addresses, and the channels of those who are sent digests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import code_kept, domain_tag, folded_address, is_address, is_mail, mail_channel, normal_address


@pytest.mark.parametrize(
    "text", ["me@lab.example", " a.b+c@sub.lab.example ", "o'neil@lab.example", "me@b\u00fccher.example"]
)
def test_an_address_is_one(text: str) -> None:
    assert is_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "me",
        "me@localhost",
        "@lab.example",
        "me@@lab.example",
        ".me@lab.example",
        "me.@lab.example",
        "me@-lab.example",
        "me@lab..example",
        "me@lab.example\r\nBcc: all@lab.example",
        "me@lab.example>",
        '"me"@lab.example',
        "me you@lab.example",
        "m\u00e9@lab.example",
        "=?utf-8?q?=0d=0aBcc=3aall?=@lab.example",
        "me.=?utf-8?q?x?=@lab.example",
        "x" * 65 + "@lab.example",
        "me@" + "a." * 130 + "example",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    assert not is_address(text)
    with pytest.raises(ValueError, match="no e-mail address"):
        normal_address(text)


def test_the_domain_is_kept_in_ascii_and_lower_case() -> None:
    assert normal_address("Me@B\u00fccher.Example") == "Me@xn--bcher-kva.example"
    assert folded_address("Me@B\u00fccher.Example") == "me@xn--bcher-kva.example"


@given(st.text())
def test_any_text_is_an_address_or_is_not(text: str) -> None:
    if is_address(text):
        kept = normal_address(text)
        assert kept.isascii()
        assert normal_address(kept) == kept
        assert not set(kept) & set(' \r\n\t<>,;:"()[]\\')


def test_a_channel_tells_the_domain_from_others_and_not_the_address() -> None:
    channel = mail_channel("00112233445566aa", "me@lab.example")
    assert is_mail(channel)
    assert not is_mail("C0123")
    assert "lab" not in channel
    assert domain_tag(channel) == domain_tag(mail_channel("aa112233445566aa", "You@LAB.example"))
    assert domain_tag(channel) != domain_tag(mail_channel("00112233445566aa", "me@other.example"))


def test_a_code_is_kept_for_one_person_of_one_workspace() -> None:
    assert len({code_kept(place, who, "123456") for place in ("slack:T1", "slack:T2") for who in ("U1", "U2")}) == 4
