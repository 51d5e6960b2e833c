"""What a person put aside, and its export. It is the person's own, in the workspace."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from bot.commands import Format, ListSaved, Save, Similar, Unsave, write
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.items import item_named
from bot.handlers.wording.bibliography import bibtex, markdown, ris, url_of
from bot.handlers.wording.replies import button, title_or_key
from bot.models import Actor, Attachment, Button, Item, Kind, Link, Reply, ReplyEntry, Saved
from bot.wording import counted, day_in_words

PAGE = 8  # a list to look through, with fewer buttons than a search's; Slack takes it in one message
_TITLE = "Saved items"
_FILES: dict[Format, tuple[str, str, Callable[[Sequence[Item]], str]]] = {
    Format.BIBTEX: ("saved.bib", "application/x-bibtex", bibtex),
    Format.RIS: ("saved.ris", "application/x-research-info-systems", ris),
    Format.MARKDOWN: ("saved.md", "text/markdown", lambda items: markdown(items, _TITLE)),
}
_KINDS = {"arxiv": Kind.PAPER, "doi": Kind.PAPER, "github": Kind.REPO}


@handles(Save)
async def save(context: HandlerContext, command: Save, actor: Actor, now: datetime) -> Reply:
    """Put an item aside for oneself."""
    item = await item_named(context, actor, command.item, fetch_at=now)
    held = await context.store.people.saved(actor.workspace, actor.person)
    already = {each.key for each in held} & {item.key, *item.aliases}
    if not already:
        await context.store.people.save_item(actor.workspace, actor.person, Saved(item.key, now))
    return Reply(
        title="Saved already" if already else "Saved",
        entries=(ReplyEntry(item),),
        next_steps=("*saved* lists what you put aside; *saved bibtex* hands it over as a file.",),
        buttons=(
            button("Remove" if already else "Undo", Unsave(item.key)),
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
    """List what one saved, the latest first, or hand all of it over as a file."""
    held = await context.store.people.saved(actor.workspace, actor.person)
    if not held:
        return Reply(
            title="Nothing is saved yet",
            next_steps=("*save ITEM* puts something aside: an arXiv number, a link, or its number in the last digest.",),
        )
    if command.form is not None:
        return await _exported(context, held, command.form)
    pages = -(-len(held) // PAGE)
    if not 1 <= command.page <= pages:
        raise UsageError(
            f"What you saved fills {counted(pages, 'page')}.", hint=f"*{write(ListSaved(page=pages))}* shows the last."
        )
    start = (command.page - 1) * PAGE
    shown = held[start : start + PAGE]
    known = await context.store.items.find([each.key for each in shown])
    gists = dict(zip(known, await context.gists([*known.values()]), strict=True))
    return Reply(
        title=f"{counted(len(held), 'saved item')}",
        entries=tuple(_entry(each, known.get(each.key), gists.get(each.key, ""), now) for each in shown),
        first=start + 1,
        buttons=(*_leafing(command.page, pages), *(button(form.value, ListSaved(form)) for form in Format)),
    )


def _entry(saved: Saved, item: Item | None, gist: str, now: datetime) -> ReplyEntry:
    when = f"saved on {day_in_words(saved.at.date(), now.date())}"
    back = button("Unsave", Unsave(saved.key))
    if item is None:
        where = url_of(saved.key)
        said = ("It is not kept here any more.", *((where,) if where else ()), when)
        return ReplyEntry(title=saved.key, lines=said, buttons=(back,))
    return ReplyEntry(item, gist=gist, lines=(when,), buttons=(back, button("Similar", Similar(item.key))))


def _leafing(page: int, pages: int) -> tuple[Button, ...]:
    back = (button("Back", ListSaved(page=page - 1)),) if page > 1 else ()
    return (*back, button("Next", ListSaved(page=page + 1))) if page < pages else back


def _all() -> Button:
    return button("Saved items", ListSaved())


async def _exported(context: HandlerContext, held: Sequence[Saved], form: Format) -> Reply:
    known = await context.store.items.find([each.key for each in held])
    gone = [each.key for each in held if each.key not in known]
    # Two saved keys may have become one work since.
    items = list({item.key: item for item in (known.get(each.key) or _only_key(each.key) for each in held)}.values())
    name, media_type, written = _FILES[form]
    lost = (f"Of {counted(len(gone), 'item')} only the key is left: {', '.join(gone[:5])}.",) if gone else ()
    return Reply(
        title=f"{counted(len(items), 'saved item')} as {form.value}",
        text=lost,
        attachment=Attachment(name, media_type, await asyncio.to_thread(written, items)),
    )


def _only_key(key: str) -> Item:
    """What can still be said of an item that is not kept any more."""
    where = url_of(key)
    kind = _KINDS.get(key.partition(":")[0], Kind.POST)
    return Item(key=key, kind=kind, title=key, links=(Link("page", where),) if where else ())
