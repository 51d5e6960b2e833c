"""What is told to whom, whatever becomes of asking."""

import logging
from datetime import timedelta

import discord.http
import pytest

from adapters.discord.client.http import Door
from adapters.discord.listeners.answers import Answers, Call
from bot.errors import StoreError, UsageError
from bot.models import Reply
from tests.fakes.discord import Kind, running
from tests.fakes.discord.asked import Asked, Doing
from tests.stores.memory import MemoryStore


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
        door = Door(fake.token)
        call = Call(
            str(asked.id), asked.token, str(fake.application), str(asked.channel.id), str(asked.user.id), fake.clock()
        )
        with caplog.at_level(logging.WARNING):
            await Answers(door, MemoryStore(), fake.clock).answer(call, f"discord:{guild.id}", asking)
        await door.close()

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
        door, begun = Door(fake.token), fake.clock()
        call = Call("1", "t0ken", str(fake.application), str(papers.id), str(guild.owner.id), begun)
        answers = Answers(door, MemoryStore(), lambda: begun + timedelta(minutes=15))
        await answers.tell(call, f"discord:{guild.id}", Reply(title="At last", private=private))
        await door.close()

        alone = [each for each in fake.channels.values() if each.kind is Kind.PRIVATE]
        told = [message.text for each in alone for message in each.messages.values()]
        assert told == (["### At last"] if private else [])
        assert [each.text for each in papers.messages.values()] == ([] if private else ["### At last"])
