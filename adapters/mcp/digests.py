"""A digest as an assistant is told it: within a budget of tokens, and with an account of what is not shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from adapters.mcp.results import CHARACTERS_A_TOKEN, Call, Part, Told, Value, as_text, parts_of, told_entry
from adapters.mcp.tools import DIGEST
from adapters.text import clean, cut, safe_url
from adapters.words import coverage_line, digest_name, empty_sentence
from bot.digest.left_out import how_many
from bot.handlers.archive.posted import PostedDigest
from bot.models import ArchivedTopic, Coverage
from bot.wording import counted

MOST_TOKENS = 1_500  # of the answer: what a day's digest may cost who reads it each day
_OTHERS = 5  # topics that are named beside it
_NOTES = 5  # on sources: as many feeds may be down as there are
_LONGEST_NOTE = 200  # characters
_FIRST = ("Evidence", "Method", "Why it matters", "Problem")  # which parts are told first where there is no room for all


class Dropped(Value):
    """How many items were not posted for one reason."""

    reason: str
    count: int


class Account(Value):
    """What was seen for the digest, and what became of it."""

    line: str
    seen: int = 0
    kept: int = 0
    dropped: tuple[Dropped, ...] = ()
    more_on_topic: str = Field(default="", description="How many more are on topic and have no place in it.")
    notes: tuple[str, ...] = ()


class TopicTold(Value):
    """Another topic of which digests can be read."""

    topic: str
    last: str


class DigestTold(Value):
    """A digest as it was posted."""

    topic: str
    title: str
    day: str
    number: int = Field(default=1, description="Among those of the topic and the day.")
    posted: str = Field(default="", description="Where it was posted.")
    says: tuple[str, ...] = ()
    entries: tuple[Told, ...] = ()
    coverage: Account
    others: tuple[TopicTold, ...] = Field(default=(), description="Other topics with digests, and their last days.")
    more: tuple[Call, ...] = ()


def digest_told(posted: PostedDigest, after: int = 0) -> DigestTold:
    """Return the digest from behind the entry of that number, as much of it as MOST_TOKENS hold: one entry at least.

    Every entry has its gist before one has a part, and its evidence before another part.
    """
    digest = posted.archived.digest
    entries = [_Room.of(number, each) for number, each in enumerate(digest.entries, 1) if number > after]
    bare = _whole(posted, after, entries[:0], len(entries))
    room = MOST_TOKENS * CHARACTERS_A_TOKEN - _length(bare) - _OF_A_CUT
    shown, room = _that_fit(entries, room)
    _fill(shown, room)
    return _whole(posted, after, shown, len(entries) - len(shown))


_OF_A_CUT = 160  # characters in which it is said that more follows


@dataclass(slots=True)
class _Room:
    """An entry on its way into the answer, and the parts that have found room."""

    entry: Any
    number: int
    parts: Sequence[Part]
    taken: list[Part] = field(default_factory=list)

    @classmethod
    def of(cls, number: int, entry: Any) -> "_Room":
        parts = [each.model_copy(update={"text": ""}) if each.quotes else each for each in parts_of(entry)]
        return cls(entry, number, parts)

    def told(self) -> Told:
        kept = [each for each in self.parts if each in self.taken]
        return told_entry(self.entry, self.number, kept, len(self.parts) - len(kept))


def _that_fit(entries: Sequence[_Room], room: int) -> tuple[list[_Room], int]:
    shown: list[_Room] = []
    for each in entries:
        needed = _length(each.told()) + 1
        if shown and needed > room:
            break
        shown.append(each)
        room -= needed
    return shown, room


def _fill(shown: Sequence[_Room], room: int) -> None:
    """Give each entry its first part, then each its second, as long as there is room."""
    wanted = {each.number: sorted(each.parts, key=lambda part: _order(part.name)) for each in shown}
    for place in range(max((len(parts) for parts in wanted.values()), default=0)):
        for each in shown:
            part = next(iter(wanted[each.number][place : place + 1]), None)
            if part is not None and (needed := _length(part) + 1) <= room - _OF_PARTS:
                each.taken.append(part)
                room -= needed


_OF_PARTS = 12  # characters around the parts of an entry: `"parts":[],`


def _order(name: str) -> int:
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def _length(value: Value) -> int:
    return len(as_text(value))


def _whole(posted: PostedDigest, after: int, shown: Sequence[_Room], left: int) -> DigestTold:
    digest, archived = posted.archived.digest, posted.archived
    asked = {"topic": digest.topic, "day": digest.day.isoformat()}
    asked |= {"number": posted.number} if posted.of_day > 1 else {}  # type: ignore[dict-item]
    last = shown[-1].number if shown else after
    on = (Call(label="The next entries", tool=DIGEST, arguments={**asked, "after": last}),) if left else ()
    return DigestTold(
        topic=clean(digest.topic),
        title=digest_name(digest),
        day=digest.day.isoformat(),
        number=posted.number,
        posted=next(filter(None, map(safe_url, archived.links)), ""),
        says=tuple(_says(posted, left, after)),
        entries=tuple(each.told() for each in shown),
        coverage=_account(posted),
        others=tuple(_other(each) for each in posted.others[:_OTHERS]),
        more=on,
    )


def _says(posted: PostedDigest, left: int, after: int) -> list[str]:
    digest = posted.archived.digest
    empty = [] if digest.entries else [empty_sentence(digest)]
    several = (
        [f"{counted(posted.of_day, 'digest')} of that day: this is number {posted.number}."] if posted.of_day > 1 else []
    )
    left_for_length = [
        f"{counted(left, 'entry')} of {len(digest.entries)} are left for length: call digest again as in more."
    ]
    none = [f"Nothing is behind entry {after}: it has {len(digest.entries)}."] if 0 < len(digest.entries) <= after else []
    return [*empty, *several, *none, *(left_for_length if left else [])]


def _other(topic: ArchivedTopic) -> TopicTold:
    return TopicTold(topic=clean(topic.name), last=topic.last.isoformat())


def _account(posted: PostedDigest) -> Account:
    digest = posted.archived.digest
    coverage: Coverage = digest.coverage
    return Account(
        line=coverage_line(digest),
        seen=coverage.seen,
        kept=coverage.kept,
        dropped=tuple(Dropped(reason=clean(reason), count=count) for reason, count in coverage.dropped if count),
        more_on_topic=how_many(digest) if digest.left_out else "",
        notes=_notes(coverage),
    )


def _notes(coverage: Coverage) -> tuple[str, ...]:
    told = [cut(note, _LONGEST_NOTE) for note in map(clean, coverage.notes) if note]
    more = len(told) - _NOTES
    return (*told[:_NOTES], *((f"and {more} more",) if more > 0 else ()))
