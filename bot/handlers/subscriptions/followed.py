"""What is followed: what a person typed or a profile's link names, and the topic that is made of it. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from bot import keys
from bot.errors import UsageError
from bot.handlers.clauses import normalised, read_topic_query
from bot.handlers.context import slug
from bot.handlers.topics.create import LONGEST_NAME, free_name
from bot.models import LONGEST_TITLE, And, Label, Query, Term, Topic
from bot.query import parse
from bot.wording import shortened

HOW = (
    'Follow an author (*follow author:"Tri Dao"*), an organisation (*follow org:nvidia*), a repository'
    ' (*follow owner/name*), words (*follow "KV cache"*), or a profile on arXiv, Hugging Face or GitHub by its link.'
)
_HANDLE = re.compile(r"[\w.-]{1,96}", re.ASCII)
_AUTHOR_PAGE = re.compile(r"([a-z'-]+(?:_[a-z'-]+)*)_([a-z])_\d{1,4}")  # mao_r_1, van_den_berg_a_2
_ADDRESS = re.compile(r"(?:https?://)?((?:[\w-]+\.)+[a-z]{2,}/\S*)", re.IGNORECASE)
_NAME_WORD = re.compile(r"[^\W\d_][^\W\d_'’.-]*(?:['’.-][^\W\d_]*)*")
# The first words of Hugging Face's paths that are no people's and no organisation's.
_NO_HANDLE = frozenset(
    {"papers", "models", "datasets", "spaces", "docs", "blog", "collections", "learn", "tasks", "settings", "join", "login"}
)
# Why nobody can be followed there.
_CLOSED = {
    "scholar.google": "Google Scholar lets no program read its profiles.",
    "semanticscholar.org": "Semantic Scholar is not collected.",
    "dblp.org": "dblp is not collected.",
    "openreview.net": "OpenReview is not collected.",
    "orcid.org": "ORCID is not collected.",
    "researchgate.net": "ResearchGate is not collected.",
    "linkedin.com": "LinkedIn is not collected.",
    "twitter.com": "X is not collected.",
    "x.com": "X is not collected.",
}


@dataclass(frozen=True, slots=True)
class Initials:
    """An author of whom a link tells the family name and the first letter of the first name alone."""

    last: str
    first: str  # one letter

    def fits(self, name: str) -> bool:
        """Say whether a name as papers print it, "Rui Mao", may be the author's."""
        words = [slug(word) for word in name.split()] or [""]
        return " ".join(words).endswith(slug(self.last).replace("-", " ")) and words[0][:1] == self.first.lower()


@dataclass(frozen=True, slots=True)
class Followed:
    """What is followed: who enters, and what people call it."""

    query: Query
    title: str
    name: str  # as a topic's, not yet free
    repositories: tuple[str, ...] = ()  # what is asked of GitHub for it

    @property
    def is_repository(self) -> bool:
        """Whether it is one repository alone."""
        return isinstance(self.query.tree, Label)

    def topic(self, topics: Mapping[str, Topic]) -> Topic:
        """Return the topic of it, under a name that none of these has."""
        return Topic(
            name=free_name(self.name, topics),
            title=self.title,
            query=self.query,
            repositories=self.repositories,
            followed=True,
        )

    def standing(self, topics: Mapping[str, Topic]) -> Topic | None:
        """Return that one of the topics which follows just this, None when there is none."""
        wanted = normalised(self.query.tree)
        return next((each for each in topics.values() if each.followed and normalised(each.query.tree) == wanted), None)


def read_followed(text: str) -> Followed | Initials:
    """Return what the text says is to be followed: a query, `owner/name`, or a profile's link.

    Raises UsageError for what cannot be followed; it says why, and what can.
    """
    typed = " ".join(text.split())
    if found := _ADDRESS.fullmatch(typed):
        return _linked(urlsplit(f"https://{found[1]}"))
    if keys.is_owner_and_name(typed):
        return _repository(typed)
    query = read_topic_query(typed, "follow")
    if isinstance(query.tree, Label) and query.tree.field == "id":
        return _by_id(query.tree.value)
    if query.tree == And(()):
        raise UsageError("Everything cannot be followed.", hint=HOW)
    return _made(query)


def standing_of(text: str, topics: Mapping[str, Topic]) -> str:
    """Return the name of that one of the topics which follows what the text says; "" where none does."""
    try:
        found = read_followed(text)
    except UsageError:
        return ""
    if isinstance(found, Followed):
        standing = found.standing(topics)
    else:
        standing = next((each for each in topics.values() if each.followed and found.fits(_author_in(each))), None)
    return standing.name if standing else ""


def _author_in(topic: Topic) -> str:
    tree = topic.query.tree
    return tree.text if isinstance(tree, Term) and tree.field == "author" else ""


def author(name: str) -> Followed:
    """Return that an author of this name is followed."""
    last, comma, first = name.partition(",")
    whole = " ".join((f"{first} {last}" if comma else name).replace('"', " ").split())
    return Followed(parse(f'author:"{whole}"'), _title("Author", whole), _name("author", whole))


def bare_name(query: Query) -> str:
    """Return the words of a query of two to four bare words that may be a person's name; "" for any other."""
    parts = query.tree.parts if isinstance(query.tree, And) else ()
    words = [part.text for part in parts if isinstance(part, Term) and not (part.field or part.quoted or part.prefix)]
    is_name = 2 <= len(words) == len(parts) <= 4 and all(_NAME_WORD.fullmatch(word) for word in words)
    return " ".join(words) if is_name else ""


# --- links


