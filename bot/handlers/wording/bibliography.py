"""Items as bibliographies and lists that other tools read: BibTeX, RIS, Markdown. Pure.

Every address is made from the item's key, so that no foreign link is handed on.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from bot import keys
from bot.models import Item, Kind
from bot.query.fold import normalised

# The last word of what is no person, or anywhere a collaboration.
_GROUP = re.compile(
    r"(?i)\b(?:collaborations?|consortium)\b|^the\s|(?:team|group|institute|university|foundation|project|initiative|network"
    r"|society|association|committee|laborator(?:y|ies)|labs?|inc\.?|ltd\.?|llc|corp\.?|gmbh|community|developers"
    r"|contributors|authors|research)$"
)
_GENERATION = re.compile(r"(?i)jr\.?|sr\.?|ii|iii|iv")
_JOINTS = frozenset({"y", "e", "i"})  # Ramón y Cajal, Costa e Silva, Puig i Cadafalch
_OTHERS = re.compile(r"(?i)(?:and\s+)?(?:et\s+al\.?|others)")


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name in parts; of a group, and of who has one name only, `last` is all of it and `whole` is True."""

    last: str  # with its particles: "van Beethoven"
    first: str = ""
    generation: str = ""  # "Jr."
    whole: bool = False


def _names_of(authors: tuple[str, ...]) -> tuple[list[Name], bool]:
    """Return the names, and whether there are others that the source did not name ("et al.")."""
    said = [" ".join(author.split()) for author in authors]
    names = [name_of(author) for author in said if any(map(str.isalnum, author)) and not _OTHERS.fullmatch(author)]
    return names, any(_OTHERS.fullmatch(author) for author in said)


def name_of(text: str) -> Name:
    """Return one name, written "First Last" or "Last, First", in its parts."""
    words = text.split()
    if _GROUP.search(text) or re.search(r"(?i)\band\b|[\d&/:;@]", text):
        return Name(text, whole=True)
    if "," in text:
        return _turned_round([part.strip() for part in text.split(",") if part.strip()])
    generation = words.pop() if len(words) > 2 and _GENERATION.fullmatch(words[-1]) else ""
    if len(words) < 2:
        return Name(text, whole=True)
    start = _start_of_last(words)
    return Name(" ".join(words[start:]), " ".join(words[:start]), generation)


def _turned_round(parts: list[str]) -> Name:
    """A name that its source wrote with the last part first: "Smith, Jr., John", "Smith, John, Jr.", "Smith, John"."""
    generation = next((part for part in parts[1:] if _GENERATION.fullmatch(part)), "")
    rest = [part for part in parts[1:] if part != generation]
    if not parts or not (rest or generation):
        return Name(" ".join(parts), whole=True)
    return Name(parts[0], " ".join(rest), generation)


def _start_of_last(words: list[str]) -> int:
    """Where the last name begins: at the first particle in lower case behind a first name, else at the last word."""
    for at in range(1, len(words) - 1):
        if words[at] in _JOINTS:
            return max(at - 1, 1)
        if words[at][:1].islower():
            # "Van den Berg": the particle before is one too, whatever its case.
            return at - 1 if at > 1 and words[at - 1] in ("Van", "Von", "De", "Della") else at
    return len(words) - 1


# BibTeX's and biblatex's own abbreviations of the months, which every style defines.
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SAYS_LITTLE = frozenset(
    {"the", "and", "for", "with", "from", "into", "onto", "via", "towards", "toward", "using", "how", "what"}
)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~&])")
_AUTHORS_LISTED = 4  # in Markdown, which is for readers


@dataclass(frozen=True, slots=True)
class _Work:
    """What a bibliography says of an item, each text on one line."""

    item: Item
    title: str
    names: tuple[Name, ...]
    others: bool  # there are more authors than these
    when: datetime | None
    url: str
    arxiv: str = ""
    doi: str = ""


def bibtex(items: Sequence[Item]) -> str:
    """Return a .bib file: `@misc` with the eprint for arXiv's papers, `@software` for repositories, `@misc` for the rest.

    Classic styles treat `@software` as `@misc`, after a warning. Each entry has a key of its own.
    """
    taken: set[str] = set()
    return "\n".join(_bibtex_entry(work, _unused(_citation_key(work), taken)) for work in map(_work, items))


