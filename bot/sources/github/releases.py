"""What GitHub says of a repository's releases. Pure: JSON in, the latest release out.

Shape: docs.github.com/rest/releases/releases, "List releases". A draft, which a token may show, is never told of.
"""

import re
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from bot.errors import SourceChanged
from bot.models import Release
from bot.sources.json_answers import Flag, Moment, Text, folded, objects
from bot.sources.markup.readme_opening import opening

PAGE = 10  # releases that are asked for: each comes with a list of its files, which may be long
NOTES = 600  # characters of the notes that are kept
AHEAD = timedelta(days=1)  # how far the clocks of others may be; who dates a release later is not believed
LONGEST_TAG = 255  # characters; the longest name that git gives to a reference
_LONGEST_NAME = 200

# Chapters of notes that do not say what is new, by the beginning of their heading.
_ASIDE = re.compile(
    r"(?i)\W*(?:(?:how to|the|our|new|all)\s+)?(?:install\w*|downloads?|upgrad\w+|updating|assets?|artifacts?|checksums?|"
    r"sha-?\d+|verif\w+|signatures?|docker\w*|containers?|images?|contribut\w+|first[- ]time|thank\w*|acknowledge?\w*|"
    r"credits|sponsors?|support|full change ?log|commits?|dependenc\w+|internal|chores?|ci\b|build\w*|tests?\b|testing|"
    r"requirements?|compatib\w+|links|table of contents|contents|housekeeping|maintenance|miscellaneous|docs|documentation)"
)
_PERSON = r"@[\w-]{1,39}(?:\[bot\])?"
_PEOPLE = rf"{_PERSON}(?:(?:,| and| &|, and) {{1,3}}{_PERSON}){{0,20}}"
_NUMBER = r"(?:(?:[\w.-]{1,100}/[\w.-]{1,100})?#\d{1,7}|GH-\d{1,7})"
_COMMIT_ID = r"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}"  # with a letter and a figure: 1000000 is a number
# `[#12](https://…)`, `[`ab12cd3`](https://…)`, `[@ada](https://…)`: a link to a change or a person.
_LINKED = re.compile(rf"\[(?:({_NUMBER}|{_PERSON})|`?({_COMMIT_ID})`?)\]\([^()\s]{{1,500}}\)", re.IGNORECASE)
_ADDRESS = re.compile(r"<?https?://[^\s)>\]]{1,2000}>?")
# ` by @ada in #12`, ` (thanks to @ada)`, ` (@ada)`, at the end ` @ada`: who did it, and where.
_CREDIT = re.compile(
    r"(?:(?<=[^\s*+-])[ ,;–—-]{0,5})?(?:"
    r"[(\[]?\b(?:(?:contributed |reported |implemented |authored )?by|thanks(?: to)?|thx|via|from)[: ]{1,3}"
    rf"{_PEOPLE}(?: in\b(?: {_NUMBER})?)?[)\]]?|[(\[]{_PEOPLE}[)\]]|{_PEOPLE}$)",
    re.IGNORECASE,
)
# ` (#12, #13)`, ` (ab12cd3)`; at the end ` in PR #12`, `, closes #12`: the number of a change, not the change.
_REFERENCE = re.compile(rf"[ ,;]{{0,5}}[(\[](?:(?:{_NUMBER}|{_COMMIT_ID})[,; ]{{0,3}}){{1,20}}[)\]]", re.IGNORECASE)
_LAST_REFERENCE = re.compile(  # what it took it does not give back: of a line of nothing but numbers, all would be tried
    r"[ ,;]{1,5}+(?:(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|in):? )?(?:(?:PRs?|pull requests?|issues?) )?"
    rf"(?:{_NUMBER}[,;. ]{{0,3}}+){{1,20}}+$",
    re.IGNORECASE,
)
_NEEDS_NUMBER = re.compile(r"\b(?:for|of|to|from|with|and|on|by|issues?|PRs?)$", re.IGNORECASE)  # `a fix for issue #12`
_CONTRIBUTOR = re.compile(
    rf"^\s{{0,8}}(?:[-*+] {{1,4}})?(?:[A-Z][\w.'-]{{0,30}} ){{0,4}}{_PEOPLE}$"
)  # `- Ada Lovelace @ada`
_COMMIT = re.compile(rf"^(\s{{0,8}}[-*+] {{1,4}}|)`?{_COMMIT_ID}`?:? ", re.IGNORECASE)
# GitHub shows each line of notes as one; longer ones were broken by an editor, and go on in the next.
_PROSE = re.compile(r"[^\s#>|`<*+=~-]")
_BROKEN = 60  # characters
_LOOKED_AT = 20_000  # characters of the notes


