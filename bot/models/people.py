"""Workspaces, the people in them, what they made there, and that we are installed there."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Self

from bot.models.digests import Layout
from bot.models.mail import is_mail
from bot.models.queries import Query

EVERY_DAY = (0, 1, 2, 3, 4, 5, 6)
_HELD = timedelta(days=8)  # what was resumed and not paused again for so long was not resumed in vain


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks, and where. Identifiers are the platform's own; the core compares them and reads nothing in them."""

    platform: str  # slack, discord, terminal
    workspace: str  # the tenant: "slack:T0123", "discord:4567", "local"
    channel: str  # where the command was given, and what a subscription made here is for
    person: str
    may_administer: bool = False
    zone: str = ""  # the person's time zone where the platform tells it (Slack does), an IANA name
    is_external: bool = False  # of another organisation, with which the channel is shared: no member of the workspace
    # "#papers", or an address, where that is another place than the channel in which they ask; then `channel` is that one.
    place: str = ""
    may_write: bool = True  # whether they may write in it themselves
    parent: str = ""  # where that is a thread which all see who see this channel: what is said there is said in this one
    post: str = ""  # the message below which they ask, in a thread of it or in a forum's post, as a delivery names its own
    is_alone: bool = False  # the workspace is the person's own: they administer nobody else
    is_direct: bool = False  # nobody else reads what stands there: a direct message, the terminal, a page of their own

    @property
    def here(self) -> str:
        """The place in a sentence: "here", "in #papers", or "by e-mail to me@example.org"."""
        return self._in_place or "here"

    @property
    def in_channel(self) -> str:
        """The place in a sentence: "in this channel", "in #papers", or "by e-mail to me@example.org"."""
        return self._in_place or "in this channel"

    @property
    def _in_place(self) -> str:
        if not self.place:
            return ""
        return f"by e-mail to {self.place}" if is_mail(self.channel) else f"in {self.place}"


