from datetime import UTC, datetime, timedelta

import pytest

from bot.digest import compose
from bot.digest.compose import Card
from bot.models import PARTS, Health, Item, Limits, Query, Ranked, ScorePart, SourceState, Summary, SummaryPart, Topic
from tests.fakes.works import DAY, paper, post, repo

NOW = datetime(2026, 4, 1, 7, 0, tzinfo=UTC)
TOPIC = Topic(name="t", title="T", query=Query(""))


def ranked(item: Item, score: float = 0.5) -> Ranked:
    return Ranked(item, score)


def away(item: Item, topic: Topic = TOPIC, posted: frozenset[str] = frozenset()) -> str:
    return compose.turned_away(item, topic, posted=posted, shown={"arxiv:shown"}, limits=Limits(), now=NOW)


def test_a_new_paper_is_not_turned_away() -> None:
    assert away(paper()) == ""


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (paper(appeared=NOW - timedelta(days=15)), compose.OLD),
        (paper(appeared=None, published=NOW - timedelta(days=15)), compose.OLD),
        (paper(published=NOW - timedelta(days=400)), ""),  # announced, or picked, yesterday
        (paper(appeared=None, published=None), ""),
        (repo(published=NOW - timedelta(days=4000), appeared=NOW - timedelta(days=4000)), ""),
        (paper(withdrawn=True), compose.WITHDRAWN),
    ],
)
def test_what_is_no_news_is_turned_away_with_its_reason(item: Item, reason: str) -> None:
    assert away(item) == reason


def test_an_item_posted_under_another_key_of_it_is_not_posted_again() -> None:
    assert away(paper(aliases=("doi:10.1/x",)), posted=frozenset({"doi:10.1/x"})) == compose.POSTED


def test_an_item_in_a_digest_above_is_not_called_posted() -> None:
    assert away(paper("shown")) == compose.SHOWN


def test_a_topic_may_leave_sources_out_one_feed_or_all_of_them() -> None:
    only_feeds = Topic(name="t", title="T", sources=("feed",))
    one_feed = Topic(name="t", title="T", sources=("feed:lab",))

    assert away(paper(), only_feeds) == compose.SOURCE
    assert away(post(), only_feeds) == away(post(), one_feed) == ""
    assert away(post(sources=("feed:other",)), one_feed) == compose.SOURCE


def test_a_paper_and_its_repository_share_the_card_of_the_better_placed_half() -> None:
    the_paper, its_repo = paper(repo="github:lab/fast"), repo("lab/fast", paper="arxiv:2603.00001")
    known = {item.key: item for item in (the_paper, its_repo)}

    cards, joined = compose.pair([ranked(its_repo), ranked(the_paper)], known)

    assert [(card.ranked.item.key, card.partner and card.partner.key) for card in cards] == [(its_repo.key, the_paper.key)]
    assert joined == {the_paper.key: its_repo}


def test_a_repository_goes_with_one_paper_only() -> None:
    first, second = paper("2603.00001", repo="github:lab/fast"), paper("2603.00002", repo="github:lab/fast")
    known = {"github:lab/fast": repo("lab/fast", paper=first.key)}

    cards, _ = compose.pair([ranked(first), ranked(second)], known)

    assert [card.partner is not None for card in cards] == [True, False]


def test_the_cap_counts_repositories_that_stand_alone_on_their_own() -> None:
    cards = [Card(ranked(repo(f"a/b{i}"))) for i in range(3)] + [Card(ranked(paper(f"2603.0000{i}"))) for i in range(3)]

    kept, dropped = compose.cap(cards, Limits(entries=4, repositories=1))

    assert [card.ranked.item.key for card in kept] == ["github:a/b0"] + [f"arxiv:2603.0000{i}" for i in range(3)]
    assert set(dropped.values()) == {compose.CAP}
    assert len(kept) + len(dropped) == len(cards)


def test_coverage_counts_every_item_once() -> None:
    items = [paper("2603.00001"), paper("2603.00002"), repo()]
    dropped = {items[1].key: compose.QUERY, items[2].key: compose.CAP, "arxiv:not-here": compose.QUERY}
    states = [("arXiv", SourceState(name="arxiv", health=Health.OK, asked=NOW, answered=NOW))]

    coverage = compose.coverage(items, dropped, states, since=DAY, now=NOW)

    assert (coverage.seen, coverage.kept) == (3, 1)
    assert coverage.dropped == ((compose.QUERY, 1), (compose.CAP, 1))
    assert coverage.sources[0].items == 2


def test_coverage_names_a_source_that_is_down_and_since_when() -> None:
    state = SourceState(
        name="arxiv",
        health=Health.DOWN,
        asked=NOW - timedelta(hours=30),
        answered=NOW - timedelta(days=3),
        note="429 Rate exceeded",
    )
    (report,) = compose.coverage([], {}, [("arXiv", state)], since=DAY, now=NOW).sources

    assert report.note == "last asked 30 hours ago; 429 Rate exceeded (last answered 3 days ago)"


def test_a_digest_over_many_days_says_so() -> None:
    late = compose.coverage([], {}, [], since=NOW - timedelta(days=6), now=NOW)

    assert late.notes == ("late: covers 6 days",)
    assert compose.coverage([], {}, [], since=NOW - timedelta(days=3), now=NOW).notes == ()


def test_a_digest_holds_an_entry_per_card() -> None:
    summary = Summary(tuple(SummaryPart(name, "…") for name in ("a", "b", "c", "d")), "abstract", "extractive")
    coverage = compose.coverage([paper()], {}, [], since=DAY, now=NOW)

    digest = compose.digest(TOPIC, [Card(ranked(paper()))], [summary], coverage=coverage, since=DAY, now=NOW)

    assert (digest.topic, digest.day, len(digest.entries)) == ("t", NOW.date(), 1)


SILENT = "The abstract does not say why it matters."


def why(text: str, *parts: ScorePart, found: bool = False) -> SummaryPart:
    """The last part of a digest's only entry, whose score is made of the parts."""
    told = (*(SummaryPart(name, f"{name}.") for name in PARTS[:-1]), SummaryPart(PARTS[-1], text, found))
    card = Card(Ranked(paper(), 0.5, parts))
    coverage = compose.coverage([paper()], {}, [], since=DAY, now=NOW)
    digest = compose.digest(TOPIC, [card], [Summary(told, "abstract", "extractive")], coverage=coverage, since=DAY, now=NOW)
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
