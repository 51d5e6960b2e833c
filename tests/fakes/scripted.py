"""A source that gives what a test tells it to: stands for whatever is behind the Source port."""

from collections.abc import AsyncGenerator, Callable
from datetime import datetime, timedelta

from bot.models import Batch, SourceState

Step = Batch | Exception | Callable[[], None]


class Scripted:
    """Yields the batches of its script, raises its exceptions, and remembers the watermarks it was given."""

    def __init__(self, name: str, *steps: Step) -> None:
        self.name = name
        self.title = name.title()
        self.steps = list(steps)
        self.given: list[str] = []

    async def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        self.given.append(state.watermark)
        for step in self.steps:
            if isinstance(step, Batch):
                yield step
            elif isinstance(step, Exception):
                raise step
            else:
                step()

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        return (state.asked or now) + every

    async def check(self, now: datetime) -> str:
        return "answers"
