"""Following: a topic is made of what is named, without a word about it, and this channel is subscribed to it."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.commands import Follow, Subscribe, Unsubscribe
from bot.commands.subscriptions import Options, read_options
from bot.commands.words import Words, clean
from bot.errors import Unclear, UsageError
from bot.handlers.context import HandlerContext, change_by, handles, retry_on_conflict
from bot.handlers.subscriptions.followed import Followed, Initials, author, bare_name, organisation, read_followed
from bot.handlers.subscriptions.subscribe import subscribe, subscribe_to
from bot.handlers.subscriptions.subscription_change import not_promised
from bot.handlers.subscriptions.times import moment_in_words, pause_in_words, posted_next
from bot.handlers.wording.failures import which_one
from bot.handlers.wording.replies import button
from bot.handlers.wording.subscriptions import naming
from bot.handlers.wording.topics import definition
from bot.models import EVERY_DAY, Actor, And, Query, Reply, ReplyEntry, Rhythm, Subscription, Term, Topic, When
from bot.query import parse
from bot.settings.arxiv_categories import not_collected
from bot.wording import listed, some

LATELY = timedelta(days=30)  # what a new follow would have found
_NEWEST = 3  # of that which are shown
_NAMESAKES = 9  # authors of one family name and first letter that are offered
_LOOKED_THROUGH = 200  # papers, the newest, for an author of whom the family name is known
_CATEGORIES = 12  # of arXiv that are named
_SHORT_FORMS = ("-ai", "-org", "-research", "-labs", "-lab", "ai", "-official")  # what handles end in, and names do not

_RHYTHMS: Mapping[Rhythm, Options] = {
    Rhythm.DAILY: {"weekdays": EVERY_DAY},
    Rhythm.WEEKLY: {"weekdays": EVERY_DAY[:1]},
    Rhythm.MONTHLY: {"month_day": 1},
    Rhythm.AT_ONCE: {"at_once": True},
}


@handles(Follow)
async def follow(context: HandlerContext, command: Follow, actor: Actor, now: datetime) -> Reply:
    """Subscribe this channel to what is named: a topic of that name or title, else one that is made of it."""
    await context.check_may_manage(actor)
    if as_topic := await _naming_topic(context, command, actor):
        return await subscribe(context, as_topic, actor, now)
    followed = await _followed(context, command, now)
    if blocked := await not_promised(context, command, actor, f"{followed.title} is not followed yet", "Follow"):
        return blocked
    topic = await retry_on_conflict(lambda: _topic_of(context, followed, actor, now))
    wanted = Subscribe(topic=topic.name, **_days(command, await context.subscriptions_here(actor, topic.name)))
    try:
        existed, changed = await subscribe_to(context, topic, wanted, actor, now)
    except Unclear as error:
        return which_one(error, wanted)
    return await _confirmation(context, topic, changed.after, actor, now, existed=existed)


async def check_followed(context: HandlerContext, command: Follow, actor: Actor, now: datetime) -> None:
    """Raise UsageError for what cannot be followed."""
    if not await _naming_topic(context, command, actor):
        await _followed(context, command, now)


async def _naming_topic(context: HandlerContext, command: Follow, actor: Actor) -> Subscribe | None:
    """Return the subscription that is meant where the text names a topic, alone or with days and times behind it."""
    days = _days(command, ())
    with contextlib.suppress(UsageError):
        topic = await context.topic_named(actor.workspace, command.what)
        return None if topic.followed else Subscribe(topic=topic.name, **days)
    words = Words(clean(command.what))
    first = words.next()
    with contextlib.suppress(UsageError):
        if first is not None and words.peek() is not None:
            topic = await context.topic_named(actor.workspace, first.text)
            return None if topic.followed else Subscribe(topic=topic.name, **days | read_options(words))
    return None


def _days(command: Follow, here: Sequence[Subscription]) -> Options:
    """Return the days that are said; of several subscriptions that stand, the first is meant where nothing is."""
    rhythm = command.rhythm or (here[0].rhythm if len(here) > 1 else None)
    return _RHYTHMS[rhythm] if rhythm else {}


# --- what is named


async def _followed(context: HandlerContext, command: Follow, now: datetime) -> Followed:
    """Return what is followed, an author and an organisation as the collection has them; raises UsageError."""
    found = read_followed(command.what)
    if isinstance(found, Initials):
        return await _author_of(context, found, now)
    if (name := bare_name(found.query)) and await _is_found(context, author(name).query, now):
        return author(name)
    if (handle := _handle(found)) and not await _is_found(context, found.query, now):
        for ending in _SHORT_FORMS:
            shorter = organisation(handle.removesuffix(ending)) if handle.lower().endswith(ending) else None
            if shorter is not None and await _is_found(context, shorter.query, now):
                return shorter
    return found


def _handle(followed: Followed) -> str:
    tree = followed.query.tree
    return tree.text if isinstance(tree, Term) and tree.field == "org" and not tree.prefix else ""


async def _is_found(context: HandlerContext, query: Query, now: datetime) -> bool:
    return bool((await context.store.index.search(replace(query, sort="new"), now, limit=1)).hits)


async def _author_of(context: HandlerContext, initials: Initials, now: datetime) -> Followed:
    """Return the one author of that family name and first letter whose papers are here; raises UsageError."""
    query = replace(parse(f'author:"{initials.last}"'), sort="new")
    page = await context.store.index.search(query, now, limit=_LOOKED_THROUGH)
    names = dict.fromkeys(name for hit in page.hits for name in hit.item.authors if initials.fits(name))
    if len(names) == 1:
        return author(next(iter(names)))
    short = f"{initials.first.upper()}. {initials.last}"
    if not names:
        hint = f'By the whole name it can be followed before there is a paper: *follow author:"First {initials.last}"*.'
        raise UsageError(f"The link names {short}, and no paper of that name is here yet.", hint=hint)
    choices = [(name, f'author:"{name}"') for name in list(names)[:_NAMESAKES]]
    raise Unclear(f"The link names {short}; several authors here may be meant.", "what", choices)


async def _topic_of(context: HandlerContext, followed: Followed, actor: Actor, now: datetime) -> Topic:
    """Return the workspace's topic of what is followed, made where there is none yet."""
    topics = await context.topics(actor.workspace)
    if (standing := followed.standing(topics)) is not None:
        return standing
    topic = followed.topic(topics)
    change = change_by(actor, f"topic {topic.name}", "", definition(topic), now)
    return await context.store.workspaces.save_topic(actor.workspace, topic, change, replaces=0)


