"""A channel's first minutes: greeted, subscribed by the form that the greeting offers, its first digest offered and posted.

BROADSHEET_TRANSCRIPT names a file to which what was said in both chats is written.
"""

import os
from pathlib import Path

from tests.e2e import discord_desk, slack_desk
from tests.e2e.test_greeting import HELLO, invited

_TOLD = os.environ.get("BROADSHEET_TRANSCRIPT", "")  # read now: each test begins without any of our variables


def said(lines: list[str], who: str, text: str, labels: list[str]) -> None:
    """Note what Broadsheet said, and what can be pressed below it."""
    lines.append(f"  Broadsheet, {who}:")
    lines += [f"  | {line}" for line in text.splitlines()]
    if labels:
        lines.append(f"  | {' '.join(f'[{label}]' for label in dict.fromkeys(labels))}")


async def test_a_new_channel_is_greeted_subscribed_and_has_its_first_digest_in_both_chats(tmp_path: Path) -> None:
    for chat in ("slack", "discord"):
        (tmp_path / chat).mkdir()
    lines = [
        "Slack",
        "",
        *await in_slack(tmp_path / "slack"),
        "",
        "",
        "Discord",
        "",
        *await in_discord(tmp_path / "discord"),
    ]
    if _TOLD:
        Path(_TOLD).write_text("\n".join(lines) + "\n", encoding="utf-8")  # noqa: ASYNC240 - at the end of the test


async def in_slack(folder: Path) -> list[str]:
    lines = ["anna writes /invite @Broadsheet in the private channel #secret"]
    async with slack_desk.sitting(folder) as desk:
        fake, ben, secret = desk.fake, desk.fake.ben, desk.fake.secret
        secret.members.add(ben.id)
        await fake.invite(secret)
        (greeting,) = await fake.until(lambda: fake.messages(secret))
        assert HELLO in greeting.words
        said(lines, "to everybody in #secret", greeting.text, greeting.labels)

        view = await (await fake.click(greeting, "Subscribe", user=ben)).view()
        (option,) = await fake.options(view, "Topic", "gpu")
        view = await (await fake.choose(view, "Topic", option)).view()
        await fake.submit(view, {})
        lines += ["", f"ben presses [Subscribe], and in the form {view.title!r} chooses GPU systems"]
        subscribed = (await fake.until(lambda: fake.messages(secret)[1:]))[0]
        assert "post now?" in subscribed.words
        said(lines, "to everybody in #secret", subscribed.text, subscribed.labels)

        told = await (await fake.click(subscribed, "Post now", user=ben)).answer()
        await desk.round()
        lines += ["", "ben presses [Post now]"]
        said(lines, "to ben alone", told.text, told.labels)
        digest = (await fake.until(lambda: [each for each in fake.messages(secret) if " seen · " in each.text]))[0]
        said(lines, "to everybody in #secret", digest.text, digest.labels)
        assert [(each.method, each.error) for each in fake.rejected] == []
        assert fake.mentions == []
    return lines


async def in_discord(folder: Path) -> list[str]:
    lines = ["Anna invites Broadsheet to the server, which says in #lobby who came"]
    async with discord_desk.sitting(folder) as desk:
        fake, anna = desk.fake, desk.anna
        lobby = desk.guild.system = fake.channel(desk.guild, "lobby")
        await invited(desk)
        (greeting,) = await fake.posted(lobby)
        assert HELLO in greeting.text
        said(lines, "to everybody in #lobby", greeting.text, [str(each["label"]) for each in greeting.buttons])

        opened = await fake.click(greeting, "Subscribe", user=anna)
        assert opened.form is not None
        sent = await fake.submit(opened, {"topic": "gpu-systems"})
        lines += ["", "Anna presses [Subscribe], and in the form chooses GPU systems"]
        subscribed = (await fake.posted(lobby, 2))[1]
        assert "post now?" in subscribed.text
        said(lines, "to everybody in #lobby", subscribed.text, [str(each["label"]) for each in subscribed.buttons])
        assert all("did not work" not in each.text for each in sent.messages)

        told = await fake.click(subscribed, "Post now", user=anna)
        await desk.round()
        lines += ["", "Anna presses [Post now]"]
        said(lines, "to Anna alone", told.text, [])
        digest = (await fake.posted(lobby, 3))[2]
        assert " seen · " in digest.text
        said(lines, "to everybody in #lobby", digest.text, [str(each["label"]) for each in digest.buttons])
        assert (fake.wrong, fake.mentions) == ([], [])
    return lines
