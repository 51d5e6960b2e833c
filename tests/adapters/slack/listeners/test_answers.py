"""Answers reach the one who asked, whatever Slack takes; and who asks is known."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.patience import Patience
from adapters.slack.client.api import Clients, new_session
from adapters.slack.listeners.answers import AnswerTarget, SlackAnswers
from adapters.slack.listeners.context import Actors, profile_of
from adapters.words import chart_lines
from bot.errors import StoreError
from bot.models import Attachment, Button, Reply, text_key
from bot.settings.chat import SlackSettings
from tests.conftest import NOW, tries
from tests.fakes import slack
from tests.fakes.platform import Behaviour, Fault
from tests.fakes.replies import TRENDS
from tests.fakes.slack import Failure
from tests.fakes.slack.state import Channel
from tests.stores.memory import MemoryStore

WORKSPACE = "slack:T0BROAD"
REPLY = Reply(title="Found", text=("Two papers.",), buttons=(Button("Next", "search gpu"),))


@dataclass(slots=True)
class Room:
    """What answers, the Slack that it answers in, and a clock that goes on while somebody waits."""

    fake: slack.FakeSlack
    clients: Clients
    store: MemoryStore
    now: datetime = NOW
    waits: list[float] = field(default_factory=list)
    answers: SlackAnswers = field(init=False)

    def __post_init__(self) -> None:
        self.answers = SlackAnswers(self.clients, self.store.chats, lambda: self.now, self.patience)

    @property
    def patience(self) -> Patience:
        return Patience(clock=lambda: self.now.timestamp(), sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += timedelta(seconds=seconds)

    def address(self, channel: Channel, *, url: bool = True) -> AnswerTarget:
        """Where ben is answered after a command in that channel."""
        way = self.fake.answers.way("commands", self.fake.ben.id, channel)[0] if url else ""
        return AnswerTarget(workspace=WORKSPACE, channel=channel.id, person=self.fake.ben.id, url=way)

    @property
    def told(self) -> list[tuple[str, str]]:
        """What ben was told, and where."""
        return [(each.text.split("\n")[0], each.channel) for each in self.fake.seen_by(self.fake.ben)]


@asynccontextmanager
async def opened(behaviour: Behaviour = Behaviour(takes=(0.0, 0.0))) -> AsyncIterator[Room]:  # noqa: B008 - frozen
    made: list[Room] = []

    def clock() -> float:
        return (made[0].now if made else NOW).timestamp()

    async with slack.running(behaviour, tiers=False, clock=clock) as fake, new_session() as session:
        given = SlackSettings(bot_token=fake.bot_token, app_token=fake.app_token, api_url=fake.api_url)  # type: ignore[arg-type]
        made.append(Room(fake, Clients(given, session, lambda: NOW), MemoryStore()))
        yield made[0]


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with opened() as room:
        yield room


async def test_what_takes_long_is_announced_and_then_told(room: Room) -> None:
    found = asyncio.Event()

    async def asking() -> Reply:
        await found.wait()
        return REPLY

    answering = asyncio.create_task(room.answers.answer(room.address(room.fake.random), asking()))
    (looking,) = await room.fake.until(lambda: room.fake.seen_by(room.fake.ben))
    assert looking.text == "Looking…"
    found.set()
    assert await answering == REPLY
    assert room.told[-1] == ("Found", "C0RANDOM")
    assert room.fake.requests == []


async def test_beyond_five_messages_or_thirty_minutes_the_web_api_answers(room: Room) -> None:
    address = room.address(room.fake.general)
    for _ in range(5):
        await room.answers.send_reply(address, REPLY)
    await room.answers.send_reply(address, REPLY)
    assert [error for error, _ in room.fake.answers.refused] == ["used_url"]
    assert room.told == [("Found", "C0GENERAL")] * 6
    assert [each.method for each in room.fake.requests] == ["chat.postEphemeral"]


async def test_where_the_app_is_not_in_the_channel_the_answer_comes_as_a_direct_message(room: Room) -> None:
    await room.answers.send_reply(room.address(room.fake.secret, url=False), REPLY)
    public = Reply(title="Subscribed", private=False)
    await room.answers.send_reply(room.address(room.fake.random, url=False), public)
    assert room.told == [("Found", "D0BEN"), ("Subscribed", "D0BEN")]
    assert "could not be posted in the channel" in room.fake.seen_by(room.fake.ben)[1].words


async def test_blocks_that_slack_does_not_take_are_told_as_text(room: Room) -> None:
    refused = {"type": "section", "block_id": "x", "text": {"type": "mrkdwn", "text": ""}}

    async def asking() -> Reply:
        return REPLY

    await room.answers.answer(room.address(room.fake.random), asking(), [refused])
    assert room.told == [("Found", "C0RANDOM")]
    assert room.fake.seen_by(room.fake.ben)[0].blocks == []


async def test_a_long_file_comes_as_a_direct_message_and_its_place_says_so(room: Room) -> None:
    file = Attachment("saved.bib", "application/x-bibtex", "@article{a}\n" * 1000)
    await room.answers.send_reply(room.address(room.fake.random), Reply(title="3 saved items as bibtex", attachment=file))
    (sent,) = room.fake.files
    assert sent["name"] == "saved.bib"
    assert room.told[0][1] == "D0BEN"
    assert room.told[1] == ("3 saved items as bibtex", "C0RANDOM")
    assert "saved.bib came as a direct message" in room.fake.seen_by(room.fake.ben)[1].words


async def test_the_pictures_of_charts_come_as_a_direct_message_and_their_numbers_stand_in_the_answer(room: Room) -> None:
    await room.answers.send_reply(room.address(room.fake.random), TRENDS)
    months, rising = TRENDS.charts
    assert [(each["name"], each["title"], each["alt_txt"]) for each in room.fake.files] == [
        ("months-gpu-systems.png", months.title, months.alt),
        ("rising-gpu-systems.png", rising.title, rising.alt),
    ]
    assert all(each["content"].startswith(b"\x89PNG") for each in room.fake.files)
    handed_over, answer = room.fake.seen_by(room.fake.ben)
    assert (handed_over.channel, answer.channel) == ("D0BEN", "C0RANDOM")
    for chart in TRENDS.charts:
        for said in (chart.title, *chart_lines(chart), chart.source, "2 pictures came as a direct message"):
            assert said in answer.words


async def test_without_the_scope_the_numbers_come_and_how_to_get_the_pictures(room: Room) -> None:
    grant = room.fake.world.grants[room.fake.bot_token]
    grant.scopes = grant.scopes - {"files:write"}
    await room.answers.send_reply(room.address(room.fake.random), TRENDS)
    (answer,) = room.fake.seen_by(room.fake.ben)
    assert "2 pictures could not be sent as a direct message: Broadsheet lacks the permission files:write" in answer.words
    assert "What they show stands here in numbers." in answer.words
    assert TRENDS.charts[1].source in answer.words


async def test_what_a_button_has_no_room_for_is_kept(room: Room) -> None:
    long = "search " + " OR ".join(f"word{number}" for number in range(200))
    await room.answers.send_reply(room.address(room.fake.random), Reply(title="Nothing", buttons=(Button("Any", long),)))
    assert await room.store.chats.kept_text(WORKSPACE, text_key(long)) == long


async def test_an_answer_that_slack_takes_nowhere_is_logged_and_counted_and_harms_nobody(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    for name in WAYS:
        room.fake.fail(name, Failure(retry_after=1), times=10_000)
    await room.answers.send_reply(room.address(room.fake.general), REPLY)
    assert room.told == []
    assert (room.answers.lost, timedelta(minutes=28) < room.now - NOW <= timedelta(minutes=29)) == (1, True)
    assert "reached nobody (1 since the start): Slack asked for a pause." in caplog.text
    assert room.fake.bot_token not in caplog.text


# --- what Slack fails in

WAYS = ("response_url", "chat.postEphemeral", "chat.postMessage", "conversations.open")
SURELY_NOT = (Failure(retry_after=7), Failure(retry_after=120), Failure(status=404))
UNSURE = (Failure(status=500), Failure(status=200), Failure(cut=Fault.RESET), Failure(cut=Fault.HALF))
FINAL = (Failure(error="expired_url"), Failure(error="used_url"))
PUBLIC = Reply(title="Subscribed", private=False)


@pytest.mark.parametrize("failure", [*SURELY_NOT, *UNSURE, *FINAL])
@pytest.mark.parametrize("times", [1, 3])
async def test_whatever_a_response_url_answers_a_private_answer_arrives(room: Room, failure: Failure, times: int) -> None:
    room.fake.fail("response_url", failure, times=times)
    await room.answers.send_reply(room.address(room.fake.random), REPLY)
    assert [title for title, _ in room.told] == ["Found"]
    assert room.answers.lost == 0


@pytest.mark.parametrize("failure", [Failure(status=503), Failure(retry_after=30), Failure(cut=Fault.RESET)])
async def test_an_outage_of_twenty_minutes_is_waited_out(room: Room, failure: Failure) -> None:
    room.fake.fail_until((NOW + timedelta(minutes=20)).timestamp(), failure)
    await room.answers.send_reply(room.address(room.fake.random), REPLY)
    assert [title for title, _ in room.told] == ["Found"]
    assert timedelta(minutes=20) <= room.now - NOW < timedelta(minutes=22)


async def test_a_code_that_nobody_knows_everywhere_for_a_minute_is_waited_out(room: Room) -> None:
    room.fake.fail_until((NOW + timedelta(minutes=1)).timestamp(), Failure(error="something_that_is_new"))
    await room.answers.send_reply(room.address(room.fake.random), REPLY)
    assert ([title for title, _ in room.told], room.answers.lost) == (["Found"], 0)
    assert timedelta(minutes=1) <= room.now - NOW < timedelta(minutes=2)


async def test_where_slack_answers_all_but_messages_for_ten_minutes_they_arrive_after_it(room: Room) -> None:
    for name in WAYS[1:]:
        room.fake.fail(name, Failure(status=503), times=2)
    room.fake.fail("response_url", Failure(status=503), times=3)
    await room.answers.send_reply(room.address(room.fake.general), REPLY)
    assert room.told == [("Found", "C0GENERAL")]
    assert room.waits[1::2] == [0, 2, 15, 60, 240]


async def test_an_answer_in_the_channel_is_never_doubled_and_the_person_is_told_where_it_may_be_missing() -> None:
    for failure in (*SURELY_NOT, *UNSURE):
        for commits in (False, True) if failure in UNSURE else (False,):
            async with opened() as room:
                room.fake.fail("response_url", replace(failure, commits=commits), times=1)
                await room.answers.send_reply(room.address(room.fake.general), PUBLIC)
                posted = [each.text for each in room.fake.messages(room.fake.general)]
                told = [title for title, _ in room.told]
                if failure in UNSURE:
                    assert (posted, told) == (["Subscribed"] * commits, ["The answer may be missing in the channel"])
                else:
                    assert (posted, told) == (["Subscribed"], [])


async def test_a_private_answer_whose_every_acknowledgement_is_lost_is_sent_seven_times_at_most(room: Room) -> None:
    for name in WAYS:
        room.fake.fail(name, Failure(cut=Fault.RESET, commits=True), times=100)
    await room.answers.send_reply(room.address(room.fake.general), REPLY)
    assert room.told == [("Found", "C0GENERAL")] * 7


@pytest.mark.parametrize(
    ("name", "failure", "said"),
    [
        ("files.getUploadURLExternal", Failure(status=500), "came as a direct message"),
        ("upload", Failure(status=500), "came as a direct message"),
        ("upload", Failure(cut=Fault.RESET), "came as a direct message"),
        ("files.completeUploadExternal", Failure(retry_after=3), "came as a direct message"),
        ("files.completeUploadExternal", Failure(error="internal_error"), "may have come as a direct message, or not"),
        ("files.completeUploadExternal", Failure(error="file_not_found"), "could not be sent as a direct message"),
        ("files.getUploadURLExternal", Failure(error="missing_scope"), "could not be sent as a direct message"),
    ],
)
async def test_what_is_said_of_a_file_is_true(room: Room, name: str, failure: Failure, said: str) -> None:
    file = Attachment("saved.bib", "application/x-bibtex", "@article{a}\n" * 1000)
    room.fake.fail(name, failure)
    await room.answers.send_reply(room.address(room.fake.random), Reply(title="3 saved items", attachment=file))
    (answer,) = [each for each in room.fake.seen_by(room.fake.ben) if each.text.startswith("3 saved items")]
    assert f"saved.bib {said}" in answer.words
    assert len(room.fake.files) == said.startswith("came")


async def test_a_file_that_slack_takes_for_a_minute_not_at_all_is_said_to_be_missing(room: Room) -> None:
    file = Attachment("saved.bib", "application/x-bibtex", "@article{a}\n" * 1000)
    room.fake.fail("upload", Failure(status=503), times=1000)
    await room.answers.send_reply(room.address(room.fake.random), Reply(title="3 saved items", attachment=file))
    assert "could not be sent" in room.fake.seen_by(room.fake.ben)[0].words
    assert room.now - NOW <= timedelta(minutes=1)


async def test_what_nobody_foresaw_is_told_with_a_reference_that_stands_in_the_log(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    async def asking() -> Reply:
        raise KeyError("nobody")

    await room.answers.answer(room.address(room.fake.random), asking())
    await room.answers.send_reply(room.address(room.fake.random), Reply(title="Found", text=(None,)))  # type: ignore[arg-type]
    for told in room.fake.seen_by(room.fake.ben):
        reference = told.text.removesuffix(".").split()[-1]
        assert told.text.startswith("That did not work")
        assert f"[{reference}]" in caplog.text
    assert len(room.told) == 2


async def test_an_answer_is_told_though_what_its_buttons_stand_for_cannot_be_kept(room: Room) -> None:
    class Broken:
        async def keep_texts(self, *_: object) -> None:
            raise StoreError("The disk is full.")

    answers = SlackAnswers(room.clients, Broken(), lambda: room.now, room.patience)  # type: ignore[arg-type]
    long = "search " + " OR ".join(f"word{number}" for number in range(200))
    await answers.send_reply(room.address(room.fake.random), Reply(title="Nothing", buttons=(Button("Any", long),)))
    assert room.told == [("Nothing", "C0RANDOM")]


def long(parts: int, *, private: bool = True) -> Reply:
    """Return a reply that takes so many messages."""
    paragraph = "A sentence of an answer that takes room. " * 60
    return Reply(title="Long", text=tuple(f"({at}) {paragraph}" for at in range(5 * parts)), private=private)


@pytest.mark.parametrize("seed", range(8))
async def test_an_answer_of_many_messages_arrives_whole_while_two_of_five_requests_fail(seed: int) -> None:
    behaviour = Behaviour(seed=seed, takes=(0.0, 0.0), broken=0.2, resets=0.2, commits=0.5, answers=True)
    async with opened(behaviour) as room:
        await room.answers.send_reply(room.address(room.fake.general), long(8))
        told = "\n".join(each.words for each in room.fake.seen_by(room.fake.ben))
        assert [at for at in range(40) if f"({at}) A" not in told] == []


@pytest.mark.parametrize("private", [True, False])
async def test_of_an_answer_of_many_messages_it_is_said_which_did_not_arrive(room: Room, private: bool) -> None:
    reply = long(9, private=private)
    of = len(await room.answers.messages(WORKSPACE, reply))
    missing = [*range(6, of + 1)]  # the response_url takes five
    method = "chat.postEphemeral" if private else "chat.postMessage"
    room.fake.fail(method, Failure(retry_after=900), times=1 + len(missing))
    await room.answers.send_reply(room.address(room.fake.general), reply)
    assert room.answers.lost == len(missing) > 1
    *_, last = room.fake.seen_by(room.fake.ben)
    assert "may be missing" in last.text
    assert f"and {of} of {of}" in last.words


FAILURES = st.sampled_from((*SURELY_NOT, *UNSURE, *(replace(each, commits=True) for each in UNSURE), *FINAL))


@settings(max_examples=tries(100))
@given(
    failures=st.lists(st.tuples(st.sampled_from(WAYS), FAILURES, st.integers(1, 8)), max_size=8),
    channel=st.sampled_from(("general", "random", "secret")),
    reply=st.sampled_from((REPLY, PUBLIC)),
)
async def test_whatever_fails_an_answer_arrives_or_is_told_to_be_missing_or_counted_and_none_is_doubled_for_all(
    failures: list[tuple[str, Failure, int]], channel: str, reply: Reply
) -> None:
    async with opened() as room:
        for name, failure, times in failures:
            room.fake.fail(name, failure, times=times)
        place: Channel = getattr(room.fake, channel)
        await room.answers.send_reply(room.address(place), reply)
        posted = [each.text for each in room.fake.messages(place)]
        assert len(posted) <= 1
        assert posted or room.told or room.answers.lost == 1
        # The answer itself, where the channel takes none, and what says that it may be missing, once for each try.
        assert len(room.told) <= 1 + 7


# --- who asks


async def test_slack_is_asked_about_a_person_once_in_ten_minutes(room: Room) -> None:
    actors = Actors(room.clients, lambda: room.now)
    asked = await asyncio.gather(*(actors.actor(WORKSPACE, "C1", "U0ANNA") for _ in range(3)))
    assert [(each.may_administer, each.zone) for each in asked] == [(True, "Europe/Zurich")] * 3
    room.fake.anna.is_admin = False
    room.now += timedelta(minutes=9)
    assert (await actors.actor(WORKSPACE, "C1", "U0ANNA")).may_administer
    room.now += timedelta(minutes=2)
    assert not (await actors.actor(WORKSPACE, "C1", "U0ANNA")).may_administer
    assert [each.method for each in room.fake.requests] == ["users.info"] * 2


async def test_a_person_of_whom_slack_says_nothing_administers_nothing_and_is_asked_about_again(room: Room) -> None:
    actors = Actors(room.clients, lambda: room.now)
    room.fake.fail("users.info", Failure(error="user_not_found"))
    assert not (await actors.actor(WORKSPACE, "C1", "U0ANNA")).may_administer
    assert (await actors.actor(WORKSPACE, "C1", "U0ANNA")).may_administer


@pytest.mark.parametrize(
    ("user", "may"),
    [
        ({"is_owner": True}, True),
        ({"is_admin": True}, True),
        ({"is_primary_owner": True}, True),
        ({"is_admin": False}, False),
        ({"is_admin": True, "is_stranger": True}, False),
        ({}, False),
    ],
)
def test_owners_and_administrators_of_the_workspace_administer(user: dict[str, object], may: bool) -> None:
    assert profile_of(user, "T0BROAD").may_administer is may


@pytest.mark.parametrize(
    ("user", "external"),
    [
        ({"team_id": "T0BROAD"}, False),
        ({"team_id": "T0OTHER"}, True),  # `is_stranger` is not said of somebody with whom a channel is shared
        ({"team_id": "T0OTHER", "is_stranger": False, "is_admin": True, "is_owner": True}, True),
        ({"team_id": "T0BROAD", "is_stranger": True}, True),
        ({"team_id": "T0OTHER", "enterprise_user": {"teams": ["T0OTHER", "T0BROAD"]}}, False),
        ({"team_id": "T0OTHER", "enterprise_user": {"enterprise_id": "E0BROAD"}}, False),
        ({"team_id": "T0OTHER", "enterprise_user": {"enterprise_id": "E0OTHER"}, "is_admin": True}, True),
        ({}, False),
    ],
)
def test_somebody_of_another_organisation_is_external_and_administers_nothing(
    user: dict[str, object], external: bool
) -> None:
    found = profile_of(user, "T0BROAD", "E0BROAD")
    assert found.is_external is external
    assert not (external and found.may_administer)
