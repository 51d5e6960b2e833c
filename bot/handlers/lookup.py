"""What a command's words mean in a workspace: topics, items, subscriptions, and who may change them."""

import contextlib
import difflib
import re
import unicodedata
from collections.abc import Mapping, Sequence

from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.models import Actor, DigestRequest, Subscription, Topic
from bot.wording import shortened, some

SHOWN = 60  # characters of what was typed that an answer repeats
_LISTED = 9  # things of a list that an error names


async def topics_of(context: HandlerContext, workspace: str) -> Mapping[str, Topic]:
    """Return every topic of the workspace by name: its own first, then the packs that it has not made its own."""
    return await context.requests.topics(workspace)


async def topic_named(context: HandlerContext, workspace: str, name: str) -> Topic:
    """Return the workspace's topic of that name or title; raises UsageError that suggests the nearest one."""
    topics = await topics_of(context, workspace)
    typed = slug(name)
    if typed in topics:
        return topics[typed]
    titled = [topic for topic in topics.values() if slug(topic.title) == typed] if typed else []
    if len(titled) == 1:
        return titled[0]
    raise UsageError(f'There is no topic "{shown(name)}".', hint=_nearest(typed, topics))


async def is_topic(context: HandlerContext, workspace: str, name: str) -> bool:
    """Say whether `topic_named` finds one."""
    with contextlib.suppress(UsageError):
        return bool(await topic_named(context, workspace, name))
    return False


def _nearest(typed: str, topics: Mapping[str, Topic]) -> str:
    titles = {slug(topic.title): topic.name for topic in topics.values()}
    known = {**titles, **{name: name for name in topics}}
    words = set(typed.split("-"))
    close = difflib.get_close_matches(typed, known, n=2, cutoff=0.5) if typed else []
    close += [each for each in known if words & set(each.split("-"))] if not close else []  # gpu is a word of gpu-systems
    names = list(dict.fromkeys(known[each] for each in close))[:2]
    return f"Did you mean {' or '.join(names)}?" if names else "*topics* lists those there are."


def slug(text: str) -> str:
    """Return text as a topic's name would spell it: "GPU Systems" is gpu-systems; "" when nothing is left."""
    plain = unicodedata.normalize("NFKD", text[: 4 * SHOWN]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SHOWN].rstrip("-")


def shown(text: str) -> str:
    """Return what was typed, short enough to be repeated in a sentence."""
    return shortened(text[: 4 * SHOWN], SHOWN)


def numbered(text: str, most: int) -> int | None:
    """Return the number from 1 to `most` that was typed, as "3" or "#3"; None when it is none of these."""
    number = text.strip().removeprefix("#")
    return int(number) if re.fullmatch(r"[0-9]{1,3}", number) and 1 <= int(number) <= most else None


def in_order(said: Sequence[str]) -> str:
    """Return "1. title; 2. abstract", as `numbered` takes them; of more than nine how many there are besides."""
    return some([f"{number}. {shown(each)}" for number, each in enumerate(said, 1)], _LISTED, "; ")


# --- who may


async def may_manage(context: HandlerContext, actor: Actor) -> bool:
    """Say whether the actor may change subscriptions, topics and filters: as the workspace settled, else the operator."""
    settled = (await context.store.preferences(actor.workspace)).manage or context.manage
    return settled == "anyone" or actor.may_administer


async def check_may_manage(context: HandlerContext, actor: Actor) -> None:
    """Raise UsageError when the actor may not change subscriptions, topics and filters."""
    if not await may_manage(context, actor):
        raise UsageError(
            "Only administrators may change subscriptions, topics and filters here.",
            hint="Ask one of them; anyone may search, preview with *now*, and try a filter with *filter TOPIC test*.",
        )


# --- subscriptions


async def subscription_here(context: HandlerContext, actor: Actor, topic: str) -> Subscription | None:
    """Return the subscription of the actor's channel to the topic of that very name, None when there is none."""
    found = await context.store.subscriptions(actor.workspace, channel=actor.channel, topic=topic)
    return next(iter(found), None)


async def order_of(
    context: HandlerContext, actor: Actor, topic: Topic, subscription: Subscription | None = None
) -> DigestRequest:
    """Return what the press is asked for: the topic as it is subscribed in the channel, or as it would be."""
    return await context.requests.request(topic, actor.workspace, actor.channel, subscription)
