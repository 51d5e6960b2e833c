"""Links by which a recipient acts without the chat."""

import base64
import json
from datetime import timedelta
from urllib.parse import parse_qs, unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from bot.handlers.links import (
    BUTTON_HOLDS,
    OPENING_HOLDS,
    SESSION_HOLDS,
    LinkAction,
    LinkSigner,
    SignedLink,
    SignedSession,
)
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


def test_what_no_address_can_say_has_no_link() -> None:
    signer = LinkSigner(KEY, "https://papers.lab.example")
    assert signer.url(SignedLink(LinkAction.MORE, "1", "url:https://blog.example/\ud83d")) == ""
    assert signer.url(SignedLink(LinkAction.PAUSE, "\udc00")) == ""


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


SECOND = timedelta(seconds=1)


@given(st.text(), st.text(), st.text(), st.text())
def test_a_link_opens_the_pages_of_one_person_for_a_quarter_of_an_hour(
    workspace: str, channel: str, person: str, nonce: str
) -> None:
    signer, base = LinkSigner(KEY, "https://papers.lab.example"), "https://papers.lab.example/open/"
    url = signer.opening_url(workspace, channel, person, nonce, NOW)
    assert url.startswith(base)
    token = url.removeprefix(base)
    assert unquote(token) == token
    who = signer.read_opening(token, NOW + OPENING_HOLDS - SECOND)
    assert who is not None
    assert (who.workspace, who.channel, who.person) == (workspace, channel, person)
    assert signer.read_opening(token, NOW + OPENING_HOLDS) is None
    assert LinkSigner(bytes(32)).read_opening(token, NOW) is None
    assert LinkSigner(KEY).opening_url(workspace, channel, person, nonce, NOW) == ""
    assert signer.read_session(token, NOW) is None


@given(st.text(), st.text(), st.text())
def test_a_session_is_of_one_person_for_half_a_day(workspace: str, channel: str, person: str) -> None:
    signer = LinkSigner(KEY)
    kept = signer.session(SignedSession(workspace, channel, person, 0), "a", NOW)
    who = signer.read_session(kept, NOW + SESSION_HOLDS - SECOND)
    assert who is not None
    assert (who.workspace, who.channel, who.person) == (workspace, channel, person)
    assert signer.read_session(kept, NOW + SESSION_HOLDS) is None
    assert LinkSigner(bytes(32)).read_session(kept, NOW) is None
    assert signer.read_opening(kept, NOW) is None
    assert signer.read_button(kept, workspace, NOW) is None


@given(st.data(), st.text(), st.text())
def test_a_form_gives_its_command_in_its_own_session(data: st.DataObject, session: str, command: str) -> None:
    signer, other = LinkSigner(KEY), data.draw(st.text().filter(lambda text: text != session))
    token = signer.form(session, command, NOW)
    assert signer.read_form(token, session, NOW + BUTTON_HOLDS - SECOND) == command
    assert signer.read_form(token, session, NOW + BUTTON_HOLDS) is None
    assert signer.read_form(token, other, NOW) is None
    assert LinkSigner(bytes(32)).read_form(token, session, NOW) is None


@given(st.text(st.sampled_from("abc:é\ud83d")), st.text(), st.integers(0, 400), st.characters())
def test_whatever_is_changed_in_a_token_it_is_good_for_nothing(workspace: str, person: str, at: int, put: str) -> None:
    signer = LinkSigner(KEY, "https://papers.lab.example")
    opening = signer.opening_url(workspace, "C1", person, "n", NOW).rpartition("/")[2]
    session = signer.session(SignedSession(workspace, "C1", person, 0), "a", NOW)
    for token, read in ((opening, signer.read_opening), (session, signer.read_session)):
        at %= len(token)
        forged = token[:at] + put + token[at + 1 :]
        assert (read(forged, NOW) is None) is (forged != token)
        assert read(token[:-1], NOW) is None
        assert read(token + put, NOW) is None


def test_the_public_pages_of_a_workspace_have_an_address_that_does_not_name_it() -> None:
    signer = LinkSigner(KEY)
    slugs = {signer.slug(each) for each in ("slack:T1", "slack:T2", "discord:1")}
    assert len(slugs) == 3
    assert all(len(slug) == 16 and slug.isalnum() for slug in slugs)
    assert LinkSigner(bytes(32)).slug("slack:T1") not in slugs


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
        assert signer.read_opening(token, NOW) is None
        assert signer.read_session(token, NOW) is None
        assert signer.read_form(token, "s", NOW) is None
