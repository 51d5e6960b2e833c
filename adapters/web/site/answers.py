"""What is read of the archive, and the page that shows it: asked of the core here, made by who was told.

The pages that are served and those that are written as files are these. A page is made beside the event loop: dozens of
cards take some milliseconds.
"""

from collections.abc import Callable
from datetime import date, datetime
from functools import partial

from adapters.web.site import views
from adapters.web.site.frame import Frame
from bot.commands import Command, Less, More, Save, Show, Unsave, write
from bot.handlers.archive.paper import paper_history
from bot.handlers.archive.reading import archived_days, archived_topics, digests_of_day, front
from bot.handlers.context import HandlerContext
from bot.models import Button, Viewer

DAYS = 62  # of a topic that are listed at a time

Made = Callable[[], str]  # returns the page, in HTML


async def front_page(context: HandlerContext, viewer: Viewer, frame: Frame, now: datetime) -> Made:
    """Return today's paper. Raises StoreError, as all of these do."""
    return partial(views.front, frame, await front(context, viewer, now), now.date())


async def topics_page(context: HandlerContext, viewer: Viewer, frame: Frame, now: datetime) -> Made:
    """Return the topics of which there are digests."""
    return partial(views.topics, frame, await archived_topics(context, viewer), now.date())


async def topic_page(
    context: HandlerContext, viewer: Viewer, frame: Frame, name: str, before: date | None = None
) -> Made | None:
    """Return the topic's days before that one; None where the viewer may know of none."""
    found = next((each for each in await archived_topics(context, viewer) if each.name == name), None)
    days = await archived_days(context, viewer, name, before=before, limit=DAYS + 1) if found else ()
    if found is None or not days:
        return None
    is_latest, has_more = days[0].day == found.last, len(days) > DAYS
    return partial(views.topic, frame, found, days[:DAYS], is_latest=is_latest, has_more=has_more)


async def day_page(context: HandlerContext, viewer: Viewer, frame: Frame, name: str, day: date) -> Made | None:
    """Return the digests of a topic's day; None where the viewer may know of none."""
    digests = await digests_of_day(context, viewer, name, day)
    if not digests:
        return None
    before = await archived_days(context, viewer, name, before=day, limit=1)
    return partial(views.day, frame, digests, before[0].day if before else None)


async def item_page(context: HandlerContext, viewer: Viewer, frame: Frame, key: str, now: datetime) -> Made | None:
    """Return an item's card and history; None where the viewer may know of none."""
    history = await paper_history(context, viewer, key, now)
    if history is None:
        return None
    own = history.item.key
    kept = ("Unsave", Unsave(own)) if history.saved else ("Save", Save(own))
    offered: tuple[tuple[str, Command], ...] = (
        ("More like this", More(own)),
        ("Less", Less(own)),
        kept,
        *(() if frame.is_file else (("BibTeX", Show(own, bibtex=True)),)),
    )
    actions = frame.actions([Button(label, write(command)) for label, command in offered])
    return partial(views.item, frame, history, actions, now.date())
