"""What GitHub says of repositories, as items. Pure: JSON in, items out."""

import base64
import binascii
import re
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from bot.errors import SourceChanged
from bot.keys import arxiv_id, arxiv_ids_in, normalised_url
from bot.models import Item, Kind, Link
from bot.sources.json_answers import Count, Flag, IfAny, Moment, Text, Texts, folded
from bot.sources.markup.readme_opening import opening, own_paper, without_shortcodes

MAX_DESCRIPTION = 1_000  # characters; GitHub takes 350
ENOUGH = 5  # entries, from which on the same fault in all of them is a change of shape and no accident

_FULL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}/(?!\.{1,2}$)[\w.-]{1,100}", re.ASCII)
_NO_LICENCE = frozenset({"NOASSERTION", "NONE", "OTHER"})


def _full_name(text: str) -> str:
    if not _FULL_NAME.fullmatch(text):
        raise ValueError("not owner/name")
    return text


class _Answered(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Licence(_Answered):
    spdx_id: Text = ""


class _Repo(_Answered):
    full_name: Annotated[str, AfterValidator(_full_name)]
    private: Annotated[bool, BeforeValidator(lambda given: given not in (False, None))] = False  # what is odd counts as so
    visibility: Text = "public"  # or private, or internal: seen within a company
    html_url: Text = ""
    description: Text = ""
    homepage: Text = ""
    fork: Flag = False
    archived: Flag = False
    created_at: Moment = None
    pushed_at: Moment = None
    stargazers_count: Count = None
    forks_count: Count = None
    language: Text = ""
    topics: Texts = ()
    license: Annotated[_Licence | None, IfAny] = None

    @property
    def is_hidden(self) -> bool:
        """Whether not everybody may see it: a token shows more than what may be told."""
        return self.private or self.visibility not in ("public", "")


class _Search(_Answered):
    total_count: Count = None
    incomplete_results: Flag = False


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list of repositories held. `total` is how many the search matched, `private` how many were left out."""

    items: tuple[Item, ...] = ()
    entries: int = 0
    skipped: int = 0
    private: int = 0
    total: int = 0
    incomplete: bool = False  # GitHub ran out of time and gave what it had


def read_search(answer: object) -> Listed:
    """Read an answer of the repository search; raises SourceChanged when it is none."""
    if not isinstance(answer, dict) or not isinstance(answer.get("items"), list):
        raise SourceChanged("GitHub's search answered without a list of repositories")
    listed = read_list(answer["items"])
    about = _Search.model_validate(answer)
    return replace(listed, total=about.total_count or listed.entries, incomplete=about.incomplete_results)


def read_list(answer: object) -> Listed:
    """Read a plain list of repositories; raises SourceChanged when it is none, or nothing in it can be read."""
    if not isinstance(answer, list):
        raise SourceChanged("GitHub answered without a list of repositories")
    repos = [_repo(entry) for entry in answer]
    skipped = sum(repo is None for repo in repos)
    if skipped == len(repos) >= ENOUGH:
        raise SourceChanged(f"none of the {skipped} repositories that GitHub lists can be read")
    read = [repo for repo in repos if repo is not None]
    items = {item.key: item for item in (_item(repo) for repo in read if not repo.is_hidden)}
    private = sum(repo.is_hidden for repo in read)
    return Listed(tuple(items.values()), len(repos), skipped, private, len(repos))


def read_repository(answer: object) -> Item | None:
    """Read one repository; None when it is private, SourceChanged when the answer is no repository."""
    repo = _repo(answer)
    if repo is None:
        raise SourceChanged("GitHub answered without the repository that was asked for")
    return None if repo.is_hidden else _item(repo)


def read_readme(answer: object) -> str:
    """Return the text of the file that GitHub's answer holds, "" when it holds none (it does not for more than 1 MB)."""
    content = answer.get("content") if isinstance(answer, dict) and answer.get("encoding") == "base64" else None
    if not isinstance(content, str):
        return ""
    try:
        return base64.b64decode(content).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def with_readme(item: Item, readme: str) -> Item:
    """Return the item with the opening of its README, and a link to the paper which that presents."""
    item = replace(item, readme=opening(readme))
    paper = None if any(link.rel == "abstract" for link in item.links) else own_paper(readme)
    return item if paper is None else replace(item, links=(*item.links, _abstract(paper)))


def _repo(answer: object) -> _Repo | None:
    try:
        return _Repo.model_validate(answer)
    except ValidationError:
        return None


def _item(repo: _Repo) -> Item:
    spdx = repo.license.spdx_id if repo.license else ""
    return Item(
        key=f"github:{repo.full_name.lower()}",
        kind=Kind.REPO,
        title=repo.full_name,
        abstract=folded(without_shortcodes(repo.description), MAX_DESCRIPTION),
        authors=(repo.full_name.partition("/")[0],),
        keywords=repo.topics,
        sources=("github",),
        links=_links(repo),
        published=repo.created_at,
        updated=repo.pushed_at,
        appeared=repo.created_at,
        license="" if spdx.upper() in _NO_LICENCE else spdx,
        language=repo.language,
        stars=repo.stargazers_count,
        forks=repo.forks_count,
        archived=repo.archived,
        fork=repo.fork,
    )


def _links(repo: _Repo) -> tuple[Link, ...]:
    """Link the repository, its home page, and the one paper that its home page or description names."""
    front = normalised_url(repo.html_url) or f"https://github.com/{repo.full_name}"
    links = [Link("code", front)]
    home = normalised_url(repo.homepage)
    papers = [paper] if (paper := arxiv_id(home)) else list(arxiv_ids_in(repo.description))
    if len(papers) == 1:
        links.append(_abstract(papers[0]))
    if home and not arxiv_id(home) and home != front:
        links.append(Link("page", home))
    return tuple(links)


def _abstract(paper: str) -> Link:
    return Link("abstract", f"https://arxiv.org/abs/{paper}")
