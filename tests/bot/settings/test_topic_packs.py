from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import SettingsError
from bot.models import Interest, Topic
from bot.query import parse
from bot.settings.arxiv_categories import CATEGORIES
from bot.settings.topic_packs import load_packs, pack_as_written, pack_text, read_pack

PACK = """
name = "mine"
title = "Mine"
query = "cache OR cat:cs.DC"
interests = [{ clause = '"KV cache"', weight = 2.0 }, { clause = "author:Dao" }, { clause = "survey", weight = -1 }]
examples = ["A text to be close to"]
repositories = ["topic:cuda stars:>200"]
min_score = 0.2
"""


def test_a_pack_becomes_a_topic() -> None:
    topic = read_pack(PACK, "mine.toml")

    assert (topic.name, topic.min_score, topic.repositories) == ("mine", 0.2, ("topic:cuda stars:>200",))
    assert [(each.clause, each.weight) for each in topic.interests] == [
        ('"KV cache"', 2.0),
        ("author:Dao", 1.0),
        ("survey", -1.0),
    ]
    assert topic.query.text == "cache OR cat:cs.DC"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('name = "mine"', 'name = "My Topic"', "lower-case"),
        ('name = "mine"', "", "name"),
        ("min_score = 0.2", "min_score = 2", "min_score"),
        ("min_score = 0.2", "minscore = 0.2", "minscore"),
        ('"cache OR cat:cs.DC"', '"titel:cache"', "title"),
        ("author:Dao", "author:", "mine.toml"),
        ("weight = 2.0", "weight = 'much'", "interests.0.weight"),
        ("title =", "title", "TOML"),
        ("min_score", 'sources = ["arxive"]\nmin_score', 'no source "arxive"'),
    ],
)
def test_a_pack_that_is_not_right_is_told_in_a_sentence_that_names_the_file(old: str, new: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_pack(PACK.replace(old, new), "mine.toml")

    assert sentence in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_a_pack_of_ones_own_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "gpu-systems.toml").write_text(PACK.replace('"mine"', '"gpu-systems"'), encoding="utf-8")

    assert load_packs()["gpu-systems"].title != "Mine"
    assert load_packs(tmp_path)["gpu-systems"].title == "Mine"


def test_a_topic_is_found_by_its_name_whatever_its_file_is_called(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(PACK.replace('"mine"', '"gpu-systems"'), encoding="utf-8")

    assert pack_as_written("gpu-systems", tmp_path) == PACK.replace('"mine"', '"gpu-systems"')
    assert pack_as_written("nothing", tmp_path) == ""


def test_two_packs_of_one_name_are_told(tmp_path: Path) -> None:
    for name in ("one.toml", "two.toml"):
        (tmp_path / name).write_text(PACK, encoding="utf-8")

    with pytest.raises(SettingsError, match=r'one\.toml and .*two\.toml both hold a topic named "mine"'):
        load_packs(tmp_path)


def test_a_folder_or_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        load_packs(tmp_path / "nowhere")
    with pytest.raises(SettingsError, match="cannot be read: Not a directory"):
        load_packs(Path(__file__))
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=r"bad\.toml"):
        load_packs(tmp_path)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
clauses = st.sampled_from(['"KV cache"', "kv -survey", 'title:"a b" OR (x y)', "stars:>5", 'quote\\ "a \\b"', "naïve\x7f"])
topics = st.builds(
    Topic,
    name=st.just("mine"),
    title=words.filter(bool),
    description=words,
    query=clauses.map(parse),
    filter=clauses.map(parse),
    interests=st.lists(st.builds(Interest, clauses, st.floats(-10, 10)), max_size=3).map(tuple),
    examples=st.lists(words, max_size=3).map(tuple),
    sources=st.lists(st.sampled_from(["arxiv", "feed:lab"]), max_size=2).map(tuple),
    categories=st.lists(st.sampled_from(CATEGORIES), max_size=3, unique=True).map(tuple),
    min_score=st.floats(0, 1),
    repositories=st.lists(words, max_size=2).map(tuple),
)


@given(topics)
def test_a_topic_written_as_a_pack_is_read_as_itself(topic: Topic) -> None:
    assert read_pack(pack_text(topic), "here") == topic
