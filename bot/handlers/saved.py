"""What a person put aside, and its export. It is the person's own, in the workspace.

Where the workspace has it so, what one saves in a channel counts in the list of that channel, too: how many, never who.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from bot.commands import Format, ListSaved, Save, Similar, Unsave, write
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.items import item_named, post_links
from bot.handlers.wording.bibliography import bibtex, markdown, ris, url_of
from bot.handlers.wording.replies import button, title_or_key
from bot.models import Actor, Attachment, Button, Item, Kind, Link, Reply, ReplyEntry, Saved, SavedInChannel
from bot.wording import counted, day_in_words

Held = TypeVar("Held", Saved, SavedInChannel)

PAGE = 8  # a list to look through, with fewer buttons than a search's; Slack takes it in one message
_TITLES = {False: "Saved items", True: "Saved in a channel"}  # of a file; whether it is a channel's
_FILES: dict[Format, tuple[str, str, Callable[[Sequence[Item], str], str]]] = {
    Format.BIBTEX: ("saved.bib", "application/x-bibtex", lambda items, _: bibtex(items)),
    Format.RIS: ("saved.ris", "application/x-research-info-systems", lambda items, _: ris(items)),
    Format.MARKDOWN: ("saved.md", "text/markdown", markdown),
}
_COUNTS = (
    "It counts in what *saved here* lists to everybody in this channel, and below its digest: how many saved it, never who."
)
_KINDS = {"arxiv": Kind.PAPER, "doi": Kind.PAPER, "github": Kind.REPO}


@handles(Save)
async def save(context: HandlerContext, command: Save, actor: Actor, now: datetime) -> Reply:
    """Put an item aside for oneself."""
    item = await item_named(context, actor, command.item, fetch_at=now)
    held = await context.store.people.saved(actor.workspace, actor.person)
    already = {each.key for each in held} & {item.key, *item.aliases}
    channel = await context.counts_in(actor)
    if channel or not already:
        links = await post_links(context, actor.workspace, {actor.channel, channel}, [item]) if channel else {}
        saved, link = Saved(min(already, default=item.key), now), links.get(item.key, "")
        await context.store.people.save_item(actor.workspace, actor.person, saved, channel=channel, link=link)
    return Reply(
        title="Saved already" if already else "Saved",
        text=(_COUNTS,) if channel else (),
        entries=(ReplyEntry(item),),
        next_steps=("*saved* lists what you put aside; *saved bibtex* hands it over as a file.",),
        buttons=(
            button("Unsave" if already else "Undo", Unsave(item.key)),
            button("Saved items", ListSaved()),
            button("Similar", Similar(item.key)),
        ),
    )


@handles(Unsave)
async def unsave(context: HandlerContext, command: Unsave, actor: Actor, now: datetime) -> Reply:
    """Take an item back from what one saved; its key will do where the item itself is not kept any more."""
    held = {each.key for each in await context.store.people.saved(actor.workspace, actor.person)}
    typed = command.item.strip()
    if typed in held and not await context.store.items.find([typed]):
        keys, title = {typed}, typed
    else:
        item = await item_named(context, actor, typed)
        keys, title = {item.key, *item.aliases} & held, title_or_key(item)
    if not keys:
        return Reply(title="It was not saved", text=(f"{title} is not among what you put aside.",), buttons=(_all(),))
    for key in keys:
        await context.store.people.unsave_item(actor.workspace, actor.person, key)
    undo = button("Undo", Save(min(keys)))
    return Reply(title="Not saved any more", text=(title,), buttons=(undo, _all()))


@handles(ListSaved)
async def list_saved(context: HandlerContext, command: ListSaved, actor: Actor, now: datetime) -> Reply:
    """List what one saved, or what anybody did in the channel, the latest first, or hand all of it over as a file."""
    if command.here:
        return await _list_here(context, command, actor, now)
    held = await context.store.people.saved(actor.workspace, actor.person)
    if not held:
        return Reply(
            title="Nothing is saved yet",
            next_steps=("*save ITEM* puts something aside: an arXiv number, a link, or its number in the last digest.",),
        )
    if command.form is not None:
        return await _exported(context, [each.key for each in held], command)
    shown = _page(held, command, "What you saved")
    known, gists = await kept_and_gists(context, [each.key for each in shown])
    return Reply(
        title=f"{counted(len(held), 'saved item')}",
        entries=tuple(own_entry(each, known.get(each.key), gists.get(each.key, ""), now) for each in shown),
        first=(command.page - 1) * PAGE + 1,
        buttons=_below(command, len(held)),
    )


def _page(held: Sequence[Held], command: ListSaved, what: str) -> Sequence[Held]:
    pages = _pages(len(held))
    if not 1 <= command.page <= pages:
        last = write(ListSaved(page=pages, here=command.here))
        raise UsageError(f"{what} fills {counted(pages, 'page')}.", hint=f"*{last}* shows the last.")
    start = (command.page - 1) * PAGE
    return held[start : start + PAGE]


async def kept_and_gists(context: HandlerContext, keys: Sequence[str]) -> tuple[Mapping[str, Item], Mapping[str, str]]:
    """Return the items that are kept and what each says in a sentence, by the keys."""
    known = await context.store.items.find(keys)
    return known, dict(zip(known, await context.gists([*known.values()]), strict=True))


def own_entry(saved: Saved, item: Item | None, gist: str, now: datetime) -> ReplyEntry:
    """Return how one's own list shows an item; None is one that is not kept any more."""
    when = f"saved on {day_in_words(saved.at.date(), now.date())}"
    back = button("Unsave", Unsave(saved.key))
    if item is None:
        return ReplyEntry(title=saved.key, lines=(*_gone(saved.key), when), buttons=(back,))
    return ReplyEntry(item, gist=gist, lines=(when,), buttons=(back, button("Similar", Similar(item.key))))


