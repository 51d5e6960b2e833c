"""A mailbox of everybody: what is written to addresses is kept, and may fail as a mail server does."""

import re
from dataclasses import dataclass, field

from bot.handlers.addresses.letters import Letters

_CODE = re.compile(r"confirm (\d{6})")


@dataclass
class Mailbox:
    """bot.ports.mail.Mailer."""

    letters: list[tuple[str, str, str]] = field(default_factory=list)  # address, subject, text
    fails: Exception | None = None  # what is raised instead

    async def write(self, address: str, subject: str, text: str) -> None:
        if self.fails is not None:
            raise self.fails
        self.letters.append((address, subject, text))

    @property
    def code(self) -> str:
        """The code of the last letter."""
        found = _CODE.search(self.letters[-1][2])
        assert found is not None
        return found[1]

    @property
    def addresses(self) -> list[str]:
        return [address for address, _, _ in self.letters]

    def opened(self) -> Letters:
        """Letters that come here."""
        return Letters(lambda: self)
