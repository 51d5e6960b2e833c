"""The pages about installing and upgrading, done: from nothing to a digest in Slack, and back from an upgrade."""

import asyncio
import os
import re
import shlex
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.cli.exits import Exit
from adapters.slack.install.manifest import manifest
from bot.settings.chat import SlackSettings
from tests.e2e.desk import Desk
from tests.fakes import slack
from tests.fakes.forked import ROOT
from tests.fakes.patience import PATIENCE

INSTALL, UPGRADE = ROOT / "docs" / "install.md", ROOT / "docs" / "upgrade.md"
BEGUN = 1775018100.0  # 2026-04-01 04:35 UTC, when the recorded announcement is out
NOW = ("--now", "2026-04-01T04:35:00+00:00")
INIT = (
    "broadsheet init --chat slack --token-file bot-token --app-token-file app-token --zone Europe/Zurich"
    " --contact ada@example.org"
)
FENCE = "<!-- transcript -->\n```console\n"
SUBSCRIBE = "/digest subscribe gpu-systems weekdays at 09:00"


def masked(text: str) -> str:
    """The text without what differs from run to run: numbers, times, where a person's home is."""
    return re.sub(r"\d[\d,.:]*", "N", re.sub(r" +# \d+\.\d s$", "", text, flags=re.MULTILINE))


class Session:
    """What was typed and said, with how long each took."""

    def __init__(self, desk: Desk, variables: dict[str, str]) -> None:
        self._desk, self._variables, self.text = desk, variables, ""

    async def types(self, line: str, since: float | None = None) -> str:
        """Type a command of the page, and note what it says; how long it took is counted from then."""
        begun = since or time.monotonic()
        words = shlex.split(line)[1:]
        ran = await self._desk.run(*(NOW if words[0] != "init" else ()), *words, **self._variables)
        assert ran.status == Exit.OK, ran.out + ran.err
        self.note(f"$ {line}", ran.out, time.monotonic() - begun)
        return ran.out

    def note(self, line: str, said: str, seconds: float) -> None:
        said = said.replace(str(self._desk.folder), "/home/ada")
        self.text += f"{line:<72}  # {seconds:.1f} s\n" + "".join(f"{each}\n" for each in said.rstrip().splitlines())


@asynccontextmanager
async def serving(desk: Desk, variables: dict[str, str]) -> AsyncIterator[None]:
    service = await desk.start(*NOW, "run", **variables)
    try:
        yield
    finally:
        service.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(service.communicate(), PATIENCE)
    assert service.returncode == Exit.OK, err.decode()
    assert "Traceback" not in err.decode(), err.decode()
    assert "xoxb" not in err.decode()


async def waited_for(desk: Desk, variables: dict[str, str], *words: str, until: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not re.search(until, (await desk.run(*NOW, *words, **variables)).out):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.2)


async def test_from_nothing_to_a_digest_in_slack_as_the_page_tells_it(desk: Desk) -> None:
    (desk.folder / "broadsheet.toml").unlink()
    begun = time.time()
    asked = manifest(SlackSettings(), socket=True, url="", name="Broadsheet")
    async with slack.running(tiers=False, clock=lambda: BEGUN + time.time() - begun, manifest=asked) as fake:
        variables = {
            "BROADSHEET_SLACK__API_URL": fake.api_url,
            "BROADSHEET_ARXIV__FEED_URL": f"{desk.url}/atom",
            "BROADSHEET_ARXIV__API_URL": f"{desk.url}/api/query",
            "BROADSHEET_ARXIV__OAI_URL": f"{desk.url}/oai",
            "BROADSHEET_ARXIV__SECONDS_BETWEEN": "0",
            "BROADSHEET_HUGGINGFACE__BASE_URL": desk.url,
            "BROADSHEET_GITHUB__BASE_URL": desk.url,
        }
        for name, token in (("bot-token", fake.bot_token), ("app-token", fake.app_token)):
            (desk.folder / name).write_text(token)
            (desk.folder / name).chmod(0o600)
        session = Session(desk, variables)
        await session.types(INIT)
        before = time.monotonic()
        async with serving(desk, variables):
            await fake.connected()
            await waited_for(desk, variables, "doctor", "--health", until="^ok ")
            session.note("$ broadsheet run 2> run.log &", "", time.monotonic() - before)
            await session.types("broadsheet doctor --health")
            for source in ("arXiv", "Hugging Face", "GitHub"):
                await waited_for(desk, variables, "status", until=rf"{source} +well")
            await session.types("broadsheet status", since=before)
            await subscribed(fake, session)
    page = INSTALL.read_text(encoding="utf-8")
    begins, ends = page.index(FENCE) + len(FENCE), page.index("```\n", page.index(FENCE) + len(FENCE))
    if os.environ.get("UPDATE_GOLDEN") == "1":
        page = page[:begins] + session.text + page[ends:]
        INSTALL.write_text(page, encoding="utf-8")
        ends = begins + len(session.text)
    assert masked(session.text) == masked(page[begins:ends]), "look at it, then UPDATE_GOLDEN=1"


async def subscribed(fake: slack.FakeSlack, session: Session) -> None:
    begun = time.monotonic()
    answer = await (await fake.command(SUBSCRIBE)).answer()
    session.note(f"[#general] {SUBSCRIBE}", answer.text, time.monotonic() - begun)
    begun = time.monotonic()
    await fake.click(answer, "Post now")
    found = await fake.until(lambda: [each for each in fake.messages(fake.general) if "seen · " in each.words])
    said = "\n".join([found[0].words.splitlines()[0], "…", found[0].words.splitlines()[-1]])
    session.note("[#general] presses Post now", said, time.monotonic() - begun)


async def test_an_upgrade_is_gone_back_from_as_the_page_tells_it(desk: Desk) -> None:
    await desk.run("collect")
    await desk.run("subscribe", "gpu-systems")
    blocks = re.findall(r"```console\n(.*?)```", UPGRADE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines() if line.strip()]
    assert [line.split()[1] for line in lines] == ["version", "db", "db", "db", "doctor", "db", "doctor"]

    for line in lines:
        words = shlex.split(line)[1:]
        if words[:2] == ["db", "restore"]:
            await desk.run("unsubscribe", "gpu-systems")
        ran = await desk.run(*words, *(["--yes"] if "restore" in words else ["--offline"] if "doctor" in words else []))
        assert ran.status == Exit.OK, (line, ran.out, ran.err)

    assert "gpu-systems" in (await desk.run("list")).out
    assert [path.name for path in sorted(desk.database.parent.glob("*.before-*"))]
