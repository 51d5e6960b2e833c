"""The trending command: what was upvoted most, and what gains stars fastest."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, zip_longest

from bot.commands import Search, Status, Trend, Trending, write
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.search.search import found_entry
from bot.handlers.wording.replies import button
from bot.models import Actor, Button, Hit, Reply, ReplyEntry
from bot.query import parse as parse_query
from bot.rank.trending import DAYS, rising, upvotes_in_words
from bot.wording import counted

PAGE = 5  # entries: with their buttons, as many as one message takes on every platform
MOST = 50  # of each kind
_UPVOTED = f"kind:paper published:{DAYS.days}d upvotes:>0 sort:upvotes"
_TITLES = {Trend.PAPERS: "The most upvoted papers", Trend.REPOS: "The fastest rising repositories"}

_Line = tuple[Hit, str]  # what trends, and why


@handles(Trending)
async def trending(context: HandlerContext, command: Trending, actor: Actor, now: datetime) -> Reply:
    """Show the most upvoted papers and the fastest rising repositories of the last days, one after the other."""
    hits = await _upvoted(context, now)
    papers = [] if command.kind is Trend.REPOS else await _with_upvotes(context, hits, now)
    joined = {key for hit in hits if hit.other and command.kind is None for key in (hit.other.key, *hit.other.aliases)}
    repositories = [] if command.kind is Trend.PAPERS else await _rising(context, joined, now)
    lines = [each for each in chain.from_iterable(zip_longest(papers, repositories)) if each is not None]
    if not lines:
        return _nothing(command)
    pages = -(-len(lines) // PAGE)
    if command.page > pages:
        raise UsageError(
            f"It has {counted(pages, 'page')}.", hint=f"*{write(Trending(command.kind, pages))}* shows the last."
        )
    start = (command.page - 1) * PAGE
    return Reply(
        title=f"{_TITLES[command.kind] if command.kind else 'Trending'}, the last {DAYS.days} days",
        entries=await _entries(context, lines[start : start + PAGE]),
        first=start + 1,
        buttons=tuple(_buttons(command, pages)),
    )


async def _upvoted(context: HandlerContext, now: datetime) -> Sequence[Hit]:
    return (await context.store.index.search(parse_query(_UPVOTED), now, limit=MOST, cards=True)).hits


async def _with_upvotes(context: HandlerContext, hits: Sequence[Hit], now: datetime) -> list[_Line]:
    readings = await context.store.items.readings([hit.item.key for hit in hits], (now - DAYS).date())
    return [(hit, upvotes_in_words(readings.get(hit.item.key, ()), now)) for hit in hits]


async def _rising(context: HandlerContext, joined: set[str], now: datetime) -> list[_Line]:
    """Return the repositories that rise, but those that are shown with their papers."""
    store = context.store.items
    known = [item for _, item in await store.repositories(now - DAYS, await store.last_arrival()) if item.key not in joined]
    readings = await store.readings([item.key for item in known], (now - DAYS).date())
    return [(Hit(each.item, 0.0), each.said) for each in rising(known, readings, now)[:MOST]]


async def _entries(context: HandlerContext, lines: Sequence[_Line]) -> tuple[ReplyEntry, ...]:
    gists = await context.gists([hit.item for hit, _ in lines])
    return tuple(found_entry(hit, gist, said) for (hit, said), gist in zip(lines, gists, strict=True))


def _nothing(command: Trending) -> Reply:
    return Reply(
        title=f"Nothing trends among what was collected in the last {DAYS.days} days",
        text=("Upvotes come from Hugging Face, stars from GitHub: a rise needs what was counted on two days.",),
        buttons=(button("Newest", Search(f"published:{DAYS.days}d sort:new")), button("Status", Status())),
    )


def _buttons(command: Trending, pages: int) -> Iterator[Button]:
    if command.page > 1:
        yield button("Back", Trending(command.kind, command.page - 1))
    if command.page < pages:
        yield button("Next", Trending(command.kind, command.page + 1))
    others = (("Papers", Trend.PAPERS), ("Repositories", Trend.REPOS), ("Both", None))
    yield from (button(label, Trending(kind)) for label, kind in others if kind is not command.kind)
