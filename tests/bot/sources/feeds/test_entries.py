"""Whatever a feed says, its entries become sound items or none."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import Kind
from bot.sources.feeds.child import NotAFeed, read_feed
from bot.sources.feeds.entries import FeedAnswer, FeedEntry, items_of

NOW = datetime(2026, 4, 1, tzinfo=UTC)

ADDRESSES = st.sampled_from(
    [
        "https://a.example/x?utm_source=y",
        "https://arxiv.org/abs/2603.01234v2",
        "https://doi.org/10.1/x",
        "https://doi.org/10.1000/x y",
        "https://github.com/A/B",
        "javascript:alert(1)",
        "oai:arXiv.org:hep-th/9901001v3",
        "http://[",
        "10.1000/ABC",
    ]
)
TEXTS = st.text(max_size=30) | ADDRESSES
ENTRIES = st.builds(
    FeedEntry,
    id=TEXTS,
    title=TEXTS,
    link=TEXTS,
    text=TEXTS,
    links=st.lists(TEXTS, max_size=3).map(tuple),
    authors=st.lists(TEXTS, max_size=2).map(tuple),
    tags=st.lists(TEXTS, max_size=3).map(tuple),
    published=st.sampled_from(
        ["2026-03-30T10:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31", "soon", "", "Mon, 30 Mar 2026"]
    ),
    doi=TEXTS,
    license=TEXTS,
    announce=TEXTS,
)


@given(st.lists(ENTRIES, max_size=4))
def test_no_entry_raises_and_every_item_is_sound(entries: list[FeedEntry]) -> None:
    for item in items_of(entries, "feed:x", NOW):
        assert item.key.startswith(("arxiv:", "doi:", "github:", "url:https://"))
        assert item.title
        assert item.key not in item.aliases
        assert len(set(item.aliases)) == len(item.aliases)
        assert all(link.url.startswith(("http://", "https://")) for link in item.links)
        assert item.published is None or item.published <= datetime(2026, 4, 2, tzinfo=UTC)
        assert (item.kind is Kind.POST) == item.key.startswith("url:")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS, lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
FIELDS = [
    "id",
    "url",
    "external_url",
    "title",
    "content_html",
    "content_text",
    "summary",
    "authors",
    "author",
    "tags",
    "date_published",
]


@given(
    st.fixed_dictionaries(
        {}, optional={"title": JSON, "items": JSON | st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON))}
    )
)
def test_no_json_feed_breaks_the_reader(feed: dict[str, object]) -> None:
    try:
        found = read_feed(json.dumps(feed).encode(), "https://a.example/feed", "")
    except NotAFeed:
        return
    answer = FeedAnswer.model_validate_json(json.dumps(found).encode("utf-8", "replace"))
    items_of(answer.entries, "feed:x", NOW)


@pytest.mark.parametrize(
    ("given_names", "authors"),
    [
        (["Ada Lovelace, Li Wei, and Bo Ek"], ("Ada Lovelace", "Li Wei", "Bo Ek")),
        (["Curie, Marie"], ("Curie, Marie",)),
        (["Ada Lovelace"], ("Ada Lovelace",)),
        (["Curie, Marie", "Ek, Bo"], ("Curie, Marie", "Ek, Bo")),
        ([], ()),
    ],
)
def test_names_in_one_field_are_told_apart(given_names: list[str], authors: tuple[str, ...]) -> None:
    entry = FeedEntry(link="https://a.example/x", authors=tuple(given_names))
    assert items_of([entry], "feed:x", NOW)[0].authors == authors


@pytest.mark.parametrize(
    ("identifier", "published", "kept"),
    [
        ("2603.01234", "2026-03-20T00:00:00Z", True),
        ("2602.01234", "2026-03-02T00:00:00Z", True),
        ("2512.01234", "2026-01-02T00:00:00Z", True),
        ("1706.03762", "2026-03-20T00:00:00Z", False),
        ("hep-th/9901001", "2026-03-20T00:00:00Z", False),
    ],
)
def test_a_papers_date_is_believed_when_it_fits_its_number(identifier: str, published: str, kept: bool) -> None:
    entry = FeedEntry(link=f"https://arxiv.org/abs/{identifier}", published=published)  # type: ignore[arg-type]
    item = items_of([entry], "feed:x", NOW)[0]
    assert (item.published is not None) is kept
    assert item.appeared is not None


def test_a_papers_tex_is_made_readable_and_a_posts_text_is_left_alone(now: datetime) -> None:
    paper = FeedEntry(
        link="https://arxiv.org/abs/2603.00001", title=r"Andr\'e's $\nabla$ Method", text=r"\textbf{Fast} in $O(n^2)$."
    )
    post = FeedEntry(link="https://lab.example/costs", title="It costs $5 and $10", text="See C:\\temp.")

    items = items_of([paper, post], "feed:lab", now)

    assert [(item.title, item.abstract) for item in items] == [
        ("André's ∇ Method", "Fast in O(n²)."),
        ("It costs $5 and $10", "See C:\\temp."),
    ]
