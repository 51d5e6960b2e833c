from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.models import And, Label, Not, Number, Or, Query, Term, Tree, When
from bot.query import parse, unparse
from bot.query.fields import FIELDS
from tests.bot.query.generate import queries


def _day(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


KV, CACHE = Term("kv"), Term("cache")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", And(())),
        ("   ", And(())),
        ("*", And(())),
        ("kv", KV),
        ("kv cache", And((KV, CACHE))),
        ("kv AND cache", And((KV, CACHE))),
        ("kv OR cache", Or((KV, CACHE))),
        ("kv OR cache AND gpu", Or((KV, And((CACHE, Term("gpu")))))),
        ("(kv OR cache) gpu", And((Or((KV, CACHE)), Term("gpu")))),
        ("((kv))", KV),
        ("kv and or not", And((KV, Term("and"), Term("or"), Term("not")))),
        ("-kv", Not(KV)),
        ("!kv", Not(KV)),
        ("–kv", Not(KV)),
        ("—kv", Not(KV)),
        ("−kv", Not(KV)),
        ("NOT kv", Not(KV)),
        ("kv ANDNOT cache", And((KV, Not(CACHE)))),
        ("kv AND NOT cache", And((KV, Not(CACHE)))),
        ("NOT NOT kv", Not(Not(KV))),
        ("-(kv cache)", Not(And((KV, CACHE)))),
        ('"kv cache"', Term("kv cache", quoted=True)),
        ("“kv cache”", Term("kv cache", quoted=True)),
        ("«kv cache»", Term("kv cache", quoted=True)),
        ('"kv cach"*', Term("kv cach", quoted=True, prefix=True)),
        ("quantis*", Term("quantis", prefix=True)),
        ("kv\u00a0cache", And((KV, CACHE))),
        ("title:kv", Term("kv", "title")),
        ("ti:kv", Term("kv", "title")),
        ("TI:kv", Term("kv", "title")),
        ("title：kv", Term("kv", "title")),
        ("title: kv", Term("kv", "title")),
        ('au:"Tri Dao"', Term("Tri Dao", "author", quoted=True)),
        ("all:kv", KV),
        ("abs:pre-train*", Term("pre-train", "abstract", prefix=True)),
        ("title:-kv", Term("kv", "title")),
        ("cat:cs.LG", Label("category", "cs.lg")),
        ("cat:cs.*", Label("category", "cs.", prefix=True)),
        ('category:"cs.LG"', Label("category", "cs.lg")),
        ("source:hf", Label("source", "huggingface")),
        ('source:"feed:Lab Notes"', Label("source", "feed:lab notes")),
        ("kind:Repository", Label("kind", "repo")),
        ("lang:cpp", Label("language", "c++")),
        ('lang:"Jupyter Notebook"', Label("language", "jupyter notebook")),
        ("language:*", Label("language", "", prefix=True)),
        ("license:Apache-2.0", Label("license", "apache-2.0")),
        ("has:code", Label("has", "code")),
        ("id:arXiv:2606.01234v2", Label("id", "2606.01234")),
        ("id:https://arxiv.org/pdf/2606.01234v2.pdf", Label("id", "2606.01234")),
        ("id:math.GT/0309136v1", Label("id", "math/0309136")),
        ("id:https://github.com/Owner/Name.git", Label("id", "owner/name")),
        ("2606.01234", Label("id", "2606.01234")),
        ("arxiv:2606.01234", Label("id", "2606.01234")),
        ("github:Owner/Name", Label("id", "github:owner/name")),
        ("https://arxiv.org/abs/2606.01234", Label("id", "2606.01234")),
        ("stars:>500", Number("stars", low=500, above=True)),
        ("stars:>=1.5k", Number("stars", low=1500)),
        ("stars:<10", Number("stars", high=10, below=True)),
        ("stars:<=2M", Number("stars", high=2_000_000)),
        ("stars:10..50", Number("stars", 10, 50)),
        ("stars:10..10", Number("stars", 10, 10)),
        ("stars:10..", Number("stars", low=10)),
        ("stars:*..50", Number("stars", high=50)),
        ("stars:500", Number("stars", 500, 500)),
        ("stars:=500", Number("stars", 500, 500)),
        ("stars:*", Number("stars")),
        ("score:>.4", Number("score", low=0.4, above=True)),
        ("published:2026", When("published", _day(2026, 1, 1), _day(2027, 1, 1))),
        ("published:2026-12", When("published", _day(2026, 12, 1), _day(2027, 1, 1))),
        ("published:2024-02-29", When("published", _day(2024, 2, 29), _day(2024, 3, 1))),
        ("published:>2026-06-01", When("published", after=_day(2026, 6, 2))),
        ("published:>=2026-06-01", When("published", after=_day(2026, 6, 1))),
        ("published:<2026-06", When("published", before=_day(2026, 6, 1))),
        ("published:<=2026-06", When("published", before=_day(2026, 7, 1))),
        ("published:2026-06-01..2026-06-14", When("published", _day(2026, 6, 1), _day(2026, 6, 15))),
        ("published:2026-06-01..", When("published", after=_day(2026, 6, 1))),
        ("published:..2026", When("published", before=_day(2027, 1, 1))),
        ("updated:7d", When("updated", oldest=7)),
        ("updated:<2W", When("updated", oldest=14)),
        ("updated:>6m", When("updated", youngest=180)),
        ("updated:12h", When("updated", oldest=0.5)),
        ("updated:1y..1w", When("updated", youngest=7, oldest=365)),
        ("std::vector", Term("std::vector")),
        ("C++", Term("C++")),
        ("O(n)", And((Term("O"), Term("n")))),
        ("Eidola: Modeling multi-GPU, fast!", And((Term("Eidola"), Term("Modeling"), Term("multi-GPU"), Term("fast")))),
        ("SCORE: Soft Labels", And((Term("SCORE"), Term("Soft"), Term("Labels")))),
        ("kv & cache - ... -- —", And((KV, CACHE))),
        ("kv OR &", KV),
        ("NOT & kv", KV),
        ('kv ""', KV),
    ],
)
def test_a_query_is_read_as_this_tree(text: str, tree: Tree) -> None:
    assert parse(text).tree == tree


