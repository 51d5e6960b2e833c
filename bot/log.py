"""Where the program writes what it does: to standard error, one line each, as text or JSON, never with a secret in it."""

import json
import logging
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from bot.redact import redacted


class _Text(logging.Formatter):
    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s  %(message)s", "%Y-%m-%d %H:%M:%S")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record), self._secrets)


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
        return json.dumps({name: redacted(text, self._secrets) for name, text in entry.items()}, ensure_ascii=False)


def configure(level: str = "INFO", form: str = "text", secrets: Sequence[str] = ()) -> None:
    """Send the log to standard error at this level, in this form ("text" or "json"); replaces what was set before.

    Whatever looks like a credential is hidden, and these secrets wherever they stand.
    The libraries below us speak up only from WARNING on, because their lower levels name every address and header.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json(secrets) if form == "json" else _Text(secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("httpx", "httpcore", "asyncio", "aiohttp", "slack_sdk", "slack_bolt", "discord"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # It warns whenever a job that is still running would be due again, which is as it should be.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
