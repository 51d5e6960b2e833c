"""A day's texts as numbers, taken over from those of the day before where they are the same."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item
from bot.rank.corpus import Corpus
from tests.bot.query import generate
from tests.bot.rank.make import paper
from tests.conftest import tries

days = st.lists(generate.items(), max_size=6, unique_by=lambda item: item.key)


def told(corpus: Corpus) -> tuple[object, ...]:
    return corpus.words, corpus.row.tolist(), corpus.slots.tolist(), corpus.lengths.tolist()


@settings(deadline=None, max_examples=tries(60))
@given(days, days)
def test_what_is_taken_over_is_what_would_be_read(yesterday: list[Item], today: list[Item]) -> None:
    both = list({item.key: item for item in (*today, *yesterday[::2])}.values())
    assert told(Corpus(both, Corpus(yesterday))) == told(Corpus(both))


@pytest.mark.parametrize(
    "changed",
    [
        {"title": "Paged caches"},
        {"abstract": "Other words."},
        {"readme": "How to install it."},
        {"authors": ("Ann Lee",)},
        {"org": "Lab"},
        {"keywords": ("cuda",)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_text_that_changed_is_read_again(changed: dict[str, object]) -> None:
    item = paper("Caches", "Some words.", authors=("Tri Dao",), key="url:x")
    other = replace(item, **changed)  # type: ignore[arg-type]
    assert told(Corpus([other], Corpus([item]))) == told(Corpus([other])) != told(Corpus([item]))
