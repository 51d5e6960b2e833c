"""Where the program writes what it does: to standard error, one line each, as text or JSON, never with a secret in it.

Titles, feeds and names of channels are in it as others wrote them: none may forge a line or command a terminal.
"""

import json
import logging
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from bot.redact import redacted

# What ends a line, commands a terminal (C0 but for the tab, C1), or turns around how the rest of a line is shown.
_CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class _Text(logging.Formatter):
    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s  %(message)s", "%Y-%m-%d %H:%M:%S")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        record.asctime = self.formatTime(record, self.datefmt)
        record.message = record.getMessage()
        below = self.formatException(record.exc_info) if record.exc_info else ""
        below += f"\n{self.formatStack(record.stack_info)}" if record.stack_info else ""
        # Set in, for what an exception quotes may look like the beginning of a record.
        lines = [f"  {self._escaped(line)}" for line in redacted(below, self._secrets).split("\n") if line]
        return "\n".join([self._escaped(self.formatMessage(record)), *lines])

    def _escaped(self, text: str) -> str:
        """Return what others may have written on one line, without a secret."""
        return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], redacted(text, self._secrets))


class _Json(logging.Formatter):
    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        # Before it is JSON, in which a quotation mark within a secret is written otherwise.
        plain = json.dumps({name: redacted(text, self._secrets) for name, text in entry.items()}, ensure_ascii=False)
        # JSON itself asks for escapes of C0 alone.
        return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)


def formatter(form: str, secrets: Sequence[str] = ()) -> logging.Formatter:
    """Return what writes a record in this form, "text" or "json"; one line, and a text's traceback set in below it."""
    return _Json(secrets) if form == "json" else _Text(secrets)


def configure(level: str = "INFO", form: str = "text", secrets: Sequence[str] = ()) -> None:
    """Send the log to standard error at this level, in this form ("text" or "json"); replaces what was set before.

    Whatever looks like a credential is hidden, and these secrets wherever they stand.
    The libraries below us speak up only from WARNING on, because their lower levels name every address and header.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(form, secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("httpx", "httpcore", "asyncio", "aiohttp", "slack_sdk", "slack_bolt", "discord"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # It warns whenever a job that is still running would be due again, which is as it should be.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
