"""Charts as values: what they are called, their numbers in words, where these come from, what they show. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from bot.handlers.wording.replies import excerpt
from bot.models import MOST_ALT, Chart, ChartKind, ChartValue, Reading
from bot.rank.trends import RisingTerm
from bot.wording import MONTHS, counted, dated, listed, shortened

_SHORT = 3  # letters of a month
_SOURCES = 4  # that are named


@dataclass(frozen=True, slots=True)
class Subject:
    """What a chart is about: a topic, or everything that was collected."""

    title: str = ""
    name: str = "everything"  # as it stands in the name of a file


@dataclass(frozen=True, slots=True)
class MonthCount:
    """How many items of a month a chart is about, and how many were collected in all."""

    month: date
    items: int
    of: int


@dataclass(frozen=True, slots=True)
class Sides:
    """How many items are held against how many before, and of how many of either the texts were read."""

    lately: int
    before: int
    since: timedelta  # the newest are those of so long
    long: timedelta  # the others those of so long before
    read_lately: int = 0
    read_before: int = 0

    @property
    def newest(self) -> str:
        """Return "the last 4 weeks"."""
        return f"the last {counted(self.since.days // 7, 'week')}"

    @property
    def others(self) -> str:
        """Return "the 24 weeks before"."""
        return f"the {counted(self.long.days // 7, 'week')} before"

    @property
    def said(self) -> str:
        """Return how many there are, and where not all of them were read of how many a sample was."""
        lately, before = _sample(self.read_lately, self.lately), _sample(self.read_before, self.before)
        return f"{lately} of {self.newest}, {before} of {self.others}"


def _sample(read: int, of: int) -> str:
    return f"{read:,} of the {counted(of, 'item')}" if 0 < read < of else counted(of, "item")


def volume_chart(subject: Subject, months: Sequence[MonthCount], sources: Sequence[str], today: date) -> Chart:
    """Return the chart of the months, of which there is one at least; `sources` saw its items."""
    values = tuple(
        ChartValue(
            _short(each.month),
            each.items,
            _month_said(subject, each, today),
            is_partial=_is_running(each.month, today),
            day=each.month,
        )
        for each in months
    )
    found, of = sum(each.items for each in months), sum(each.of for each in months)
    among = f"{found:,} of {counted(of, 'item')}" if subject.title else counted(found, "item")
    return Chart(
        name=f"months-{subject.name}",
        kind=ChartKind.COLUMNS,
        title=f"{_about(subject)}: items by month of publication",
        values=values,
        source=f"{among} from {_named(sources)}, {_span(months[0].month, months[-1].month)}",
        alt=_volume_alt(subject, months, today),
    )


def _month_said(subject: Subject, each: MonthCount, today: date) -> str:
    among = f"{each.items:,} of {each.of:,}" if subject.title else f"{each.items:,}"
    return f"{among} so far" if _is_running(each.month, today) else among


def _volume_alt(subject: Subject, months: Sequence[MonthCount], today: date) -> str:
    first, last, most = months[0], months[-1], max(months, key=lambda each: each.items)
    ended = f"{last.items:,}{' so far' if _is_running(last.month, today) else ''} in {_long(last.month)}"
    went = f"from {first.items:,} in {_long(first.month)} to {ended}; most, {most.items:,}, in {_long(most.month)}"
    said = f"A column for each month, {_about(subject)}: {went if len(months) > 1 else ended}."
    return shortened(said, MOST_ALT)


def terms_chart(subject: Subject, terms: Sequence[RisingTerm], sides: Sides, sources: Sequence[str]) -> Chart:
    """Return the chart of the terms, of which there is one at least, with the share of the texts that has each."""
    values = tuple(
        ChartValue(
            each.term,
            each.lately / sides.read_lately,
            f"{each.lately:,} of {sides.read_lately:,}, before {each.before:,} of {sides.read_before:,}",
            each.before / sides.read_before,
        )
        for each in terms
    )
    rose = (f"{each.label} from {_percent(each.before or 0.0)} to {_percent(each.value)}" for each in values)
    return Chart(
        name=f"rising-{subject.name}",
        kind=ChartKind.BARS,
        title=f"{_about(subject)}: words that rise, {sides.newest} beside {sides.others}",
        values=values,
        source=f"Titles and abstracts from {_named(sources)}: {sides.said}; in the order of how much each rose at least",
        alt=shortened(f"A bar for each term that rose, as a share of the items: {'; '.join(rose)}.", MOST_ALT),
    )


def stars_chart(name: str, readings: Sequence[Reading]) -> Chart | None:
    """Return the curve of the stars of a repository of that name, None where they were not read on two days."""
    known = [(each.day, each.stars) for each in readings if each.stars is not None]
    if len(known) < 2:
        return None
    (first, stood), (last, stars) = known[0], known[-1]
    when = f"{dated(first)} to {dated(last)}"
    return Chart(
        name="stars",
        kind=ChartKind.LINE,
        title=f"Stars of {excerpt(name)}",
        values=tuple(ChartValue(dated(day), count, counted(count, "star"), day=day) for day, count in known),
        source=f"GitHub's count, read on {counted(len(known), 'day')}, {when}",
        alt=f"A curve of stars: from {stood:,} on {dated(first)} to {stars:,} on {dated(last)}.",
    )


def _about(subject: Subject) -> str:
    return excerpt(subject.title) if subject.title else "Everything"


def _named(sources: Sequence[str]) -> str:
    """Return "arXiv and GitHub"; of many the first, and how many more."""
    more = len(sources) - _SOURCES
    if more > 0:
        return listed([*sources[:_SOURCES], f"{more} more"])
    return listed(sources) or "sources that are no longer asked"


def _is_running(month: date, today: date) -> bool:
    return (month.year, month.month) == (today.year, today.month)


def _short(month: date) -> str:
    return f"{MONTHS[month.month - 1][:_SHORT]} {month.year}"


def _long(month: date) -> str:
    return f"{MONTHS[month.month - 1]} {month.year}"


def _span(first: date, last: date) -> str:
    """Return "May to November 2026", "December 2025 to May 2026", "May 2026"."""
    if first == last:
        return _long(first)
    return f"{MONTHS[first.month - 1] if first.year == last.year else _long(first)} to {_long(last)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
