from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.digest import selection
from bot.digest.selection import Card, SelectionContext, pair_halves, room, select, turned_away
from bot.models import DigestRequest, Interest, Item, Limits, Query, Ranked, Topic
from bot.rank import ItemIndex, all_items
from bot.rank.reasons import is_one_phrase_alone
from tests.bot.query import generate
from tests.conftest import tries
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


# --- the first place


def chosen(*items: Item, interests: tuple[Interest, ...]) -> list[Ranked]:
    wanted = Topic(name="t", title="T", query=Query(""), interests=interests)
    made = select(DigestRequest(wanted, "T1", "C1"), all_items(ItemIndex(items, {}, NOW)), SelectionContext())
    return [card.ranked for card in made.cards]


def test_one_phrase_alone_brings_nothing_to_the_first_place_where_more_speaks_for_another() -> None:
    mentions = paper("1", title="MI300X", abstract="It ran on an MI300X, and on another MI300X.")
    of_it = paper("2", title="A scheduler", abstract="Of kernels for serving.")
    other = paper("3", title="Fast serving", abstract="Of many.")
    wanted = (Interest("MI300X", 3.0), Interest("scheduler", 0.5), Interest("kernels", 0.5), Interest("serving", 0.8))

    made = chosen(mentions, other, of_it, interests=wanted)

    assert max(made, key=lambda each: each.score).item == mentions
    assert [each.item for each in made] == [of_it, mentions, other]


def test_where_one_phrase_is_all_that_speaks_for_each_the_best_comes_first() -> None:
    once, twice = paper("1", title="Fast", abstract="A cache."), paper("2", title="A cache", abstract="A cache.")
    assert [each.item for each in chosen(once, twice, interests=(Interest("cache", 1.0),))] == [twice, once]


words = st.lists(st.sampled_from(("cache", "kernel", "scheduler", "survey", "of", "fast")), min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=7), st.lists(st.sampled_from((0.2, 1.0, 3.0)), min_size=3, max_size=3))
def test_an_item_leads_by_one_phrase_only_where_all_do_and_the_others_keep_their_order(
    texts: list[list[str]], weights: list[float]
) -> None:
    items = [paper(str(number), title=" ".join(text), abstract="") for number, text in enumerate(texts)]
    interests = tuple(Interest(name, weight) for name, weight in zip(("cache", "kernel", "scheduler"), weights, strict=True))
    made = chosen(*items, interests=interests)
    assert not is_one_phrase_alone(made[0]) or all(map(is_one_phrase_alone, made)) if made else True
    assert [each.score for each in made[1:]] == sorted((each.score for each in made[1:]), reverse=True)


@settings(deadline=None, max_examples=tries(60))
@given(st.lists(generate.items(), max_size=6, unique_by=lambda item: item.key), st.data())
def test_an_item_is_turned_away_among_many_for_the_reason_that_it_is_alone(items: list[Item], data: st.DataObject) -> None:
    names = [name for item in items for name in (item.key, *item.aliases)]
    some = st.frozensets(st.sampled_from(names)) if names else st.just(frozenset[str]())
    context = SelectionContext(posted=data.draw(some), shown=data.draw(some))
    topic = replace(TOPIC, sources=data.draw(st.sampled_from(((), ("arxiv",), ("feed",)))))
    asked, index = DigestRequest(topic, "T1", "C1"), ItemIndex(items, {}, NOW)
    dropped = select(asked, all_items(index), context).dropped
    for item in items:
        reason = turned_away(item, asked, context, NOW)
        assert dropped.get(item.key) == reason if reason else dropped.get(item.key) not in TURNED_AWAY


TURNED_AWAY = (selection.OLD, selection.WITHDRAWN, selection.POSTED, selection.SHOWN, selection.SOURCE)
