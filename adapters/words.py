"""The values of the core in words that every adapter shows alike: bylines, links, dates, the coverage line. Pure."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum

from adapters.text import brief, clean, cut, emphasised, safe_url, shown_url, thousands
from bot.commands import TABLE, Less, More, Rest, Save, Show, Similar, Why, write
from bot.digest.card import happened
from bot.digest.left_out import how_many
from bot.digest.selection import ON_TOPIC
from bot.handlers.wording.bibliography import name_of
from bot.handlers.wording.replies import summary_origin as origin
from bot.handlers.wording.replies import text_name
from bot.models import Button, Chart, ChartKind, Coverage, Digest, Entry, Health, Item, Kind, Presses, Rhythm, SourceReport
from bot.sources.registry import TITLES
from bot.wording import listed, long_day, short_day, some

_AUTHORS_SHOWN = 3
_REASONS_TOLD = 2  # of an empty digest
_TODAY = timedelta(hours=36)  # what a digest of so long covers is of today
_LONGEST_TAG = 24  # characters
_BRIEF_TITLE = 66  # characters: digests are read in a window of 700 px, and those of phones are two lines
# What a title that was cut does not end with.
_DANGLING = re.compile(
    r"(?:[ ,;:–—-]+(?:an?|the|of|for|in|on|at|via|with|without|and|or|to|from|by|as|its|is|are"
    r"|over|under|into|through|across|between|using|towards?))*[ ,;:–—-]*…$",
    re.IGNORECASE,
)
_LINK_ORDER = ("abstract", "page", "code", "discussion", "pdf", "doi", "model", "video", "post")
_LINKS_SHOWN = 3

POST = "See the post"  # the link to a message in which something was posted
COMMAND = "/digest"  # what one types before a command in a chat
_COMMANDS = frozenset((usage.words, True) for usage in TABLE)  # as `emphasised` tells of them
_VERBS = frozenset(words.partition(" ")[0] for words, _ in _COMMANDS)  # "filter stars:>100" is the end of another command:
_TYPED = re.compile(rf"filter [\w][\w-]*(?![^ ])|(?!filter\b)(?:{'|'.join(sorted(_VERBS))})(?![^ ])")


class SpanKind(StrEnum):
    """How a stretch of a sentence is meant."""

    PLAIN = "plain"
    STRESSED = "stressed"
    TYPED = "typed"  # a command


def spans(sentence: str, before: str = COMMAND) -> list[tuple[str, SpanKind]]:
    """Split a sentence of ours, cleaned, into stretches; a command between asterisks begins with `before` then.

    That is /digest, and nothing where one writes a command as a message.
    """
    return _spans(emphasised(clean(sentence)), before)


def _spans(pieces: Sequence[tuple[str, bool]], before: str) -> list[tuple[str, SpanKind]]:
    return [_meant(piece, before) if marked else (piece, SpanKind.PLAIN) for piece, marked in pieces]


def line_spans(line: str, before: str = COMMAND) -> list[tuple[str, SpanKind]]:
    """Split a line about something, cleaned, into stretches: a command is one only where the line tells of a command.

    That is "*list*: …"; elsewhere what is stressed may be anybody's words.
    """
    pieces = emphasised(clean(line))
    if len(pieces) > 1 and pieces[0] in _COMMANDS and pieces[1][0].startswith(":"):
        return [(_typed(pieces[0][0], before), SpanKind.TYPED), *_spans(pieces[1:], before)]
    return [(piece, SpanKind.STRESSED if marked else SpanKind.PLAIN) for piece, marked in pieces]


def _meant(piece: str, before: str) -> tuple[str, SpanKind]:
    return (_typed(piece, before), SpanKind.TYPED) if _TYPED.match(piece) else (piece, SpanKind.STRESSED)


def _typed(command: str, before: str) -> str:
    return f"{before} {command}".lstrip()


def source_name(name: str) -> str:
    """Return what people call the source `arxiv`, `huggingface`, `github` or `feed:<name>`."""
    return TITLES.get(name) or clean(name.removeprefix("feed:"))


def title(item: Item) -> str:
    """Return the item's title, or its key when it has none that can be read."""
    return clean(item.title) or clean(item.key)


def authors(names: Sequence[str], most: int = _AUTHORS_SHOWN) -> str:
    """Return "Mao, Rui, Ying +4": the family names of the first three or `most`, and how many more there are.

    One alone has the whole name, two are joined by "and"; what is no person's name is told whole.
    """
    told = [name for name in map(clean, names) if name]
    if len(told) < 2:
        return "".join(told)
    shown = [name_of(name).last for name in told[:most]]
    more = f" +{len(told) - most}" if len(told) > most else ""
    return f"{(' and ' if len(told) == 2 == len(shown) else ', ').join(shown)}{more}"


