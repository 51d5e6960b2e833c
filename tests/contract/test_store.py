"""What every store must do, run on each of them."""

import asyncio
import json
import string
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from bot.models import (
    And,
    Coverage,
    Digest,
    Entry,
    Health,
    Item,
    Kind,
    Label,
    Link,
    Number,
    Or,
    Position,
    Query,
    Ranked,
    Reading,
    Release,
    SourceState,
    Summary,
    SummaryPart,
    Term,
    When,
    Window,
)
from tests.conftest import NOW
from tests.contract.records import paper, records
from tests.stores import AnyStore

DAY = timedelta(days=1)


def query(*parts: Term | Label | Number | When | Or, sort: str = "best") -> Query:
    return Query("", And(parts), sort)


def words(text: str) -> tuple[Term, ...]:
    return tuple(map(Term, text.split()))


async def found(store: AnyStore, asked: Query) -> list[str]:
    page = await store.index.search(asked, NOW)
    return [hit.item.key for hit in page.hits]


# --- items


async def test_an_item_comes_back_exactly_as_it_was_given(store: AnyStore) -> None:
    full = Item(
        key="arxiv:2604.00001",
        kind=Kind.PAPER,
        title="Größe 大小 \U0001f600 \x00 \ud83d <b>&amp;",
        abstract="One.\n\nTwo.",
        authors=("Ada Lovelace", "李四"),
        org="An org",
        categories=("cs.LG", "cs.AI"),
        keywords=("kv-cache",),
        sources=("arxiv", "huggingface"),
        links=(Link("pdf", "https://arxiv.org/pdf/2604.00001"), Link("code", "https://github.com/a/b")),
        aliases=("doi:10.1/x",),
        published=datetime(2026, 3, 31, 17, 59, 59, 999999, UTC),
        updated=datetime(2026, 4, 1, tzinfo=UTC),
        appeared=NOW,
        seen=NOW,
        announce="new",
        version=2,
        comment="12 pages",
        license="CC-BY-4.0",
        language="C++",
        stars=0,
        forks=7,
        upvotes=None,
        comments=0,
        withdrawn=True,
        archived=True,
        fork=True,
        readme="# b",
        release=Release(tag="v2.1", published=NOW, name="Größe \ud83d", prerelease=True, notes="- One\n- Two"),
        releases_read=NOW,
        releases_confirmed=NOW + timedelta(days=1),
        repo="github:a/b",
        paper="",
    )
    await store.items.add([full, *records()], NOW)
    assert await store.items.find([full.key]) == {full.key: full}
    known = await store.items.find([item.key for item in records()])
    assert list(map(known.get, (item.key for item in records()))) == list(records())


async def test_an_item_without_a_time_of_its_own_is_seen_now(store: AnyStore) -> None:
    await store.items.add([paper(seen=None)], NOW)
    assert (await store.items.find([paper().key]))[paper().key].seen == NOW


async def test_an_item_is_found_under_its_aliases_and_nothing_is_found_under_an_unknown_key(store: AnyStore) -> None:
    item = paper(aliases=("doi:10.1/x", "url:https://a.example/"))
    await store.items.add([item], NOW)
    assert await store.items.find(["doi:10.1/x", "arxiv:0000.00000"]) == {"doi:10.1/x": item}
    assert await store.items.find([]) == {}


async def test_a_key_wins_over_the_same_text_as_an_alias(store: AnyStore) -> None:
    first, second = paper(1), paper(2, aliases=(paper(1).key,))
    await store.items.add([first, second], NOW)
    assert await store.items.find([first.key]) == {first.key: first}


async def test_a_replaced_item_is_replaced_whole(store: AnyStore) -> None:
    await store.items.add([paper(title="Old words", aliases=("doi:10.1/x",), categories=("cs.LG",))], NOW)
    await store.items.add([paper(title="New terms")], NOW)
    assert await found(store, query(*words("old"))) == []
    assert await found(store, query(*words("terms"))) == [paper().key]
    assert await found(store, query(Label("category", "cs.lg"))) == []
    assert await store.items.find(["doi:10.1/x"]) == {}
    assert await store.index.count(And(()), NOW) == 1


async def test_of_two_items_with_one_key_in_a_batch_the_last_stays(store: AnyStore) -> None:
    await store.items.add([paper(title="First"), paper(title="Second")], NOW)
    assert (await store.items.find([paper().key]))[paper().key].title == "Second"
    assert await found(store, query(*words("first"))) == []


