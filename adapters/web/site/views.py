"""What was posted, what is known of an item, and what a command answered, as pages of HTML. Pure, but for the templates.

The order, the numbers and the words are those of the chats: the digests are the saved ones, told by `adapters.words`.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from importlib.resources import files
from itertools import groupby

from jinja2 import Template
from markupsafe import Markup

from adapters.pictures.svg import svg
from adapters.text import clean, safe_url
from adapters.web.page import policy
from adapters.web.paper.stories import Anchor, Fact, PageSection, Story, edition, section, story, told_facts
from adapters.web.paper.templates import templates
from adapters.web.site.addresses import card_path, day_path, item_path, topic_path
from adapters.web.site.frame import Action, Frame
from adapters.words import SpanKind, byline, chart_lines, digest_name, line_spans, links, signals, spans, title, warnings
from bot.handlers.feeds.addresses import Form
from bot.handlers.trends.charts import stars_chart
from bot.handlers.wording.replies import text_name
from bot.models import (
    ArchivedDay,
    ArchivedDigest,
    ArchivedPosting,
    ArchivedTopic,
    Chart,
    Item,
    Kind,
    PaperHistory,
    Reading,
    Reply,
    ReplyEntry,
)
from bot.wording import counted, day_in_words, listed, long_day, short_day

QUERY = 2000  # characters of a search, at most
_READINGS = 8  # that are told
_POSTINGS = 12  # that are listed
_HELD = 500  # digests whose words are held: some megabytes

Told = Sequence[tuple[str, SpanKind]]


@dataclass(frozen=True, slots=True)
class HeldSection:
    """A digest as HTML, but for what its reader may do with each card."""

    id: str
    topic: str  # its name
    title: str
    tally: str
    stories: tuple[Story, ...]
    brief: Markup
    cards: tuple[Markup, ...]  # of each story


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One thing of a list, in the words of the page."""

    title: str
    permalink: str
    gist: str
    warnings: str
    facts: tuple[Fact, ...]
    lines: tuple[Told, ...]
    post: str
    actions: Sequence[Action]


@dataclass(frozen=True, slots=True)
class PageList:
    """Entries below a heading, numbered from `first`."""

    title: str
    first: int
    entries: tuple[PageEntry, ...]


@dataclass(frozen=True, slots=True)
class PageChart:
    """A chart as a picture, and its numbers in words."""

    title: str
    picture: Markup
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageReply:
    """What a command answered, in the words of the page."""

    title: str
    text: tuple[Told, ...]
    lists: tuple[PageList, ...]
    quoted: tuple[str, ...]
    cards: tuple[Story, ...]
    charts: tuple[PageChart, ...]
    fields: tuple[tuple[str, Told], ...]
    next_steps: tuple[Told, ...]
    actions: Sequence[Action]

    @property
    def is_told(self) -> bool:
        """Whether there is nothing but words: its title then says what became of it."""
        return not (self.lists or self.cards)


Posted = tuple[HeldSection, str, tuple[str, ...]]  # a digest's section, the page of its day, and its posts


def front(frame: Frame, digests: Sequence[ArchivedDigest], today: date) -> str:
    """Return the front page: these digests, as they were posted."""
    posted = _posted(frame, digests)
    told = [each for each, _, _ in posted]
    day = max((each.digest.day for each in digests), default=today)
    named = {each.digest.topic: digest_name(each.digest) for each in digests}
    return _page(
        "front",
        frame.with_feeds(named.items(), (Form.ATOM,)),
        own="/",
        picture=bool(posted),
        sections=posted,
        day=long_day(day),
        iso_day=day.isoformat(),
        edition=_edition(told),
        description=_described(told),
    )


