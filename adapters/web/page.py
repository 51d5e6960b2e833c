"""A reply as a page of HTML that needs nothing else: no script, no request, light and dark.

Pure but for the template, which is read from the package once. Every text is escaped by Jinja's autoescape, after control
characters are gone (`adapters.text`). Its buttons are forms that are sent to the page's own address.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from adapters.text import clean
from adapters.words import SpanKind, byline, spans, title, warnings
from bot.models import Reply, ReplyEntry
from bot.wording import listed

FIELD = "do"  # of a form: the token of its button

Told = Sequence[tuple[str, SpanKind]]


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One thing of a list, in the words of the page."""

    title: str
    warnings: str
    facts: str
    lines: tuple[Told, ...]


def page(reply: Reply, today: date, *, note: str, is_question: bool = False) -> str:
    """Return the whole document: title, entries, texts, fields, and a form for each button; `note` stands at its end.

    Each button's command is what its form is sent with. Cards, digests and files are not shown. The first call reads
    files: not on the event loop.
    """
    template, style, _ = loaded()
    return template.render(
        title=clean(reply.title),
        entries=[_entry(each, today) for each in reply.entries],
        text=[spans(each) for each in (*reply.text, *reply.next_steps)],
        fields=[(clean(each.name), spans(each.value)) for each in reply.fields],
        buttons=[replace(each, label=clean(each.label)) for each in reply.buttons],
        field=FIELD,
        is_question=is_question,
        note=note,
        style=Markup(style),  # noqa: S704 - our own file, and its hash stands in the policy
    )


def policy() -> str:
    """Return what a browser may do with a page: show our style, and send its forms back to us."""
    return (
        f"default-src 'none'; style-src 'sha256-{loaded()[2]}'; img-src data:; base-uri 'none'; form-action 'self';"
        " frame-ancestors 'none'"
    )


@cache
def loaded() -> tuple[Template, str, str]:
    """Return the template, the style and the style's hash, read once."""
    here = files("adapters.web")
    style = (here / "page.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((here / "page.html.j2").read_text(encoding="utf-8"))
    return template, style, base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _entry(entry: ReplyEntry, today: date) -> PageEntry:
    lines = tuple(spans(each) for each in entry.lines)
    if entry.item is None:
        return PageEntry(clean(entry.title), "", "", lines)
    return PageEntry(title(entry.item), listed(warnings(entry.item)), " · ".join(byline(entry.item, today)), lines)