async def test_a_retired_key_is_gone_and_its_readings_pass_to_its_heir(store: AnyStore) -> None:
    old = Item(key="url:https://a.example/", kind=Kind.POST, title="Post words", upvotes=3, seen=NOW)
    await store.items.add([old], NOW - DAY)
    heir = paper(aliases=(old.key,), upvotes=5)
    await store.items.add([heir], NOW, retired=[old.key, "arxiv:unknown"])
    assert await store.items.find([old.key]) == {old.key: heir}
    assert await found(store, query(*words("post"))) == []
    assert await store.items.readings([heir.key, old.key], date(2026, 1, 1)) == {
        heir.key: [Reading(date(2026, 3, 31), upvotes=3), Reading(date(2026, 4, 1), upvotes=5)]
    }


async def test_a_key_both_given_and_retired_is_kept(store: AnyStore) -> None:
    await store.items.add([paper()], NOW, retired=[paper().key])
    assert await store.index.count(And(()), NOW) == 1


async def test_a_state_given_with_items_is_saved_with_them(store: AnyStore) -> None:
    state = SourceState(name="arxiv", watermark="2026-04-01", health=Health.OK, asked=NOW, answered=NOW, items=1)
    await store.items.add([paper()], NOW, state=state)
    assert await store.source_states.get("arxiv") == state


async def test_what_was_made_of_items_that_are_still_as_they_were_read_is_stored(store: AnyStore) -> None:
    await store.items.add([paper(1, aliases=("doi:1",)), paper(2)], NOW)
    names = (paper(1).key, "doi:1", paper(2).key, paper(3).key)
    read = dict.fromkeys(names) | dict(await store.items.find(names))

    assert await store.items.add([paper(1, aliases=("doi:1",), stars=7), paper(3)], NOW, known=read)

    assert sorted(await store.items.find(names)) == sorted(names)
    assert (await store.items.find(["doi:1"]))["doi:1"].stars == 7


@pytest.mark.parametrize(
    ("others", "retired"),
    [
        ([paper(1, aliases=("doi:1",), upvotes=42)], ()),
        ([paper(3)], ()),
        ([paper(9, aliases=(paper(3).key,))], ()),
        ([paper(9, aliases=("doi:1",))], ()),
        ([], (paper(2).key,)),
        ([paper(9, aliases=(paper(1).key,))], (paper(1).key,)),
    ],
    ids=["changed", "stored first", "stored as an alias", "an alias of another", "dropped", "taken over"],
)
async def test_nothing_is_stored_of_what_was_made_of_items_that_others_changed_meanwhile(
    store: AnyStore, others: list[Item], retired: tuple[str, ...]
) -> None:
    await store.items.add([paper(1, aliases=("doi:1",)), paper(2)], NOW)
    names = (paper(1).key, "doi:1", paper(2).key, paper(3).key, paper(4).key)
    read = dict.fromkeys(names) | dict(await store.items.find(names))
    await store.items.add(others, NOW, retired=retired)
    mark, before = await store.items.mark(), await store.items.find([*names, paper(9).key])

    fresh = [paper(1, stars=7), paper(3), paper(4)]
    state = SourceState(name="arxiv", watermark="one")
    assert not await store.items.add(fresh, NOW, retired=[paper(2).key], state=state, known=read)

    assert await store.items.find([*names, paper(9).key]) == before
    assert await store.items.mark() == mark
    assert (await store.source_states.get("arxiv")).watermark == ""


async def test_arrivals_grow_from_one_transaction_to_the_next_whenever_items_were_seen(store: AnyStore) -> None:
    assert await store.items.last_arrival() == 0
    ends = []
    for number in range(3):
        await store.items.add([paper(number, seen=NOW - number * DAY), paper(10 + number)], NOW)
        ends.append(await store.items.last_arrival())
    assert ends == sorted(set(ends))
    second = await store.items.arrived(ends[0], ends[1])
    assert [item.key for _, item in second] == [paper(11).key, paper(1).key]
    assert all(ends[0] < arrival <= ends[1] for arrival, _ in second)
    assert [*await store.items.arrived(ends[1])] == [*await store.items.arrived(ends[1], ends[2])]
    assert await store.items.arrived(ends[2]) == []


