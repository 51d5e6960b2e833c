from dataclasses import replace

import pytest

from bot.errors import UsageError
from bot.models import Topic
from bot.query import parse
from bot.settings.arxiv_categories import CATEGORIES, categories_named, needed_categories, not_collected
from bot.settings.sources import ArxivSettings
from bot.settings.topic_packs import load_packs

ROBOTS = Topic(name="robots", title="Robots", categories=("cs.RO", "cs.AI"))


def test_categories_are_taken_in_any_case_and_whole_archives_by_a_star() -> None:
    assert categories_named(["cs.ro", "Q-BIO.gn", "hep-th", "cs.RO"]) == ("cs.RO", "q-bio.GN", "hep-th")
    assert categories_named(["stat.*"]) == ("stat.AP", "stat.CO", "stat.ME", "stat.ML", "stat.OT", "stat.TH")
    assert len(set(CATEGORIES)) == len(CATEGORIES) == 155


@pytest.mark.parametrize("name", ["cs.XX", "cs", "*", ".*", "", "../../etc", "cs.AI+cs.CL"])
def test_what_is_no_category_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="arXiv has no category"):
        categories_named([name])


def test_the_nearest_category_is_named() -> None:
    with pytest.raises(UsageError) as refused:
        categories_named(["cs.R0"])
    assert refused.value.hint.startswith("Did you mean cs.")


def test_what_a_subscribed_topic_needs_is_collected_unless_the_settings_forbid_it() -> None:
    assert not_collected(ROBOTS, ArxivSettings()) == ""
    assert not_collected(ROBOTS, ArxivSettings(), subscribed=False) == (
        "arXiv's cs.RO is collected while a channel subscribes to it, or the settings follow it."
    )
    forbidden = not_collected(ROBOTS, ArxivSettings(follow_topics=False))
    assert forbidden.startswith("arXiv's cs.RO is not collected, so that papers are missed.")
    assert '"follow_topics = true"' in forbidden
    assert not_collected(ROBOTS, ArxivSettings(follow_topics=False, categories=("cs",))) == ""
    assert "arXiv is switched off" in not_collected(ROBOTS, ArxivSettings(enabled=False))


def test_a_topic_that_takes_nothing_from_arxiv_misses_nothing() -> None:
    repos = Topic(name="repos", title="Repos", categories=("cs.RO",), sources=("github",))
    assert not_collected(repos, ArxivSettings(enabled=False)) == ""


def test_what_a_query_asks_for_by_name_is_needed_too_and_what_it_excludes_is_not() -> None:
    asked = Topic(
        name="t", title="T", query=parse("robot OR cat:cs.ro (cat:stat.ML -cat:cs.CR) cat:nope"), categories=("cs.AI",)
    )
    assert needed_categories(asked) == ("cs.AI", "cs.RO", "stat.ML")
    biology = Topic(name="t", title="T", query=parse("cat:q-bio.* OR cat:cs.*"))
    assert needed_categories(biology) == categories_named(["q-bio.*"])
    assert needed_categories(replace(biology, sources=("huggingface",))) == ()


def test_every_shipped_topic_says_what_must_be_collected_for_it() -> None:
    packs = load_packs()
    assert [name for name, topic in packs.items() if not topic.categories] == []
    needed = {category for topic in packs.values() for category in topic.categories}
    assert {"cs.RO", "cs.CR", "cs.DB", "cs.IR", "cs.HC", "cs.SD", "eess.AS", "q-bio.BM", "stat.ML", "math.OC"} <= needed
