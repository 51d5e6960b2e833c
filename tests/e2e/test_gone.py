"""A platform says that a channel is gone: what is posted there pauses, and its owner is told by the running service."""

from datetime import timedelta
from pathlib import Path

from bot.app import built
from bot.errors import Delayed, Reach, Refused
from bot.settings.load import Settings
from tests.bot.deliveries import change, subscription
from tests.conftest import NOW
from tests.fakes.transcript import Clock, Transcript


class Connected(Transcript):
    """A platform that is connected, and whose first answer to `tell` is that it takes nothing now."""

    watches = ()
    busy = True

    @property
    def messenger(self) -> Transcript:
        return self

    def trouble(self, now: object) -> str:
        return ""

    async def tell(self, workspace: str, person: str, text: str) -> None:
        if self.busy:
            self.busy = False
            raise Delayed("Too many.", retry_after=timedelta(minutes=1), reach=Reach.WORKSPACE)
        await super().tell(workspace, person, text)


async def test_what_is_gone_is_paused_and_its_owner_told_once_though_it_is_said_twice_and_nobody_could_be_told_at_once(
    tmp_path: Path,
) -> None:
    clock = Clock(NOW)
    chat = Connected(clock)
    async with built(Settings(database=tmp_path / "b.sqlite3")) as app:
        await app.store.workspaces.save_subscription(subscription(), change(), replaces=0)
        line = app.platform_context(clock)
        service = await app.service(clock, [chat])
        jobs = {job.name: job for job in service.jobs}
        await line.channel_closed("chat:T1", "C1", "It was said too late.")
        await jobs["tell"].run()
        assert not any(each.paused for each in await app.store.workspaces.subscriptions("chat:T1"))

        chat.closed = {"C1": Refused("It is gone."), "": Refused("It is gone.", reach=Reach.WORKSPACE)}
        for _ in range(2):
            await line.channel_closed("chat:T1", "C1", "The channel was deleted.")
            await jobs["tell"].run()
        ((held),) = await app.store.workspaces.subscriptions("chat:T1")
        assert (held.paused, held.paused_because) == (True, "The channel was deleted.")
        assert chat.told == []

        for _ in range(5):
            clock.advance(timedelta(minutes=1))
            await jobs["tell"].run()
        assert [(workspace, person) for workspace, person, _ in chat.told] == [("chat:T1", "U-ada")]

        await line.channel_closed("chat:T1", "", "The app was removed.")
        await jobs["tell"].run()
        assert len(chat.told) == 1

        chat.closed = {}
        line.channel_opened("chat:T1", "")
        await jobs["resume"].run()
        await jobs["tell"].run()
        ((held),) = await app.store.workspaces.subscriptions("chat:T1")
        assert not held.paused
        assert "go on" in chat.told[1][2]
        assert len(chat.told) == 2
