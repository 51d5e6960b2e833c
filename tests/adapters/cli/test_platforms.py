"""Which platforms `run` opens, and what becomes of one that cannot be opened."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr

from adapters.cli.platforms import asked, check_platforms, configured, opened
from bot.app import App, built
from bot.errors import DeliveryError, SettingsError, StoreError
from bot.models import Installation
from bot.ports.messenger import Messenger, Visibility
from bot.service.platforms import PlatformContext
from bot.settings.chat import DiscordSettings, SlackSettings
from bot.settings.load import Settings
from tests.conftest import NOW
from tests.fakes.patience import PATIENCE
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

NOWHERE = "http://127.0.0.1:9"  # the port of "discard", which nobody listens to
SLACK = SlackSettings(bot_token=SecretStr("xoxb-1-a"), app_token=SecretStr("xapp-1-a"), api_url=f"{NOWHERE}/api")
DISCORD = DiscordSettings(
    token=SecretStr("MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0123456789ab"),
    api_url=NOWHERE,
    gateway_url="ws://127.0.0.1:9",
    cdn_url=NOWHERE,
)
INSTALLABLE = SLACK.model_copy(
    update={
        "client_id": "1.2",
        "client_secret": SecretStr("s3cret"),
        "public_url": "https://digest.example.org",
        "encryption_keys": SecretStr(Fernet.generate_key().decode()),
        "port": 0,
    }
)


class Broken(MemoryStore):
    """A store of which the installations cannot be read for a while."""

    broken = True

    def __init__(self) -> None:
        super().__init__()
        self.kept_chats, self.chats = self.chats, instead(self.chats, installations=self.installations)

    async def installations(self, platform: str, *, place: str = "") -> Sequence[Installation]:
        if self.broken:
            raise StoreError("The database is away.")
        return await self.kept_chats.installations(platform, place=place)


@asynccontextmanager
async def app(folder: Path, **sections: object) -> AsyncIterator[App]:
    given = {"database": folder / "b.sqlite3", **sections}
    async with built(Settings(**given)) as made:  # type: ignore[arg-type]
        yield made


def line(made: App, store: MemoryStore | None = None) -> PlatformContext:
    known = made.platform_context(lambda: NOW)
    return known if store is None else replace(known, chats=store.chats)


async def test_nothing_is_opened_where_nothing_is_configured(tmp_path: Path) -> None:
    async with app(tmp_path) as made, opened(made.settings, line(made), {}) as found:
        assert (found.platforms, found.pending) == ((), ())
        assert configured(made.settings) == {}
        assert await check_platforms(made.settings, NOW, made.store.chats) == []


@pytest.mark.parametrize(
    ("command", "loaded"),
    # The demo shows what Slack would get, which takes no library.
    [("version", []), ("topics", []), ("demo", [])],
)
async def test_without_a_platform_in_the_settings_no_library_of_one_is_imported(
    command: str, loaded: list[str], tmp_path: Path
) -> None:
    code = (
        "import atexit, sys; from adapters.cli.main import main; import adapters.cli.platforms;"
        "platforms = {'slack_sdk', 'slack_sdk.socket_mode', 'slack_bolt', 'discord', 'cryptography'};"
        "atexit.register(lambda: print(sorted(platforms & sys.modules.keys()), file=sys.stderr));"
        "main()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", code, command),
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert out
    assert err.decode().splitlines()[-1] == str(loaded)


@pytest.mark.parametrize("name", ["slack", "discord"])
async def test_a_platform_is_asked_who_sees_what_beside_a_service_that_has_its_address(name: str, tmp_path: Path) -> None:
    async with await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0) as taken:
        slack = INSTALLABLE.model_copy(update={"host": "127.0.0.1", "port": taken.sockets[0].getsockname()[1]})
        async with app(tmp_path, slack=slack, discord=DISCORD) as made:
            messengers: dict[str, Messenger] = {}
            async with asked(made.settings, line(made), messengers, name):
                found: object = messengers[name]
                assert list(messengers) == [name]
                assert isinstance(found, Visibility)
                with pytest.raises(DeliveryError):
                    await found.open_to_all(f"{name}:123456789", ["123456789"])


async def test_nobody_is_asked_where_nothing_is_configured(tmp_path: Path) -> None:
    for name in ("slack", "discord", "email", "local"):
        messengers: dict[str, Messenger] = {}
        async with app(tmp_path) as made, asked(made.settings, line(made), messengers, name):
            assert messengers == {}


async def test_each_platform_that_is_configured_is_opened_though_it_cannot_be_reached(tmp_path: Path) -> None:
    async with app(tmp_path, slack=SLACK, discord=DISCORD) as made, opened(made.settings, line(made), {}) as found:
        assert [each.messenger.platform for each in found.platforms] == ["slack", "discord"]
        assert found.pending == ()
        service = await made.service(lambda: NOW, found.platforms)
        assert set(made.messengers) == {"slack", "discord"}
        assert {watch.name for watch in service.watches} > {"listening to Slack", "listening to Discord"}
        assert set((await service.health.measure()).platforms) == {"slack", "discord"}


async def test_settings_that_cannot_work_are_refused_at_the_start(tmp_path: Path) -> None:
    wrong = SLACK.model_copy(update={"app_token": SecretStr("xoxb-no")})
    async with app(tmp_path, slack=wrong) as made:
        with pytest.raises(SettingsError, match="app_token"):
            async with opened(made.settings, line(made), {}):
                pass


async def test_one_that_cannot_be_opened_stands_by_and_stops_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, messengers = Broken(), dict[str, Messenger]()
    async with (
        app(tmp_path, slack=INSTALLABLE, discord=DISCORD) as made,
        opened(made.settings, line(made, store), messengers) as found,
    ):
        assert [each.messenger.platform for each in found.platforms] == ["discord"]
        (pending,) = found.pending
        assert pending.trouble(NOW) == "The database is away."
        assert "slack cannot be opened, and is tried again: The database is away." in caplog.messages
        service = await made.service(lambda: NOW, found.platforms, found.pending)
        assert (await service.health.measure()).platforms["slack"] is False

        store.broken = False
        (watch,) = pending.watches
        running = asyncio.ensure_future(watch.run())
        async with asyncio.timeout(PATIENCE):
            while "slack" not in messengers:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.wait([running])
        assert messengers == {}


async def test_what_cannot_be_reached_is_for_the_doctor_to_tell(tmp_path: Path) -> None:
    now: datetime = NOW
    async with app(tmp_path, slack=SLACK) as made:
        found = await check_platforms(made.settings, now, made.store.chats)
    assert found
    assert not any(each.well for each in found)
    assert all(each.fault for each in found)
    assert "xoxb-1-a" not in str(found)
