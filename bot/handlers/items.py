"""Items by name: which one is meant, the links in a message that name one, and where it was posted."""

import contextlib
import html
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from bot import keys
from bot.errors import Unclear, UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.search.meaning import close_in_meaning, meant_text
from bot.handlers.wording.replies import excerpt, title_or_key
from bot.models import (
    Actor,
    And,
    Delivery,
    Item,
    Kind,
    Label,
    PastDigest,
    Posting,
    Query,
    Term,
)
from bot.ports.source import Fetcher
from bot.query.fields import text_of
from bot.query.fold import indexed, says_something
from bot.wording import listed

_NUMBER = re.compile(r"(?:#|no\.? ?|number )?(\d{1,3})\.?(?: (?:for|of) (?P<topic>\S.*))?", re.IGNORECASE | re.ASCII)
_QUOTES = "\"'“”„‟«»‘’"
_LONGEST_TITLE = 500  # characters; arXiv's own longest is shorter
_WORDS = 16  # of a title that are looked for; a common one costs 5 ms each time that it stands there
_OFFERED = 3
_NUMBERED = 5  # digests of one day that are offered where a number stands in several
_OF_A_DAY = 8  # digests in a channel, as a rule: each that is read lists up to a hundred works that it left out
_LOOKED_AT = 50  # of a channel's latest digests with entries, for those of the last day
_SAVED_AT_ONCE = 5  # digests of a topic in a channel: of several rhythms
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # a search for words alone has no ages to reckon from now
_SERVICES = {  # by what the keys begin with of which they can be asked for
    "arxiv:": ("arXiv", "papers on arXiv and Hugging Face"),
    "github:": ("GitHub", "public repositories on GitHub"),
}
_HOW = "Name an item by its arXiv number, link, owner/name, its number in the last digest here, or its title."


async def last_digests(context: HandlerContext, actor: Actor, topic: str = "") -> list[PastDigest]:
    """Return the channel's digests of the last day on which one had entries, of the topic or of every one, the last first.

    Of each topic and rhythm it is the last alone; below a digest it is that one. Their numbers are what people mean by one.
    """
    posted = await posted_above(context, actor)
    if posted is not None and topic in ("", posted.topic):
        return [await _digest_of(context, posted)]
    looking = partial(context.store.digests.past, actor.workspace, actor.channel, topic=topic, with_entries=True)
    past = await looking(limit=_OF_A_DAY)
    if len(past) == _OF_A_DAY and past[-1].day >= past[0].day:
        past = await looking(limit=_LOOKED_AT)
    found: dict[tuple[str, str], PastDigest] = {}
    for each in past:
        if each.day == past[0].day:
            found.setdefault((each.topic, each.rhythm), each)
    return [*found.values()]


async def posted_above(context: HandlerContext, actor: Actor) -> Delivery | None:
    """Return what was posted as the message below which the actor asks; None where that is none of ours."""
    if not actor.post:
        return None
    return await context.store.chats.delivery_posted(actor.workspace, actor.parent or actor.channel, actor.post)


async def _digest_of(context: HandlerContext, posted: Delivery) -> PastDigest:
    """Return the digest that was posted so; raises UsageError where it is kept no more: no other one's numbers are meant."""
    past = await context.store.digests.past(
        posted.workspace, posted.channel, topic=posted.topic, saved_by=posted.made_at, limit=_SAVED_AT_ONCE
    )
    found = next((each for each in past if each.saved == posted.made_at), None)
    if found is None:
        raise UsageError("What this digest listed is not kept any more, so that its numbers say nothing.", hint=_HOW)
    return found


async def item_named(
    context: HandlerContext, actor: Actor, text: str, topic: str = "", *, fetch_at: datetime | None = None
) -> Item:
    """Return the one item that the text names: a key, a link, an arXiv number, owner/name, an alias of any of these, its
    number in the channel's last digest, of the topic where one is named (`3 for gpu-systems` too), or a title.

    A paper or a repository that is not known is fetched and stored where a time for that is given. Raises UsageError that
    says what to do when there is none, Unclear when it may be several, and SourceError when it could not be fetched.
    """
    typed = " ".join(text[: 4 * _LONGEST_TITLE].split()).strip(f"{_QUOTES} ")
    if not typed:
        raise UsageError("Which item?", hint=_HOW)
    wanted = keys.named_keys(typed)
    known = await context.store.items.find(wanted)
    found = next((known[key] for key in wanted if key in known), None)
    if found is None and (number := _NUMBER.fullmatch(typed)):
        of = number["topic"] or topic
        if not of or await _is_topic(context, actor, of):
            return await _numbered(context, actor, int(number[1]), of)
    if found is None and not wanted:
        found = await _titled(context, typed)
    elif found is None and keys.is_owner_and_name(typed):
        found = await _titled_or_repository(context, typed, fetch_at)
    if found is None and not wanted:
        await _offer_close(context, typed)
    if found is None:
        return await _fetched(context, actor, typed, wanted, fetch_at)
    return found


