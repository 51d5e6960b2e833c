"""What every store must find, run on each of them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.models import (
    And,
    Item,
    Kind,
    Label,
    Number,
    Or,
    Query,
    Term,
    When,
    WordUse,
)
from bot.models.queries import COUNTED
from tests.conftest import NOW
from tests.contract.records import paper, records
from tests.stores import AnyStore

DAY = timedelta(days=1)


def query(*parts: Term | Label | Number | When | Or, sort: str = "best") -> Query:
    return Query("", And(parts), sort)


def words(text: str) -> tuple[Term, ...]:
    return tuple(map(Term, text.split()))


async def found(store: AnyStore, asked: Query) -> list[str]:
    page = await store.index.search(asked, NOW)
    return [hit.item.key for hit in page.hits]


async def test_the_item_with_all_words_comes_first_and_one_with_the_telling_word_follows(store: AnyStore) -> None:
    given = [
        paper(1, abstract="about scheduling"),
        paper(2, abstract="cache and scheduling of kernels"),
        paper(3, abstract="nothing of it"),
        *(paper(number, abstract="a cache") for number in range(4, 9)),
    ]
    await store.items.add(given, NOW)
    assert await found(store, query(*words("scheduling cache"))) == [paper(2).key, paper(1).key]


async def test_what_shares_a_common_word_alone_is_no_answer(store: AnyStore) -> None:
    await store.items.add([paper(number, abstract="a recipe for training") for number in range(9)], NOW)
    assert await found(store, query(*words("sourdough bread recipes"))) == []
    assert len(await found(store, query(*words("training recipes")))) == 9
    page = await store.index.search(query(*words("sourdough recipes")), NOW)
    assert (page.total, page.about) == (0, False)


async def test_the_paper_whose_title_was_typed_comes_first(store: AnyStore) -> None:
    often = "language models hallucinate; why language models hallucinate, and when models of language hallucinate. " * 3
    others = [paper(number, title=f"Hallucination of Models {number}", abstract=often) for number in range(1, 9)]
    begun = paper(10, title="Why Language Models Hallucinate Names", abstract="A long text about names. " * 9)
    named = paper(9, title="Why Language Models Hallucinate: An Answer", abstract="Guessing is rewarded. " * 20)
    await store.items.add([*others, named, begun], NOW)
    assert (await found(store, query(*words("why do language models hallucinate"))))[:2] == [named.key, begun.key]


async def test_a_word_of_the_title_weighs_more(store: AnyStore) -> None:
    padding = "a sentence that is there to be as long as the other one is"
    given = [paper(1, abstract=f"quantisation {padding}"), paper(2, title="quantisation", abstract=padding)]
    await store.items.add([*given, *(paper(number) for number in range(3, 9))], NOW)
    assert await found(store, query(*words("quantisation"))) == [paper(2).key, paper(1).key]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("training", "we train a model"),
        ("trained", "models in training"),
        ("inference", "inferring"),
        ("quantize", "quantisation of weights"),
        ("quantisation", "a quantizer that quantizes"),
        ("optimise", "optimization"),
        ("behavior", "behaviour"),
        ("GPUs", "one gpu"),
        ("pre-training", "pretrained models"),
        ("pretraining", "pre-training"),
    ],
)
async def test_a_searched_word_stands_for_its_inflections_and_spellings(store: AnyStore, asked: str, text: str) -> None:
    await store.items.add([paper(1, abstract=text), paper(2, abstract="else")], NOW)
    assert await found(store, query(Term(asked))) == [paper(1).key]


async def test_quotes_fields_and_stars_ask_for_the_very_word(store: AnyStore) -> None:
    await store.items.add([paper(1, title="Training", abstract="We train.")], NOW)
    assert await found(store, query(Term("trains", quoted=True))) == [paper(1).key]  # the plural is the same word
    assert await found(store, query(Term("trained", quoted=True))) == []
    assert await found(store, query(Term("train", "title"))) == []
    assert await found(store, query(Term("trai", prefix=True))) == [paper(1).key]
    assert await found(store, query(Term("train", prefix=True), Term("nothing"))) == []


async def test_everything_beside_the_bare_words_must_hold(store: AnyStore) -> None:
    given = [
        paper(1, abstract="cache scheduling", categories=("cs.LG",)),
        paper(2, abstract="cache scheduling", categories=("cs.CV",)),
        paper(3, abstract="scheduling of a cache", categories=("cs.LG",), upvotes=9),
    ]
    await store.items.add(given, NOW)
    both = words("cache scheduling")
    assert set(await found(store, query(*both, Label("category", "cs.lg")))) == {given[0].key, given[2].key}
    assert await found(store, query(*both, Number("upvotes", low=1))) == [given[2].key]


async def test_function_words_find_nothing_by_themselves_while_others_stand_beside_them(store: AnyStore) -> None:
    await store.items.add([paper(1, abstract="all of the world"), paper(2, abstract="the cache of it")], NOW)
    assert await found(store, query(*words("the cache"))) == [paper(2).key]
    assert set(await found(store, query(*words("of the")))) == {paper(1).key, paper(2).key}


async def test_in_other_orders_all_words_must_hold_and_no_inflection_counts(store: AnyStore) -> None:
    given = [
        paper(1, abstract="kv cache", appeared=NOW - DAY, upvotes=1),
        paper(2, abstract="kv cache", appeared=NOW, upvotes=None),
        paper(3, abstract="kv", upvotes=99),
        paper(4, abstract="kv caching", upvotes=99),
        paper(5, abstract="cache kv", appeared=NOW - 2 * DAY, upvotes=0, stars=4),
    ]
    await store.items.add(given, NOW)
    both = words("kv cache")
    assert await found(store, query(*both, sort="new")) == [given[1].key, given[0].key, given[4].key]
    assert await found(store, query(*both, sort="upvotes")) == [given[0].key, given[4].key, given[1].key]
    assert await found(store, query(*both, sort="stars")) == [given[4].key, given[1].key, given[0].key]


async def test_a_search_without_a_bare_word_gives_the_newest_first(store: AnyStore) -> None:
    given = [paper(number, appeared=NOW - number * DAY) for number in range(4)]
    await store.items.add(given, NOW)
    assert await found(store, Query("")) == [item.key for item in given]
    page = await store.index.search(query(Label("kind", "paper")), NOW, limit=2)
    assert [hit.relevance for hit in page.hits] == [0.0, 0.0]


async def test_pages_follow_one_another_and_say_whether_there_are_more(store: AnyStore) -> None:
    await store.items.add([paper(number, abstract="cache " * number) for number in range(1, 8)], NOW)
    for asked in (query(Term("cache")), Query("", sort="new")):
        pages = [await store.index.search(asked, NOW, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
        assert [page.more for page in pages] == [True, True, False, False]
        keys = [hit.item.key for page in pages for hit in page.hits]
        assert len(keys) == len(set(keys)) == 7


async def test_items_with_all_of_the_words_come_first_and_pages_are_parts_of_one_list(store: AnyStore) -> None:
    both = [paper(number, abstract="kv and then, after many other words, a cache") for number in range(4)]
    one = [paper(number, title="KV", abstract="kv " * number) for number in range(4, 9)]
    others = [paper(number, abstract="a cache") for number in range(20, 32)]
    await store.items.add([*one, *both, *others], NOW)
    asked = query(*words("kv cache"))
    whole = await store.index.search(asked, NOW, limit=20)
    assert {hit.item.key for hit in whole.hits[:4]} == {item.key for item in both}
    assert {hit.item.key for hit in whole.hits[4:]} == {item.key for item in one}
    for size in (1, 3, 4, 5):
        pages = [await store.index.search(asked, NOW, limit=size, offset=offset) for offset in range(0, 12, size)]
        assert [hit for page in pages for hit in page.hits] == list(whole.hits)
        assert [page.more for page in pages] == [offset + size < 9 for offset in range(0, 12, size)]


async def test_relevance_falls_from_hit_to_hit(store: AnyStore) -> None:
    await store.items.add(records(), NOW)
    page = await store.index.search(query(*words("language models training data")), NOW, limit=50)
    ranks = [hit.relevance for hit in page.hits]
    assert len(ranks) > 10
    assert ranks == sorted(ranks, reverse=True)


@pytest.mark.parametrize(
    "text", ['"', '""', "a\x00b", "AND", "NOT", "NEAR(a b)", "title:x", "*", "^", "-", "a OR", "'; --", "\\"]
)
async def test_no_text_of_a_person_reaches_the_search_engine_unparsed(store: AnyStore, text: str) -> None:
    await store.items.add(records(), NOW)
    for term in (Term(text), Term(text, quoted=True), Term(text, "title"), Term(text, prefix=True)):
        await store.index.search(query(term), NOW)
        await store.index.count(term, NOW)
    for field in ("category", "id", "source", "license"):
        await store.index.count(Label(field, text), NOW)
        await store.index.count(Label(field, text, prefix=True), NOW)


async def test_a_title_that_holds_half_a_character_is_found(store: AnyStore) -> None:
    await store.items.add([paper(1, title="Paging \ud83d a cache"), paper(2, title="Paging a cache")], NOW)
    found = await store.index.search(query(Term("paging"), Term("cache")), NOW)
    assert {hit.item.title for hit in found.hits} == {"Paging \ud83d a cache", "Paging a cache"}


async def test_counting_obeys_the_tree_and_the_time(store: AnyStore) -> None:
    await store.items.add(
        [paper(1, seen=NOW - DAY), paper(2, title="Cache"), paper(3, title="Cache", seen=NOW - 2 * DAY)], NOW
    )
    assert await store.index.count(Term("cache"), NOW) == 2
    assert await store.index.count(Term("cache"), NOW, since=NOW - DAY) == 1
    assert await store.index.count(And(()), NOW, since=NOW - DAY) == 2
    assert await store.index.count(Or(()), NOW) == 0


async def test_the_items_that_match_come_newest_first_and_only_those_seen_since(store: AnyStore) -> None:
    old, young, other = paper(1, title="Cache", seen=NOW - 2 * DAY), paper(2, title="Cache", seen=NOW - DAY), paper(3)
    await store.items.add([young, old, other], NOW)
    assert await store.index.matching(Term("cache"), NOW, since=NOW - DAY) == [young]
    assert [item.key for item in await store.index.matching(And(()), NOW, since=NOW - 2 * DAY)] == [
        other.key,
        young.key,
        old.key,
    ]
    assert await store.index.matching(Or(()), NOW, since=NOW - DAY) == []


async def test_an_item_seen_by_another_source_is_found_under_both(store: AnyStore) -> None:
    await store.items.add([paper(sources=("arxiv",))], NOW)
    await store.items.add([paper(sources=("arxiv", "huggingface"), upvotes=3)], NOW)
    assert await store.index.count(Label("source", "huggingface"), NOW) == 1
    assert await store.index.count(Label("source", "arxiv"), NOW) == 1


def halves(number: int, text: str, **of_code: object) -> list[Item]:
    """A paper and its repository."""
    code = f"github:ada/code-{number}"
    given = {"title": f"ada/code-{number}", "kind": Kind.REPO, "abstract": text, "paper": paper(number).key, **of_code}
    return [paper(number, abstract=text, repo=code), replace(paper(number), key=code, **given)]  # type: ignore[arg-type]


async def test_a_paper_and_its_code_are_one_result_where_that_is_wanted(store: AnyStore) -> None:
    await store.items.add([*halves(1, "cache"), *halves(2, "cache, cache"), paper(3, abstract="cache")], NOW)
    for asked in (query(Term("cache")), query(Term("cache"), sort="new")):
        page = await store.index.search(asked, NOW, cards=True)
        assert {(hit.item.key, hit.other.key if hit.other else "") for hit in page.hits} == {
            (paper(1).key, "github:ada/code-1"),
            (paper(2).key, "github:ada/code-2"),
            (paper(3).key, ""),
        }
        assert len(await found(store, asked)) == 5
        assert page.total == 5


async def test_the_code_leads_where_the_paper_is_not_what_was_asked_for(store: AnyStore) -> None:
    await store.items.add(halves(1, "cache", language="Python"), NOW)
    page = await store.index.search(query(Term("cache"), Label("kind", "repo")), NOW, cards=True)
    assert [(hit.item.key, hit.other.key if hit.other else "") for hit in page.hits] == [("github:ada/code-1", paper(1).key)]


async def test_pages_of_papers_with_their_code_are_parts_of_one_list(store: AnyStore) -> None:
    pairs = [item for number in range(9) for item in halves(number, "cache" + " of much" * (number % 4))]
    await store.items.add([*pairs, *(paper(number, abstract="a cache") for number in range(20, 27))], NOW)
    asked = query(Term("cache"))
    for size in (1, 2, 5):
        whole = [hit.item.key for hit in (await store.index.search(asked, NOW, limit=99, cards=True)).hits]
        pages = [await store.index.search(asked, NOW, limit=size, cards=True)]
        while pages[-1].more:
            await store.items.add([paper(100 + len(pages), abstract="cache")], NOW)
            at = size * len(pages)
            pages.append(await store.index.search(asked, NOW, limit=size, offset=at, mark=pages[0].mark, cards=True))
        keys = [hit.item.key for page in pages for hit in page.hits]
        assert len(keys) == len(set(keys))
        assert set(whole) == set(keys)
        assert {page.total for page in pages} == {pages[0].total}
        back = await store.index.search(asked, NOW, limit=size, mark=pages[0].mark, cards=True)
        assert [hit.item.key for hit in back.hits] == [hit.item.key for hit in pages[0].hits]
        assert back.hits[0].other == pages[0].hits[0].other


async def test_a_search_says_how_many_it_finds_as_far_as_they_are_counted(store: AnyStore) -> None:
    await store.items.add([paper(number, abstract="cache") for number in range(COUNTED + 9)], NOW)
    await store.items.add([paper(5000, abstract="quantum"), paper(5001, abstract="quantum")], NOW)
    for sort in ("best", "new", "stars"):
        assert (await store.index.search(query(Term("cache"), sort=sort), NOW)).total == COUNTED + 1
        first = await store.index.search(query(Term("quantum"), sort=sort), NOW, limit=1)
        assert (first.total, first.about) == (2, False)
        await store.items.add([paper(6000, abstract="quantum", title=sort)], NOW)
        second = await store.index.search(query(Term("quantum"), sort=sort), NOW, limit=1, offset=1, mark=first.mark)
        assert second.total == 2
        await store.items.add([], NOW, retired=[paper(6000).key])


async def test_of_what_fits_alike_the_newer_comes_first(store: AnyStore) -> None:
    given = [paper(number, abstract="cache", published=NOW - 100 * number * DAY) for number in (2, 0, 3, 1)]
    await store.items.add(given, NOW)
    assert await found(store, query(Term("cache"))) == [paper(number).key for number in range(4)]


async def test_words_are_told_with_how_many_have_them_and_the_nearest_where_none_has(store: AnyStore) -> None:
    given = [
        paper(1, title="Speculative decoding", authors=("Rui Mao",)),
        paper(2, title="Decoding and optimization", authors=("Ashish Vaswani", "Rui Mao")),
    ]
    await store.items.add(given, NOW)
    asked = ["decoding", "mao", "speculatve", "vaswanni", "eecoding", "optimising", "zebra", "kv", "rui mao", "模型"]
    use = await store.index.word_use(asked)
    assert use["decoding"] == WordUse(2)
    assert use["mao"] == WordUse(2, names=2)
    assert use["speculatve"] == WordUse(0, near=("speculative",))
    assert use["vaswanni"] == WordUse(0, near=("vaswani",))
    assert use["eecoding"] == WordUse(0, near=("decoding",))
    assert use["optimising"] == WordUse(1)  # by its stem
    assert use["zebra"] == use["kv"] == use["rui mao"] == use["模型"] == WordUse(0)
    await store.items.add([paper(1, title="Sampling")], NOW, retired=[paper(2).key])
    assert (await store.index.word_use(asked))["speculatve"] == WordUse(0)
    assert (await store.index.word_use(["sampling", "decoding"])) == {"sampling": WordUse(1), "decoding": WordUse(0)}


async def test_a_word_that_few_have_is_told_with_its_neighbour_that_a_hundred_times_as_many_have(store: AnyStore) -> None:
    given = [paper(10 + number, title="Diffusion transformers", authors=("Ann Robertson",)) for number in range(100)]
    few = [paper(number, title=title) for number, title in enumerate(("difusion transformes", "Sutures transformings"), 1)]
    await store.items.add([*given, *few, paper(3, title="x", authors=("Ann Robertsin",))], NOW)
    asked = ["difusion", "difusions", "transformings", "diffusion", "robertsin", "robertsen"]
    use = await store.index.word_use(asked)
    assert use["difusion"] == WordUse(1, near=("diffusion",))
    assert use["difusions"] == WordUse(1, near=("diffusion",))  # by its stem
    assert use["transformings"] == WordUse(1)  # another form of what many have
    assert use["diffusion"] == WordUse(100)
    assert use["robertsin"] == WordUse(1, names=1)  # a name
    assert use["robertsen"].near == ("robertson", "robertsin")
    await store.items.add([paper(4, title="difusion")], NOW)
    assert (await store.index.word_use(["difusion"]))["difusion"] == WordUse(2)


async def test_abbreviations_stand_for_what_most_items_say(store: AnyStore) -> None:
    rag, other = "Retrieval-Augmented Generation (RAG)", "a region adjacency graph (RAG)"
    await store.items.add([paper(1, abstract=rag), paper(2, title=rag), paper(3, abstract=other)], NOW)
    long = "retrieval augmented generation"
    assert await store.index.stands_for(["rag", long, "generation", "="]) == {
        "rag": [(long, 2), ("region adjacency graph", 1)],
        long: [("rag", 2)],
    }
    await store.items.add([paper(2, title="None")], NOW, retired=[paper(1).key])
    assert await store.index.stands_for(["rag", long]) == {"rag": [("region adjacency graph", 1)]}


async def test_a_term_finds_what_stands_for_it_too(store: AnyStore) -> None:
    await store.items.add([paper(1, abstract="RAG"), paper(2, abstract="retrieval-augmented generation"), paper(3)], NOW)
    rag = Term("rag", also=("retrieval augmented generation",))
    for sort in ("best", "new"):
        assert set(await found(store, query(rag, sort=sort))) == {paper(1).key, paper(2).key}
    assert await store.index.count(rag, NOW) == 2
    assert await store.index.count(replace(rag, field="title"), NOW) == 0
