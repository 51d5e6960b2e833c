"""What a person may ask: one frozen class per command.

Names of topics, items, zones and queries are the text as typed; the handlers look them up. "" and None stand for what was
not said.
"""

from dataclasses import dataclass
from datetime import time
from enum import Enum, StrEnum


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a person may ask: one frozen class each."""


# --- finding


@dataclass(frozen=True, slots=True)
class Search(Command):
    """Search everything collected."""

    query: str
    page: str = ""  # where to go on, as an earlier reply's button says


@dataclass(frozen=True, slots=True)
class Similar(Command):
    """Find what is close to an item, or to the item behind a link."""

    item: str


@dataclass(frozen=True, slots=True)
class Why(Command):
    """Say why an item was, or was not, posted here."""

    item: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Now(Command):
    """Preview the next digest of a topic, or of every topic subscribed here."""

    topic: str = ""


# --- subscriptions


class Usual(Enum):
    """That something is to be as it is where nobody said anything else."""

    USUAL = "usual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe(Command):
    """Subscribe this channel to a topic, or change how it is subscribed: what is not said stays as it is."""

    topic: str
    weekdays: tuple[int, ...] | None = None  # 0 is Monday, in order, each once
    month_day: int | None = None  # 1–31; never together with weekdays
    at: time | None = None  # whole minutes
    zone: str = ""
    entries: int | Usual | None = None  # usual: as the settings say
    min_score: float | Usual | None = None  # usual: as the topic says
    compact: bool | None = None
    always: bool | None = None  # False: quiet if empty
    filter: str = ""


@dataclass(frozen=True, slots=True)
class Unsubscribe(Command):
    """End this channel's subscription to a topic."""

    topic: str


@dataclass(frozen=True, slots=True)
class ListSubscriptions(Command):
    """List the subscriptions of this channel, or of the whole workspace."""

    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Pause(Command):
    """Post nothing of a topic here until a day, or until it is resumed."""

    topic: str
    until: str = ""  # 2026-12-01, monday, tomorrow, 2w


@dataclass(frozen=True, slots=True)
class Resume(Command):
    """Post again what was paused."""

    topic: str


# --- topics


@dataclass(frozen=True, slots=True)
class ListTopics(Command):
    """List the topics that can be subscribed."""


@dataclass(frozen=True, slots=True)
class ShowTopic(Command):
    """Show what a topic is made of."""

    name: str


@dataclass(frozen=True, slots=True)
class CreateTopic(Command):
    """Make a topic of the workspace's own, from a query, or from another topic."""

    name: str
    query: str = ""
    origin: str = ""  # the topic to start from; never together with a query


class Part(StrEnum):
    """What of a topic can be edited."""

    TITLE = "title"
    DESCRIPTION = "description"
    QUERY = "query"
    INTEREST = "interest"  # a clause, with a weight
    EXAMPLE = "example"  # an item, or a text to be close to
    SOURCES = "sources"  # names, or "all"
    MIN = "min"  # the least score
    REPOSITORIES = "repositories"  # a GitHub search


@dataclass(frozen=True, slots=True, kw_only=True)
class EditTopic(Command):
    """Change one part of a topic. Interests, examples and repositories are added; with `remove`, taken away."""

    name: str
    part: Part
    value: str
    weight: float | None = None  # of an interest
    remove: bool = False
    revision: int | None = None  # only if the topic is still in this one


@dataclass(frozen=True, slots=True)
class DeleteTopic(Command):
    """Delete a topic of the workspace's own."""

    name: str
    anyway: bool = False  # also when channels subscribe to it


class FilterAction(StrEnum):
    """What to do with a filter."""

    SHOW = "show"
    SET = "set"
    ADD = "add"
    REMOVE = "remove"
    CLEAR = "clear"
    TEST = "test"


class Scope(StrEnum):
    """Whose filter is meant."""

    HERE = "here"  # this channel's subscription
    TOPIC = "everywhere"  # the topic itself


@dataclass(frozen=True, slots=True)
class Filter(Command):
    """Show, change or try the filter of a topic: of this channel's subscription to it, or of the topic everywhere."""

    topic: str
    action: FilterAction = FilterAction.SHOW
    query: str = ""
    scope: Scope | None = None  # None: here where it is subscribed here, else everywhere


# --- taste


@dataclass(frozen=True, slots=True)
class More(Command):
    """Say that an item is what a topic is for; said again, it is taken back."""

    item: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Less(Command):
    """Say that an item is not what a topic is for; said again, it is taken back."""

    item: str
    topic: str = ""


class ProfileAction(StrEnum):
    """What to do with what a topic learned."""

    SHOW = "show"
    UNDO = "undo"  # take back what one said of an item, or said last
    RESET = "reset"
    EXPORT = "export"


@dataclass(frozen=True, slots=True)
class Profile(Command):
    """Show, undo, reset or export what a topic has learned from more and less."""

    topic: str
    action: ProfileAction = ProfileAction.SHOW
    item: str = ""  # for undo


@dataclass(frozen=True, slots=True)
class Save(Command):
    """Put an item aside for oneself."""

    item: str


@dataclass(frozen=True, slots=True)
class Unsave(Command):
    """Take an item back from what one saved."""

    item: str


class Format(StrEnum):
    """A form in which saved items are exported."""

    BIBTEX = "bibtex"
    RIS = "ris"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class ListSaved(Command):
    """List what one saved, or hand it over as a file."""

    form: Format | None = None
    page: int = 1


# --- the service


@dataclass(frozen=True, slots=True)
class Status(Command):
    """Tell the last and next digests, the sources, and what failed."""


@dataclass(frozen=True, slots=True)
class Settings(Command):
    """Show what the workspace settled, or settle one thing: manage, zone, top, quiet, daily, alerts, duplicates."""

    name: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class History(Command):
    """Tell who changed what in the workspace, all of it or of one topic."""

    topic: str = ""


@dataclass(frozen=True, slots=True)
class Help(Command):
    """Say what can be asked, or how one command goes."""

    command: str = ""
