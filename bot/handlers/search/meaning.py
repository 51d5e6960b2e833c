"""What words mean as a vector, and what to say where not everything can be compared with it."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.digest.topic_vectors import PATIENCE
from bot.errors import EmbeddingUnavailable
from bot.handlers.context import HandlerContext
from bot.models import And, Item, Near, Query, Term, Tree
from bot.models.vectors import LONGEST as LONGEST_TEXT
from bot.models.vectors import pack, unpack
from bot.wording import counted

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Meant:
    """What a text means, None where it has no vector; and what to say where not everything can be compared with it."""

    near: Near | None = None
    notes: tuple[str, ...] = ()


BY_WORDS = "By words alone this time: what was asked for could not be compared by its meaning."


async def meant_query(context: HandlerContext, query: Query) -> Meant:
    """Return what the words of a search for the best match mean; any other goes by its words."""
    text = _words(query.tree)
    return await meant_text(context, text) if query.sort == "best" and text else Meant()


async def meant_text(context: HandlerContext, text: str, *, patience: float = PATIENCE) -> Meant:
    """Return what a text means, as far as an item's is read.

    Words alone decide where no vector can be had in so many seconds; a note says so.
    """
    if context.embedder is None:
        return Meant()
    try:
        async with asyncio.timeout(patience):
            rows = await context.embedder.embed([text[:LONGEST_TEXT]])
    except (EmbeddingUnavailable, TimeoutError) as error:
        log.warning("a search goes by its words alone: %s", str(error) or "no vector in time")
        return Meant(notes=(BY_WORDS,))
    if not rows.any():
        return Meant()
    return await meant_vector(context, Near(context.embedder.space, pack(rows)[0], context.embedder.enough))


async def meant_vector(context: HandlerContext, near: Near) -> Meant:
    """Return what has this vector, with a note while items have none to be compared with it."""
    lacking = (await context.store.vectors.embedded(near.space)).lacking
    if not lacking:
        return Meant(near)
    have = "has" if lacking == 1 else "have"
    return Meant(near, (f"{counted(lacking, 'item')} {have} no vector yet, and can be found by words alone.",))


async def close_in_meaning(context: HandlerContext, near: Near | None, items: Sequence[Item]) -> frozenset[str]:
    """Return the keys of those items whose meaning is near enough for them to be found by it alone."""
    stored = await context.store.vectors.find(near.space, [item.key for item in items]) if near is not None else {}
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
    return " ".join(map(_spelt_out, terms)) if bare else ""


def _spelt_out(term: Term) -> str:
    """The term, with what it stands for where that is several words: "RAG (retrieval augmented generation)"."""
    longer = next((other for other in term.also if " " in other), "")
    return f"{term.text} ({longer})" if longer else term.text