def ris(items: Sequence[Item]) -> str:
    """Return an RIS file. A paper of arXiv is what ADS and DBLP make of it, an article in "arXiv e-prints"."""
    return "".join(f"{tag}  - {value}\r\n" for work in map(_work, items) for tag, value in _ris_lines(work))


def markdown(items: Sequence[Item], title: str) -> str:
    """Return a list in Markdown (CommonMark), an item a line."""
    return "\n".join([f"# {_escaped(_line(title))}", "", *map(_markdown_line, map(_work, items)), ""])


def url_of(key: str) -> str:
    """Return where the item of this key can be read, "" when the key leads nowhere."""
    scheme, _, rest = key.partition(":")
    match scheme:
        case "arxiv":
            return f"https://arxiv.org/abs/{quote(rest, safe='/.')}"
        case "doi":
            return f"https://doi.org/{quote(rest, safe='/:;().,_-')}"
        case "github":
            return f"https://github.com/{quote(rest, safe='/._-')}"
        case _:
            return keys.normalised_url(rest)


def _work(item: Item) -> _Work:
    names, others = _names_of(tuple(map(_line, item.authors)))
    known = (item.key, *item.aliases)
    return _Work(
        item,
        _line(item.title) or item.key,
        tuple(names),
        others,
        (item.updated or item.published) if item.kind is Kind.REPO else (item.published or item.appeared),
        url_of(item.key),
        next((key[6:] for key in known if key.startswith("arxiv:")), ""),
        next((key[4:] for key in known if key.startswith("doi:") and not set(key) & set("{}\\")), ""),
    )


def _line(text: str) -> str:
    """The text on one line, without control characters and what reorders text; half a character becomes U+FFFD."""
    kept = (
        char for char in " ".join(text.split()) if char in "\u200c\u200d" or unicodedata.category(char) not in ("Cc", "Cf")
    )
    return "".join("\ufffd" if unicodedata.category(char) == "Cs" else char for char in kept)


# --- BibTeX


def _bibtex_entry(work: _Work, key: str) -> str:
    fields = "".join(f"  {name} = {value},\n" for name, value in _bibtex_fields(work))
    return f"@{'software' if work.item.kind is Kind.REPO else 'misc'}{{{key},\n{fields}}}\n"


def _bibtex_fields(work: _Work) -> Iterator[tuple[str, str]]:
    # Twice in braces: styles would put a title in lower case, GPUs and all.
    yield "title", f"{{{{{to_latex(work.title)}}}}}"
    if work.names:
        people = [*map(_bibtex_name, work.names), *(["others"] if work.others else [])]
        yield "author", f"{{{' and '.join(people)}}}"
    if work.when is not None:
        yield "year", f"{{{work.when.year}}}"
        yield "month", _MONTHS[work.when.month - 1]
    if work.arxiv:
        yield "eprint", f"{{{work.arxiv}}}"
        yield "archivePrefix", "{arXiv}"
        if work.item.categories:
            yield "primaryClass", f"{{{to_latex(_line(work.item.categories[0]))}}}"
    if work.doi:
        yield "doi", f"{{{work.doi}}}"
    if work.url:
        yield "url", f"{{{work.url}}}"
    if abstract := _line(work.item.abstract):
        yield "abstract", f"{{{to_latex(abstract)}}}"
    if work.item.keywords:
        yield "keywords", f"{{{to_latex(', '.join(map(_line, work.item.keywords)))}}}"


def _bibtex_name(name: Name) -> str:
    """Return "Last, Jr., First" (BibTeX's own order), or a group between braces."""
    if name.whole:
        return f"{{{to_latex(name.last)}}}"
    return ", ".join(to_latex(part) for part in (name.last, name.generation, name.first) if part)


def _citation_key(work: _Work) -> str:
    """Return "lovelace2026attention": the first author, the year, the first word of the title that says something."""
    last = _ascii(work.names[0].last) if work.names else ""
    words = (_ascii(word) for word in work.title.split())
    word = next((word for word in words if len(word) > 2 and word not in _SAYS_LITTLE), "")
    year = str(work.when.year) if work.when is not None else ""
    return f"{last}{year}{word}" if last and word else _ascii(work.item.key)


