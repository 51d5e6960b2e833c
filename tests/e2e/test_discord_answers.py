"""Whoever asks in Discord is answered, or told that it failed: whatever they send, whatever Discord and the store do."""

import asyncio
import inspect
import logging
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from bot.commands import TABLE
from bot.errors import StoreError
from bot.ports.chats import Chats
from bot.ports.store import Store
from bot.service.platforms import PlatformContext
from tests.conftest import tries
from tests.e2e.discord_desk import DiscordDesk, sitting
from tests.e2e.test_discord_connection import until
from tests.fakes.discord import Answer, Asked, Behaviour, Doing, Kind, Message
from tests.fakes.discord.things import LOADING

UNREACHED = "Discord waited no longer"


class Broken:
    """What is usual until it is `on`; then everything that it is asked fails, or never ends."""

    def __init__(self, error: Exception | None) -> None:
        self.on = False
        self._error = error

    def chats(self, usual: PlatformContext) -> PlatformContext:
        """Let what the listeners keep things in be this."""
        return replace(usual, chats=cast("Chats", _Breaking(self, usual.chats)))

    def store(self, usual: PlatformContext) -> PlatformContext:
        """Let what the handlers ask be this."""
        handlers = usual.handler_context
        return replace(usual, handler_context=replace(handlers, store=cast("Store", _Breaking(self, handlers.store))))

    async def fail(self) -> None:
        if self.on and self._error is not None:
            raise self._error
        if self.on:
            await asyncio.Event().wait()


class _Breaking:
    """Stands for an object whose methods, and those of its parts, fail when they are to."""

    def __init__(self, broken: Broken, usual: object) -> None:
        self._broken = broken
        self._usual = usual

    def __getattr__(self, name: str) -> object:
        found = getattr(self._usual, name)
        if not inspect.iscoroutinefunction(found):
            return found if callable(found) else _Breaking(self._broken, found)

        async def asked(*given: object, **more: object) -> object:
            await self._broken.fail()
            return await found(*given, **more)

        return asked


FAILURES: Mapping[str, tuple[Exception | None, str]] = {
    "away": (StoreError("The database is away."), "The database does not answer"),
    "wrong": (ValueError("s3cret"), "Something went wrong on our side"),
    "slow": (None, "longer than Discord waits"),
}


@pytest.mark.parametrize(("error", "said"), FAILURES.values(), ids=FAILURES)
async def test_a_form_that_cannot_be_opened_is_answered_by_a_message(
    error: Exception | None, said: str, tmp_path: Path
) -> None:
    broken = Broken(error)
    async with sitting(tmp_path, context=broken.chats) as desk:
        broken.on = True
        asked = await desk.fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers)
        assert said in asked.text
        assert asked.first is Answer.MESSAGE


@pytest.mark.parametrize("name", ["away", "wrong"])
async def test_a_form_that_is_sent_while_the_store_fails_is_answered(name: str, tmp_path: Path) -> None:
    error, said = FAILURES[name]
    broken = Broken(error)
    async with sitting(tmp_path, context=broken.chats) as desk:
        form = await desk.fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers)
        broken.on = True
        asked = await desk.fake.submit(form, {"topic": "gpu-systems", "when": "daily"})
        assert said in asked.text


async def test_a_form_that_is_sent_while_the_store_is_slow_is_said_to_be_worked_on(tmp_path: Path) -> None:
    broken = Broken(None)
    async with sitting(tmp_path, context=broken.chats) as desk:
        form = await desk.fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers)
        broken.on = True
        asked = await desk.fake.submit(form, {"topic": "gpu-systems", "when": "daily"}, wait=False)
        assert asked.first is Answer.DEFERRED
        await desk.stop()
        assert "Broadsheet was stopped" in asked.text


@pytest.mark.parametrize(("error", "said"), FAILURES.values(), ids=FAILURES)
async def test_a_button_whose_command_cannot_be_read_is_answered(error: Exception | None, said: str, tmp_path: Path) -> None:
    broken = Broken(error)
    async with sitting(tmp_path, context=broken.chats) as desk:
        broken.on = True
        data = {"custom_id": f"k:{'x' * 22}", "component_type": 2, "id": 1}
        asked = await (await ask(desk, Doing.COMPONENT, data)).answered()
        assert said in asked.text


