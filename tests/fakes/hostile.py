"""Digests made of what strangers may write to become markup, a link, a header or a command somewhere."""

from dataclasses import replace
from random import Random

from bot.models import Digest, Entry, Link
from tests.fakes.digests import GPU

_PIECES = (
    "\r\nBcc: all@evil.example\r\n\r\n<b>body</b>",
    "\nSubject: other",
    "=?utf-8?q?=0D=0ABcc:_all@evil.example?=",
    "=?utf-8?b?DQpCY2M6IHg=?=",
    "<script>alert(1)</script>",
    "</title></style><img src=https://evil.example/x.png onerror=alert(1)>",
    '"><a href="javascript:alert(1)">x</a>',
    "' style='background:url(https://evil.example/x)' x='",
    "<![endif]--><iframe src=//evil.example></iframe><!--[if mso]>",
    "--><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}{# c #}",
    "&lt;b&gt;&#60;b&#62;&#x3C;b&#x3e;",
    "@import url(//evil.example/x.css);",
    "javascript:alert(1)",
    "data:text/html,<b>",
    "\x00\x07\x1b]8;;https://evil.example\x07x\x1b[2J",
    "\u202ecod.exe\u2066",
    "\u2028\u2029\x85\x0b\x0c",
    "\ud800",
    "z" + "\u0301" * 30,
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\u591a\u6a21\u6001" * 12,
    "\u200f\u0634\u0628\u0643\u0629",
    "x" * 120,
    "-- ",
    "From here on",
    ".",
    "> quoted",
    "KV cache, 4 GB at 2\u00d7",
)
_ADDRESSES = (
    "javascript:alert(1)",
    "data:text/html,x",
    "https://ok.example@evil.example/",
    'https://ok.example/"onmouseover="x',
    "//evil.example",
    "https://ok.example/<script>",
    "https://ok.example/?a=1&b=2#c",
    "https://ok.example/\r\nBcc: x",
    "vbscript:x",
    "https://ok.example/" + "a" * 1_990,
    "https://d\u03bfi.example/\u00e4",
)


def hostile(random: Random, count: int) -> Digest:
    """Return a digest of so many entries, each with a hostile title, abstract, and whatever else strangers write."""

    def text() -> str:
        return random.choice(("", " ")).join(random.choices(_PIECES, k=random.randint(1, 6)))

    def entry() -> Entry:
        like = random.choice(GPU.entries)
        item = replace(
            like.ranked.item,
            key=f"url:{text()}",
            title=text(),
            abstract=text(),
            org=text(),
            authors=(text(), text()),
            links=tuple(Link(rel, random.choice(_ADDRESSES)) for rel in ("abstract", "code", "page", "discussion")),
        )
        parts = tuple(replace(part, text=text()) for part in like.summary.parts)
        return replace(like, ranked=replace(like.ranked, item=item), gist=text(), card=parts, why_here=text())

    made = tuple(entry() for _ in range(count))
    return replace(GPU, topic=text(), title=text(), news=text(), entries=made)