@pytest.mark.parametrize(
    ("text", "position", "hint", "says"),
    [
        ("kv titel:gpu", 3, "title:", "There is no field `titel:`; did you mean `title:`?"),
        ("autor:Dao", 0, "author:", "did you mean `author:`"),
        ("zzzzzz:Dao", 0, "", "the fields are title, abstract"),
        ("(kv", 0, "", "This parenthesis is never closed."),
        ("kv) cache", 2, "", "This closing parenthesis has no opening one."),
        ('kv "cache', 3, "", "This quotation mark is never closed."),
        ("kv OR", 3, "", "`OR` needs something on both sides."),
        ("kv AND", 3, "", "`AND` needs something on both sides."),
        ("OR kv", 0, "", "`OR` needs something on both sides; in quotation marks it is a word."),
        ("kv AND OR cache", 3, "", "`AND` needs"),
        ("kv OR AND cache", 6, "", "`AND` needs"),
        ("NOT", 0, "", "`NOT` needs something behind it."),
        ("(NOT )", 1, "", "`NOT` needs something behind it."),
        ("title:", 0, 'title:"sparse attention"', "`title:` needs a value"),
        ("title:(a b)", 0, 'title:"sparse attention"', "`title:` needs a value"),
        ("title:!!!", 0, 'title:"sparse attention"', "`title:` needs a value"),
        ("stars:many", 6, "stars:>500", "`stars:many` is not a number"),
        ("stars:50..10", 6, "stars:>500", "is not a number"),
        ("stars:1..2..3", 6, "stars:>500", "is not a number"),
        ("stars:..", 6, "stars:>500", "is not a number"),
        ("stars:-5", 6, "stars:>500", "is not a number"),
        ("stars:٣", 6, "stars:>500", "is not a number"),
        ("published:yesterday", 10, "published:7d", "is not a date or an age"),
        ("published:2026-02-30", 10, "published:7d", "is not a date or an age"),
        ("published:0001", 10, "published:7d", "is not a date or an age"),
        ("published:2026-06-14..2026-06-01", 10, "published:7d", "is not a date or an age"),
        ("published:7d..", 10, "published:7d", "is not a date or an age"),
        ("published:7d..2026", 10, "published:7d", "is not a date or an age"),
        ("kind:papr", 5, "kind:paper", "`kind:` takes paper, repo, post."),
        ("has:video", 4, "has:code", "`has:` takes code, pdf, summary."),
        ("has:co*", 4, "has:code", "`*` may stand only at the end of a value, and not in `has:`."),
        ("cat:cs.*.x", 4, "category:cs.DC", "`*` may stand only at the end"),
        ("cat:cs.LG,cs.CL", 4, "", "write `category:cs.lg OR category:cs.cl`"),
        ('lang:""', 0, "language:C++", "`language:` needs a value"),
        ("sort:newst kv", 5, "sort:new", "`sort:` takes best, new, stars, upvotes."),
        ("sort:new sort:best", 9, "", "`sort:` may stand in a query once."),
        ("kv OR sort:new", 6, "sort:new", "`sort:` stands beside the whole query"),
        ("sort:new OR kv", 0, "sort:new", "`sort:` stands beside the whole query"),
        ("(kv sort:new)", 4, "sort:new", "`sort:` stands beside the whole query"),
        ("-topic-of:x", 1, "topic-of:gpu-systems", "`topic-of:` stands beside the whole query"),
        ('topic-of:"a b"', 0, "topic-of:gpu-systems", "`topic-of:` needs a value"),
        ("&&&", 0, "", "There is no letter or digit to search for."),
        ("()", 0, "", "There is no letter or digit to search for."),
        ("(" * 21 + "kv" + ")" * 21, 20, "", "nested 20 deep"),
        ("-(" * 500 + "kv" + ")" * 500, 20, "", "nested 20 deep"),
        ("kv " * 65, 192, "", "A query may have 64 clauses"),
        (
            "a* b* c* d* e* f* a* gpu* zz*",
            26,
            "Longer beginnings, such as `mem*`, may be as many as you like.",
            "6 beginnings of",
        ),
        ('"' + "a " * 201 + '"', 0, "", "A query may have 200 words"),
        ("gpu " + "a-" * 300, 4, "", "A query may have 200 words"),
        ("k" * 2001, 2000, "", "A query may be 2,000 characters long; this one has 2,001."),
    ],
)
def test_a_bad_query_says_what_is_wrong_and_where(text: str, position: int, hint: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert says in str(caught.value)
    assert (caught.value.position, caught.value.hint) == (position, hint)


def test_directives_stand_beside_the_tree() -> None:
    query = parse("kv sort:newest cache topic-of:GPU-Systems")
    assert query == Query("kv sort:newest cache topic-of:GPU-Systems", And((KV, CACHE)), "new", "gpu-systems")
    assert parse("sort:stars").tree == And(())


def test_a_position_is_one_in_what_was_typed() -> None:
    with pytest.raises(UsageError) as caught:
        parse("“kv cache” – （titel：x）")
    assert caught.value.position == 14


@given(st.text(max_size=200))
@example("\x00")
@example("\ud800")
@example("a:" * 500)
@example('"' * 501)
@example("-" * 2000)
@example("!" * 2000)
@example("(" * 2000)
@example("NOT " * 500)
def test_no_text_raises_anything_but_a_usage_error(text: str) -> None:
    _parse_or_complain(text)


_PIECES = [
    "(",
    ")",
    '"',
    "-",
    "!",
    "*",
    ":",
    " ",
    "OR",
    "AND",
    "NOT",
    "..",
    ">",
    "<=",
    "7d",
    "2026",
    "5k",
    "cs.",
    "a",
    "é",
    "，",
    "\u3000",
]


@given(st.lists(st.sampled_from([*_PIECES, *(f"{field.name}:" for field in FIELDS)]), max_size=40).map("".join))
def test_no_row_of_signs_raises_anything_but_a_usage_error(text: str) -> None:
    _parse_or_complain(text)


def _parse_or_complain(text: str) -> None:
    complaint, query = None, Query("")
    try:
        query = parse(text)
    except UsageError as error:
        complaint = error
    if complaint:
        assert 0 <= (complaint.position or 0) <= len(text)
        return
    assert query.text == text
    again = parse(unparse(query))
    assert (again.tree, again.sort, again.topic_of) == (query.tree, query.sort, query.topic_of)


@given(queries())
def test_a_tree_written_as_text_is_read_as_the_same_tree(query: Query) -> None:
    text = unparse(query)
    again = parse(text)
    assert (again.tree, again.sort, again.topic_of) == (query.tree, query.sort, query.topic_of)
    assert unparse(again) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ti:kv AND -cat:cs.*", "title:kv -category:cs.*"),
        ("(a OR b) sort:newest", "(a OR b) sort:new"),
        ("a OR (b AND c)", "a OR b c"),
        ("“kv cache”", '"kv cache"'),
        ("published:2026-06", "published:2026-06-01..2026-06-30"),
        ("stars:=1.5K", "stars:1500"),
        ("NOT (a OR b)", "-(a OR b)"),
        ("lang:*", "language:*"),
    ],
)
def test_canonical_text_is_what_a_person_would_write(text: str, canonical: str) -> None:
    assert unparse(parse(text)) == canonical


def test_trees_that_no_text_gives_are_still_written() -> None:
    odd = And((Or(()), And((Term("a"),)), Term('say "hi"', quoted=True), Not(Not(Term("OR")))))
    assert unparse(Query("", odd)) == '-* a "say  hi " -(-"OR")'
    parse(unparse(Query("", odd)))
