"""What is said where a search finds nothing, and which wider searches find something."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from bot.commands import Search
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.search.asked import Asked
from bot.handlers.search.meaning import meant_query
from bot.handlers.search.pages import Position
from bot.handlers.search.query import SearchQuery, read_search
from bot.handlers.wording.replies import button, excerpt
from bot.models import Page, Query, Reply


async def nothing_found(context: HandlerContext, read: Asked, position: Position, page: Page, notes: Sequence[str]) -> Reply:
    """Say so, and offer those wider searches that find something."""
    asked = read.search
    if position.offset:
        return Reply(
            title="There are no more",
            text=("The list ends here.", *notes),
            buttons=(button("From the beginning", Search(asked.text)),),
        )
    if page.examined:
        return Reply(title="Nothing found", text=("None of the items that were looked at fits.", *notes))
    offers = await _offers(context, asked, position.asked)
    if (
        not offers
        and page.behind is None
        and not (await context.store.index.search(Query(""), now=position.asked, limit=1)).hits
    ):
        return Reply(title="Nothing has been collected yet", text=("The first items come with the first collection.",))
    return Reply(
        title="Nothing found",
        text=(
            *read.said_of_nothing,
            _said(asked),
            *(() if offers or not _wider(asked) else ("A wider search finds nothing either.",)),
            *notes,
        ),
        next_steps=() if offers else ("*help search* shows what a search can say.",),
        buttons=tuple(button(label, Search(text)) for label, text in offers),
    )


def _said(asked: SearchQuery) -> str:
    if not asked.words:
        return "No item fits."
    words = excerpt(" ".join(word.text for word in asked.words))
    besides = " that fits the rest of the search" if asked.conditions else ""
    if asked.order == "best":
        return f'Nothing here is about "{words}"{besides}: no item has all of these words, or most of what they say.'
    return f"No item{besides} has {'all of these words' if len(asked.words) > 1 else 'this word'}."


async def _offers(context: HandlerContext, asked: SearchQuery, now: datetime) -> list[tuple[str, str]]:
    """Labels and texts of those wider searches that find something."""
    wider = _wider(asked)
    found = await asyncio.gather(*(_finds(context, text, now) for _, text in wider))
    return [offer for offer, finds in zip(wider, found, strict=True) if finds]


def _wider(asked: SearchQuery) -> list[tuple[str, str]]:
    """Labels and texts of wider searches, the nearest first."""
    best = asked.sorted("best") if asked.words and asked.order != "best" else ""
    offers = [("Best match first", best), ("Words alone", asked.without_conditions()), ("Any word", asked.with_any_word())]
    return [offer for offer in offers if offer[1]]


async def _finds(context: HandlerContext, text: str, now: datetime) -> bool:
    """Say whether the search finds something, or may: of one that is answered in part nobody knows that it finds nothing."""
    try:
        query = read_search(text).query
    except UsageError:  # with its parentheses it is nested too deep
        return False
    near = (await meant_query(context, query)).near
    page = await context.store.index.search(query, now, limit=1, near=near)
    return bool(page.hits or page.examined)
