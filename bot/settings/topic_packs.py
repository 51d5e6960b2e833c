"""Topic packs: a topic written as a TOML file, read into a Topic."""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import SettingsError, UsageError
from bot.models import LONGEST_TITLE, MOST_WEIGHT, Interest, Topic
from bot.query import parse
from bot.settings.arxiv_categories import categories_named
from bot.settings.sources import SOURCES
from bot.wording import counted, listed

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class _Interest(BaseModel):
    model_config = ConfigDict(extra="forbid")
    clause: str = Field(min_length=1)
    weight: float = Field(default=1.0, ge=-MOST_WEIGHT, le=MOST_WEIGHT)


class _Pack(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    title: str = Field(min_length=1, max_length=LONGEST_TITLE)
    description: str = ""
    query: str = ""
    filter: str = ""
    interests: list[_Interest] = []
    examples: list[str] = []
    sources: list[str] = []
    categories: list[str] = []
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
    for source in pack.sources:
        if source.split(":")[0] not in SOURCES:
            raise SettingsError(f'{where}: there is no source "{source}"; there are {", ".join(SOURCES)} and feed:NAME.')
    try:
        query, passes = parse(pack.query), parse(pack.filter)
        for interest in pack.interests:
            parse(interest.clause)
        categories = categories_named(pack.categories)
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
        categories=categories,
        min_score=pack.min_score,
        repositories=tuple(pack.repositories),
        filter=passes,
    )


def pack_text(topic: Topic) -> str:
    """Return the topic as the text of a pack, which `read_pack` reads as the same topic."""
    single = [
        ("name", topic.name),
        ("title", topic.title),
        ("description", topic.description),
        ("query", topic.query.text),
        ("filter", topic.filter.text),
    ]
    lines = [f"{name} = {_quoted(value)}" for name, value in single if value]
    interests = [f"{{ clause = {_quoted(each.clause)}, weight = {float(each.weight)!r} }}" for each in topic.interests]
    lines += _listed("interests", interests)
    lines += _listed("examples", map(_quoted, topic.examples))
    lines += _listed("sources", map(_quoted, topic.sources))
    lines += [f"categories = [{', '.join(map(_quoted, topic.categories))}]"] if topic.categories else []
    lines += [f"min_score = {float(topic.min_score)!r}"] if topic.min_score else []
    lines += _listed("repositories", map(_quoted, topic.repositories))
    return "\n".join(lines) + "\n"


def _listed(name: str, values: Iterable[str]) -> list[str]:
    lines = [f"  {value}," for value in values]
    return [f"{name} = [", *lines, "]"] if lines else []


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are among TOML's, which wants the delete character escaped as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def new_in_pack(own: Topic, pack: Topic) -> str:
    """Return what the pack has that a topic of its name lacks: "a bar of 0.24 and 11 examples (here 4)"; "" for nothing.

    These decide how much of a digest is on topic. Other words, fewer interests or another bar are somebody's choice.
    """
    said = [f"a bar of {pack.min_score:g}"] if pack.min_score and not own.min_score else []
    if len(own.examples) < len(pack.examples):
        said.append(f"{counted(len(pack.examples), 'example')} (here {len(own.examples)})")
    reads_arxiv = not own.sources or "arxiv" in own.sources
    if reads_arxiv and pack.categories and not own.categories:
        said.append(f"{counted(len(pack.categories), 'category')} of arXiv")
    return listed(said)


def load_packs(folder: Path | None = None) -> dict[str, Topic]:
    """Return the packs that come with Broadsheet and those of `folder`, which take the place of the same names.

    Raises SettingsError for a folder that cannot be read, a pack that is not right, and two packs of one name.
    """
    packs = {topic.name: topic for topic in map(_read, _shipped())}
    if folder is None:
        return packs
    own: dict[str, Path] = {}
    for path in _in_folder(folder):
        topic = _read(path)
        if topic.name in own:
            raise SettingsError(f'{own[topic.name]} and {path} both hold a topic named "{topic.name}".')
        own[topic.name] = path
        packs[topic.name] = topic
    return packs


def packs_named(text: str, packs: Mapping[str, Topic]) -> tuple[str, ...]:
    """Return the names of the packs that are named, by name or title, between commas; raises UsageError for another."""
    known = {each.casefold(): name for name, topic in packs.items() for each in (name, topic.title)}
    wanted = [" ".join(each.split()).casefold() for each in text.split(",") if each.strip()]
    for each in wanted:
        if each not in known:
            near = difflib.get_close_matches(each, known, n=1)
            hint = f"Did you mean {known[near[0]]}?" if near else "`broadsheet topics` lists those there are."
            raise UsageError(f'There is no topic "{each[:60]}".', hint=hint)
    if not wanted:
        raise UsageError("Name a topic at least.")
    return tuple(dict.fromkeys(known[each] for each in wanted))


def pack_as_written(name: str, folder: Path | None = None) -> str:
    """Return the pack of that name as its file holds it, comments too; "" when there is none."""
    candidates = [*(_in_folder(folder) if folder is not None else ()), *_shipped()]
    return next((path.read_text(encoding="utf-8") for path in candidates if _read(path).name == name), "")


def _in_folder(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except FileNotFoundError as error:
        raise SettingsError(f"The topics folder {folder} does not exist.") from error
    except OSError as error:
        raise SettingsError(f"The topics folder {folder} cannot be read: {error.strerror}.") from error


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
