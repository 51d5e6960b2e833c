"""The edition of 14 June 2026 under the `gpu-systems` topic: a real day, and the five papers an editor chose."""

from datetime import UTC, datetime

from bot.models import Kind, Ranked
from bot.rank import ItemIndex, diversify, rank
from bot.settings.topic_packs import load_packs
from tests.fakes import edition as june

NOW = datetime(2026, 6, 14, 20, tzinfo=UTC)


def ranked() -> tuple[ItemIndex, list[Ranked]]:
    edition = ItemIndex(june.items(), {}, NOW)
    pack = load_packs()["gpu-systems"]
    return edition, rank(edition, pack, examples=pack.examples)


def test_the_five_that_were_chosen_are_ranked_above_the_rest_more_often_than_not() -> None:
    order = [each.item.title for each in ranked()[1]]
    places = sorted(order.index(title) for title, _ in june.chosen())
    others = [place for place in range(len(order)) if place not in places]
    above = sum(ours < other for ours in places for other in others)
    assert above > 0.6 * len(places) * len(others)


def test_all_that_were_chosen_enter_and_the_first_paper_of_all_is_one_of_them() -> None:
    order = ranked()[1]
    chosen = [title for title, _ in june.chosen()]
    assert set(chosen) <= {each.item.title for each in order}
    assert next(each.item.title for each in order if each.item.kind is Kind.PAPER) in chosen


def test_all_that_were_chosen_are_over_the_bar() -> None:
    bar = load_packs()["gpu-systems"].min_score
    over = {each.item.title for each in ranked()[1] if each.relevance >= bar}
    assert {title for title, _ in june.chosen()} <= over


def test_spiking_networks_and_processor_caches_do_not_come_near_the_top() -> None:
    order = [each.item.title for each in ranked()[1]]
    assert not [title for title in order[:8] if "Spiking" in title or "Tags" in title]


def test_every_entry_says_why_and_none_is_a_twin() -> None:
    edition, order = ranked()
    assert all(each.reasons for each in order)
    assert not diversify(edition, order).dropped
