"""The operator's settings: one TOML file, each value overridable by a `BROADSHEET_…` variable.

A secret may stand in a file of its own, which `…_FILE` names, or `…_file` in the TOML file.

Nothing is read when this module is imported; `load` reads the file and the environment once.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as PydanticSettingsError

from bot.errors import SettingsError
from bot.redact import without_credentials
from bot.settings.chat import DiscordSettings, SlackSettings
from bot.settings.mail import MailSettings
from bot.settings.sections import (
    DigestSettings,
    EmbeddingsSettings,
    FeedGuardSettings,
    Folder,
    HeaderText,
    HealthSettings,
    KeepSettings,
    LlmSettings,
    LogSettings,
    PermissionsSettings,
    PostgresSettings,
    ProxyUrl,
    RunSettings,
    SearchSettings,
    ZoneName,
    expanded,
)
from bot.settings.sources import SourceSections
from bot.settings.web import WebSettings

PREFIX = "BROADSHEET_"
CONFIG = "BROADSHEET_CONFIG"  # where the file is; this and the next are variables that are no settings
MCP_TOKEN = "BROADSHEET_MCP_TOKEN"  # by which the assistant asks that starts `broadsheet mcp`  # noqa: S105 - a name
RETIRED = frozenset({"slack.layout", "discord.threads"})  # still read, and not offered any more


class _Variables(EnvSettingsSource):
    """The environment without the `…_FILE` variables, whose values `load` has read already, and what they replace."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        files = {name.lower() for name in self.env_vars if name.lower().endswith("_file")}
        self.env_vars = {
            name: value
            for name, value in self.env_vars.items()
            if name.lower() not in files and f"{name.lower()}_file" not in files
        }


def _database(value: object) -> object:
    """An address of PostgreSQL's is a secret, for the password in it; whatever else stands there is a path."""
    if not isinstance(value, str):
        return value
    if value.startswith(("postgresql://", "postgres://")):
        return SecretStr(value)
    if "://" in value or (
        value.startswith("postgres") and "@" in value
    ):  # a file of that name would hold the password in it
        raise ValueError("must be a path, or an address that begins with postgresql://")
    return Path(value)


class Settings(BaseSettings, SourceSections):
    """Everything an operator can set."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)

    database: Annotated[Path | SecretStr, BeforeValidator(_database)] = Path("~/.local/share/broadsheet/broadsheet.sqlite3")
    contact: HeaderText = ""
    zone: ZoneName = ""
    topics: tuple[str, ...] = ("gpu-systems",)
    topics_dir: Folder | None = None
    proxy: ProxyUrl = ""
    fetch_on_request: bool = True
    feed_guard: FeedGuardSettings = FeedGuardSettings()
    llm: LlmSettings = LlmSettings()
    embeddings: EmbeddingsSettings = EmbeddingsSettings()
    search: SearchSettings = SearchSettings()
    digest: DigestSettings = DigestSettings()
    permissions: PermissionsSettings = PermissionsSettings()
    keep: KeepSettings = KeepSettings()
    slack: SlackSettings = SlackSettings()
    discord: DiscordSettings = DiscordSettings()
    email: MailSettings = MailSettings()
    run: RunSettings = RunSettings()
    postgres: PostgresSettings = PostgresSettings()
    health: HealthSettings = HealthSettings()
    web: WebSettings = WebSettings()
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
    def database_address(self) -> str:
        """Where PostgreSQL is, with a password where one stands in it; "" where the database is a file."""
        return self.database.get_secret_value() if isinstance(self.database, SecretStr) else ""

    @property
    def database_path(self) -> Path:
        """The database's path with `~` resolved; raises SettingsError where nobody's home is known.

        With PostgreSQL it is that of this machine's search copy, beside which whatever else is this machine's own lies.
        """
        try:
            if isinstance(self.database, SecretStr):
                return expanded(self.postgres.folder) / "search.sqlite3"
            return expanded(self.database)
        except ValueError as error:
            name, path = ("postgres.folder", self.postgres.folder) if self.database_address else ("database", self.database)
            raise SettingsError(f'The setting "{name}" ({path}) {error}.') from error

    @property
    def digests_path(self) -> Path:
        """The folder in which the terminal's own digests are put; raises SettingsError as `database_path`."""
        return self.run.digests_dir or self.database_path.parent / "digests"

    @property
    def retired(self) -> tuple[str, ...]:
        """What to say, a sentence each, of settings that are set and have another in their place."""
        instead = "`layout` under [digest] stands in its place for every chat, and `settings layout` for one workspace"
        in_threads = "digests stay in threads there"
        said = {
            "slack.layout": in_threads if self.slack.layout == "thread" else "it says nothing any more",
            "discord.threads": in_threads if self.discord.threads else "it says nothing any more",
        }
        return tuple(f"`{name}` is retired, {what}: {instead}." for name, what in said.items() if self._is_set(name))

    def _is_set(self, name: str) -> bool:
        section, _, field = name.partition(".")
        return field in getattr(self, section).model_fields_set


def usual_file(environ: Mapping[str, str]) -> Path:
    """Return where the settings are, or where they are to be when there are none yet: the user's own file."""
    home = Path(environ.get("XDG_CONFIG_HOME") or "~/.config")
    return find_file(environ) or home / "broadsheet" / "broadsheet.toml"


