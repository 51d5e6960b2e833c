import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item
from bot.rank import ItemIndex
from bot.rank.corpus import Corpus
from bot.rank.vectors import NumberedTexts, TfidfVectors
from tests.bot.query import generate
from tests.bot.rank.make import NOW, paper
from tests.conftest import tries

SERVING = "Serving of large language models with a paged cache on many accelerators"
CAUSES = "Causal inference for panel data with missing outcomes"
TEXTS = ("Serving models with a cache on accelerators", CAUSES, "Serving many language models")


def test_a_close_text_is_closer_than_a_far_one() -> None:
    index = ItemIndex([paper(text) for text in TEXTS], {}, NOW)
    near, far, middle = index.closeness(SERVING)
    assert far < middle < near
    assert far == 0


def test_closeness_is_the_cosine_of_weighted_counts() -> None:
    index = ItemIndex([paper("alpha", "alpha beta"), paper("gamma", "beta")], {}, NOW)
    rare, common = 1 + math.log(3 / 2), 1.0
    alpha, beta = (1 + math.log(3)) * rare, common
    expected = alpha * rare / math.hypot(alpha, beta) / math.hypot(rare)
    assert index.closeness("alpha")[0] == pytest.approx(expected)


def test_words_of_no_item_make_a_text_less_close() -> None:
    index = ItemIndex([paper("alpha beta")], {}, NOW)
    assert index.closeness("alpha beta")[0] == pytest.approx(1)
    assert index.closeness("alpha beta zeta")[0] < 0.9


def test_words_that_every_abstract_has_make_nothing_close() -> None:
    index = ItemIndex(
        [paper("Alpha", "In this paper we propose a novel method which shows that it is based on results.")], {}, NOW
    )
    assert index.closeness("We propose an approach, and the results show that it is novel.")[0] == 0


@settings(deadline=None, max_examples=tries(80))
@given(st.lists(generate.items(), min_size=1, max_size=5, unique_by=lambda item: item.key))
def test_cosines_lie_between_nothing_and_all(items: list[Item]) -> None:
    vectors = TfidfVectors(Corpus(items))
    for number in range(len(items)):
        vector = vectors.of_item(number)
        close = vectors.closeness(vector)
        assert ((close >= 0) & (close <= 1)).all()
        assert close[number] == pytest.approx(1) or not len(vector[0])


def test_an_example_is_not_close_to_itself() -> None:
    same = paper("Serving models")
    index = ItemIndex([same, paper("Serving models again")], {}, NOW)
    assert index.closeness(same)[0] == 0
    assert index.closeness(same)[1] > 0.4
    assert index.closeness(same.key).tolist() == index.closeness(same).tolist()


def test_an_example_among_the_known_items_is_found_by_key_and_by_alias() -> None:
    known = paper("Serving models with a cache", key="arxiv:2606.00001", aliases=("doi:10.1/x",))
    index = ItemIndex([paper(text) for text in TEXTS], {}, NOW, extra=[known])
    assert index.knows("arxiv:2606.00001")
    assert index.knows("doi:10.1/x")
    assert index.number("arxiv:2606.00001") is None
    assert index.closeness("doi:10.1/x").tolist() == index.closeness(known).tolist()
    assert len(index.closeness(known)) == len(TEXTS)


def test_a_key_belongs_to_its_item_before_it_is_an_alias_of_another() -> None:
    first = paper("A", key="url:a", aliases=("url:b",))
    assert ItemIndex([first, paper("B", key="url:b")], {}, NOW).number("url:b") == 1


def test_rarer_words_weigh_more() -> None:
    papers = [paper(" ".join(f"word{n}" for n in range(at, 6)), key=f"url:{at}") for at in range(5)]
    vectors = TfidfVectors(corpus := Corpus(papers))
    tokens, weights = vectors.of_item(0)
    by_word = {corpus.words[token]: weight for token, weight in zip(tokens, weights, strict=True)}
    assert all(by_word[f"word{n}"] >= by_word[f"word{n + 1}"] for n, _ in pairwise(range(5)))
    assert np.linalg.norm(weights) == pytest.approx(1)


def test_texts_are_as_close_however_often_their_words_are_numbered_anew() -> None:
    corpus = Corpus([paper(text) for text in TEXTS])
    texts = NumberedTexts(most_words=9)
    few, all_kept = TfidfVectors(corpus, texts=texts), TfidfVectors(corpus, texts=NumberedTexts())
    vocabularies = set()
    for number in range(40):
        text = f"{TEXTS[number % 3]} beside strange{number} words of {number % 7}th{number}"
        for vectors in (few, TfidfVectors(corpus, few, texts=texts)):
            assert vectors.of_text(text)[0].tolist() == all_kept.of_text(text)[0].tolist()
            assert vectors.of_text(text)[1].tolist() == all_kept.of_text(text)[1].tolist()
        vocabulary, _, _ = texts.numbered(text, "")
        assert len(vocabulary.words) < 30
        vocabularies.add(id(vocabulary))
    assert len(vocabularies) > 1