async def test_a_button_that_nobody_knows_is_not_said_to_be_old(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        data = {"custom_id": "later:2", "component_type": 2, "id": 1}
        asked = await (await ask(desk, Doing.COMPONENT, data)).answered()
        assert "This version of Broadsheet does not know it." in asked.text


@pytest.mark.parametrize(("error", "_said"), FAILURES.values(), ids=FAILURES)
async def test_what_is_typed_while_suggesting_fails_is_completed_by_nothing(
    error: Exception | None, _said: str, tmp_path: Path
) -> None:
    broken = Broken(error)
    async with sitting(tmp_path, context=broken.store) as desk:
        broken.on = True
        asked = desk.fake.autocomplete("digest now", "topic", "gpu", user=desk.ben, channel=desk.papers)
        assert await asked == []


async def test_a_choice_that_there_is_not_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        option = {"name": "format", "type": 3, "value": "nonsense"}
        data = {"id": "1", "name": "digest", "type": 1, "options": [{"name": "saved", "type": 1, "options": [option]}]}
        asked = await desk.fake.ask(Doing.COMMAND, data, user=desk.ben, channel=desk.papers)
        await asked.answered()
        assert 'cannot be "nonsense": choose one of' in asked.text


# --- the law

Drawn = tuple[Doing, dict[str, Any]]
_TEXTS = st.one_of(
    st.text(max_size=30), st.sampled_from(["gpu-systems", "gpu", "2604.30001", "bibtex", "now", "c:now", "daily"])
)
_VALUES = st.one_of(_TEXTS, st.integers(-5, 2**40), st.booleans(), st.floats(), st.none())
_CARRIED = st.one_of(
    st.text(min_size=1, max_size=100),
    st.builds(
        "{}{}".format,
        st.sampled_from(["c:", "k:", "d:x:c:", "o:topic:", "o:subscription:", "o:filter:", "r:topic:", "f:", "s:"]),
        st.one_of(_TEXTS, st.sampled_from(["topics", "search kv cache", "list", "x" * 22])),
    ),
)


@st.composite
def _commands(draw: st.DrawFn) -> Drawn:
    usage = draw(st.sampled_from(TABLE))
    options: list[dict[str, Any]] = [
        {"name": each.name, "type": 3, "value": draw(_VALUES)}
        for each in usage.options
        if draw(st.integers(0, 2)) or each.required
    ]
    for word in reversed(draw(st.one_of(st.just(usage.words), st.text(max_size=8))).split()):
        options = [{"name": word, "type": 1, "options": options}]
    doing = draw(st.sampled_from([Doing.COMMAND, Doing.COMMAND, Doing.AUTOCOMPLETE]))
    if doing is Doing.AUTOCOMPLETE and options and (last := options[0].get("options")):
        cast("Any", last)[0]["focused"] = True
    data = {"id": "1", "name": draw(st.sampled_from(["digest", "digest", "digest", "Find similar papers", "x"])), "type": 1}
    return doing, data | {"options": options}


@st.composite
def _presses(draw: st.DrawFn) -> Drawn:
    chosen = {"values": [draw(_CARRIED)]} if draw(st.booleans()) else {}
    return Doing.COMPONENT, {"custom_id": draw(_CARRIED), "component_type": 3 if chosen else 2, "id": 1, **chosen}


@st.composite
def _forms(draw: st.DrawFn) -> Drawn:
    names = draw(st.lists(st.sampled_from(["topic", "when", "numbers", "layout", "filter", "name", "query", "scope"])))
    fields = [
        {"type": 18, "id": at, "component": {"type": 4, "id": at, "custom_id": name, "value": draw(_TEXTS)}}
        for at, name in enumerate(names, start=1)
    ]
    return Doing.FORM, {"custom_id": draw(_CARRIED), "components": fields}


_SHARES = st.sampled_from([0.0, 0.0, 0.1, 0.2])


@settings(max_examples=tries(32), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    asking=st.lists(st.one_of(_commands(), _presses(), _forms()), min_size=1, max_size=6),
    behaviour=st.builds(
        Behaviour,
        seed=st.integers(0, 2**32),
        takes=st.just((0.0, 0.01)),
        resets=_SHARES,
        halves=_SHARES,
        broken=_SHARES,
        limited=st.sampled_from([0.0, 0.1]),
        stalls=st.sampled_from([0.0, 0.0, 0.05]),
        stall=st.just(0.8),
        rests=st.just((0.02, 0.2)),
        per_second=st.just(50),
        remembers=st.just(180.0),
        answers=st.just(True),
    ),
)
def test_whatever_is_asked_gets_a_first_reply_in_time_and_in_the_end_an_answer_or_a_told_failure(
    asking: list[Drawn], behaviour: Behaviour
) -> None:
    asyncio.run(hold(asking, behaviour))


class _Noting(logging.Handler):
    def __init__(self, noted: list[logging.LogRecord]) -> None:
        super().__init__()
        self._noted = noted

    def emit(self, record: logging.LogRecord) -> None:
        self._noted.append(record)


async def hold(asking: Sequence[Drawn], behaviour: Behaviour) -> None:
    """Ask all of it at once, and wait until each is told something, or it is logged that it cannot be."""
    noted: list[logging.LogRecord] = []
    listening = _Noting(noted)
    logging.getLogger("adapters").addHandler(listening)
    try:
        with tempfile.TemporaryDirectory() as folder:
            async with sitting(Path(folder)) as desk:
                desk.fake.behaviour = behaviour
                asked = [await ask(desk, doing, data) for doing, data in asking]
                await until(lambda: not waiting(desk, asked, [each.getMessage() for each in noted]))
                assert [each for each in asked if (each.first_after or 0) > 3] == []
                assert desk.fake.wrong == []
    finally:
        logging.getLogger("adapters").removeHandler(listening)


async def ask(desk: DiscordDesk, doing: Doing, data: dict[str, Any]) -> Asked:
    message = None
    if doing is Doing.COMPONENT:
        message = Message(desk.fake.new_id(), desk.papers, desk.fake.bot, "Something that we said.")
        desk.papers.messages[message.id] = message
    return await desk.fake.ask(doing, data, user=desk.anna, channel=desk.papers, message=message)


def waiting(desk: DiscordDesk, asked: Sequence[Asked], logged: Sequence[str]) -> bool:
    """Say whether somebody was told nothing and that was not said in the log either."""
    unreached = sum(UNREACHED in each for each in logged)  # Discord itself has told them
    untold = sum("could not be told" in each for each in logged)
    direct = sum(len(each.messages) for each in desk.fake.channels.values() if each.kind is Kind.PRIVATE)
    left = [each for each in asked if not is_told(each)]
    unanswered = sum(each.first is None for each in left)
    return unanswered > unreached or len(left) - unanswered > untold + direct


def is_told(asked: Asked) -> bool:
    if asked.doing is Doing.AUTOCOMPLETE:
        return True  # Discord shows no choices by itself
    return asked.is_answered and not (asked.original is not None and asked.original.flags & LOADING)
