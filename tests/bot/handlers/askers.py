"""A context with everything real behind it, and people who ask: what tests of the handlers stand on."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.commands import Command, parse
from bot.digest.publisher import Publisher
from bot.handlers.context import HandlerContext
from bot.handlers.handle import handle
from bot.models import Actor, Change, Feedback, Interest, Item, Preferences, Reply, Schedule, Subscription, Topic
from bot.query import parse as parse_query
from bot.summarise.extractive import Extractive
from bot.summarise.gist import gists
from tests.fakes.works import paper
from tests.stores import AnyStore
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

SOURCES = {"arxiv": "arXiv", "github": "GitHub", "feed:lab": "The lab"}
ADA = Actor(platform="slack", workspace="slack:T1", channel="C1", person="U-ada")
PACKS = (
    Topic(
        name="kv",
        title="KV cache",
        description="Caches of keys and values.",
        query=parse_query("cache"),
        interests=(Interest('"KV cache"', 2.0), Interest("paging", 1.0)),
        examples=("arxiv:2603.00001", "Keys and values in blocks that need not lie side by side."),
    ),
    Topic(name="gpu-systems", title="GPU systems", query=parse_query("GPU OR CUDA"), interests=(Interest("CUDA", 2.0),)),
)


class Waiting(MemoryStore):
    """A memory store that lets others go on after it has read something, as every other store does."""

    def __init__(self) -> None:
        super().__init__()
        self.kept_workspaces, self.workspaces = (
            self.workspaces,
            instead(self.workspaces, topics=self.topics, subscriptions=self.subscriptions, preferences=self.preferences),
        )
        self.kept_people, self.people = self.people, instead(self.people, feedback=self.feedback)

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        found = await self.kept_workspaces.topics(workspace)
        await asyncio.sleep(0)
        return found

    async def subscriptions(self, workspace: str, *, channel: str = "", topic: str = "") -> Sequence[Subscription]:
        found = await self.kept_workspaces.subscriptions(workspace, channel=channel, topic=topic)
        await asyncio.sleep(0)
        return found

    async def preferences(self, workspace: str) -> Preferences:
        found = await self.kept_workspaces.preferences(workspace)
        await asyncio.sleep(0)
        return found

    async def feedback(self, workspace: str, topic: str) -> Sequence[Feedback]:
        found = await self.kept_people.feedback(workspace, topic)
        await asyncio.sleep(0)
        return found


def about(number: int, title: str, **given: Any) -> Item:
    """A paper of this number and title."""
    return paper(f"2603.{number:05}", title=title, abstract=f"{title}. We measure it on machines.", **given)


PAPERS = (
    about(1, "Paging the KV cache"),
    about(2, "A blockchain of cache lines"),
    about(3, "Sharding a cache in CUDA"),
    about(4, "Cooking with gas"),
    about(5, "GPU kernels by hand"),
)


@dataclass(frozen=True, slots=True)
class Asker:
    """One person in one channel, and the context that answers them."""

    context: HandlerContext
    actor: Actor
    now: datetime

    async def ask(self, text: str) -> Reply:
        """Say a command, as it would be typed."""
        return await self.give(parse(text))

    async def give(self, command: Command) -> Reply:
        """Give a command."""
        return await handle(self.context, command, self.actor, self.now)

    async def here(self) -> Sequence[Subscription]:
        """The subscriptions of the channel."""
        return await self.context.store.workspaces.subscriptions(self.actor.workspace, channel=self.actor.channel)

    def by(self, **changed: Any) -> "Asker":
        """The same context, with another person or channel."""
        return replace(self, actor=replace(self.actor, **changed))

    def at(self, now: datetime) -> "Asker":
        """The same person at another time."""
        return replace(self, now=now)


def asker(store: AnyStore, now: datetime, **settled: Any) -> Asker:
    """Ada, who asks a context with two packs over this store."""
    publisher = Publisher(store, Extractive(), SOURCES)
    packs = {topic.name: topic for topic in PACKS}
    return Asker(HandlerContext(store, publisher, packs, SOURCES, gists, **settled), ADA, now)


def said(reply: Reply) -> str:
    """Everything that a reply says, a line each; what buttons carry behind their labels."""
    buttons = [*reply.buttons, *(button for entry in reply.entries for button in entry.buttons)]
    lines = [
        reply.title,
        *reply.text,
        *(f"{field.name}: {field.value}" for field in reply.fields),
        *(
            line
            for entry in reply.entries
            for line in (entry.title, entry.item.title if entry.item else "", entry.gist, *entry.lines)
        ),
        *(
            text
            for chart in reply.charts
            for text in (chart.title, *(f"{each.label}: {each.said}" for each in chart.values))
        ),
        *(chart.source for chart in reply.charts),
        *(reply.attachment.text.splitlines() if reply.attachment else ()),
        *reply.next_steps,
        *(f"[{button.label}: {button.command}]" for button in buttons),
    ]
    return "\n".join(filter(None, lines))


def button(reply: Reply, label: str) -> str:
    """The command that the button of this label carries."""
    return next(each.command for each in reply.buttons if each.label == label)


async def topic(asker: Asker, name: str = "kv") -> Topic:
    """The workspace's own topic of that name, as it is stored."""
    return (await asker.context.store.workspaces.topics(asker.actor.workspace))[name]


async def changes(asker: Asker, about: str = "") -> list[Change]:
    """The audit, the latest first."""
    return list(await asker.context.store.workspaces.changes(asker.actor.workspace, about=about, limit=500))


async def stored(ada: Asker, **given: object) -> Subscription:
    """A subscription of the channel that no command of today would make."""
    values: dict[str, object] = {"schedule": Schedule(), "topic": "kv"} | given
    made = Subscription(
        id=f"id-{values['topic']}",
        workspace=ada.actor.workspace,
        channel="C1",
        baseline=ada.now,
        made_at=ada.now,
        **values,  # type: ignore[arg-type]
    )
    note = Change(workspace=ada.actor.workspace, at=ada.now, person="U1", what="subscription C1 kv")
    return await ada.context.store.workspaces.save_subscription(made, note, replaces=0)