def _gone(key: str) -> tuple[str, ...]:
    where = url_of(key)
    return ("It is not kept here any more.", *((where,) if where else ()))


def _below(command: ListSaved, held: int) -> tuple[Button, ...]:
    page, here = command.page, command.here
    back = (button("Back", ListSaved(page=page - 1, here=here)),) if page > 1 else ()
    more = (button("Next", ListSaved(page=page + 1, here=here)),) if page < _pages(held) else ()
    return (*back, *more, *(button(form.value, ListSaved(form, here=here)) for form in Format))


def _pages(held: int) -> int:
    return -(-held // PAGE)


def _all() -> Button:
    return button("Saved items", ListSaved())


# --- the list of a channel


async def _list_here(context: HandlerContext, command: ListSaved, actor: Actor, now: datetime) -> Reply:
    """List what people saved in the channel since the workspace switched it on, each item once; nobody is named."""
    if actor.is_direct:
        raise UsageError(
            "There is no channel here that has a list: what you save here is yours alone.", hint="*saved* lists it."
        )
    channel = await context.counts_in(actor)
    if not channel:
        raise UsageError(
            f"What people save in channels is not counted in this {context.workspace_word}: it is theirs alone.",
            hint="*settings activity on* has each channel list from then on what is saved there, without names.",
        )
    held = await context.store.people.saved_in(actor.workspace, channel)
    if not held:
        hint = "*save ITEM* counts there, and so does what is saved below a digest: how many saved it, never who."
        return Reply(title=f"Nothing was saved {actor.in_channel} yet", next_steps=(hint,))
    if command.form is not None:
        return await _exported(context, [each.key for each in held], command)
    shown = _page(held, command, f"What was saved {actor.in_channel}")
    known, gists = await kept_and_gists(context, [each.key for each in shown])
    links = await post_links(context, actor.workspace, {channel}, [*known.values()])
    own = {each.key for each in await context.store.people.saved(actor.workspace, actor.person)}
    return Reply(
        title=f"{counted(len(held), 'item')} saved {actor.in_channel}",
        entries=tuple(
            here_entry(each, known.get(each.key), gists.get(each.key, ""), links.get(each.key, ""), own, now)
            for each in shown
        ),
        first=(command.page - 1) * PAGE + 1,
        buttons=_below(command, len(held)),
    )


def here_entry(
    saved: SavedInChannel, item: Item | None, gist: str, link: str, own: Collection[str], now: datetime
) -> ReplyEntry:
    """Return how a channel's list shows an item, with the message in which it was posted there."""
    when = f"{saved.people} saved, {'the last ' if saved.people > 1 else ''}on {day_in_words(saved.at.date(), now.date())}"
    post = saved.link or link
    if item is None:
        return ReplyEntry(title=saved.key, lines=(*_gone(saved.key), when), post=post)
    is_own = bool({item.key, *item.aliases} & {*own})
    change = button("Unsave", Unsave(item.key)) if is_own else button("Save", Save(item.key))
    return ReplyEntry(item, gist=gist, lines=(when,), post=post, buttons=(change, button("Similar", Similar(item.key))))


# --- files


async def _exported(context: HandlerContext, keys: Sequence[str], command: ListSaved) -> Reply:
    form = command.form or Format.MARKDOWN
    known = await context.store.items.find(keys)
    gone = [key for key in keys if key not in known]
    # Two saved keys may have become one work since.
    items = list({item.key: item for item in (known.get(key) or _only_key(key) for key in keys)}.values())
    name, media_type, written = _FILES[form]
    lost = (f"Of {counted(len(gone), 'item')} only the key is left: {', '.join(gone[:5])}.",) if gone else ()
    return Reply(
        title=f"{counted(len(items), 'saved item')} as {form.value}",
        text=lost,
        attachment=Attachment(name, media_type, await asyncio.to_thread(written, items, _TITLES[command.here])),
    )


def _only_key(key: str) -> Item:
    """What can still be said of an item that is not kept any more."""
    where = url_of(key)
    kind = _KINDS.get(key.partition(":")[0], Kind.POST)
    return Item(key=key, kind=kind, title=key, links=(Link("page", where),) if where else ())
