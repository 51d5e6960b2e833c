"""What a digest left out, asked for by its button in both chats; and its numbers, taken where an item is named."""

import re
from collections.abc import Sequence
from pathlib import Path

from tests.e2e import discord_desk, slack_desk
from tests.e2e.stage import OLD
from tests.e2e.test_post import GIVEN, LINE, digests_in_discord, titles

_MORE = re.compile(r"\d+ more on topic")
_NUMBERED = re.compile(r"(\d+)\\?\. ")


def offered(labels: Sequence[str]) -> str:
    """The label of the button that lists what was left out."""
    return next(label for label in labels if _MORE.fullmatch(label))


async def test_in_slack_the_rest_is_listed_privately_and_its_numbers_are_taken(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, general = desk.fake, desk.fake.general
        subscribed = await (await fake.command(LINE, channel=general)).answer()
        await (await fake.click(subscribed, "Post now")).answer()
        await desk.round()
        (digest,) = [each for each in fake.messages(general) if (each.metadata or {}).get("event_type")]
        posted = titles(str(digest.blocks))
        before = len(fake.messages(general))

        rest = await (await fake.click(digest, offered(digest.labels))).answer()

        listed = titles(rest.words)
        assert listed
        assert set(listed) <= set(OLD) - set(posted)
        assert len(fake.messages(general)) == before, "it is for who asks alone"
        assert f"{len(posted) + 1}. " in rest.words
        saved = await (await fake.command(f"save {len(posted) + 1}", channel=general)).answer()
        assert titles(saved.words) == listed[:1]


async def test_in_discord_the_rest_is_listed_privately_and_its_numbers_are_taken(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, papers, anna = desk.fake, desk.papers, desk.anna
        await fake.slash("digest-manage subscribe", user=anna, channel=papers, options=GIVEN)
        (subscribed,) = await fake.posted(papers)
        await fake.click(subscribed, "Post now", user=anna)
        await desk.round()
        (said,) = digests_in_discord(desk)
        (digest,) = [each for each in fake.of_bot(papers) if each.text == said]
        posted = titles(said)

        rest = await fake.click(digest, offered([str(each.get("label")) for each in digest.buttons]), user=anna)

        listed = titles(rest.text)
        assert listed
        assert set(listed) <= set(OLD) - set(posted)
        assert len(posted) + 1 in [int(number) for number in _NUMBERED.findall(rest.text)]
        saved = await fake.slash(
            "digest save", user=desk.ben, channel=papers, options={"item": f"{len(posted) + 1} for gpu-systems"}
        )
        assert titles(saved.text) == listed[:1]
        assert fake.wrong == []
