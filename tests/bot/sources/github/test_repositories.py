import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import SourceChanged
from bot.models import Item, Kind, Link
from bot.sources.github.repositories import read_list, read_repository, read_search, with_readme
from tests.bot.sources.mutations import mutated
from tests.bot.sources.replay import FOLDER, recorded, repository
from tests.conftest import tries

SEARCH = recorded("search")[0].json()
ODD = json.loads(gzip.decompress((FOLDER / "odd-descriptions.json.gz").read_bytes()))


def read(**fields: object) -> Item:
    item = read_repository(repository(**fields))  # type: ignore[arg-type]
    assert item is not None
    return item


def test_a_recorded_repository_is_read() -> None:
    item = read_repository(recorded("repository")[0].json())
    assert item is not None
    assert item.key == "github:pygithub/pygithub"
    assert item.kind is Kind.REPO
    assert item.title == "PyGithub/PyGithub"
    assert item.authors == ("PyGithub",)
    assert item.abstract == "Typed interactions with the GitHub API v3"
    assert item.keywords == ("github", "github-api", "pygithub", "python")
    assert item.published == item.appeared == datetime(2012, 2, 25, 12, 53, 47, tzinfo=UTC)
    assert item.updated is not None
    assert item.license == "LGPL-3.0"
    assert item.language == "Python"
    assert item.stars is not None
    assert item.stars > 7000
    assert item.forks
    assert not item.archived
    assert not item.fork
    assert item.links == (
        Link("code", "https://github.com/PyGithub/PyGithub"),
        Link("page", "https://pygithub.readthedocs.io"),
    )


def test_a_repository_of_2013_is_read_alike() -> None:
    item = read_repository(recorded("repository-2013")[0].json())
    assert item is not None
    assert (item.key, item.fork, item.keywords, item.license) == ("github:akfish/pygithub", True, (), "")


def test_a_recorded_search_is_read() -> None:
    found = read_search(SEARCH)
    assert (len(found.items), found.entries, found.skipped) == (30, 30, 0)
    assert found.total == SEARCH["total_count"] > 900
    assert not found.incomplete
    assert all(item.stars is not None for item in found.items)


def test_a_search_without_results_is_empty() -> None:
    assert read_search(recorded("search-nothing")[0].json()).items == ()


@pytest.mark.parametrize("odd", ODD, ids=[one["repo"] for one in ODD])
def test_odd_names_and_descriptions_of_real_repositories_are_read(odd: dict[str, object]) -> None:
    item = read(name=odd["repo"], description=odd["description"], stargazers_count=odd["stars"], language=odd["language"])
    assert item.title == odd["repo"]
    assert item.stars == odd["stars"]
    assert bool(item.abstract) == bool(str(odd["description"] or "").strip(" :"))
    item.abstract.encode()


def test_private_repositories_are_never_shown() -> None:
    assert read_repository(repository(private=True)) is None
    listed = read_list([repository("a/b", private=True), repository("c/d")])
    assert [item.key for item in listed.items] == ["github:c/d"]
    assert (listed.private, listed.skipped) == (1, 0)


@pytest.mark.parametrize("said", [{"private": True}, {"private": 1}, {"private": "yes"}, {"visibility": "private"}])
def test_a_repository_that_may_be_hidden_is_hidden(said: dict[str, Any]) -> None:
    assert read_repository(repository(**said)) is None
    assert read_list([repository(visibility="internal"), repository(**said)]).items == ()


@pytest.mark.parametrize("said", [{}, {"private": None}, {"visibility": "public"}, {"visibility": None}])
def test_a_repository_that_everybody_sees_is_shown(said: dict[str, Any]) -> None:
    assert read_repository(repository(**said)) is not None


@pytest.mark.parametrize(
    "bad", [None, 5, "x", [], {}, {"full_name": None}, {"full_name": "x"}, {"full_name": "a/../b"}, {"full_name": "a/.."}]
)
def test_an_entry_without_a_name_is_skipped_and_counted(bad: object) -> None:
    listed = read_list([bad, repository()])
    assert (len(listed.items), listed.entries, listed.skipped) == (1, 2, 1)
    with pytest.raises(SourceChanged, match="without the repository"):
        read_repository(bad)


