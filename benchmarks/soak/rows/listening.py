"""A plugin of pytest that keeps what tests log and print, and writes it to the file that SOAK_WRITTEN names at the end."""

import logging
import os
from pathlib import Path

import pytest

_KEPT: list[str] = []  # in memory: a file would keep the event loop waiting, which tests forbid


class _Keeps(logging.Handler):
    """Keeps each record, with what its error says."""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        error = f" {record.exc_info[1]!r}" if record.exc_info and record.exc_info[1] else ""
        _KEPT.append(f"{record.name} {record.levelname} {record.getMessage()}{error}")


def pytest_configure() -> None:
    """Listen to every logger, as a service does that tells much."""
    logging.getLogger().addHandler(_Keeps(logging.DEBUG))
    logging.getLogger().setLevel(logging.INFO)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what the test printed."""
    if report.when == "teardown":
        _KEPT.extend(f"{what}: {text}" for what, text in report.sections)


def pytest_unconfigure() -> None:
    """Write it all, behind what other workers wrote."""
    with Path(os.environ["SOAK_WRITTEN"]).open("a", encoding="utf-8", errors="replace") as file:
        file.writelines(f"{each}\n" for each in _KEPT)
