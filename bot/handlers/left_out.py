"""What the last digest of a topic left out although it is on topic: titles, numbered on from the digest's own."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime

from bot.commands import Rest, write
from bot.digest.left_out import MOST, how_many
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.items import last_digests
from bot.handlers.wording.replies import button, excerpt, preview_button, title_buttons
from bot.models import Actor, Button, Item, PastDigest, Reply, ReplyEntry, Topic
from bot.wording import counted, day_in_words

PAGE = 15  # titles: as many as one message takes on every platform
_LOOKED_AT = 60  # digests of a topic, for the one of a day


@handles(Rest)
async def rest(context: HandlerContext, command: Rest, actor: Actor, now: datetime) -> Reply:
    """List what the last digest of the topic here left out, or that of a day, a line each."""
    topic = await context.topic_named(actor.workspace, command.topic)
    last = await last_digests(context, actor, topic.name)
    digest = await _asked_for(context, actor, topic, command, last)
    if digest is None:
        return Reply(title=f"No digest of {topic.title} was posted {actor.here} yet", buttons=(preview_button(topic.name),))
    when = day_in_words(digest.day, now.date())
    if not digest.left_out:
        title, said = f"Nothing else was on topic for {topic.title}", f"The digest of {when} shows all that came close."
        if digest.entries and not digest.above:  # an edition of before counted what it left out, and did not name it
            title, said = (
                f"What else was on topic for {topic.title} was not noted",
                f"The digest of {when} is older than that.",
            )
        return Reply(title=title, text=(said,))
    pages = -(-len(digest.left_out) // PAGE)
    if command.page > pages:
        last_page = write(replace(command, topic=topic.name, page=pages))
        raise UsageError(f"The list fills {counted(pages, 'page')}.", hint=f"*{last_page}* shows the last.")
    first = (command.page - 1) * PAGE
    shown = [each.key for each in digest.left_out[first : first + PAGE]]
    known = await context.store.items.find(shown)
    return Reply(
        title=f"{how_many(digest)} more on topic for {topic.title}",
        text=(f"What the digest of {when} has no place for, the best first{_listed(digest)}.",),
        entries=tuple(_title(key, known.get(key), topic.name) for key in shown),
        first=len(digest.entries) + first + 1,
        next_steps=(_how(digest, last, len(digest.entries) + first + 1, actor),),
        buttons=_leafing(replace(command, topic=topic.name), pages),
    )


async def _asked_for(
    context: HandlerContext, actor: Actor, topic: Topic, command: Rest, last: Sequence[PastDigest]
) -> PastDigest | None:
    """Return the last digest with entries, else the last; or that of the day that is typed, of the rhythm that is.

    Raises UsageError where there is none of that day.
    """
    if not command.day and (found := next((each for each in last if command.rhythm in (None, each.rhythm)), None)):
        return found
    past = await context.store.digests.past(
        actor.workspace, actor.channel, topic=topic.name, rhythm=command.rhythm, limit=_LOOKED_AT
    )
    if not command.day:
        return next(iter(past), None)
    try:
        wanted = date.fromisoformat(command.day.strip())
    except ValueError as error:
        hint = "Write it as year, month and day: 2026-06-15."
        raise UsageError(f'"{excerpt(command.day)}" is no day.', hint=hint) from error
    found = next((each for each in past if each.day == wanted), None)
    if found is None:
        raise UsageError(
            f"No digest of {topic.title} of that day is known {actor.here}.",
            hint=f"*{write(Rest(topic.name))}* asks for the last.",
        )
    return found


def _title(key: str, item: Item | None, topic: str) -> ReplyEntry:
    buttons = title_buttons(item, topic) if item is not None else ()
    return ReplyEntry(item, title=key, title_only=True, buttons=buttons)


def _listed(digest: PastDigest) -> str:
    return (
        f": the first {len(digest.left_out)}"
        if len(digest.left_out) >= MOST and len(digest.left_out) != digest.others
        else ""
    )


def _how(digest: PastDigest, last: Sequence[PastDigest], first: int, actor: Actor) -> str:
    """Say how one of those is named; their numbers are those of the last digest with entries alone."""
    if digest in last and not actor.place:
        return f"*more {first} for {digest.topic}* and *save {first} for {digest.topic}* take these numbers."
    return "Name one by its title or link: numbers are those of the last digest in the channel where you use them."


def _leafing(command: Rest, pages: int) -> tuple[Button, ...]:
    here = command.page
    back = (button("Back", replace(command, page=here - 1)),) if here > 1 else ()
    return (*back, button("Next", replace(command, page=here + 1))) if here < pages else back
