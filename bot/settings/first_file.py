"""The settings file that `broadsheet init` writes: what was answered, and where the rest is told."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from bot.atomic_file import write_new, write_whole
from bot.errors import SettingsError

_HEAD = "# Broadsheet's settings, as `broadsheet init` wrote them. config/broadsheet.example.toml shows all, with defaults."
_ABOUT = {
    "contact": "Sent with every request to a source, whose operators may write there.",
    "zone": "Of new subscriptions, where neither their workspace nor the chat tells another.",
    "topics": "`broadsheet topics` lists what there is.",
}


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered. A secret is its text, or the path of the file that holds it."""

    zone: str = ""
    topics: tuple[str, ...] = ()
    contact: str = ""
    secrets: Mapping[str, str | Path] = field(default_factory=dict, repr=False)  # by dotted name: "slack.bot_token"

    def text(self) -> str:
        """Return the settings file."""
        lines = [_HEAD]
        for name, value in (("contact", self.contact), ("zone", self.zone), ("topics", list(self.topics))):
            lines += ["", f"# {_ABOUT[name]}", f"{name} = {_toml(value)}"] if value else []
        section = ""
        for name, secret in self.secrets.items():
            begins, _, setting = name.partition(".")
            lines += ["", f"[{begins}]"] if begins != section else []
            section = begins
            lines.append(
                f"{setting}_file = {_toml(str(secret))}" if isinstance(secret, Path) else f"{setting} = {_toml(secret)}"
            )
        return "\n".join(lines) + "\n"


def write_first(path: Path, text: str, now: datetime, *, replace: bool) -> Path | None:
    """Write the settings, for their owner alone; return where those lie that stood there before, None where none did.

    Raises SettingsError for a file that is there and is not to be replaced, and where nothing can be written.
    """
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        if not (replace and path.exists()):
            write_new(path, text)
            return None
        aside = path.with_name(f"{path.name}.before-{now:%Y%m%dT%H%M%S}")
        write_new(aside, path.read_text(encoding="utf-8"))
        write_whole(path.resolve(), text)
    except FileExistsError as error:
        raise SettingsError(f"{path} is there already; nothing was changed.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise _unwritten(path, error) from error
    return aside


def _unwritten(path: Path, error: Exception) -> SettingsError:
    return SettingsError(f"The settings cannot be written to {path}: {str(error).rstrip('.')}.")


def _toml(value: str | list[str]) -> str:
    """A TOML value: JSON's escapes are among TOML's, which wants the delete character escaped as well."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