def _ascii(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", normalised(text))[:40]


def _unused(key: str, taken: set[str]) -> str:
    """Return the key, with a number behind it when another entry has it."""
    chosen, number = key, 1
    while chosen in taken:
        number += 1
        chosen = f"{key}-{number}"
    taken.add(chosen)
    return chosen


# --- LaTeX
#
# What BibTeX, biber and LaTeX all read. Accented and special Latin letters become commands in braces (`{\"o}`): BibTeX,
# which knows bytes, would otherwise cut them in two when it abbreviates a first name. Other scripts stay as they are, which
# biber and today's LaTeX read. Braces become mathematics (`$\lbrace$`), since BibTeX counts every brace, an escaped one too.

_SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    "{": "$\\lbrace$",
    "}": "$\\rbrace$",
    "\\": "$\\backslash$",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "~": "{\\textasciitilde}",
    "^": "{\\textasciicircum}",
    '"': "{''}",
}
_LETTERS = {
    "ß": "ss",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "Ł": "L",
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "Œ": "OE",
    "å": "aa",
    "Å": "AA",
}
_LETTERS |= {"ı": "i", "ȷ": "j", "đ": "dj", "Đ": "DJ", "ð": "dh", "Ð": "DH", "þ": "th", "Þ": "TH", "ŋ": "ng", "Ŋ": "NG"}
# Combining marks, and the accents that LaTeX sets (LaTeX2e: An unofficial reference manual, "Accents")
_ABOVE = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c", "`'^~=u.\"rHv", strict=True))
_BELOW = dict(zip("\u0323\u0327\u0328\u0331", "dckb", strict=True))
_ACCENTS = {**_ABOVE, **_BELOW}


def to_latex(text: str) -> str:
    """Return one line of text for a field of a BibTeX entry; its braces are balanced."""
    return "".join(map(_char, unicodedata.normalize("NFC", text)))


def _char(char: str) -> str:
    if char.isascii():
        return _SIGNS.get(char, char)
    if char in _LETTERS:
        return f"{{\\{_LETTERS[char]}}}"
    base, *marks = list(unicodedata.normalize("NFD", char))
    if not marks or not base.isascii() or not all(mark in _ACCENTS for mark in marks):
        return char
    written = base
    for mark in marks:
        accent = _ACCENTS[mark]
        if written in "ij" and mark in _ABOVE:
            written = f"\\{written}"
        bare = written.startswith("{") or (len(written) == 1 and not accent.isalpha())
        written = f"{{\\{accent}{written}}}" if bare else f"{{\\{accent}{{{written}}}}}"
    return written


# --- RIS


def _ris_lines(work: _Work) -> Iterator[tuple[str, str]]:
    item = work.item
    yield "TY", {Kind.PAPER: "JOUR", Kind.REPO: "COMP", Kind.POST: "BLOG"}[item.kind]
    yield "TI", work.title
    for name in work.names:
        yield "AU", _ris_name(name)
    if work.when is not None:
        yield "PY", str(work.when.year)
        yield "DA", f"{work.when:%Y/%m/%d}"
    if work.arxiv:
        yield "T2", "arXiv e-prints"
        yield "AN", f"arXiv:{work.arxiv}"
    # DataCite has registered a DOI for every paper of arXiv (info.arxiv.org/help/doi.html).
    if doi := work.doi or (work.arxiv and f"10.48550/arXiv.{work.arxiv}"):
        yield "DO", doi
    if work.url:
        yield "UR", work.url
    if abstract := _line(item.abstract):
        yield "AB", abstract
    for keyword in filter(None, map(_line, item.keywords)):
        yield "KW", keyword
    yield "ER", ""


def _ris_name(name: Name) -> str:
    """Return "Last, First, Jr."; a comma within a group's name would make a person of it."""
    if name.whole:
        return name.last.replace(",", "")
    return ", ".join(part for part in (name.last, name.first, name.generation) if part)


# --- Markdown


def _markdown_line(work: _Work) -> str:
    title = _escaped(work.title)
    linked = f"[{title}](<{work.url}>)" if work.url else title
    people = [" ".join(part for part in (name.first, name.last, name.generation) if part) for name in work.names]
    more = " et al." if len(people) > _AUTHORS_LISTED or work.others else ""
    year = f" ({work.when.year})" if work.when is not None else ""
    said = f" — {_escaped(', '.join(people[:_AUTHORS_LISTED]))}{more}" if people else ""
    return f"- {linked}{said}{year}"


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)
