"""What single sets are judged by, and the baselines beside them."""

import asyncio
import gzip
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality.archive import any_order, days, most, upvotes
from benchmarks.quality.baselines import Plain, Porter, svm
from benchmarks.quality.dangling import dangles
from benchmarks.quality.embedding import Embedding
from benchmarks.quality.metrics import ndcg
from benchmarks.quality.search import judged
from benchmarks.rouge import of_closest, rouge
from bot.models import Item, Kind
from tests.fakes.concepts import Concepts

FIRST = datetime(2026, 1, 5, tzinfo=UTC)


def paper(number: int, day: int) -> Item:
    return Item(
        key=f"arxiv:2601.{day:02}{number:03}", kind=Kind.PAPER, title=f"Paper {number}", seen=FIRST + timedelta(days=day)
    )


@pytest.mark.parametrize(
    "text",
    [
        "This makes it slow.",
        "However, these fail.",
        "They do not scale.",
        "Such methods are slow.",
        "It also helps.",
        "Both of them fail.",
    ],
)
def test_a_start_that_points_elsewhere_dangles(text: str) -> None:
    assert dangles(text)


@pytest.mark.parametrize(
    "text",
    [
        "This paper studies caches.",
        "This systematic review asks why.",
        "It is known that caches fill.",
        "The method is slow.",
        "Thistles grow.",
        "Such as it stands.",
    ],
)
def test_a_start_that_stands_by_itself_does_not(text: str) -> None:
    assert not dangles(text)


def test_only_what_was_judged_relevant_counts() -> None:
    assert judged({"rel": {"a": 3, "b": -1, "c": 0}}) == {"a"}
    assert judged({"rel": [], "cited": ["x"]}) == {"x"}
    assert judged({"rel": ["1", "2"]}) == {"1", "2"}


def test_any_order_is_the_mean_of_all_orders() -> None:
    gains = np.array([3.0, 0.0, 1.0])
    orders = [[3, 0, 1], [3, 1, 0], [0, 3, 1], [0, 1, 3], [1, 0, 3], [1, 3, 0]]
    assert any_order(gains) == pytest.approx(np.mean([ndcg(order, [3, 0, 1]) for order in orders]))


def test_readers_are_known_by_earlier_days_alone() -> None:
    corpus = [paper(number, day) for day in range(40) for number in range(100)]
    # Five papers a day are on Hugging Face, on the day after they appeared.
    voted = {
        paper(number, day).key: [(date(2026, 1, 5) + timedelta(days=day + 1), 10 * number)]
        for day in range(40)
        for number in range(1, 6)
    }
    found = days(corpus, voted, 3)
    assert [day.now for day in found] == [FIRST + timedelta(days=day + 1) for day in (28, 33, 39)]
    for day in found:
        today = day.now - timedelta(days=1)
        assert len(day.items) == 100
        assert max(day.gains) == pytest.approx(np.log2(51))
        assert len(day.more) == len(day.less) == 30
        assert all(item.seen < today for item in (*day.more, *day.less) if item.seen)
        # What appeared the day before was first on Hugging Face today: nobody knew of it.
        assert all(voted[item.key][0][0] < today.date() for item in day.more)
        assert not {item.key for item in day.less} & most(voted, today.date()).keys()


def test_upvotes_that_a_later_day_saw_choose_no_paper() -> None:
    corpus = [paper(number, day) for day in range(30) for number in range(100)]
    ranked = (FIRST + timedelta(days=29)).date()
    before, after = ranked - timedelta(days=1), ranked + timedelta(days=1)
    # Forty are known; the ten with fewest upvotes have the most of all a day later. On the day itself five are voted for.
    voted = {paper(number, 20).key: [(before, 100 - number)] for number in range(40)}
    for number in range(30, 40):
        voted[paper(number, 20).key] += [(ranked, 5000), (after, 9000)]
    voted |= {paper(number, 29).key: [(ranked, 3), (after, 7)] for number in range(5)}
    found = days(corpus, voted, 1)[0]
    assert [item.key for item in found.more] == [paper(number, 20).key for number in range(30)]
    assert max(found.gains) == pytest.approx(np.log2(8))

    # A paper that only a later file has is, on the day before, like every other that nobody voted for.
    later = {paper(number, day).key: [(after, 50)] for day in range(28) for number in range(100)}
    found = days(corpus, later | voted, 1)[0]
    assert [item.key for item in found.more] == [paper(number, 20).key for number in range(30)]
    assert {item.key for item in found.less} & later.keys() - voted.keys()


