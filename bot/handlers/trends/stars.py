"""How the stars of a repository went, or of a paper's: what was read of them day by day, and the curve of it."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from bot.commands import Show, Similar, Trending
from bot.handlers.context import HandlerContext
from bot.handlers.trends.charts import stars_chart
from bot.handlers.wording.replies import button, excerpt, title_or_key
from bot.models import Item, Kind, Reading, Reply
from bot.wording import counted, dated

READ = timedelta(days=400)  # how far back readings are told


async def readings_of(context: HandlerContext, item: Item, since: date) -> tuple[Reading, ...]:
    """Return what was read of it day by day; of a paper the stars of its repository with its own upvotes."""
    code = item.repo if item.kind is Kind.PAPER else ""
    found = await context.store.items.readings([item.key, code] if code else [item.key], since)
    own = {each.day: each for each in found.get(item.key, ())}
    stars = {each.day: each for each in found.get(code, ())}
    return tuple(_both(own.get(day), stars.get(day), day) for day in sorted({*own, *stars}))


def _both(own: Reading | None, code: Reading | None, day: date) -> Reading:
    own, code = own or Reading(day), code or Reading(day)
    stars = own.stars if code.stars is None else code.stars
    return Reading(day, stars, own.forks if code.forks is None else code.forks, own.upvotes)


async def stars_reply(context: HandlerContext, item: Item, now: datetime) -> Reply:
    """Return the curve of its stars, or of its repository's, with what became of them; else why there is none."""
    readings = await readings_of(context, item, (now - READ).date())
    name = item.repo.partition(":")[2] if item.kind is Kind.PAPER and item.repo else title_or_key(item)
    chart = stars_chart(name, readings)
    buttons = (button("Details", Show(item.key)), button("Similar", Similar(item.key)), button("Trending", Trending()))
    known = [(each.day, each.stars) for each in readings if each.stars is not None]
    if chart is None:
        said = _too_few(known, has_stars=item.kind is Kind.REPO or bool(item.repo))
        return Reply(title=f"No curve of {excerpt(name)} yet", text=(said,), buttons=buttons)
    return Reply(title=f"Trends: {excerpt(name)}", text=(_went(known),), charts=(chart,), buttons=buttons)


def _too_few(known: Sequence[tuple[date, int]], *, has_stars: bool) -> str:
    if not has_stars:
        return "No repository of it is known, whose stars could be told."
    if not known:
        return "Its stars were not read yet."
    ((day, count),) = known
    return f"Its stars were read on one day, {count:,} on {dated(day)}; a curve takes two."


def _went(known: Sequence[tuple[date, int]]) -> str:
    (first, stood), (last, stars) = known[0], known[-1]
    days, more = counted((last - first).days, "day"), stars - stood
    if not more:
        return f"As many stars as {days} before: {stars:,} on {dated(last)}."
    gained = f"{more:,} more {'star' if more == 1 else 'stars'}" if more > 0 else f"{counted(-more, 'star')} fewer"
    return f"{gained} in {days}: {stood:,} on {dated(first)}, {stars:,} on {dated(last)}."
