from pathlib import Path

import pytest

from bot.errors import SettingsError, UsageError
from bot.topics import find_topic, load_packs, pack_file, read_pack

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
    assert pack_file("gpu-systems", tmp_path) == tmp_path / "gpu-systems.toml"


def test_a_topic_is_found_by_its_name_whatever_its_file_is_called(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(PACK.replace('"mine"', '"gpu-systems"'), encoding="utf-8")

    assert pack_file("gpu-systems", tmp_path) == tmp_path / "ours.toml"


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


def test_an_unknown_topic_is_answered_with_the_nearest() -> None:
    topics = load_packs()

    assert find_topic(topics, "gpu-systems") is topics["gpu-systems"]
    with pytest.raises(UsageError, match='Did you mean "gpu-systems"'):
        find_topic(topics, "GPU-system")
    with pytest.raises(UsageError, match="broadsheet topics"):
        find_topic(topics, "zzz")
