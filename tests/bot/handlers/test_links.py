"""Links by which a recipient acts without the chat."""

import base64
import json
from datetime import timedelta
from urllib.parse import parse_qs, unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from bot.handlers.links import BUTTON_HOLDS, LinkAction, LinkSigner, SignedLink
from tests.conftest import NOW

KEY = bytes(range(32))
LINKS = st.builds(SignedLink, st.sampled_from(LinkAction), st.text(min_size=1), st.text())


def test_a_link_names_what_is_to_be_done_and_signs_it() -> None:
    signer = LinkSigner(KEY, "https://papers.lab.example/")
    link = SignedLink(LinkAction.MORE, "0011223344556677", "github:owner/name")
    parts = urlsplit(signer.url(link))
    assert (parts.scheme, parts.netloc) == ("https", "papers.lab.example")
    assert parts.path == "/mail/0011223344556677/more/github%3Aowner%2Fname"
    (signature,) = parse_qs(parts.query)["s"]
    assert len(signature) == 22
    assert signer.holds(link, signature)


def test_without_an_address_of_pages_there_is_no_link() -> None:
    assert LinkSigner(KEY).url(SignedLink(LinkAction.PAUSE, "1")) == ""


@given(LINKS, LINKS, st.text())
def test_a_signature_is_of_one_link_and_one_key(link: SignedLink, other: SignedLink, guess: str) -> None:
    signer = LinkSigner(KEY, "https://papers.lab.example")
    signature = signer.signature(link)
    assert signer.holds(other, signature) is (other == link)
    assert signer.holds(link, guess) is (guess == signature)
    assert not LinkSigner(bytes(32)).holds(link, signature)


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.text(st.characters(codec="utf-8"), min_size=1))
def test_what_a_link_names_can_be_read_from_its_path(subscription: str, item: str) -> None:
    url = LinkSigner(KEY, "https://papers.lab.example").url(SignedLink(LinkAction.SAVE, subscription, item))
    assert [unquote(each) for each in urlsplit(url).path.split("/")] == ["", "mail", subscription, "save", item]


@given(st.text(), st.text(), st.text())
def test_a_button_carries_its_command_for_a_day_and_for_one_subscription(
    subscription: str, channel: str, command: str
) -> None:
    signer = LinkSigner(KEY)
    token = signer.button(subscription, channel, command, NOW)
    read = signer.read_button(token, subscription, NOW + BUTTON_HOLDS - timedelta(seconds=1))
    assert read is not None
    assert (read.subscription, read.channel, read.command) == (subscription, channel, command)
    assert signer.read_button(token, subscription, NOW + BUTTON_HOLDS) is None
    assert signer.read_button(token, subscription + "x", NOW) is None
    assert LinkSigner(bytes(32)).read_button(token, subscription, NOW) is None
    assert signer.read_confirmation(token) == ""


@given(st.text(min_size=1))
def test_a_confirmation_names_a_code_as_it_is_kept(code: str) -> None:
    signer = LinkSigner(KEY, "https://papers.lab.example")
    url = signer.confirmation_url(code)
    token = url.removeprefix("https://papers.lab.example/mail/confirm/")
    assert unquote(token) == token
    assert signer.read_confirmation(token) == code
    assert LinkSigner(KEY).confirmation_url(code) == ""
    assert LinkSigner(bytes(32)).read_confirmation(token) == ""


@given(st.text(), st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=5))
def test_what_was_not_made_here_is_no_token(text: str, value: object) -> None:
    signer = LinkSigner(KEY)
    made = base64.urlsafe_b64encode(json.dumps(value).encode()).decode()
    for token in (
        text,
        made,
        f"{made}.{text}",
        "." + text,
        signer.button("s", "c", text, NOW)[:-1],
        "[" * 9000,
        "W" * 20_000,
    ):
        assert signer.read_button(token, "s", NOW) is None
        assert signer.read_confirmation(token) == ""
