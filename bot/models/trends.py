"""Charts: numbers over months, terms beside what they were, a curve over days. An adapter draws them, and says them as text.

A chart carries all that is said of it: whoever shows the picture shows its numbers, their source and counts below it.
"""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

MOST_ALT = 1_000  # characters of a description that both chats take


class ChartKind(StrEnum):
    """How a chart is drawn."""

    COLUMNS = "columns"  # a number for each month, side by side
    BARS = "bars"  # one thing below the other, each with what it was before
    LINE = "line"  # a count over days


@dataclass(frozen=True, slots=True)
class ChartValue:
    """One number of a chart. `label` may be a stranger's words; `value` is 0 at least."""

    label: str  # "Nov 2026", a term, "12 November"
    value: float
    said: str  # the numbers in words, of which one is the value: "41 of 2,012"
    before: float | None = None  # in the same unit, what it is held against
    day: date | None = None  # where it stands: the first of its month, the day of a reading
    is_partial: bool = False  # its time is not over


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture as numbers. Texts of it stress nothing: titles and labels may be strangers' words."""

    name: str  # of a file with it, without an ending: [a-z0-9-]
    kind: ChartKind
    title: str
    values: tuple[ChartValue, ...]  # at least one; those with a day in the order of the days
    source: str  # from how many items of which sources and what time it is, in a sentence
    alt: str  # what it shows, for who does not see it; at most MOST_ALT characters
