"""What nobody has collected, by its link: fetched from its service, shown, saved; over real sockets in Slack and Discord."""

import asyncio
import base64
import gzip
import json
import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.settings.sources import ArxivSettings, GitHubSettings, HuggingFaceSettings
from tests.bot.sources.replay import recorded
from tests.conftest import NOW
from tests.e2e import discord_desk, slack_desk
from tests.e2e.desk import Desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import SlackDesk
from tests.e2e.stage import ITEMS
from tests.fakes.discord import Answer as First
from tests.fakes.web import Answer, Asked, Web
from tests.fakes.works import paper

PAYLOADS = Path(__file__).parents[1] / "payloads"
PAPER = "1605.08386"  # what `api-one.xml` is the answer for
TITLE = "Heat-bath random walks with Markov bases"
NEAR = paper(
    "2603.00077",
    title="Random walks on the lattice points of a polytope",
    abstract="Heat-bath random walks on graphs of lattice points mix fast. We bound their diameter with Markov bases.",
    seen=NOW - timedelta(hours=1),
)
_TOLD = os.environ.get("BROADSHEET_TRANSCRIPT", "")  # read now: each test begins without any of our variables


def sources(url: str) -> Mapping[str, Any]:
    """Settings that send every source there."""
    return {
        "arxiv": ArxivSettings(feed_url=f"{url}/atom", api_url=f"{url}/api/query", oai_url=f"{url}/oai", seconds_between=0),
        "huggingface": HuggingFaceSettings(base_url=url),
        "github": GitHubSettings(base_url=url),
    }


@pytest.fixture
def services(web: Web) -> Web:
    """The three services with what was recorded of each: one paper, one repository, and nothing else."""

    def arxiv(asked: Asked) -> Answer | None:
        if asked.path != "/api/query":
            return None
        name = "api-one.xml" if asked.query["id_list"] == PAPER else "api-unknown-id.xml"
        return Answer((PAYLOADS / "arxiv" / name).read_bytes())

    picked = json.loads(gzip.decompress((PAYLOADS / "huggingface" / "2026-04-28.json.gz").read_bytes()))[0]["paper"]
    picked |= {"id": PAPER, "title": TITLE, "upvotes": 23, "submittedOnDailyAt": "2016-05-27T00:00:00.000Z"}
    readme = base64.b64encode(b"# PyGithub\n\nPyGithub is a library to use GitHub's interface from Python.").decode()
    web.rule(arxiv)
    web.answer(f"/api/papers/{PAPER}", Answer(json.dumps(picked)))
    web.answer("/repos/pygithub/pygithub", recorded("repository")[0].answer())
    web.answer("/repos/PyGithub/PyGithub/readme", Answer(json.dumps({"encoding": "base64", "content": readme})))
    return web


class Transcript:
    """What was asked and answered, kept where BROADSHEET_TRANSCRIPT names a file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, where: str, asked: str, answered: str) -> str:
        self.lines += [f"{where}: {asked}", *(f"    {line}" for line in answered.splitlines()), ""]
        return answered

    def write(self, where: str) -> None:
        if _TOLD:
            Path(f"{_TOLD}.{where}").write_text("\n".join(self.lines), encoding="utf-8")


async def test_an_unknown_paper_in_slack_is_fetched_shown_saved_and_compared(tmp_path: Path, services: Web) -> None:
    said = Transcript()
    async with slack_desk.sitting(tmp_path, items=(*ITEMS, NEAR), sources=sources(services.url)) as desk:
        fake, ben = desk.fake, desk.fake.ben

        async def ask(text: str, told: str) -> None:
            said.add("Slack", f"/digest {text}", (await asked(desk, text, told)).words)

        async def press(label: str, told: str) -> None:
            answer = await (await fake.click(card, label, user=ben)).answer_with(told)
            assert answer.shown_to == ben.id
            said.add("Slack", f"(pressed) {label}", answer.words)

        card = await asked(desk, f"<https://arxiv.org/pdf/{PAPER}v1|arxiv.org/pdf/{PAPER}v1>", TITLE)
        said.add("Slack", f"/digest arxiv.org/pdf/{PAPER}v1", card.words)
        assert (card.shown_to, card.channel) == (ben.id, fake.general.id)
        await press("Abstract", "Graphs on lattice points are studied")
        await press("Save", "Saved")
        await ask(f"similar {PAPER}", NEAR.title)
        await ask("saved", TITLE)
        await ask("github.com/pygithub/pygithub", "PyGithub")
        await ask("2603.99999", "Neither arXiv nor Hugging Face has a paper 2603.99999.")
        await ask("nobody/nothing", "GitHub has no public repository nobody/nothing.")
        await tell_failures(desk, services, said)
        await keeps_to_itself(desk, services)
    said.write("slack")


async def asked(desk: SlackDesk, text: str, told: str) -> Any:
    """Return the answer with these words, which may come after word that it is looked for."""
    return await (await desk.fake.command(text, user=desk.fake.ben, channel=desk.fake.general)).answer_with(told)


async def tell_failures(desk: SlackDesk, services: Web, said: Transcript) -> None:
    """Say that a service is overloaded, and go on once it is not."""
    services.answer("/repos/lab/pager", Answer(status=500))
    told = await asked(desk, "lab/pager", "GitHub does not answer as it should just now.")
    said.add("Slack", "/digest lab/pager", told.words)
    whole = json.loads(recorded("repository")[0].body) | {"full_name": "lab/pager"}
    services.answer("/repos/lab/pager", Answer(json.dumps(whole)))
    again = await (await desk.fake.click(told, "Try again", user=desk.fake.ben)).answer_with("lab/pager")
    said.add("Slack", "(pressed) Try again", again.words)


async def keeps_to_itself(desk: SlackDesk, services: Web) -> None:
    """Ask nothing but the services' own interfaces, and post nothing because of it."""
    paths = {each.path for each in services.asked}
    assert paths <= {
        *("/api/query", f"/api/papers/{PAPER}", "/api/papers/2603.99999", "/rate_limit"),
        *("/repos/pygithub/pygithub", "/repos/PyGithub/PyGithub/readme", "/repos/nobody/nothing"),
        *("/repos/lab/pager", "/repos/lab/pager/readme"),
    }
    one = await desk.app.store.items.find([f"arxiv:{PAPER}", "github:pygithub/pygithub"])
    assert {item.seen for item in one.values()} == {desk.now}
    before = len(services.asked)
    await desk.round()
    await asked(desk, f"why {PAPER} for gpu-systems", "too old to be news")
    assert len(services.asked) == before


