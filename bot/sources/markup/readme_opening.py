"""The opening of a README as text: what its first paragraphs say, without everything that is only there to be seen.

Badges, pictures, tables of contents, tables, code and the sections on how to install, cite or contribute are left out.
Written for Markdown as GitHub reads it (github.github.com/gfm); reStructuredText and plain text come out usable too.
"""

import html
import re
from collections.abc import Iterator

from bot.keys import arxiv_ids_in
from bot.sources.json_answers import folded

READ = 30_000  # characters of a README that are looked at
OPENING = 1_500  # characters that are kept
SHORT = 200  # characters
NEAR_THE_TOP = 4_000  # characters in which a README names its own paper, if it does

_FRONT_MATTER = re.compile(r"\A\s*---\n[^\0]*?\n---[ \t]*\n")
_COMMENT = re.compile(r"<!--[^\0]*?(?:-->|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNSEEN = re.compile(r"<(style|script|svg|pre|table|picture|video)\b[^\0]*?(?:</\1\s*>|\Z)", re.IGNORECASE)
_BREAK = re.compile(
    r"</?(?:p|div|h[1-6]|br|hr|center|details|summary|ul|ol|li|tr|blockquote)\b[^<>]{0,1000}>", re.IGNORECASE
)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")
_AUTOLINK = re.compile(r"<(?:https?://|mailto:)[^<>\s]{1,2000}>")

_IMAGE = re.compile(r"!\[[^\[\]]{0,500}\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\)|\[[^\[\]]{0,200}\])?")
_LINK = re.compile(r"\[([^\[\]]{0,500})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\)|\[[^\[\]\n]{0,200}\])")
_LINK_TARGET = re.compile(r"^ {0,3}\[[^\[\]]{1,200}\]:[ \t]*\S+.*$", re.MULTILINE)
_BARE_LINK = re.compile(r"https?://\S{1,2000}")
_RST = re.compile(r"^ {0,3}\.\. .*(?:\n(?:[ \t]*\n)*[ \t]{2,}\S.*)*|^ {0,3}\.\.\s*$", re.MULTILINE)
_RST_LINK = re.compile(r"`([^`<>]{1,300}?)\s*<[^<>`]{1,2000}>`__?")
_RST_ROLE = re.compile(r":[a-z]{2,12}:`([^`]{1,200})`|\|[\w .-]{1,60}\|_{0,2}")

_RST_REFERENCE = re.compile(r"(?<=\w)_{1,2}(?=[\s.,;:)]|$)")

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(={3,}|-{3,}|~{3,}|\^{3,}|\*{3,})[ \t]*$")
_TABLE_ROW = re.compile(r"\s*\||\s*:?-{2,}:?\s*\||.*\|.*\|.*\|")
_BULLET = re.compile(r"^\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+")
_ALERT = re.compile(r"\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]")
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]{1,500}?)(?<=\S)\1(?![\w*])|(?<!\w)(_{1,3})(?=\S)([^_\n]{1,500}?)(?<=\S)\3(?!\w)"
)
_TICKS = re.compile(r"`{1,2}([^`\n]{1,300})`{1,2}")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!<>|~-])")
_SHORTCODE = re.compile(r"\s?(?<![\w:]):[a-z0-9_+-]{2,40}:(?![\w:])")
_LETTERS = re.compile(r"\w", re.UNICODE)
_WORD = re.compile(r"\w{2,}")

# Chapters that do not say what the thing is, by the beginning of their heading.
_ASIDE = re.compile(
    r"(?i)\W*(?:\d+[.)]?\W*)?(?:(?:how to|the|our|latest|recent|quick|local)\s+)?"
    r"(?:install\w*|set ?up|getting started|quick ?start|usage|use|run\w*|requirements?|prerequisites?"
    r"|dependenc\w+|build\w*|compil\w+|citations?|cite|citing|bibtex|references?"
    r"|licen[cs]\w+|contribut\w+|acknowledge?\w*|star(?:gazers| history)|news|updates?|change ?log|what'?s new|release\w*"
    r"|to-?do\w*|roadmap|support|sponsors?|contacts?|community|authors?|faqs?|badges|links|translations?|docker|docs"
    r"|documentation|tutorials?|disclaimer|thanks|credits|history|security|testing|tests|development)\b"
)
ASIDE_WORDS = 5  # a longer heading says something

# CJK punctuation ends a sentence without a space after it.
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


def opening(readme: str, longest: int = OPENING, aside: re.Pattern[str] = _ASIDE) -> str:
    """Return the first paragraphs of a README, at most `longest` characters, paragraphs apart by an empty line.

    Chapters whose heading begins as `aside` does are left out, but for the first heading of all, which is the title.
    """
    kept: list[str] = []
    length = 0
    for paragraph in _paragraphs(readme, aside):
        kept.append(paragraph)
        length += len(paragraph) + 2
        if length > longest:
            break
    return _cut("\n\n".join(kept), longest)


