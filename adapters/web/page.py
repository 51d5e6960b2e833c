"""A reply as a page of HTML that needs nothing else: no script, no request, light and dark.

Pure but for the template, which is read from the package once. Every text is escaped by Jinja's autoescape, after control
characters are gone (`adapters.text`). Its buttons are forms that are sent to the page's own address.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from adapters.text import clean
from adapters.web.paper.templates import source_of, style_source, templates
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
    return templates("adapters.web")["page"].render(
        title=clean(reply.title),
        entries=[_entry(each, today) for each in reply.entries],
        text=[spans(each) for each in (*reply.text, *reply.next_steps)],
        fields=[(clean(each.name), spans(each.value)) for each in reply.fields],
        buttons=[replace(each, label=clean(each.label)) for each in reply.buttons],
        field=FIELD,
        is_question=is_question,
        note=note,
    )


def policy(script: str = "", *, is_sent: bool = True) -> str:
    """Return what a browser may do with a page: show our style, send its forms back to us, and run that one script.

    What the script fetches is ours, too. A policy that is not sent but stands in the page cannot say who may frame it. The
    first call reads a file.
    """
    runs = f" script-src {source_of(script)}; connect-src 'self';" if script else ""
    shown = "; frame-ancestors 'none'" if is_sent else ""
    return f"default-src 'none'; style-src {style_source()};{runs} img-src data:; base-uri 'none'; form-action 'self'{shown}"


def _entry(entry: ReplyEntry, today: date) -> PageEntry:
    lines = tuple(spans(each) for each in entry.lines)
    if entry.item is None:
        return PageEntry(clean(entry.title), "", "", lines)
    return PageEntry(title(entry.item), listed(warnings(entry.item)), " · ".join(byline(entry.item, today)), lines)
