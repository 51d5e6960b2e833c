"""Letters to an address that is to be confirmed: written by whoever can send them now."""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta

from bot.errors import DeliveryError, Uncertain
from bot.ports.mail import Mailer

log = logging.getLogger(__name__)

PATIENCE = timedelta(seconds=60)  # that one letter may take


class Letters:
    """Writes letters; which messenger sends them is asked each time, as it may connect later."""

    def __init__(self, mailer: Callable[[], Mailer | None], web_url: str = "") -> None:
        """`web_url` is where our pages are read from outside, "" where there are none."""
        self._mailer = mailer
        self.web_url = web_url
        self.one_by_one = asyncio.Lock()  # held while limits are looked at and what counts is noted

    @property
    def can_be_sent(self) -> bool:
        """Whether anything can be sent by e-mail now."""
        return self._mailer() is not None

    async def write(self, address: str, subject: str, text: str) -> None:
        """Send one letter, once; raises DeliveryError, Uncertain where it may have been sent. The log has no address."""
        mailer = self._mailer()
        if mailer is None:
            raise DeliveryError("No e-mail can be sent now.")
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                await mailer.write(address, subject, text)
        except TimeoutError:
            log.warning("a letter was not taken within %.0f seconds", PATIENCE.total_seconds())
            raise Uncertain(f"The mail relay did not answer within {PATIENCE.total_seconds():.0f} seconds.") from None
        except DeliveryError as error:
            log.warning("a letter was not sent: %s", type(error).__name__)
            raise


NO_LETTERS = Letters(lambda: None)