def topics(frame: Frame, found: Sequence[ArchivedTopic], today: date) -> str:
    """Return the list of the topics of which there are digests."""
    listed_topics = [
        (
            frame.at(topic_path(each.name)),
            clean(each.title) or clean(each.name),
            f"{counted(each.days, 'day')} · last on {day_in_words(each.last, today)}",
        )
        for each in found
    ]
    framed = frame.with_feeds(((each.name, clean(each.title) or clean(each.name)) for each in found), (Form.ATOM,))
    return _page("topics", framed, own="/topics", title="Topics", topics=listed_topics)


def topic(frame: Frame, found: ArchivedTopic, days: Sequence[ArchivedDay], *, is_latest: bool, has_more: bool) -> str:
    """Return a topic's days, by month; it `has_more` before them, and `is_latest` where there are none after."""
    name = clean(found.title) or clean(found.name)
    months = [
        (f"{month[0]:%B %Y}", month)
        for month in ([*each] for _, each in groupby((each.day for each in days), lambda day: (day.year, day.month)))
    ]
    counts = {each.day: counted(each.entries, "entry") for each in days}
    return _page(
        "topic",
        frame.with_feeds([(found.name, name)]),
        own=topic_path(found.name),
        title=name,
        told=f"{counted(found.days, 'day')} with digests, the last on {long_day(found.last)}.",
        months=[(label, [_day_line(frame, found.name, day, counts[day]) for day in month]) for label, month in months],
        earlier=frame.at(topic_path(found.name, before=days[-1].day)) if has_more else "",
        latest="" if is_latest else frame.at(topic_path(found.name)),
    )


def _day_line(frame: Frame, topic_name: str, day: date, count: str) -> tuple[str, str, str, str]:
    return frame.at(day_path(topic_name, day)), day.isoformat(), f"{day:%A} {day.day}", count


def day(frame: Frame, digests: Sequence[ArchivedDigest], earlier: date | None) -> str:
    """Return the digests of one topic and day, of which there is one at least; `earlier` is the day before with any."""
    first = digests[0].digest
    posted = _posted(frame, digests, is_day=True)
    told = [each for each, _, _ in posted]
    name = told[0].title
    before = (frame.at(day_path(first.topic, earlier)), long_day(earlier)) if earlier else None
    return _page(
        "day",
        frame.with_feeds([(first.topic, name)]),
        own=day_path(first.topic, first.day),
        picture=True,
        title=f"{name}, {long_day(first.day)}",
        topic=name,
        sections=posted,
        day=long_day(first.day),
        iso_day=first.day.isoformat(),
        edition=counted(sum(len(each.stories) for each in told), "entry"),
        earlier=before,
        all_days=frame.at(topic_path(first.topic)),
        description=_described(told),
    )


def _posted(frame: Frame, digests: Sequence[ArchivedDigest], *, is_day: bool = False) -> list[Posted]:
    return [
        (
            _section(number, each),
            "" if is_day else frame.at(day_path(each.digest.topic, each.digest.day)),
            tuple(filter(None, map(safe_url, each.links))),
        )
        for number, each in enumerate(digests, start=1)
    ]


_told: OrderedDict[tuple[object, ...], HeldSection] = OrderedDict()  # what is told of a digest stays what it is


def _section(number: int, archived: ArchivedDigest) -> HeldSection:
    """Return the digest as HTML: some ten milliseconds for one that was not asked for lately."""
    name = (archived.mark, archived.channels[0], archived.saved_at, number)
    found = _told.get(name) or _held(section(number, archived.digest))
    _told[name] = found
    if len(_told) > _HELD:
        _told.popitem(last=False)
    return found


def _held(told: PageSection) -> HeldSection:
    module = templates("adapters.web.site")["parts"].module
    cards = tuple(module.held_card(told, each) for each in told.stories)  # type: ignore[attr-defined]
    return HeldSection(told.id, told.topic, told.title, told.tally, told.stories, module.held_brief(told), cards)  # type: ignore[attr-defined]


def _edition(told: Sequence[HeldSection]) -> str:
    return edition(sum(len(each.stories) for each in told), [each.topic for each in told])


