"""What chat platforms keep: what was met, what buttons stand for, who installed us, and which message is whose."""

from dataclasses import replace
from datetime import date, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Installation, text_key
from tests.conftest import NOW
from tests.contract.both import with_both
from tests.contract.test_ledger import DAY, done, made, subscribed, taken
from tests.stores import AnyStore

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
LONG = "digest search " + "kv OR " * 500 + "caches"
ODD = 'filter kv set "大小 \U0001f600 \x00 \ud83d"'


async def pruned(store: AnyStore, days: float) -> None:
    await store.maintenance.prune(items_before=NOW, readings_before=date(2020, 1, 1), now=NOW + days * DAY)


# --- what was met


async def test_what_was_met_is_met_for_the_first_time_once(store: AnyStore) -> None:
    assert await store.chats.first_time("slack", "Ev1", NOW)
    assert not await store.chats.first_time("slack", "Ev1", NOW)
    assert not await store.chats.first_time("slack", "Ev1", NOW + 23 * HOUR)
    assert await store.chats.first_time("slack", "Ev2", NOW)
    assert await store.chats.first_time("discord", "Ev1", NOW)


async def test_it_is_the_first_time_again_when_a_whole_span_has_passed(store: AnyStore) -> None:
    assert await store.chats.first_time("slack", "Ev1", NOW, HOUR)
    assert not await store.chats.first_time("slack", "Ev1", NOW + HOUR - SECOND, HOUR)
    assert not await store.chats.first_time("slack", "Ev1", NOW + HOUR, HOUR)
    assert await store.chats.first_time("slack", "Ev1", NOW + 2 * HOUR, HOUR)


async def test_what_was_met_by_a_clock_that_had_run_ahead_counts_as_met(store: AnyStore) -> None:
    assert await store.chats.first_time("slack", "Ev1", NOW + 30 * DAY)
    assert not await store.chats.first_time("slack", "Ev1", NOW)
    assert not await store.chats.first_time("slack", "Ev1", NOW + 31 * DAY - SECOND)


async def test_a_moment_less_than_a_span_is_within_it(store: AnyStore) -> None:
    moment = timedelta(microseconds=1)
    assert await store.chats.first_time("slack", "Ev1", NOW, HOUR)
    assert not await store.chats.first_time("slack", "Ev1", NOW + HOUR - moment, HOUR)
    assert await store.chats.first_time("slack", "Ev1", NOW + 2 * HOUR - moment, HOUR)


async def test_a_clock_that_was_set_back_makes_nothing_older(store: AnyStore) -> None:
    assert await store.chats.first_time("slack", "Ev1", NOW + HOUR, DAY)
    assert not await store.chats.first_time("slack", "Ev1", NOW, HOUR)
    assert not await store.chats.first_time("slack", "Ev1", NOW + 2 * HOUR - timedelta(microseconds=1), HOUR)
    await pruned(store, 1)
    assert not await store.chats.first_time("slack", "Ev1", NOW + DAY, DAY)


async def test_anything_may_be_met(store: AnyStore) -> None:
    for what in ("", ODD, LONG):
        assert await store.chats.first_time("slack", what, NOW)
        assert not await store.chats.first_time("slack", what, NOW)


async def test_pruning_forgets_what_was_met_only_after_its_longest_span(store: AnyStore) -> None:
    await store.chats.first_time("slack", "long", NOW, 10 * DAY)
    await store.chats.first_time("slack", "long", NOW + DAY, HOUR)
    await store.chats.first_time("slack", "short", NOW, HOUR)
    await pruned(store, 9)
    assert not await store.chats.first_time("slack", "long", NOW + 9 * DAY, 10 * DAY)
    assert await store.chats.first_time("slack", "short", NOW + 9 * DAY, 10 * DAY)
    await pruned(store, 19)
    assert await store.chats.first_time("slack", "long", NOW + 19 * DAY, 100 * DAY)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-50, 50), st.integers(1, 30)), max_size=12))
async def test_the_stores_agree_on_what_is_met_for_the_first_time(met: list[tuple[str, int, int]]) -> None:
    answers: list[list[bool]] = []

    async def run(store: AnyStore) -> None:
        answers.append([await store.chats.first_time("slack", what, NOW + at * HOUR, span * HOUR) for what, at, span in met])

    await with_both(run)
    before = [[NOW + at * HOUR for name, at, _ in met[:index] if name == what] for index, (what, _, _) in enumerate(met)]
    expected = [
        all(each <= NOW + (at - span) * HOUR for each in earlier) for earlier, (_, at, span) in zip(before, met, strict=True)
    ]
    assert answers == [expected, expected]


