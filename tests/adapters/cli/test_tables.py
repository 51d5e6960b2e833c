import io
from pathlib import Path

from rich.console import Console, RenderableType

from adapters.cli.tables import PageView, TopicsView
from bot.models import Interest, Page, Topic
from tests.adapters.golden import check
from tests.conftest import NOW
from tests.fakes.digests import FOUND

GOLDEN = Path(__file__).parent / "golden"
TOPICS = (
    Topic(name="gpu-systems", title="GPU systems", description="CUDA, ROCm, serving.", interests=(Interest("CUDA"),)),
    Topic(name="databases", title="[red]Databases[/red]"),
)


def printed(view: RenderableType, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, _environ={}).print(view)
    return out.getvalue()


def test_search_results_look_as_they_did() -> None:
    check(GOLDEN / "search-80.txt", printed(PageView(FOUND, "gpu kernel", NOW)))


def test_a_later_page_goes_on_counting() -> None:
    text = printed(PageView(FOUND, "gpu", NOW, offset=10))
    assert "\n12  vllm-project/vllm" in text
    assert "Items 11–12; there are more." in text
    assert "12 items in all." in printed(PageView(Page(FOUND.hits, more=False), "gpu", NOW, offset=10))


def test_a_search_without_results_says_so() -> None:
    assert printed(PageView(Page((), more=False), "gpu [bold]\x1b[2J", NOW)) == "Here nothing matches gpu [bold].\n"
    assert printed(PageView(Page((), more=False), "", NOW, offset=10)) == "Here no more items match.\n"


def test_topics_are_listed_with_those_that_are_on() -> None:
    check(GOLDEN / "topics-80.txt", printed(TopicsView(TOPICS, on=("gpu-systems",))))
