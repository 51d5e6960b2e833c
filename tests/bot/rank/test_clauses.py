import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item, Term, Tree
from bot.query import matches, parse
from bot.rank import ItemIndex
from bot.rank.clauses import besides_words, in_words
from tests.bot.query import generate
from tests.bot.rank.make import NOW, paper, repo
from tests.conftest import tries

corpora = st.lists(generate.items(), max_size=5, unique_by=lambda item: item.key)


@settings(deadline=None, max_examples=tries(150))
@given(corpora, st.lists(generate.trees(), min_size=1, max_size=4))
def test_an_index_admits_what_the_matcher_matches(items: list[Item], trees: list[Tree]) -> None:
    index = ItemIndex(items, {}, NOW)
    for tree in trees:
        assert index.admits(tree).tolist() == [matches(tree, item, NOW) for item in items]


@settings(deadline=None, max_examples=tries(80))
@given(corpora, corpora, generate.trees())
def test_known_items_beside_the_candidates_change_no_answer(items: list[Item], extra: list[Item], tree: Tree) -> None:
    assert ItemIndex(items, {}, NOW, extra).admits(tree).tolist() == ItemIndex(items, {}, NOW).admits(tree).tolist()


@settings(deadline=None, max_examples=tries(80))
@given(corpora, generate.trees())
def test_a_clause_is_strong_exactly_where_it_holds(items: list[Item], tree: Tree) -> None:
    index = ItemIndex(items, {}, NOW)
    clause = index.clause(tree)
    assert clause.items.tolist() == [number for number, holds in enumerate(index.admits(tree)) if holds]
    assert all(0 < strength <= 1 for strength in clause.strengths)


def test_a_phrase_in_the_title_is_stronger_than_one_in_the_abstract_and_more_often_is_stronger() -> None:
    said = "We look at the cache."
    index = ItemIndex(
        [paper("The KV cache"), paper("A", "A KV cache."), paper("B", "KV cache, KV cache."), paper("C", said)], {}, NOW
    )
    in_title, once, twice = index.clause('"kv cache"').strengths
    assert once < twice < in_title
    assert index.clause('"kv cache"').items.tolist() == [0, 1, 2]


def test_a_phrase_that_a_long_text_mentions_is_weaker_than_one_in_a_short_text() -> None:
    index = ItemIndex([paper("A", "CUDA."), paper("B", "CUDA. " + "Word " * 2000)], {}, NOW)
    short, long = index.clause("cuda").strengths
    assert long < short / 2


def test_a_name_is_there_or_not() -> None:
    index = ItemIndex([paper("A", authors=("Tri Dao",)), paper("B", authors=("Ann Lee",))], {}, NOW)
    clause = index.clause('author:"tri dao"')
    assert (clause.items.tolist(), clause.strengths.tolist()) == ([0], [1.0])


def test_a_hyphenated_word_is_counted_once_however_it_is_asked_for() -> None:
    index = ItemIndex([paper("A", "Pre-training and pre-training.")], {}, NOW)
    assert [dict(each.counts) for each in index.clause("pre-training").mentions] == [{0: 2}]


def test_the_beginning_of_a_word_is_found_in_every_word_that_begins_so() -> None:
    index = ItemIndex([paper("Quantised"), paper("Quantum quanta"), paper("Aqua quant")], {}, NOW)
    counted = [dict(each.counts) for each in index.clause("quant*").mentions]
    assert counted == [{0: 1, 1: 2, 2: 1}]


def test_a_phrase_may_end_in_the_beginning_of_a_word() -> None:
    index = ItemIndex([paper("A", "sparse attentions. sparse attentive"), paper("B", "attention sparse")], {}, NOW)
    clause = index.clause(Term("sparse atten", prefix=True, quoted=True))
    assert clause.items.tolist() == [0]
    assert [dict(each.counts) for each in clause.mentions] == [{0: 2}]


# --- in words, and besides them


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("CUDA", "CUDA"),
        ("CUDA OR has:code", "CUDA"),
        ("CUDA OR ROCm OR has:code", "CUDA OR ROCm"),
        ("CUDA has:code", "CUDA has:code"),
        ("has:code", None),
        ("category:cs.DB", None),
        ("stars:>100 OR published:7d", None),
        ("-survey", None),
    ],
)
def test_a_label_is_no_word_where_words_would_do_as_well(clause: str, words: str | None) -> None:
    assert in_words(parse(clause).tree) == (parse(words).tree if words else None)


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("CUDA", ""),
        ("(CUDA OR category:cs.AR) -blockchain", "-blockchain"),
        ("CUDA kind:paper stars:>3", "kind:paper stars:>3"),
        ('author:"Tri Dao" attention', 'author:"Tri Dao"'),
        ("category:cs.AR OR has:code", "category:cs.AR OR has:code"),
    ],
)
def test_besides_words_a_query_asks_for_names_labels_and_what_it_excludes(query: str, rest: str) -> None:
    items = [
        paper("CUDA on a chain", "blockchain"), paper("Other", authors=("Tri Dao",)), paper("X", categories=("cs.AR",)),
        repo("a/b", "CUDA", stars=5), repo("c/d", stars=1), paper("Y", stars=7),
    ]  # fmt: skip
    index = ItemIndex(items, {}, NOW)
    assert index.admits(besides_words(parse(query).tree)).tolist() == index.admits(parse(rest).tree).tolist()


@settings(deadline=None, max_examples=tries(80))
@given(generate.trees(), generate.items())
def test_whatever_a_query_admits_meets_what_it_asks_for_besides_words(tree: Tree, item: Item) -> None:
    assert not matches(tree, item, NOW) or matches(besides_words(tree), item, NOW)
