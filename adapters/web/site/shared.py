"""What stands on the picture beside a link to a page, in the words of the chats. Pure."""

from collections.abc import Sequence
from datetime import date

from adapters.pictures.shared import SharedCard
from adapters.text import clean
from adapters.words import byline, digest_name, kept_of_seen, links, signals, spoken, title
from bot.models import ArchivedDigest, ArchivedPosting, Item
from bot.wording import counted, long_day

_NAMED = 6  # entries of a digest


def of_item(item: Item, posting: ArchivedPosting | None, gist: str, today: date) -> SharedCard:
    """Return the picture of an item: its title and gist, when it was posted last, who made it, and its stars and upvotes."""
    facts = [spoken(each) or each for each in (*byline(item, today), *signals(item))]
    return SharedCard(
        topic=clean(posting.title) if posting else "",
        title=title(item),
        name=next((shown for _, shown in links(item)), item.key),
        text=clean(gist),
        foot=" · ".join((*([long_day(posting.day)] if posting else []), *facts)),
    )


def of_day(digests: Sequence[ArchivedDigest]) -> SharedCard:
    """Return the picture of a topic's digests of a day, of which there is one at least: what stands in them, and counts."""
    first = digests[0].digest
    entries = [each for archived in digests for each in archived.digest.entries]
    counts = kept_of_seen(first) if len(digests) == 1 else counted(len(entries), "entry")
    return SharedCard(
        topic="",
        title=digest_name(first),
        name=first.topic,
        text=" · ".join(title(each.ranked.item) for each in entries[:_NAMED]),
        foot=f"{long_day(first.day)} · {counts}",
    )