class _Release(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    tag_name: Text = ""
    name: Text = ""
    body: Annotated[str, BeforeValidator(lambda given: given if isinstance(given, str) else "")] = ""
    draft: Annotated[bool, BeforeValidator(lambda given: given not in (False, None))] = False  # what is odd counts as one
    prerelease: Flag = False
    published_at: Moment = None

    def is_out(self, now: datetime) -> bool:
        """Tell whether it can be told of: published, not in the future, and with a name."""
        published = self.published_at is not None and self.published_at <= now + AHEAD
        return published and not self.draft and 0 < len(self.tag_name) <= LONGEST_TAG


def read_releases(answer: object, now: datetime) -> Release | None:
    """Return the latest release of a list of them: a stable one where there is one, else the latest prerelease.

    None where nothing is published by now. Raises SourceChanged when the answer is no list of releases.
    """
    if not isinstance(answer, list):
        raise SourceChanged("GitHub answered without a list of releases")
    read = [_release(entry) for entry in objects(answer)]
    if answer and not any(read):
        raise SourceChanged(f"none of the {len(answer)} releases that GitHub lists can be read")
    out = [release for release in read if release is not None and release.is_out(now)]
    latest = max(out, key=lambda release: (not release.prerelease, release.published_at), default=None)
    return None if latest is None or latest.published_at is None else _told(latest, latest.published_at)


def _release(entry: object) -> _Release | None:
    try:
        release = _Release.model_validate(entry)
    except ValidationError:
        return None
    return release if release.tag_name else None


def _told(release: _Release, published: datetime) -> Release:
    return Release(
        tag=release.tag_name,
        published=published,
        name=folded(release.name, _LONGEST_NAME),
        prerelease=release.prerelease,
        notes=notes_opening(release.body),
    )


def notes_opening(body: str) -> str:
    """Return the opening of release notes as text, at most 600 characters, without links, people and numbers of changes."""
    text = _ADDRESS.sub("", _LINKED.sub(r"\1\2", body[:_LOOKED_AT]))
    # The first heading of a README is its title and never left out; notes begin with any.
    lines = ["# Notes", "", *map(_bare, text.splitlines())]
    apart = ["\n" if _ends(line, following) else "" for line, following in pairwise([*lines, ""])]
    return opening("\n".join(map("".join, zip(lines, apart, strict=True))), NOTES, _ASIDE)


def _bare(line: str) -> str:
    """Drop what names a person, a commit or a change: that a line has them says nothing of what is new."""
    text = _COMMIT.sub(r"\1", line.rstrip())
    if _CONTRIBUTOR.match(text):
        return ""
    return _unnumbered(_CREDIT.sub("", _unnumbered(text))).rstrip(" ,;–—-")


def _unnumbered(line: str) -> str:
    text = _REFERENCE.sub("", line)
    kept = _LAST_REFERENCE.sub("", text)
    return text if _NEEDS_NUMBER.search(kept) else kept


def _ends(line: str, following: str) -> bool:
    """Tell whether a line of prose ends where it does, although another follows."""
    both = _PROSE.match(line) and _PROSE.match(following)
    return both is not None and (len(line) < _BROKEN or line.endswith((".", "!", "?", ":")))
