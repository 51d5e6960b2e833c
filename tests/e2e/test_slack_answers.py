"""Whatever is asked in Slack, and whatever fails there: it is acknowledged, and ends in an answer or a told failure."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOW, tries
from tests.e2e.slack_desk import SlackDesk, sitting
from tests.fakes.platform import Behaviour, Fault
from tests.fakes.slack import Channel, Failure, Message, Person, View
from tests.fakes.slack.exchange import Exchange

LOOKING = "Looking…"
LATE = Failure(cut=Fault.STALL, stall=1.6)  # of users.info: later than a form is waited for before something else is shown


async def _shown(desk: SlackDesk, words: str) -> View:
    """Return the open view in which these words can be read."""

    def found() -> View | None:
        views = [each for each in desk.fake.world.views.values() if each.is_open and words in each.words]
        return views[0] if views else None

    view = await desk.fake.until(found)
    assert view is not None
    return view


# --- views


async def test_a_form_that_slack_does_not_open_is_said_and_a_button_opens_it(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        for failure in (Failure(error="expired_trigger_id"), Failure(error="internal_error"), Failure(retry_after=30)):
            fake.fail("views.open", failure, times=10)
            told = await (await fake.command("subscribe", user=ben, channel=fake.general)).answer()
            assert "It could not be opened" in told.words
            assert (told.shown_to, told.channel) == (ben.id, fake.general.id)
            fake.faults.forget("views.open")
            assert (await (await fake.click(told, "Change in a form", user=ben)).view()).title == "Subscribe a channel"


@pytest.mark.parametrize("failure", [Failure(retry_after=1), Failure(status=500), Failure(cut=Fault.RESET)])
@pytest.mark.parametrize("commits", [False, True])
async def test_a_view_whose_opening_or_change_fails_once_is_shown_once(
    tmp_path: Path, failure: Failure, commits: bool
) -> None:
    if commits and failure.retry_after:
        return
    failure = Failure(retry_after=failure.retry_after, status=failure.status, cut=failure.cut, commits=commits)
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        fake.fail("users.info", LATE)
        fake.fail("views.open", failure)
        fake.fail("views.update", failure)
        asked = await fake.command("topic create", user=ben)
        await _shown(desk, "Create a topic")
        assert [each.title for each in fake.world.views.values() if each.is_open] == ["Create a topic"]
        assert asked.answers == []


async def test_a_form_that_never_takes_the_place_of_what_was_shown_first_is_said(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        fake.fail("users.info", LATE)
        fake.fail("views.update", Failure(error="view_is_odd"), times=10)
        asked = await fake.command("topic create", user=ben)
        await _shown(desk, LOOKING)
        told = await asked.answer(within=8)
        assert "It could not be opened" in told.words
        fake.faults.forget("views.update")
        assert (await (await fake.click(told, "Change in a form", user=ben)).view()).title == "Create a topic"


async def test_a_view_that_slack_does_not_take_says_so_and_its_answer_comes_as_a_message(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        await fake.open_home(ben)
        home = await fake.until(lambda: fake.home(ben))
        fake.fail("users.info", LATE)
        desk.now = NOW.replace(hour=8)
        fake.fail("views.update", Failure(error="invalid_arguments"))
        asked = await fake.click(home, "Help", user=ben)
        await _shown(desk, "It comes as a message.")
        assert "What you can ask" in (await asked.answer()).words

        fake.fail("views.open", Failure(error="expired_trigger_id"))
        assert "What you can ask" in (await (await fake.click(home, "Help", user=ben)).answer()).words


async def test_a_home_tab_is_published_until_slack_takes_it(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        for failure in (Failure(retry_after=1), Failure(status=500), Failure(cut=Fault.RESET)):
            fake.fail("views.publish", failure)
            fake.fail("users.conversations", failure)
            fake.team.homes.clear()
            await fake.open_home(ben)
            assert "Nothing is subscribed" in (await fake.until(lambda: fake.home(ben))).words
        fake.fail("views.publish", Failure(error="invalid_arguments"))
        await fake.open_home(ben)
        await fake.until(lambda: "Slack does not show the tab" in fake.home(ben).words)  # type: ignore[union-attr]
        assert any("`/digest help`" in block.get("text", {}).get("text", "") for block in fake.home(ben).blocks)  # type: ignore[union-attr]


async def test_a_view_that_the_person_closed_or_that_has_no_room_for_another_is_answered_by_a_message(
    tmp_path: Path,
) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        view = await (await fake.shortcut("search_papers", user=ben)).view()
        await fake.submit(view, {"Query": "gpu"})
        assert "Found for: gpu" in view.words
        fake.fail("views.push", Failure(error="push_limit_reached"))
        assert "Close to" in (await (await fake.click(view, "Similar", user=ben)).answer()).words

        desk.now += timedelta(hours=1)
        fake.fail("users.info", LATE)
        asked = await fake.click(view, "Next 5", user=ben)
        await fake.close(view)
        assert "6. " in (await asked.answer()).words


async def test_a_list_is_whole_though_slack_says_at_first_not_where_somebody_is(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        await (await fake.command("subscribe gpu-systems", user=ben, channel=fake.general)).answer()
        for failure in (Failure(status=500), Failure(retry_after=1), Failure(cut=Fault.RESET)):
            fake.fail("users.conversations", failure)
            told = await (await fake.command("list all", user=ben, channel=fake.random)).answer()
            assert "GPU systems" in told.words


# --- what nobody foresaw


def _change(where: Message | View, change: Callable[[dict[str, Any]], None]) -> None:
    """Change every button."""
    for block in where.blocks:
        for element in block.get("elements", []):
            if element.get("type") == "button":
                change(element)


async def test_buttons_that_nobody_knows_or_can_read_are_answered(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        for change, said in (
            (lambda element: element.update(action_id="vote:1"), "That does nothing now"),
            (lambda element: element.update(action_id="form:poem"), "Something went wrong on our side"),
            (lambda element: element.pop("value"), "Something went wrong on our side"),
        ):
            found = await (await fake.command("search gpu", user=ben, channel=fake.random)).answer()
            _change(found, change)
            assert said in (await (await fake.click(found, "Save", user=ben)).answer()).words
        assert fake.missed == []


async def test_forms_that_nobody_knows_or_can_read_are_answered(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben

        async def opened() -> View:
            return await (await fake.command("topic create", user=ben)).view()

        filled = {"Name": "moe", "Query: who enters": "moe"}
        strange = await opened()
        strange.body["callback_id"] = "form:poem"
        await fake.submit(strange, filled)
        assert "does not know this form" in strange.words
        for memory in ("{", "[1]", json.dumps({"home": "yes", "topic": "", "revision": "first"}), "{}"):
            unreadable = await opened()
            unreadable.body["private_metadata"] = memory
            await fake.submit(unreadable, filled)
            said = "\n".join([unreadable.words, *unreadable.errors.values()])
            assert "Something went wrong on our side" in said, memory
            asked = await fake.choose(await _with_memory(opened, memory), "query", "gpu")
            if memory in ("{", "[1]"):
                assert "Something went wrong" in (await asked.answer()).words
        assert fake.missed == []


async def _with_memory(opened: Callable[[], Any], memory: str) -> View:
    view: View = await opened()
    view.body["private_metadata"] = memory
    return view


async def test_a_list_that_nobody_knows_has_nothing_to_offer_and_an_unknown_shortcut_is_answered(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        fake.patience = 3.0
        view = await (await fake.command("subscribe", user=ben)).view()
        next(block for block in view.blocks if block["block_id"] == "topic|")["element"]["action_id"] = "poem"
        assert await fake.options(view, "poem", "") == []
        fake.rights.manifest = None
        asked = await fake.shortcut("write_a_poem", user=ben)
        assert "does not know it" in (await asked.answer()).words
        told = await (await fake.command("search gpu", user=ben, channel=fake.random, name="/papers")).answer()
        assert "Found for: gpu" in told.words
        assert fake.missed == []


async def test_a_choice_that_there_is_not_is_told_at_the_form(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        shown = await (await fake.command("filter gpu-systems", user=ben, channel=fake.random)).answer()
        view = await (await fake.click(shown, "Change in a form", user=ben)).view()
        view.values["scope|"]["scope"]["selected_option"] = {"value": "nowhere", "text": {"text": "Nowhere"}}
        await fake.submit(view)
        assert view.is_open
        assert "Something went wrong on our side" in "".join(view.errors.values())


async def test_a_form_that_takes_long_is_acknowledged_and_told_of_later(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        fake.patience = 3.0
        for at_home in (False, True):
            if at_home:
                asked = await fake.shortcut("search_papers", user=ben)
            else:
                asked = await fake.command("topic create", user=ben)
            view = await asked.view()
            desk.now = desk.now.replace(hour=desk.now.hour + 1)
            fake.fail("users.info", LATE)
            filled = {"Query": "gpu"} if at_home else {"Name": "moe", "Query: who enters": "moe"}
            await fake.submit(view, filled)
            if at_home:
                assert LOOKING in view.words
                await fake.until(lambda view=view: "Found for: gpu" in view.words)  # type: ignore[misc]
            else:
                await fake.until(lambda: fake.messages(fake.general))
        assert fake.missed == []


async def test_what_is_not_done_when_the_service_ends_is_said_to_be_not_done(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        fake.fail("users.info", Failure(cut=Fault.STALL, stall=60.0), times=10)
        searched = await fake.command("search gpu", user=ben, channel=fake.random)
        opened = await fake.command("topic create", user=ben)
        view = await opened.view()
        assert LOOKING in view.words
    assert "was stopped before the answer was there" in searched.answers[-1].words
    assert "was stopped before the answer was there" in view.words


# --- everything at once


@dataclass(frozen=True)
class Step:
    """What somebody did who does nothing else, and what came of it."""

    exchange: Exchange
    place: Channel
    before: int  # messages in that place

    def has_ended(self, desk: SlackDesk) -> bool:
        """Say whether it ended in a message, or a view that shows more than that it is looked for."""
        views = [each for each in desk.fake.world.views.values() if each.opened_by == self.exchange.trigger]
        said = [each for each in self.exchange.answers if each.text != LOOKING]
        posted = [each for each in desk.fake.messages(self.place)[self.before :] if not each.answers]  # for all
        return bool(said or posted) or any(LOOKING not in each.words for each in views)


STORM = {"takes": (0.0, 0.02), "resets": 0.06, "halves": 0.03, "broken": 0.06, "limited": 0.15, "rests": (0.1, 1.0)}
COMMANDS = (
    *("search gpu", "help", "topics", "subscribe gpu-systems", "unsubscribe gpu-systems", "list", "status", "why 1", "now"),
    *("subscribe", "topic create", "filter gpu-systems", "saved bibtex", "show 2603.00002", "nonsense here", "search ("),
)


@pytest.mark.parametrize("seed", range(max(1, tries(8) // 4)))
async def test_whatever_is_asked_while_a_third_of_all_answers_requests_fail_ends_in_an_answer(
    tmp_path: Path, seed: int
) -> None:
    async with sitting(tmp_path) as desk, ticking(desk):
        fake = desk.fake
        people = (_person(desk, number) for number in itertools.count())
        fake.behaviour = Behaviour(seed=seed, answers=True, **STORM)  # type: ignore[arg-type]
        steps = []

        async def step(place: Channel, acting: Callable[[Person], Coroutine[Any, Any, Exchange]]) -> None:
            before = len(fake.messages(place))
            steps.append(Step(await acting(next(people)), place, before))

        for text in COMMANDS:
            for place in (fake.random, fake.general):
                await step(place, lambda person, text=text, place=place: fake.command(text, user=person, channel=place))  # type: ignore[misc]
        search = await steps[0].exchange.answer_with("Found for: gpu")
        for label in ("Save", "Similar", "More like this"):
            await step(fake.random, lambda person, label=label: fake.click(search, label, user=person))  # type: ignore[misc]
        await step(fake.random, lambda person: fake.shortcut("search_papers", user=person))
        await fake.until(lambda: all(step.has_ended(desk) for step in steps))
        fake.behaviour = Behaviour(takes=(0.0, 0.0))
        assert fake.missed == []
        assert sum(fake.faults.counts.values()) > 5


def _person(desk: SlackDesk, number: int) -> Person:
    """Return somebody new, who is in the channels where things are asked."""
    person = desk.fake.add_person(f"U0NEW{number:03}", f"new{number}")
    for channel in (desk.fake.random, desk.fake.general):
        channel.members.add(person.id)
    return person


@asynccontextmanager
async def ticking(desk: SlackDesk) -> AsyncIterator[None]:
    """Let the desk's clock go on with the time."""
    loop = asyncio.get_running_loop()
    begun = loop.time()

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.02)
            desk.now = NOW + timedelta(seconds=loop.time() - begun)

    task = asyncio.create_task(tick())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
