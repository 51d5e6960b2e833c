import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Interest, Item, Label, Link, Term, Tree
from bot.query import matches, unparse_tree
from bot.rank import ItemIndex, rank
from bot.rank.clauses import leaves_of
from tests.bot.query import generate
from tests.bot.rank.make import NOW, paper, topic
from tests.conftest import tries


def reason(item: Item, *interests: str | tuple[str, float]) -> str:
    (only,) = rank(ItemIndex([item], {}, NOW), topic("", *interests))
    return only.parts[0].why


def test_matches_are_named_with_how_often_the_weightiest_first() -> None:
    item = paper("GPU", "The KV cache, a KV cache and the KV cache of one GPU.")
    assert reason(item, "gpu", ("KV cache", 2)) == "matches *KV* ×3, *cache* ×3, *gpu* ×2"
    assert reason(item, "gpu", ('"KV cache"', 2)) == "matches *KV cache* ×3, *gpu* ×2"


def test_an_author_is_named_as_written_in_the_paper() -> None:
    item = paper("CUDA", authors=("Ann Lee", "Jürgen Müller"))
    assert reason(item, 'author:"jurgen muller"', "cuda") == "by Jürgen Müller, matches *cuda*"
    assert reason(item, 'author:"Müller, Jürgen"') == "by Jürgen Müller"


def test_an_organisation_is_named() -> None:
    assert reason(paper("A", org="NVIDIA"), "org:nvidia") == "from NVIDIA"


def test_of_alternatives_those_are_named_that_the_item_has() -> None:
    assert reason(paper("CUDA and HIP"), "rocm OR cuda OR hip -survey") == "matches *cuda*, *hip*"


def test_labels_are_told_in_words_where_there_are_any() -> None:
    assert reason(paper("A", categories=("cs.DC",)), "category:cs.dc kind:paper") == "matches *cs.dc*, a paper"
    assert reason(paper("A", links=(Link("code", "https://github.com/a/b"),)), "has:code") == "has code"
    assert reason(paper("A", license="MIT"), "license:mit") == "matches *license:mit*"


def test_what_an_item_has_beside_its_words_is_told_last_and_not_as_a_match() -> None:
    item = paper("GPU", "A KV cache.", links=(Link("code", "https://github.com/a/b"),))
    assert reason(item, ("has:code", 3), ("gpu", 2), "cache") == "matches *gpu*, *cache*, has code"
    assert reason(item, ("has:code", 3), "gpu", "kv", "cache", "a") == "matches *gpu*, *kv*, *cache*, has code"
    assert reason(item, "gpu", ("has:code", -1)) == "matches *gpu*, against *has code*"


def test_a_clause_without_words_is_told_as_it_was_written() -> None:
    assert reason(paper("A", upvotes=30), "upvotes:>20") == "matches *upvotes:>20*"


def test_the_same_word_in_two_interests_is_told_once() -> None:
    assert reason(paper("GPU", "GPU"), "gpu", "title:GPU") == "matches *gpu* ×2"


def test_what_speaks_against_an_item_is_told() -> None:
    assert reason(paper("A survey of CUDA"), "cuda", ("survey", -1)) == "matches *cuda*, against *survey*"


def test_at_most_four_words_are_told() -> None:
    assert reason(paper("a1 b1 c1 d1 e1 f1"), "a1", "b1", "c1", "d1", "e1", "f1").count("*") == 8


def test_the_nearest_example_is_named_by_its_title_cut_at_a_word() -> None:
    title = "Serving language models with a paged cache on many accelerators in many places at the same time"
    example = paper(title, key="url:x")
    (only,) = rank(ItemIndex([paper(title)], {}, NOW), topic(), examples=[example, title, "Knitting"])
    shown = "Serving language models with a paged cache on many accelerators in…"
    assert only.parts[1].why == f'close to "{shown}" and 1 more'


def test_what_is_close_to_nothing_says_nothing() -> None:
    (only,) = rank(ItemIndex([paper("Serving models")], {}, NOW), topic(), examples=["Knitting"])
    assert only.parts[1].why == ""


def test_whose_work_it_is_is_told_where_that_speaks_against_it() -> None:
    assert reason(paper("CUDA", org="Advanced Micro Devices"), "cuda", ("org:A*", -1)) == (
        "matches *cuda*, against *from Advanced Micro Devices*"
    )


@settings(deadline=None, max_examples=tries(150))
@given(generate.items(), st.lists(generate.trees(score=False), min_size=1, max_size=4), st.sampled_from((1.0, -1.0)))
def test_every_word_that_is_told_is_in_the_item(item: Item, trees: list[Tree], weight: float) -> None:
    clauses = tuple(Interest(unparse_tree(tree), weight) for tree in trees)
    (only,) = rank(ItemIndex([item], {}, NOW), topic("", *((each.clause, each.weight) for each in clauses)))
    told = re.findall(r"\*(.+?)\*(?: ×(\d+))?(?=,|$)", only.parts[0].why)
    asked = {clause.clause for clause in clauses}
    labels = [leaf.value for tree in trees for leaf in leaves_of(tree) if isinstance(leaf, Label)]
    for text, _ in told:
        term = Term(text.removesuffix("*"), prefix=text.endswith("*"), quoted=True)
        named = text in {f"from {item.org}", *(f"by {author}" for author in item.authors)}
        assert named or text in asked or any(value in text for value in labels) or "-" in text or matches(term, item, NOW)
