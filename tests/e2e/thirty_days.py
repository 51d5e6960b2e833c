"""Anything that can happen in a month, as a state machine: see tests.e2e.month for the world in which it does."""

import asyncio
import random
import tempfile
from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from bot.models import EVERY_DAY, Preferences, Query, Schedule, Subscription
from bot.query import parse
from tests.e2e.month import DAY, HOUR, QUIET, WORDS, WORKSPACES, Month
from tests.fakes.simulated import EVERYWHERE, PAGE, Clock, Fault
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore

ZONES = (
    "Europe/Zurich",
    "America/New_York",
    "Australia/Lord_Howe",  # half an hour
    "Pacific/Chatham",  # offsets of a quarter
    "America/Nuuk",  # changes at night, on the evening before
    "Africa/Casablanca",  # during Ramadan
    "Asia/Kathmandu",
    "UTC",
)
# A few days before clocks change in some of them; never on a whole second that a schedule names.
BEGINS = (datetime(2026, 3, 20, 6, 0, 7, tzinfo=UTC), datetime(2026, 10, 22, 17, 31, 7, tzinfo=UTC))

quarters = st.integers(0, 95).map(lambda number: time(number // 4, number % 4 * 15))
zones = st.sampled_from(ZONES)
weekdays = st.sampled_from((EVERY_DAY, EVERY_DAY, EVERY_DAY[:5], (0, 3), (6,)))
schedules = st.builds(Schedule, weekdays=weekdays, at=quarters, zone=zones) | st.builds(
    Schedule, weekdays=st.just(()), month_day=st.integers(1, 31), at=quarters, zone=zones
)
at_once = st.builds(Schedule, weekdays=st.just(()), at_once=st.just(True), zone=zones)
workspaces = st.sampled_from(WORKSPACES)
platforms = st.sampled_from(("nonce", "history", "neither"))
words = st.sampled_from(WORDS)
numbers = st.integers(0, 400)
codes = st.sampled_from(("98765", "98766", PAGE))
spans = st.sampled_from((0.5, 2.0, 9.0))
preferences = st.sampled_from((QUIET, Preferences(), Preferences(alerts="C0")))


class ThirtyDays(RuleBasedStateMachine):
    """People, platforms, clocks and processes; after each step some time passes."""

    subscriptions = 8
    channels = 4  # of a workspace
    beside = 0.25  # of the first subscriptions, how many have one beside them that posts at once
    after_a_step = HOUR
    apart = timedelta(minutes=4)  # rounds of the service, most of the time
    presses = 2  # after a step, below digests that were posted lately

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.kept = MemoryStore()

    def opened(self) -> AnyStore:
        """Return the store, after each death of the process."""
        return self.kept

    def do(self, what: Coroutine[Any, Any, None]) -> None:
        """Do it, and let the time pass that a step takes."""
        self.runner.run(what)
        self.runner.run(self.passes(self.after_a_step))

    async def passes(self, span: timedelta) -> None:
        """Let time pass, closely watched at first."""
        await self.month.pass_time(timedelta(minutes=3))
        await self.month.press(self.presses)
        await self.month.pass_time(span, apart=self.apart)

    @initialize(begins=st.sampled_from(BEGINS), seed=st.integers(0, 10**6))
    def begin(self, begins: datetime, seed: int) -> None:
        assume(seed)  # with 0 comes the simplest course of events, which is one event again and again
        self.month = Month(self.opened, Clock(begins), seed)
        self.runner.run(self._begin(random.Random(seed)))

    async def _begin(self, chance: random.Random) -> None:
        await self.month.start()
        await self.month.round()
        for workspace in WORKSPACES[::2]:
            await self.month.prefer(workspace, Preferences(activity=True))
        while len(await self.month.subscriptions()) < self.subscriptions:
            at = time(chance.randrange(24), chance.randrange(4) * 15)
            where = chance.choice(WORKSPACES), self.channel(chance.randrange(100)), chance.choice(WORDS)
            made = Schedule(at=at, zone=chance.choice(ZONES))
            await self.month.subscribe(*where, made)
            if chance.random() < self.beside:
                await self.month.subscribe(*where, Schedule(weekdays=(), at_once=True, zone=made.zone))

    def channel(self, number: int) -> str:
        return f"C{number % self.channels}"

    def one(self, number: int) -> Subscription | None:
        every = self.runner.run(self.month.subscriptions())
        return every[number % len(every)] if every else None

    # --- people

    @rule(workspace=workspaces, number=numbers, word=words, schedule=schedules | at_once, always=st.booleans())
    def somebody_subscribes(self, workspace: str, number: int, word: str, schedule: Schedule, always: bool) -> None:
        self.do(self.month.subscribe(workspace, self.channel(number), word, schedule, always=always))

    @rule(number=numbers, schedule=schedules | at_once)
    def somebody_changes_the_schedule(self, number: int, schedule: Schedule) -> None:
        found = self.one(number)
        if found and found.rhythm is schedule.rhythm:
            self.do(self.month.edit(found, schedule=schedule))
        elif found:  # another rhythm is another subscription, beside it
            self.do(self.month.subscribe(found.workspace, found.channel, found.topic, schedule))

    @rule(number=numbers, query=st.sampled_from((parse("-protein"), parse("paper"), Query(""))))
    def somebody_changes_the_filter(self, number: int, query: Query) -> None:
        if found := self.one(number):
            self.do(self.month.edit(found, filter=query))

    @rule(number=numbers, hours=st.none() | st.sampled_from((1, 9, 30)))
    def somebody_pauses(self, number: int, hours: int | None) -> None:
        if found := self.one(number):
            until = None if hours is None else self.month.clock() + hours * HOUR
            self.do(self.month.edit(found, paused=True, paused_until=until))

    @rule(number=numbers)
    def somebody_resumes(self, number: int) -> None:
        if (found := self.one(number)) and found.paused:
            self.do(self.month.resume(found))

    @rule(number=numbers)
    def somebody_unsubscribes(self, number: int) -> None:
        if found := self.one(number):
            self.do(self.month.unsubscribe(found))

    @rule(number=numbers, schedule=schedules | at_once)
    def somebody_subscribes_anew(self, number: int, schedule: Schedule) -> None:
        if found := self.one(number):
            self.do(self._anew(found, schedule))

    async def _anew(self, found: Subscription, schedule: Schedule) -> None:
        await self.month.unsubscribe(found)
        await self.month.subscribe(found.workspace, found.channel, found.topic, schedule)

    @rule(workspace=workspaces, preferences=preferences, activity=st.sampled_from((True, True, True, False)))
    def a_workspace_wants_quiet_at_night_or_alerts(self, workspace: str, preferences: Preferences, activity: bool) -> None:
        self.do(self.month.prefer(workspace, replace(preferences, activity=activity)))

    @rule(presses=st.integers(1, 40))
    def people_press(self, presses: int) -> None:
        self.do(self.month.press(presses))

    @rule(presses=st.integers(5, 20), calls=st.integers(8, 60))
    def the_process_dies_as_people_press(self, presses: int, calls: int) -> None:
        self.runner.run(self.month.press(presses))
        self.month.arm(calls)
        self.runner.run(self.month.round())
        self.do(self.month.press(presses))

    # --- the world

    @rule(many=st.integers(1, 12), word=words)
    def papers_appear(self, many: int, word: str) -> None:
        self.do(self.month.collect([word] * many))

    @rule(platform=platforms, fault=st.sampled_from(Fault), share=st.sampled_from((0.0, 0.1, 0.5, 1.0)))
    def a_platform_behaves_badly(self, platform: str, fault: Fault, share: float) -> None:
        self.month.platforms[platform].weather.shares[fault] = share
        self.do(self.month.collect(WORDS))

    @rule()
    def everything_is_mended(self) -> None:
        self.do(self.month.mend())

    @rule(number=numbers, whole=st.booleans())
    def a_channel_is_closed_or_a_token_revoked(self, number: int, whole: bool) -> None:
        if found := self.one(number):
            weather = self.month.platforms[found.workspace.partition(":")[0]].weather
            weather.closed.add(found.workspace if whole else f"{found.workspace} {found.channel}")
            self.do(self.month.collect(WORDS))

    @rule(
        platform=platforms,
        number=numbers,
        wide=st.sampled_from(("channel", "workspace", "platform")),
        code=codes,
        hours=spans,
    )
    def something_is_refused_for_no_known_reason(
        self, platform: str, number: int, wide: str, code: str, hours: float
    ) -> None:
        """For one channel, several or all, and for a while: with two codes it may be one of each."""
        found = self.one(number)
        places = {"platform": EVERYWHERE} | ({"channel": f"{found.workspace} {found.channel}"} if found else {})
        places |= {"workspace": found.workspace} if found else {}
        if wide in places:
            name = platform if wide == "platform" or found is None else found.workspace.partition(":")[0]
            odd = self.month.platforms[name].weather.odd
            odd[places[wide]] = code
            self.do(self.month.collect(WORDS))
            self.do(self.passes(hours * HOUR))
            odd.pop(places[wide], None)

    @rule(number=numbers)
    def a_history_may_not_be_read(self, number: int) -> None:
        if found := self.one(number):
            weather = self.month.platforms[found.workspace.partition(":")[0]].weather
            weather.unreadable.add(f"{found.workspace} {found.channel}")

    @rule(days=st.integers(-1, 1), hours=st.integers(-1, 1))
    def the_clock_jumps(self, days: int, hours: int) -> None:
        self.do(self.month.jump(days * DAY + hours * HOUR))

    @rule(hours=st.sampled_from((1, 8, 8, 30)))
    def the_machine_sleeps(self, hours: int) -> None:
        self.runner.run(self.month.sleep(hours * HOUR))  # and somebody may ask for something as soon as it wakes

    @rule(calls=st.integers(0, 400))
    def the_process_dies(self, calls: int) -> None:
        self.month.arm(calls)
        self.do(self.month.collect(WORDS))

    @rule(hours=st.integers(2, 24))
    def time_passes(self, hours: int) -> None:
        self.do(self.passes(hours * HOUR))
        self.runner.run(self.month.check())

    def teardown(self) -> None:
        try:
            if hasattr(self, "month"):
                self.runner.run(self.month.settle())
                self.runner.run(self.month.store.close())
        finally:
            self.runner.close()
            self.folder.cleanup()
