"""Topics of a workspace's own: made and deleted."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.commands import CreateTopic, DeleteTopic
from bot.errors import UsageError
from bot.handlers.clauses import read_topic_query
from bot.handlers.context import HandlerContext, change_by, handles, retry_on_conflict, slug
from bot.handlers.topics.topic_change import entering_in_words
from bot.handlers.wording.replies import button, mentioning, preview_button, show_button, subscribe_button
from bot.handlers.wording.subscriptions import as_command
from bot.handlers.wording.topics import definition
from bot.models import Actor, Attachment, Reply, Subscription, Topic, is_mail
from bot.wording import counted, listed, some

LONGEST_NAME = 40  # characters; a menu shows so many


# --- making


@handles(CreateTopic)
async def create_topic(context: HandlerContext, command: CreateTopic, actor: Actor, now: datetime) -> Reply:
    """Make a topic of the workspace's own, from a query or from another topic."""
    await context.check_may_manage(actor)
    name = check_new_name(command, await context.topics(actor.workspace))
    topic = await draft_topic(context, command, actor)
    change = change_by(actor, f"topic {name}", "", definition(topic), now)
    made = await context.store.workspaces.save_topic(actor.workspace, topic, change, replaces=0)
    said, best = await entering_in_words(context, actor, made, now)
    return Reply(
        title=f"Made the topic {made.title} ({name})",
        text=(said,),
        entries=best,
        next_steps=(
            f"*subscribe {name} weekdays at 09:00* posts it in this channel.",
            f"*topic edit {name} interest weight 2 …* puts what matters most first.",
            f"*topic edit {name} title …* gives it another title.",
        ),
        buttons=(
            subscribe_button(name),
            show_button(name),
            button("Delete", DeleteTopic(name), danger=True),
        ),
        private=False,
    )


def check_new_name(command: CreateTopic, topics: Mapping[str, Topic]) -> str:
    """Return the name when a new topic may have it; raises UsageError with one that it may have."""
    name = command.name
    proposed = slug(name)[:LONGEST_NAME].rstrip("-")
    if name != proposed:
        said = f"A topic's name is made of small letters, digits and hyphens, {LONGEST_NAME} at most."
        raise UsageError(said, hint=f'"{free_name(proposed or "my-topic", topics)}" would do.')
    if name in topics:
        whose = "of your own" if topics[name].revision else "that comes with Broadsheet"
        hint = f'"{free_name(name, topics)}" is free; *topic edit {name} query …* changes the one that is there.'
        raise UsageError(f"There is a topic {name} already, one {whose}.", hint=hint)
    return name


def free_name(name: str, topics: Mapping[str, Topic]) -> str:
    """Return the name, or where one of the topics has it the same with a number."""
    names = (name, *(f"{name[: LONGEST_NAME - 4]}-{number}" for number in range(2, 1000)))
    return next((each for each in names if each not in topics), name)


async def draft_topic(context: HandlerContext, command: CreateTopic, actor: Actor) -> Topic:
    """Return the topic as the command makes it; raises UsageError for a query that says nothing, or no such origin."""
    name = command.name
    title = name.replace("-", " ").capitalize()
    if command.origin:
        origin = await context.topic_named(actor.workspace, command.origin)
        return replace(origin, name=name, title=title, revision=0, followed=False)
    return Topic(name=name, title=title, query=read_topic_query(command.query, f"topic create {name}"))


# --- deleting


