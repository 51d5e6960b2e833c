"""Which records are the same work, and what is known of it then. Pure: items in, items out.

Two records are one work when they share a key or an alias, unless arXiv numbers them apart. A paper and its repository stay
two items that point at each other (`Item.repo`, `Item.paper`), joined when one names the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.keys import key_of_url
from bot.models import Item, Kind, Link
from bot.query.fold import tokens

# By the name of a source, how much its words count when two sources describe one work; 1 for one that is not named.
Authority = Mapping[str, int]

# A title of fewer words ("Introduction", "Attention Is All") is no identity.
TITLE_WORDS = 5


@dataclass(frozen=True, slots=True)
class Merged:
    """Whole items to store, and the keys whose records they have swallowed."""

    items: tuple[Item, ...]
    retired: tuple[str, ...]
    fresh: int  # how many of the items were not known before


def names(item: Item) -> tuple[str, ...]:
    """Return every key under which the work may be known already: its own, its aliases, the repository or paper it names."""
    return tuple(dict.fromkeys((item.key, *item.aliases, *filter(None, (item.repo, item.paper)), *partners(item))))


def partners(item: Item) -> tuple[str, ...]:
    """Return the keys of what the item names as its other half: a paper's code, a repository's paper."""
    wanted, prefix = ("code", "github:") if item.kind is Kind.PAPER else ("abstract", "arxiv:")
    keys = (key_of_url(link.url) for link in item.links if link.rel == wanted)
    return tuple(dict.fromkeys(key for key in keys if key.startswith(prefix) and key != item.key))


def fold_in(incoming: Iterable[Item], known: Mapping[str, Item], authority: Authority) -> Merged:
    """Merge incoming records into what is known of them, and join papers with their repositories.

    `known` maps any of their `names` to the stored item. The order of `incoming` is kept.
    """
    # What was found by another name stands under its own, too: it is looked up by that from here on.
    table: dict[str, Item] = {item.key: item for item in known.values()} | dict(known)
    before = {item.key for item in known.values()}
    touched: dict[str, None] = {}
    retired: dict[str, None] = {}
    for record in incoming:
        item = _absorb(record, table, retired, authority)
        for name in (item.key, *item.aliases):
            table[name] = item
        touched[item.key] = None
    for key in list(touched):
        touched.update(dict.fromkeys(_join(key, table)))
    kept = tuple(table[key] for key in touched if key not in retired)
    return Merged(kept, tuple(retired), sum(item.key not in before for item in kept))


def merge(old: Item, new: Item, authority: Authority) -> Item:
    """Return one item that knows what both records say. The key is the more authoritative one's, signals are the newer."""
    second_hand = _authority(new, authority) < _authority(old, authority)
    lead, other = (old, new) if second_hand or old.version > new.version > 0 else (new, old)
    key = _better_key(old, new)
    asked_last = _asked_last(old, new)
    aliases = _union((*old.aliases, *new.aliases, old.key, new.key))
    return replace(
        lead,
        key=key,
        title=lead.title or other.title,
        abstract=lead.abstract or other.abstract,
        authors=lead.authors or other.authors,
        org=lead.org or other.org,
        categories=lead.categories or other.categories,
        keywords=_union((*lead.keywords, *other.keywords)),
        sources=_union((*old.sources, *new.sources)),
        links=_links(lead, other),
        aliases=tuple(alias for alias in aliases if alias != key),
        # A feed knows only the day of the announcement, which is later; the earliest date is the nearest to version 1.
        published=_earliest(old.published, new.published),
        updated=_latest(old.updated, new.updated),
        appeared=_earliest(old.appeared, new.appeared),
        seen=_earliest(old.seen, new.seen),
        announce=lead.announce or other.announce,
        version=max(old.version, new.version),
        comment=lead.comment or other.comment,
        license=lead.license or other.license,
        language=lead.language or other.language,
        stars=_signal(old.stars, new.stars, second_hand),
        forks=_signal(old.forks, new.forks, second_hand),
        upvotes=_signal(old.upvotes, new.upvotes, second_hand=False),
        comments=_signal(old.comments, new.comments, second_hand=False),
        withdrawn=_withdrawn(old, new),
        archived=lead.archived,
        fork=lead.fork,
        readme=lead.readme or other.readme,
        release=asked_last.release,
        releases_read=asked_last.releases_read,
        releases_confirmed=_latest(old.releases_confirmed, new.releases_confirmed),
        repo=lead.repo or other.repo,
        paper=lead.paper or other.paper,
    )


def same_work(left: Item, right: Item) -> bool:
    """Tell whether two records under different keys are one work: the same long title, and an author in common.

    For a lab's or journal's feed, which often gives neither arXiv id nor DOI. Where one side names no author, or is a
    repository, it is not taken for the same; nor are two papers that arXiv numbers apart (of 54,000 papers of a year six
    pairs have title and author in common), nor what one feed brings on two days: a column has the same title every week.
    """
    if Kind.REPO in (left.kind, right.kind) or _apart(left, right):
        return False
    if set(left.sources) & set(right.sources) and left.appeared != right.appeared:
        return False
    words = tokens(left.title)
    if len(words) < TITLE_WORDS or words != tokens(right.title):
        return False
    return bool(_surnames(left) & _surnames(right))


def title_words(item: Item) -> tuple[str, ...]:
    """Return the words of the title as `same_work` compares them."""
    return tuple(tokens(item.title))


