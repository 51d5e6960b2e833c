"""The feeds command: it gives a person addresses of feeds, and ends them."""

import contextlib
from datetime import datetime

from bot.commands import Feeds
from bot.errors import UsageError
from bot.handlers.archive.reading import viewer_of
from bot.handlers.context import HandlerContext, handles, slug
from bot.handlers.feeds.addresses import FeedAddresses, new_token, private_feeds, token_kept
from bot.handlers.feeds.contents import feed_titles
from bot.handlers.wording.replies import button
from bot.models import MOST_FEEDS, Actor, FeedAccess, Field, Reply, Topic
from bot.wording import counted

_SHOWN = 10  # topics with their addresses; the list of all has the others
_WARNING = "Whoever has one of these addresses can read what it leads to: keep them to yourself."
_FORMS = "Each feed is Atom; with .json in place of .atom at the end of its address it is JSON Feed."


@handles(Feeds)
async def feeds(context: HandlerContext, command: Feeds, actor: Actor, now: datetime) -> Reply:
    """Give addresses of feeds to the person who asks, or end those that they have."""
    if command.revoke:
        return await _revoked(context, command.topic, actor)
    base = context.web_url
    if not base:
        raise UsageError(
            "No feed reader can read here yet: Broadsheet has no address of its own on the web.",
            hint="Whoever runs it gives it one, by the setting web.url; *saved markdown* hands over what you saved.",
        )
    topic = await context.topic_named(actor.workspace, command.topic) if command.topic.strip() else None
    token = new_token()
    reading_list = "" if topic else await context.counts_in(actor)
    await _allow(
        context,
        actor,
        FeedAccess(
            hashed=token_kept(token),
            platform=actor.platform,
            workspace=actor.workspace,
            person=actor.person,
            channel=actor.channel,
            is_direct=actor.is_direct,
            reading_list=reading_list,
            topic=topic.name if topic else "",
            made_at=now,
        ),
    )
    addresses = private_feeds(base, token)
    return await _told(context, actor, addresses, topic, has_list=bool(reading_list))


async def _allow(context: HandlerContext, actor: Actor, access: FeedAccess) -> None:
    if not await context.store.people.allow_feeds(access):
        raise UsageError(
            f"You have asked for feeds {MOST_FEEDS} times, and all those addresses hold.",
            hint="*feeds revoke* ends them all; then *feeds* gives new ones.",
        )


async def _told(
    context: HandlerContext, actor: Actor, addresses: FeedAddresses, topic: Topic | None, *, has_list: bool
) -> Reply:
    titles = {topic.name: topic.title} if topic else await _topics(context, actor)
    shown = list(titles.items())[:_SHOWN]
    told = [] if topic else [Field("All of them, as OPML", addresses.everything)]
    told += [Field(title, addresses.topic(name)) for name, title in shown]
    told += [] if topic else [Field("What you save", addresses.saved())]
    told += [Field("What is saved in this channel", addresses.here())] if has_list else []
    more = len(titles) - len(shown)
    return Reply(
        title=f"Your feed of {topic.title}" if topic else "Your feeds",
        text=(_WARNING, *((f"The list of all of them has {counted(more, 'topic')} more.",) if more > 0 else ())),
        fields=tuple(told),
        next_steps=(_FORMS, "*feeds revoke* ends these addresses, and those that you got before."),
        buttons=(button("End them", Feeds(revoke=True)),),
    )


async def _topics(context: HandlerContext, actor: Actor) -> dict[str, str]:
    """Return the titles of the topics that were posted where the person may know of it, and of those subscribed here."""
    posted = await feed_titles(context, await viewer_of(context, actor))
    here = {each.topic for each in await context.store.workspaces.subscriptions(actor.workspace, channel=actor.channel)}
    known = await context.topics(actor.workspace) if here - {*posted} else {}
    return posted | {name: known[name].title for name in sorted(here - {*posted}) if name in known}


async def _revoked(context: HandlerContext, named: str, actor: Actor) -> Reply:
    """End the person's addresses, of one topic alone where it is named."""
    topic, title = slug(named), named.strip()
    with contextlib.suppress(UsageError):  # one that is not there any more is revoked by the name that it had
        found = await context.topic_named(actor.workspace, named) if title else None
        topic, title = (found.name, found.title) if found else (topic, title)
    if title and not topic:
        raise UsageError("Which topic?", hint="*feeds revoke* ends all of them.")
    ended = await context.store.people.revoke_feeds(actor.workspace, actor.person, topic=topic)
    alone = f" of {title} alone" if title else ""
    if not ended:
        return Reply(title=f"You have no addresses of feeds{alone}", next_steps=("*feeds* gives you some.",))
    text = (f"What you had asked for {counted(ended, 'time')} leads nowhere from now on.",)
    return Reply(title=f"The addresses of your feeds{alone} are ended", text=text, next_steps=("*feeds* gives new ones.",))
