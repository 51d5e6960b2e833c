"""The topic packs that come with Broadsheet: each is a topic that works."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.models import And, Not, Or, Tree
from bot.query import matches, parse, unparse
from bot.settings.topic_packs import read_pack
from tests.fakes import edition

PACKS = sorted((Path(__file__).parents[3] / "config" / "topics").glob("*.toml"))
NAMES = [path.stem for path in PACKS]
NOW = datetime(2026, 6, 15, tzinfo=UTC)


def _clauses(tree: Tree) -> int:
    match tree:
        case And(parts) | Or(parts):
            return sum(map(_clauses, parts))
        case Not(part):
            return _clauses(part)
        case _:
            return 1


def test_there_are_packs_for_many_readers() -> None:
    assert len(PACKS) >= 12
    assert "gpu-systems" in NAMES


@pytest.mark.parametrize("path", PACKS, ids=NAMES)
def test_a_pack_is_well_made(path: Path) -> None:
    topic = read_pack(path.read_text(encoding="utf-8"), path.name)
    assert topic.name == path.stem
    assert topic.title
    assert topic.description.endswith(".")
    assert topic.query.tree != And(())
    assert (topic.query.sort, topic.query.topic_of) == ("best", "")
    assert 3 <= len(topic.examples) <= 12
    assert len(set(topic.examples)) == len(topic.examples)


@pytest.mark.parametrize("path", PACKS, ids=NAMES)
def test_a_packs_query_reads_back_as_the_same_tree(path: Path) -> None:
    query = read_pack(path.read_text(encoding="utf-8"), path.name).query
    assert parse(unparse(query)).tree == query.tree
    assert _clauses(query.tree) <= 64


@pytest.mark.parametrize("path", PACKS, ids=NAMES)
def test_a_packs_interests_weigh_for_and_against(path: Path) -> None:
    interests = read_pack(path.read_text(encoding="utf-8"), path.name).interests
    assert 15 <= len(interests) <= 40
    assert all(0.5 <= abs(interest.weight) <= 3 for interest in interests)
    assert any(interest.weight < 0 for interest in interests)
    trees = [parse(interest.clause).tree for interest in interests]
    assert len(set(map(repr, trees))) == len(trees)


@pytest.mark.parametrize("path", PACKS, ids=NAMES)
def test_a_packs_repository_searches_are_ones_that_github_takes(path: Path) -> None:
    # docs.github.com/rest/search: at most 256 characters, and five of AND, OR and NOT.
    topic = read_pack(path.read_text(encoding="utf-8"), path.name)
    assert topic.repositories
    for search in topic.repositories:
        assert len(search) <= 256
        assert len(re.findall(r"\b(?:AND|OR|NOT)\b", search)) <= 5
        assert re.search(r"(?:topic|in|language|org|user):\S", search)


def test_gpu_systems_lets_in_what_an_editor_chose_for_that_reader() -> None:
    path = next(path for path in PACKS if path.stem == "gpu-systems")
    tree = read_pack(path.read_text(encoding="utf-8"), path.name).query.tree
    admitted = {item.title for item in edition.items() if matches(tree, item, NOW)}
    assert {title for title, _ in edition.chosen()} <= admitted
    assert len(admitted) < len(edition.items())
