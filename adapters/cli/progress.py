"""Progress of a collection on standard error: bars in a terminal, nothing in a pipe."""

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from bot.collect.collector import Progress as Step
from bot.ports.vectors import Embedded
from bot.store.transfer import Progress as Rows


class RowsBar:
    """A bar for each table whose rows are moved and then compared, while the `with` block lasts."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<16}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:>10,.0f} rows"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "RowsBar":
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def moved(self, step: Rows) -> None:
        """Move the table's bar; the first step makes it."""
        if step.table not in self._tasks:
            self._tasks[step.table] = self._progress.add_task(step.table)
        self._progress.update(self._tasks[step.table], completed=step.done, total=step.of)


class ProgressBars:
    """A bar per source, while the `with` block lasts."""

    def __init__(self, *, shown: bool = True) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<14}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[items]:>6,} items"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not (shown and sys.stderr.isatty()),
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "ProgressBars":
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def embedded(self, state: Embedded) -> None:
        """Move the bar of the vectors; those with a quick one are halfway."""
        every, having = state.whole + state.quick + state.lacking, state.whole + state.quick
        self.update(Step("vectors", done=2 * state.whole + state.quick, total=2 * every, items=having))

    def update(self, step: Step) -> None:
        """Move the source's bar; the first step makes it. A source that does not know its length gets a pulsing one."""
        task = self._tasks.get(step.source)
        if task is None:
            task = self._tasks[step.source] = self._progress.add_task(step.source, total=None, items=0)
        self._progress.update(task, completed=step.done, total=step.total or None, items=step.items)
