"""Links by which a recipient acts without the chat."""

from urllib.parse import parse_qs, unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from bot.handlers.links import LinkAction, LinkSigner, SignedLink

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
