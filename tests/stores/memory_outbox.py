"""What is owed, in lists."""

from collections.abc import Mapping, Sequence

from bot.models import Notice, Refusal
from bot.ports.outbox import NOBODY


class MemoryOutbox:
    """bot.ports.outbox.Outbox."""

    def __init__(self) -> None:
        self._notices: dict[Notice, None] = {}
        self._refusals: dict[Refusal, None] = {}

    async def notices(self, after: Mapping[str, str] = NOBODY, *, limit: int = 10) -> Mapping[str, Sequence[Notice]]:
        oldest: dict[str, dict[str, Notice]] = {}
        for each in self._notices:
            oldest.setdefault(each.workspace, {}).setdefault(each.recipient, each)
        found = {}
        for workspace, by_recipient in sorted(oldest.items()):
            begin = after.get(workspace, "")
            names = sorted(by_recipient, key=lambda name: (name <= begin, name))
            found[workspace] = [by_recipient[name] for name in names[:limit]]
        return found

    async def add_notices(self, notices: Sequence[Notice]) -> None:
        self._notices |= {each: None for each in notices if each not in self._notices}

    async def remove_notice(self, notice: Notice) -> None:
        self._notices.pop(notice, None)

    async def refusals(self, *, limit: int = 100) -> Sequence[Refusal]:
        return list(self._refusals)[:limit]

    async def add_refusal(self, refusal: Refusal) -> None:
        self._refusals.setdefault(refusal)

    async def replace_refusal(self, refusal: Refusal, notices: Sequence[Notice]) -> None:
        if refusal in self._refusals:
            del self._refusals[refusal]
            await self.add_notices(notices)
