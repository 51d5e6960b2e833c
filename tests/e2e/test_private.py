"""What is subscribed in private is told to nobody else, on either platform."""

from pathlib import Path

import pytest

from tests.e2e import discord_desk, slack_desk
from tests.fakes.discord import Permission


async def test_slack_tells_nobody_what_is_subscribed_in_private(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, anna, ben = desk.fake, desk.fake.anna, desk.fake.ben
        fake.secret.members.discard(ben.id)
        await fake.invite(fake.secret)
        filters = {fake.secret: "merger", fake.direct(anna): "illness", fake.general: "-survey"}
        for channel, words in filters.items():
            await (await fake.command(f"subscribe gpu-systems filter {words}", user=anna, channel=channel)).answer()
        for text in ("list all", "history"):
            for person, shown in ((anna, True), (ben, False)):
                told = await (await fake.command(text, user=person, channel=fake.random)).answer()
                assert "-survey" in told.words
                assert ("merger" in told.words, "illness" in told.words) == (shown, shown), (text, person.name)
        await (await fake.command('topic create mine "kv cache"', user=anna, channel=fake.random)).answer()
        for channel, words in ((fake.secret, "takeover"), (fake.random, "-survey")):
            await (await fake.command(f"subscribe mine filter {words}", user=anna, channel=channel)).answer()
        for text in ("topic delete mine", "topic delete mine anyway", "history mine"):
            told = await (await fake.command(text, user=ben, channel=fake.general)).answer()
            assert fake.secret.id not in told.words, text
            assert "takeover" not in told.words, text
        assert [(each.method, each.error) for each in fake.rejected] == []


@pytest.mark.parametrize("is_single_channel", [False, True])
async def test_a_guest_of_slacks_is_told_of_no_public_channel_that_they_are_not_in(
    tmp_path: Path, *, is_single_channel: bool
) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, anna = desk.fake, desk.fake.anna
        guest = fake.add_person("U0GUEST", "guest", is_guest=True, is_single_channel_guest=is_single_channel)
        fake.random.members.add(guest.id)
        for channel, words in ((fake.general, "-merger"), (fake.random, "-survey")):
            await fake.invite(channel)
            await (await fake.command(f"subscribe gpu-systems filter {words}", user=anna, channel=channel)).answer()
        for text in ("list all", "history"):
            for person, shown in ((anna, True), (guest, False)):
                told = await (await fake.command(text, user=person, channel=fake.random)).answer()
                assert "-survey" in told.words, "of the channel that they are in"
                assert ("-merger" in told.words) is shown, (text, person.name)
        for channel, is_known in ((fake.general, False), (fake.random, True)):
            told = await (await fake.command(f"list in #{channel.name}", user=guest, channel=fake.direct(guest))).answer()
            assert ("gpu-systems" in told.words) is is_known, told.words
        assert [(each.method, each.error) for each in fake.rejected] == []


async def test_discord_tells_nobody_what_is_subscribed_where_they_see_nothing(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        board = fake.channel(desk.guild, "board")
        board.overwrites[desk.ben.id] = (Permission(0), Permission.VIEW_CHANNEL)
        fake.let(board, may=Permission.VIEW_CHANNEL)
        for channel, words in ((board, "merger"), (desk.papers, "-survey")):
            await fake.slash("digest-manage subscribe", topic="gpu-systems", filter=words, user=desk.anna, channel=channel)
        for line, options in (("digest list", {"all": True}), ("digest history", {})):
            for person, shown in ((desk.anna, True), (desk.ben, False)):
                told = await fake.slash(line, options=options, user=person, channel=desk.papers)
                assert "survey" in told.text
                assert ("merger" in told.text) is shown, (line, person.name)
        assert (fake.wrong, fake.mentions) == ([], [])
