from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.digest import compose
from bot.digest.selection import CAP, QUERY, Card
from bot.models import PARTS, Health, Item, Query, Ranked, ScorePart, SourceState, Summary, SummaryPart, Topic, Window
from tests.fakes.works import DAY, paper, repo

NOW = datetime(2026, 4, 1, 7, 0, tzinfo=UTC)
TOPIC = Topic(name="t", title="T", query=Query(""))
WINDOW = Window(3, 9)


def ranked(item: Item, score: float = 0.5) -> Ranked:
    return Ranked(item, score)


def test_coverage_counts_every_item_once() -> None:
    items = [paper("2603.00001"), paper("2603.00002"), repo()]
    dropped = {items[1].key: QUERY, items[2].key: CAP, "arxiv:not-here": QUERY}
    states = [("arXiv", SourceState(name="arxiv", health=Health.OK, asked=NOW, answered=NOW))]

    coverage = compose.coverage(items, dropped, states, since=DAY, now=NOW)

    assert (coverage.seen, coverage.kept) == (3, 1)
    assert coverage.dropped == ((QUERY, 1), (CAP, 1))
    assert coverage.sources[0].items == 2


@pytest.mark.parametrize("health", [Health.DOWN, Health.CHANGED, Health.PARTIAL])
def test_coverage_names_a_source_that_failed_and_leaves_what_it_said_to_the_status(health: Health) -> None:
    said = "arXiv's API answered 503 to https://export.arxiv.org/api/query?token=secret: XMLSyntaxError"
    state = SourceState(name="arxiv", health=health, asked=NOW, answered=NOW - timedelta(days=3), note=said)
    (report,) = compose.coverage([], {}, [("arXiv", state)], since=DAY, now=NOW).sources

    assert (report.name, report.health, report.note) == ("arXiv", health, "")


def test_coverage_says_by_name_which_source_was_not_asked_for_long() -> None:
    state = SourceState(name="arxiv", health=Health.OK, asked=NOW - timedelta(hours=30), note="caught up on 2 days")
    (report,) = compose.coverage([], {}, [("arXiv", state)], since=DAY, now=NOW).sources

    assert report.note == "arXiv was last asked 30 hours ago; caught up on 2 days"


@pytest.mark.parametrize(
    ("brought", "note", "told"),
    [
        (1, "no papers on Sunday, 29 March (weekend)", ""),  # of some other day: something came
        (0, "arXiv announces nothing on Saturday and Sunday; it went on", "arXiv announces nothing on Saturday and Sunday"),
        (0, "https://rss.arxiv.org/atom/cs.AI answered 500", ""),
        (0, "one after another " * 9, ""),
    ],
)
def test_what_a_source_said_concerns_a_digest_to_which_it_brought_nothing(brought: int, note: str, told: str) -> None:
    state = SourceState(name="arxiv", health=Health.OK, asked=NOW, note=note)
    (report,) = compose.coverage([paper()] * brought, {}, [("arXiv", state)], since=DAY, now=NOW).sources
    assert (report.note, report.of_digest) == (note, told)


def test_a_digest_over_many_days_says_so() -> None:
    late = compose.coverage([], {}, [], since=NOW - timedelta(days=6), now=NOW)

    assert late.span == "covers 6 days"
    assert compose.coverage([], {}, [], since=NOW - timedelta(days=3), now=NOW).span == ""


def test_a_digest_holds_an_entry_per_card() -> None:
    summary = Summary(tuple(SummaryPart(name, "…") for name in ("a", "b", "c", "d")), "abstract", "extractive")
    coverage = compose.coverage([paper()], {}, [], since=DAY, now=NOW)

    digest = compose.digest(TOPIC, [Card(ranked(paper()))], [summary], coverage=coverage, window=WINDOW, since=DAY, now=NOW)

    assert (digest.topic, digest.day, len(digest.entries), digest.window) == ("t", NOW.date(), 1, WINDOW)


def test_what_the_text_does_not_say_stays_unsaid() -> None:
    told = tuple(SummaryPart(name, "The abstract does not say.", found=False) for name in PARTS)
    card = Card(Ranked(paper(), 0.5, (ScorePart("phrases", 0.3, "matches *KV cache* ×3"),)))
    coverage = compose.coverage([paper()], {}, [], since=DAY, now=NOW)

    summary = Summary(told, "abstract", "small-model")
    digest = compose.digest(TOPIC, [card], [summary], coverage=coverage, window=WINDOW, since=DAY, now=NOW)

    (entry,) = digest.entries
    assert (entry.summary, entry.card, entry.why_here) == (summary, (), "KV cache")


def test_a_digest_tells_how_long_its_cards_take_to_read() -> None:
    cards = [Card(ranked(paper(f"2603.0000{number}"))) for number in range(7)]
    summary = Summary(tuple(SummaryPart(name, "one two three four " * 4) for name in PARTS), "abstract", "small-model")
    coverage = compose.coverage([], {}, [], since=DAY, now=NOW)
    whole = compose.digest(TOPIC, cards, [summary] * 7, coverage=coverage, window=WINDOW, since=DAY, now=NOW)
    assert whole.minutes == 1
    longer = replace(whole, entries=whole.entries * 4)
    told = sum(len(f"{each.gist} {' '.join(part.text for part in each.card)}".split()) + 2 for each in longer.entries)
    assert longer.minutes == -(-told // 230)
    assert replace(whole, entries=()).minutes == 1
