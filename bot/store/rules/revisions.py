"""When something may be written: only over what its writer has read. Shared by every store, so that all answer alike."""

from dataclasses import replace

from bot.errors import Conflict, StoreError
from bot.models import Preferences, Query, Subscription, Topic
from bot.query import parse

_NEVER = -1  # the revision of nothing that is stored


def expect(stored: int, replaces: int, what: str) -> None:
    """Raise Conflict unless the stored revision, 0 where there is nothing, is the one that the writer has read."""
    if stored == replaces:
        return
    if not stored:
        raise Conflict(f"Somebody deleted {what} in between; nothing was changed.")
    raise Conflict(f"Somebody {'changed' if replaces else 'made'} {what} in between; look at it and try again.")


def expect_subscription(stored: tuple[str, int] | None, given: Subscription, replaces: int) -> None:
    """Raise Conflict unless the stored id and revision are those that the writer has read.

    A subscription that was ended and made anew counts from 1 again, and is told from the former one by its id.
    """
    what = f"the subscription to {given.topic}"
    number, revision = stored or (given.id, 0)
    if replaces and number != given.id:
        raise Conflict(f"Somebody made {what} anew in between; look at it and try again.")
    expect(revision, replaces, what)


def expect_stored(stored: tuple[str, int] | None, given: Subscription) -> None:
    """Raise Conflict unless the subscription is stored as it is given, by its id and revision."""
    expect_subscription(stored, given, given.revision or _NEVER)


def expect_unused(subscriptions: int, topic: str) -> None:
    """Raise Conflict where channels subscribe to a topic that was to be deleted because none does."""
    if subscriptions:
        raise Conflict(f"Somebody subscribed to {topic} in between; nothing was changed.")


def expect_settled(replaces: Preferences | None, stored: Preferences) -> None:
    """Raise Conflict unless the stored preferences are those that the writer has read; None: whatever they are."""
    if replaces is not None and replaces != stored:
        raise Conflict("Somebody changed the settings in between; look at them and try again.")


def with_news(subscription: Subscription, *, told: bool) -> Subscription:
    """Return it as it is stored once a digest told what it tells once, or that digest was dropped unposted."""
    return replace(subscription, is_new_to_brief=not told, revision=subscription.revision + 1)


def expect_readable(given: Topic | Subscription) -> None:
    """Raise StoreError when a query of the value is not what its text says: only the text is kept.

    Raises UsageError for a text that is no query.
    """
    queries = (given.query, given.filter) if isinstance(given, Topic) else (given.filter,)
    for query in queries:
        _expect_said(query)


def _expect_said(query: Query) -> None:
    if parse(query.text) != query:
        raise StoreError(f"A query whose text says something else cannot be kept: {query.text!r}.")
