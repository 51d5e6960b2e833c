"""Topic packs: a topic written as a TOML file, read into a Topic."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import SettingsError, UsageError
from bot.models import Interest, Topic
from bot.query import parse

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class _Interest(BaseModel):
    model_config = ConfigDict(extra="forbid")
    clause: str = Field(min_length=1)
    weight: float = Field(default=1.0, ge=-10, le=10)


class _Pack(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    title: str = Field(min_length=1, max_length=80)
    description: str = ""
    query: str = ""
    interests: list[_Interest] = []
    examples: list[str] = []
    sources: list[str] = []
    min_score: float = Field(default=0.0, ge=0, le=1)
    repositories: list[str] = []


def read_pack(text: str, where: str) -> Topic:
    """Read a pack; `where` names it in the SettingsError that is raised when it is not right."""
    try:
        pack = _Pack.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{where} is not valid TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(step) for step in first["loc"])
        raise SettingsError(f"{where}: {path}: {first['msg']}.") from error
    if not NAME.fullmatch(pack.name):
        raise SettingsError(f'{where}: the name "{pack.name}" must be lower-case letters, digits and single hyphens.')
    try:
        query = parse(pack.query)
        for interest in pack.interests:
            parse(interest.clause)
    except UsageError as error:
        raise SettingsError(f"{where}: {error}") from error
    return Topic(
        name=pack.name,
        title=pack.title,
        description=pack.description,
        query=query,
        interests=tuple(Interest(each.clause, each.weight) for each in pack.interests),
        examples=tuple(pack.examples),
        sources=tuple(pack.sources),
        min_score=pack.min_score,
        repositories=tuple(pack.repositories),
    )


def load_packs(folder: Path | None = None) -> dict[str, Topic]:
    """Return the packs that come with Broadsheet and those of `folder`, which take the place of the same names.

    Raises SettingsError for a folder that is not there and for a pack that is not right.
    """
    packs = {topic.name: topic for topic in map(_read, _shipped())}
    if folder is not None:
        if not folder.is_dir():
            raise SettingsError(f"The topics folder {folder} does not exist.")
        packs |= {topic.name: topic for topic in map(_read, sorted(folder.glob("*.toml")))}
    return packs


def find_topic(topics: Mapping[str, Topic], name: str) -> Topic:
    """Return the topic of that name; raises UsageError that suggests the nearest one."""
    if name in topics:
        return topics[name]
    close = difflib.get_close_matches(name.lower(), topics, n=1)
    hint = f'Did you mean "{close[0]}"?' if close else "`broadsheet topics` lists those there are."
    raise UsageError(f'There is no topic "{name}". {hint}')


def pack_file(name: str, folder: Path | None = None) -> Path | None:
    """Return the file of a pack, to be shown or copied; None when there is none of that name."""
    candidates = [*(folder.glob("*.toml") if folder is not None else ()), *_shipped()]
    return next((path for path in candidates if path.stem == name), None)


def _read(path: Path) -> Topic:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The topic pack {path} cannot be read: {error}.") from error
    return read_pack(text, str(path))


def _shipped() -> Iterable[Path]:
    """The wheel carries config/ inside the package; in a checkout it lies beside it."""
    inside = Path(str(files("bot"))) / "config" / "topics"
    folder = inside if inside.is_dir() else Path(str(files("bot"))).parent / "config" / "topics"
    return sorted(folder.glob("*.toml"))