async def item_for_topic(
    context: HandlerContext, actor: Actor, text: str, topic: str, fetch_at: datetime
) -> tuple[Item, str]:
    """Return the item and the topic of `ITEM for TOPIC`; where there is no such topic, "for" may stand in a title.

    Raises UsageError as `item_named` does; that there is no such topic is for who asks for it to find.
    """
    if topic.strip() and not await _is_topic(context, actor, topic):
        with contextlib.suppress(UsageError):
            return await item_named(context, actor, f"{text} for {topic}"), ""
    return await item_named(context, actor, text, topic, fetch_at=fetch_at), topic


async def _is_topic(context: HandlerContext, actor: Actor, name: str) -> bool:
    with contextlib.suppress(UsageError):
        return bool(await context.topic_named(actor.workspace, name))
    return False


async def _numbered(context: HandlerContext, actor: Actor, number: int, topic: str) -> Item:
    """Return what has the number in the last digest. Raises Unclear where those of several topics have it."""
    named = await context.topic_named(actor.workspace, topic) if topic else None
    digests = await last_digests(context, actor, named.name if named else "")
    if not digests:
        what = f"No digest of {named.title}" if named else "No digest"
        raise UsageError(f"{what} was posted here yet, so nothing has the number {number}.", hint=_HOW)
    meant = [(digest, digest.numbered[number - 1]) for digest in digests if 1 <= number <= len(digest.numbered)]
    if not meant:
        raise _no_such_number(number, digests)
    known = await context.store.items.find([key for _, key in meant])
    found = {known[key].key: (digest, known[key]) for digest, key in reversed(meant) if key in known}
    if not found:
        raise UsageError(f"Entry {number} of the last digest, {meant[0][1]}, is not kept any more.")
    if len(found) > 1:
        raise _several_numbered(number, [*found.values()][::-1])
    ((_, item),) = found.values()
    return item


def _no_such_number(number: int, digests: Sequence[PastDigest]) -> UsageError:
    longest = max(digests, key=lambda digest: len(digest.entries))
    has = "one entry" if len(longest.entries) == 1 else f"{len(longest.entries)} entries"
    more = f" and lists {len(longest.left_out)} more on topic" if longest.left_out else ""
    return UsageError(f"The last digest here has {has}{more}; there is no number {number}.", hint=_HOW)


def _several_numbered(number: int, found: Sequence[tuple[PastDigest, Item]]) -> Unclear:
    """Say that the number stands in several digests; each can be chosen, or named by its topic."""
    offered = found[:_NUMBERED]
    choices = [(f"{_named_apart(digest, offered)}: {title_or_key(item)}", item.key) for digest, item in offered]
    named = "; ".join(label for label, _ in choices) + (" and others" if len(found) > _NUMBERED else "")
    several = len({digest.topic for digest, _ in found}) > 1
    example = f" *{number} for {offered[0][0].topic}* names one too." if several else ""
    return Unclear(f"Several digests here have a number {number}: {named}. Which one?{example}", "item", choices)


def _named_apart(digest: PastDigest, among: Sequence[tuple[PastDigest, Item]]) -> str:
    alike = sum(each.topic == digest.topic for each, _ in among) > 1
    return f"{digest.title}, {digest.rhythm}" if alike and digest.rhythm else digest.title