# --- what is told


async def _confirmation(
    context: HandlerContext, topic: Topic, subscription: Subscription, actor: Actor, now: datetime, *, existed: bool
) -> Reply:
    coming = await posted_next(context, subscription, now)
    named = await naming(context, subscription)
    if paused := await pause_in_words(subscription, now):
        when = f"{paused}."
    else:
        following = f"; next {moment_in_words(coming.next, now)}" if coming.next is not None else ""
        when = f"What is new is posted {actor.here} {coming.words}{following}."
    said, entries = await _lately(context, topic, now)
    undo = button("Undo", Unsubscribe(*named))
    if existed:
        return Reply(title=f"{topic.title} is followed {actor.here} already", text=(when, said), entries=entries)
    return Reply(
        title=f"{topic.title} is followed {actor.here} now",
        text=tuple(filter(None, (when, _limits(context, topic), not_collected(topic, context.arxiv), said))),
        entries=entries,
        next_steps=(f"{_another_time(subscription)}; *topic show {topic.name}* says what enters.",),
        buttons=(undo,),
        private=False,
    )


def _another_time(subscription: Subscription) -> str:
    """Say what gives it another time; days of another rhythm make a second subscription, and *at once* has no time."""
    name = subscription.topic
    match subscription.rhythm:
        case Rhythm.AT_ONCE:
            return f"*subscribe {name} daily* posts besides, once a day, what was not posted at once"
        case Rhythm.DAILY:
            return f"*subscribe {name} weekdays at 17:00* changes when"
        case Rhythm.WEEKLY:
            return f"*subscribe {name} fri at 17:00* changes when"
        case Rhythm.MONTHLY:
            return f"*subscribe {name} monthly on 15* changes when"


async def _lately(context: HandlerContext, topic: Topic, now: datetime) -> tuple[str, tuple[ReplyEntry, ...]]:
    """Return what it would have found of late: how many in words, and the newest."""
    if topic.repositories:
        return await _known_of_repositories(context, topic, now)
    within = Query(topic.query.text, And((topic.query.tree, When("published", oldest=float(LATELY.days)))), sort="new")
    page = await context.store.index.search(within, now, limit=_NEWEST)
    items = [hit.item for hit in page.hits]
    if not items:
        return f"Nothing of the last {LATELY.days} days would have been in it.", ()
    entries = tuple(map(ReplyEntry, items))
    try:
        count = await context.store.index.count(within.tree, now)
    except UsageError:  # too wide to be counted
        return f"The newest of the last {LATELY.days} days:", entries
    newest = f"the newest {len(items)}:" if count > len(items) else "newest first:"
    return f"In the last {LATELY.days} days it would have found {count:,}; {newest}", entries


async def _known_of_repositories(context: HandlerContext, topic: Topic, now: datetime) -> tuple[str, tuple[ReplyEntry, ...]]:
    page = await context.store.index.search(replace(topic.query, sort="stars"), now, limit=_NEWEST)
    if not page.hits:
        return "Nothing of it is known yet: GitHub is asked for it in the next collection.", ()
    return f"Known so far, the most starred {'first' if len(page.hits) > 1 else 'one'}:", tuple(
        ReplyEntry(hit.item) for hit in page.hits
    )


_EVENTS = (
    "A repository is posted when something happens to it: it is created and rises, a release, a jump in its stars, code of a"
    " new paper. Each release is posted once in a channel; nothing else brings a repository back."
)


def _limits(context: HandlerContext, topic: Topic) -> str:
    """Say where it is looked for."""
    if topic.repositories:
        return _EVENTS
    others = [title for name, title in context.source_titles.items() if name != "arxiv"]
    arxiv = f"arXiv's {some(context.arxiv.categories, _CATEGORIES)}" if "arxiv" in context.source_titles else ""
    return f"It is found in what is collected: {listed(list(filter(None, (arxiv, *others))))}."
