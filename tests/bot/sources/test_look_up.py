"""Single items, as arXiv, Hugging Face and GitHub answer for them."""

import base64
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import SourceChanged, SourceUnavailable
from bot.http.client import Http
from bot.models import Kind
from bot.ports.source import ItemLookup
from bot.settings.sources import ArxivSettings, GitHubSettings, HuggingFaceSettings
from bot.sources.arxiv.source import ArxivSource
from bot.sources.github.api import Exhausted
from bot.sources.github.details import SPARE
from bot.sources.github.source import GitHubSource
from bot.sources.huggingface.source import HuggingFaceSource
from tests.bot.sources.arxiv.collecting import make
from tests.bot.sources.github.collecting import source
from tests.bot.sources.replay import recorded, repository
from tests.fakes.web import Answer, Web

PAYLOADS = Path(__file__).parents[2] / "payloads"


def arxiv(name: str) -> Answer:
    return Answer((PAYLOADS / "arxiv" / name).read_bytes())


@pytest.fixture
def huggingface(web: Web, http: Http) -> HuggingFaceSource:
    return HuggingFaceSource(http, HuggingFaceSettings(base_url=web.url))


def listed(day: str) -> dict[str, Any]:
    """The first paper of a recorded day, as its own address answers it."""
    found: dict[str, Any] = json.loads(gzip.decompress((PAYLOADS / "huggingface" / f"{day}.json.gz").read_bytes()))[0][
        "paper"
    ]
    return found


# --- arXiv


@pytest.mark.parametrize(
    ("key", "payload", "title"),
    [
        ("arxiv:1605.08386", "api-one.xml", "Heat-bath random walks with Markov bases"),
        ("arxiv:astro-ph/0601001", "api-old-id.xml", ""),
        ("arxiv:quant-ph/0201082", "api-pinned-version.xml", ""),
    ],
)
async def test_arxiv_is_asked_for_one_paper_by_its_number(web: Web, http: Http, key: str, payload: str, title: str) -> None:
    web.answer("/api", arxiv(payload))
    arxiv_source: ItemLookup = make(web, http)
    (item,) = await arxiv_source.look_up(key)
    assert item.key == key
    assert item.title == title or not title
    assert (bool(item.abstract), item.appeared) == (True, None)
    assert [asked.query["id_list"] for asked in web.asked] == [key.removeprefix("arxiv:")]
    assert arxiv_source.has_keys_like(key)


@pytest.mark.parametrize("payload", ["api-unknown-id.xml", "api-error.xml"])
async def test_what_arxiv_does_not_know_or_takes_for_no_number_is_nothing(web: Web, http: Http, payload: str) -> None:
    web.answer("/api", Answer((PAYLOADS / "arxiv" / payload).read_bytes(), status=400 if "error" in payload else 200))
    assert await make(web, http).look_up("arxiv:2603.99999") == ()


async def test_an_overloaded_arxiv_says_when_to_come_back(web: Web, http: Http) -> None:
    web.answer("/api", Answer("Rate exceeded.", status=429))
    with pytest.raises(SourceUnavailable) as caught:
        await make(web, http).look_up("arxiv:1605.08386")
    assert caught.value.retry_after is not None


# --- Hugging Face


async def test_hugging_face_is_asked_for_a_papers_own_address(web: Web, huggingface: HuggingFaceSource) -> None:
    one = listed("2026-04-28")
    web.answer(f"/api/papers/{one['id']}", Answer(json.dumps(one)))
    paper, code = await huggingface.look_up(f"arxiv:{one['id']}")
    assert (paper.key, paper.kind, paper.upvotes, paper.sources) == ("arxiv:2604.22446", Kind.PAPER, 55, ("huggingface",))
    assert (code.key, code.stars, code.paper) == ("github:1mancompany/onemancompany", 57, paper.key)
    assert paper.appeared is not None


async def test_a_paper_that_was_never_picked_appeared_nowhere(web: Web, huggingface: HuggingFaceSource) -> None:
    one = {name: value for name, value in listed("2026-04-28").items() if name != "submittedOnDailyAt"}
    web.answer(f"/api/papers/{one['id']}", Answer(json.dumps(one)))
    assert {item.appeared for item in await huggingface.look_up(f"arxiv:{one['id']}")} == {None}


async def test_a_paper_without_a_date_is_of_the_month_of_its_number(web: Web, huggingface: HuggingFaceSource) -> None:
    web.answer("/api/papers/2404.00001", Answer(json.dumps({"id": "2404.00001", "title": "Undated"})))
    (paper,) = await huggingface.look_up("arxiv:2404.00001")
    assert paper.published == datetime(2024, 4, 1, tzinfo=UTC)


@pytest.mark.parametrize("status", [404, 400])
async def test_a_paper_without_a_page_at_hugging_face_is_nothing(
    web: Web, huggingface: HuggingFaceSource, status: int
) -> None:
    web.answer("/api/papers/2603.99999", Answer('{"error":"Paper not found"}', status=status))
    assert await huggingface.look_up("arxiv:2603.99999") == ()


@pytest.mark.parametrize("body", ["[]", "{}", '{"id":"2603.00001"}', "<html>"])
async def test_another_shape_is_told_as_one(web: Web, huggingface: HuggingFaceSource, body: str) -> None:
    web.answer("/api/papers/2603.00001", Answer(body))
    with pytest.raises(SourceChanged):
        await huggingface.look_up("arxiv:2603.00001")


