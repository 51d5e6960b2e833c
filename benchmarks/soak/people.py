"""What people do in a chat, and what each of them sees of it: the answer, that it failed, or nothing at all.

A person does one thing after the other, and nobody else has their name. A text, a button or a form is answered when they
see something that is not the note that an answer is coming; what is for everybody, when it stands in the channel or they
are told why not. A first answer that never came Discord tells by itself; that counts only where a request was made to fail.
"""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from adapters.chat import answers
from adapters.discord.install.command_tree import path
from benchmarks.soak.faulty import Faulty
from bot.commands import CreateTopic, ShowTopic, parse
from tests.adapters.discord.asked import values_of
from tests.fakes import discord, slack
from tests.fakes.slack import inputs
from tests.fakes.slack.exchange import Exchange

_LOOK = 0.25  # seconds between two looks at what came
_FIRST = 3.5  # seconds after which Discord takes no first answer
_COMING = (
    "Looking…",
    "It is being posted in the channel.",
    "It stands in the channel.",
    answers.takes_long().title,
)  # what stands there until the answer comes
_FAILED = tuple(
    each.title
    for each in (answers.may_be_missing(""), answers.may_not_be_posted(""), answers.not_opened(""), answers.stopped())
)
_NO_FILE = ("may have come as a direct message", "could not be sent as a direct message")
_WRONG = "went wrong"  # the answer to what nobody foresaw
_BUTTONS = ("Save", "More like this", "More", "Similar", "Less")


class Outcome(StrEnum):
    """What a person saw."""

    ANSWERED = "answered"
    TOLD = "told that it failed"
    BY_CHAT = "told so by the chat itself"
    LATE = "not acknowledged in time"
    WRONG = "told that something went wrong"
    SILENT = "told nothing"


GOOD = (Outcome.ANSWERED, Outcome.TOLD, Outcome.BY_CHAT)


