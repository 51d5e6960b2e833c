from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.models import Item, Kind, Link, Term
from bot.query import parse
from bot.query.fields import BY_NAME, DATE, FIELDS, LABEL, NUMBER, TEXT, date_of, labels_of, number_of, spellings_of, text_of

DOCS = Path(__file__).parents[3] / "docs" / "query-language.md"

PAPER = Item(
    key="arxiv:2606.01234",
    kind=Kind.PAPER,
    title="Multi-GPU caches",
    abstract="We pre-train.",
    authors=("Tri Dao", "Li Wei"),
    categories=("cs.DC", "cs.LG", "hep-th"),
    keywords=("kv-cache",),
    sources=("arxiv", "feed:Lab Notes"),
    aliases=("doi:10.1145/ABC",),
    links=(Link("pdf", "https://arxiv.org/pdf/2606.01234"),),
    upvotes=0,
)
REPO = Item(
    key="github:owner/name",
    kind=Kind.REPO,
    title="owner/name",
    readme="A fast server.",
    language="Jupyter Notebook",
    license="Apache-2.0",
    stars=12,
    forks=3,
)


def test_texts_are_as_an_index_holds_them() -> None:
    assert text_of(PAPER, "title") == "multi gpu cache __ multigpu"
    assert text_of(PAPER, "author") == "tri dao __ li wei"
    assert text_of(PAPER, "topic") == "kv cache __ kvcache"
    assert text_of(PAPER, "org") == ""


def test_the_abstract_of_a_repository_is_its_description_and_its_readme() -> None:
    assert text_of(REPO, "abstract") == "a fast server"


def test_labels_are_folded_and_carry_what_they_belong_to() -> None:
    assert labels_of(PAPER, "category") == ("cs.dc", "cs", "cs.lg", "hep-th")
    assert labels_of(PAPER, "source") == ("arxiv", "feed:lab notes", "feed")
    assert labels_of(PAPER, "kind") == ("paper",)
    assert labels_of(PAPER, "id") == ("arxiv:2606.01234", "doi:10.1145/abc", "2606.01234", "10.1145/abc")
    assert labels_of(REPO, "language") == ("jupyter notebook",)
    assert labels_of(REPO, "license") == ("apache-2.0",)
    assert labels_of(PAPER, "language") == ()


def test_what_an_item_has_is_read_off_its_links_and_texts() -> None:
    assert labels_of(PAPER, "has") == ("pdf", "summary")
    assert labels_of(REPO, "has") == ("code", "summary")
    assert labels_of(Item(key="url:x", kind=Kind.POST, title="x", repo="github:a/b"), "has") == ("code",)


def test_numbers_that_are_not_known_differ_from_nought() -> None:
    assert [number_of(PAPER, field) for field in NUMBER] == [None, None, 0, None]
    assert [number_of(REPO, field) for field in NUMBER] == [12, 3, None, None]


def test_a_date_that_is_not_told_is_the_one_before_it() -> None:
    day = [datetime(2026, 6, number, tzinfo=UTC) for number in (1, 2, 3)]
    item = Item(key="url:x", kind=Kind.POST, title="x", published=day[0], appeared=day[1], updated=day[2])
    assert [date_of(item, field) for field in DATE] == [day[0], day[2]]
    shown = Item(key="url:x", kind=Kind.POST, title="x", appeared=day[1])
    assert [date_of(shown, field) for field in DATE] == [day[1], day[1]]
    assert [date_of(REPO, field) for field in DATE] == [None, None]


def test_an_author_may_be_typed_with_the_family_name_first() -> None:
    assert ("tri", "dao") in [way.tokens for way in spellings_of(Term("Dao, Tri", "author", quoted=True))]
    assert len(spellings_of(Term("Dao, Tri", "title", quoted=True))) == 1


@pytest.mark.parametrize("name", [field.name for field in FIELDS])
def test_every_field_has_an_example_that_is_a_query_for_it(name: str) -> None:
    assert BY_NAME[name].example.startswith(f"{name}:")
    parse(BY_NAME[name].example)


def test_no_two_fields_share_a_name() -> None:
    names = [name for field in FIELDS for name in (field.name, *field.short)]
    assert len(names) == len(set(names)) == len(BY_NAME)
    assert {*TEXT, *LABEL, *NUMBER, *DATE, "sort", "topic-of"} == {field.name for field in FIELDS}


def test_the_page_for_users_tells_every_field_as_the_table_does() -> None:
    page = DOCS.read_text(encoding="utf-8")
    for field in FIELDS:
        names = ", ".join(f"`{name}`" for name in (field.name, *field.short))
        assert f"| {names} | {field.help} | `{field.example}` |" in page


def test_every_example_of_the_page_is_a_query() -> None:
    page = DOCS.read_text(encoding="utf-8")
    examples = [line for block in page.split("```")[1::2] for line in block.strip().splitlines()]
    assert len(examples) > 10
    for line in examples:
        parse(line.partition("    ")[0])
