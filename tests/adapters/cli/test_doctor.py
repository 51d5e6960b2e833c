"""What `broadsheet doctor` says of the search engine."""

from adapters.cli.doctor import MANY_ITEMS, Grade, search_finding
from bot.ports.items import Making


def test_an_index_beside_the_database_is_proposed_for_many_items_alone() -> None:
    assert search_finding("fts5", MANY_ITEMS, None) == []
    (found,) = search_finding("fts5", MANY_ITEMS + 1, None)
    assert found.grade is Grade.NOTE
    assert "200,001 items" in found.text
    assert "[search]" in found.text


def test_it_is_said_how_far_the_index_is() -> None:
    (whole,) = search_finding("tantivy", 10, None)
    assert whole.grade is Grade.GOOD
    (begun,) = search_finding("tantivy", 10, Making(5_000, 300_000))
    assert begun.grade is Grade.NOTE
    assert "5,000 of 300,000" in begun.text


def test_it_is_said_how_far_the_search_copy_is_of_a_database_elsewhere() -> None:
    (begun,) = search_finding("fts5", MANY_ITEMS + 1, Making(5_000, 300_000))
    assert begun.grade is Grade.NOTE
    assert "the search copy is made, so far 5,000 of 300,000" in begun.text
