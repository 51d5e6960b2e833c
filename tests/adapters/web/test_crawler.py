"""Nobody reads what is not theirs: whoever follows every link of the pages, as a person or as a stranger."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.rate_limit import RateLimit
from bot.models import Digest, Link
from tests.adapters.web.browser import Rooms, browsing, publish, where
from tests.bot.handlers.askers import ADA, asker
from tests.conftest import NOW, tries
from tests.fakes.digests import GPU
from tests.stores.memory import MemoryStore

CHANNELS = ("C1", "C2", "C3", "D9", "mail:0a", "mail:0b")
WORKSPACES = ("slack:T1", "slack:T2")


@dataclass(frozen=True)
class World:
    """What was posted where, who may see what, and what was made public."""

    posted: frozenset[tuple[str, str, str, int]]  # workspace, channel, topic, days ago
    visible: frozenset[str]
    open: frozenset[str]
    public: frozenset[str]
    asked_in: str


POSTED = st.tuples(
    st.sampled_from(WORKSPACES), st.sampled_from(CHANNELS), st.sampled_from(("kv", "gpu-systems")), st.integers(0, 2)
)
SOME = st.frozensets(st.sampled_from(CHANNELS))
WORLDS = st.builds(World, st.frozensets(POSTED, min_size=1, max_size=5), SOME, SOME, SOME, st.sampled_from(("C1", "D9")))


def mark(workspace: str, channel: str) -> str:
    """What stands in every digest that was posted there, and nowhere else."""
    return f"posted{WORKSPACES.index(workspace)}{CHANNELS.index(channel)}x"


def item_mark(workspace: str, channel: str) -> str:
    """What stands in every item that was posted there: who may search finds whatever was collected."""
    return f"collected{WORKSPACES.index(workspace)}{CHANNELS.index(channel)}x"


def digest(workspace: str, channel: str, topic: str, days: int) -> Digest:
    said = mark(workspace, channel)
    entries = []
    for number, entry in enumerate(GPU.entries[:2]):
        name = f"{item_mark(workspace, channel)} {number}"
        key = f"url:https://ok.example/{workspace[-1]}/{channel}/{topic}/{days}/{number}"
        item = replace(entry.ranked.item, key=key, title=name, abstract=name, links=(Link("page", key[4:]),))
        entries.append(replace(entry, ranked=replace(entry.ranked, item=item), partner=None, gist=said))
    day = (NOW - timedelta(days=days)).date()
    return replace(GPU, topic=topic, title=f"{topic} {said}", day=day, entries=tuple(entries))


async def read_all(world: World) -> tuple[str, str]:
    """Return everything that a stranger and that a person gets to read."""
    store = MemoryStore()
    await store.open()
    rooms = Rooms(set(world.visible), set(world.open))
    ada = where(asker(store, NOW), rooms)
    ada = replace(ada, actor=replace(ADA, channel=world.asked_in))
    for workspace, channel, topic, days in sorted(world.posted):
        made = digest(workspace, channel, topic, days)
        await store.items.add([each.ranked.item for each in made.entries], NOW)
        await store.digests.save(workspace, channel, made, NOW - timedelta(days=days))
    for workspace in WORKSPACES:
        await publish(ada, *sorted(world.public), workspace=workspace)
    big = RateLimit(100_000)
    async with browsing(ada, by_address=big, by_feed=big) as browser:
        starts = ["/", *(f"/w/{browser.signer.slug(each)}/" for each in WORKSPACES)]
        strangers = [page for start in starts for page in (await browser.crawl(start)).values()]
        assert {each.status for each in strangers} <= {200, 302, 404}
        await browser.enter(ada)
        hers = (await browser.crawl()).values()
        assert {each.status for each in hers} == {200}
    return "".join(each.html for each in strangers), "".join(each.html for each in hers)


@settings(max_examples=tries(24), deadline=None)
@given(WORLDS)
def test_whoever_follows_every_link_finds_what_they_may_know_of_and_nothing_else(world: World) -> None:
    strangers, hers = asyncio.run(read_all(world))
    for workspace, channel in {each[:2] for each in world.posted}:
        is_public = channel in world.public & world.open and not channel.startswith("mail:")
        assert (mark(workspace, channel) in strangers) == is_public, (workspace, channel)
        assert (item_mark(workspace, channel) in strangers) == is_public, (workspace, channel)
        is_hers = workspace == "slack:T1" and channel in world.visible
        is_hers &= not channel.startswith("mail:")
        assert (mark(workspace, channel) in hers) == is_hers, (workspace, channel)


async def test_public_pages_lead_to_feeds_that_are_there_and_ones_own_pages_have_no_address_of_any() -> None:
    store = MemoryStore()
    await store.open()
    ada = where(asker(store, NOW), Rooms({"C1", "C2"}, {"C1", "C2"}))
    for channel, topic in (("C1", "kv"), ("C1", "gpu-systems"), ("C2", "hushed")):
        await store.digests.save("slack:T1", channel, digest("slack:T1", channel, topic, 1), NOW - timedelta(days=1))
    await publish(ada, "C1")
    async with browsing(ada) as browser:
        root = f"/w/{browser.signer.slug('slack:T1')}/"
        public = {url: page for url, page in (await browser.crawl(root)).items() if "/feeds/" in url}
        await browser.enter(ada)
        hers = (await browser.crawl()).values()
    forms = [f"topics/{topic}.{form}" for topic in ("gpu-systems", "kv") for form in ("atom", "json")]
    assert sorted(url.partition("/feeds/")[2] for url in public) == ["feeds.opml", *forms]
    assert {each.status for each in public.values()} == {200}
    assert not any("/feeds/" in each.html for each in hers)
    assert any("type feeds in the chat" in each.text for each in hers)
