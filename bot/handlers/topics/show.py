"""The topics of a workspace: listed, and one shown."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.commands import ListTopics, Part, Profile, ShowTopic
from bot.handlers.context import HandlerContext, handles
from bot.handlers.wording.replies import button, one_line, preview_button, show_button, subscribe_button, unsubscribe_button
from bot.handlers.wording.topics import bar_in_words, interest_in_words, new_in_words, part_values
from bot.models import Actor, Field, Reply, ReplyEntry, Subscription, Topic, is_mail
from bot.settings.arxiv_categories import not_collected
from bot.wording import counted, listed, shortened

_EXAMPLE = 200  # characters of an example that are shown
_QUERY = 300  # characters of a query, where not all is asked for
_FEW = 6  # of a list, where not all is asked for


@handles(ListTopics)
async def list_topics(context: HandlerContext, _command: ListTopics, actor: Actor, _now: datetime) -> Reply:
    """List the topics that can be subscribed: the workspace's own first."""
    topics = await context.topics(actor.workspace)
    subscriptions = await context.store.workspaces.subscriptions(actor.workspace)
    entries = [topic_entry(context, topic, subscriptions, actor) for topic in in_list_order(topics)]
    followed = sum(topic.followed for topic in topics.values())
    own = sum(topic.revision > 0 for topic in topics.values()) - followed
    besides = f" {_followed_in_words(followed)}" if followed else ""
    return Reply(
        title=counted(len(topics) - followed, "topic"),
        text=(f"{own} of your own, {len(topics) - own - followed} that come with Broadsheet.{besides}",),
        entries=tuple(entries),
        next_steps=(
            "*subscribe NAME weekdays at 09:00* posts a topic in this channel.",
            "*topic create NAME QUERY…* makes one of your own.",
        ),
    )


def _followed_in_words(count: int) -> str:
    return f"Besides, {count:,} {'author or query is' if count == 1 else 'authors and queries are'} followed."


def in_list_order(topics: Mapping[str, Topic]) -> Sequence[Topic]:
    """Return the topics as lists tell them: what is followed comes last."""
    return sorted(topics.values(), key=lambda topic: topic.followed)


def topic_entry(context: HandlerContext, topic: Topic, subscriptions: Sequence[Subscription], actor: Actor) -> ReplyEntry:
    """Return the topic as a list tells it, with its buttons."""
    users = [each for each in subscriptions if each.topic == topic.name]
    here = any(each.channel == actor.channel for each in users)
    lines = [topic.description] if topic.description else []
    lines += [origin] if (origin := _origin(context, topic)) else []
    lines += [_use(users, actor)] if users else []
    name = topic.name
    return ReplyEntry(
        title=f"{topic.title} ({name})",
        lines=tuple(lines),
        buttons=(show_button(name), preview_button(name) if here else subscribe_button(name)),
    )


def _origin(context: HandlerContext, topic: Topic) -> str:
    if not topic.revision:
        return ""
    if topic.followed:
        return f"followed in this {context.workspace_word}: {one_line(topic.query.text)}"
    return (
        "changed from what comes with Broadsheet"
        if topic.name in context.packs
        else f"made in this {context.workspace_word}"
    )


def _use(users: Sequence[Subscription], actor: Actor) -> str:
    here = any(each.channel == actor.channel for each in users)
    others = len({each.channel for each in users if each.channel != actor.channel and not is_mail(each.channel)})
    mailboxes = len({each.channel for each in users if is_mail(each.channel)})
    said = ["this channel"] if here else []
    said += [counted(others, "other channel" if here else "channel")] if others else []
    said += [counted(mailboxes, "mailbox")] if mailboxes else []
    return f"subscribed in {listed(said)}" if said else "subscribed nowhere"


# --- one topic


@handles(ShowTopic)
async def show_topic(context: HandlerContext, command: ShowTopic, actor: Actor, _now: datetime) -> Reply:
    """Show what a topic is made of, and who uses it."""
    topic = await context.topic_named(actor.workspace, command.name)
    users = await context.store.workspaces.subscriptions(actor.workspace, topic=topic.name)
    here = any(each.channel == actor.channel for each in users)
    name = topic.name
    subscribe = subscribe_button(name)
    unsubscribe = unsubscribe_button(name)
    learned = len(await context.store.people.feedback(actor.workspace, name))
    made, lists = _made_of(context, topic, users, learned, actor), await _lists(context, topic)
    shown = (made, _entries(lists)) if command.whole else (_shortened(made), _entries(lists, _FEW))
    more = () if shown == (made, _entries(lists)) else (button("Show all", ShowTopic(name, whole=True)),)
    lacks = new_in_words(topic, context.packs.get(name)), not_collected(topic, context.arxiv, subscribed=bool(users))
    return Reply(
        title=f"{topic.title} ({name})",
        text=tuple(filter(None, (topic.description, *lacks))),
        fields=tuple(Field(*each) for each in shown[0]),
        entries=shown[1],
        next_steps=(
            f"*topic edit {name} interest weight 2 …* adds an interest; *topic edit {name} query …* says who enters.",
            f"*topic edit {name} remove interest 1* takes one away, by its number or its words.",
        ),
        buttons=(
            preview_button(name),
            unsubscribe if here else subscribe,
            button("What it learned", Profile(name)),
            *more,
        ),
    )


def _made_of(
    context: HandlerContext, topic: Topic, users: Sequence[Subscription], learned: int, actor: Actor
) -> list[tuple[str, str]]:
    query = part_values(topic, Part.QUERY)[0]
    return [
        ("Query", "everything enters" if query == "*" else query),
        ("Filter", one_line(topic.filter.text) or "none"),
        ("Sources", part_values(topic, Part.SOURCES)[0]),
        ("arXiv categories", part_values(topic, Part.CATEGORIES)[0]),
        ("Bar", bar_in_words(topic.min_score)),
        ("Feedback", counted(learned, "answer")),
        ("Revision", f"{topic.revision}, {_origin(context, topic)}" if topic.revision else "as it comes with Broadsheet"),
        ("Used", _use(users, actor)),
    ]


def _shortened(made: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    return [(name, shortened(value, _QUERY)) for name, value in made]


def _entries(lists: Mapping[str, Sequence[str]], most: int = 1000) -> tuple[ReplyEntry, ...]:
    """Return the lists, numbered as *remove* takes them; of those with two and more besides, how many that are."""
    return tuple(
        ReplyEntry(
            title=title,
            lines=tuple(lines) if len(lines) <= most + 1 else (*lines[:most], f"and {len(lines) - most} more"),
            is_section=True,
        )
        for title, lines in lists.items()
        if lines
    )


async def _lists(context: HandlerContext, topic: Topic) -> Mapping[str, Sequence[str]]:
    """The interests, examples and searches, numbered, each under its name."""
    known = await context.store.items.find(topic.examples)
    examples = [known[each].title if each in known else each for each in topic.examples]
    lists = {
        "Interests": [interest_in_words(each) for each in topic.interests],
        "Examples": [shortened(each, _EXAMPLE) for each in examples],
        "Repositories": list(topic.repositories),
    }
    return {title: [f"{number}. {line}" for number, line in enumerate(lines, 1)] for title, lines in lists.items()}
