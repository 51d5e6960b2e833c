"""A chart for the terminal: a row for each number, with a bar where there is room. Pure: values in, lines out."""

from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from adapters.cli.render.digest import STYLES, Sheet
from adapters.text import clean, cut
from adapters.words import chart_lines
from bot.models import Chart, ChartKind, ChartValue

_LABEL = 30  # columns of a label at most
_LEAST, _MOST = 8, 40  # columns of a bar: less tells nothing, more is no easier to read
_FULL, _BEFORE = "█", "░"


def chart_rows(chart: Chart, sheet: Sheet) -> Iterator[Text]:
    """Yield the title, a row for each number, and where they come from."""
    yield from sheet.wrapped(Text(clean(chart.title), style=STYLES["heading"]))
    yield from _rows(chart, sheet)
    if chart.kind is ChartKind.BARS:
        yield from sheet.wrapped(Text(f"{_BEFORE} the share before  {_FULL} what was added", style=STYLES["quiet"]))
    yield from sheet.wrapped(Text(clean(chart.source), style=STYLES["quiet"]))


def _rows(chart: Chart, sheet: Sheet) -> Iterator[Text]:
    labels = [cut(clean(each.label), _LABEL, cell_len) for each in chart.values]
    widest = max(map(cell_len, labels))
    room = min(_MOST, sheet.width - widest - 4 - max(cell_len(clean(each.said)) for each in chart.values))
    if room < _LEAST:
        for line in chart_lines(chart):
            yield from sheet.wrapped(Text(line))
        return
    most = max(each.value for each in chart.values)
    for label, each in zip(labels, chart.values, strict=True):
        bar = _bar(each, most, room)
        yield Text.assemble((set_cell_size(label, widest), STYLES["label"]), "  ", bar.ljust(room), "  ", clean(each.said))


def _bar(value: ChartValue, most: float, room: int) -> str:
    """Return the bar; what is not nothing has one sign at least, and what it was before is drawn lighter."""
    signs = max(1, round(room * value.value / most)) if most and value.value else 0
    before = min(signs, round(room * value.before / most)) if value.before and most else 0
    return _BEFORE * before + _FULL * (signs - before)