def _described(told: Sequence[HeldSection]) -> str:
    return f"{listed([each.title for each in told[:5]])}: {_edition(told)}" if told else ""


def item(frame: Frame, history: PaperHistory, actions: Sequence[Action], today: date) -> str:
    """Return an item's page: its card, where it was posted, what it was like on which day, and what is similar."""
    found, card = history.item, _card(history, today)
    parts = tuple((each.name, clean(each.text)) for each in history.summary.parts if each.found)
    of_other = card is not None and card.key not in (found.key, *found.aliases)
    return _page(
        "item",
        frame,
        own=item_path(found.key),
        picture=True,
        title=title(found),
        headline=Anchor(title(found), next((url for url, _ in links(found)), "")),
        warnings=listed(warnings(found)),
        byline=told_facts((*byline(found, today), *signals(found))),
        links=[Anchor(shown, url) for url, shown in links(found)],
        gist=card.gist if card else "",
        told=card.parts if card else parts,
        story=card,
        other=(frame.item(card.key), card.headline.text) if card and of_other else None,
        actions=actions,
        text_name=text_name(found.key) if found.abstract else "",
        text=clean(found.abstract),
        postings=_postings(frame, history.postings[:_POSTINGS]),
        earlier=len(history.postings) - _POSTINGS,
        readings_title="Stars" if any(each.stars is not None for each in history.readings) else "Upvotes",
        curve=_curve(history),
        readings=[_reading(each, today) for each in _spread(history.readings)],
        versions=[(clean(name), at.date().isoformat(), long_day(at.date())) for name, at in history.versions],
        similar=[_similar(frame, each, today) for each in history.similar],
        description=card.gist if card else "",
    )


def _card(history: PaperHistory, today: date) -> Story | None:
    """Return the card as it was posted last, with the item's stars and upvotes of now; where it stood on another's, that."""
    entry, found = history.entry, history.item
    if entry is not None and entry.ranked.item.key in (found.key, *found.aliases):
        entry = replace(entry, ranked=replace(entry.ranked, item=found))
    return None if entry is None else story(1, entry, today)


def _postings(frame: Frame, postings: Sequence[ArchivedPosting]) -> list[dict[str, object]]:
    """Return each digest's day with its posts, the latest first; what several channels were posted alike once."""
    same: dict[tuple[str, date], list[ArchivedPosting]] = {}
    for each in postings:
        same.setdefault((each.topic, each.day), []).append(each)
    return [
        {
            "url": frame.at(day_path(topic_name, posted_on)),
            "topic": clean(found[0].title) or clean(topic_name),
            "iso_day": posted_on.isoformat(),
            "day": long_day(posted_on),
            "posts": tuple(filter(None, (safe_url(each.link) for each in found))),
        }
        for (topic_name, posted_on), found in same.items()
    ]


def _curve(history: PaperHistory) -> Markup:
    """Return the curve of the stars of the repository, or of the paper's; nothing where they were not read on two days."""
    found = history.item
    name = found.repo.partition(":")[2] if found.kind is Kind.PAPER and found.repo else title(found)
    chart = stars_chart(name, history.readings)
    return Markup(svg(chart)) if chart is not None else Markup()  # noqa: S704 - as above


