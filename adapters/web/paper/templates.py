"""The style and the templates of every page, read from the package once.

Every text is escaped by Jinja's autoescape, after control characters and dangerous links are gone (`adapters.text`); a
content security policy forbids what should not be there anyway.
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup

_ROOM = "adapters.web.paper"
_ENDING = ".html.j2"


@cache
def templates(room: str) -> dict[str, Template]:
    """Return the templates of that package by their names without ending, ready to be rendered: nothing is read later.

    They may extend and import those of this one. The first call reads files: not on the event loop.
    """
    ours, theirs = _sources(_ROOM), _sources(room)
    environment = Environment(
        loader=DictLoader({f"paper/{name}": text for name, text in ours.items()} | theirs),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals["style"] = Markup(style())  # noqa: S704 - our own file, and its hash stands in the policy
    for name in ours:
        environment.get_template(f"paper/{name}")
    return {name.removesuffix(_ENDING): environment.get_template(name) for name in theirs}


def _sources(room: str) -> dict[str, str]:
    found = (each for each in files(room).iterdir() if each.name.endswith(_ENDING))
    return {each.name: each.read_text(encoding="utf-8") for each in found}


@cache
def style() -> str:
    """Return the style of every page; the first call reads a file."""
    return (files(_ROOM) / "paper.css").read_text(encoding="utf-8")


@cache
def style_source() -> str:
    """Return the style as a content security policy allows it: by its hash."""
    return source_of(style())


def source_of(text: str) -> str:
    """Return how a content security policy names a style or a script that stands in the page: 'sha256-…'."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
