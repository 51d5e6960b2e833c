"""What Hugging Face's list of a day says, as items. Pure: JSON in, items out.

Of an entry only the arXiv id and a title must be there. The other fields came one by one since 2024 (`organization`,
`summary` at the top, `submittedOnDailyAt`, `ai_keywords`, `githubRepo`, `githubStars`), and some went again.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from bot.errors import SourceChanged
from bot.keys import arxiv_id, github_repos_in, key_of_url, normalised_url
from bot.models import Item, Kind, Link
from bot.sources.arxiv.paper import month_of
from bot.sources.json_answers import Count, Flag, IfAny, Moment, Text, Texts, objects
from bot.sources.markup.tex import readable

MAX_TITLE = 500  # characters
ENOUGH = 5  # entries, from which on the same fault in all of them is a change of shape and no accident


class _Answered(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel)


class _Author(_Answered):
    name: Text = ""
    hidden: Flag = False


class _Organisation(_Answered):
    name: Text = ""
    fullname: Text = ""


class _Paper(_Answered):
    id: str
    title: Text = ""
    summary: Text = ""
    authors: Annotated[tuple[_Author, ...], BeforeValidator(objects)] = ()
    published_at: Moment = None
    submitted_on_daily_at: Moment = None
    upvotes: Count = None
    ai_keywords: Annotated[Texts, Field(alias="ai_keywords")] = ()
    organization: Annotated[_Organisation | None, IfAny] = None
    github_repo: Text = ""
    github_stars: Count = None
    project_page: Text = ""


class _Entry(_Answered):
    paper: _Paper
    title: Text = ""
    summary: Text = ""
    organization: Annotated[_Organisation | None, IfAny] = None
    num_comments: Count = None


@dataclass(frozen=True, slots=True)
class Day:
    """A day's papers, each followed by its repository where the stars of that are given.

    `entries` is how many were listed, `skipped` how many of them could not be read; `notes` tell what is missing in all.
    """

    items: tuple[Item, ...] = ()
    entries: int = 0
    skipped: int = 0
    notes: tuple[str, ...] = ()


def read_day(answer: object, day: date) -> Day:
    """Read the list of a day; raises SourceChanged when it is no list, or one in which nothing can be read."""
    if not isinstance(answer, list):
        raise SourceChanged(f"Hugging Face sent no list of papers for {in_words(day)}")
    read = [_items(entry, day) for entry in answer]
    found = tuple(item for items in read for item in items)
    skipped = sum(not items for items in read)
    if skipped == len(read) >= ENOUGH:
        raise SourceChanged(f"none of the {skipped} entries that Hugging Face lists for {in_words(day)} can be read")
    return Day(found, len(read), skipped, _missing(found))


def read_paper(answer: object) -> tuple[Item, ...]:
    """Read one paper as its own address answers it, followed by its repository where the stars of that are given.

    It is what a list has as `paper`; raises SourceChanged when it is none. A paper without any date is of the month of its
    number: what has no date would be taken for new.
    """
    found = _items({"paper": answer}, None)
    if not found:
        raise SourceChanged("Hugging Face answered without the paper that was asked for")
    paper, *code = found
    if paper.published is None and paper.appeared is None:
        paper = replace(paper, published=month_of(paper.key.removeprefix("arxiv:")))
    return (paper, *code)


def in_words(day: date) -> str:
    """Return the day for a sentence: 1 April 2026."""
    return f"{day.day} {day:%B %Y}"


def _missing(items: tuple[Item, ...]) -> tuple[str, ...]:
    papers = [item for item in items if item.kind is Kind.PAPER]
    if len(papers) < ENOUGH:
        return ()
    lost = []
    if all(paper.upvotes is None for paper in papers):
        lost.append("upvotes are no longer given")
    if not any(paper.abstract for paper in papers):
        lost.append("abstracts are no longer given")
    return tuple(lost)


def _items(raw: object, day: date | None) -> tuple[Item, ...]:
    """Return the paper, and its repository where its stars are known; nothing when there is no arXiv id or no title.

    It was listed on the day where that is given; where not, it may never have been.
    """
    try:
        entry = _Entry.model_validate(raw)
    except ValidationError:
        return ()
    identifier = arxiv_id(entry.paper.id[:100])
    title = _readable(entry.paper.title or entry.title)[:MAX_TITLE].rstrip()
    if identifier is None or not title:
        return ()
    paper = _paper(entry, identifier, title, day)
    repo = _repo(entry.paper, paper)
    return (paper,) if repo is None else (paper, repo)


def _paper(entry: _Entry, identifier: str, title: str, day: date | None) -> Item:
    paper = entry.paper
    organisation = paper.organization or entry.organization or _Organisation()
    return Item(
        key=f"arxiv:{identifier}",
        kind=Kind.PAPER,
        title=title,
        abstract=_readable(paper.summary or entry.summary),
        authors=tuple(author.name for author in paper.authors if author.name and not author.hidden),
        org=organisation.fullname or organisation.name,
        keywords=paper.ai_keywords,
        sources=("huggingface",),
        links=tuple(_links(paper, identifier, paper.summary or entry.summary)),
        published=paper.published_at,
        appeared=paper.submitted_on_daily_at or (datetime.combine(day, time(), UTC) if day else None),
        upvotes=paper.upvotes,
        comments=entry.num_comments,
    )


# --- lost backslashes

_GREEK = (
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|chi|psi|omega|ell|"
    "Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega"
)
_FONTS = (
    "math(?:cal|bb|bf|rm|it|sf|frak)|boldsymbol|text(?:bf|it|tt|sc|superscript|subscript)|emph|underline|overline|"
    "operatorname|widetilde"
)
_APART = r"(?<![\\\w/.-])"  # not in a word, an address or a name with a hyphen, and not where the backslash is still there
# Macros come without their backslashes (`17.9times`, `sim25`, `66.3 %rightarrow72.9`), in one abstract of thirty. They are
# put back where nothing else can be meant: `4 times`, `sim2real`, `PixArt-alpha` and `muP` are words, and stay. What the
# service did to arXiv's text was counted on the 2,723 papers of 409 days whose abstract is known from arXiv, too.
_LOST: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (r"\^\{?circ\}?", r"^{\\circ}"),
        (r"\^\{?(?:star|ast|\*)\}?(?![\w{])", "*"),  # `FaSTA^*`, which lost its dollars
        (r"(?<=[A-Za-z])\^(\d)(?=[A-Z])", r"^{\1}"),  # `A^2Search`
        (r"(?<=[\d)}%])times(?=sim\d|[^a-z]|$)", r"\\times{}"),
        (r"(?<=\d) times (?=\d)", r" \\times{} "),
        (r"(?<![\w-])times(?=\d)", r"\\times{}"),
        (r"(?<=\d)sim(?=\d)|(?<![\w/-])sim ?(?=\d[\d.%])|(?<![\w/-])sim(?=\d(?![A-Za-z]{2}|D))", r"\\sim{}"),
        (r"(?<![\\a-z/])((?:left|right|leftright|Left|Right|up|down|longright)arrow)(?![a-z])", r"\\\1{}"),
        (rf"{_APART}(leq(?:slant)?|geq(?:slant)?|neq|propto|infty|cdot|nabla|varepsilon|varphi)(?![a-z])", r"\\\1{}"),
        (r"(?<=\d)(propto|cdot)(?![a-z])", r"\\\1{}"),
        (rf"{_APART}approx(?=\d)", r"\\approx{}"),
        (rf"(?<=\d) ?pm ?(?=\d*\.\d)|{_APART}pm(?!10\b|2\.5)(?=\d)", r"\\pm{}"),
        (rf"{_APART}({_GREEK})(?=[_^](?:[{{*\d]|[A-Za-z](?![A-Za-z]))| ?[=<>≤≥] ?-?\.?\d)", r"\\\1"),
        (rf"(?<![\\A-Za-z])({_FONTS})(?=\{{)", r"\\\1"),
        (r"\{(bf|it|em|tt|sc|rm) (?=\w)", r"{\\\1 "),
        (r"(?<=[a-z])x2013(?=[a-z])", "–"),
        (r"(?<=[a-z])x2014(?=[a-z])", "—"),
    )
)


# What stood between dollars or braces of its own is only seen to touch a figure once these are gone.
_TIMES = re.compile(r"(?<=\d)times(?![a-z])")
_ABOUT = re.compile(r"(?<![\w-])sim ?(?=\d[\d.%])")


def _readable(text: str) -> str:
    """Return the text as `readable` does, with the backslashes that it has surely lost."""
    for lost, put in _LOST:
        text = lost.sub(put, text)
    return _ABOUT.sub("~", _TIMES.sub("×", readable(text)))


def _links(paper: _Paper, identifier: str, abstract: str) -> list[Link]:
    """Link the abstract, the discussion, and what the authors gave: code and project page, of the web only.

    Where no code is given (two papers of three), the repository that the abstract names is taken.
    """
    named = github_repos_in(abstract.replace("\\_", "_"))[:1]
    links = {
        f"https://arxiv.org/abs/{identifier}": "abstract",
        f"https://huggingface.co/papers/{identifier}": "discussion",
        _code(paper.github_repo) or "".join(f"https://github.com/{repo}" for repo in named): "code",
    }
    links.setdefault(normalised_url("".join(paper.project_page.split())), "page")
    return [Link(rel, url) for url, rel in links.items() if url]


def _code(address: str) -> str:
    """Return the address of a paper's code: of a repository its front page, of a folder in one the folder itself.

    A folder of a larger repository is linked but not joined with it: the stars there are not this paper's.
    """
    url = normalised_url("".join(address.split()))
    if not key_of_url(url).startswith("github:"):
        return url
    owner, name = urlsplit(url).path.split("/")[1:3]
    return f"https://github.com/{owner}/{name.removesuffix('.git')}"


def _repo(paper: _Paper, item: Item) -> Item | None:
    """Return the paper's repository with the stars that are given for it, so that they are read every day."""
    url = _code(paper.github_repo)
    key = key_of_url(url)
    if paper.github_stars is None or not key.startswith("github:"):
        return None
    owner, name = urlsplit(url).path.split("/")[1:3]
    return Item(
        key=key,
        kind=Kind.REPO,
        title=f"{owner}/{name}",
        authors=(owner,),
        sources=("huggingface",),
        links=(Link("code", url),),
        appeared=item.appeared,
        stars=paper.github_stars,
        paper=item.key,
    )
