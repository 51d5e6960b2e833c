import json
import re
from collections.abc import Mapping

import pytest

from adapters.cli.demo.replay import Recordings, feed_of, papers_of, recorded, replay, repositories_of, words_of
from bot.http.client import Http, Request
from bot.settings.topic_packs import load_packs

REPOSITORIES = (
    {"full_name": "a/a", "stargazers_count": 300, "forks_count": 5, "pushed_at": "2026-04-01T03:54:59Z", "created_at": None},
    {
        "full_name": "b/b",
        "stargazers_count": 5000,
        "forks_count": 9,
        "pushed_at": "2026-03-01T00:00:00Z",
        "created_at": None,
    },
)
SMALL = Recordings("<feed>", (), {}, {frozenset({"topic:cuda", "kernel"}): REPOSITORIES})


@pytest.fixture(scope="module")
def known() -> Recordings:
    return recorded()


def found(q: str, **more: str) -> list[object]:
    items = repositories_of(SMALL, {"q": q, **more})["items"]
    assert isinstance(items, list)
    return [item["full_name"] for item in items]


def test_the_days_papers_are_all_there(known: Recordings) -> None:
    assert len(known.feed_entries) == 483
    assert {day: len(papers) for day, papers in known.days.items()} == {
        "2026-03-27": 16,
        "2026-03-30": 8,
        "2026-03-31": 22,
        "2026-04-01": 17,
    }


def test_a_feed_holds_the_categories_that_are_asked_for(known: Recordings) -> None:
    text = feed_of(known, "cs.CL+cs.DC")
    entries = re.findall(r"<entry>.*?</entry>", text, re.DOTALL)
    assert 90 < len(entries) < 130
    assert all('term="cs.CL"' in entry or 'term="cs.DC"' in entry for entry in entries)
    assert "<id>http://rss.arxiv.org/atom/cs.CL+cs.DC</id>" in text


def test_a_paper_of_another_primary_category_is_a_cross_list(known: Recordings) -> None:
    entries = re.findall(r"<entry>.*?</entry>", feed_of(known, "cs.AI"), re.DOTALL)
    for entry in entries:
        primary = entry[entry.index('term="') + 6 :].startswith("cs.AI")
        assert ("<arxiv:announce_type>new<" in entry) is primary
        assert ("Announce Type: new " in entry) is primary


def test_a_category_without_papers_gives_an_empty_feed(known: Recordings) -> None:
    text = feed_of(known, 'math.XX"<')
    assert "<entry>" not in text
    assert 'XX"' not in text
    assert text.endswith("</feed>\n")


def test_daily_papers_come_in_pages_and_unknown_days_are_empty(known: Recordings) -> None:
    day = {"date": "2026-04-01", "limit": "10"}
    pages = [papers_of(known, {**day, "p": str(number)}) for number in range(4)]
    assert [len(page) for page in pages] == [10, 7, 0, 0]
    assert len(papers_of(known, {"date": "2026-04-01"})) == 17
    assert list(papers_of(known, {"date": "2026-03-29"})) == []
    assert list(papers_of(known, {})) == []


def test_nobodys_account_is_in_the_recordings(known: Recordings) -> None:
    text = json.dumps(known.days)
    for word in ("avatar", "submittedBy", "submittedOnDailyBy", '"user"', "_id", "isPro", "discussionId"):
        assert word not in text


@pytest.mark.parametrize("name", ["gpu-systems", "llm-agents", "vision-language"])
def test_every_search_of_the_demos_topics_was_recorded(known: Recordings, name: str) -> None:
    texts = load_packs(None)[name].repositories
    assert texts
    assert [text for text in texts if words_of(text) not in known.searches] == []


def test_a_search_is_known_by_its_words_whatever_its_bounds() -> None:
    assert found("kernel topic:CUDA archived:false fork:false") == ["a/a", "b/b"]
    assert found("topic:cuda") == []


@pytest.mark.parametrize(
    ("bound", "want"),
    [
        ("stars:>300", ["b/b"]),
        ("stars:>=300", ["a/a", "b/b"]),
        ("stars:<1000", ["a/a"]),
        ("stars:300", ["a/a"]),
        ("stars:100..400", ["a/a"]),
        ("stars:*..400", ["a/a"]),
        ("stars:400..*", ["b/b"]),
        ("forks:<=5", ["a/a"]),
        ("pushed:>2026-03-15", ["a/a"]),
        ("pushed:2026-03", ["b/b"]),
        ("pushed:2026-03-01..2026-03-31", ["b/b"]),
        ("pushed:>=2026-03-31T07:00:00+00:00", ["a/a"]),
        ("created:>2020-01-01", []),
    ],
)
def test_bounds_hold_and_an_unknown_time_matches_none(bound: str, want: list[str]) -> None:
    assert found(f"topic:cuda kernel {bound}") == want


def test_search_results_are_sorted_and_paged() -> None:
    assert found("topic:cuda kernel", sort="stars", order="desc") == ["b/b", "a/a"]
    assert found("topic:cuda kernel", sort="stars", order="asc") == ["a/a", "b/b"]
    assert found("topic:cuda kernel", per_page="1", page="2") == ["b/b"]
    assert found("topic:cuda kernel", per_page="x", page="-1") == ["a/a", "b/b"]


async def asked(http: Http, url: str, params: Mapping[str, str] | None = None, status: int = 200) -> bytes:
    request = Request(url=url, params=tuple((params or {}).items()))
    return (await http.fetch(request, accept=frozenset({status}))).body


async def test_every_door_of_the_three_services_answers_over_a_socket() -> None:
    http = Http(user_agent="test")
    try:
        async with replay() as url:
            assert url.startswith("http://127.0.0.1:")
            assert (await asked(http, f"{url}/atom/cs.CV+cs.AI")).count(b"<entry>") > 300
            query = await asked(http, f"{url}/api/query", {"search_query": "cat:cs.AI&<x>"})
            assert b"<opensearch:totalResults>0<" in query
            assert b"<x>" not in query
            assert b"noRecordsMatch" in await asked(http, f"{url}/oai", {"verb": 'List"Records'})
            day = json.loads(await asked(http, f"{url}/api/daily_papers", {"date": "2026-03-31", "limit": "100"}))
            assert len(day) == 22
            none = json.loads(await asked(http, f"{url}/search/repositories", {"q": "topic:nothing-of-ours"}))
            assert none == {"total_count": 0, "incomplete_results": False, "items": []}
            for path in ("/repos/a/b/readme", "/repos/a/b", "/users/a/repos", "/"):
                assert json.loads(await asked(http, url + path, status=404))["message"] == "Not Found"
    finally:
        await http.close()
