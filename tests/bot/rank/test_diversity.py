from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item, Ranked
from bot.rank import Edition, diversify, rank
from tests.bot.query import generate
from tests.bot.rank.make import NOW, paper, topic

FIRST = "We serve language models with a paged cache on many accelerators and measure the throughput of requests."
SECOND = "We serve language models with a paged cache on some accelerators and measure the latency of requests."
OTHER = "Causal inference for panel data with missing outcomes and staggered adoption."


def day() -> tuple[Edition, list[Ranked]]:
    items = [paper("Paged serving", FIRST, upvotes=50), paper("Paged serving again", SECOND), paper("Panels", OTHER)]
    edition = Edition(items, {}, NOW)
    return edition, rank(edition, topic("", "serving"))


def test_of_two_near_twins_the_better_placed_one_stays() -> None:
    edition, ranked = day()
    chosen = diversify(edition, ranked)
    assert [each.item.title for each in chosen.kept] == ["Paged serving", "Panels"]
    (twin,) = chosen.dropped
    assert (twin.reason, twin.why) == ("near twin", 'near twin of "Paged serving"')
    assert twin.twin is chosen.kept[0]


def test_a_twin_of_what_was_dropped_is_no_twin() -> None:
    edition, ranked = day()
    chosen = diversify(edition, ranked, min_score=ranked[0].score + 0.01)
    assert not chosen.kept
    assert {each.reason for each in chosen.dropped} == {"score"}


def test_what_is_over_the_limit_or_below_the_score_is_dropped_and_says_so() -> None:
    edition, ranked = day()
    chosen = diversify(edition, ranked, limit=1, min_score=ranked[-1].score + 0.01)
    assert len(chosen.kept) == 1
    assert [(each.reason, each.why.split(" is ")[-1]) for each in chosen.dropped] == [
        ("near twin", 'near twin of "Paged serving"'),
        ("score", f"below {ranked[-1].score + 0.01:.2f}"),
    ]
    assert [each.why for each in diversify(edition, ranked, limit=0).dropped] == ["only 0 are shown"] * 3


def test_identical_items_are_twins() -> None:
    items = [paper("Paged serving", FIRST, key=f"url:{number}") for number in range(4)]
    edition = Edition(items, {}, NOW)
    assert len(diversify(edition, rank(edition, topic())).kept) == 1


def test_items_without_words_are_nobodys_twins() -> None:
    items = [paper("", key=f"url:{number}") for number in range(3)]
    edition = Edition(items, {}, NOW)
    assert len(diversify(edition, rank(edition, topic())).kept) == 3


def test_an_entry_of_another_day_is_kept() -> None:
    edition, _ = day()
    foreign = Ranked(paper("Elsewhere"), 0.5)
    assert diversify(edition, [foreign]).kept == (foreign,)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(generate.items(), max_size=6, unique_by=lambda item: item.key),
    st.none() | st.integers(0, 4),
    st.sampled_from((0.0, 0.1, 0.5)),
)
def test_everything_is_kept_or_dropped_in_order(items: list[Item], limit: int | None, least: float) -> None:
    edition = Edition(items, {}, NOW)
    ranked = rank(edition, topic("", "gpu", "cache"))
    chosen = diversify(edition, ranked, limit=limit, min_score=least)
    left = {id(each.ranked) for each in chosen.dropped}
    assert [each for each in ranked if id(each) not in left] == list(chosen.kept)
    assert len(chosen.kept) + len(chosen.dropped) == len(ranked)
    assert all(each.score >= least for each in chosen.kept)
    assert limit is None or len(chosen.kept) <= limit
