"""A mail's HTML: tables that every mail program keeps, styles on the elements, light and dark, nothing from elsewhere.

Pure but for the template, which is read from the package once. Every text is escaped by Jinja's autoescape, after control
characters and dangerous links are gone (`adapters.text`). What mail programs keep of the styles: docs/email.md.
"""

import re
from functools import cache
from importlib.resources import files

from css_inline import CSSInliner
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from adapters.email.render.stories import Sheet
from adapters.words import spoken

# Behind the preheader: of no width, so that what follows in the mail is not shown in a list of mails.
_PADDING = "\u034f\u200c\u00a0" * 40
_KEPT = ' data-css-inline="keep"'
_BLANK = re.compile(r">\s+<(?=/?(?:table|tbody|tr|td|p|h1|h2|meta|title|style|body|div)\b)")
_INLINER = CSSInliner(load_remote_stylesheets=False, minify_css=True)


def html_part(sheet: Sheet, *, subject: str, preheader: str) -> str:
    """Return a whole HTML document. The first call reads files: not on the event loop."""
    template, style, dark = _loaded()
    made = template.render(
        frame=sheet.frame,
        lines=sheet.index,
        cards=sheet.cards,
        rest=sheet.rest,
        left_out=sheet.left_out,
        leads=bool(sheet.index and sheet.cards),
        shown=len(sheet.cards),
        subject=subject,
        preheader=preheader,
        padding=_PADDING,
        style=style,
        dark=dark,
    )
    return _INLINER.inline(_BLANK.sub("><", made)).replace(_KEPT, "", 1)


@cache
def _loaded() -> tuple[Template, Markup, Markup]:
    here = files("adapters.email.render")
    style, dark = (Markup((here / name).read_text(encoding="utf-8")) for name in ("mail.css", "dark.css"))  # noqa: S704 - our own
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals["spoken_fact"] = spoken
    return environment.from_string((here / "mail.html.j2").read_text(encoding="utf-8")), style, dark
