from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item, Ranked
from bot.rank import ItemIndex, diversify, rank
from tests.bot.query import generate
from tests.bot.rank.make import NOW, paper, topic

FIRST = "We serve language models with a paged cache on many accelerators and measure the throughput of requests."
SECOND = "We serve language models with a paged cache on some accelerators and measure the latency of requests."
OTHER = "Causal inference for panel data with missing outcomes and staggered adoption."


def day() -> tuple[ItemIndex, list[Ranked]]:
    items = [paper("Paged serving", FIRST, upvotes=50), paper("Paged serving again", SECOND), paper("Panels", OTHER)]
    edition = ItemIndex(items, {}, NOW)
    return edition, rank(edition, topic("", "serving"))


def test_of_two_near_twins_the_better_placed_one_stays() -> None:
    edition, ranked = day()
    chosen = diversify(edition, ranked)
    assert [each.item.title for each in chosen.kept] == ["Paged serving", "Panels"]
    (gone,) = chosen.dropped
    assert gone.ranked is ranked[1]
    assert gone.twin is chosen.kept[0]


def test_a_twin_of_what_was_dropped_is_no_twin() -> None:
    """Three links of a chain: the second gives way to the first, the third is like the second alone."""
    words = [f"{letter}ion" for letter in "abcdefghijklmnopqrstuvwx"]
    texts = [" ".join(words[at : at + 12]) for at in (0, 5, 10)]
    edition = ItemIndex([paper(f"Part {at}", text, key=f"url:{at}") for at, text in enumerate(texts)], {}, NOW)
    chosen = diversify(edition, [Ranked(item, 0.5) for item in edition.items])
    assert [each.item.key for each in chosen.kept] == ["url:0", "url:2"]
    assert [each.twin.item.key for each in chosen.dropped] == ["url:0"]


def test_identical_items_are_twins() -> None:
    items = [paper("Paged serving", FIRST, key=f"url:{number}") for number in range(4)]
    edition = ItemIndex(items, {}, NOW)
    assert len(diversify(edition, rank(edition, topic())).kept) == 1


def test_items_without_words_are_nobodys_twins() -> None:
    items = [paper("", key=f"url:{number}") for number in range(3)]
    edition = ItemIndex(items, {}, NOW)
    assert len(diversify(edition, rank(edition, topic())).kept) == 3


def test_an_entry_of_another_day_is_kept() -> None:
    edition, _ = day()
    foreign = Ranked(paper("Elsewhere"), 0.5)
    assert diversify(edition, [foreign]).kept == (foreign,)


@settings(deadline=None, max_examples=80)
@given(st.lists(generate.items(), max_size=6, unique_by=lambda item: item.key))
def test_everything_is_kept_or_dropped_in_order(items: list[Item]) -> None:
    edition = ItemIndex(items, {}, NOW)
    ranked = rank(edition, topic("", "gpu", "cache"))
    chosen = diversify(edition, ranked)
    left = {id(each.ranked) for each in chosen.dropped}
    assert [each for each in ranked if id(each) not in left] == list(chosen.kept)
    assert len(chosen.kept) + len(chosen.dropped) == len(ranked)
    assert all(each.twin in chosen.kept for each in chosen.dropped)
