"""What makes a repository news: that something happened to it lately. Pure: stored facts in, events out.

Created lately and rising; released; a jump in stars; code of a paper just announced. That it was pushed to is none, nor are
the stars that it has had for long. docs/decisions/0053-repositories-by-event.md has the measurements behind the figures.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from bot.models import Item, Kind, Reading, Release
from bot.wording import counted, shortened

CREATED = timedelta(days=14)  # a younger repository is new, and
RISING = 5.0  # rising with so many stars a day since it was created,
RISEN = 20  # so many in all
RELEASED = timedelta(days=7)  # how long a release is news: of new repositories releases are asked for once a week
ANNOUNCED = timedelta(days=7)  # how long a paper is, for its code
CODE_AGE = timedelta(days=365)  # what is older was not made for the paper that names it
JUMP_DAYS = 3  # over how many days stars are counted, at most
# A jump: 50 stars, and a twentieth of those that stood. Of the 3,553 most starred repositories five are so, on a day.
JUMP_STARS = 50
JUMP_SHARE = 0.05

# What is read or looked up, by a word of the repository's name: stars are no news of it.
_READ = {"awesome", "book", "course", "guide", "handbook", "interview", "introduction", "note", "roadmap", "tutorial"}
_NAME_WORDS = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

LATELY = max(CREATED, RELEASED, ANNOUNCED)  # how long ago all that happened may be

_DAY = timedelta(days=1)
_AHEAD = timedelta(days=1)  # how far the clocks of others may be
_LONGEST_TAG = 24  # characters
_LONGEST_TITLE = 70
# The version in a tag (v2.1.0, core==0.3.1, v3), and what its makers hang on one that is not finished.
_VERSION = re.compile(r"(?<![\d.])(?:v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?|v(\d{1,9}))(?![\d.]{2})", re.IGNORECASE)
_UNFINISHED = re.compile(
    r"(?i)(?:^|[\d._-])(?:a|alpha|b|beta|c|rc|pre|preview|dev|nightly|canary|snapshot)[._-]?\d*(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a repository, when, and in words: "released v0.9 yesterday"."""

    when: datetime
    said: str
    of_paper: bool = False  # the paper's announcement, which may have brought the repository itself


def events(item: Item, readings: Sequence[Reading], now: datetime, paper: Item | None = None) -> tuple[Event, ...]:
    """Return what happened to the repository of late, what says most first; () where nothing did, and for what is none.

    `readings` are its own, `paper` its paper where that is in the collection.
    """
    if item.kind is not Kind.REPO or item.withdrawn:
        return ()
    found = [_code_of(item, paper, now), _released(item.release, now)]
    if not is_list(item):
        found += [_jumped(readings, now), _created(item, now)]
    return tuple(event for event in found if event is not None)


def is_list(item: Item) -> bool:
    """Say whether its name says that it is a list of links, a book, a course or the like: "awesome-go", "CodexGuide"."""
    name = item.title.rpartition("/")[2] or item.key.rpartition("/")[2]
    return not _READ.isdisjoint(word.lower().rstrip("s") for word in _NAME_WORDS.findall(name))


# --- what was posted of it

AS_EVENT = "@"  # between a repository's key and its release; stands in no repository's name


def posted_marks(item: Item) -> tuple[str, ...]:
    """Return what is kept beside the key of a posted repository: that its releases are told apart, and its last one."""
    if item.kind is not Kind.REPO:
        return ()
    known = f"{item.key}{AS_EVENT}"
    return (known, *release_marks(item)[:1])


def release_marks(item: Item) -> tuple[str, ...]:
    """Return by what its last release is known as posted, under its key and its other names; () where that is no event.

    v2, v2.0 and 2.0.0 are one.
    """
    release = item.release
    if item.kind is not Kind.REPO or release is None or release.prerelease or not _is_step(release.tag):
        return ()
    return tuple(f"{name}{AS_EVENT}{_version(release.tag)}" for name in (item.key, *item.aliases))


def posted_names(item: Item, *, is_again: bool) -> tuple[str, ...]:
    """Return under which keys another digest has posted what this one shows; if posted again, those of its release."""
    return release_marks(item) if is_again else (item.key, *item.aliases)


