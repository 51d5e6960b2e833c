import pytest

from benchmarks.quality import digests
from bot.models import Topic
from bot.settings.topic_packs import load_packs

DAY = "2026-03-31"


def test_every_grade_is_of_a_paper_and_a_pack_that_there_are_with_a_reason_of_eight_words() -> None:
    keys = {day: {item.key for item in digests.papers(day)} for days in digests.DAYS.values() for day in days}
    packs = load_packs()
    rows = list(digests._rows("grades.tsv"))
    assert len(rows) == 3081
    for row in rows:
        assert f"arxiv:{row['id']}" in keys[row["day"]]
        assert row["topic"] in packs
        assert row["grade"] in "012"
        assert 0 < len(row["reason"].split()) <= 8


def test_the_twenty_best_of_what_was_posted_before_were_judged() -> None:
    for each in digests.shipped_before([DAY]):
        assert len(each.graded) == len(each.posted)


def test_a_topic_with_a_bar_that_nothing_reaches_posts_nothing_and_its_share_off_topic_counts_nothing() -> None:
    nothing = Topic(name="security", title="Security", min_score=1.0)
    (made,) = digests.made([DAY], {"security": nothing}, None)
    assert (made.posted, made.graded) == ([], [])
    assert digests._off(made) == (0, 0)
    assert digests._found(made) == (0, 6)


@pytest.mark.parametrize(
    ("posted", "off", "found"), [(["a", "b"], (1, 2), (1, 2)), (["c"], (0, 0), (0, 2)), ([], (0, 0), (0, 2))]
)
def test_shares_are_of_what_was_judged(posted: list[str], off: tuple[int, int], found: tuple[int, int]) -> None:
    judged = digests.Judged("t", DAY, posted, (), {"a": 2, "b": 0, "d": 2})
    assert (digests._off(judged), digests._found(judged)) == (off, found)
