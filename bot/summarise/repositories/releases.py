"""Says which release of a repository is the latest, and what its notes say first. Never more: a release is no evidence.

Notes open with greetings, with upkeep, with where to read on. The first sentence that says what is new is taken, as it
stands but for the light edits (`bot.summarise.english.editing`), the sign of a commit in front (`feat(api): add X` → `Add
X`), and what speaks of the release itself (`This release adds X` → `Adds X`).
"""

import re
from datetime import timedelta

from bot.models import Item, Release
from bot.summarise.english.anaphora import dangles
from bot.summarise.english.editing import edit
from bot.summarise.english.language import reads_as_english
from bot.summarise.english.sentences import split
from bot.wording import dated

LONGEST_TAG = 60  # characters; a longer one is left out, never cut
_STALE = timedelta(days=30)  # a push so long after the reading may have brought another release
_LEAST_WORDS, _MOST_WORDS = 2, 40  # of a sentence that is told
_LONGEST = 30  # words, where a clause border allows it
_SHORTEST_NAME = 3  # words of a release's name without version and project: fewer say nothing

# `feat(api)!: `, `[core] `: the sign of a commit.
_SIGN = re.compile(
    r"^(?:(?:feat|features?|fix|fixes|bug ?fix|perf|performance|enhancement|improvement|new|added|changed)"
    r"(?: ?\([^()]{0,60}\))?!?: +|\[[^\[\]]{1,40}\]:? *)+",
    re.IGNORECASE,
)
_ITSELF = re.compile(
    r"^this (?:(?:new|major|minor|patch|first|initial) )?(?:release|version|update) "
    r"(?!(?:is|was|has|marks|represents|comes|does|completes|concludes)\b)(?=[a-z]+s\b)",
    re.IGNORECASE,
)
_PICTURES = re.compile("^[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d\\s]+")
# What was done for the tools and the text around the code, by the sign in front of it or by its words.
_UPKEEP = re.compile(
    r"^\W{0,3}(?:[\w./-]{1,40}(?:[\[(][\w.-]{1,40}[\])])? ?: )?"
    r"(?:(?:chore|docs?|ci|builds?|tests?|style|refactor|deps|deps-dev|release|revert|lint|meta|infra|typo|nit|bump)"
    r"(?:[\])]|\([^()]{0,60}\))?!?[\]:]|(?:bump|upgrad|updat|pin|unpin)\w*\b (?:the )?(?:\S+ (?:from|to) |versions?\b|"
    r"depend|dev\b|changelog|readme|copyright|licen[cs]e|docs\b|documentation|github|lock|requirements|submodule|badge|ci\b|"
    r"workflow|tests?\b)|merge (?:branch|pull|remote|pr\b)|prepar\w+ |(?:cut|tag|make) release|(?:initial|first) commit|"
    r"clean[- ]?up\b|formatting|lint|fix(?:ed)? (?:a )?(?:typos?|lint|ci|tests?)\b|version bump|bump\b|release v?\d)"
    r"|\b(?:typos?|readme|dependabot|renovate|pre-commit)\b",
    re.IGNORECASE,
)
_SAYS_NOTHING = re.compile(
    # A greeting.
    r"^\W*(?:thank|special thank|welcome|hi\b|hello|dear|please|nightly|auto\w*[- ](?:generated|built|release))"
    r"|\b(?:excited|happy|pleased|thrilled|proud|delighted|glad) to \w+|\bhas been released\W*$"
    r"|\bannounc\w+ (?:the )?(?:general|release|version|our)\b|\bis (?:now )?(?:out|here|available)\W*$"
    # How to get it, and where more is said of it.
    r"|^\W*(?:download|install|pip |npm |docker |cargo |brew |uv |checksum|assets?\b|see |read |check |visit|date:)"
    r"|^\W*(?:for (?:a |the |more|full|detail)|more (?:details|information)|change ?logs?\b|what'?s (?:new|changed))"
    r"|^\W*(?:(?:the )?(?:full|complete|detailed) (?:list|change|release)|(?:all )?changes (?:since|in|from)\b)"
    r"|^\W*(?:release (?:notes|date)|released? on)|\bversion v?\.?\d[\w.]*\W*$|[:?]$"
    # How much went in, and fixes and improvements of nothing in particular.
    r"|\b[\d,]+\+? (?:\w+ )?(?:commits|contributors|pull requests|PRs)\b|\bfirst contribution\b"
    r"|^\W*(?:[\w-]+,? ){0,4}(?:maintenance|bug[- ]?fix|patch) release\W*$"
    r"|^\W*(?:(?:bug ?)?fixes\W*(?:$|and (?:\w+ ){0,2}improvements)|no (?:notable|user|significant|code|functional))"
    r"|^\W*(?:minor|various|small|misc\w*|some|several|other|more|general|numerous|many|lots of) (?:\w+ ){0,2}"
    r"(?:fix\w*|improvements?|changes|updates|tweaks)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\bv?\d+(?:\.\d+)+\S*|\bv\d+\b", re.IGNORECASE)


def latest_release(item: Item) -> tuple[str, str]:
    """Return the sentence that tells of the latest release, and what it quotes of the notes; "" for what is unknown.

    `Latest release v2.1 (12 June 2026): Adds paged attention.` That there is none is said only where it was asked for.
    """
    if item.releases_read is None:
        return "", ""
    known = max(item.releases_read, item.releases_confirmed or item.releases_read)
    read, release = dated(known.date()), item.release
    if release is None:
        return f"No release was listed on {read}.", ""
    said, quote = _news(release, item.title)
    kind = "prerelease" if release.prerelease else "release"
    tag = f" {release.tag}" if len(release.tag) <= LONGEST_TAG else ""
    stale = item.updated is not None and item.updated - known > _STALE
    head = f"On {read} the latest {kind} was{tag or ' one'}" if stale else f"Latest {kind}{tag}"
    return f"{head} ({dated(release.published.date())}){f': {said}' if said else '.'}", quote


def _news(release: Release, title: str) -> tuple[str, str]:
    """What the notes say first, edited and as it stands; else the name of the release, where that says something, and ""."""
    for sentence in (sentence for line in release.notes.splitlines() for sentence in split(line.removeprefix("- "))):
        bare = _ITSELF.sub("", _SIGN.sub("", _PICTURES.sub("", sentence), count=1))
        if not _UPKEEP.search(sentence) and _is_news(bare):
            return _capitalised(edit(bare, longest=_LONGEST)), sentence
    known = {"release", *re.findall(r"\w+", f"{title} {release.tag}".lower())}
    words = [word for word in re.findall(r"[^\W\d_][\w'-]+", _VERSION.sub(" ", release.name)) if word.lower() not in known]
    return (edit(release.name) if len(words) >= _SHORTEST_NAME else ""), ""


def _is_news(sentence: str) -> bool:
    words = len(re.findall(r"\w*[^\W\d_]\w*", sentence))
    enough = _LEAST_WORDS <= words <= _MOST_WORDS and reads_as_english(sentence)
    return enough and not (_UPKEEP.search(sentence) or _SAYS_NOTHING.search(sentence) or dangles(sentence))


def _capitalised(text: str) -> str:
    """With a capital in front, unless the first word may be a name or a sign: `torch.compile`, `core:`, `--flag`."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+ (?!:)", text) else text
