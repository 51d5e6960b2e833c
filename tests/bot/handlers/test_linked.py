"""Links in messages, and what is known behind them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.handlers.linked import linked, links_in
from bot.models import Item, Kind
from tests.bot.handlers.askers import Asker

ARXIV = "https://arxiv.org/abs/2603.00001"
REPOSITORY = "https://github.com/owner/name"


@pytest.mark.parametrize(
    ("text", "links"),
    [
        (ARXIV, (ARXIV,)),
        (f"Look: {ARXIV}.", (ARXIV,)),
        (f"({ARXIV}), *{REPOSITORY}*!", (ARXIV, REPOSITORY)),
        (f"<{ARXIV}|a paper> and <{REPOSITORY}>", (ARXIV, REPOSITORY)),
        (f"<{ARXIV}?a=1&amp;b=2|a paper>", (f"{ARXIV}?a=1&b=2",)),
        (f"[a paper]({ARXIV}) [code]({REPOSITORY}/tree/main)", (ARXIV, f"{REPOSITORY}/tree/main")),
        ("https://huggingface.co/papers/2603.00001", ("https://huggingface.co/papers/2603.00001",)),
        ("https://doi.org/10.1145/3600006.3613165", ("https://doi.org/10.1145/3600006.3613165",)),
        (f"{REPOSITORY}/issues/3 {REPOSITORY}", (f"{REPOSITORY}/issues/3",)),  # the same repository
        (f"{ARXIV}v2 https://arxiv.org/pdf/2603.00001", (f"{ARXIV}v2",)),
        ("https://example.org/a https://github.com/features https://huggingface.co/owner/model", ()),
        ("http:// https://[ https://user:pass@arxiv.org/abs/2603.00001", ()),
        ("javascript:alert(1) arxiv.org/abs/2603.00001", ()),
        ("", ()),
    ],
)
def test_the_links_of_a_message_that_name_an_item_are_found(text: str, links: tuple[str, ...]) -> None:
    assert links_in(text) == links


@given(
    st.text() | st.lists(st.sampled_from([ARXIV, REPOSITORY, "<", ">", "|", "(", ")", "](", " ", "*", "&amp;"])).map("".join)
)
def test_any_text_has_links_or_none(text: str) -> None:
    assert all(link.lower().startswith("http") for link in links_in(text))


async def test_what_is_known_behind_a_link_is_the_item_with_its_summary(ada: Asker) -> None:
    for link in (f"{ARXIV}v3", "https://huggingface.co/papers/2603.00001", "https://doi.org/10.48550/arXiv.2603.00001"):
        found = await linked(ada.context, link, ada.now)
        assert found is not None
        item, summary = found
        assert item.key == "arxiv:2603.00001"
        assert (summary.read, len(summary.parts)) == ("abstract", 4)


async def test_a_repository_is_known_by_its_front_page_alone(ada: Asker) -> None:
    await ada.context.store.add(
        [Item(key="github:owner/name", kind=Kind.REPO, title="owner/name", readme="A cache.")], ada.now
    )
    found = await linked(ada.context, f"{REPOSITORY}/", ada.now)
    assert found is not None
    assert found[0].key == "github:owner/name"
    assert await linked(ada.context, f"{REPOSITORY}/issues/3", ada.now) is None


async def test_what_nobody_collected_and_what_is_no_item_is_not_known(ada: Asker) -> None:
    for link in ("https://arxiv.org/abs/2603.99999", "https://example.org/a", "no link", ""):
        assert await linked(ada.context, link, ada.now) is None
