"""Tokens of assistants: given by whoever runs the service, and what each opens."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from bot.errors import StoreError, UsageError
from bot.handlers.assistants import give_token, idle_channel, token_of
from bot.models import AssistantAccess
from bot.redact import MARK, redacted
from tests.bot.handlers.askers import Asker
from tests.stores.instead import instead

ACCESS = AssistantAccess(workspace="slack:T1", channel="C1", person="U1", may_write=True)
DAY = timedelta(days=1)


@pytest.fixture
async def team(ada: Asker) -> Asker:
    await ada.ask("subscribe kv")
    return ada


async def test_a_token_opens_what_it_was_given_for_until_it_is_revoked(team: Asker) -> None:
    store, now = team.context.store, team.now
    reading = AssistantAccess(workspace="local", channel="local", person="local")
    text, other = await give_token(store, "desk", ACCESS, now), await give_token(store, "ci.2", reading, now)
    opened = [await token_of(store, each, now) for each in (text, other)]
    assert [each.access for each in opened if each] == [ACCESS, reading]
    assert [await token_of(store, each, now) for each in ("", "bsm_", text[:-1], text.upper(), text + " ")] == [None] * 5
    assert await store.assistants.revoke("desk", now)
    assert await token_of(store, text, now) is None
    assert await token_of(store, other, now) is not None


async def test_a_token_is_not_kept_nor_shown_in_a_log(team: Asker) -> None:
    store, now = team.context.store, team.now
    text = await give_token(store, "desk", ACCESS, now)
    (kept,) = await store.assistants.every()
    assert text not in repr(kept)
    assert kept.hashed not in repr(kept)
    assert text != kept.hashed
    assert redacted(f"asked by {text}, twice") == f"asked by {MARK}, twice"


async def test_the_last_day_of_use_is_noted_once_a_day(team: Asker) -> None:
    store, now = team.context.store, team.now
    text = await give_token(store, "desk", ACCESS, now)
    assert [each.used_on for each in await store.assistants.every()] == [None]
    for later in (now, now + DAY, now - DAY):
        await token_of(store, text, later)
    assert [each.used_on for each in await store.assistants.every()] == [(now + DAY).date()]


async def test_a_token_opens_what_it_does_where_nothing_can_be_written(team: Asker) -> None:
    async def full(hashed: str, day: date) -> None:
        raise StoreError("The disk is full.")

    text = await give_token(team.context.store, "desk", ACCESS, team.now)
    held: Any = instead(team.context.store.assistants, note_use=full)
    store = instead(team.context.store, assistants=held)
    found = await token_of(store, text, team.now)
    assert found is not None
    assert found.access == ACCESS


@pytest.mark.parametrize("name", ["", " ", "-x", "a b", "x" * 41, "naïve", "a\n", "a/b", "*"])
async def test_a_token_has_a_plain_name(team: Asker, name: str) -> None:
    with pytest.raises(UsageError, match="no name of a token"):
        await give_token(team.context.store, name, ACCESS, team.now)


async def test_a_name_is_held_until_its_token_is_revoked(team: Asker) -> None:
    store = team.context.store
    await give_token(store, "desk", ACCESS, team.now)
    with pytest.raises(UsageError, match="There is a token named desk"):
        await give_token(store, "desk", replace(ACCESS, channel="C2"), team.now)
    await store.assistants.revoke("desk", team.now)
    assert await give_token(store, "desk", ACCESS, team.now)


@pytest.mark.parametrize("workspace", ["", "slack:T2", "slack:", "Local", "slack:T1 ", "discord:1"])
async def test_a_workspace_of_which_nothing_is_known_has_no_token_and_those_known_are_named(
    team: Asker, workspace: str
) -> None:
    with pytest.raises(UsageError, match="Nothing is subscribed in") as caught:
        await give_token(team.context.store, "desk", replace(ACCESS, workspace=workspace), team.now)
    assert caught.value.hint == "There is slack:T1."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"channel": ""}, "Whoever writes"),
        ({"person": ""}, "Whoever writes"),
        ({"channel": "mail:00112233445566aa.c49543"}, "sent to an address"),
        ({"channel": "#papers"}, "no identifier"),
        ({"person": "<@U1>"}, "no identifier"),
    ],
)
async def test_a_token_names_channels_and_people_by_their_identifiers(team: Asker, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        await give_token(team.context.store, "desk", replace(ACCESS, **given), team.now)
    assert await team.context.store.assistants.every() == []


async def test_a_channel_where_nothing_is_posted_is_told(team: Asker) -> None:
    told = [await idle_channel(team.context.store, replace(ACCESS, channel=each)) for each in ("", "C1", "C2")]
    assert told == [False, False, True]
