"""Commands on what nobody has collected: it is fetched, stored and used from then on."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.collect.collector import Collector
from bot.collect.fetching import ItemFetcher
from bot.commands import Search, parse
from bot.errors import NetworkFault, SourceUnavailable, Unclear, UsageError
from bot.handlers.handle import answer
from bot.models import Reply
from bot.sources.registry import AUTHORITY
from tests.bot.handlers.askers import Asker, said
from tests.fakes.archive import Archive
from tests.fakes.works import paper, repo

UNKNOWN = "2603.00042"
WANTED = paper(
    UNKNOWN, title="Cache lines that page themselves", abstract="We propose a cache that pages itself. It is 31% faster."
)
CODE = repo("lab/pager", abstract="A pager.")


class Desk:
    """Ada, and the two services that she may have asked."""

    def __init__(self, ada: Asker) -> None:
        self.arxiv = Archive("arXiv", WANTED)
        self.github = Archive("GitHub", CODE, prefix="github:")
        store = ada.context.store
        fetcher = ItemFetcher(store.items, Collector(store, AUTHORITY), [self.arxiv, self.github])
        self.ada = replace(ada, context=replace(ada.context, fetcher=fetcher))

    async def told(self, text: str) -> Reply:
        """What is told, failures too."""
        return await answer(self.ada.context, parse(text), self.ada.actor, self.ada.now)


@pytest.fixture
def desk(ada: Asker) -> Desk:
    return Desk(ada)


@pytest.mark.parametrize(
    "text",
    [
        "show 2603.00042",
        "arxiv.org/pdf/2603.00042v2",
        "hf.co/papers/2603.00042",
        "https://doi.org/10.48550/arXiv.2603.00042",
        "<https://arxiv.org/abs/2603.00042|arxiv.org/abs/2603.00042>",
    ],
)
async def test_an_unknown_paper_is_fetched_once_and_shown(desk: Desk, text: str) -> None:
    for _ in range(2):
        (card,) = (await desk.ada.ask(text)).cards
        assert card.ranked.item.title == WANTED.title
    assert desk.arxiv.asked == [WANTED.key]


async def test_a_search_for_an_unknown_paper_is_its_card(desk: Desk) -> None:
    (card,) = (await desk.ada.give(Search("https://arxiv.org/abs/2603.00042"))).cards
    assert card.ranked.item.key == WANTED.key


async def test_an_unknown_repository_is_fetched_by_any_of_its_pages(desk: Desk) -> None:
    (card,) = (await desk.ada.ask("github.com/lab/pager/blob/main/README.md")).cards
    assert card.ranked.item.key == CODE.key
    assert (await desk.ada.ask("lab/pager")).cards[0].ranked.item.key == CODE.key
    assert desk.github.asked == [CODE.key]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("save https://arxiv.org/abs/2603.00042", "Saved"),
        ("similar 2603.00042", "Close to Cache lines that page themselves"),
        ("why 2603.00042 for kv", "Why: Cache lines that page themselves"),
        ("more 2603.00042 for kv", "More like this in KV cache"),
        ("less 2603.00042 for kv", "Less like this in KV cache"),
    ],
)
async def test_every_command_on_an_item_fetches_it(desk: Desk, text: str, title: str) -> None:
    assert (await desk.ada.ask(text)).title == title
    assert (await desk.ada.context.store.items.find([WANTED.key]))[WANTED.key].seen == desk.ada.now


async def test_what_was_fetched_is_found_saved_and_liked_from_then_on(desk: Desk) -> None:
    await desk.ada.ask("show 2603.00042")
    for text in ("save 2603.00042", "more 2603.00042 for kv", "similar 2603.00001", "search title:page"):
        assert WANTED.title in said(await desk.ada.ask(text)) or text.startswith("similar"), text
    held = await desk.ada.context.store.people.saved(desk.ada.actor.workspace, desk.ada.actor.person)
    assert [each.key for each in held] == [WANTED.key]


async def test_an_old_paper_that_was_asked_for_is_no_news_and_a_new_one_may_be(desk: Desk) -> None:
    old = replace(WANTED, published=desk.ada.now - timedelta(days=90), appeared=None)
    desk.arxiv.items = (old,)
    assert "too old to be news" in said(await desk.ada.ask("why 2603.00042 for kv"))
    assert WANTED.title not in [
        entry.ranked.item.title for digest in (await desk.ada.ask("now kv")).digests for entry in digest.entries
    ]

    fresh = replace(paper("2603.00043", title="A cache of today"), published=desk.ada.now - timedelta(hours=20))
    desk.arxiv.items = (fresh,)
    assert "too old" not in said(await desk.ada.ask("why 2603.00043 for kv"))


async def test_a_repository_that_was_asked_for_is_posted_only_for_what_happens_to_it(desk: Desk) -> None:
    desk.github.items = (replace(CODE, abstract="A cache.", published=desk.ada.now - timedelta(days=300)),)
    assert "Nothing happened to it of late" in said(await desk.ada.ask("why lab/pager for kv"))


async def test_what_does_not_exist_is_said_with_ways_on(desk: Desk) -> None:
    with pytest.raises(UsageError, match=r"^arXiv has no paper 2603\.99999\.$") as caught:
        await desk.ada.ask("2603.99999")
    assert "search" in caught.value.hint
    with pytest.raises(UsageError, match="GitHub has no public repository nobody/nothing") as caught:
        await desk.ada.ask("nobody/nothing")
    assert "private" in caught.value.hint


async def test_a_repository_of_nearly_that_name_is_offered(desk: Desk) -> None:
    await desk.ada.ask("lab/pager")
    with pytest.raises(Unclear, match="Known here by such a name: lab/pager") as caught:
        await desk.ada.ask("labs/pager")
    assert caught.value.choices == (("lab/pager", CODE.key),)
    (button,) = (await desk.told("labs/pager")).buttons
    assert (await desk.ada.ask(button.command)).cards[0].ranked.item.key == CODE.key


async def test_a_title_that_reads_as_a_repository_is_the_title(desk: Desk) -> None:
    await desk.ada.context.store.items.add([paper("2603.00044", title="TCP/IP over caches")], desk.ada.now)
    assert (await desk.ada.ask("show TCP/IP")).cards[0].ranked.item.key == "arxiv:2603.00044"
    assert desk.github.asked == []


async def test_a_search_for_a_name_that_finds_nothing_leads_to_github(desk: Desk) -> None:
    found = await desk.ada.give(Search("lab/pager"))
    assert (found.cards, found.entries, desk.github.asked) == ((), (), [])
    assert found.buttons[0].label == "Look on GitHub"
    assert (await desk.ada.ask(found.buttons[0].command)).cards[0].ranked.item.key == CODE.key


async def test_an_example_of_a_topic_that_is_not_known_is_fetched(desk: Desk) -> None:
    told = await desk.ada.ask("topic edit kv example https://arxiv.org/abs/2603.00042")
    assert WANTED.title in said(told)
    with pytest.raises(UsageError, match="arXiv has no paper"):
        await desk.ada.ask("topic edit kv example 2603.99999")


@pytest.mark.parametrize(
    "text",
    ["https://lab.example/news", "10.1145/3600006.3613165", "huggingface.co/owner/model", "https://169.254.169.254/x"],
)
async def test_no_other_address_is_ever_asked_and_what_can_be_fetched_is_said(desk: Desk, text: str) -> None:
    with pytest.raises(UsageError, match="not among the items collected") as caught:
        await desk.ada.ask(f"show {text}")
    assert "papers on arXiv and Hugging Face and public repositories on GitHub" in caught.value.hint
    assert (desk.arxiv.asked, desk.github.asked) == ([], [])


async def test_a_service_that_is_switched_off_is_named(ada: Asker) -> None:
    store = ada.context.store
    fetcher = ItemFetcher(store.items, Collector(store, AUTHORITY), [Archive("arXiv")])
    with pytest.raises(UsageError) as caught:
        await replace(ada, context=replace(ada.context, fetcher=fetcher)).ask("lab/pager")
    assert "GitHub is switched off in the settings here" in caught.value.hint


async def test_where_nothing_is_fetched_that_is_said(ada: Asker) -> None:
    with pytest.raises(UsageError) as caught:
        await ada.ask("2603.00042")
    assert "fetches nothing else here" in caught.value.hint


async def test_a_failure_is_told_in_a_sentence_and_the_same_command_is_a_tap_away(desk: Desk) -> None:
    desk.arxiv.failure = SourceUnavailable("https://export.arxiv.org/… could not be reached", fault=NetworkFault.CONNECTION)
    told = await desk.told("save arxiv.org/abs/2603.00042")
    assert told.title == "It could not be fetched"
    assert told.text[0] == "arXiv could not be reached: the connection failed."
    desk.arxiv.failure = None
    assert (await desk.ada.ask(told.buttons[0].command)).title == "Saved"


async def test_a_preview_of_a_link_and_taking_back_fetch_nothing(desk: Desk) -> None:
    with pytest.raises(UsageError):
        await desk.ada.ask("unsave 2603.00042")
    assert desk.arxiv.asked == []
