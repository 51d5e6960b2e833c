import numpy as np
import pytest

from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS, Background, at_large, with_day


def test_a_word_that_few_papers_have_is_rarer_than_one_that_most_have_and_an_unknown_one_is_rarest() -> None:
    most, few, unknown = at_large().idf(["model", "camera", "xylophones"]).tolist()
    assert most < few < unknown


def test_an_ordinary_paper_has_the_common_words_and_its_direction_has_length_1() -> None:
    background = Background({"model": 90, "camera": 10}, 100)
    both = background.ordinary(["model", "camera"])
    assert np.linalg.norm(both) == pytest.approx(1)
    assert both[0] > both[1] > 0
    assert background.ordinary(["xylophone"]).tolist() == [0]


def test_what_is_common_on_the_day_is_less_rare_than_at_large() -> None:
    day = with_day({"camera": 500, "xylophone": 500}, 1000)
    words = ["camera", "xylophone"]
    assert all(day.idf(words) < at_large().idf(words))
    assert day.ordinary(["xylophone"])[0] > 0


def test_a_day_without_items_changes_nothing_at_large() -> None:
    words = ["model", "camera", "xylophone"]
    assert with_day({}, 0).idf(words).tolist() == at_large().idf(words).tolist()


def test_the_shipped_words_are_written_as_texts_are_folded() -> None:
    listed = at_large().words
    assert len(listed) > 4000
    assert STOPWORDS.isdisjoint(listed)
    assert [word for word in listed if tokens(word) != [word]] == []