async def test_another_paper_than_the_one_asked_for_is_not_taken(web: Web, huggingface: HuggingFaceSource) -> None:
    web.answer("/api/papers/2603.00001", Answer(json.dumps(listed("2026-04-28"))))
    assert await huggingface.look_up("arxiv:2603.00001") == ()


def test_a_paper_of_before_2007_has_no_page_at_hugging_face(huggingface: HuggingFaceSource) -> None:
    assert not huggingface.has_keys_like("arxiv:cs/0112017")
    assert huggingface.has_keys_like("arxiv:2603.00001")


# --- GitHub


def readme(text: str) -> Answer:
    return Answer(json.dumps({"encoding": "base64", "content": base64.b64encode(text.encode()).decode()}))


async def test_github_is_asked_for_a_repository_and_its_readme(web: Web, http: Http) -> None:
    web.answer("/repos/pygithub/pygithub", recorded("repository")[0].answer())
    web.answer("/repos/PyGithub/PyGithub/readme", readme("# PyGithub\n\nPyGithub is a library for GitHub's interface."))
    (item,) = await source(http, web).look_up("github:pygithub/pygithub")
    assert (item.key, item.title, item.kind) == ("github:pygithub/pygithub", "PyGithub/PyGithub", Kind.REPO)
    assert "library for GitHub" in item.readme


async def test_a_repository_has_a_card_without_its_readme(web: Web, http: Http) -> None:
    web.answer("/repos/pygithub/pygithub", recorded("repository")[0].answer())
    web.answer("/repos/PyGithub/PyGithub/readme", Answer(status=502))
    (item,) = await source(http, web).look_up("github:pygithub/pygithub")
    assert item.readme == ""


async def test_a_renamed_repository_goes_by_its_old_name_too(web: Web, http: Http) -> None:
    moved, whole = recorded("renamed")
    web.answer(moved.path, Answer(status=301, headers={"location": f"{web.url}{whole.path}"}))
    web.answer(whole.path, whole.answer())
    (item,) = await source(http, web).look_up("github:protoncoin/protoncoin")
    assert (item.key, item.aliases) == ("github:padima2/protoncoin", ("github:protoncoin/protoncoin",))


@pytest.mark.parametrize(
    "answer",
    [
        recorded("not-found")[0].answer(),
        Answer('{"message":"Repository access blocked"}', status=403),
        Answer('{"message":"Gone"}', status=410),
        Answer('{"message":"Unavailable"}', status=451),
        Answer(json.dumps(repository("a/secret", private=True))),
        Answer(json.dumps(repository("a/secret", visibility="internal"))),
    ],
)
async def test_a_repository_that_not_everybody_may_see_is_nothing(web: Web, http: Http, answer: Answer) -> None:
    web.answer("/repos/a/secret", answer)
    assert await source(http, web, token="t").look_up("github:a/secret") == ()
    assert len(web.asked) == 1, "nothing more is asked for of it"


async def test_the_last_requests_of_an_hour_are_left_to_collections(web: Web, http: Http) -> None:
    short = {"x-ratelimit-remaining": str(SPARE - 1)}
    web.answer("/repos/some/repo", Answer(json.dumps(repository()), headers=short))
    limits = [{"resources": {"core": {"limit": 60, "remaining": left}}} for left in (SPARE - 1, 60)]
    web.answer("/rate_limit", *(Answer(json.dumps(each)) for each in limits))
    github: ItemLookup = source(http, web)
    assert await github.look_up("github:some/repo")
    with pytest.raises(Exhausted, match="kept for what is collected"):
        await github.look_up("github:some/repo")
    assert await github.look_up("github:some/repo"), "the hour is over"


# --- what may be asked for


@pytest.mark.parametrize(
    "key",
    [
        *("github:../../user", "github:a/..", "github:a/.", "github:a/b/../../../user", "github:a/b?x=1", "github:a/b#c"),
        *("github:a", "github:a/b/c", "github:%2e%2e/user", "github:A/B", "github:a@b/c", "github:a\\b/c", "github:"),
        *(
            "arxiv:../whoami-v2",
            "arxiv:x",
            "arxiv:2603.00001v2",
            "arxiv:2603.00001?x",
            "arxiv:2603.00001,2603.00002",
            "arxiv:",
        ),
        *("arxiv:", "doi:10.1/x", "url:https://169.254.169.254/", "2603.00001", ""),
    ],
)
def test_what_is_no_number_and_no_name_is_never_put_into_an_address(
    web: Web, http: Http, huggingface: HuggingFaceSource, key: str
) -> None:
    lookups: list[ItemLookup] = [make(web, http), huggingface, source(http, web)]
    assert [each.title for each in lookups if each.has_keys_like(key)] == []


NO_HTTP = cast("Http", None)
UNASKED: tuple[ItemLookup, ...] = (
    ArxivSource(NO_HTTP, ArxivSettings()),
    HuggingFaceSource(NO_HTTP, HuggingFaceSettings()),
    GitHubSource(NO_HTTP, GitHubSettings()),
)


@given(st.text() | st.from_regex(r"(arxiv|github):[a-z0-9./?#%@:~-]{0,30}", fullmatch=True))
def test_whatever_may_be_asked_for_stays_below_its_address(key: str) -> None:
    for each in UNASKED:
        if each.has_keys_like(key):
            name = key.partition(":")[2]
            assert not set(name) & set("?#%@:\\ ")
            assert not {"", ".", ".."} & set(name.split("/"))
