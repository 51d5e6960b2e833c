"""The words and phrases that two texts share, and what is one work under several keys."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.models import Hit, Item, Kind
from bot.query.fold import tokens
from bot.store.rules.common_ground import MOST, apart, as_cards, shared
from bot.store.rules.search_terms import stem_of

STOP = {"the", "of", "a", "we", "for", "and"}


def stem(token: str) -> str:
    return "" if token in STOP else stem_of(token)


def item(title: str, abstract: str = "", key: str = "arxiv:1", **changes: object) -> Item:
    return replace(Item(key=key, kind=Kind.PAPER, title=title, abstract=abstract), **changes)  # type: ignore[arg-type]


def common(mine: Item, theirs: Item, plain: str = "") -> tuple[str, ...]:
    """What is shared where every word is rare but the plain ones, which all have."""
    words = tokens(f"{mine.title} {mine.abstract} {' '.join(mine.keywords)}")
    ordinary = {stem(each) for each in tokens(plain)}
    (told,) = shared(mine, [theirs], {stem(each): 1.0 if stem(each) in ordinary else 6.0 for each in words}, stem)
    return told


def test_a_phrase_of_both_is_said_whole_and_its_words_not_again() -> None:
    mine = item("Evicting", "We evict entries of the KV cache for long contexts.")
    theirs = item("The KV-cache, smaller", "A KV cache of two bits; entries of long contexts.")
    assert common(mine, theirs) == ("KV cache", "long contexts", "entries")


def test_words_that_do_not_follow_one_another_in_both_are_no_phrase() -> None:
    assert set(common(item("Sparse attention"), item("Attention. Sparse"))) == {"attention", "Sparse"}
    assert set(common(item("Sparse attention"), item("Sparse, attention"))) == {"Sparse", "attention"}


def test_what_everybody_has_is_not_said() -> None:
    assert common(item("Models of galaxies"), item("Models of wine"), plain="models") == ()
    assert common(item("Large galaxies"), item("Large galaxies"), plain="large") == ("galaxies",)


def test_it_is_spelt_as_in_the_middle_of_a_sentence() -> None:
    mine, theirs = item("Quantization of Mamba"), item("On quantization", "Mamba and quantization")
    assert common(mine, theirs) == ("quantization", "Mamba")


def test_titles_keywords_and_sentences_do_not_run_into_one_another() -> None:
    assert common(item("Blue", "whales"), item("Blue whales")) == ("Blue", "whales")
    assert common(item("x", "y", keywords=("blue", "whales")), item("Blue whales")) == ("blue", "whales")


texts = st.lists(
    st.sampled_from(("KV", "cache", "the", "of", "Eviction", "memory-bound", "2", ".", "名前", "$x$")), max_size=12
)


@given(texts, texts)
def test_nothing_is_said_that_is_not_in_both(mine: list[str], theirs: list[str]) -> None:
    one, two = item(" ".join(mine)), item(" ".join(theirs))
    for phrase in (found := common(one, two)):
        stems = [stem(each) for each in tokens(phrase)]
        for text in (one.title, two.title):
            has = [stem(each) for each in tokens(text)]
            assert any(has[at : at + len(stems)] == stems for at in range(len(has)))
    assert len(found) <= MOST
    assert len(set(found)) == len(found)


def test_the_first_of_the_same_work_stays() -> None:
    asked = item("Paging", authors=("Ada Núñez",))
    again = item("PAGING", key="doi:10.1/x", authors=("Bob", "ada nunez"))
    first, second = (item("Other", key=key, authors=("Eve",)) for key in ("arxiv:2", "doi:10.1/y"))
    nameless = item("Paging", key="url:z")
    hits = [Hit(each, 0.5) for each in (again, first, second, nameless)]
    assert [hit.item.key for hit in apart(asked, hits)] == ["arxiv:2", "url:z"]


def test_the_other_half_that_no_hit_is_goes_with_the_one_that_is() -> None:
    code = item("pager", key="github:lab/pager", kind=Kind.REPO, paper="arxiv:1")
    held = item("Paging", repo=code.key)
    (card,) = as_cards([Hit(code, 0.4)], {held.key: held}, 5)
    assert (card.item, card.other, card.relevance) == (held, code, 0.4)
    assert as_cards([Hit(held, 0.5), Hit(code, 0.4)], {}, 5) == [Hit(held, 0.5, code)]
    assert as_cards([Hit(held, 0.5)], {}, 0) == []