async def _titled(context: HandlerContext, typed: str) -> Item | None:
    """The item of that title; None when there is none. Raises Unclear when the words stand in several titles."""
    if len(typed) > _LONGEST_TITLE:
        raise UsageError("That is longer than any title.", hint=_HOW)
    words = list(filter(says_something, dict.fromkeys(typed.split())))[:_WORDS]
    spelt = [word for word in words if any(map(str.isalpha, word))]
    if not spelt:
        return None  # "-1" is a slip of the finger, though titles have numbers
    phrase = Term(" ".join(typed.split()[:_WORDS]), "title", quoted=True)
    apart = And(tuple(Term(word, "title", quoted=True) for word in words))
    for tree in (phrase, apart) if len(spelt) > 1 else (phrase,):
        page = await context.store.index.search(Query(typed, tree, sort="new"), _ANY_TIME, limit=_OFFERED + 1)
        if found := [hit.item for hit in page.hits]:
            return _chosen(typed, found)
    return None


async def _titled_or_repository(context: HandlerContext, typed: str, fetch_at: datetime | None) -> Item | None:
    """The item with "TCP/IP" in its title; of what may be fetched the one paper, and no repository of another name."""
    if context.fetcher is None or fetch_at is None:
        return await _titled(context, typed)
    with contextlib.suppress(Unclear):
        found = await _titled(context, typed)
        return None if found is None or found.kind is Kind.REPO else found
    return None


async def _offer_close(context: HandlerContext, typed: str) -> None:
    """Raise Unclear with the items that are closest in meaning to a title that none has, if any is near enough."""
    near = (await meant_text(context, typed)).near
    if near is None:
        return
    page = await context.store.index.search(Query(typed, Term(typed)), _ANY_TIME, limit=_OFFERED, near=near)
    close = await close_in_meaning(context, near, [hit.item for hit in page.hits])
    found = [hit.item for hit in page.hits if hit.item.key in close]
    if found:
        choices = [(title_or_key(item), item.key) for item in found]
        named = "; ".join(f"{title} ({key})" for title, key in choices)
        raise Unclear(f'No item has "{excerpt(typed)}" in its title. Close to it: {named}. Which one?', "item", choices)


def _chosen(typed: str, found: Sequence[Item]) -> Item:
    exact = [item for item in found if text_of(item, "title") == indexed(typed)]
    for those in (found, exact):
        if len(those) == 1:
            return those[0]
    more = " and others" if len(found) > _OFFERED else ""
    named = "; ".join(f"{title_or_key(item)} ({item.key})" for item in found[:_OFFERED])
    choices = [(title_or_key(item), item.key) for item in found[:_OFFERED]]
    raise Unclear(f'"{excerpt(typed)}" may be {named}{more}: which one?', "item", choices)


# --- what nobody has collected


async def _fetched(context: HandlerContext, actor: Actor, typed: str, wanted: Sequence[str], now: datetime | None) -> Item:
    """Return the first of the keys that a source can be asked for. Raises UsageError where there is nothing, SourceError."""
    fetcher = context.fetcher
    if fetcher is None or now is None or not wanted:
        raise _unknown(typed, wanted, fetches=fetcher is not None)
    key = next((each for each in wanted if fetcher.sources_of(each)), "")
    if not key:
        raise UsageError(f'"{excerpt(typed)}" is not among the items collected so far.', hint=_not_fetched(fetcher, wanted))
    item = await fetcher.fetch(key, f"{actor.workspace} {actor.person}", now)
    if item is None:
        raise await _missing(context, key, fetcher.sources_of(key))
    return item


def _unknown(typed: str, wanted: Sequence[str], *, fetches: bool) -> UsageError:
    if wanted:
        besides = "" if fetches else ", and fetches nothing else here"
        return UsageError(
            f'"{excerpt(typed)}" is not among the items collected so far.',
            hint=f"Broadsheet knows what its sources have shown since it runs{besides}; *search* finds those.",
        )
    return UsageError(f'No item has "{excerpt(typed)}" in its title.', hint=_HOW)


def _not_fetched(fetcher: Fetcher, wanted: Sequence[str]) -> str:
    """Say why none of the keys can be asked for."""
    for key, (title, what) in _SERVICES.items():
        if any(each.startswith(key) for each in wanted):
            return (
                f"{title} is switched off in the settings here, so {what} cannot be fetched; *search* finds what is known."
            )
    can = [what for key, (_, what) in _SERVICES.items() if fetcher.sources_of(key)]
    return f"Fetched when they are asked for are {listed(can)}; *search* finds what the feeds have shown of other places."


