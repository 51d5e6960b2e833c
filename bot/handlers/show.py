"""The card of one item, privately: what it says, why it is here, and what may be done with it."""

import asyncio
from datetime import datetime

from bot.commands import Less, More, Save, Show, Similar, Why
from bot.digest import card
from bot.handlers.context import HandlerContext, handles
from bot.handlers.items import item_for_topic
from bot.handlers.wording.bibliography import bibtex
from bot.handlers.wording.replies import button, title_or_key
from bot.models import Actor, Attachment, Button, Entry, Item, Kind, Ranked, Reply


@handles(Show)
async def show(context: HandlerContext, command: Show, actor: Actor, now: datetime) -> Reply:
    """Show an item's card as a digest of the topic would: of the named one, or of that for which it was last posted here."""
    item, named = await item_for_topic(context, actor, command.item, command.topic, now)
    if command.bibtex:
        return Reply(title=title_or_key(item), attachment=Attachment("paper.bib", "application/x-bibtex", bibtex([item])))
    topic = (await context.topic_named(actor.workspace, named)).name if named else await _posted_for(context, actor, item)
    entry = await _entry(context, await _ranked(context, actor, item, topic, now), now)
    return Reply(title="Details", cards=(entry,), buttons=_buttons(item, topic))


async def neutral_card(context: HandlerContext, item: Item, now: datetime) -> Entry:
    """Return the item's card as it is for no topic, such as for the preview of a link. Raises StoreError."""
    return await _entry(context, Ranked(item, 0.0), now)


async def _posted_for(context: HandlerContext, actor: Actor, item: Item) -> str:
    """Return the name of the topic for which the item was last posted here, "" where it was not or that is gone."""
    keys = (item.key, *item.aliases)
    postings = await context.store.digests.postings(actor.workspace, actor.channel, keys)
    topics = await context.topics(actor.workspace) if postings else {}
    return next((each.topic for each in postings if each.topic in topics), "")


async def _entry(context: HandlerContext, ranked: Ranked, now: datetime) -> Entry:
    summary = await context.previewer.summary(ranked.item, now)
    partner = await _partner(context, ranked.item)
    return await asyncio.to_thread(card.entry, ranked, summary, partner)


async def _ranked(context: HandlerContext, actor: Actor, item: Item, topic: str, now: datetime) -> Ranked:
    """Return the item as the topic ranks it; without reasons where none does."""
    if not topic:
        return Ranked(item, 0.0)
    known = (await context.topics(actor.workspace))[topic]
    request = await context.request(actor, known, next(iter(await context.subscriptions_here(actor, topic)), None))
    scored = await context.previewer.score(request, [item], now)
    return next(iter(scored), Ranked(item, 0.0))


async def _partner(context: HandlerContext, item: Item) -> Item | None:
    key = item.paper if item.kind is Kind.REPO else item.repo
    return (await context.store.items.find([key])).get(key) if key else None


def _buttons(item: Item, topic: str) -> tuple[Button, ...]:
    return (
        button("More like this", More(item.key, topic)),
        button("Less", Less(item.key, topic)),
        button("Save", Save(item.key)),
        button("Why", Why(item.key, topic)),
        button("Similar", Similar(item.key)),
        button("BibTeX", Show(item.key, bibtex=True)),
    )
