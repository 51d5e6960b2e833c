"""What may stand in the sections of the settings that belong to no source and no chat platform, with its default."""

import re
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from bot.errors import UsageError
from bot.models import MOST_ENTRIES, Layout
from bot.zones import resolve


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address that begins with http:// or https://")
    if parts.username or parts.password:
        raise ValueError("must not hold a user name or password; use the setting for the token")
    return value.rstrip("/")


def _proxy_address(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError("must be the address of an HTTP proxy, like http://proxy.example:3128")
    return value


def _fits_a_header(value: str) -> str:
    if not (value.isascii() and value.isprintable()):
        raise ValueError("must be plain ASCII on one line: it is sent in a header of every request")
    return value


def _folder(value: Path) -> Path | None:
    if value == Path():  # an empty text: BROADSHEET_TOPICS_DIR= in a compose file
        return None
    return expanded(value)


def expanded(path: Path) -> Path:
    """Return the path with `~` resolved; raises ValueError where nobody's home is known."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError("begins with ~, but whose home folder that is cannot be told; write the whole path") from error


def _zone_name(value: str) -> str:
    try:
        return resolve(value) if value else ""
    except UsageError as error:
        said = " ".join(filter(None, (str(error), error.hint)))
        raise ValueError(said.rstrip(".")) from error


def _host(value: str) -> str:
    if not value or not re.fullmatch(r"[\w.:-]+", value, re.ASCII):
        raise ValueError("must be an address of this machine, like 127.0.0.1, or 0.0.0.0 for all of them")
    return value


Url = Annotated[str, AfterValidator(_web_address)]
ProxyUrl = Annotated[str, AfterValidator(_proxy_address)]
HeaderText = Annotated[str, AfterValidator(_fits_a_header)]
Folder = Annotated[Path, AfterValidator(_folder)]
ZoneName = Annotated[str, AfterValidator(_zone_name)]
Host = Annotated[str, AfterValidator(_host)]


class Section(BaseModel):
    """One section of the file: unknown names are errors, nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LlmSettings(Section):
    """An OpenAI-compatible endpoint for summaries; off unless it is switched on."""

    enabled: bool = False
    base_url: Url = "https://api.openai.com/v1"
    model: str = ""
    api_key: SecretStr = SecretStr("")
    daily_tokens: int = Field(default=200_000, ge=0)
    timeout: float = Field(default=60.0, gt=0, le=600)

    @model_validator(mode="after")
    def _is_complete(self) -> "LlmSettings":
        if self.enabled and not self.model:
            raise ValueError("model must be set when the LLM is enabled")
        return self


class EmbeddingsSettings(Section):
    """What understands meaning: the model that is shipped, its small table, nothing, or an OpenAI-compatible endpoint."""

    use: Literal["on", "fast", "off"] = "on"
    base_url: Url | Literal[""] = ""
    model: str = ""
    dimensions: int = Field(default=0, ge=0, le=8192)
    api_key: SecretStr = SecretStr("")
    timeout: float = Field(default=30.0, gt=0, le=600)

    @model_validator(mode="after")
    def _is_complete(self) -> "EmbeddingsSettings":
        if self.base_url and not (self.model and self.dimensions):
            raise ValueError("model and dimensions must be set with base_url")
        return self


class SearchSettings(Section):
    """What finds items: FTS5 in the database's file, or tantivy beside it, which the extra `search` brings."""

    engine: Literal["fts5", "tantivy"] = "fts5"


class DigestSettings(Section):
    """How much a digest holds, and how it is laid out."""

    entries: int = Field(default=7, ge=1, le=MOST_ENTRIES)
    repositories: int = Field(default=1, ge=0, le=MOST_ENTRIES)
    layout: Layout = Layout.BRIEF  # where neither a workspace nor a subscription says it
    window_hours: int = Field(default=48, ge=1, le=24 * 31)
    max_age_days: int = Field(default=14, ge=1, le=3650)


class KeepSettings(Section):
    """How long things are kept."""

    items_days: int = Field(default=400, ge=30, le=36_500)
    readings_days: int = Field(default=400, ge=30, le=36_500)


class FeedGuardSettings(Section):
    """Hosts that feeds may be fetched from although they are not on the public internet."""

    allow_hosts: tuple[str, ...] = ()


class PermissionsSettings(Section):
    """Who may do what, where a workspace has not settled it for itself."""

    manage: Literal["anyone", "admins"] = "anyone"


class LogSettings(Section):
    """What is written to standard error."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["text", "json"] = "text"


Role = Literal["clock", "collect", "make", "deliver", "embed", "front", "gateway"]
ROLES: tuple[Role, ...] = get_args(Role)


class PostgresSettings(Section):
    """What each process keeps and takes where `database` is an address of PostgreSQL's."""

    folder: Path = Path("~/.local/share/broadsheet/process")
    connections: int = Field(default=8, ge=2, le=100)


class RunSettings(Section):
    """What the service does by itself."""

    roles: tuple[Role, ...] = ROLES
    collect_minutes: int = Field(default=60, ge=5, le=24 * 60)
    catch_up_hours: int = Field(default=12, ge=0, le=48)
    late_minutes: int = Field(default=15, ge=1, le=24 * 60)
    digests_dir: Folder | None = None
    backup_dir: Folder | None = None
    backup_hours: int = Field(default=24, ge=1, le=24 * 31)
    backup_keep: int = Field(default=7, ge=1, le=1000)


class HealthSettings(Section):
    """Where the service tells how it is, over HTTP; off while `port` is 0."""

    host: Host = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65_535)
