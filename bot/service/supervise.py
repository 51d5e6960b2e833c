"""Keeping a watch going: begun again when it ends or fails, after a while that grows."""

import asyncio
import logging
import random
import time
from datetime import timedelta

from bot.errors import BotError
from bot.ports.runner import Watch

log = logging.getLogger(__name__)

# How long a watch that failed is left alone: doubled with every failure in a row; one that has lasted begins anew. The
# longest leaves time to notice a fall and to connect: however often a connection falls, people are heard again in a minute.
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(seconds=45)
LASTED = timedelta(minutes=5)


async def keep_going(watch: Watch, first_wait: timedelta = FIRST_WAIT, chance: random.Random | None = None) -> None:
    """Run the watch until this is cancelled."""
    chance = chance or random.Random()
    failures = 0
    while True:
        begun = time.monotonic()
        try:
            await watch.run()
            log.error("%s has ended, and is begun again", watch.name)
        except BotError as error:
            log.error("%s failed: %s", watch.name, error)  # noqa: TRY400 - foreseen: the sentence says what to do
        except Exception:
            log.exception("%s failed", watch.name)
        failures = 1 if time.monotonic() - begun >= LASTED.total_seconds() else failures + 1
        await asyncio.sleep(_wait(first_wait, failures, chance).total_seconds())


def _wait(first: timedelta, failures: int, chance: random.Random) -> timedelta:
    """Return the wait after so many failures, up to half of it left out by chance."""
    return min(first * (1 << min(failures - 1, 20)), LONGEST_WAIT) * chance.uniform(0.5, 1.0)
