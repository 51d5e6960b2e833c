"""What is told to whom, whatever becomes of asking."""

import logging
from datetime import timedelta

import discord.http
import pytest

from adapters.discord.client.api import RestClient
from adapters.discord.listeners.answers import Callback, DiscordAnswers
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