def giving(name: str, environ: Mapping[str, str]) -> str:
    """Return the variable that gives the setting of this dotted name, "" where none does."""
    variable = (PREFIX + name.replace(".", "__")).upper()
    return next((each for each in environ if each.upper() in (variable, f"{variable}_FILE")), "")


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
    if path is not None:
        _read_named(values, path, os.environ)
    return settled(values, path)


def settled(values: dict[str, Any], path: Path | None = None) -> Settings:
    """Return these values, of the file at `path`, as settings; what the environment says wins. Raises SettingsError."""
    for name, secret in _secret_files(os.environ).items():
        _put(values, name.split("."), secret)
    try:
        return Settings(**values)
    except ValidationError as error:
        raise SettingsError(_sentence(error, path)) from error
    except PydanticSettingsError as error:
        raise SettingsError(f'{error}. A list in a variable is written as JSON: ["one", "two"].') from error


def secrets_of(settings: BaseModel) -> tuple[str, ...]:
    """Return every secret of the settings, and each key of those that hold several: what no log may show."""
    found: list[str] = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, BaseModel):
                found += secrets_of(each)
            elif isinstance(each, SecretStr):
                whole = each.get_secret_value()
                found += [whole, *re.split(r"[\s,]+", whole)]
    return tuple(dict.fromkeys(filter(None, found)))


def holds_secrets(path: Path) -> bool:
    """Say whether a secret stands in the settings file: in a setting that is one, or in an address. Raises SettingsError."""
    secret = secret_names()
    return any(text and (name in secret or without_credentials(text) != text) for name, text in _texts(_read(path)))


def secret_names() -> frozenset[str]:
    """Return the dotted name of every setting that is a secret."""
    return frozenset(name for name, default in names().items() if isinstance(default, SecretStr))


def _texts(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a TOML document with its dotted name."""
    if isinstance(value, dict):
        for each, inner in value.items():
            yield from _texts(inner, f"{name}.{each}" if name else each)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, name)
    elif isinstance(value, str):
        yield name, value


def names() -> dict[str, Any]:
    """Return every setting's dotted name with its default, for docs and suggestions; feeds[] stands for a list."""
    return {name: default for name, default in _names(Settings, "").items() if name not in RETIRED}


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
    known = {(PREFIX + name.replace(".", "__")).upper(): name for name in (*names(), *RETIRED) if "[]" not in name}
    sections = {
        (PREFIX + name.split(".", maxsplit=1)[0].removesuffix("[]")).upper(): name for name in names() if "." in name
    }
    return sections | known


def _secret_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Read `BROADSHEET_GITHUB__TOKEN_FILE` and its like, by dotted name; the text without the line end is the value."""
    found = {}
    for variable, name in _variables().items():
        if (secret := _of_file(variable, environ)) is not None:
            found[name] = secret
    return found


def _of_file(variable: str, environ: Mapping[str, str]) -> str | None:
    """Return what stands in the file that `…_FILE` names in the variable's place; None where there is none.

    The variable itself may be there, empty: in a container one that the image sets can be emptied, not taken away.
    """
    named = environ.get(f"{variable}_FILE")
    if named is None:
        return None
    if environ.get(variable):
        raise SettingsError(f"Set either {variable} or {variable}_FILE, not both.")
    try:
        return Path(named).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{variable}_FILE names a file that cannot be read: {named}.") from error


def mcp_token(environ: Mapping[str, str]) -> str:
    """Return the token by which the assistant asks that starts `broadsheet mcp`, "" where none is given.

    Raises SettingsError, also for an empty one: a program that has lost its token is not to ask as the terminal does.
    """
    held = _of_file(MCP_TOKEN, environ)
    held = environ.get(MCP_TOKEN) if held is None else held
    if held is not None and not held.strip():
        raise SettingsError(f"{MCP_TOKEN} is given, but empty: put the token there, or leave the variable out.")
    return (held or "").strip()


def _read_named(values: dict[str, Any], path: Path, environ: Mapping[str, str]) -> None:
    """Put in the place of `token_file` and its like, which name a file that holds a secret, what stands in that.

    A name without a root is beside the settings. Where a variable gives the secret, the file is not even looked for.
    """
    for name in secret_names():
        section, _, field = name.partition(".")
        held = values.get(section)
        if not isinstance(held, dict):
            continue
        named = held.pop(f"{field}_file", "")
        if not named or giving(name, environ):
            continue
        if held.get(field):
            raise SettingsError(f'Set either "{name}" or "{name}_file" (in {path}), not both.')
        try:
            file = path.expanduser().parent / Path(named).expanduser()
            held[field] = file.read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise SettingsError(f'"{name}_file" (in {path}) names a file that cannot be read: {named}.') from error


def _put(values: dict[str, Any], steps: list[str], value: str) -> None:
    for step in steps[:-1]:
        values = values.setdefault(step, {})
    values[steps[-1]] = value


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    known = _variables()
    for name in environ:
        plain = name.upper().removesuffix("_FILE")
        if name.upper().startswith(PREFIX) and name != CONFIG and plain not in (*known, MCP_TOKEN):
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
