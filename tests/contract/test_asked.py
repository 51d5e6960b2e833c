"""The form of the queries and of what must come."""

from bot.query.fold import tokens
from tests.contract.asked import asked, asked_items

KINDS = {"words", "question", "acronym", "id", "link", "quotes", "script", "misspelt", "author", "unknown"}


def test_eighty_queries_expect_items_that_are_there_or_nothing() -> None:
    items = {item.key: item for item in asked_items()}
    assert len(items) == len(asked_items()) == 130
    assert len(asked()) == len({each.query for each in asked()}) == 80
    assert {each.kind for each in asked()} == KINDS
    for each in asked():
        assert each.nothing != bool(each.first), each
        assert {*each.first, *each.five} <= items.keys(), each
        assert len(each.five) <= 5, each


def test_an_author_who_is_meant_wrote_all_that_is_expected_and_nothing_else() -> None:
    authors = [each for each in asked() if each.author]
    assert {each.kind for each in authors} == {"author", "misspelt"}
    for each in authors:
        assert {item.key for item in asked_items() if each.author in item.authors} == {*each.five} == {*each.first}, each


def test_corrected_words_stand_in_the_items_and_those_that_were_typed_do_not() -> None:
    known = {token for item in asked_items() for token in tokens(" ".join((item.title, item.abstract, *item.authors)))}
    for each in asked():
        if each.corrected:
            assert set(tokens(each.corrected)) <= known, each
            assert not set(tokens(each.query)) <= known, each
