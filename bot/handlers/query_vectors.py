"""What a search, a title or an item means, as a vector that the store can hold its items against."""

import asyncio
import logging
from collections.abc import Sequence

import numpy as np

from bot.digest.topic_vectors import PATIENCE
from bot.errors import EmbeddingUnavailable
from bot.handlers.context import HandlerContext
from bot.models import And, Item, Near, Query, Term, Tree
from bot.models.vectors import LONGEST, pack, text_of_item, unpack

log = logging.getLogger(__name__)


async def near_query(context: HandlerContext, query: Query) -> Near | None:
    """Return what the words of a search for the best match mean; None for any other, and where no vector can be had."""
    text = _words(query.tree)
    return await near_text(context, text) if query.sort == "best" and text else None


async def near_item(context: HandlerContext, item: Item) -> Near | None:
    """Return what the item means, as it is stored or from its text; None where no vector can be had."""
    if context.embedder is None:
        return None
    space, enough = context.embedder.space, context.embedder.enough
    stored = await context.store.vectors(space, [item.key])
    return Near(space, stored[item.key], enough) if item.key in stored else await near_text(context, text_of_item(item))


async def near_text(context: HandlerContext, text: str, *, patience: float = PATIENCE) -> Near | None:
    """Return what a text means, as far as an item's is read; None where no vector can be had in so many seconds.

    Words alone decide then.
    """
    if context.embedder is None:
        return None
    try:
        async with asyncio.timeout(patience):
            rows = await context.embedder.embed([text[:LONGEST]])
    except (EmbeddingUnavailable, TimeoutError) as error:
        log.warning("a search goes by its words alone: %s", str(error) or "no vector in time")
        return None
    return Near(context.embedder.space, pack(rows)[0], context.embedder.enough) if rows.any() else None


async def close_ones(context: HandlerContext, near: Near | None, items: Sequence[Item]) -> frozenset[str]:
    """Return the keys of those items whose meaning is near enough for them to be found by it alone."""
    stored = await context.store.vectors(near.space, [item.key for item in items]) if near is not None else {}
    if near is None or not stored:
        return frozenset()
    rows = unpack([near.vector, *stored.values()])
    cosines = rows[1:] @ rows[0]
    return frozenset(np.array(list(stored))[cosines >= near.enough].tolist())


def _words(tree: Tree) -> str:
    """Return the bare words and the phrases that must not be in a field, as they were typed; "" without a bare word."""
    parts = tree.parts if isinstance(tree, And) else (tree,)
    terms = [part for part in parts if isinstance(part, Term) and not part.field]
    bare = any(not (term.quoted or term.prefix) for term in terms)
    return " ".join(term.text for term in terms) if bare else ""