class Rhythm(StrEnum):
    """How often something is posted. A channel has at most one subscription of each to a topic."""

    DAILY = "daily"  # on several days of the week
    WEEKLY = "weekly"  # on one day of the week
    MONTHLY = "monthly"
    AT_ONCE = "at once"  # after each collection that brought something


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When digests are due: wall time in a zone, never an instant.

    Either on days of the week or on one day of the month; a month that lacks it takes its last day. Or at once, whenever
    something has come in: then it has no days, and `at` says nothing.
    """

    weekdays: tuple[int, ...] = EVERY_DAY  # 0 is Monday, in order, each once; () with a day of the month
    month_day: int = 0  # 1–31; 0: by days of the week
    at: time = time(9)  # without a zone: it is `zone`'s wall time
    zone: str = "UTC"  # an IANA name
    at_once: bool = False

    @property
    def rhythm(self) -> Rhythm:
        """How often it is due."""
        if self.at_once:
            return Rhythm.AT_ONCE
        if self.month_day:
            return Rhythm.MONTHLY
        return Rhythm.WEEKLY if len(self.weekdays) == 1 else Rhythm.DAILY


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A channel (or a person) × a topic × a schedule × a layout and a filter. One per channel, topic and rhythm."""

    id: str  # never used again, also not when the same topic is subscribed anew
    workspace: str
    channel: str
    topic: str  # the topic's name
    schedule: Schedule
    baseline: datetime  # nothing that came in before is posted: subscribing never floods
    baseline_arrival: int | None = None  # the last that came in before; None: a pause ends ahead, where the time decides
    made_arrival: int | None = None  # the last that had come in when it was made; None: that is not known
    entries: int | None = None  # at most so many; None: as the settings say
    min_score: float | None = None  # None: as the topic says
    layout: Layout | None = None  # None: as the settings say
    is_new_to_brief: bool = False  # made before digests were short: its first short one says so
    always: bool = False  # post also when there is nothing to post
    tag: str = ""  # of each post, in a forum that has tags; "": that of the topic's title, where there is one
    filter: Query = Query("")
    paused: bool = False
    paused_until: datetime | None = None  # None while paused: until somebody resumes it
    paused_at: datetime | None = None  # when the pause began; None while paused: that is not known
    paused_because: str = ""  # a sentence, when it was not a person who paused it
    lifted_at: datetime | None = None  # when the service last resumed by itself what it had paused
    lifts: int = 0  # how often in a row it did, and had to pause it again soon
    made_by: str = ""  # the person
    made_at: datetime | None = None
    revision: int = 0  # one higher with every change; the store counts

    def is_paused(self, now: datetime) -> bool:
        """Say whether nothing is posted now; a pause that has run out is none."""
        return self.paused and (self.paused_until is None or self.paused_until > now)

    @property
    def rhythm(self) -> Rhythm:
        """What tells it from others of its channel to its topic; it never changes."""
        return self.schedule.rhythm

    @property
    def is_held_by_service(self) -> bool:
        """Whether the service paused it, until what it names is mended or somebody resumes it."""
        return self.paused and self.paused_until is None and bool(self.paused_because)

    def held_back(self, until: datetime | None, now: datetime, because: str = "") -> Self:
        """Return it paused; a pause that goes on began when it did."""
        began = self.paused_at if self.is_paused(now) else now
        in_vain = bool(because) and self.lifted_at is not None and now - self.lifted_at < _HELD
        lifts = self.lifts if in_vain else 0
        return replace(self, paused=True, paused_until=until, paused_at=began, paused_because=because, lifts=lifts)

    def resumed(self) -> Self:
        """Return it as it is when nothing holds it back."""
        return replace(self, paused=False, paused_until=None, paused_at=None, paused_because="", lifts=0)

    def lifted(self, now: datetime) -> Self:
        """Return it resumed by the service itself."""
        return replace(self.resumed(), lifted_at=now, lifts=self.lifts + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What one person said of one item for one topic; the last word counts."""

    workspace: str
    topic: str
    person: str
    key: str  # the item's
    more: bool  # False: less
    at: datetime
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """An item that a person put aside."""

    key: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SavedInChannel:
    """An item that people put aside in a channel: how many they are, and not who."""

    key: str  # as the item is known now
    at: datetime  # when it was last put aside there
    people: int
    link: str = ""  # to the message in which it was posted there, "" where that is not known


MOST_FEEDS = 20  # tokens of one person in a workspace that hold at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedAccess:
    """That a person may read feeds by a token, of which the hash alone is kept."""

    hashed: str = field(repr=False)
    platform: str
    workspace: str
    person: str
    channel: str  # where they asked for it
    is_direct: bool = False  # nobody else reads there: what is posted there is theirs whoever is asked
    reading_list: str = ""  # the channel whose list it is for, "" for none
    topic: str = ""  # the one topic that it is for; "": all, and the lists
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantAccess:
    """For whom an assistant asks: one workspace, what was posted in one channel of it, and at most one person."""

    workspace: str
    channel: str = ""  # whose digests it may read, and where it follows; "" for none
    person: str = ""  # whose saved items it may add to; "" for nobody
    may_write: bool = False  # whether it may follow and save

    @property
    def actor(self) -> Actor:
        """Who asks. Nobody administers by an assistant, but in the terminal's workspace, where nobody else is."""
        platform, is_alone = self.workspace.partition(":")[0], ":" not in self.workspace
        return Actor(
            platform="terminal" if is_alone else platform,
            workspace=self.workspace,
            channel=self.channel,
            person=self.person,
            may_administer=is_alone and self.may_write,
            may_write=self.may_write,
            is_direct=bool(self.person),
        )

    def visible(self, channels: Iterable[str]) -> frozenset[str]:
        """Return those of the channels of which it may know: its own alone, as nobody can be asked about the others."""
        return frozenset(channels) & ({self.channel} - {""})


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantToken:
    """By what an assistant shows for whom it asks; of the token the hash alone is kept."""

    name: str  # of all that are kept, no other has it
    hashed: str = field(repr=False)
    access: AssistantAccess
    made_at: datetime
    used_on: date | None = None  # the last day, in UTC, on which something was asked by it
    revoked_at: datetime | None = None  # since when it opens nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What a workspace settled for itself; "" and None: as the operator's settings say."""

    manage: str = ""  # who may change subscriptions, topics and filters: anyone, admins
    zone: str = ""  # the zone of a new subscription that names none
    entries: int | None = None
    layout: Layout | None = None  # of subscriptions that name none
    quiet_from: time | None = None  # nothing is posted from then …
    quiet_until: time | None = None  # … to then: wall time in `zone`, else in that of the subscription
    daily_entries: int | None = None  # a channel is posted at most so many entries a day, over all its digests
    at_once_daily: int | None = None  # a channel is posted at most so many messages a day at once; None: USUAL_AT_ONCE
    alerts: str = ""  # the channel that is told what could not be posted
    prefer_duplicate: tuple[str, ...] = ()  # channels that would rather see a digest twice than miss one
    publish: tuple[str, ...] = ()  # channels whose digests are published to who follows them
    public: tuple[str, ...] = ()  # channels whose digests everybody may read in a browser
    activity: bool = False  # channels are told how many saved or wanted more of something there, never who


USUAL_AT_ONCE = 5
SERVICE = "broadsheet"  # the `person` of a change that the service made by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One line of the audit: who changed what, when, from what to what."""

    workspace: str
    at: datetime
    person: str
    what: str  # "topic gpu-systems", "subscription C0123 gpu-systems weekly", "feedback gpu-systems arxiv:2606.01234"
    before: str = ""  # as a person would type or read it; "" when it was not there
    after: str = ""  # "" when it is gone
    arrival: int | None = None  # of a subscription that ended the one at its baseline; None: it had none, or is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """That somebody installed us in a workspace, or in an organisation of many; with what we may act there by."""

    platform: str  # slack
    place: str  # the platform's own identifier: T0123, or E0123 for a whole organisation
    sealed: bytes = field(repr=False)  # tokens and all, encrypted by the adapter; the store never sees what is in it
    made_by: str = ""  # the person
    at: datetime  # when it was last made or its tokens were renewed