async def test_repositories_that_were_pushed_to_are_found_among_those_that_had_arrived(store: AnyStore) -> None:
    def repo(name: str, pushed: datetime | None) -> Item:
        return Item(key=f"github:a/{name}", kind=Kind.REPO, title=f"a/{name}", updated=pushed, stars=1)

    moved = [repo("old", NOW - DAY), repo("still", NOW - 9 * DAY), repo("unknown", None), repo("now", NOW)]
    await store.items.add([*moved, replace(paper(1), updated=NOW)], NOW)
    last = await store.items.last_arrival()
    await store.items.add([repo("later", NOW)], NOW)

    found = await store.items.repositories(NOW - DAY, last)
    assert {item.key for _, item in found} == {"github:a/old", "github:a/now"}
    assert dict(found) == {
        number: item for number, item in await store.items.arrived(0) if item.key in {"github:a/old", "github:a/now"}
    }
    assert await store.items.repositories(NOW + DAY, last + 1) == []


async def test_an_arrival_stays_when_the_item_is_replaced_and_is_never_given_again(store: AnyStore) -> None:
    await store.items.add([paper(1), paper(2)], NOW)
    last = await store.items.last_arrival()
    await store.items.add([paper(1, title="Another"), paper(3)], NOW, retired=[paper(2).key])
    after = await store.items.last_arrival()
    assert {item.title for _, item in await store.items.arrived(0, last)} == {"Another"}
    await store.items.add([], NOW, retired=[paper(1).key, paper(3).key])
    assert await store.items.last_arrival() == after
    await store.items.add([paper(3), paper(4, aliases=(paper(2).key,))], NOW)
    ((first, _), (second, _)) = await store.items.arrived(0)
    assert min(first, second) > after


async def test_an_arrival_that_no_item_has_is_given_for_what_happened_and_only_with_what_was_stored(store: AnyStore) -> None:
    await store.items.add([paper(1)], NOW)
    before = await store.items.last_arrival()
    assert await store.items.add([paper(1, title="Another")], NOW, happened=True)
    after = await store.items.last_arrival()
    assert after > before
    assert await store.items.arrived(before) == []
    assert not await store.items.add([paper(1)], NOW, known={paper(1).key: None}, happened=True)
    await store.items.add([paper(1)], NOW)
    assert await store.items.last_arrival() == after
    await store.items.add([], NOW, retired=[paper(1).key])
    await store.items.add([paper(2), paper(3)], NOW, happened=True)
    assert {arrival > after for arrival, _ in await store.items.arrived(0)} == {True}
    assert await store.items.arrived(0, await store.items.last_arrival() - 1) == await store.items.arrived(0)
    assert await store.maintenance.check() == []


async def test_an_arrival_is_found_by_a_time_so_that_nothing_seen_since_lies_before_it(store: AnyStore) -> None:
    assert await store.items.arrival_before(NOW, NOW + DAY) == 0
    seen = (NOW - 5 * DAY, NOW + 300 * DAY, NOW - 2 * DAY, NOW - DAY, NOW - 2 * DAY, NOW)
    for number, each in enumerate(seen):
        await store.items.add([paper(number, seen=each)], NOW)
    ((first, _),) = await store.items.arrived(0, await store.items.last_arrival() - 5)
    found = [await store.items.arrival_before(NOW - days * DAY, NOW) for days in (9, 3, 2, 1, 0, -1)]
    assert found == [first - 1, first + 1, first + 1, first + 2, first + 4, first + 5]


async def test_of_items_seen_together_the_one_that_appeared_last_comes_first(store: AnyStore) -> None:
    given = [paper(number, appeared=NOW - number * DAY) for number in range(3)]
    await store.items.add(list(reversed(given)), NOW)
    assert [item for _, item in await store.items.arrived(0)] == given


async def test_of_each_day_the_last_reading_stays(store: AnyStore) -> None:
    await store.items.add([paper(upvotes=1), paper(2)], NOW - DAY)
    await store.items.add([paper(upvotes=2)], NOW)
    await store.items.add([paper(upvotes=4)], NOW + timedelta(hours=3))
    keys = [paper().key, paper(2).key]
    assert await store.items.readings(keys, date(2026, 1, 1)) == {
        paper().key: [Reading(date(2026, 3, 31), upvotes=1), Reading(date(2026, 4, 1), upvotes=4)]
    }
    assert await store.items.readings(keys, date(2026, 4, 1)) == {paper().key: [Reading(date(2026, 4, 1), upvotes=4)]}


