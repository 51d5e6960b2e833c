"""A plugin of pytest that keeps all that tests log, print and raise, in the file that SOAK_WRITTEN names, a part for each
worker.

What a test's own error shows of its own lines is left out: they spell the secrets that they give.
"""

import logging
import os
from pathlib import Path

import pytest

_FILE = Path(os.environ["SOAK_WRITTEN"])


class _Keeps(logging.Handler):
    """Writes each record, with its traceback's last line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it."""
        error = f" {record.exc_info[1]!r}" if record.exc_info and record.exc_info[1] else ""
        _keep(f"{record.name} {record.levelname} {record.getMessage()}{error}")


def _keep(text: str) -> None:
    with _FILE.open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"{text}\n")


def pytest_configure() -> None:
    """Listen to every logger."""
    logging.getLogger().addHandler(_Keeps(logging.DEBUG))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what the test printed, in its own process."""
    if report.when == "teardown":
        for what, text in report.sections:
            _keep(f"{what}: {text}")
