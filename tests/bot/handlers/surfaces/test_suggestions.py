"""What is suggested while a person types."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.errors import StoreError, UsageError
from bot.handlers.archive.channel_access import ChannelAccess
from bot.handlers.context import ForumTags, no_obstacle
from bot.handlers.settings import SETTINGS
from bot.handlers.surfaces.query_suggestions import MOST
from bot.handlers.surfaces.suggestions import KINDS, LONGEST_LABEL, suggest
from bot.models import Actor, Change, Delivery, Item, Kind, Label, Not, Saved, Term, Topic
from bot.query import parse, unparse_tree
from tests.bot.handlers.archive.test_access import BASE, Rooms
from tests.bot.handlers.askers import PAPERS, Asker, asker
from tests.conftest import NOW, tries
from tests.fakes.transcript import delivery
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

REPOS = (
    Item(
        key="github:a/b",
        kind=Kind.REPO,
        title="a/b",
        language="Jupyter Notebook",
        license="Apache-2.0",
        keywords=("kv-cache", "large language models"),
        sources=("github", "feed:Lab Notes"),
        categories=("cond-mat.str-el", "cs.LG", "astro-ph.CO"),
        seen=NOW,
    ),
    Item(key="github:c/d", kind=Kind.REPO, title="c/d", language="C++", categories=("cs.LG",), seen=NOW),
)


async def values(ada: Asker, kind: str, typed: str, **beside: str) -> list[str]:
    return [each.value for each in await suggest(ada.context, kind, typed, ada.actor, NOW, beside)]


async def labels(ada: Asker, kind: str, typed: str, **beside: str) -> list[str]:
    return [each.label for each in await suggest(ada.context, kind, typed, ada.actor, NOW, beside)]


@pytest.fixture
async def bo(ada: Asker) -> Asker:
    """Ada, with two repositories beside her papers."""
    await ada.context.store.items.add(REPOS, NOW)
    return ada


# --- topics, commands, items, zones, subscriptions


async def test_topics_are_found_by_name_and_title_those_that_begin_so_first(ada: Asker) -> None:
    cuda = Topic(name="cuda-kernels", title="Kernels for GPU and KV")
    await ada.context.store.workspaces.save_topic(
        ada.actor.workspace,
        cuda,
        Change(workspace=ada.actor.workspace, at=NOW, person="", what="topic cuda-kernels"),
        replaces=0,
    )
    assert await values(ada, "topic", "") == ["cuda-kernels", "kv", "gpu-systems"]
    assert await values(ada, "topic", "KV") == ["kv", "cuda-kernels"]
    assert await values(ada, "topic", "gpu s") == ["gpu-systems"]
    assert await values(ada, "topic", "ache") == ["kv"]
    assert await values(ada, "topic", "nothing") == []
    assert await labels(ada, "topic", "gpu-s") == ["GPU systems (gpu-systems)"]


async def test_a_topic_of_another_workspace_is_not_suggested(ada: Asker) -> None:
    own = Topic(name="secret", title="Secret")
    await ada.context.store.workspaces.save_topic(
        "slack:T2", own, Change(workspace="slack:T2", at=NOW, person="", what="t"), replaces=0
    )
    assert await values(ada, "topic", "sec") == []


async def test_commands_are_found_by_their_words_and_by_what_people_call_them(ada: Asker) -> None:
    assert (await values(ada, "command", "sub"))[0] == "subscribe"
    assert "save" in await values(ada, "command", "bookmark")
    assert len(await values(ada, "command", "")) > 20


async def test_items_are_those_of_the_last_digest_and_the_saved_ones(ada: Asker) -> None:
    assert await values(ada, "item", "") == []
    await ada.context.store.people.save_item(ada.actor.workspace, ada.actor.person, Saved(PAPERS[3].key, NOW))
    await ada.context.store.people.save_item(
        ada.actor.workspace, ada.actor.person, Saved(PAPERS[0].key, NOW + timedelta(hours=1))
    )
    assert await values(ada, "item", "") == [PAPERS[0].key, PAPERS[3].key]
    assert await values(ada, "item", "gas") == [PAPERS[3].key]
    assert await values(ada, "item", "2603.00001") == [PAPERS[0].key]
    assert await values(ada.by(person="U-bob"), "item", "") == []


async def test_subscriptions_are_those_of_the_channel(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    assert await values(ada, "subscription", "") == ["kv"]
    assert await labels(ada, "subscription", "cache") == ["KV cache (kv)"]
    assert await values(ada.by(channel="C2"), "subscription", "") == []


async def test_a_zone_is_spelt_as_sentences_say_it_and_as_it_can_be_typed(ada: Asker) -> None:
    assert (await values(ada, "zone", "new y"))[0] == (await labels(ada, "zone", "new y"))[0] == "America/New_York"
    told = await ada.ask("subscribe kv daily at 09:00 in America/New_York")
    assert "(America/New_York)" in " ".join(told.text)


async def test_zones_are_found_by_their_place(ada: Asker) -> None:
    assert (await values(ada, "zone", "zur"))[0] == "Europe/Zurich"


async def test_a_kind_that_is_none_has_nothing_to_suggest(ada: Asker) -> None:
    assert await values(ada, "no such", "k") == []


# --- times, days, tags, settings


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("", ["08:00", "09:00", "10:00"]),
        ("9", ["09:00", "09:30", "09:15"]),
        ("1", ["01:00", "10:00", "11:00"]),
        ("09:3", ["09:30"]),
        ("at 17", ["17:00", "17:30", "17:15"]),
        ("5pm", ["17:00"]),
        ("9:41", ["09:41"]),
        ("noon", ["12:00"]),
        ("25:00", []),
        ("soon", []),
    ],
)
async def test_times_are_those_that_begin_so_and_what_was_typed(ada: Asker, typed: str, first: list[str]) -> None:
    assert (await values(ada, "time", typed))[:3] == first


async def test_a_time_is_told_in_the_zone_in_which_it_is_meant(ada: Asker) -> None:
    assert (await labels(ada, "time", "9"))[0] == "09:00 (UTC)"
    await ada.ask("settings zone Europe/Zurich")
    assert (await labels(ada, "time", "9"))[0] == "09:00 (Europe/Zurich)"
    await ada.ask("subscribe kv in Asia/Tokyo")
    assert (await labels(ada, "time", "9"))[0] == "09:00 (Asia/Tokyo)", "that of what is subscribed here"
    assert (await labels(ada, "time", "9", zone="new york"))[0] == "09:00 (America/New_York)", "that which is filled in"
    assert await labels(ada, "time", "9", zone="nowhere at all") == []


async def test_days_to_come_are_found_by_name_date_and_distance(ada: Asker) -> None:
    assert (await labels(ada, "until", ""))[:2] == ["Thursday 2 April, tomorrow", "Friday 3 April"]
    assert (await values(ada, "until", "mon"))[:2] == ["2026-04-06", "2026-04-13"]
    assert (await labels(ada, "until", "2w")) == ["Wednesday 15 April, in 2 weeks"]
    assert await values(ada, "until", "2026-04-1") == [f"2026-04-1{day}" for day in range(6)]
    assert await values(ada, "until", "24 december") == ["2026-12-24"]
    assert await values(ada, "until", "yesterday") == []


async def test_days_of_digests_are_those_of_the_channel_and_of_the_topic_that_is_filled_in(ada: Asker) -> None:
    digest = (await ada.ask("now kv")).digests[0]
    await ada.context.store.digests.save(ada.actor.workspace, ada.actor.channel, digest, NOW)
    assert await values(ada, "day", "") == await values(ada, "day", "wed", topic="kv") == ["2026-04-01"]
    assert (await labels(ada, "day", ""))[0].startswith("Wednesday 1 April: ")
    assert await values(ada, "day", "", topic="gpu-systems") == []
    assert await values(ada.by(channel="C2"), "day", "") == []


async def test_below_a_digest_its_own_entries_and_its_day_come_first(ada: Asker) -> None:
    store = ada.context.store
    first = (await ada.ask("now kv")).digests[0]
    later = ada.at(NOW + timedelta(days=1))
    for asked, digest in ((ada, first), (later, replace(first, day=later.now.date(), entries=first.entries[1:]))):
        await store.digests.save(ada.actor.workspace, "C1", digest, asked.now)
    gpus = replace(first, topic="gpu-systems", day=later.now.date())
    await store.digests.save(ada.actor.workspace, "C1", gpus, later.now + timedelta(hours=1))
    post = delivery(now=NOW, workspace=ada.actor.workspace, channel="C1", topic="kv", made_at=NOW)

    async def delivery_posted(_workspace: str, channel: str, message: str) -> Delivery | None:
        return post if (channel, message) == ("C1", "T9") else None

    chats: Any = instead(store.chats, delivery_posted=delivery_posted)
    below = replace(later, context=replace(ada.context, store=instead(store, chats=chats)))
    for where in ({"post": "T9"}, {"channel": "T9", "parent": "C1", "post": "T9"}):  # as in Slack, and in Discord
        thread = below.by(**where)
        assert await values(thread, "item", "") == [each.ranked.item.key for each in first.entries]
        assert await values(thread, "day", "") == ["2026-04-01", "2026-04-02"]
        assert (await labels(thread, "day", ""))[0].startswith("Wednesday 1 April: ")
        assert await values(thread, "day", "", topic="gpu-systems") == ["2026-04-02"]
    assert await values(below, "day", "") == ["2026-04-02", "2026-04-01"]


async def test_tags_are_those_of_the_forum(ada: Asker) -> None:
    async def known(_: Actor) -> ForumTags:
        return ForumTags(("Papers", "GPU systems"))

    assert await values(ada, "tag", "") == []
    found = await suggest(replace(ada.context, forum_tags=known), "tag", "sys", ada.actor, NOW)
    assert [each.value for each in found] == ["GPU systems"]


@pytest.mark.parametrize("name", SETTINGS)
async def test_every_value_that_is_offered_for_a_setting_can_be_settled(ada: Asker, name: str) -> None:
    # A channel that can be followed, and that everybody may read, by pages that there are.
    access = ChannelAccess({"slack": Rooms({"C1"})}.get)
    ada = replace(ada, context=replace(ada.context, publishing=no_obstacle, web_url=BASE, channel_access=access))
    offered = await values(ada, "setting", "", name=name)
    assert offered, "a setting names values that complete it"
    for value in offered[:8]:
        reply = await ada.by(may_administer=True).ask(f"settings {name} {value}")
        assert reply.title.startswith(("Settled: ", SETTINGS[name].title))
    assert (await values(ada, "setting", "zur", name="zone"))[0] == "Europe/Zurich"
    assert await values(ada, "setting", "") == []


# --- names


async def test_authors_and_organisations_are_completed_from_what_is_stored(bo: Asker) -> None:
    named = replace(PAPERS[0], key="arxiv:2603.09999", authors=("Tri Dao", "Zoë Daoud", "Ann Lee"), org="Together AI")
    again = replace(named, key="arxiv:2603.09998", authors=("Tri Dao",))
    await bo.context.store.items.add([named, again], NOW)

    assert await values(bo, "query", "author:dao") == ['author:"Tri Dao"', 'author:"Zoë Daoud"']
    assert await values(bo, "query", "kv au:zoe") == ['kv author:"Zoë Daoud"']
    assert await values(bo, "query", 'author:"tri d') == ['author:"Tri Dao"']
    assert await values(bo, "query", "-org:toge") == ['-org:"Together AI"']
    assert await values(bo, "query", "author:d") == [], "one letter begins too many"
    assert (await values(bo, "followed", "tri da"))[:1] == ['author:"Tri Dao"']
    assert (await values(bo, "followed", "together"))[:1] == ['org:"Together AI"']
    assert await values(bo, "followed", "author:tri") == ['author:"Tri Dao"']
    assert await values(bo, "followed", "") == await values(bo, "query", "")


# --- queries


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("cat", "category:"),
        ("kv cache au", "kv cache author:"),
        ("(kv OR lang", "(kv OR language:"),
        ("kv -is:x ti", "kv -is:x title:"),
        ('"kv cache" -cat', '"kv cache" -category:'),
        ("category:", "category:cs"),
        ("cat:cs.", "category:cs.LG"),
        ("kv -cat:ASTRO-PH.", "kv -category:astro-ph.CO"),
        ("category:cond-mat.", "category:cond-mat.str-el"),
        ("language:c", "language:c++"),
        ("lang:cpp", "language:c++"),
        ("language:ju", 'language:"jupyter notebook"'),
        ('kv language:"jupyter n', 'kv language:"jupyter notebook"'),
        ("language:“ju", 'language:"jupyter notebook"'),
        ("topic:kv", "topic:kv-cache"),
        ("topic:lar", 'topic:"large language models"'),
        ("license:ap", "license:apache-2.0"),
        ("source:gh", "source:github"),
        ("source:ar", "source:arxiv"),
        ("source:feed:", 'source:"feed:lab notes"'),
        ("kind:", "kind:paper"),
        ("kind:repos", "kind:repo"),
        ("sort:n", "sort:new"),
        ("has:c", "has:code"),
        ("published:7", "published:7d"),
        ("stars:>1", "stars:>100"),
        ("kv topic-of:gpu", "kv topic-of:gpu-systems"),
        ("cs.l", "category:cs.LG"),
        ("kv jup", 'kv language:"jupyter notebook"'),
    ],
)
async def test_the_last_word_of_a_query_is_completed(bo: Asker, typed: str, first: str) -> None:
    assert (await values(bo, "query", typed))[0] == first


@pytest.mark.parametrize("typed", ['"kv ca', "nofield:x", 'a "b" "c', "author:dao", "language:zz", "x" * 3000])
async def test_where_nothing_can_be_completed_nothing_is_suggested(bo: Asker, typed: str) -> None:
    assert await values(bo, "query", typed) == []


async def test_an_empty_query_suggests_every_field(bo: Asker) -> None:
    assert {"title:", "category:", "sort:"} < set(await values(bo, "query", ""))
    assert await values(bo, "query", "kv ") == [f"kv {value}" for value in await values(bo, "query", "")]


async def test_values_come_with_the_number_of_their_items(bo: Asker) -> None:
    assert await labels(bo, "query", "category:cs.") == ["category:cs.LG (7 items)"]
    assert await labels(bo, "query", "language:c") == ["language:c++ (1 item)"]


@settings(deadline=None, max_examples=tries(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1, max_size=12), max_size=4), st.text(max_size=12))
@example(["»0", "0«", "a–b", "a＊"], "a–b")
@example([":", "::a"], ":a")
@example(["a*", "(b)", 'c"d', "OR", "e,f", "feed:x y", "-g", "a:b", "http://x.y/z"], "k")
async def test_whatever_is_suggested_is_a_query_that_finds_its_item(keywords: list[str], language: str) -> None:
    store = MemoryStore()
    item = replace(REPOS[0], keywords=tuple(keywords), language=language, license=language)
    await store.items.add([item], NOW)
    here = asker(store, NOW)
    for field in ("topic", "language", "license", "source", "category"):
        for each in await suggest(here.context, "query", f"-{field}:", here.actor, NOW):
            query = parse(each.value)
            assert isinstance(query.tree, Not)
            assert isinstance(query.tree.part, Label | Term)
            if "(0 items)" not in each.label:
                assert await store.index.count(query.tree.part, NOW) == 1, unparse_tree(query.tree)


@settings(deadline=None, max_examples=tries(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60), st.sampled_from(sorted(KINDS)))
@example('language:"' * 400, "query")
@example("(" * 4000, "query")
@example("\x00\x1b\u202e\ud83d kv", "topic")
@example("' OR 1=1 --", "item")
@example("category:%_*", "query")
async def test_no_text_does_harm(typed: str, kind: str) -> None:
    store = MemoryStore()
    await store.items.add([*PAPERS, *REPOS], NOW)
    here = asker(store, NOW)
    for text in (typed, f"kv {typed}", f"category:{typed}", f'topic:"{typed}'):
        found = await suggest(here.context, kind, text, here.actor, NOW)
        assert len(found) <= MOST
        assert all(0 < len(each.label) <= LONGEST_LABEL and each.value.isprintable() for each in found)


class Broken(MemoryStore):
    """A store whose disk is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.workspaces = instead(self.workspaces, topics=self.topics)

    async def topics(self, workspace: str) -> dict[str, Topic]:
        raise StoreError("The disk is gone.")


async def test_a_store_that_fails_leaves_the_list_empty() -> None:
    here = asker(Broken(), NOW)
    assert await values(here, "topic", "kv") == []
    assert await values(here, "query", "ca") == []


def test_a_suggested_clause_of_no_known_value_is_still_a_query() -> None:
    for text in ("published:7d", "stars:>1000", "upvotes:>5", "score:>0.3", "forks:10..100"):
        try:
            parse(text)
        except UsageError as error:
            pytest.fail(f"{text}: {error}")