# --- sources, digests, summaries, facts


async def test_a_source_that_nobody_knows_has_a_fresh_state(store: AnyStore) -> None:
    assert await store.source_states.get("arxiv") == SourceState(name="arxiv")


async def test_a_source_state_comes_back_as_it_was_saved(store: AnyStore) -> None:
    state = SourceState(
        name="feed:a",
        watermark='{"etag": "x"}',
        health=Health.DOWN,
        asked=NOW,
        answered=NOW - DAY,
        told=NOW - 2 * DAY,
        failures=3,
        rest_until=NOW + DAY,
        items=7,
        note="It is down.",
    )
    await store.source_states.save(replace(state, failures=2))
    await store.source_states.save(state)
    assert await store.source_states.get("feed:a") == state


SUMMARY = Summary(
    (SummaryPart("Problem", "It is slow.", quotes=("It is slow.",)), SummaryPart("Evidence", "None.", found=False)),
    read="abstract",
    made_by="extractive",
    note="",
)


def digest(
    *items: Item, until: datetime = NOW, topic: str = "gpu-systems", partner: Item | None = None, through: int = 0
) -> Digest:
    entries = tuple(Entry(Ranked(item, 0.5), SUMMARY, partner) for item in items)
    coverage = Coverage((), seen=len(items), kept=len(items))
    return Digest(topic, "GPU systems", until.date(), until - DAY, until, entries, coverage, Window(0, through))


async def test_what_a_digest_showed_counts_as_posted_to_that_channel_alone(store: AnyStore) -> None:
    partner = Item(key="github:a/b", kind=Kind.REPO, title="a/b", seen=NOW)
    await store.digests.save("T1", "C1", digest(paper(1), paper(2), partner=partner), NOW)
    assert await store.digests.posted("T1", "C1") == {paper(1).key, paper(2).key, "github:a/b", "github:a/b@"}
    assert await store.digests.posted("T1", "C2") == frozenset()
    assert await store.digests.posted("T2", "C1") == frozenset()


async def test_the_last_digest_is_the_one_of_its_topic_and_channel_that_looked_furthest(store: AnyStore) -> None:
    assert await store.digests.last("T1", "C1", "gpu-systems") is None
    for until, through in ((NOW, 7), (NOW + 2 * DAY, 6)):  # the second by a clock that had run ahead
        await store.digests.save("T1", "C1", digest(until=until, through=through), NOW)
    await store.digests.save("T1", "C1", digest(until=NOW + DAY, topic="other", through=9), NOW)
    await store.digests.save("T1", "C2", digest(until=NOW + DAY, through=9), NOW)
    assert await store.digests.last("T1", "C1", "gpu-systems") == (NOW.date(), Position(7, NOW))


async def test_a_summary_is_kept_per_item_maker_and_text(store: AnyStore) -> None:
    await store.summaries.save("arxiv:1", "model/1", "aa", SUMMARY, NOW)
    assert await store.summaries.find("arxiv:1", "model/1", "aa") == SUMMARY
    assert await store.summaries.find("arxiv:1", "model/1", "bb") is None
    assert await store.summaries.find("arxiv:1", "model/2", "aa") is None
    assert await store.summaries.find("arxiv:2", "model/1", "aa") is None


async def test_spent_tokens_add_up_by_day(store: AnyStore) -> None:
    day = NOW.date()
    assert await store.summaries.spent(day) == 0
    await asyncio.gather(*(store.summaries.spend(day, 10) for _ in range(20)))
    await store.summaries.spend(day + DAY, 1)
    assert await store.summaries.spent(day) == 200


async def test_no_more_is_spent_than_the_most_however_many_spend_at_once(store: AnyStore) -> None:
    day = NOW.date()
    spent = await asyncio.gather(*(store.summaries.spend(day, 30, most=100) for _ in range(12)))
    assert sum(spent) == 3
    assert not await store.summaries.spend(day, 11, most=100)
    assert await store.summaries.spend(day, 10, most=100)
    assert await store.summaries.spent(day) == 100
    assert not await store.summaries.spend(day + DAY, 101, most=100)
    assert await store.summaries.spent(day + DAY) == 0