def test_of_each_paper_it_is_kept_what_each_days_file_has(tmp_path: Path) -> None:
    for day, count in (("2026-02-01", 4), ("2026-02-02", 9), ("2026-02-03", None)):
        with gzip.open(tmp_path / f"{day}.json.gz", "wt", encoding="utf-8") as file:
            json.dump([{"paper": {"id": "2601.00001", "upvotes": count}}], file)
    voted = upvotes(tmp_path)
    assert most(voted, date(2026, 2, 1)) == {}
    assert most(voted, date(2026, 2, 2)) == {"arxiv:2601.00001": 4}
    assert most(voted) == {"arxiv:2601.00001": 9}


def test_days_with_few_papers_or_few_votes_are_left_out() -> None:
    corpus = [paper(number, day) for day in range(40) for number in range(99)]
    assert days(corpus, {item.key: [(date(2026, 1, 1), 1)] for item in corpus}, 3) == []
    assert days([paper(number, day) for day in range(40) for number in range(100)], {}, 3) == []


def test_plain_closeness_knows_shared_rare_words() -> None:
    plain = Plain(["paged cache of attention", "cache of paged attention", "wheat of spring"])
    close = plain.closeness(0)
    assert close[1] == pytest.approx(1.0)
    # "of" stands in all three and says nothing
    assert close[2] == pytest.approx(0.0)
    assert plain.nearest([0, 2])[1] == pytest.approx(0.5)
    assert plain.centroid([0, 2])[1] == pytest.approx(0.5)


def test_a_support_vector_machine_parts_what_can_be_parted() -> None:
    rows = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9], [0.05, 0.95]])
    liked = np.array([True, True, False, False, False])
    inner = rows @ rows.T
    decided = (inner + 1.0) @ svm(inner, liked, cost=10.0)
    assert ((decided > 0) == liked).all()


def test_the_porter_baseline_finds_any_word_by_its_stem() -> None:
    index = Porter([("a", "Caching", "pages"), ("b", "Wheat", "grows in spring")])
    assert index.search("caches, growing?") in (["a", "b"], ["b", "a"])
    assert index.search("?!") == []
    index.close()


def test_rouge_counts_stems_of_longer_words() -> None:
    assert rouge("caching pages", ["cached page"]) == pytest.approx((1.0, 1.0, 1.0))
    # words of three letters stand as they are
    assert rouge("the bus", ["the buses"])[0] == pytest.approx(0.5)
    assert rouge("a b c d", ["d c b a", "x"])[2] == pytest.approx(0.25)
    assert rouge("", ["a"]) == (0.0, 0.0, 0.0)


def test_of_several_references_the_one_with_the_highest_rouge_1_counts_for_all_three() -> None:
    # The first shares all words in another order, the second two of them in this order: 1, 0, .25 and .5, .33, .5.
    references = ["d c b a", "a b x y"]
    assert of_closest("a b c d", references) == pytest.approx((1.0, 0.0, 0.25))
    assert rouge("a b c d", references) == pytest.approx((1.0, 1 / 3, 0.5))
    assert of_closest("a", []) == rouge("a", []) == (0.0, 0.0, 0.0)


def test_vectors_are_kept_between_runs(tmp_path: Path) -> None:
    def rows(embedder: Concepts, *, quick: bool = False) -> list[bytes]:
        found = asyncio.run(Embedding(embedder, tmp_path).texts(["a cache of memory", "a gas stove"], quick=quick))
        return [row.tobytes() for row in found]

    first, again = Concepts(), Concepts()
    assert rows(again) == rows(first)
    assert first.asked == []
    assert len(again.asked) == 2
    rows(first, quick=True)
    assert [quick for _, quick in first.asked] == [True, True]
