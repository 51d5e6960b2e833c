"""A mail as who gets it reads it, and what is wrong with it: judged apart from the code that renders."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser

from adapters.email.render.mail import MOST, SUBJECT, Mail

VOID = frozenset({"meta", "br"})
_TAGS = re.compile("html|head|meta|title|style|body|div|table|tbody|tr|td|h1|h2|p|a|strong|span|br")
_ATTRIBUTES = re.compile(
    "lang|charset|name|content|class|style|role|width|align|border|cellpadding|cellspacing|bgcolor|href|aria-label"
)
_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_REMOTE = re.compile(r"url\(|@import|expression\(|javascript:|behaviou?r:|-moz-binding", re.IGNORECASE)
_INDEX = re.compile(r'<td class="number"[^>]*>(?:<a [^>]*>)?(\d+)(?:</a>)?</td><td[^>]*><strong>(.*?)</strong>', re.DOTALL)
_CARD = re.compile(r"<h2[^>]*>(\d+)\. (.*?)</h2>", re.DOTALL)


class Reader(HTMLParser):
    """Reads a mail's HTML: the elements with their attributes, the comments, and the text that is shown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.comments: list[str] = []
        self.styles = ""  # of the head
        self.shown: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def unknown_decl(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            self.styles += data
        else:
            self.shown.append(data)

    @property
    def text(self) -> str:
        """All that is shown, with single spaces."""
        return " ".join("".join(self.shown).split())

    @property
    def addresses(self) -> list[str]:
        """Where its links lead, in their order."""
        return [attributes["href"] or "" for tag, attributes in self.elements if tag == "a" and "href" in attributes]


@dataclass(frozen=True, slots=True)
class Told:
    """One entry as a mail tells it, in its index or as a card."""

    number: int
    title: str
    address: str  # "" where it is not linked


def listed(mail: Mail) -> list[Told]:
    """Return the lines of the mail's index, in their order; those of entries whose cards have no room are such, too."""
    return _told(_INDEX, mail)


def cards(mail: Mail) -> list[Told]:
    """Return the mail's cards, in their order."""
    return _told(_CARD, mail)


def _told(pattern: re.Pattern[str], mail: Mail) -> list[Told]:
    found = [(int(number), Reader(title)) for number, title in pattern.findall(mail.html)]
    return [Told(number, title.text, next(iter(title.addresses), "")) for number, title in found]


def sent(mail: Mail) -> EmailMessage:
    """Return the mail as who gets it parses it, after it was written as bytes."""
    made = EmailMessage(policy.SMTP)
    made["Subject"] = mail.subject
    made["To"] = "reader@lab.example"
    made.set_content(mail.text)
    made.add_alternative(mail.html, subtype="html")
    return message_from_bytes(made.as_bytes(), policy=policy.default)


def wrong(mail: Mail, like: Mail) -> list[str]:
    """Return what is live, remote or not as a mail may be; its styles and comments are to be those of the mail `like`."""
    read, usual = Reader(mail.html), Reader(like.html)
    allowed = {attributes.get("style") for _, attributes in usual.elements}
    found = [f"a {tag}" for tag, _ in read.elements if not _TAGS.fullmatch(tag)]
    for tag, attributes in read.elements:
        found += [f"{tag} {name}={value!r}" for name, value in attributes.items() if not _ATTRIBUTES.fullmatch(name)]
        found += [f"styled as {attributes['style']!r}"] if attributes.get("style") not in allowed else []
    found += [f"leads to {url!r}" for url in read.addresses if not re.match(r"https?://|#card-\d+\Z", url)]
    found += ["other comments"] if read.comments != usual.comments else []
    found += ["other styles"] if read.styles != usual.styles or _REMOTE.search(read.styles) else []
    found += [f"{len(mail.html.encode())} bytes"] if len(mail.html.encode()) > MOST else []
    return [*found, *_wrong_texts(mail), *_wrong_headers(mail)]


def _wrong_texts(mail: Mail) -> Iterator[str]:
    for text in (mail.subject, mail.preheader, mail.html, mail.text):
        yield from (f"steers: {each!r}" for each in _STEERING.findall(text))
    yield from (f"a long line: {line!r}" for line in mail.text.splitlines() if len(line) > 72 and "http" not in line)


def _wrong_headers(mail: Mail) -> Iterator[str]:
    if "\n" in mail.subject or not 0 < len(mail.subject) <= SUBJECT:
        yield f"the subject {mail.subject!r}"
    got = sent(mail)
    is_said = _squeezed(got["Subject"]) == _squeezed(mail.subject)
    if not is_said or set(got.keys()) != {"Subject", "To", "Content-Type", "MIME-Version"}:
        yield f"the headers {got.items()!r}"
    if [part.get_content_type() for part in got.iter_parts()] != ["text/plain", "text/html"]:
        yield "other parts"


def _squeezed(text: str) -> str:
    return "".join(text.split())  # the library's folding may add a space between what is encoded and what is not
