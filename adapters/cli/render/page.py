"""Digests as one HTML file that needs nothing else: no script, no request, light and dark, screen and paper.

Pure but for the template, read from the package once; what it shows is made as for every page (`adapters.web.paper`).
"""

from collections.abc import Sequence
from datetime import datetime

from adapters.web.paper.stories import edition, sections
from adapters.web.paper.templates import style_source, templates
from bot.models import Digest
from bot.wording import listed, long_day


def page(digests: Sequence[Digest], *, made_at: datetime, version: str) -> str:
    """Return a whole HTML document with a section for each digest, dated as the newest of them is.

    The first call reads files: not on the event loop.
    """
    told = sections(digests)
    day = max((digest.day for digest in digests), default=made_at.date())
    return templates("adapters.cli.render")["page"].render(
        sections=told,
        day=long_day(day),
        iso_day=day.isoformat(),
        edition=edition(sum(len(each.stories) for each in told), [each.topic for each in told]),
        subjects=listed([section.title for section in told]),
        made=f"{made_at:%H:%M} UTC on {long_day(made_at.date())}",
        made_at=made_at.isoformat(timespec="seconds"),
        version=version,
        policy=f"default-src 'none'; style-src {style_source()}; img-src data:; base-uri 'none'; form-action 'none'",
    )
