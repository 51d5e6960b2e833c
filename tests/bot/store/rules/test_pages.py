"""What is remembered of lists that are being read."""

from bot.models import Query, Term
from bot.store.rules.pages import ShownLists

CACHE = Query("cache", Term("cache"))


def numbered(*numbers: int) -> tuple[tuple[int, float], ...]:
    return tuple((number, 1.0) for number in numbers)


def test_a_list_grows_page_by_page() -> None:
    lists = ShownLists[int]()
    lists.keep(CACHE, "7", 0, numbered(7, 3))
    lists.keep(CACHE, "7", 2, numbered(5))
    assert lists.shown(CACHE, "7") == numbered(7, 3, 5)
    assert lists.shown(CACHE, "8") == ()
    assert lists.shown(Query("", Term("cache"), "new"), "7") == ()


def test_the_same_query_typed_otherwise_is_the_same_list() -> None:
    lists = ShownLists[int]()
    lists.keep(CACHE, "7", 0, numbered(7))
    assert lists.shown(Query("  cache", Term("cache", position=2)), "7") == numbered(7)


def test_what_is_found_by_words_alone_is_another_list() -> None:
    lists = ShownLists[int]()
    lists.keep(CACHE, "7", 0, numbered(7, 3))
    assert lists.shown(CACHE, "7", space="vectors-1") == ()
    lists.keep(CACHE, "7", 0, numbered(7), space="vectors-1")
    assert lists.shown(CACHE, "7") == numbered(7, 3)


def test_a_page_that_does_not_follow_what_is_known_is_left_out() -> None:
    lists = ShownLists[int]()
    lists.keep(CACHE, "7", 4, numbered(1))
    assert lists.shown(CACHE, "7") == ()
    lists.keep(CACHE, "7", 0, numbered(7, 3))
    lists.keep(CACHE, "7", 4, numbered(1))
    assert lists.shown(CACHE, "7") == numbered(7, 3)


def test_asking_for_the_first_page_again_forgets_nothing_of_the_same_list() -> None:
    lists = ShownLists[int]()
    lists.keep(CACHE, "7", 0, numbered(7, 3, 5))
    lists.keep(CACHE, "7", 0, numbered(7))
    assert lists.shown(CACHE, "7") == numbered(7, 3, 5)
    lists.keep(CACHE, "7", 0, numbered(6))
    assert lists.shown(CACHE, "7") == numbered(6)


def test_neither_a_list_nor_their_number_grows_without_end() -> None:
    lists = ShownLists[int]()
    for page in range(600):
        lists.keep(CACHE, "7", 2 * page, numbered(2 * page, 2 * page + 1))
    assert len(lists.shown(CACHE, "7")) == 1000
    for mark in range(1000):
        lists.keep(CACHE, str(mark), 0, numbered(mark))
    assert lists.shown(CACHE, "7") == ()
    assert lists.shown(CACHE, "999") == numbered(999)
