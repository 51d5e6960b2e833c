"""A digest by its topic and day, as it was posted: for who asks for one and not for a page of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bot.errors import UsageError
from bot.handlers.archive.reading import archived_days, archived_topics, digests_of_day
from bot.handlers.context import HandlerContext, slug
from bot.handlers.wording.replies import excerpt
from bot.models import ArchivedDigest, ArchivedTopic, Viewer
from bot.wording import some

_NAMED = 5  # days or topics that are named where one is not there


@dataclass(frozen=True, slots=True)
class PostedDigest:
    """A digest as it was posted, and what its reader may ask for besides."""

    archived: ArchivedDigest
    number: int  # among those of its topic and day, from 1, in the order in which they were posted
    of_day: int  # how many those are
    others: tuple[ArchivedTopic, ...]  # the other topics of which the reader may read digests, the newest first


async def posted_digest(
    context: HandlerContext, viewer: Viewer, topic: str = "", day: str = "", number: int = 0
) -> PostedDigest:
    """Return the digest of the topic, by its name or title, and of the day, in ISO form; the newest for what is "".

    Of several on one day it is the last, or that of the number. Raises UsageError where the viewer may read none such, and
    StoreError.
    """
    topics = sorted(await archived_topics(context, viewer), key=lambda each: each.last, reverse=True)
    found = _topic(topics, topic)
    wanted = _day(day) or found.last
    digests = await digests_of_day(context, viewer, found.name, wanted)
    if not digests:
        raise await _not_that_day(context, viewer, found, wanted)
    if not 0 <= number <= len(digests):
        raise UsageError(f"{found.title} has {len(digests)} of that day.", hint="Leave the number out for the last.")
    chosen = number or len(digests)
    others = tuple(each for each in topics if each is not found)
    return PostedDigest(digests[chosen - 1], chosen, len(digests), others)


def _topic(topics: Sequence[ArchivedTopic], typed: str) -> ArchivedTopic:
    if not topics:
        raise UsageError("No digest was posted yet that can be read here.", hint="*search* finds what was collected.")
    if not typed.strip():
        return topics[0]
    wanted = slug(typed)
    named = [each for each in topics if each.name == wanted] or [each for each in topics if slug(each.title) == wanted]
    if not named or not wanted:
        known = some([each.name for each in topics], _NAMED)
        raise UsageError(f'No digest of "{excerpt(typed)}" can be read here.', hint=f"There are digests of {known}.")
    return named[0]


def _day(typed: str) -> date | None:
    if not typed.strip():
        return None
    try:
        return date.fromisoformat(typed.strip())
    except ValueError as error:
        hint = "Write it as year, month and day: 2026-06-15."
        raise UsageError(f'"{excerpt(typed)}" is no day.', hint=hint) from error


async def _not_that_day(context: HandlerContext, viewer: Viewer, topic: ArchivedTopic, day: date) -> UsageError:
    days = await archived_days(context, viewer, topic.name, limit=_NAMED)
    known = some([each.day.isoformat() for each in days])
    return UsageError(
        f"No digest of {topic.title} of {day.isoformat()} can be read here.",
        hint=f"The last are of {known}." if known else "",
    )