def byline(item: Item, today: date) -> tuple[str, ...]:
    """Return who made it and when: authors, organisation, date; of a repository language, licence and latest release too."""
    repo = item.kind is Kind.REPO
    owner = item.title.partition("/")[0].casefold()
    people = "" if repo and tuple(name.casefold() for name in item.authors) == (owner,) else authors(item.authors)
    made = (clean(item.language), clean(item.license), _version(item, today)) if repo else (clean(item.language),)
    return tuple(filter(None, (people, _lab(item), *made, _when(item, today))))


def _version(item: Item, today: date) -> str:
    """Return "v2.1 (10 June)", "v3.0-rc1 (prerelease, 10 June)"; "" for no release, and a tag that would fill the line."""
    release = item.release
    if release is None or len(release.tag) > _LONGEST_TAG:
        return ""
    kind = "prerelease, " if release.prerelease else ""
    return f"{clean(release.tag)} ({kind}{short_day(release.published.date(), today)})"


def _when(item: Item, today: date) -> str:
    if item.kind is Kind.REPO:
        return f"updated {short_day(item.updated.date(), today)}" if item.updated else _since(item.published, today)
    moment = item.published or item.appeared
    return short_day(moment.date(), today) if moment else ""


def _since(moment: datetime | None, today: date) -> str:
    return f"since {short_day(moment.date(), today)}" if moment else ""


def signals(item: Item) -> tuple[str, ...]:
    """Return what the community said: "★1,204", "▲13"; nothing for what is unknown."""
    stars = () if item.stars is None else (f"★{brief(item.stars)}",)
    return stars if item.upvotes is None else (*stars, f"▲{brief(item.upvotes)}")


def facts(entry: Entry) -> tuple[str, ...]:
    """Return what stands under a gist: "▲23", "💬4", "code ★61", "Shanda AI Research"; only what is stored, and is not none.

    Of a repository its own stars, "★1,204", what happened to it, and what was said of its paper.
    """
    item, other = entry.ranked.item, entry.partner
    works = [each for each in (item, other) if each is not None]
    upvotes = next((each.upvotes for each in works if each.upvotes), None)
    comments = next((each.comments for each in works if each.comments), None)
    said = (f"▲{brief(upvotes)}" if upvotes else "", f"💬{brief(comments)}" if comments else "", _code(item, other))
    return tuple(filter(None, (*said, happened(entry.ranked), _lab(item))))


_COUNTS = re.compile(r"([▲💬★])([\d.,kM]+)")
_SPOKEN = {"▲": "upvote", "💬": "comment", "★": "star"}


def spoken(fact: str) -> str:
    """Return a fact as those hear it who listen: of "code ★61" "code, 61 stars"; "" of one without signs."""

    def said(found: re.Match[str]) -> str:
        return f"{found[2]} {_SPOKEN[found[1]]}{'' if found[2] == '1' else 's'}"

    return _COUNTS.sub(said, re.sub(r"\s★", ", ★", fact)) if _COUNTS.search(fact) else ""


def _code(item: Item, other: Item | None) -> str:
    """Return "code ★61" of a paper whose code is known, joined or linked to; of a repository "★61"."""
    repo = next((each for each in (item, other) if each is not None and each.kind is Kind.REPO), None)
    stars = f"★{brief(repo.stars)}" if repo is not None and repo.stars is not None else ""
    linked = repo is not None or any(link.rel == "code" and safe_url(link.url) for link in item.links)
    return stars if item.kind is Kind.REPO else f"code {stars}".rstrip() if linked else ""


def _lab(item: Item) -> str:
    """Return who stands behind it, where the title does not say so."""
    owner = item.title.partition("/")[0].casefold()
    return "" if item.kind is Kind.REPO and item.org.casefold() == owner else clean(item.org)


def card_facts(entry: Entry, today: date) -> tuple[str, ...]:
    """Return the line under a card's title: authors, lab, date, and the facts that are counted."""
    elsewhere = {_lab(entry.ranked.item), happened(entry.ranked)}  # in the byline, and in why it is here
    return (*byline(entry.ranked.item, today), *(fact for fact in facts(entry) if fact not in elsewhere))


def told_parts(entry: Entry) -> tuple[tuple[str, str], ...]:
    """Return what a card says below its gist, each with its name: the parts, and why it is here."""
    why = (("Why here", clean(entry.why_here)),) if clean(entry.why_here) else ()
    return (*((clean(part.name), clean(part.text)) for part in entry.card if clean(part.text)), *why)


def warnings(item: Item) -> tuple[str, ...]:
    """Return what a reader must know before trusting it: withdrawn, archived, a fork."""
    flags = ((item.withdrawn, "withdrawn"), (item.archived, "archived"), (item.fork, "a fork"))
    return tuple(word for holds, word in flags if holds)


