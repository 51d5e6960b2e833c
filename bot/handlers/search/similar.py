"""The similar command: what is close to an item, what both have in common, and how much could be compared."""

from collections.abc import Sequence
from datetime import datetime

from bot.commands import Similar
from bot.handlers.context import HandlerContext, handles
from bot.handlers.items import item_named
from bot.handlers.search.meaning import Meant, meant_text
from bot.handlers.search.search import PAGE, found_entry
from bot.handlers.wording.replies import excerpt, one_line, title_or_key
from bot.models import Actor, Hit, Item, Kind, Near, Reply
from bot.models.vectors import text_of_item
from bot.query.fold import indexed

_AUTHORS = 2  # that are named of those who wrote both


@handles(Similar)
async def similar(context: HandlerContext, command: Similar, actor: Actor, now: datetime) -> Reply:
    """Find what is close to an item, or to the item behind a link."""
    item = await item_named(context, actor, command.item, fetch_at=now)
    meant = await meant_item(context, item)
    hits = await context.store.index.similar(item, now, limit=PAGE, near=meant.near)
    if not hits:
        return Reply(
            title=f"Nothing here is close to {excerpt(title_or_key(item))}",
            text=("Its text has too little in common with everything else that was collected.", *meant.notes),
        )
    gists = await context.gists([hit.item for hit in hits])
    return Reply(
        title=f"Close to {title_or_key(item)}",
        text=meant.notes,
        entries=tuple(found_entry(hit, gist, common_ground(item, hit)) for hit, gist in zip(hits, gists, strict=True)),
        next_steps=(f"*topic edit NAME example {item.key}* teaches a topic what it is about.",),
    )


async def meant_item(context: HandlerContext, item: Item) -> Meant:
    """Return what the item means, as it is stored or from its text; with a note where not everything can be compared."""
    if context.embedder is None:
        return Meant()
    space, enough = context.embedder.space, context.embedder.enough
    stored = await context.store.vectors.find(space, [item.key])
    if item.key not in stored:
        meant = await meant_text(context, text_of_item(item))
        return meant if meant.near is None else Meant(meant.near, await _compared(context, space))
    return Meant(Near(space, stored[item.key], enough), await _compared(context, space))


async def _compared(context: HandlerContext, space: str) -> tuple[str, ...]:
    """Say how many items could be compared by what they mean, while others have no vector yet."""
    embedded = await context.store.vectors.embedded(space)
    having = embedded.whole + embedded.quick
    if not embedded.lacking:
        return ()
    rest = "the other" if embedded.lacking == 1 else "the rest"
    return (f"Compared with {having:,} of {having + embedded.lacking:,} so far; with {rest} by words alone.",)


def common_ground(item: Item, hit: Hit) -> str:
    """Return what both have in common, as both say it of themselves: "Both: KV cache, eviction; by Tri Dao; cs.CL"."""
    other = hit.item
    code = "Code of this paper. " if other.paper and other.paper in (item.key, *item.aliases) else ""
    phrases = ", ".join(f"*{phrase}*" for phrase in hit.shared)
    told = "; ".join(filter(None, (phrases, _written_by(item.authors, other.authors), _category(item, other))))
    if phrases:
        return f"{code}Both: {told}"
    return f"{code}Close in meaning; both {told}" if told else f"{code}Close in meaning"


def _written_by(mine: Sequence[str], theirs: Sequence[str]) -> str:
    known = {indexed(name) for name in theirs}
    both = [one_line(name) for name in mine if indexed(name) in known]
    if not both:
        return ""
    more = f" and {len(both) - _AUTHORS} more" if len(both) > _AUTHORS else ""
    return f"by {', '.join(both[:_AUTHORS])}{more}"


def _category(item: Item, other: Item) -> str:
    """Return the first category of the item that the other has too; of repositories their language."""
    theirs = set(other.categories)
    shared = next((each for each in item.categories if each in theirs), "")
    if shared or item.kind is not Kind.REPO or other.kind is not Kind.REPO:
        return shared
    return item.language if item.language == other.language else ""
