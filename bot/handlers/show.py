"""The card of one item, privately: what it says, why it is here, and what who asks may do with it, or take back."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from bot.commands import Less, More, Profile, ProfileAction, Save, Show, Similar, Unsave, Why, write
from bot.digest import card
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.feedback import feedback_of
from bot.handlers.items import item_for_topic
from bot.handlers.wording.bibliography import bibtex
from bot.handlers.wording.replies import button, text_name, title_or_key
from bot.models import Actor, Attachment, Button, Entry, Item, Kind, Ranked, Reply
from bot.wording import counted


@handles(Show)
async def show(context: HandlerContext, command: Show, actor: Actor, now: datetime) -> Reply:
    """Show an item's card as a digest of the topic would: of the named one, or of that for which it was last posted here.

    Or its entry for a bibliography; or its whole abstract, of a repository its description and the opening of its README.
    """
    item, named = await item_for_topic(context, actor, command.item, command.topic, now)
    if command.bibtex:
        return Reply(title=title_or_key(item), attachment=Attachment("paper.bib", "application/x-bibtex", bibtex([item])))
    if command.abstract:
        return _abstract(item, command, await _save_button(context, actor, item))
    topic = (await context.topic_named(actor.workspace, named)).name if named else await _posted_for(context, actor, item)
    entry = await _entry(context, await _ranked(context, actor, item, topic, now), now)
    own = (*await _feedback_buttons(context, actor, item, topic), await _save_button(context, actor, item))
    return Reply(title="Details", cards=(entry,), buttons=(*own, *_buttons(item, topic)))


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


# --- the abstract

_PAGE = 2_400  # characters; arXiv takes abstracts of 1,920, and one message every page
_PARAGRAPH = 1_200  # of one piece: what every platform shows whole, however much of it must be escaped
_SENTENCE_ENDS = re.compile(r"[.!?][)”\"]?\s")


def _abstract(item: Item, command: Show, save: Button) -> Reply:
    pages = _pages(_text_of(item))
    if not pages:
        said = f"No {text_name(item.key).lower()} of it came with what was collected; its page may have one."
        return Reply(title=title_or_key(item), text=(said,), buttons=(button("Details", Show(item.key)),))
    if command.page > len(pages):
        raise UsageError(f"It has {counted(len(pages), 'page')}.", hint=f"*{write(replace(command, page=len(pages)))}*")
    others = ((label, command.page + step) for label, step in (("Back", -1), ("Next", 1)))
    leafing = [button(label, Show(item.key, abstract=True, page=n)) for label, n in others if 1 <= n <= len(pages)]
    told = f"{text_name(item.key)}, page {command.page} of {len(pages)}" if len(pages) > 1 else text_name(item.key)
    return Reply(
        title=title_or_key(item),
        text=(told,),
        quoted=pages[command.page - 1],
        buttons=(*leafing, button("Details", Show(item.key)), save),
    )


def _text_of(item: Item) -> str:
    return f"{item.abstract}\n{item.readme}" if item.kind is Kind.REPO else item.abstract


def _pages(text: str) -> list[tuple[str, ...]]:
    """Return the text's paragraphs, page by page; the longest are parted between sentences, where they have any."""
    pages: list[list[str]] = []
    for piece in (piece for line in text.splitlines() for piece in _pieces(" ".join(line.split()))):
        if not pages or sum(map(len, pages[-1])) + len(piece) > _PAGE:
            pages.append([])
        pages[-1].append(piece)
    return [tuple(page) for page in pages]


def _pieces(line: str) -> Iterator[str]:
    while len(line) > _PARAGRAPH:
        ends = [found.end() for found in _SENTENCE_ENDS.finditer(line, 0, _PARAGRAPH)]
        at = ends[-1] if ends else line.rfind(" ", 0, _PARAGRAPH) + 1 or _PARAGRAPH
        yield line[:at].rstrip()
        line = line[at:].lstrip()
    if line:
        yield line


# --- what may be done with it


async def _feedback_buttons(context: HandlerContext, actor: Actor, item: Item, topic: str) -> tuple[Button, Button]:
    """Return More and Less; what the actor has said of it for the topic is taken back instead."""
    given = await context.store.people.feedback(actor.workspace, topic) if topic else ()
    said = feedback_of(given, actor, item)
    more, less = button("More like this", More(item.key, topic)), button("Less", Less(item.key, topic))
    if said is None:
        return more, less
    undo = Profile(topic, ProfileAction.UNDO, said.key)
    return (button("Take back more", undo), less) if said.more else (more, button("Take back less", undo))


async def _save_button(context: HandlerContext, actor: Actor, item: Item) -> Button:
    """Return Save, or Unsave where the actor has saved it."""
    held = {each.key for each in await context.store.people.saved(actor.workspace, actor.person)}
    return button("Unsave", Unsave(item.key)) if held & {item.key, *item.aliases} else button("Save", Save(item.key))


def _buttons(item: Item, topic: str) -> tuple[Button, ...]:
    text = (button(text_name(item.key), Show(item.key, abstract=True)),) if _text_of(item).strip() else ()
    return (
        *text,
        button("Why", Why(item.key, topic)),
        button("Similar", Similar(item.key)),
        button("BibTeX", Show(item.key, bibtex=True)),
    )