def by_title(items: Iterable[Item]) -> dict[tuple[str, ...], list[Item]]:
    """Return the items by the words of their titles."""
    found: dict[tuple[str, ...], list[Item]] = {}
    for item in items:
        found.setdefault(title_words(item), []).append(item)
    return found


def _absorb(record: Item, table: Mapping[str, Item], retired: dict[str, None], authority: Authority) -> Item:
    """Merge the record with every known item that shares a name with it; more than one when it shows two to be the same."""
    item = record = _numbered_once(record)
    twins = dict.fromkeys(table[name].key for name in (record.key, *record.aliases) if name in table)
    others: set[str] = set()
    for key in twins:
        if _apart(table[key], item):
            others.update((key, *table[key].aliases))
        else:
            item = merge(table[key], item, authority)
    item = replace(item, aliases=tuple(alias for alias in item.aliases if alias not in others))
    retired.update((key, None) for key in twins if key != item.key and key not in others)
    retired.pop(item.key, None)
    return item


def _numbered_once(record: Item) -> Item:
    """Leave a record the first arXiv number that it goes by, as its key."""
    names = (record.key, *record.aliases)
    numbers = [name for name in names if name.startswith("arxiv:")]
    key = numbers[0] if numbers else record.key
    return replace(record, key=key, aliases=tuple(name for name in names if name != key and name not in numbers))


def _apart(left: Item, right: Item) -> bool:
    """Tell whether arXiv gave the two different numbers: then they are two works, whatever else they share."""
    one, other = ({name for name in (item.key, *item.aliases) if name.startswith("arxiv:")} for item in (left, right))
    return bool(one and other) and one.isdisjoint(other)


def _join(key: str, table: dict[str, Item]) -> list[str]:
    """Point the item and what it names at each other; return the keys of the other items that changed."""
    item = table[key]
    if item.kind is Kind.POST:
        return []
    named = tuple(filter(None, (_pointer(item), *partners(item))))
    target = next((table[name] for name in named if name in table and table[name].kind is not item.kind), None)
    if target is None:
        # A paper keeps the name of its repository, so that the two are joined when the repository is seen later.
        if item.kind is Kind.PAPER and not item.repo and named:
            _put(table, _pointing(item, named[0]))
        return []
    if _pointer(item) != target.key:
        _put(table, _pointing(item, target.key))
    if _pointer(target):
        return []
    _put(table, _pointing(target, item.key))
    return [target.key]


def _pointer(item: Item) -> str:
    """The key of the item's other half, "" while it has none."""
    return item.repo if item.kind is Kind.PAPER else item.paper


def _pointing(item: Item, key: str) -> Item:
    return replace(item, repo=key) if item.kind is Kind.PAPER else replace(item, paper=key)


def _put(table: dict[str, Item], item: Item) -> None:
    for name in (item.key, *item.aliases):
        table[name] = item


def _authority(item: Item, authority: Authority) -> int:
    return max((authority.get(source, 1) for source in item.sources), default=0)


def _better_key(old: Item, new: Item) -> str:
    """An archive's key before a DOI before an address; of two of one kind (a renamed repository) the newer."""
    order = ("arxiv:", "github:", "doi:", "url:")

    def place(key: str) -> int:
        return next((i for i, prefix in enumerate(order) if key.startswith(prefix)), len(order))

    return new.key if place(new.key) <= place(old.key) else old.key


def _union(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _links(lead: Item, other: Item) -> tuple[Link, ...]:
    seen: dict[str, Link] = {}
    for link in (*lead.links, *other.links):
        seen.setdefault(link.url.rstrip("/").lower(), link)
    return tuple(seen.values())


def _surnames(item: Item) -> set[str]:
    return {words[-1] for author in item.authors if (words := tokens(author))}


def _signal(old: int | None, new: int | None, second_hand: bool) -> int | None:
    """The newer reading; one at second hand (a repository's stars by way of Hugging Face) lags and so never lowers it."""
    if old is None or new is None:
        return old if new is None else new
    return max(old, new) if second_hand else new


def _asked_last(old: Item, new: Item) -> Item:
    """Return the record whose releases were read last: of a listing nobody learns any, and a release may be taken back."""
    if old.releases_read is None or new.releases_read is None:
        return old if new.releases_read is None else new
    return old if old.releases_read > new.releases_read else new


def _withdrawn(old: Item, new: Item) -> bool:
    """One word of withdrawal is enough, unless a later version has come since."""
    if old.version and new.version and old.version != new.version:
        return max(old, new, key=lambda item: item.version).withdrawn
    return old.withdrawn or new.withdrawn


def _latest(left: datetime | None, right: datetime | None) -> datetime | None:
    return max(filter(None, (left, right)), default=None)


def _earliest(left: datetime | None, right: datetime | None) -> datetime | None:
    return min(filter(None, (left, right)), default=None)


def twins_to_look_for(items: Sequence[Item], known: Mapping[str, Item], authority: Authority) -> list[Item]:
    """Return the records whose twin can only be found by title: unknown, from a feed, and with a title long enough."""
    return [
        item
        for item in items
        if item.key not in known
        and item.kind is not Kind.REPO
        and _authority(item, authority) == 1
        and item.authors
        and len(tokens(item.title)) >= TITLE_WORDS
    ]