# --- texts


async def test_a_text_is_found_by_its_key_in_its_workspace_alone(store: AnyStore) -> None:
    keys = await store.chats.keep_texts("slack:T1", [LONG, ODD, LONG, ""], NOW)
    assert list(keys) == [text_key(LONG), text_key(ODD), text_key(LONG), text_key("")]
    assert [await store.chats.kept_text("slack:T1", key) for key in keys] == [LONG, ODD, LONG, ""]
    assert await store.chats.kept_text("slack:T2", keys[0]) is None
    assert await store.chats.kept_text("slack:T1", text_key("another")) is None
    assert list(await store.chats.keep_texts("slack:T1", [], NOW)) == []


async def test_a_key_is_22_characters_that_stand_anywhere(store: AnyStore) -> None:
    (key,) = await store.chats.keep_texts("slack:T1", [ODD], NOW)
    assert len(key) == 22
    assert set(key) <= set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")


async def test_a_text_is_kept_for_a_year_after_it_was_last_given(store: AnyStore) -> None:
    (once, twice) = await store.chats.keep_texts("slack:T1", ["once", "twice"], NOW)
    await store.chats.keep_texts("slack:T1", ["twice"], NOW + 100 * DAY)
    await store.chats.keep_texts("slack:T1", ["twice"], NOW)  # by a clock that was set back
    await pruned(store, 364)
    assert await store.chats.kept_text("slack:T1", once) == "once"
    await pruned(store, 366)
    assert await store.chats.kept_text("slack:T1", once) is None
    assert await store.chats.kept_text("slack:T1", twice) == "twice"
    await pruned(store, 466)
    assert await store.chats.kept_text("slack:T1", twice) is None


# --- installations

INSTALLED = Installation(platform="slack", place="T1", sealed=b"\x00\xff sealed", made_by="U1", at=NOW)


async def test_an_installation_takes_the_place_of_the_one_before(store: AnyStore) -> None:
    renewed = replace(INSTALLED, sealed=b"", made_by="U2", at=NOW + HOUR)
    others = [replace(INSTALLED, place="E1"), replace(INSTALLED, place="T2")]
    for each in (INSTALLED, *reversed(others), replace(INSTALLED, platform="discord"), renewed):
        await store.chats.save_installation(each)
    assert list(await store.chats.installations("slack")) == [others[0], renewed, others[1]]
    assert list(await store.chats.installations("slack", place="T1")) == [renewed]
    assert list(await store.chats.installations("slack", place="T3")) == []
    assert list(await store.chats.installations("mattermost")) == []


async def test_an_installation_is_dropped_once_and_alone(store: AnyStore) -> None:
    await store.chats.save_installation(INSTALLED)
    await store.chats.save_installation(replace(INSTALLED, place="T2"))
    assert not await store.chats.drop_installation("discord", "T1")
    assert await store.chats.drop_installation("slack", "T1")
    assert not await store.chats.drop_installation("slack", "T1")
    assert [each.place for each in await store.chats.installations("slack")] == ["T2"]


async def test_pruning_leaves_installations_alone(store: AnyStore) -> None:
    await store.chats.save_installation(INSTALLED)
    await pruned(store, 4000)
    assert list(await store.chats.installations("slack")) == [INSTALLED]


def test_what_an_installation_holds_is_not_shown() -> None:
    assert "sealed" not in repr(INSTALLED)


# --- messages


async def test_a_delivery_is_found_by_its_message_in_its_channel_alone(store: AnyStore) -> None:
    first, second = await made(store, await subscribed(store), parts=2)
    posted = done(await taken(store, first), "1700000000.000100")
    await store.ledger.record(posted)
    assert await store.chats.delivery_posted("T1", "C-s1", "1700000000.000100") == posted
    assert await store.chats.delivery_posted("T1", "C-s1", "1700000000.000101") is None
    assert await store.chats.delivery_posted("T1", "C-s2", "1700000000.000100") is None
    assert await store.chats.delivery_posted("T2", "C-s1", "1700000000.000100") is None
    assert await store.chats.delivery_posted("T1", "C-s1", "") is None  # as the second part has none yet
    assert second.message == ""


async def test_a_delivery_is_found_by_its_message_as_long_as_the_ledger_keeps_it(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    await store.ledger.record(done(await taken(store, only), "m1"))
    await pruned(store, 39)
    assert (found := await store.chats.delivery_posted("T1", "C-s1", "m1")) is not None
    assert found.id == only.id
    await pruned(store, 41)
    assert await store.chats.delivery_posted("T1", "C-s1", "m1") is None