async def test_what_was_not_spent_after_all_is_given_back(store: AnyStore) -> None:
    day = NOW.date()
    assert await store.summaries.spend(day, 100, most=100)
    assert await store.summaries.spend(day, -40, most=50)
    assert await store.summaries.spent(day) == 60
    assert await store.summaries.spend(day, -400)
    assert await store.summaries.spent(day) == 0
    assert await store.summaries.spend(day + DAY, -1)
    assert await store.summaries.spent(day + DAY) == 0


async def test_a_fact_is_the_last_that_was_set(store: AnyStore) -> None:
    assert await store.facts.get("heartbeat") == ""
    await store.facts.set("heartbeat", "1")
    await store.facts.set("heartbeat", "2")
    assert await store.facts.get("heartbeat") == "2"


async def test_the_version_is_another_one_after_anything_was_written(store: AnyStore) -> None:
    seen = [await store.facts.version()]
    for write in (
        store.facts.set("heartbeat", "1"),
        store.items.add([paper(1)], NOW),
        store.source_states.save(SourceState(name="arxiv", failures=2)),
        store.chats.keep_texts("slack:T1", ["search kv"], NOW),
    ):
        await write
        seen.append(await store.facts.version())
    assert len({*seen}) == len(seen)


# --- upkeep


async def test_statistics_count_what_there_is(store: AnyStore) -> None:
    await store.items.add([paper(1, upvotes=1), paper(2), Item(key="github:a/b", kind=Kind.REPO, title="a/b", stars=1)], NOW)
    await store.digests.save("T1", "C1", digest(paper(1)), NOW)
    counts = dict(await store.maintenance.statistics())
    size = counts.pop("bytes")
    assert size >= 0
    made = {"topics": 0, "subscriptions": 0, "saved": 0, "vectors": 0}
    assert counts == {"items": 3, "papers": 2, "repos": 1, "posts": 0, "readings": 2, "digests": 1, **made}


async def test_pruning_drops_what_is_old_and_keeps_what_a_digest_holds(store: AnyStore) -> None:
    old = NOW - 100 * DAY
    given = [
        paper(1, seen=old, title="Forgotten", upvotes=1),
        paper(2, seen=old, title="Posted"),
        paper(3, seen=old, title="Merged", aliases=("url:https://posted.example/",)),
        paper(4, title="Young"),
    ]
    await store.items.add(given, old)
    await store.items.add([given[3]], NOW)
    posted = Item(key="url:https://posted.example/", kind=Kind.POST, title="x", seen=old)
    await store.digests.save("T1", "C1", digest(given[1], posted), old)
    await store.summaries.save(given[0].key, "model", "aa", SUMMARY, old)
    await store.items.add([paper(5, upvotes=4)], old)
    dropped = await store.maintenance.prune(items_before=NOW - 30 * DAY, readings_before=(NOW - 30 * DAY).date(), now=NOW)
    assert dropped == {"items": 1, "readings": 2}
    assert await store.items.find([item.key for item in given]) == {item.key: item for item in given[1:]}
    assert await found(store, query(*words("forgotten"))) == []
    assert await store.summaries.find(given[0].key, "model", "aa") is None
    assert await store.maintenance.check() == []


async def test_pruning_leaves_what_a_clock_stored_that_was_far_behind(store: AnyStore) -> None:
    old = NOW - 100 * DAY
    for item in (paper(1, seen=old), paper(2), paper(3, seen=old)):
        await store.items.add([item], NOW)
    dropped = await store.maintenance.prune(items_before=NOW - 30 * DAY, readings_before=old.date(), now=NOW)
    assert dropped["items"] == 1
    assert set(await store.items.find([paper(1).key, paper(2).key, paper(3).key])) == {paper(2).key, paper(3).key}


@pytest.mark.parametrize("first", [0, 1])
async def test_an_alias_that_is_another_items_key_holds_nothing(store: AnyStore, first: int) -> None:
    old = NOW - 100 * DAY
    given = [paper(1, seen=old), paper(2, seen=old, aliases=(paper(1).key,))]
    await store.items.add([given[first]], old)
    await store.items.add([given[1 - first]], old)
    await store.digests.save("T1", "C1", digest(given[0]), old)

    dropped = await store.maintenance.prune(items_before=NOW, readings_before=old.date(), now=NOW)

    assert dropped["items"] == 1
    assert set(await store.items.find([paper(1).key, paper(2).key])) == {paper(1).key}


