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


def test_a_digest_over_many_days_says_so() -> None:
    late = compose.coverage([], {}, [], since=NOW - timedelta(days=6), now=NOW)

    assert late.notes == ("late: covers 6 days",)
    assert compose.coverage([], {}, [], since=NOW - timedelta(days=3), now=NOW).notes == ()


def test_a_digest_holds_an_entry_per_card() -> None:
    summary = Summary(tuple(SummaryPart(name, "…") for name in ("a", "b", "c", "d")), "abstract", "extractive")
    coverage = compose.coverage([paper()], {}, [], since=DAY, now=NOW)

    digest = compose.digest(TOPIC, [Card(ranked(paper()))], [summary], coverage=coverage, window=WINDOW, since=DAY, now=NOW)

    assert (digest.topic, digest.day, len(digest.entries), digest.window) == ("t", NOW.date(), 1, WINDOW)


SILENT = "The abstract does not say why it matters."


def why(text: str, *parts: ScorePart, found: bool = False) -> SummaryPart:
    """The last part of a digest's only entry, whose score is made of the parts."""
    told = (*(SummaryPart(name, f"{name}.") for name in PARTS[:-1]), SummaryPart(PARTS[-1], text, found))
    card = Card(Ranked(paper(), 0.5, parts))
    coverage = compose.coverage([paper()], {}, [], since=DAY, now=NOW)
    digest = compose.digest(
        TOPIC, [card], [Summary(told, "abstract", "extractive")], coverage=coverage, window=WINDOW, since=DAY, now=NOW
    )
    assert digest.entries[0].summary.parts[:-1] == told[:-1]
    return digest.entries[0].summary.parts[-1]


def test_where_the_text_does_not_say_why_it_matters_the_topic_does_under_its_own_name() -> None:
    phrases = ScorePart("phrases", 0.3, "matches *KV cache* ×3, *GPU*")
    liked = ScorePart("feedback", 0.1, 'close to "Fast Caches" you liked')

    told = why(SILENT, phrases, liked)

    assert told.text == 'For your topic: matches "KV cache" ×3, "GPU"; close to "Fast Caches" you liked.'
    assert not told.found


def test_a_reason_of_the_text_stays() -> None:
    part = ScorePart("phrases", 0.3, "matches *KV cache*")
    assert why("It halves the cost.", part, found=True).text == "It halves the cost."


@pytest.mark.parametrize(
    "part",
    [
        ScorePart("community", 0.2, "412 stars in 3 days"),
        ScorePart("freshness", 0.2, "new today"),
        ScorePart("feedback", -0.1, "shares *video* with what you wanted less of"),
        ScorePart("phrases", 0.1, ""),
        ScorePart("phrases", 0.1, "against *survey*"),
    ],
)
def test_stars_freshness_and_what_speaks_against_an_item_are_no_reason_of_the_topic(part: ScorePart) -> None:
    assert why(SILENT, part).text == SILENT


def test_only_what_speaks_for_the_item_is_told() -> None:
    part = ScorePart("phrases", 0.3, "by Tri Dao, matches *KV cache*, against *survey*")
    assert why(SILENT, part).text == 'For your topic: by Tri Dao, matches "KV cache".'


def test_what_is_known_of_a_repository_follows_the_reason() -> None:
    part = ScorePart("phrases", 0.3, "matches *cache*")
    told = why("The description does not say why it matters. Known: MIT licence.", part)
    assert told.text == 'For your topic: matches "cache". Known: MIT licence.'


def test_the_stars_that_a_repository_gained_stand_where_it_reports_no_measurements() -> None:
    told = tuple(SummaryPart(name, "None is known.", found=False) for name in PARTS)
    community = ScorePart("community", 0.2, "1,412 stars in 3 days")
    summary = Summary(told, "description", "extractive")

    ours = compose.for_the_topic(summary, Ranked(repo("lab/fast"), 0.5, (community,)))

    assert [part.text for part in ours.parts] == [
        *("None is known.", "None is known."),
        "None is known. It gained 1,412 stars in 3 days.",
        "None is known.",
    ]
    assert compose.for_the_topic(summary, Ranked(paper(), 0.5, (community,))) == summary
