from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import And, Item, Kind, Not, Or, Term, Tree, When
from bot.query import Folded, match, matches, parse
from bot.query.fields import TEXT
from tests.bot.query.generate import NOW, items, trees

PAPER = Item(
    key="arxiv:2606.01234",
    kind=Kind.PAPER,
    title="Eidola: Modeling Multi-GPU Network Traffic",
    abstract="A gem5 extension for inter-GPU communication; KV caches are not modelled.",
    authors=("Ranganath R. Selagamsetty", "Joshua San Miguel"),
    categories=("cs.DC", "cs.AR"),
    sources=("arxiv", "huggingface"),
    upvotes=12,
    published=datetime(2026, 6, 12, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("query", "matched", "why"),
    [
        ("", True, "everything is let in"),
        ("gpu", True, 'title has "gpu"'),
        ('"kv cache"', True, 'abstract has "kv cache"'),
        ("multigpu gem5", True, 'title has "multigpu"; abstract has "gem5"'),
        ("gpu -robot -linux", True, 'title has "gpu"'),
        ("-robot -linux", True, 'no text has "robot"; no text has "linux"'),
        ("title:gem5", False, 'title has no "gem5"'),
        ("transformer", False, 'no text has "transformer"'),
        ("transform*", False, 'no text has "transform*"'),
        ("model*", True, 'title has "model*"'),
        ("-gpu", False, 'title has "gpu"'),
        ("-robot", True, 'no text has "robot"'),
        ("gpu -robot -cat:cs.CL stars:* OR x", False, 'stars is not known; no text has "x"'),
        ('au:"Miguel, Joshua San"', True, 'author has "Miguel, Joshua San"'),
        ('au:"Selagamsetty Joshua"', False, 'author has no "Selagamsetty Joshua"'),
        ("cat:cs.dc", True, "category is cs.DC"),
        ("cat:cs.*", True, "category is cs.*"),
        ("cat:cs", True, "category is cs"),
        ("cat:stat.ML", False, "category is cs.DC, cs.AR, not stat.ML"),
        ("lang:python", False, "it has no language"),
        ("-lang:python", True, "it has no language"),
        ("has:summary", True, "it has summary"),
        ("has:code", False, "it has no code"),
        ("id:2606.01234v3", True, "id is 2606.01234"),
        ("stars:>500", False, "stars is not known"),
        ("-stars:>500", True, "stars is not known"),
        ("upvotes:>20", False, "upvotes 12 is not > 20"),
        ("upvotes:>=12", True, "upvotes 12 is >= 12"),
        ("upvotes:5..20", True, "upvotes 12 is in 5..20"),
        ("upvotes:13", False, "upvotes 12 is not 13"),
        ("upvotes:*", True, "upvotes 12 is known"),
        ("score:>0.5", False, "score is not known"),
        ("published:7d", True, "published 2026-06-12 is within 7 days"),
        ("published:1d", False, "published 2026-06-12 is not within 1 day"),
        ("published:>7d", False, "published 2026-06-12 is not at least 7 days ago"),
        ("published:2026-06", True, "published 2026-06-12 is in 2026-06-01..2026-06-30"),
        ("published:>=2026-07", False, "published 2026-06-12 is not >= 2026-07-01"),
        ("updated:*", True, "updated 2026-06-12 is known"),
        ("a OR b OR c OR d OR e", True, 'abstract has "a"'),
        ("q OR w OR z OR y OR u", False, 'no text has "q"; no text has "w"; no text has "z"; and 2 more'),
        ("(a -gpu) OR cat:math", False, 'title has "gpu"; category is cs.DC, cs.AR, not math'),
    ],
)
def test_the_answer_names_the_clause_that_decided(query: str, matched: bool, why: str) -> None:
    assert match(parse(query).tree, PAPER, NOW) == (matched, why)


def test_the_score_is_the_one_that_is_handed_in() -> None:
    tree = parse("score:>0.5").tree
    assert matches(tree, PAPER, NOW, score=0.6)
    assert not matches(tree, PAPER, NOW, score=0.5)
    assert match(tree, PAPER, NOW, score=0.5).why == "score 0.5 is not > 0.5"


@pytest.mark.parametrize(
    ("query", "days", "matched"),
    [
        ("published:7d", 7, True),
        ("published:7d", 7.001, False),
        ("published:>7d", 7, True),
        ("published:>7d", 6.999, False),
        ("published:7d", -1, True),
        ("published:2d..7d", 2, True),
        ("published:2d..7d", 8, False),
        ("published:5000y", 9000, True),
        ("published:>5000y", 9000, False),
        ("published:2026-06-14", 9.5 / 24, True),
        ("published:2026-06-14", 9.6 / 24, False),
        ("published:>2026-06-13", 9.5 / 24, True),
        ("published:<2026-06-14", 9.5 / 24, False),
        ("published:<2026-06-14", 9.6 / 24, True),
    ],
)
def test_the_ends_of_ages_and_days(query: str, days: float, matched: bool) -> None:
    item = replace(PAPER, published=NOW - timedelta(days=days))
    assert matches(parse(query).tree, item, NOW) is matched


def test_a_phrase_does_not_reach_across_authors_or_fields() -> None:
    item = replace(PAPER, title="sparse", abstract="attention", authors=("Tri Dao", "Minh Li"))
    assert not matches(parse('"sparse attention"').tree, item, NOW)
    assert not matches(parse('"dao minh"').tree, item, NOW)
    assert matches(parse("sparse attention").tree, item, NOW)


def test_a_term_without_letters_matches_nothing() -> None:
    assert not matches(Term("!!!"), PAPER, NOW)
    assert matches(Not(Term("!!!")), PAPER, NOW)
    assert match(Term("!!!"), PAPER, NOW).why == 'no text has "!!!"'


def test_an_age_and_a_date_in_one_clause_must_both_hold() -> None:
    both = When("published", after=NOW - timedelta(days=1), oldest=7)
    assert not matches(both, PAPER, NOW)
    assert matches(both, replace(PAPER, published=NOW), NOW)


@given(trees(), items(), st.none() | st.sampled_from([0.0, 1.0, 99.0]))
def test_the_answer_with_reasons_is_the_answer_without(tree: Tree, item: Item, score: float | None) -> None:
    folded = Folded(item)
    verdict = match(tree, folded, NOW, score)
    assert verdict.matched is matches(tree, folded, NOW, score) is matches(tree, item, NOW, score)
    assert verdict.why


@given(trees(), trees(), items())
def test_the_laws_of_logic_hold(one: Tree, other: Tree, item: Item) -> None:
    folded = Folded(item)
    first, second = matches(one, folded, NOW), matches(other, folded, NOW)
    assert matches(Not(one), folded, NOW) is not first
    assert matches(And((one, other)), folded, NOW) is (first and second)
    assert matches(Or((one, other)), folded, NOW) is (first or second)
    assert matches(And(()), folded, NOW)
    assert not matches(Or(()), folded, NOW)


@given(items(), st.sampled_from(["gpu", "pre-training", "kv cache", "模型", "muller"]), st.booleans())
def test_a_word_anywhere_is_one_in_any_text_field(item: Item, text: str, prefix: bool) -> None:
    folded = Folded(item)
    anywhere = matches(Term(text, prefix=prefix), folded, NOW)
    assert anywhere is any(matches(Term(text, field, prefix), folded, NOW) for field in TEXT)