def test_a_list_in_which_nothing_can_be_read_is_a_change() -> None:
    with pytest.raises(SourceChanged, match="none of the 5 repositories"):
        read_list([{}] * 5)


@pytest.mark.parametrize("answer", [None, 5, "x", [], {}, {"items": None}, {"items": {}}, {"message": "x"}])
def test_an_answer_that_is_no_search_is_a_change(answer: object) -> None:
    with pytest.raises(SourceChanged):
        read_search(answer)


@pytest.mark.parametrize("odd", [None, [], {}, -5, 1.5, True, 2**70, [None], {"a": None}])
def test_no_optional_field_of_another_type_costs_the_repository(odd: object) -> None:
    for name in set(repository()) - {"full_name", "private"}:
        item = read(**{name: odd})
        assert item.key == "github:some/repo"
        assert item.links[0] == Link("code", "https://github.com/some/repo")
    assert read(stargazers_count=odd).stars is None


@pytest.mark.parametrize("spdx", ["NOASSERTION", "other", "", None])
def test_an_unknown_licence_is_none(spdx: object) -> None:
    assert read(license={"spdx_id": spdx}).license == ""


def test_shortcodes_are_dropped_from_the_description_and_emoji_stay() -> None:
    assert read(description=":rocket: Fast ⚡ KV cache :fire:").abstract == "Fast ⚡ KV cache"


@pytest.mark.parametrize("page", ["javascript:alert(1)", "ftp://x.org", "x.org", "", "https://github.com/some/repo"])
def test_a_home_page_that_is_none_or_the_repository_itself_is_not_linked(page: str) -> None:
    assert [link.rel for link in read(homepage=page).links] == ["code"]


@pytest.mark.parametrize(
    "fields",
    [
        {"homepage": "https://arxiv.org/abs/2603.01234v2"},
        {"description": "Code for https://arxiv.org/abs/2603.01234"},
        {"description": "[ICML'26] Official code (arXiv:2603.01234)"},
        {"homepage": "https://huggingface.co/papers/2603.01234"},
    ],
)
def test_the_paper_that_a_repository_names_is_linked(fields: dict[str, str]) -> None:
    assert read(**fields).links[1:] == (Link("abstract", "https://arxiv.org/abs/2603.01234"),)


def test_a_list_of_papers_is_linked_to_none() -> None:
    item = read(description="arXiv:2603.01234 and arXiv:2603.01235")
    assert [link.rel for link in item.links] == ["code"]


def test_a_readme_gives_its_opening_and_its_paper() -> None:
    item = with_readme(read(), "# X\n\nWe make things fast, see https://arxiv.org/abs/2603.01234 for how.\n")
    assert item.readme == "We make things fast, see for how."
    assert item.links[-1] == Link("abstract", "https://arxiv.org/abs/2603.01234")


def test_the_paper_of_the_description_comes_before_that_of_the_readme() -> None:
    item = with_readme(read(description="arXiv:2603.00001"), "See https://arxiv.org/abs/2603.01234 for more.")
    assert [link.url for link in item.links if link.rel == "abstract"] == ["https://arxiv.org/abs/2603.00001"]


@settings(deadline=None, max_examples=tries(150))
@given(st.data())
def test_no_mutation_of_a_recorded_search_breaks_the_reader(data: st.DataObject) -> None:
    answer = json.loads(json.dumps(SEARCH | {"items": SEARCH["items"][:3]}))
    try:
        found = read_search(mutated(answer, data))
    except SourceChanged:
        return
    for item in found.items:
        assert item.key == f"github:{item.title.lower()}"
        assert all(link.url.startswith(("http://", "https://")) for link in item.links)
        assert min(item.stars or 0, item.forks or 0) >= 0
        str(item).encode()