class _Unanswered(Exception):  # noqa: N818 - the name says what happened
    """Somebody waited in vain."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self.texts = [each[:80] for each in texts]


@dataclass(slots=True)
class Tally:
    """What came of everything that was asked."""

    given: Counter[str] = field(default_factory=Counter)  # by kind: text, button, form, choices, file
    came: Counter[tuple[str, Outcome]] = field(default_factory=Counter)  # by kind
    bad: list[str] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)  # seconds until each saw something
    pending: int = 0


class Chat(ABC):
    """One chat with its people."""

    name: str
    person: Any

    def __init__(self, faulty: Faulty, patience: float) -> None:
        self.faulty = faulty
        self.patience = patience  # seconds that a person waits at most
        self.tally = Tally()
        self.told_twice: list[str] = []

    async def asks(self, kind: str, what: str, asking: "Asking") -> Outcome:
        """Let somebody ask, count what came of it, and return it."""
        loop = asyncio.get_running_loop()
        self.tally.given[kind] += 1
        self.tally.pending += 1
        begun = loop.time()
        try:
            found = await asking(begun + self.patience)
        except _Unanswered as error:
            found, what = Outcome.SILENT, f"{what} (sees {error.texts})"
        except (AssertionError, TimeoutError) as error:
            found, what = Outcome.LATE, f"{what} ({type(error).__name__}: {error})"
        finally:
            self.tally.pending -= 1
        self.tally.came[kind, found] += 1
        self.tally.waited.append(loop.time() - begun)
        if found not in GOOD:
            self.tally.bad.append(f"{self.name}, {kind}: {what[:300]}: {found}")
        return found

    @abstractmethod
    def newcomer(self, number: int) -> Any:
        """Return somebody who never asked anything."""

    @abstractmethod
    async def say(self, person: Any, line: str, *, everybody: str = "", file: bool = False) -> Outcome:
        """Give a command; `everybody` is the topic of an answer for everybody, `file` whether it is one."""

    @abstractmethod
    def last_words(self, person: Any) -> str:
        """Return the last answer that the person alone saw; "" where there was none."""

    @abstractmethod
    async def press(self, person: Any, number: int) -> Outcome | None:
        """Press a button of the last answer; None where there is none."""

    @abstractmethod
    async def fill(self, person: Any, topic: str) -> Outcome:
        """Make a topic in a form, in two steps."""

    async def type(self, person: Any) -> Outcome | None:
        """Type a letter into an option that is completed; None where the chat asks nobody for that over HTTP."""
        return None

    @abstractmethod
    def public(self) -> Iterator[str]:
        """Yield every answer that everybody sees, as one text each."""


Asking = Callable[[float], Awaitable[Outcome]]


def _judged(texts: Sequence[str]) -> Outcome | None:
    """Return what these say to a person; None where they are only to wait."""
    said = [each for each in texts if each.strip() and not any(each.strip().startswith(coming) for coming in _COMING)]
    if not said:
        return None
    if any(_WRONG in each for each in said):
        return Outcome.WRONG
    return Outcome.TOLD if all(any(failed in each for failed in _FAILED) for each in said) else Outcome.ANSWERED


def _names(text: str, topic: str) -> bool:
    """Say whether a topic is named there, by its name or the title made of that."""
    return topic in text.casefold().replace(" ", "-")


def doubled(chat: Chat) -> list[str]:
    """Return the answers for everybody that stand there twice."""
    return [text[:120] for text, number in Counter(chat.public()).items() if number > 1]


# --- Slack


class SlackPeople(Chat):
    """Those of a Slack."""

    name = "Slack"

    def __init__(self, fake: slack.FakeSlack, faulty: Faulty, patience: float) -> None:
        super().__init__(faulty, patience)
        self._fake = fake
        self._last: dict[str, slack.Message] = {}
        self._read = 0
        self._by_key: dict[str, list[slack.Message]] = {}
        self._by_person: dict[str, list[slack.Message]] = {}
        self._everybody: list[slack.Message] = []

    def newcomer(self, number: int) -> slack.Person:
        """Return somebody who is in #general."""
        made = self._fake.add_person(f"U9N{number}", f"person{number}")
        self._fake.general.members.add(made.id)
        return made

    async def say(self, person: Any, line: str, *, everybody: str = "", file: bool = False) -> Outcome:
        """Type a command."""

        async def asking(until: float) -> Outcome:
            begun = self._now()
            exchange = await self._fake.command(line, user=person)
            return await self._until(exchange, begun, person, until, everybody, file)

        return await self.asks("file" if file else "text", line, asking)

    def last_words(self, person: Any) -> str:
        """Return what can be read in it."""
        return self._last[person.id].words if person.id in self._last else ""

    async def press(self, person: Any, number: int) -> Outcome | None:
        """Press one of an item's."""
        message = self._last.get(person.id)
        labels = [each for each in _BUTTONS if message is not None and each in message.labels]
        if message is None or not labels:
            return None
        label = labels[number % len(labels)]

        async def asking(until: float) -> Outcome:
            begun = self._now()
            exchange = await self._fake.click(message, label, user=person)
            return await self._until(exchange, begun, person, until)

        return await self.asks("button", label, asking)

    async def fill(self, person: Any, topic: str) -> Outcome:
        """Open the form by a command, and send it."""
        opened: list[slack.View] = []
        keys: list[str] = []

        async def opening(until: float) -> Outcome:
            begun = self._now()
            exchange = await self._fake.command("topic create", user=person)
            keys.append(exchange.key)
            found = await self._until(exchange, begun, person, until)
            opened.extend(each for each in self._views(exchange.trigger) if _opened(each) is Outcome.ANSWERED)
            return found

        found = await self.asks("form", "topic create", opening)
        if not opened:
            return found

        async def sending(until: float) -> Outcome:
            begun = self._now()
            exchange = await self._fake.submit(opened[0], {"Name": topic, "query": "gpu"}, user=person)
            exchange.key = exchange.key or keys[0]  # a form is answered at the address of the command that opened it
            return await self._until(exchange, begun, person, until, topic)

        return await self.asks("form", f"the form of {topic}", sending)

    def _views(self, trigger: str) -> list[slack.View]:
        return [each for each in self._fake.world.views.values() if each.opened_by == trigger]

    def _now(self) -> int:
        return self._fake.world.times.count()

    async def _until(
        self, exchange: Exchange, begun: int, person: slack.Person, until: float, everybody: str = "", file: bool = False
    ) -> Outcome:
        loop = asyncio.get_running_loop()
        while True:
            self._look()
            private = [*self._by_key.get(exchange.key, ()), *self._by_person.get(person.id, ())]
            fresh = [each for each in private if each.changed > begun]
            texts = [each.words for each in fresh]
            found = _judged(texts)
            if found is None:
                found = next((_opened(each) for each in self._views(exchange.trigger)), None)
            if found is None and everybody and any(_names(each.words, everybody) for each in self._public_since(begun)):
                found = Outcome.ANSWERED
            if file and found is Outcome.ANSWERED:
                found = _file(fresh, texts)
            if found is not None:
                if fresh:
                    self._last[person.id] = fresh[-1]
                return found
            if loop.time() > until:
                raise _Unanswered(texts)
            await asyncio.sleep(_LOOK)

    def _public_since(self, begun: int) -> Iterator[slack.Message]:
        for each in reversed(self._everybody):
            if each.changed < begun:
                return
            yield each

    def _look(self) -> None:
        """Sort what is new."""
        history = self._fake.world.history
        for each in history[self._read :]:
            if each.answers:
                self._by_key.setdefault(each.answers, []).append(each)
            elif each.shown_to or each.channel.startswith("D"):
                self._by_person.setdefault(each.shown_to or f"U{each.channel[1:]}", []).append(each)
            if _is_answer(each) and not each.shown_to and not each.channel.startswith("D"):
                self._everybody.append(each)
        self._read = len(history)

    def public(self) -> Iterator[str]:
        """Yield those in channels that are no digests."""
        self._look()
        for each in self._everybody:
            yield each.words


