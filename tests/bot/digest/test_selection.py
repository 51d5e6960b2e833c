from datetime import UTC, datetime, timedelta

import pytest

from bot.digest import selection
from bot.digest.selection import Card, SelectionContext, pair_halves, room, turned_away
from bot.models import DigestRequest, Item, Limits, Query, Ranked, Topic
from tests.fakes.works import paper, post, repo

NOW = datetime(2026, 4, 1, 7, 0, tzinfo=UTC)
TOPIC = Topic(name="t", title="T", query=Query(""))


def ranked(item: Item, score: float = 0.5) -> Ranked:
    return Ranked(item, score)


def away(item: Item, topic: Topic = TOPIC, posted: frozenset[str] = frozenset()) -> str:
    context = SelectionContext(posted=posted, shown={"arxiv:shown"})
    return turned_away(item, DigestRequest(topic, "T1", "C1"), context, NOW)


def test_a_new_paper_is_not_turned_away() -> None:
    assert away(paper()) == ""


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (paper(appeared=NOW - timedelta(days=15)), selection.OLD),
        (paper(appeared=None, published=NOW - timedelta(days=15)), selection.OLD),
        (paper(published=NOW - timedelta(days=400)), ""),  # announced, or picked, yesterday
        (paper(appeared=None, published=None), ""),
        (repo(published=NOW - timedelta(days=4000), appeared=NOW - timedelta(days=4000)), ""),
        (paper(withdrawn=True), selection.WITHDRAWN),
    ],
)
def test_what_is_no_news_is_turned_away_with_its_reason(item: Item, reason: str) -> None:
    assert away(item) == reason


def test_an_item_posted_under_another_key_of_it_is_not_posted_again() -> None:
    assert away(paper(aliases=("doi:10.1/x",)), posted=frozenset({"doi:10.1/x"})) == selection.POSTED


def test_an_item_in_a_digest_above_is_not_called_posted() -> None:
    assert away(paper("shown")) == selection.SHOWN


def test_a_topic_may_leave_sources_out_one_feed_or_all_of_them() -> None:
    only_feeds = Topic(name="t", title="T", sources=("feed",))
    one_feed = Topic(name="t", title="T", sources=("feed:lab",))

    assert away(paper(), only_feeds) == selection.SOURCE
    assert away(post(), only_feeds) == away(post(), one_feed) == ""
    assert away(post(sources=("feed:other",)), one_feed) == selection.SOURCE


def test_a_paper_and_its_repository_share_the_card_of_the_better_placed_half() -> None:
    the_paper, its_repo = paper(repo="github:lab/fast"), repo("lab/fast", paper="arxiv:2603.00001")
    known = {item.key: item for item in (the_paper, its_repo)}

    cards, joined = pair_halves([ranked(its_repo), ranked(the_paper)], known)

    assert [(card.ranked.item.key, card.partner and card.partner.key) for card in cards] == [(its_repo.key, the_paper.key)]
    assert joined == {the_paper.key: its_repo}


def test_a_repository_goes_with_one_paper_only() -> None:
    first, second = paper("2603.00001", repo="github:lab/fast"), paper("2603.00002", repo="github:lab/fast")
    known = {"github:lab/fast": repo("lab/fast", paper=first.key)}

    cards, _ = pair_halves([ranked(first), ranked(second)], known)

    assert [card.partner is not None for card in cards] == [True, False]


def test_the_cap_counts_repositories_that_stand_alone_on_their_own() -> None:
    cards = [Card(ranked(repo(f"a/b{i}"))) for i in range(3)] + [Card(ranked(paper(f"2603.0000{i}"))) for i in range(3)]

    fits = room(Limits(entries=4, repositories=1))

    assert [card.ranked.item.key for card in cards if fits(card)] == [
        "github:a/b0",
        *(f"arxiv:2603.0000{i}" for i in range(3)),
    ]


def test_there_is_room_for_as_many_entries_as_the_limits_say_and_for_no_more() -> None:
    fits = room(Limits(entries=2, repositories=1))
    paired = Card(ranked(repo("a/b")), paper())
    assert [fits(paired), fits(paired), fits(paired)] == [True, True, False]
