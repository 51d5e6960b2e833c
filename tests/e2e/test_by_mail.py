"""Digests by e-mail, asked for in both chats: the same in both, for who asks alone, and no address is a link."""

import re
from pathlib import Path

from bot.commands import parse
from bot.models import is_mail
from tests.e2e import discord_desk, slack_desk
from tests.e2e.desk import Desk
from tests.e2e.test_parity import Told, in_discord, in_slack
from tests.fakes.letters import Mailbox
from tests.fakes.smtp import HOST, running

ME = "me@lab.example"
PAUSE = f"pause gpu-systems by email {ME}"
SUBSCRIBE = "digest-manage subscribe"
LINES = (
    f"subscribe gpu-systems weekdays at 07:00 in Europe/Zurich top 3 by email {ME}",
    "confirm CODE",
    "list all",
    f"list by email {ME}",
    f"status by email {ME}",
    f"pause gpu-systems by email {ME}",
    f"resume gpu-systems by email {ME}",
    f"filter gpu-systems here add -survey by email {ME}",
    f"settings duplicates here by email {ME}",
    "settings duplicates",
    f"pause gpu-systems by email {ME}",
    f"unsubscribe gpu-systems by email {ME}",
    f"subscribe nothing-like-it by email {ME}",
    "pause gpu-systems by email nobody@lab.example",
    "confirm 000000",
    f"forget {ME}",
)
_CHANNEL = re.compile(r"mail:[0-9a-f]{16}\.[0-9a-f]{6}")


def actions(told: Told) -> set[tuple[str, str]]:
    """What the buttons of an answer do, each recipient's channel as any other's."""
    return {(label, _CHANNEL.sub("mail:it", command)) for label, command in told.actions}


async def test_what_is_asked_for_an_address_is_answered_the_same_in_both_chats(tmp_path: Path) -> None:
    (tmp_path / "slack").mkdir()
    (tmp_path / "discord").mkdir()
    async with slack_desk.sitting(tmp_path / "slack") as slack, discord_desk.sitting(tmp_path / "discord") as discord:
        boxes = [Mailbox(), Mailbox()]
        slack.app.messengers["email"], discord.app.messengers["email"] = boxes  # type: ignore[assignment]
        for line in LINES:
            codes = [line.replace("CODE", box.code if box.letters else "") for box in boxes]
            one, other = await in_slack(slack, codes[0]), await in_discord(discord, parse(codes[1]))
            assert one.items == other.items, line
            assert actions(other) <= actions(one), line
            assert one.items or actions(one) == actions(other), (
                f"{line}: where entries have actions of their own they stand otherwise"
            )
            assert all(ME not in command for _, command in one.actions), line
            for told in (one, other):
                assert "mailto:" not in told.text, line
                assert not re.search(r"This does: [^'\"]*mail:", told.text), line
                assert not re.search(rf"<[^<>]*{ME}", told.text), line
                assert not re.search(rf"'url': '[^']*{ME}", told.text), line
        assert [each[0] for each in boxes[0].letters] == [each[0] for each in boxes[1].letters] == [ME]
        assert slack.fake.messages(slack.fake.general) == [], "all of it for who asked alone"
        assert discord.fake.of_bot(discord.papers) == []
        assert (discord.fake.wrong, discord.fake.mentions) == ([], [])
        assert [(each.method, each.error) for each in slack.fake.rejected] == []
        assert await slack.app.store.workspaces.subscriptions(slack_desk.WORKSPACE) == []
        assert await discord.app.store.workspaces.subscriptions(discord.workspace) == []


async def test_each_chat_spells_how_the_code_is_typed(tmp_path: Path) -> None:
    (tmp_path / "slack").mkdir()
    (tmp_path / "discord").mkdir()
    line = f"subscribe gpu-systems by email {ME}"
    async with slack_desk.sitting(tmp_path / "slack") as desk:
        desk.app.messengers["email"] = Mailbox()  # type: ignore[assignment]
        told = await (await desk.fake.command(line, channel=desk.fake.general)).answer()
        assert "/digest confirm 123456 here, with that code" in " ".join(told.words.split())
        assert f"the mail to {ME}" in told.words
    async with discord_desk.sitting(tmp_path / "discord") as discord:
        discord.app.messengers["email"] = Mailbox()  # type: ignore[assignment]
        options = {"topic": "gpu-systems", "email": ME}
        asked = await discord.fake.slash(SUBSCRIBE, user=discord.anna, channel=discord.papers, options=options)
        assert asked.messages[0].is_private
        assert re.search(r"</digest-manage confirm:\d+> `code:123456` here", asked.text)


async def test_who_writes_directly_has_their_own_addresses_and_no_lists(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        desk.app.messengers["email"] = box = Mailbox()  # type: ignore[assignment]
        told = await in_direct(desk, {"topic": "gpu-systems", "list": "papers@lists.lab.example"})
        assert "Only administrators" in told
        assert "A code was sent" in await in_direct(desk, {"topic": "gpu-systems", "email": ME})
        assert box.addresses == [ME]


async def in_direct(desk: discord_desk.DiscordDesk, options: dict[str, str]) -> str:
    """What Ben is told who subscribes in his conversation with us."""
    asked = await desk.fake.slash(SUBSCRIBE, user=desk.ben, channel=desk.fake.private(desk.ben), options=options)
    return asked.text


async def test_what_was_subscribed_is_sent_to_nobody_before_it_was_confirmed(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        desk.app.messengers["email"] = box = Mailbox()  # type: ignore[assignment]
        await in_slack(desk, f"subscribe gpu-systems at once by email {ME}")
        assert await desk.app.store.workspaces.subscriptions(slack_desk.WORKSPACE) == []
        await in_slack(desk, f"confirm {box.code}")
        (held,) = await desk.app.store.workspaces.subscriptions(slack_desk.WORKSPACE)
        assert is_mail(held.channel)


async def test_the_terminal_sends_a_code_by_the_relay_and_says_where_there_is_none(desk: Desk) -> None:
    line = ("subscribe", "gpu-systems", "weekdays", "by", "email", ME)
    none = await desk.run(*line)
    assert "No e-mail is set up here" in none.err
    async with running() as relay:
        desk.settle(extra=f'[email]\nhost = "{HOST}"\nport = {relay.port}\ntls = "off"\nsender = "papers@lab.example"\n')
        asked = await desk.run(*line)
        assert "confirm 123456 here, with that code" in asked.out
        (letter,) = relay.taken
        code = re.search(r"confirm (\d{6})", letter.parsed.get_content())
        assert code is not None
        wrong = await desk.run("confirm", f"{(int(code[1]) + 1) % 10**6:06}")
        assert "not a code that holds" in wrong.err
        done = await desk.run("confirm", code[1])
        assert f"{ME} is confirmed." in done.out
        listed, paused = await desk.run("list", "all"), await desk.run(*PAUSE.split())
        assert f"by e-mail to {ME}: GPU systems" in " ".join(listed.out.split())
        assert f"broadsheet resume gpu-systems by email {ME}" in paused.out
        told = (none, asked, wrong, done, listed, paused)
        assert all(ME not in each.err for each in told)
        assert all("mail:" not in each.out for each in told)
        assert relay.wrong == []