@handles(DeleteTopic)
async def delete_topic(context: HandlerContext, command: DeleteTopic, actor: Actor, now: datetime) -> Reply:
    """Delete a topic of the workspace's own; one that channels subscribe to only when it is asked for anyway.

    A workspace's copy of a pack gives way to the pack, and subscriptions to it go on.
    """
    await context.check_may_manage(actor)

    async def attempt() -> Reply:
        topic = await context.topic_named(actor.workspace, command.name)
        if not topic.revision:
            hint = f"*unsubscribe {topic.name}* ends it in this channel."
            raise UsageError(f"{topic.name} comes with Broadsheet and cannot be deleted.", hint=hint)
        if topic.name in context.packs:
            change = change_by(actor, f"topic {topic.name}", definition(topic), "", now)
            await context.store.workspaces.delete_topic(
                actor.workspace, topic.name, change, replaces=topic.revision, keep_uses=True
            )
            return _as_shipped(context.packs[topic.name], topic, await context.topics(actor.workspace))
        users = await context.store.workspaces.subscriptions(actor.workspace, topic=topic.name)
        chats = {each.channel for each in users if not is_mail(each.channel)}
        seen = set(await context.visible_channels(actor, chats))
        shown_here = [each.channel for each in users if each.channel in seen]
        if users and not command.anyway:
            return mentioning(_in_use(topic, users, seen, actor), channels=shown_here)
        learned = len(await context.store.people.feedback(actor.workspace, topic.name))
        change = change_by(actor, f"topic {topic.name}", _whole(topic, users), "", now)
        await context.store.workspaces.delete_topic(actor.workspace, topic.name, change, replaces=topic.revision)
        return mentioning(_gone(topic, users, seen, learned, actor), channels=shown_here)

    return await retry_on_conflict(attempt)


def _channels(users: Sequence[Subscription], seen: Collection[str], actor: Actor) -> str:
    """Name the channels that the actor knows of, and count the others."""
    # Each once, also where it has several digests of the topic.
    every = dict.fromkeys(each.channel for each in users if not is_mail(each.channel))
    names = ["this channel" if each == actor.channel else each for each in every if each in seen]
    names.sort(key=lambda name: name != "this channel")
    hidden = len(every) - len(names)
    others = [f"{counted(hidden, 'channel')} that you are not in"] if hidden else []
    if mailboxes := len({each.channel for each in users if is_mail(each.channel)}):
        others.append(counted(mailboxes, "mailbox"))
    return " and ".join([*([some(names, 9)] if names else []), *others])


def _in_use(topic: Topic, users: Sequence[Subscription], seen: Collection[str], actor: Actor) -> Reply:
    return Reply(
        title=f"{topic.title} is in use",
        text=(
            f"It is subscribed in {_channels(users, seen, actor)}. Nothing was deleted.",
            "Deleting it ends these subscriptions and forgets what it learned.",
        ),
        buttons=(
            button("Delete anyway", DeleteTopic(topic.name, anyway=True), danger=True),
            show_button(topic.name),
        ),
    )


def _whole(topic: Topic, users: Sequence[Subscription]) -> str:
    """Return all that goes with the topic: how it was made, and how each channel subscribed to it."""
    return "\n".join((definition(topic), *(f"In {each.channel}: {as_command(each)}" for each in users)))


def _file(name: str, text: str) -> Attachment:
    return Attachment(f"{name}-topic.txt", "text/plain", f"{text}\n")


def _as_shipped(pack: Topic, copy: Topic, topics: Mapping[str, Topic]) -> Reply:
    name = free_name(pack.name, topics)
    return Reply(
        title=f"{pack.title} is again as it comes with Broadsheet",
        text=(
            "Your own copy is gone. Subscriptions to it go on, and what it learned stays.",
            f"The commands in the file make the copy again, as {name}.",
        ),
        attachment=_file(name, definition(replace(copy, name=name))),
        buttons=(show_button(pack.name), preview_button(pack.name)),
        private=False,
    )


def _gone(topic: Topic, users: Sequence[Subscription], seen: Collection[str], learned: int, actor: Actor) -> Reply:
    went = []
    if users:
        went.append(f"{counted(len(users), 'subscription')} ({_channels(users, seen, actor)})")
    if learned:
        went.append(f"what {counted(learned, 'answer')} of more and less had taught it")
    text = [f"With it went {listed(went)}."] if went else []
    text.append("The commands in the file make it again.")
    attachment = _file(topic.name, _whole(topic, [each for each in users if each.channel in seen]))
    return Reply(title=f"Deleted {topic.title}", text=tuple(text), attachment=attachment, private=False)
