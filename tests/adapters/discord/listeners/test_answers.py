"""What is told to whom, whatever becomes of asking."""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import discord.http
import pytest

from adapters.chat.answers import NOT_POSTED
from adapters.chat.context import BackgroundTasks
from adapters.chat.patience import Patience
from adapters.discord.client.api import RestClient
from adapters.discord.client.channels import Channels
from adapters.discord.client.interactions import Callback, InteractionRequests
from adapters.discord.listeners.answers import DiscordAnswers
from adapters.discord.listeners.context import DiscordContext, DiscordInteraction
from adapters.words import chart_lines
from bot.commands import parse
from bot.errors import StoreError, Uncertain, UsageError
from bot.handlers.context import HandlerContext
from bot.models import Actor, Attachment, Button, Reply, ReplyEntry
from bot.ports.chats import Chats
from bot.settings.chat import DiscordSettings
from tests.adapters.discord.listeners.scene import long, scene
from tests.fakes.discord import Fault, Kind, running
from tests.fakes.discord.asked import Asked, Doing
from tests.fakes.discord.calls import Call
from tests.fakes.discord.things import parts_of
from tests.fakes.replies import TRENDS
from tests.stores.memory import MemoryStore


class Away:
    """A store that takes nothing."""

    async def keep_texts(self, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
        raise StoreError("The database is away.")


@pytest.mark.parametrize(
    ("error", "told", "logged"),
    [
        (UsageError("There is no such topic."), "There is no such topic.", ""),
        (StoreError("The database is away."), "please try again later", "The database is away."),
        (ValueError("s3cret"), "Something went wrong on our side", "ValueError: s3cret"),
    ],
)
async def test_whatever_fails_the_person_is_told_and_waits_no_longer(
    error: Exception, told: str, logged: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def asking() -> Reply:
        raise error

    async with running() as fake:
        monkeypatch.setattr(discord.http.Route, "BASE", fake.api_url)
        guild = fake.guild("Lab")
        asked = Asked(
            id=fake.new_id(),
            token="t0ken",
            doing=Doing.FORM,
            user=guild.owner,
            channel=fake.channel(guild, "papers"),
            data={},
            at=fake.clock(),
            began=0.0,
        )
        fake.asked[asked.id] = asked
        client = RestClient(fake.token)
        callback = Callback(
            id=str(asked.id),
            token=asked.token,
            application=str(fake.application),
            workspace=f"discord:{guild.id}",
            channel=str(asked.channel.id),
            person=str(asked.user.id),
            at=fake.clock(),
        )
        with caplog.at_level(logging.WARNING):
            await DiscordAnswers(client, MemoryStore().chats, fake.clock).answer(callback, asking)
        await client.close()

    assert told in asked.text
    assert "s3cret" not in asked.text
    assert logged in caplog.text


@pytest.mark.parametrize("private", [True, False])
async def test_what_takes_longer_than_the_interaction_lives_goes_where_it_may_be_read(
    private: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as fake:
        monkeypatch.setattr(discord.http.Route, "BASE", fake.api_url)
        guild = fake.guild("Lab")
        papers = fake.channel(guild, "papers")
        client, begun = RestClient(fake.token), fake.clock()
        callback = Callback(
            id="1",
            token="t0ken",
            application=str(fake.application),
            workspace=f"discord:{guild.id}",
            channel=str(papers.id),
            person=str(guild.owner.id),
            at=begun,
        )
        answers = DiscordAnswers(client, MemoryStore().chats, lambda: begun + timedelta(minutes=15))
        await answers.send_reply(callback, Reply(title="At last", private=private))
        await client.close()

        alone = [each for each in fake.channels.values() if each.kind is Kind.PRIVATE]
        told = [message.text for each in alone for message in each.messages.values()]
        assert told == (["### At last"] if private else [])
        assert [each.text for each in papers.messages.values()] == ([] if private else ["### At last"])


_HARMLESS: Mapping[str, dict[str, Any]] = {
    "a 500": {"fault": Fault.BROKEN},
    "a 500 before it was done": {"fault": Fault.BROKEN, "commits": False},
    "a page of Cloudflare's": {"fault": Fault.BROKEN, "status": 502, "page": True},
    "a 204": {"fault": Fault.BROKEN, "status": 204},
    "a reset": {"fault": Fault.RESET, "commits": False},
    "half an answer": {"fault": Fault.HALF},
    "a 429": {"fault": Fault.LIMITED, "retry_after": 0.4},
    "a shared 429": {"fault": Fault.LIMITED, "retry_after": 0.4, "scope": "shared"},
    "a 429 for everything": {"fault": Fault.ALL_LIMITED, "retry_after": 0.4},
    "a page of Cloudflare's that is a 429": {"fault": Fault.LIMITED, "retry_after": 1, "page": True},
}
_ORIGINAL = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"
_FOLLOW_UP = "POST /webhooks/{webhook_id}/{webhook_token}"


@pytest.mark.parametrize("fault", _HARMLESS.values(), ids=_HARMLESS)
async def test_a_fault_while_the_answer_is_told_is_waited_out(fault: dict[str, Any]) -> None:
    async with scene() as stage:
        stage.fake.befall(_ORIGINAL, **fault)
        asked = await stage.told(Reply(title="Found"))
        assert asked.text == "### Found"


async def test_an_answer_of_many_messages_waits_for_its_bucket() -> None:
    async with scene() as stage:
        bucket = ("POST", "/webhooks/{webhook_id}/{webhook_token}")
        assert stage.fake.limits.buckets[bucket] == (5, 2.0)
        stage.fake.limits.buckets[bucket] = (5, 0.3)
        asked = await stage.told(long(13))
        assert len(asked.messages) >= 13
        assert "(38)" in asked.text
        assert stage.fake.counts["429"] <= 1  # until the headers have told that both kinds of requests share it


@pytest.mark.parametrize("commits", [True, False])
async def test_a_part_that_may_have_come_is_not_sent_twice_and_it_is_said(commits: bool) -> None:
    async with scene() as stage:
        stage.fake.befall(_FOLLOW_UP, fault=Fault.BROKEN, commits=commits, after=1)
        asked = await stage.told(long(4))
        *parts, last = asked.messages
        assert len(parts) == (4 if commits else 3)
        assert len({each.text for each in parts}) == len(parts)
        assert "(11)" in asked.text
        assert "may be missing" in last.text


async def test_what_is_posted_for_everybody_is_named_only_once_it_stands() -> None:
    async with scene() as stage:
        said: list[str] = []

        def note(call: Call) -> None:
            original = next(iter(stage.fake.asked.values())).original
            said.append(original.text if original else "")

        stage.fake.noticing = note
        asked = await stage.told(Reply(title="Topic created", private=False))
        stage.fake.noticing = None
        assert [each for each in said if "stands" in each] == []
        assert asked.text == "It stands in the channel.\n\n### Topic created"


@pytest.mark.parametrize("commits", [True, False])
async def test_a_post_for_everybody_that_may_be_missing_is_said_to_be(commits: bool) -> None:
    async with scene() as stage:
        stage.fake.befall(_FOLLOW_UP, fault=Fault.RESET, commits=commits)
        asked = await stage.told(Reply(title="Topic created", private=False))
        first, *others = asked.messages
        assert "may be missing in the channel" in first.text
        assert len(others) == commits


async def test_a_first_reply_that_was_taken_although_every_answer_to_it_was_lost_is_followed_by_the_answer() -> None:
    async with scene() as stage:
        stage.fake.befall("/callback", fault=Fault.RESET, times=40)
        asked = await stage.told(Reply(title="Found"))
        assert asked.text == "### Found"


async def test_a_first_reply_is_tried_as_long_as_discord_waits_for_it() -> None:
    async with scene() as stage:
        stage.fake.befall("/callback", fault=Fault.BROKEN, commits=False, times=4)
        asked = await stage.told(Reply(title="Found"))
        assert asked.text == "### Found"


async def test_the_store_may_fail_and_the_answer_is_told() -> None:
    async with scene() as stage:
        asked, callback = stage.asked()

        async def asking() -> Reply:
            return Reply(title="Found", buttons=(Button("More", "search " + "long " * 40),))

        answers = DiscordAnswers(stage.client, cast("Chats", Away()), stage.fake.clock)
        await answers.answer(callback, asking)
        assert "### Found" in asked.text


class Noted(tuple[ReplyEntry, ...]):
    """Entries that note in which threads they are looked at."""

    __slots__ = ()
    threads: ClassVar[set[threading.Thread]] = set()

    def __iter__(self) -> Iterator[ReplyEntry]:
        self.threads.add(threading.current_thread())
        return super().__iter__()


async def test_an_answer_is_laid_out_beside_the_event_loop() -> None:
    Noted.threads.clear()
    async with scene() as stage:
        asked = await stage.told(Reply(title="Found", entries=Noted([ReplyEntry(title="A paper")])))
    assert "A paper" in asked.text
    assert Noted.threads
    assert threading.current_thread() not in Noted.threads


class Waiting:
    """A store of which every question waits for ever."""

    asked = 0

    def __getattr__(self, name: str) -> "Waiting":
        return self

    async def __call__(self, *given: object, **more: object) -> None:
        self.asked += 1
        await asyncio.Event().wait()


async def test_of_many_questions_few_are_asked_at_once() -> None:
    async with scene() as stage:
        store: Any = Waiting()
        platform: Any = SimpleNamespace(
            handler_context=HandlerContext(store, store, {}, {}, store), clock=stage.fake.clock, chats=store
        )
        context = DiscordContext(
            platform=platform,
            tasks=BackgroundTasks(),
            settings=DiscordSettings(),
            client=stage.client,
            channels=Channels(stage.client),
            answers=stage.answers,
            command_ids={},
        )
        _, callback = stage.asked()
        who = Actor(platform="discord", workspace=callback.workspace, channel=callback.channel, person=callback.person)
        acted = DiscordInteraction(who, callback, {}, store)
        tasks = [asyncio.create_task(context.ask(parse("list"), acted)) for _ in range(40)]
        await asyncio.wait(tasks, timeout=0.1)
        for task in tasks:
            task.cancel()
    assert store.asked == 8


async def test_what_cannot_be_drawn_is_told_with_a_reference(caplog: pytest.LogCaptureFixture) -> None:
    async with scene() as stage:
        asked = await stage.told(Reply(title="Found", entries=(None,)))  # type: ignore[arg-type]
        assert "Something went wrong on our side" in asked.text
        assert asked.text.rstrip(".").split()[-1] in caplog.text


async def test_what_discord_will_not_take_any_more_is_told_in_a_direct_message() -> None:
    async with scene() as stage:
        stage.fake.befall(_ORIGINAL, code=50027, times=9)
        await stage.told(Reply(title="Found"))
        assert [each.text for each in stage.alone] == ["### Found"]


async def test_what_cannot_be_told_in_any_way_is_an_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    untold = Counter[str]()
    async with scene(untold=untold) as stage:
        stage.guild.owner.is_closed = True
        stage.fake.befall(_ORIGINAL, code=50027, times=9)
        await stage.told(Reply(title="Found"))
        assert [each.levelname for each in caplog.records if "could not be told" in each.message] == ["ERROR"]
        assert untold == {"discord": 1}


async def test_who_is_waiting_when_the_service_ends_is_told() -> None:
    tasks = BackgroundTasks()
    async with scene(tasks=tasks) as stage:
        asked, callback = stage.asked()

        async def asking() -> Reply:
            await asyncio.Event().wait()
            raise AssertionError

        tasks.start(stage.answers.answer(callback, asking), "answering")
        await asked.replied()
        await tasks.finish(timedelta(seconds=3.5))
        assert "Broadsheet was stopped" in asked.text


@pytest.mark.parametrize("matches", [(_ORIGINAL,), (_FOLLOW_UP,), ("/callback",), (_ORIGINAL, "POST /users/@me/channels")])
async def test_what_is_refused_without_a_known_reason_is_sent_again_as_nothing_was_taken(matches: tuple[str, ...]) -> None:
    async with scene() as stage:
        for each in matches:
            stage.fake.befall(each, code=10063, times=2)
        asked = await stage.told(long(2))
        assert "(5)" in asked.text
        assert "missing" not in asked.text


async def test_what_discord_blocks_is_said_to_be_blocked() -> None:
    async with scene() as stage:
        stage.fake.befall(_ORIGINAL, code=50006, times=2)
        asked = await stage.told(Reply(title="Found"))
        assert "does not take the answer" in asked.text


async def test_a_first_reply_that_was_lost_and_then_refused_without_a_reason_is_followed_by_the_answer() -> None:
    async with scene() as stage:
        stage.fake.befall("/callback", fault=Fault.HALF)
        stage.fake.befall("/callback", code=10063, times=40)
        stage.fake.befall("GET /webhooks", code=10063)
        asked = await stage.told(Reply(title="Found"))
        assert asked.text == "### Found"


async def test_an_answer_that_is_not_taken_as_it_was_written_is_told_plainly_with_its_file() -> None:
    async with scene() as stage:
        stage.fake.befall(_ORIGINAL, code=50035)
        asked = await stage.told(Reply(title="Saved", attachment=Attachment("saved.bib", "application/x-bibtex", "@misc{}")))
        (told,) = asked.messages
        assert told.content.startswith("### Saved")
        assert told.files == {"saved.bib": b"@misc{}"}


async def test_charts_come_as_pictures_with_what_they_show_and_their_numbers_below() -> None:
    async with scene() as stage:
        asked = await stage.told(TRENDS)
        (told,) = asked.messages
        months, rising = TRENDS.charts
        assert [each["filename"] for each in told.attachments] == ["1-months-gpu-systems.png", "2-rising-gpu-systems.png"]
        assert [each["description"] for each in told.attachments] == [months.alt, rising.alt]
        assert all(content.startswith(b"\x89PNG") for content in told.files.values())
        galleries = [each for each in parts_of(told.components) if each["type"] == 12]
        assert [each["items"][0]["description"] for each in galleries] == [months.alt, rising.alt]
        assert [each["items"][0]["media"]["content_type"] for each in galleries] == ["image/png"] * 2
        order = [each["type"] for each in parts_of(told.components) if each["type"] in (10, 12)]
        assert order == [10, 12, 10, 12, 10]
        for chart in TRENDS.charts:
            assert chart.title in asked.text
            assert all(line in asked.text for line in chart_lines(chart))
            assert chart.source in asked.text


async def test_where_components_are_not_taken_the_numbers_are_told_plainly_with_the_pictures() -> None:
    async with scene() as stage:
        stage.fake.befall(_ORIGINAL, code=50035)
        asked = await stage.told(TRENDS)
        (told,) = asked.messages
        assert told.content.startswith("### Trends in GPU systems")
        assert [each["description"] for each in told.attachments] == [each.alt for each in TRENDS.charts]


async def test_a_chart_that_cannot_be_drawn_is_told_in_numbers(caplog: pytest.LogCaptureFixture) -> None:
    broken = replace(TRENDS.charts[0], values=())
    async with scene() as stage:
        asked = await stage.told(Reply(title="Trends", charts=(broken, TRENDS.charts[1])))
        (told,) = asked.messages
        assert [each["filename"] for each in told.attachments] == ["2-rising-gpu-systems.png"]
        assert broken.source in asked.text
        assert "could not be drawn" in caplog.text


_POST = "POST /channels/{channel_id}/messages"


@pytest.mark.parametrize("standing", [0, 1])
async def test_what_is_for_everybody_gets_there_although_the_token_ends_on_the_way(standing: int) -> None:
    async with scene() as stage:
        stage.fake.befall(_FOLLOW_UP, code=50027, times=99, after=standing)
        stage.fake.befall(_ORIGINAL, code=50027, times=99, after=1)
        await stage.told(long(3, private=False))
        shown = [each.text for each in stage.papers.messages.values()]
        assert [part for part in range(9) for text in shown if f"({part})" in text] == [*range(9)]
        assert stage.alone == []


async def test_what_the_channel_does_not_take_without_its_interaction_is_told_directly() -> None:
    untold = Counter[str]()
    async with scene(untold=untold) as stage:
        stage.fake.befall(_ORIGINAL, code=50027, times=99)
        stage.fake.refusing[str(stage.papers.id)] = 50013
        await stage.told(Reply(title="Topic created", private=False))
        assert [each.text for each in stage.alone] == [NOT_POSTED, "### Topic created"]
        assert untold == {}


async def test_one_direct_message_that_is_not_taken_takes_no_other_with_it() -> None:
    async with scene() as stage:
        stage.fake.befall(_ORIGINAL, code=50027, times=99)
        stage.fake.befall(_POST, code=50006, after=1)
        await stage.told(long(4))
        *told, last = (each.text for each in stage.alone)
        assert len(told) == 3
        assert "(11)" in told[-1]
        assert "may be missing" in last


async def test_what_may_stand_in_a_channel_is_not_posted_again_once_its_nonce_may_be_forgotten() -> None:
    async with scene() as stage:
        fake, begun, passed = stage.fake, stage.fake.clock(), [0.0]
        fake.limits.buckets = dict.fromkeys(fake.limits.buckets, (10_000, 1.0))
        fake.clock = lambda: begun + timedelta(seconds=passed[0])

        async def sleep(seconds: float) -> None:
            passed[0] += seconds

        requests = InteractionRequests(stage.client, fake.clock, Patience(clock=lambda: passed[0], sleep=sleep))
        fake.befall(_POST, fault=Fault.BROKEN)
        fake.befall(_POST, code=130000, times=10)  # three minutes of it
        with pytest.raises(Uncertain):
            await requests.post(str(stage.papers.id), "Topic created")
        assert len(stage.papers.messages) == 1


async def test_answers_earn_no_further_refusals_while_cloudflare_shuts_everything_out() -> None:
    async with scene() as stage:
        stage.fake.befall(_ORIGINAL, fault=Fault.LIMITED, retry_after=1, page=True)
        first, *others = [asyncio.create_task(stage.told(Reply(title="Found"))) for _ in range(2)]
        while not stage.fake.counts["banned"]:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
        stage.fake.limits.ban(0.9)
        others += [asyncio.create_task(stage.told(Reply(title="Found"))) for _ in range(5)]
        for each in (first, *others):
            assert (await each).text == "### Found"
        assert stage.fake.counts["banned"] <= 2


async def test_a_page_that_shuts_out_one_answer_for_long_costs_nobody_else_the_first_reply() -> None:
    async with scene() as stage:
        stage.fake.befall(_ORIGINAL, fault=Fault.LIMITED, retry_after=3, page=True)
        first = asyncio.create_task(stage.told(Reply(title="Found")))
        while not stage.fake.counts["banned"]:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
        other = await stage.told(Reply(title="Found"))
        assert (other.text, (await first).text) == ("### Found", "### Found")
