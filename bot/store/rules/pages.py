"""Pages of one list: what it has shown so far, so that nothing is shown twice or passed over while items come and change.

A mark holds back what is stored later. It cannot hold still what is stored already: a changed item may move within the list,
and new items change how rare a word is, and with it the order of the best matches. So a page continues behind what was
shown, wherever that would stand now.
"""

import re
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from bot.errors import UsageError
from bot.models import Query, Tree

K = TypeVar("K", bound=Hashable)
Shown = tuple[tuple[K, float], ...]  # what names an item in the store, and its relevance
Total = tuple[int | None, bool]  # how many there are in all, and whether about so many
UNCOUNTED: Total = (None, False)

_Which = tuple[str, str, Tree, bool, str]

_MOST_LISTS = 200
_LONGEST = 1000  # entries of one list; 200 such lists take about 20 MB


class ShownLists(Generic[K]):
    """The lists that were asked for last. A list that was forgotten goes on by counting, as well as that can be done.

    What a search finds by words alone and what it finds by meaning, too, are two lists; `space` is that of the vectors.
    """

    def __init__(self) -> None:
        self._lists: OrderedDict[_Which, tuple[Shown[K], Total]] = OrderedDict()

    def shown(self, query: Query, mark: str, *, cards: bool = False, space: str = "") -> Shown[K]:
        """Return what the list of this query and mark has shown, from its first entry on."""
        return self._known(query, mark, cards, space)[0]

    def total(self, query: Query, mark: str, *, cards: bool = False, space: str = "") -> Total:
        """Return how many the list of this query and mark has in all, as it was counted for its first page."""
        return self._known(query, mark, cards, space)[1]

    def _known(self, query: Query, mark: str, cards: bool, space: str) -> tuple[Shown[K], Total]:
        return self._lists.get((mark, query.sort, query.tree, cards, space), ((), UNCOUNTED))

    def keep(
        self,
        query: Query,
        mark: str,
        offset: int,
        page: Sequence[tuple[K, float]],
        *,
        cards: bool = False,
        space: str = "",
        total: Total = UNCOUNTED,
    ) -> None:
        """Remember the page that the list showed at the offset; one that does not follow what is known is left out."""
        at = (mark, query.sort, query.tree, cards, space)
        known, counted = self._lists.pop(at, ((), total))
        whole = (*known[:offset], *page) if offset <= len(known) else known
        goes_on = len(known) > len(whole) and known[: len(whole)] == whole
        self._lists[at] = (known if goes_on or len(whole) > _LONGEST else whole, counted)
        if len(self._lists) > _MOST_LISTS:
            self._lists.popitem(last=False)


def read_mark(mark: str, newest: int) -> int:
    """Return what a page's mark says: the last number given to an item until then; "" is `newest`, the last of all."""
    if not mark:
        return newest
    if not re.fullmatch("0|[1-9][0-9]{0,15}", mark) or int(mark) > newest:
        raise UsageError("This page is of a list that is no longer known; search again.")
    return int(mark)
