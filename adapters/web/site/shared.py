"""What stands on the picture beside a link to a page, in the words of the chats. Pure."""

from collections.abc import Sequence
from datetime import date
from itertools import zip_longest

from adapters.pictures.shared import SharedCard
from adapters.text import clean
from adapters.web.paper.stories import edition
from adapters.words import byline, digest_name, kept_of_seen, links, signals, spoken, title
from bot.models import ArchivedDigest, ArchivedPosting, Item
from bot.wording import counted, listed, long_day

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


def of_front(digests: Sequence[ArchivedDigest]) -> SharedCard:
    """Return the picture of today's paper, which has a digest at least: its first headlines, of each topic in turn."""
    entries = [[title(each.ranked.item) for each in archived.digest.entries] for archived in digests]
    headlines = dict.fromkeys(each for row in zip_longest(*entries) for each in row if each is not None)
    topics = {each.digest.topic: digest_name(each.digest) for each in digests}
    return SharedCard(
        topic="The daily paper of papers",
        title=long_day(max(each.digest.day for each in digests)),
        name="",
        text=" · ".join([*headlines][:_NAMED]) or listed([*topics.values()]),
        foot=edition(sum(map(len, entries)), topics),
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