def _linked(parts: SplitResult) -> Followed | Initials:
    host = (parts.hostname or "").removeprefix("www.")
    path = [unquote(piece) for piece in parts.path.split("/") if piece]
    for place, why in _CLOSED.items():
        if host == place or host.startswith(f"{place}.") or host.endswith(f".{place}"):
            raise UsageError(why, hint='By name: *follow author:"First Last"* finds what is collected of the author.')
    read = _READ.get(host.removeprefix("export."))
    found = read(path, parse_qs(parts.query)) if read else None
    if found is None:
        raise UsageError("That link names nobody whom I can follow.", hint=HOW)
    return found


def _on_arxiv(path: Sequence[str], asked: Mapping[str, Sequence[str]]) -> Followed | Initials | None:
    if path[:1] == ["a"] and len(path) > 1 and (found := _AUTHOR_PAGE.match(path[1].lower())):
        return Initials(found[1].replace("_", " ").title(), found[2])
    if path[:1] == ["search"]:
        words = " ".join((asked.get("query") or asked.get("terms-0-term") or ("",))[0].replace('"', " ").split())
        kind = (asked.get("searchtype") or asked.get("terms-0-field") or ("all",))[0]
        if words and kind == "author":
            return _author_of_search(words)
        return _made(parse(f'"{words}"')) if words and kind in ("all", "title", "abstract") else None
    if path[:1] == ["list"] and len(path) > 1:
        return _made(parse(f"category:{path[1]}"))
    return _paper() if path[:1] and path[0] in ("abs", "pdf", "html") else None


def _author_of_search(words: str) -> Followed | Initials:
    """`Mao, R` names a family and one letter, `Mao, Rui` the author."""
    last, _, first = (piece.strip() for piece in words.partition(","))
    return Initials(last, first[0]) if first and len(first.rstrip(".")) == 1 else author(words)


def _on_hugging_face(path: Sequence[str], _asked: Mapping[str, Sequence[str]]) -> Followed | None:
    if path[:1] == ["papers"]:
        return _paper()
    if len(path) == 2 and path[0] == "organizations":
        path = path[1:]
    if len(path) != 1 or path[0] in _NO_HANDLE or not _HANDLE.fullmatch(path[0]):
        return None
    return organisation(path[0])


def organisation(handle: str) -> Followed:
    """Return that an organisation is followed, by its handle or name."""
    return _made(parse(f'org:"{handle}"'))


def _on_github(path: Sequence[str], _asked: Mapping[str, Sequence[str]]) -> Followed | None:
    if path[:1] == ["topics"] and len(path) == 2 and _HANDLE.fullmatch(path[1]):
        return _made(parse(f"topic:{path[1].lower()} kind:repo"))
    if len(path) == 2 and path[0] == "orgs":
        path = path[1:]
    if len(path) == 1 and (owner := keys.github_owner(path[0])):
        return _made(parse(f"author:{owner} kind:repo"))
    repository = keys.github_repo(f"https://github.com/{'/'.join(path)}")
    return _repository(repository) if repository else None


_READ: Mapping[str, Callable[[Sequence[str], Mapping[str, Sequence[str]]], Followed | Initials | None]] = {
    "arxiv.org": _on_arxiv,
    "huggingface.co": _on_hugging_face,
    "hf.co": _on_hugging_face,
    "github.com": _on_github,
}


# --- queries


def _by_id(value: str) -> Followed:
    repository = value.removeprefix("github:")
    return _repository(repository) if keys.is_owner_and_name(repository) else _paper()


def _paper() -> Followed:
    """Nothing further happens to a paper that a digest would tell."""
    raise UsageError(
        "A paper itself is not followed.", hint="*similar ITEM* finds what is close to it, *save ITEM* keeps it."
    )


def _repository(name: str) -> Followed:
    name = name.lower().removesuffix(".git")
    return Followed(parse(f"id:{name}"), _title("Repository", name), _name("repo", name), (f"repo:{name}",))


_CALLED = {"author": "Author", "org": "Organisation", "topic": "Keyword", "title": "Title", "abstract": "Abstract"}


def _made(query: Query) -> Followed:
    tree = query.tree
    if isinstance(tree, Term) and not tree.prefix:
        if tree.field == "author":
            return author(tree.text)
        called = _CALLED.get(tree.field, "")
        return Followed(query, _title(called, tree.text), _name(tree.field, tree.text))
    title = shortened(" ".join(query.text.split()), LONGEST_TITLE)
    return _of_repositories(query) or Followed(query, title, _name("", query.text))


def _of_repositories(query: Query) -> Followed | None:
    """Return that the repositories of an owner or of one of GitHub's topics are followed, where the query asks for these."""
    parts = query.tree.parts if isinstance(query.tree, And) else ()
    terms = [part for part in parts if isinstance(part, Term) and not part.prefix]
    if len(parts) != 2 or len(terms) != 1 or Label("kind", "repo") not in parts:
        return None
    text = terms[0].text.lower()
    if terms[0].field == "author" and keys.github_owner(text):
        return Followed(query, _title("GitHub", text), _name("github", text), (f"user:{text}",))
    if terms[0].field == "topic" and _HANDLE.fullmatch(text):
        return Followed(query, _title("GitHub topic", text), _name("github topic", text), (f"topic:{text}",))
    return None


def _title(called: str, what: str) -> str:
    return shortened(f"{called}: {what}" if called else what, LONGEST_TITLE)


def _name(called: str, what: str) -> str:
    return slug(f"{called} {what}")[:LONGEST_NAME].rstrip("-") or "followed"
