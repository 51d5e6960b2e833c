"""Repositories in four parts: what is known, and what is not."""

from datetime import UTC, datetime

import pytest

from bot.models import PARTS, Item, Kind, Summary
from bot.summarise.extractive import extract
from tests.fakes.edition import items

README = """Tidy

Existing caches are expensive and difficult to size, which limits small teams.
Tidy is a cache library that predicts its own size with a small model.

pip install tidy

| a | b |
On our traces Tidy reduces misses by 31% compared with the best baseline.
Tidy makes it possible to run large services without an operator.
"""


def repository(*, readme: str = "", abstract: str = "A cache that sizes itself", stars: int | None = 1) -> Item:
    return Item(
        key="github:tidy/tidy",
        kind=Kind.REPO,
        title="tidy/tidy",
        abstract=abstract,
        readme=readme,
        language="Rust",
        keywords=("cache", "kv-cache"),
        stars=stars,
        license="MIT",
        updated=datetime(2026, 6, 12, tzinfo=UTC),
    )


def texts(summary: Summary) -> dict[str, str]:
    return {part.name: part.text for part in summary.parts}


def test_a_readme_fills_the_four_parts() -> None:
    summary = extract(repository(readme=README))
    assert texts(summary) == {
        "Problem": "Existing caches are expensive and difficult to size, which limits small teams.",
        "Method": "A cache that sizes itself. Tidy is a cache library that predicts its own size with a small model.",
        "Evidence": "On the traces Tidy reduces misses by 31% compared with the best baseline.",
        "Why it matters": "Tidy makes it possible to run large services without an operator.",
    }
    assert summary.read == "description and README opening"
    assert all(part.found for part in summary.parts)


def test_every_quote_stands_in_the_description_or_the_readme() -> None:
    item = repository(readme=README)
    quotes = [quote for part in extract(item).parts for quote in part.quotes]
    assert quotes
    assert all(quote in item.abstract or quote in item.readme for quote in quotes)


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("Please donate, as servers are expensive for most of us.", "Problem"),
        ("Tidy is a library for problems that many teams have.", "Problem"),
        ("Installing other caches is difficult, see the guide.", "Problem"),
        ("Tidy offers state-of-the-art models for the cache.", "Evidence"),
        ("This makes it possible to run large services.", "Why it matters"),
        ("A switch lets tests run without any network.", "Why it matters"),
    ],
)
def test_a_sentence_that_does_not_speak_of_a_part_does_not_stand_for_it(sentence: str, part: str) -> None:
    told = next(each for each in extract(repository(readme=sentence)).parts if each.name == part)
    assert not told.found


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("Most caches are slow and difficult to size.", "Problem"),
        ("However, sizing a cache remains a problem.", "Problem"),
        ("Tidy is 3 times faster than its rivals on all traces.", "Evidence"),
        ("On the benchmark of 2026 its throughput is the best.", "Evidence"),
        ("Tidy lets services run without an operator.", "Why it matters"),
        ("🚀 Trusted by teams who run large services.", "Why it matters"),
    ],
)
def test_a_sentence_that_speaks_of_a_part_stands_for_it(sentence: str, part: str) -> None:
    told = next(each for each in extract(repository(readme=sentence)).parts if each.name == part)
    assert told.found
    assert told.quotes == (sentence,)


def test_a_sentence_that_says_the_description_again_is_not_added() -> None:
    told = texts(extract(repository(readme="Tidy is a cache that sizes itself.")))
    assert told["Method"] == "A cache that sizes itself. Written mainly in Rust."


def test_without_a_readme_it_says_what_is_known() -> None:
    summary = extract(repository())
    assert texts(summary) == {
        "Problem": "Its topics: cache and kv-cache.",
        "Method": "A cache that sizes itself. Written mainly in Rust.",
        "Evidence": "No README was read for measurements. On GitHub: 1 star.",
        "Why it matters": "Known: MIT licence, last push on 12 June 2026.",
    }
    assert [part.found for part in summary.parts] == [False, True, False, False]


def test_a_readme_without_figures_is_not_said_to_report_none() -> None:
    summary = extract(repository(readme="Tidy is a cache library for small teams and their machines.", stars=None))
    assert texts(summary)["Evidence"] == ""


def test_nothing_at_all_is_said_to_be_nothing() -> None:
    summary = extract(Item(key="github:a/b", kind=Kind.REPO, title="a/b"))
    assert summary.read == "name and metadata"
    assert not any(part.found for part in summary.parts)
    assert tuple(part.name for part in summary.parts) == PARTS


def test_the_repository_of_the_edition_is_described_by_its_own_words() -> None:
    (lmcache,) = (item for item in items() if item.kind is Kind.REPO)
    told = texts(extract(lmcache))
    assert told["Method"] == "LMCache: Supercharge Your LLM with the Fastest KV Cache Layer. Written mainly in Python."
    assert "8,985 stars and 1,311 forks" in told["Evidence"]


def test_an_archived_repository_says_so() -> None:
    assert extract(Item(key="github:a/b", kind=Kind.REPO, title="a/b", archived=True)).note == "This repository is archived."


def test_a_readme_in_another_language_gives_no_sentences() -> None:
    summary = extract(repository(readme="这是一个缓存库。它的速度提高了三倍。" * 5))
    assert texts(summary)["Evidence"].startswith("The README is not in English and was not searched for measurements.")
