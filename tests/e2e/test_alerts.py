"""What is followed at once, from the words to the first alert and to its end: in Slack and in Discord, over real sockets.

Papers come from a Hugging Face, releases from a GitHub on the loopback interface. BROADSHEET_TRANSCRIPT names a file to
which what was said is written.
"""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.settings.sources import ArxivSettings, GitHubSettings, HuggingFaceSettings
from tests.bot.sources.replay import release, repository
from tests.conftest import NOW
from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.discord_desk import Transcript as DiscordTranscript
from tests.e2e.slack_desk import SlackDesk
from tests.e2e.slack_transcript import Transcript
from tests.e2e.stage import NO_SOURCES
from tests.e2e.test_spoken_in_discord import heard
from tests.fakes import slack
from tests.fakes.discord import Channel, Message
from tests.fakes.web import Answer, Asked, Web

_TOLD = os.environ.get("BROADSHEET_TRANSCRIPT", "")  # read now: each test begins without any of our variables
DAY = timedelta(days=1)
PACE = timedelta(hours=3)  # longer than the service leaves between two collections
FITS, FITS_TOO, OTHER = "Evicting the KV cache by age", "A KV cache on slow disks", "Folding proteins by hand"
CODE = "lab/pages"


class Sources:
    """What Hugging Face lists today, and what the repository has released."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.papers: list[dict[str, Any]] = []
        self.releases: list[dict[str, Any]] = []
        web.rule(self._answer)

    @property
    def papers_alone(self) -> dict[str, Any]:
        return {**NO_SOURCES, "huggingface": HuggingFaceSettings(base_url=self.web.url)}

    @property
    def releases_alone(self) -> dict[str, Any]:
        off = {"arxiv": ArxivSettings(enabled=False), "huggingface": HuggingFaceSettings(enabled=False)}
        return {**off, "github": GitHubSettings(base_url=self.web.url)}

    def lists(self, *titles: str) -> None:
        """Let these be picked today, besides those that were."""
        for title in titles:
            said = f"{title} is hard. We propose a method for it. It is twice as fast as what is used. Users gain time."
            known = {"id": f"2604.{len(self.papers) + 1:05}", "title": title, "summary": said, "upvotes": 9}
            picked = NOW.isoformat().replace("+00:00", "Z")
            times = {"publishedAt": picked, "submittedOnDailyAt": picked}
            self.papers.append({"paper": {**known, **times, "authors": [{"name": "Rui Mao"}]}, **times, "title": title})

    def _answer(self, asked: Asked) -> Answer | None:
        match asked.path:
            case "/api/daily_papers":
                today = asked.query.get("date") == f"{NOW:%Y-%m-%d}" and asked.query.get("p") == "0"
                return Answer(json.dumps(self.papers if today else []))
            case "/search/repositories":
                return Answer(json.dumps({"total_count": 0, "incomplete_results": False, "items": []}))
            case path if path == f"/repos/{CODE}":
                made = {"created_at": "2024-01-01T10:00:00Z", "description": "Pages for key-value caches", "topics": []}
                return Answer(json.dumps(repository(CODE, **made)))
            case path if path == f"/repos/{CODE}/releases":
                return Answer(json.dumps(self.releases))
        return None


@pytest.fixture
def sources(web: Web) -> Sources:
    return Sources(web)


async def collected(desk: SlackDesk | DiscordDesk, after: timedelta = PACE) -> None:
    """Let time pass, collect from the source as the service does by itself, and do what is due then."""
    desk.now += after
    await next(job for job in desk.service.jobs if job.name.startswith("collect ")).run()
    for _ in range(3):
        await desk.round(desk.now + timedelta(seconds=30))


# --- in Slack


def alerts_in_slack(desk: SlackDesk, channel: slack.Channel) -> list[slack.Message]:
    return [each for each in desk.fake.messages(channel) if (each.metadata or {}).get("event_type")]


async def test_in_slack_a_follow_is_told_at_once_of_what_fits_and_of_nothing_once_it_ended(
    tmp_path: Path, sources: Sources
) -> None:
    said = Transcript()
    async with slack_desk.sitting(tmp_path, sources=sources.papers_alone) as desk:
        fake, anna, general = desk.fake, desk.fake.anna, desk.fake.general
        said.does(anna, 'types in #general: /digest follow "KV cache" at once')
        followed = await (await fake.command('follow "KV cache" at once', channel=general)).answer()
        said.shown(followed, "#general")
        assert "KV cache is followed here now" in followed.words
        await collected(desk)
        assert alerts_in_slack(desk, general) == []

        sources.lists(FITS, OTHER)
        said.happens(f"a collection brings “{FITS}” and “{OTHER}”")
        await collected(desk)
        (alert,) = alerts_in_slack(desk, general)
        said.shown(alert, "#general")
        assert FITS in str(alert.blocks)
        assert OTHER not in str(alert.blocks)

        said.happens("a collection brings nothing new: nothing is posted")
        await collected(desk)
        assert alerts_in_slack(desk, general) == [alert]
        sources.lists(FITS_TOO)
        said.happens(f"a collection brings “{FITS_TOO}”")
        await collected(desk)
        (_, second) = alerts_in_slack(desk, general)
        said.shown(second, "#general")
        assert FITS not in str(second.blocks)

        said.does(anna, 'types in #general: /digest unfollow "KV cache"')
        ended = await (await fake.command('unfollow "KV cache"', channel=general)).answer()
        said.shown(ended, "#general")
        sources.lists("The KV cache once more")
        said.happens("a collection brings another one that fits: nothing is posted")
        await collected(desk)
        assert alerts_in_slack(desk, general) == [alert, second]
        assert fake.mentions == []
    written(said, "slack")


async def test_in_slack_one_follows_for_oneself_in_a_direct_message_and_takes_it_back(
    tmp_path: Path, sources: Sources
) -> None:
    said = Transcript()
    async with slack_desk.sitting(tmp_path, sources=sources.papers_alone) as desk:
        fake, ben, direct = desk.fake, desk.fake.ben, desk.fake.direct(desk.fake.ben)
        said.does(ben, 'writes directly: follow "KV cache" at once')
        await fake.write(direct, 'follow "KV cache" at once', user=ben)
        (followed,) = await fake.until(lambda: [each for each in fake.messages(direct) if each.is_app] or None)
        said.shown(followed, "ben, directly")
        sources.lists(FITS)
        said.happens(f"a collection brings “{FITS}”")
        await collected(desk)
        (alert,) = alerts_in_slack(desk, direct)
        said.shown(alert, "ben, directly")
        assert FITS in str(alert.blocks)
        assert alerts_in_slack(desk, fake.general) == []

        said.does(ben, "presses Undo")
        said.shown(await (await fake.click(followed, "Undo", user=ben)).answer(), "ben, directly")
        sources.lists(FITS_TOO)
        await collected(desk)
        assert alerts_in_slack(desk, direct) == [alert]
    written(said, "slack-direct")


async def test_in_slack_a_release_alone_is_told_once(tmp_path: Path, sources: Sources) -> None:
    said = Transcript()
    async with slack_desk.sitting(tmp_path, sources=sources.releases_alone) as desk:
        fake, general = desk.fake, desk.fake.general
        said.does(fake.anna, f"types in #general: /digest follow {CODE} at once")
        followed = await (await fake.command(f"follow {CODE} at once", channel=general)).answer()
        said.shown(followed, "#general")
        await collected(desk)
        assert alerts_in_slack(desk, general) == [], "a repository that is read first is no news"

        sources.releases.insert(0, release("v2.0", "2026-04-02"))
        said.happens(f"a day later a collection brings nothing but that {CODE} has released v2.0")
        await collected(desk, DAY)
        (alert,) = alerts_in_slack(desk, general)
        said.shown(alert, "#general")
        assert "v2.0" in str(alert.blocks)
        sources.releases.insert(0, release("v2.0.1", "2026-04-03"))
        await collected(desk, DAY)
        assert alerts_in_slack(desk, general) == [alert], "a correction is no event"
        sources.releases.insert(0, release("v2.1", "2026-04-04"))
        said.happens("two days later it has released v2.1")
        await collected(desk, DAY)
        (_, second) = alerts_in_slack(desk, general)
        said.shown(second, "#general")
        assert "v2.1" in str(second.blocks)
    written(said, "slack-release")


# --- in Discord


def alerts_in_discord(desk: DiscordDesk, channel: Channel) -> list[Message]:
    return [each for each in desk.fake.of_bot(channel) if " seen · " in each.text]


async def test_in_discord_a_follow_is_told_at_once_of_what_fits_and_of_nothing_once_it_ended(
    tmp_path: Path, sources: Sources
) -> None:
    said = DiscordTranscript()
    async with discord_desk.sitting(tmp_path, sources=sources.papers_alone) as desk:
        fake, anna, papers = desk.fake, desk.anna, desk.papers
        given = {"what": '"KV cache"', "rhythm": "at once"}
        asked = await fake.slash("digest-manage follow", user=anna, channel=papers, options=given)
        said.asked("Anna", '/digest-manage follow what:"KV cache" rhythm:at once', asked)
        (followed,) = await fake.posted(papers)
        said.posted(followed)
        assert "KV cache is followed here now" in followed.text
        sources.lists(FITS, OTHER)
        said.lines.append(f"(a collection brings “{FITS}” and “{OTHER}”)")
        await collected(desk)
        (alert,) = alerts_in_discord(desk, papers)
        said.posted(alert)
        assert FITS in alert.text
        assert OTHER not in alert.text

        said.lines.append("(a collection brings nothing new: nothing is posted)")
        await collected(desk)
        assert alerts_in_discord(desk, papers) == [alert]
        said.asked("Anna", "(pressed) Undo", await fake.click(followed, "Undo", user=anna))
        said.posted((await fake.posted(papers, 3))[-1])
        sources.lists(FITS_TOO)
        said.lines.append(f"(a collection brings “{FITS_TOO}”: nothing is posted)")
        await collected(desk)
        assert alerts_in_discord(desk, papers) == [alert]
        assert (fake.wrong, fake.mentions) == ([], [])
    written(said, "discord")


async def test_in_discord_one_follows_for_oneself_in_a_direct_message_and_ends_it(tmp_path: Path, sources: Sources) -> None:
    said = DiscordTranscript()
    async with discord_desk.sitting(tmp_path, sources=sources.papers_alone, mentions=True) as desk:
        direct = desk.fake.private(desk.ben)
        for line in ('follow "KV cache" at once', 'unfollow "KV cache"'):
            said.lines.append(f"Ben writes directly: {line}")
            said.posted(await heard(desk, line, channel=direct))
            sources.lists(FITS if not sources.papers else FITS_TOO)
            said.lines.append(f"(a collection brings “{sources.papers[-1]['title']}”)")
            await collected(desk)
            (alert,) = alerts_in_discord(desk, direct)
            assert FITS in alert.text
            assert alerts_in_discord(desk, desk.papers) == []
        said.posted(alert)
    written(said, "discord-direct")


async def test_in_discord_a_release_alone_is_told_once(tmp_path: Path, sources: Sources) -> None:
    async with discord_desk.sitting(tmp_path, sources=sources.releases_alone) as desk:
        given = {"what": CODE, "rhythm": "at once"}
        await desk.fake.slash("digest-manage follow", user=desk.anna, channel=desk.papers, options=given)
        await collected(desk)
        assert alerts_in_discord(desk, desk.papers) == []
        sources.releases.insert(0, release("v2.0", "2026-04-02"))
        await collected(desk, DAY)
        await collected(desk, DAY)
        (alert,) = alerts_in_discord(desk, desk.papers)
        assert "v2.0" in alert.text


def written(said: Transcript | DiscordTranscript, where: str) -> None:
    """Write it where a file is named."""
    if _TOLD:
        text = str(said) if isinstance(said, Transcript) else "\n".join(said.lines)
        Path(f"{_TOLD}.{where}").write_text(text, encoding="utf-8")