def badges(item: Item) -> tuple[str, ...]:
    """Return the names of the sources that saw it."""
    return tuple(dict.fromkeys(source_name(name) for name in item.sources))


def links(item: Item, *, without: str = "") -> tuple[tuple[str, str], ...]:
    """Return up to three pairs of URL and how to show it, the page to read first; only links that are safe to follow.

    The PDF and the DOI are left out beside the abstract's page, and `without` because it stands elsewhere on the card.
    """
    ordered = sorted((link for link in item.links if link.rel in _LINK_ORDER), key=lambda link: _LINK_ORDER.index(link.rel))
    abstract = any(link.rel == "abstract" and safe_url(link.url) for link in ordered)
    wanted = (link.url for link in ordered if not (abstract and link.rel in {"pdf", "doi"}))
    urls = dict.fromkeys(url for url in map(safe_url, wanted) if url and _bare(url) != _bare(without))
    return tuple((url, shown_url(url)) for url in urls)[:_LINKS_SHOWN]


def _bare(url: str) -> str:
    return url.rstrip("/").casefold()


def first_link(item: Item) -> str:
    """Return where the item's title leads, "" when there is nowhere safe."""
    found = links(item)
    return found[0][0] if found else ""


def partner(entry: Entry) -> tuple[str, str, tuple[str, ...], str] | None:
    """Return the joined repository or paper as (label, name, facts, URL), or None; no name where the URL says it."""
    other = entry.partner
    if other is None:
        return None
    url = first_link(other)
    if other.kind is not Kind.REPO:
        facts = (authors(other.authors, 1), *signals(other), *warnings(other))
        return "Paper", title(other), tuple(filter(None, facts)), url
    name = "" if shown_url(url).casefold() == other.key.replace("github:", "github.com/").casefold() else title(other)
    facts = (*signals(other), clean(other.language), *warnings(other))
    return "Code", name, tuple(filter(None, facts)), url


def summary_origin(entry: Entry) -> str:
    """Return what the summary was made from and by: "from the abstract, extracted"."""
    return clean(origin(entry.summary))


def entry_buttons(key: str, topic: str) -> tuple[Button, ...]:
    """Return what one may do with the item of that key under a digest of the topic."""
    return (
        Button("More like this", write(More(key, topic))),
        Button("Less", write(Less(key, topic))),
        Button("Save", write(Save(key))),
        Button("Similar", write(Similar(key))),
    )


def entry_menu(key: str, topic: str) -> tuple[Button, ...]:
    """Return what one may do with the item of that key in a list of several: first of all, see its card."""
    return (Button("Details", write(Show(key, topic))), *entry_buttons(key, topic))


def card_buttons(key: str, topic: str) -> tuple[Button, ...]:
    """Return what one may do with the item of that key under its card; `topic` is "" where it is of no digest."""
    return (
        Button("More", write(More(key, topic))),
        Button("Less", write(Less(key, topic))),
        Button("Save", write(Save(key))),
        Button(text_name(key), write(Show(key, abstract=True))),
        Button("Why", write(Why(key, topic))),
        Button("Similar", write(Similar(key))),
        Button("BibTeX", write(Show(key, bibtex=True))),
    )


# --- how a digest is told in a chat


def digest_name(digest: Digest) -> str:
    """Return the digest's title, or its topic's name."""
    return clean(digest.title) or clean(digest.topic) or "Digest"


def brief_title(item: Item) -> str:
    """Return the item's title as it stands in a list of several: on one line of a window 700 px wide."""
    short = cut(title(item), _BRIEF_TITLE)
    return _DANGLING.sub("…", short) if short.endswith("…") else short


def masthead(digest: Digest) -> str:
    """Return what stands behind a digest's name: "4 of 526 · 2 min"; an empty one takes no time."""
    return " · ".join(filter(None, (kept_of_seen(digest), f"{digest.minutes} min" if digest.entries else "")))


def late_sentence(digest: Digest) -> str:
    """Return what is said under the name of a digest that comes late."""
    return f"Late: this digest was due on {long_day(digest.day)}."


def shown_so_far(digest: Digest, last: int) -> str:
    """Return the end of a message that others follow: "12 of 20 · continued below"."""
    return f"{last} of {len(digest.entries)} · continued below"


def shown_here(digest: Digest, first: int, last: int) -> str:
    """Return what stands behind the name over the entries of a later message: "13–20 of 20"."""
    return f"{first}{f'–{last}' if last > first else ''} of {len(digest.entries)}"