async def test_an_unknown_paper_in_discord_is_fetched_shown_saved_and_compared(tmp_path: Path, services: Web) -> None:
    said = Transcript()
    async with discord_desk.sitting(tmp_path, items=(*ITEMS, NEAR), sources=sources(services.url)) as desk:
        fake, ben = desk.fake, desk.ben

        async def ask(command: str, **options: Any) -> Any:
            found = await fake.slash(f"digest {command}", user=ben, channel=desk.papers, **options)
            written = " ".join(f"{name}:{value}" for name, value in options.items())
            said.add("Discord", f"/digest {command} {written}", found.text)
            return found

        shown = await ask("search", query=f"<https://huggingface.co/papers/{PAPER}>")
        assert shown.first is First.DEFERRED
        (card,) = shown.messages
        assert TITLE in card.text
        assert card.is_private
        whole = await fake.click(card, "Abstract", user=ben)
        assert "Graphs on lattice points are studied" in said.add("Discord", "(pressed) Abstract", whole.text)
        assert whole.messages[0].is_private
        saved = await fake.click(card, "Save", user=ben)
        assert "Saved" in said.add("Discord", "(pressed) Save", saved.text)
        similar = await ask("similar", item=PAPER)
        assert NEAR.title in similar.text
        assert "PyGithub" in (await ask("show", item="github.com/PyGithub/PyGithub")).text
        assert "Neither arXiv nor Hugging Face has a paper 2603.99999." in (await ask("show", item="2603.99999")).text
        await two_at_a_time(desk, services)
        assert (fake.wrong, fake.mentions) == ([], [])
    said.write("discord")


async def two_at_a_time(desk: DiscordDesk, services: Web) -> None:
    """Tell who asks twice at once to wait for the first."""
    whole = json.dumps(json.loads(recorded("repository")[0].body) | {"full_name": "lab/pager"})
    reached, held = asyncio.Event(), asyncio.Event()

    def slow(asked: Asked) -> Answer | None:
        if asked.path != "/repos/lab/pager":
            return None
        reached.set()
        return Answer(whole, held=held)

    async def show(item: str) -> str:
        return (await desk.fake.slash("digest show", item=item, user=desk.ben, channel=desk.papers)).text

    services.rule(slow)
    first = asyncio.ensure_future(show("lab/pager"))
    await reached.wait()
    assert "still being fetched" in await show("lab/other")
    held.set()
    assert "lab/pager" in await first


async def test_in_the_terminal_what_is_not_known_is_fetched_too_and_a_network_that_is_down_is_told(
    desk: Desk, services: Web
) -> None:
    desk.settle(url=services.url)
    shown = await desk.run(f"arxiv.org/abs/{PAPER}")
    assert TITLE in shown.out
    assert "Saved" in (await desk.run("save", PAPER)).out
    desk.settle("fetch_on_request = false", url=services.url)
    refused = await desk.run("show", "2603.99999")
    assert "fetches nothing else here" in refused.err
    desk.settle(url="http://127.0.0.1:9")
    down = await desk.run("show", "2603.99999")
    assert "arXiv could not be reached: the connection failed." in down.err