def _spread(readings: Sequence[Reading]) -> Sequence[Reading]:
    """Return the first, the last, and some evenly between."""
    told = [each for each in readings if each.stars is not None or each.upvotes is not None]
    if len(told) <= _READINGS:
        return told
    return [told[at * (len(told) - 1) // (_READINGS - 1)] for at in range(_READINGS)]


def _reading(reading: Reading, today: date) -> tuple[str, str, str]:
    counts = ((reading.stars, "star"), (reading.upvotes, "upvote"))
    said = listed([counted(count, name) for count, name in counts if count is not None])
    return reading.day.isoformat(), short_day(reading.day, today), said


def _similar(frame: Frame, found: Item, today: date) -> tuple[str, str, tuple[Fact, ...]]:
    return frame.item(found.key), title(found), told_facts((*byline(found, today), *signals(found)))


def search(frame: Frame, query: str, reply: Reply | None, today: date) -> str:
    """Return the page of searches, with what was found where something was asked."""
    told = None if reply is None else _reply(frame, reply, today)
    query = query.encode("utf-8", "replace").decode()  # what a form cannot send back
    name = f"{clean(query)} · Search" if query else "Search"
    return _page("search", frame, title=name, query=query, longest=QUERY, told=told, script=Markup(script()))  # noqa: S704


def told(frame: Frame, reply: Reply, today: date, *, back: str = "") -> str:
    """Return what a command answered, and how one gets back to where it was given."""
    return _page("told", frame, title=clean(reply.title), told=_reply(frame, reply, today), back=back)


def _reply(frame: Frame, reply: Reply, today: date) -> PageReply:
    return PageReply(
        title=clean(reply.title),
        text=tuple(spans(each) for each in reply.text),
        lists=_lists(frame, reply, today),
        quoted=tuple(map(clean, reply.quoted)),
        cards=tuple(story(number, each, today) for number, each in enumerate(reply.cards, start=1)),
        charts=tuple(map(_chart, reply.charts)),
        fields=tuple((clean(each.name), spans(each.value)) for each in reply.fields),
        next_steps=tuple(spans(each) for each in reply.next_steps),
        actions=frame.actions(reply.buttons),
    )


def _chart(chart: Chart) -> PageChart:
    return PageChart(clean(chart.title), Markup(svg(chart)), tuple(chart_lines(chart)))  # noqa: S704 - ours, and escaped


def _lists(frame: Frame, reply: Reply, today: date) -> tuple[PageList, ...]:
    """Return the entries below their headings; a heading has no number."""
    found: list[PageList] = []
    held: list[PageEntry] = []
    name, number = "", reply.first
    for each in reply.entries:
        if each.is_section:
            found.append(PageList(name, number - len(held), tuple(held)))
            name, held = clean(each.title), []
        else:
            held.append(_entry(frame, each, today))
            number += 1
    found.append(PageList(name, number - len(held), tuple(held)))
    return tuple(each for each in found if each.title or each.entries)


def _entry(frame: Frame, entry: ReplyEntry, today: date) -> PageEntry:
    found = entry.item
    permalink = frame.item(found.key) if found is not None else ""
    return PageEntry(
        title=title(found) if found is not None else clean(entry.title),
        permalink=permalink,
        gist=clean(entry.gist),
        warnings=listed(warnings(found)) if found is not None else "",
        facts=told_facts((*byline(found, today), *signals(found))) if found is not None else (),
        lines=tuple(line_spans(each) for each in entry.lines),
        post=safe_url(entry.post),
        actions=frame.actions(entry.buttons),
    )


# --- what all pages are made of


@cache
def script() -> str:
    """Return what searches as one types; without it the page's button does. The first call reads a file."""
    return (files("adapters.web.site") / "search.js").read_text(encoding="utf-8")


def load() -> None:
    """Read what pages are made of; until then each of these functions reads files."""
    templates("adapters.web.site")
    policy(script())


def _page(name: str, frame: Frame, *, own: str = "", picture: bool = False, **values: object) -> str:
    """Return the page; `own` is its path where a link to it may be shown by what it is, with a picture or without."""
    template: Template = templates("adapters.web.site")[name]
    policy_told = policy(is_sent=False) if frame.is_file else ""
    url = frame.whole(own) if frame.whole and own else ""
    shown = frame.whole(card_path(own)) if frame.whole and picture else ""
    told = {"title": "", "description": "", **values}
    return template.render(frame=frame, policy=policy_told, url=url, picture=shown, **told)