async def _missing(context: HandlerContext, key: str, titles: Sequence[str]) -> UsageError:
    """Return the error for what its sources do not know, with repositories of such a name that are known here."""
    kind, _, name = key.partition(":")
    if kind != "github":
        said = f"Neither {' nor '.join(titles)} has a" if len(titles) > 1 else f"{''.join(titles)} has no"
        return UsageError(
            f"{said} paper {name}.",
            hint="See whether the number is whole; *search* finds papers by the words of their titles and by authors.",
        )
    said = f"GitHub has no public repository {name}."
    tree = And((Term(name.partition("/")[2], "title", quoted=True), Label("kind", "repo")))
    page = await context.store.index.search(Query(name, tree, sort="stars"), _ANY_TIME, limit=_OFFERED)
    if not page.hits:
        return UsageError(said, hint="A private one is not shown to anybody. *search* finds repositories by their words.")
    close = listed([hit.item.title for hit in page.hits])
    choices = [(title_or_key(hit.item), hit.item.key) for hit in page.hits]
    return Unclear(f"{said} Known here by such a name: {close}.", "item", choices)


_READ = 40_000  # characters of a message: Slack takes no more, Discord 4,000
_ADDRESS = re.compile(r"(?i)\bhttps?://[^\s<>|\"“”]+")
_AFTER = ".,;:!?*_~`'’"  # what ends a sentence or stresses a word, not an address
_BRACKETS = {")": "(", "]": "["}
_NAMED = ("arxiv", "github", "doi")


def links_in(text: str) -> tuple[str, ...]:
    """Return the addresses in a message's text that name a paper or lie in a repository, the first first, each item once.

    Slack's <address|label> and Discord's [label](address) are understood.
    """
    named: dict[str, str] = {}
    for found in _ADDRESS.finditer(text[:_READ]):
        address = _trimmed(html.unescape(found[0]))
        if key := _item_of(address):
            named.setdefault(key, address)
    return tuple(named.values())


def _trimmed(address: str) -> str:
    """Without the signs behind it, and without a bracket that was opened before it."""
    while address:
        last = address[-1]
        opened = _BRACKETS.get(last)
        if last not in _AFTER and (opened is None or address.count(opened) >= address.count(last)):
            break
        address = address[:-1]
    return address


def _item_of(address: str) -> str:
    """Return what the address names, "" for nothing: a page within a repository names the repository."""
    key = keys.key_of_url(address)
    if key.partition(":")[0] in _NAMED:
        return key
    repository = keys.github_repo(address)
    return f"github:{repository}" if repository else ""


async def linked_item(context: HandlerContext, url: str) -> Item | None:
    """Return what is known behind a link to a paper or to a repository's front page; None when nothing is.

    Nothing is asked of the network for it, and no private repository is ever stored. Raises StoreError.
    """
    key = keys.key_of_url(url)
    return (await context.store.items.find([key])).get(key) if key.partition(":")[0] in _NAMED else None


# --- where it was posted


async def post_links(
    context: HandlerContext, workspace: str, channels: Collection[str], items: Sequence[Item]
) -> Mapping[str, str]:
    """Return by the item's key the address of the message that told of it last in one of the channels, as far as is known.

    That is the one that shows it alone, else the first one of its digest.
    """
    found: dict[str, tuple[datetime, str]] = {}
    of = {name: item.key for item in items for name in (item.key, *item.aliases)}
    for channel in channels:
        postings = await context.store.digests.postings(workspace, channel, of)
        links = await links_of(context, workspace, postings)
        told = [(of[each.key], (each.at, link)) for each, link in zip(postings, links, strict=True) if link]
        for key, post in told:
            found[key] = max(post, found.get(key, post))
    return {key: link for key, (_, link) in found.items()}


async def links_of(context: HandlerContext, workspace: str, postings: Sequence[Posting]) -> list[str]:
    """Return where each posting can be read, "" where that is not known (any more)."""
    days = {(each.subscription, each.day) for each in postings if each.subscription}
    done = await context.store.ledger.posted_on(workspace, days) if days else ()

    def link(posting: Posting) -> str:
        its = [
            each
            for each in done
            if each.occurrence[:2] == (posting.subscription, posting.day) and each.made_at in (posting.at, None)
        ]
        alone = [each for each in its if posting.key in each.shows]
        return next((each.link for each in (*alone, *its)), "")

    return [link(each) for each in postings]