def own_paper(readme: str) -> str | None:
    """Return the arXiv id of the paper that the README presents: the only one that its top names, or None."""
    found = arxiv_ids_in(readme[:NEAR_THE_TOP])
    return found[0] if len(found) == 1 else None


def without_shortcodes(text: str) -> str:
    """Drop emoji spelt in letters, like `:rocket:`."""
    return " ".join(_SHORTCODE.sub("", text).split())


def _paragraphs(readme: str, asides: re.Pattern[str]) -> Iterator[str]:
    """Yield what is to be read, paragraph by paragraph, each on one line, a list on as many as it has points.

    A short line that ends in a colon is left out unless a list follows: what it announces was left out too.
    """
    aside = titled = False
    announced = ""
    for block in _blocks(_unmarked(readme)):
        title = _heading(block)
        text = "" if aside or title is not None else _readable(block)
        if title is not None:
            aside = titled and asides.match(title) is not None and len(title.split()) <= ASIDE_WORDS
            titled = True
        if text and announced and text.startswith("- "):
            yield announced
        announced = text if text.endswith(":") and len(text) < SHORT else ""
        if text and not announced:
            yield text


def _unmarked(readme: str) -> str:
    text = readme[:READ].replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").lstrip("\ufeff")
    text = _COMMENT.sub(" ", _FRONT_MATTER.sub("", text))
    text = _without_code(text)
    text = _UNSEEN.sub("\n\n", text)
    text = _RST_LINK.sub(r"\1", _RST.sub("", text))
    return html.unescape(_TAG.sub(" ", _BREAK.sub("\n\n", _AUTOLINK.sub(" ", text)))).replace("\xa0", " ")


def _without_code(text: str) -> str:
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
            kept.append("")
        elif match and match[1].startswith(fence) and not line.strip(" `~"):
            fence = ""
        elif not fence:
            kept.append(line)
    return "\n".join(kept)


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield lines that belong together: headings alone, everything else up to an empty line."""
    block: list[str] = []
    for line in text.split("\n"):
        if _UNDERLINE.match(line) and len(block) == 1 and not _BULLET.match(block[0]):
            yield ["# " + block[0].strip()]
            block = []
        elif not line.strip() or _HEADING.match(line) or _UNDERLINE.match(line):
            if block:
                yield block
            block = []
            if _HEADING.match(line):
                yield [line]
        else:
            block.append(line)
    if block:
        yield block


def _heading(block: list[str]) -> str | None:
    match = _HEADING.match(block[0]) if len(block) == 1 else None
    return None if match is None else _plain(match[2] or "")


def _readable(block: list[str]) -> str:
    """Return the block as text; "" for a table, indented code, badges, a row of links or a list of chapters."""
    if sum(bool(_TABLE_ROW.match(line)) for line in block) * 2 > len(block):
        return ""
    if block[0].lstrip().startswith(">>>"):
        return ""
    if all(line.startswith(("    ", "\t")) and not _BULLET.match(line) for line in block):
        return ""
    text = "\n".join(_QUOTE.sub("", line) for line in block)
    text = _LINK_TARGET.sub("", _ALERT.sub(" ", text))
    text = _IMAGE.sub(" ", _IMAGE.sub(" ", text))  # twice: a badge is a picture in a link
    words = len(_WORD.findall(_BARE_LINK.sub(" ", _LINK.sub(" ", text))))
    linked = sum(1 for match in _LINK.finditer(text) if _LETTERS.search(match[1]))
    if linked > 1 and words < 2 * linked:
        return ""
    return _joined(text)


def _joined(text: str) -> str:
    """Put a paragraph on one line, each point of a list on one of its own; "" when it has no two words."""
    points: list[str] = []
    for line in text.split("\n"):
        bullet = _BULLET.match(line)
        if bullet:
            points.append("- " + line[bullet.end() :])
        elif points:
            points[-1] += " " + line
        else:
            points.append(line)
    lines = [folded(_plain(point)) for point in points]
    kept = "\n".join(line for line in lines if len(_WORD.findall(line)) > 1)
    return kept if len(_WORD.findall(kept)) > 1 else ""


def _plain(text: str) -> str:
    """Drop the signs of inline markup."""
    text = _LINK.sub(r"\1", _IMAGE.sub(" ", text))
    text = _RST_ROLE.sub(lambda match: match[1] or " ", text)
    text = _RST_REFERENCE.sub("", _TICKS.sub(r"\1", _BARE_LINK.sub(" ", text)))
    for _ in range(2):
        text = _EMPHASIS.sub(lambda match: match[2] or match[4], text)
    return without_shortcodes(_ESCAPED.sub(r"\1", text))


def _cut(text: str, longest: int) -> str:
    """Cut at the end of a sentence where there is one in the last third, else at a word, with an ellipsis."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(text[:longest])]
    if ends and ends[-1] > longest * 2 // 3:
        return text[: ends[-1]].rstrip()
    word = max(head.rfind(" "), head.rfind("\n"))
    return (head[:word] if word > longest // 2 else head).rstrip() + "…"