async def test_a_store_that_was_used_in_every_way_is_sound(store: AnyStore) -> None:
    await store.items.add(records(), NOW)
    await store.items.add([replace(item, upvotes=5, title=item.title + " again") for item in records()[::2]], NOW + DAY)
    await store.items.add([], NOW, retired=[item.key for item in records()[::3]])
    assert await store.maintenance.check() == []
    assert await store.maintenance.vacuum() >= 0
    assert await store.maintenance.check() == []


async def test_a_backup_is_whole_and_takes_the_place_of_an_older_one(store: AnyStore, tmp_path: Path) -> None:
    await store.items.add(records(), NOW)
    target = tmp_path / "copies" / "backup.db"
    target.parent.mkdir()
    target.write_text("an older one", "utf-8")
    await store.maintenance.backup(target)
    assert target.stat().st_size > 20_000
    assert list(target.parent.iterdir()) == [target]


async def test_many_tasks_may_read_and_write_at_once(store: AnyStore) -> None:
    async def write(number: int) -> None:
        await store.items.add([paper(number * 10 + one, abstract=string.ascii_lowercase) for one in range(10)], NOW)
        await store.facts.set(f"done-{number}", json.dumps(number))

    async def read(_: int) -> int:
        page = await store.index.search(Query("", sort="new"), NOW, limit=5)
        return len(page.hits) + await store.index.count(And(()), NOW)

    await asyncio.gather(*(task(number) for number in range(30) for task in (write, read)))
    assert await store.index.count(And(()), NOW) == 300
    assert await store.maintenance.check() == []


async def test_opening_and_closing_twice_does_no_harm(store: AnyStore) -> None:
    await store.items.add([paper()], NOW)
    await store.open()
    await store.close()
    await store.close()
    await store.open()
    assert await store.index.count(And(()), NOW) == 1


async def test_the_mark_of_the_items_changes_with_every_change_of_items_and_readings_alone(store: AnyStore) -> None:
    marks = [await store.items.mark()]

    async def noted() -> bool:
        marks.append(await store.items.mark())
        return marks[-1] != marks[-2] and len(set(marks)) == len(set(marks[:-1])) + 1

    await store.items.add([paper(1), paper(2)], NOW)
    assert await noted()
    await store.items.add([paper(2)], NOW, retired=[paper(1).key])
    assert await noted()
    await store.items.add([], NOW, retired=[paper(2).key])
    assert await noted()
    await store.maintenance.prune(items_before=NOW + DAY, readings_before=NOW.date() + DAY, now=NOW)
    assert await noted()
    await store.items.add([], NOW, state=SourceState(name="arxiv"))
    await store.facts.set("heartbeat", "now")
    assert not await noted()


async def test_each_storing_and_dropping_of_an_item_has_a_number_and_gives_the_item_as_it_is_now(store: AnyStore) -> None:
    begin = await store.items.last_change()
    await store.items.add([paper(1), paper(2)], NOW)
    await store.items.add([paper(2, title="Again"), paper(3)], NOW)
    await store.items.add([], NOW, retired=[paper(1).key])
    changes = await store.items.changes(begin, limit=9)
    assert changes is not None
    assert [arrival for _, arrival, _ in changes] == [1, 2, 2, 3, 1]
    assert [item and item.title for _, _, item in changes] == [None, "Again", "Again", paper(3).title, None]
    numbers = [number for number, _, _ in changes]
    assert numbers == sorted(set(numbers))
    assert numbers[0] > begin
    assert numbers[-1] == await store.items.last_change()
    assert await store.items.changes(numbers[1], limit=2) == changes[2:4]
    assert await store.items.changes(numbers[-1], limit=2) == []
    await store.items.add([], NOW, state=SourceState(name="arxiv"))
    assert await store.items.last_change() == numbers[-1]


async def test_what_followed_a_number_that_no_change_has_is_not_known(store: AnyStore) -> None:
    await store.items.add([paper(1)], NOW)
    assert await store.items.changes(0, limit=9) is None
    assert await store.items.changes(await store.items.last_change() + 1, limit=9) is None