def others_button(digest: Digest) -> tuple[Button, ...]:
    """Return the button "8 more on topic", which lists them; none where there are none, and where they are not kept."""
    rhythm = Rhythm(digest.rhythm) if digest.rhythm else None
    asked = Rest(digest.topic, digest.day.isoformat(), rhythm=rhythm)
    listed = digest.left_out and not digest.is_preview
    return (Button(f"{how_many(digest)} more on topic", write(asked)),) if listed else ()


def presses_line(presses: Presses) -> str:
    """Return "Readers: 3 more · 2 saved", "" where nobody pressed anything."""
    said = ((presses.more, "more"), (presses.saved, "saved"))
    told = " · ".join(f"{thousands(count)}\u00a0{word}" for count, word in said if count)  # a line ends in neither
    return f"Readers: {told}" if told else ""


def kept_of_seen(digest: Digest) -> str:
    """Return "7 of 412": what was kept of what was seen."""
    return f"{thousands(digest.coverage.kept)} of {thousands(digest.coverage.seen)}"


def empty_sentence(digest: Digest) -> str:
    """Return the sentence that stands where the entries would be when there are none, with the two larger reasons."""
    coverage = digest.coverage
    if not coverage.seen:
        return "Nothing new: the sources had no items for this digest."
    reasons = sorted(coverage.dropped, key=lambda each: -each[1])[:_REASONS_TOLD]
    why = listed([f"{thousands(count)} {clean(reason)}" for reason, count in reasons if count])
    nothing = "none has a place in it" if came_close(digest) else "nothing came close to the topic"
    today = " today" if digest.until - digest.since <= _TODAY else ""
    return f"0 of {thousands(coverage.seen)}: {nothing}{today}." + (f" {why[:1].upper()}{why[1:]}." if why else "")


def came_close(digest: Digest) -> bool:
    """Say whether anything that the digest has no entry for was on topic."""
    return bool(digest.left_out) or any(count for reason, count in digest.coverage.dropped if reason in ON_TOPIC)


def coverage_line(digest: Digest) -> str:
    """Return the footer in one line: seen, kept, what else is on topic, which sources, and what of them went wrong.

    Where the others went, and what sources said besides, `status`, `why` and `--json` tell.
    """
    coverage = digest.coverage
    asked = [clean(report.name) for report in coverage.sources if report.health in _DELIVERED]
    again = sum(bool(each.reason) for each in digest.carried)
    carried = f", {thousands(again)} carried on" if again else ""
    pieces = [f"{thousands(coverage.seen)} seen{carried}", f"{thousands(coverage.kept)} kept"]
    if digest.left_out:
        pieces.append(f"{how_many(digest)} more on topic")
    elif 0 < len(digest.entries) < digest.cap and not came_close(digest):
        pieces.append("nothing else came close")
    pieces += [some(asked, _NAMED)] if asked else []
    pieces += _troubles(coverage.sources)
    pieces += [clean(report.of_digest).rstrip(".") for report in coverage.sources if clean(report.of_digest)]
    pieces += [clean(coverage.span)] if coverage.span else []
    return " · ".join(dict.fromkeys(pieces))


def dropped_line(coverage: Coverage) -> str:
    """Return where the others went: "504 outside the topic · 6 below the bar"; "" for nothing."""
    return " · ".join(f"{thousands(count)} {clean(reason)}" for reason, count in coverage.dropped if count)


# What is said of one source that did not deliver, and of several; why, the status and the log know.
_TROUBLES = {
    Health.DOWN: ("was down", "were down"),
    Health.CHANGED: ("answered in an unknown form", "answered in an unknown form"),
    Health.PARTIAL: ("delivered only a part", "delivered only a part"),
    Health.NEVER: ("has not been asked yet", "have not been asked yet"),
}
_NAMED = 5  # sources that are named
_DELIVERED = (Health.OK, Health.QUIET)


def _troubles(reports: Sequence[SourceReport]) -> Iterator[str]:
    """Yield "arXiv and GitHub were down", a piece for each kind of trouble."""
    for health, (one, several) in _TROUBLES.items():
        names = [clean(report.name) for report in reports if report.health is health]
        if names:
            said = listed(names) if len(names) <= _NAMED else some(names, _NAMED)
            yield f"{said} {one if len(names) == 1 else several}"


_CURVE = 8  # of the numbers of a curve that are told


def chart_lines(chart: Chart) -> list[str]:
    """Return the numbers of a chart in words: the months on one line, each term and each day of a curve on its own.

    Of a curve the first and the last number are told, and some between. Titles and terms may be strangers' words.
    """
    values = chart.values
    if chart.kind is ChartKind.LINE and len(values) > _CURVE:
        values = tuple(values[at * (len(values) - 1) // (_CURVE - 1)] for at in range(_CURVE))
    told = [f"{clean(each.label)}: {clean(each.said)}" for each in values]
    return [" · ".join(told)] if chart.kind is ChartKind.COLUMNS else told
