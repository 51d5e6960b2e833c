"""The operator's settings: one TOML file, each value overridable by a `BROADSHEET_…` variable, secrets also by `…_FILE`.

Nothing is read when this module is imported; `load` reads the file and the environment once.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as PydanticSettingsError

from bot.errors import SettingsError

PREFIX = "BROADSHEET_"
CONFIG = "BROADSHEET_CONFIG"  # where the file is; the one variable that is no setting
# arXiv's terms: one request every three seconds over all of one's machines (info.arxiv.org/help/api/tou.html).
ARXIV_SECONDS = 3.0


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
    return _expanded(value)


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError("begins with ~, but whose home folder that is cannot be told; write the whole path") from error


Url = Annotated[str, AfterValidator(_web_address)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ArxivSettings(_Section):
    """Which announcements to read."""

    enabled: bool = True
    categories: tuple[str, ...] = ("cs.AI", "cs.AR", "cs.CL", "cs.CV", "cs.DC", "cs.LG", "cs.OS", "cs.PF", "cs.PL", "cs.SE")
    kinds: tuple[Literal["new", "cross", "replace", "replace-cross"], ...] = ("new", "cross")
    holidays: tuple[date, ...] = ()
    backfill_days: int = Field(default=0, ge=0, le=365)
    seconds_between: float = Field(default=ARXIV_SECONDS, ge=0, le=3600)
    feed_url: Url = "https://rss.arxiv.org/atom"
    api_url: Url = "https://export.arxiv.org/api/query"
    oai_url: Url = "https://oaipmh.arxiv.org/oai"

    @model_validator(mode="after")
    def _keeps_the_terms(self) -> "ArxivSettings":
        hosts = (urlsplit(url).hostname or "" for url in (self.feed_url, self.api_url, self.oai_url))
        if self.seconds_between < ARXIV_SECONDS and any(host.endswith("arxiv.org") for host in hosts):
            raise ValueError(
                f"seconds_between must be at least {ARXIV_SECONDS:g} for arxiv.org: its terms of use ask for it"
            )
        return self


class HuggingFaceSettings(_Section):
    """Daily Papers."""

    enabled: bool = True
    token: SecretStr = SecretStr("")
    reread_days: int = Field(default=3, ge=0, le=14)
    backfill_days: int = Field(default=0, ge=0, le=365)
    base_url: Url = "https://huggingface.co"


class GitHubSettings(_Section):
    """Which repositories to look for, besides those that the followed topics search."""

    enabled: bool = True
    token: SecretStr = SecretStr("")
    searches: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    min_stars: int = Field(default=0, ge=0)
    archived: bool = False
    forks: bool = False
    base_url: Url = "https://api.github.com"


class FeedSettings(_Section):
    """One RSS, Atom or JSON feed."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    url: Url
    title: str = ""


def _named_once(feeds: tuple[FeedSettings, ...]) -> tuple[FeedSettings, ...]:
    names = [feed.name for feed in feeds]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f'two feeds are named "{twice}"; give each a name of its own')
    return feeds


class LlmSettings(_Section):
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


class DigestSettings(_Section):
    """How much a digest holds."""

    entries: int = Field(default=7, ge=1, le=50)
    repositories: int = Field(default=2, ge=0, le=50)
    window_hours: int = Field(default=48, ge=1, le=24 * 31)
    max_age_days: int = Field(default=14, ge=1, le=3650)


class KeepSettings(_Section):
    """How long things are kept."""

    items_days: int = Field(default=400, ge=30, le=36_500)
    readings_days: int = Field(default=400, ge=30, le=36_500)


class FeedGuardSettings(_Section):
    """Hosts that feeds may be fetched from although they are not on the public internet."""

    allow_hosts: tuple[str, ...] = ()


class PermissionsSettings(_Section):
    """Who may do what, where a workspace has not settled it for itself."""

    manage: Literal["anyone", "admins"] = "anyone"


class LogSettings(_Section):
    """What is written to standard error."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["text", "json"] = "text"


class RunSettings(_Section):
    """The service's heartbeat."""

    collect_minutes: int = Field(default=60, ge=5, le=24 * 60)


class _Variables(EnvSettingsSource):
    """The environment without the `…_FILE` variables, whose values `load` has read already."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        self.env_vars = {name: value for name, value in self.env_vars.items() if not name.lower().endswith("_file")}


class Settings(BaseSettings):
    """Everything an operator can set."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)

    database: Path = Path("~/.local/share/broadsheet/broadsheet.sqlite3")
    contact: Annotated[str, AfterValidator(_fits_a_header)] = ""
    topics: tuple[str, ...] = ("gpu-systems",)
    topics_dir: Annotated[Path, AfterValidator(_folder)] | None = None
    proxy: Annotated[str, AfterValidator(_proxy_address)] = ""
    arxiv: ArxivSettings = ArxivSettings()
    huggingface: HuggingFaceSettings = HuggingFaceSettings()
    github: GitHubSettings = GitHubSettings()
    feeds: Annotated[tuple[FeedSettings, ...], AfterValidator(_named_once)] = ()
    feed_guard: FeedGuardSettings = FeedGuardSettings()
    llm: LlmSettings = LlmSettings()
    digest: DigestSettings = DigestSettings()
    permissions: PermissionsSettings = PermissionsSettings()
    keep: KeepSettings = KeepSettings()
    run: RunSettings = RunSettings()
    log: LogSettings = LogSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file, which `load` hands in; nothing else is looked at."""
        return _Variables(settings_cls), init_settings

    @property
    def database_path(self) -> Path:
        """The database's path with `~` resolved; raises SettingsError where nobody's home is known."""
        try:
            return _expanded(self.database)
        except ValueError as error:
            raise SettingsError(f'The setting "database" ({self.database}) {error}.') from error


def find_file(environ: Mapping[str, str]) -> Path | None:
    """Return the settings file that is used when none is named: $BROADSHEET_CONFIG, ./broadsheet.toml, or the user's own."""
    if named := environ.get(CONFIG):
        return Path(named)
    home = Path(environ.get("XDG_CONFIG_HOME") or "~/.config")
    return next(
        (path for path in (Path("broadsheet.toml"), home / "broadsheet" / "broadsheet.toml") if _is_there(path)), None
    )


