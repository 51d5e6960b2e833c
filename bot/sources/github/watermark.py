"""How far GitHub has been read: the source's watermark."""

from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime, timedelta

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

KEPT = timedelta(days=60)  # the days on which READMEs and releases were asked for
MOST = 2_000  # READMEs, and as many lists of releases


class LastAnswer(BaseModel):
    """The last answer about a watched name or a repository's releases: its ETag, and the day (UTC) on which it came."""

    model_config = ConfigDict(frozen=True)
    etag: str = ""
    day: date


class Watermark(BaseModel):
    """Per search up to when it was read, per watched name the last answer, and whose README and releases were read when."""

    model_config = ConfigDict(frozen=True)
    searches: Mapping[str, AwareDatetime] = {}
    watched: Mapping[str, LastAnswer] = {}
    readmes: Mapping[str, date] = {}
    releases: Mapping[str, LastAnswer] = {}

    def text(self) -> str:
        """Return the watermark to store."""
        return self.model_dump_json()

    def after_search(self, search: str, now: datetime) -> "Watermark":
        """Return the watermark once a search has been read up to now."""
        return self.model_copy(update={"searches": {**self.searches, search: now}})

    def after_answer(self, name: str, etag: str, day: date) -> "Watermark":
        """Return the watermark once a watched repository or owner has answered."""
        return self.model_copy(update={"watched": {**self.watched, name: LastAnswer(etag=etag, day=day)}})

    def after_reading(self, readmes: Mapping[str, date], releases: Mapping[str, LastAnswer]) -> "Watermark":
        """Return the watermark with the READMEs and releases that have been asked for, by the items' keys."""
        return self.model_copy(update={"readmes": dict(readmes), "releases": dict(releases)})

    def trimmed(self, searches: Collection[str], watched: Collection[str], today: date) -> "Watermark":
        """Return the watermark without what is no longer searched or watched, and without old READMEs and releases."""
        recent = sorted((day, key) for key, day in self.readmes.items() if today - day <= KEPT)[-MOST:]
        asked = sorted((seen.day, key) for key, seen in self.releases.items() if today - seen.day <= KEPT)[-MOST:]
        return Watermark(
            searches={text: min(time, _end(today)) for text, time in self.searches.items() if text in searches},
            watched={name: seen for name, seen in self.watched.items() if name in watched},
            readmes={key: day for day, key in recent},
            releases={key: self.releases[key] for _, key in asked},
        )


def read_watermark(watermark: str) -> tuple[Watermark, tuple[str, ...]]:
    """Read a stored watermark; an unreadable one is an empty one, with a note that says so."""
    if not watermark:
        return Watermark(), ()
    try:
        return Watermark.model_validate_json(watermark), ()
    except ValidationError:
        return Watermark(), ("it was forgotten how far it had been read",)


def _end(day: date) -> datetime:
    """Midnight after the day: a clock that once ran ahead must not hide what came since."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