def _opened(view: slack.View) -> Outcome | None:
    """Return what a view says: None while it is to be filled with what is looked for."""
    if any(True for _ in inputs.elements(view.blocks)):
        return Outcome.ANSWERED
    return Outcome.TOLD if any(failed in view.words for failed in _FAILED) else None


def _is_answer(message: slack.Message) -> bool:
    return message.is_app and not (message.metadata or {}).get("event_payload", {}).get("d")


def _file(messages: Sequence[slack.Message], texts: Sequence[str]) -> Outcome | None:
    """Return what became of a file: None while it is neither there nor said not to be."""
    if any(each.asked.get("files") for each in messages):
        return Outcome.ANSWERED
    return Outcome.TOLD if any(failed in each for failed in _NO_FILE for each in texts) else None


# --- Discord


class DiscordPeople(Chat):
    """Those of a Discord."""

    name = "Discord"

    def __init__(self, fake: discord.FakeDiscord, place: discord.Channel, faulty: Faulty, patience: float) -> None:
        super().__init__(faulty, patience)
        self._fake = fake
        self._place = place
        self._last: dict[int, discord.Message] = {}

    def newcomer(self, number: int) -> discord.User:
        """Return somebody who may manage the channel."""
        guild = self._place.guild
        assert guild is not None
        return self._fake.join(guild, self._fake.user(f"Person {number}"), discord.Permission.MANAGE_CHANNELS)

    async def say(self, person: Any, line: str, *, everybody: str = "", file: bool = False) -> Outcome:
        """Enter a command by its options."""

        async def asking(until: float) -> Outcome:
            command = parse(line)
            asked = await self._fake.slash(
                path(command.usage),
                user=person,
                channel=self._place,
                wait=None,
                options=values_of(command),
            )
            return await self._until(asked, until, everybody, file)

        return await self.asks("file" if file else "text", line, asking)

    def last_words(self, person: Any) -> str:
        """Return what can be read in it."""
        return self._last[person.id].text if person.id in self._last else ""

    async def press(self, person: Any, number: int) -> Outcome | None:
        """Press one of an item's, or choose it in the menu."""
        message = self._last.get(person.id)
        if message is None:
            return None
        labels = [each["label"] for each in message.buttons if "custom_id" in each and each.get("label") in _BUTTONS]
        options = [each["label"] for select in message.selects[:1] for each in select.get("options", ())]
        if not labels and not options:
            return None

        async def asking(until: float) -> Outcome:
            if labels:
                pressed = await self._fake.click(message, labels[number % len(labels)], user=person, wait=None)
            else:
                pressed = await self._fake.choose(message, options[number % len(options)], user=person, wait=None)
            return await self._until(pressed, until)

        return await self.asks("button", (labels or options)[0], asking)

    async def fill(self, person: Any, topic: str) -> Outcome:
        """Open the form by a command, and send it."""
        opened: list[discord.Asked] = []

        async def opening(until: float) -> Outcome:
            opened.append(await self._fake.slash(path(CreateTopic.usage), user=person, channel=self._place, wait=None))
            return await self._until(opened[0], until)

        found = await self.asks("form", "topic create", opening)
        if opened[0].form is None:
            return found

        async def sending(until: float) -> Outcome:
            sent = await self._fake.submit(opened[0], {"name": topic, "query": "gpu"}, wait=None)
            return await self._until(sent, until, topic)

        return await self.asks("form", f"the form of {topic}", sending)

    async def type(self, person: Any) -> Outcome | None:
        """Type the beginning of a topic."""

        async def asking(until: float) -> Outcome:
            typing = asyncio.create_task(
                self._fake.autocomplete(path(ShowTopic.usage), "topic", "gpu", user=person, channel=self._place)
            )
            await asyncio.sleep(0)
            asked = next(each for each in reversed(self._fake.asked.values()) if each.user is person)
            try:
                return await self._until(asked, until)
            finally:
                typing.cancel()
                await asyncio.gather(typing, return_exceptions=True)

        return await self.asks("choices", "topic show", asking)

    async def _until(self, asked: discord.Asked, until: float, everybody: str = "", file: bool = False) -> Outcome:
        loop = asyncio.get_running_loop()
        while True:
            found = self._seen(asked, everybody, file)
            if found is not None:
                if asked.messages:
                    self._last[asked.user.id] = asked.messages[-1]
                return found
            if asked.first is None and loop.time() - asked.began > _FIRST:
                if self.faulty.met[asked.token]:
                    return Outcome.BY_CHAT
                raise _Unanswered(["that the application did not respond"])
            if loop.time() > until:
                raise _Unanswered([each.text for each in asked.messages])
            await asyncio.sleep(_LOOK)

    def _seen(self, asked: discord.Asked, everybody: str, file: bool) -> Outcome | None:
        if asked.form is not None or asked.choices is not None:
            return Outcome.ANSWERED
        own = [each for each in asked.messages if asked.message is None or each is not asked.message or each.edited_at]
        if asked.first is discord.Answer.DEFERRED_UPDATE and asked.original is asked.message:
            own = [each for each in own if each is not asked.message or asked.message.edited_at]
        private = [each for each in own if each.is_private] + self._direct(asked)
        found = _judged([each.text for each in private])
        if found is None and everybody and any(_names(each.text, everybody) for each in self._public_since(asked)):
            found = Outcome.ANSWERED
        if file and found is Outcome.ANSWERED and not any(each.attachments for each in private):
            return None
        return found

    def _direct(self, asked: discord.Asked) -> list[discord.Message]:
        found = next((each for each in self._fake.channels.values() if each.recipient is asked.user), None)
        return [each for each in self._fake.of_bot(found) if each.id > asked.id] if found else []

    def _public_since(self, asked: discord.Asked) -> Iterator[discord.Message]:
        for number, each in reversed(self._place.messages.items()):
            if number < asked.id:
                return
            if not each.is_private:
                yield each

    def public(self) -> Iterator[str]:
        """Yield what stands in the channel; no digest is posted there."""
        for each in self._fake.of_bot(self._place):
            if not (each.is_private or each.is_deleted):
                yield each.text


def lines_of(number: int, saves: str) -> Sequence[str]:
    """Return a few commands that change nothing, by turns."""
    some = (
        *("help", "list", "topics", "status", "settings", "help subscribe", "profile gpu-systems"),
        *("search gpu", "search cuda sort:new", "topic show gpu-systems", f"why {saves}", f"more {saves}", "saved"),
        *("filter gpu-systems", f"similar {saves}", "now gpu-systems"),
    )
    return [some[(3 * number + at) % len(some)] for at in range(3)]