def _is_there(path: Path) -> bool:
    """A home that is not known, or not ours to look into (as in a container run by another user), holds no settings."""
    try:
        return path.expanduser().is_file()
    except (OSError, RuntimeError):
        return False


def load(path: Path | None = None) -> Settings:
    """Read the settings from `path` (or from where `find_file` looks) and the environment; raises SettingsError."""
    path = path or find_file(os.environ)
    values = _read(path) if path is not None else {}
    _refuse_unknown_variables(os.environ)
    for name, secret in _secret_files(os.environ).items():
        _put(values, name.split("."), secret)
    try:
        return Settings(**values)
    except ValidationError as error:
        raise SettingsError(_sentence(error, path)) from error
    except PydanticSettingsError as error:
        raise SettingsError(f'{error}. A list in a variable is written as JSON: ["one", "two"].') from error


def names() -> dict[str, Any]:
    """Return every setting's dotted name with its default, for docs and suggestions; feeds[] stands for a list."""
    return _names(Settings, "")


def _names(model: type[BaseModel], prefix: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        inner = _model_of(info.annotation)
        if inner is not None:
            many = "[]" if get_origin(info.annotation) is tuple else ""
            found |= _names(inner, f"{prefix}{name}{many}.")
        else:
            found[f"{prefix}{name}"] = info.default
    return found


def _model_of(annotation: Any) -> type[BaseModel] | None:
    options = get_args(annotation) if get_origin(annotation) in (tuple, UnionType) else (annotation,)
    return next((each for each in options if isinstance(each, type) and issubclass(each, BaseModel)), None)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.expanduser().read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SettingsError(f"The settings file {path} does not exist.") from error
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be read: {str(error).rstrip('.')}.") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"The settings file {path} is not valid TOML: {error}.") from error


def _variables() -> dict[str, str]:
    """Every variable that sets something, with the dotted name of what it sets."""
    known = {(PREFIX + name.replace(".", "__")).upper(): name for name in names() if "[]" not in name}
    sections = {
        (PREFIX + name.split(".", maxsplit=1)[0].removesuffix("[]")).upper(): name for name in names() if "." in name
    }
    return sections | known


def _secret_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Read `BROADSHEET_GITHUB__TOKEN_FILE` and its like, by dotted name; the text without the line end is the value."""
    found = {}
    for variable, name in _variables().items():
        named = environ.get(f"{variable}_FILE")
        if named is None:
            continue
        if variable in environ:
            raise SettingsError(f"Set either {variable} or {variable}_FILE, not both.")
        try:
            found[name] = Path(named).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{variable}_FILE names a file that cannot be read: {named}.") from error
    return found


def _put(values: dict[str, Any], steps: list[str], value: str) -> None:
    for step in steps[:-1]:
        values = values.setdefault(step, {})
    values[steps[-1]] = value


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    known = _variables()
    for name in environ:
        plain = name.upper().removesuffix("_FILE")
        if name.upper().startswith(PREFIX) and name != CONFIG and plain not in known:
            raise SettingsError(f"The variable {name} sets nothing.{_nearest(plain, list(known))}")


def _sentence(error: ValidationError, path: Path | None) -> str:
    first = error.errors()[0]
    steps = [str(step) for step in first["loc"]]
    where = _origin(steps, path)
    name = ".".join(steps)
    if first["type"] == "extra_forbidden":
        plain = ".".join(step for step in steps if not step.isdigit())
        known = [each.replace("[]", "") for each in names()]
        known += list({each.split(".")[0] for each in known})
        return f'There is no setting "{name}" ({where}).{_nearest(plain, known)}'
    message = first["msg"].removeprefix("Value error, ")
    return f'The setting "{name or "settings"}" ({where}) cannot be used: {message[:1].lower()}{message[1:]}.'


def _origin(steps: list[str], path: Path | None) -> str:
    """Say where a setting was given: its variable comes before the file."""
    given = {name.upper().removesuffix("_FILE"): name for name in os.environ}
    variables = ((PREFIX + "__".join(steps[:end])).upper() for end in range(len(steps), 0, -1))
    variable = next((given[each] for each in variables if each in given), "")
    return f"in {variable or path or 'the environment'}"


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f' Did you mean "{close[0]}"?' if close else ""
