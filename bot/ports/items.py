"""The items that are stored, and searching them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple, Protocol

from bot.models import Hit, Item, Near, Page, Query, Reading, SourceState, Tree, WordUse

NOTHING_READ: Mapping[str, Item | None] = {}


class ItemChange(NamedTuple):
    """That an item was stored or dropped: the number of it, the item's arrival, and the item as it is now, None if gone."""

    number: int
    arrival: int
    item: Item | None


class Making(NamedTuple):
    """How far a search index is that is being made: of how many arrivals it has looked at how many."""

    done: int
    of: int


class Items(Protocol):
    """The stored items by their keys, and their readings of each day."""

    async def find(self, keys: Collection[str]) -> Mapping[str, Item]:
        """Return the item known under each key or alias; a key that nobody knows is absent."""
        ...

    async def add(
        self,
        items: Sequence[Item],
        now: datetime,
        *,
        retired: Collection[str] = (),
        state: SourceState | None = None,
        known: Mapping[str, Item | None] = NOTHING_READ,
        happened: bool = False,
    ) -> bool:
        """Insert or replace whole items by key, keep today's reading of each, drop the `retired` keys, in one transaction.

        The search index is in step when this returns. `state` is saved in the same transaction.
        An item whose `seen` is None is stored as seen at `now`.

        `known` are the items from which these were made, by the names under which they were read; None where there was
        none. Returns False, and writes nothing, where another one is found under such a name now, or another text of it.

        With `happened` an arrival is given that no item has, the last of the transaction: something happened to an item
        that is stored, and what looks at arrivals has a window of its own for it.
        """
        ...

    async def last_arrival(self) -> int:
        """Return the highest arrival that was ever given, 0 before the first.

        An item's arrival is given in the transaction that first stores its key, in the order in which these are committed.
        It is kept when the item is replaced, and never given again: whatever is stored later has a higher one.
        """
        ...

    async def arrived(self, after: int, through: int | None = None) -> Sequence[tuple[int, Item]]:
        """Return the items that arrived after one number and up to another, each with its own; those seen last first."""
        ...

    async def repositories(self, pushed: datetime, through: int) -> Sequence[tuple[int, Item]]:
        """Return the repositories pushed to since then, of those that arrived up to a number, each with its own."""
        ...

    async def arrival_before(self, since: datetime, until: datetime) -> int:
        """Return the arrival just before the first of the items first seen from `since` to `until`, the last without any.

        What is meant by a time, for who has no arrival: an item is seen when the collection begins that brings it, so what
        arrived later may have been seen before.
        """
        ...

    async def mark(self) -> str:
        """Return a text that changes with every change of items or readings, whoever made it.

        While it is the same, what is found of them is the same.
        """
        ...

    async def last_change(self) -> int:
        """Return the number of the last change of items.

        Each storing and each dropping of an item is given a number in the transaction that does it, in the order in which
        these are committed. None is given twice, not even after a backup was put back.
        """
        ...

    async def changes(self, after: int, *, limit: int) -> Sequence[ItemChange] | None:
        """Return so many of the changes after one, the oldest first; each item as it is now.

        None where nobody knows any more what came after that number, or no change has it: who follows begins anew with
        `last_change`, all items by their arrivals, and then what changed after that number.
        """
        ...

    async def counts(self) -> Mapping[str, int]:
        """Return how many there are: items, papers, repos, posts."""
        ...

    async def readings(self, keys: Collection[str], since: date) -> Mapping[str, Sequence[Reading]]:
        """Return each item's readings from `since` on, oldest first; an item without any is absent."""
        ...


class SearchIndex(Protocol):
    """What finds items: it answers as the query's tree evaluated on every item does.

    No query costs more than a bounded effort. One that would is answered in part, where that can be said, and is refused
    with a UsageError where it cannot.
    """

    async def search(
        self,
        query: Query,
        now: datetime,
        *,
        limit: int = 10,
        offset: int = 0,
        mark: str = "",
        near: Near | None = None,
        cards: bool = False,
    ) -> Page:
        """Return a page of what the query finds, in the order that `query.sort` asks for.

        Sorted `best`, an item has all bare words of the query or those that tell most, best match first, newer ones a
        little before older ones; everything else in the tree must hold. With `near`, what they mean, closeness counts in
        that order, and what is close enough needs none of them. In every other order the tree holds as it stands, and
        `near` says nothing. With `cards` a paper and its repository are one result, at the place of the better one; the
        paper leads where the query's conditions hold for it. `mark` is an earlier page's: what was first
        stored after it is left out. What is stored already may change in between and move within the list; it is shown
        once all the same, unless so many lists were asked for since that this one is forgotten, or the store was opened
        anew. Raises UsageError for a mark that no page had. A page that says how many items were examined is in part: all
        that it shows is found by the query, and more may be.
        """
        ...

    async def similar(self, item: Item, now: datetime, *, limit: int = 10, near: Near | None = None) -> Sequence[Hit]:
        """Return the items that are close to the item by their words and by what they mean, the closest first.

        None is close below a relevance that decision 0072 measured. The item itself is left out under whatever name, its
        other half, and the same work under another key; a paper and its repository are one result. Each comes with the
        telling words and phrases that both have. `relevance` is in 0–1, 1 for the same text. The item need not be stored,
        any title and abstract will do. `near` is what these mean.
        """
        ...

    async def values(self, field: str, beginning: str, *, limit: int = 25) -> Sequence[tuple[str, int]]:
        """Return the values of a label field that begin so, in any case, and how many items have each; the commonest first.

        Fields: category, source, language, license, topic (keywords). Nothing for any other. Values are folded, as a query
        compares them: cs.lg, jupyter notebook.
        """
        ...

    async def word_use(self, words: Sequence[str]) -> Mapping[str, WordUse]:
        """Return how each of these words is used in what is stored, as the query language folds them; each is one word."""
        ...

    async def stands_for(self, spelt: Sequence[str]) -> Mapping[str, Sequence[tuple[str, int]]]:
        """Return what each of these folded texts stands for, the commonest first, with how many items say so.

        Of an abbreviation that is what it is spelt out as, of such words the abbreviation: `rag`, `retrieval augmented
        generation`. A text of which no item says it is absent.
        """
        ...

    async def count(self, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        """Count the items for which the tree holds, of those first seen at or after `since`.

        Raises UsageError for a tree that takes too much effort.
        """
        ...

    async def matching(self, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        """Return the items for which the tree holds, of those first seen at or after `since`, newest first.

        Raises UsageError as `count` does.
        """
        ...

    async def months(self, tree: Tree, now: datetime) -> Mapping[date, int]:
        """Return how many items for which the tree holds were published in each month, by its first day, in UTC.

        A month without any is absent; an item whose date is not known is in none. Raises UsageError as `count` does.
        """
        ...

    async def texts(self, tree: Tree, now: datetime, *, limit: int) -> Sequence[tuple[str, str]]:
        """Return title and abstract of the items for which the tree holds; of more than `limit` a sample of so many.

        The sample is the same while the items are, and what is in it has nothing to do with what they say or when they
        came. Raises UsageError as `count` does.
        """
        ...

    async def making(self) -> Making | None:
        """Return how far the index is that is to answer, where it is being made and another one answers; else None."""
        ...