def has_unposted_release(item: Item, posted: Collection[str], now: datetime) -> bool:
    """Say whether a repository that was posted has had a release since, which is news and was not posted.

    Of one that was posted before releases were told apart, none is known to be new.
    """
    names = (item.key, *item.aliases)
    if _released(item.release, now) is None or not any(f"{name}{AS_EVENT}" in posted for name in names):
        return False
    marks = release_marks(item)
    return bool(marks) and not any(mark in posted for mark in marks)


def is_newly_released(item: Item, before: Item | None, now: datetime) -> bool:
    """Say whether a repository, which was stored as it was `before`, has another release by now, which is news."""
    if before is None or _released(item.release, now) is None:
        return False
    return _last_version(item) not in ("", _last_version(before))


def _last_version(item: Item) -> str:
    return next(iter(release_marks(item)), "").partition(AS_EVENT)[2]


def _version(tag: str) -> str:
    found = _VERSION.search(tag)
    if found is None:
        return tag.casefold()
    numbers = (found[1] or found[4], found[2] or 0, found[3] or 0)
    return tag[: found.start()].casefold() + ".".join(str(int(number)) for number in numbers)


def in_words(found: Sequence[Event]) -> str:
    """Return the two events that say most: "released v0.9 yesterday, ★ +1,200 in 3 days"."""
    return ", ".join(event.said for event in found[:2])


def _code_of(item: Item, paper: Item | None, now: datetime) -> Event | None:
    """The paper is new, and the repository was not there long before it."""
    if paper is None or paper.kind is not Kind.PAPER or paper.withdrawn or paper.announce.startswith("replace"):
        return None
    when = paper.appeared or paper.published or paper.seen
    if when is None or not _is_lately(when, ANNOUNCED, now):
        return None
    if item.published is not None and when - item.published > CODE_AGE:
        return None
    return Event(when, f'code of "{shortened(paper.title, _LONGEST_TITLE)}"', of_paper=True)


def _released(release: Release | None, now: datetime) -> Event | None:
    if release is None or release.prerelease or not _is_lately(release.published, RELEASED, now):
        return None
    if not _is_step(release.tag):
        return None
    name = release.tag if len(release.tag) <= _LONGEST_TAG else "a version"
    return Event(release.published, f"released {name} {ago(release.published, now)}")


def _is_step(tag: str) -> bool:
    """Say whether the tag names a finished version that is more than a correction of the one before: v2, v2.1, 2.1.0.

    A third number (2.1.4, 2026.06.14), a build (b5712) or a name alone (nightly) comes out every few days in a busy project.
    """
    version = _VERSION.search(tag)
    return version is not None and int(version[3] or 0) == 0 and not _UNFINISHED.search(tag[version.end() - 1 :])


def _jumped(readings: Sequence[Reading], now: datetime) -> Event | None:
    known = sorted((each.day, each.stars) for each in readings if each.stars is not None and each.day <= now.date() + _DAY)
    if not known or (now.date() - known[-1][0]).days > JUMP_DAYS:
        return None
    last, count = known[-1]
    first, stood = next(each for each in known if (last - each[0]).days <= JUMP_DAYS)
    gained = count - stood
    if gained < max(JUMP_STARS, JUMP_SHARE * stood):
        return None
    return Event(datetime.combine(last, time(), UTC), f"★ +{gained:,} in {counted((last - first).days, 'day')}")


def _created(item: Item, now: datetime) -> Event | None:
    if item.published is None or not _is_lately(item.published, CREATED, now) or item.stars is None:
        return None
    if item.stars < max(RISEN, RISING * ((now - item.published) / _DAY)):
        return None
    return Event(item.published, f"created {ago(item.published, now)}, ★{item.stars:,}")


def _is_lately(when: datetime, span: timedelta, now: datetime) -> bool:
    return -_AHEAD <= now - when <= span


def ago(when: datetime, now: datetime) -> str:
    """Return "today", "yesterday" or "4 days ago", in days of UTC."""
    days = max((now.date() - when.date()).days, 0)
    return "today" if days == 0 else "yesterday" if days == 1 else f"{days} days ago"
