"""What several processes on one database agree by. A store for one process agrees with itself."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Protocol

from bot.models import Lease, Pace, ProcessState, Rest


class Leases(Protocol):
    """Who may do what one process does at a time. All times are those of the database's clock."""

    async def take(self, name: str, holder: str, span: timedelta) -> Lease | None:
        """Take the lease for so long from now, or prolong it where the holder has it; None while another one's holds.

        The token is higher than that of every holder before; prolonged, it stays.
        """
        ...

    async def give_back(self, lease: Lease) -> None:
        """Let another one take it at once; nothing where it is another one's by now."""
        ...

    async def held(self, beginning: str = "") -> Sequence[Lease]:
        """Return the leases that hold, those whose names begin so, by name."""
        ...


class Budgets(Protocol):
    """How often something outside was asked, and what asked to be left alone, over all processes."""

    async def reserve(self, paces: Sequence[Pace], rests: Collection[str] = (), *, patience: timedelta) -> timedelta:
        """Count one call at each of the places, and return how long from now it is to be made.

        Where that would be longer than the patience, or one of the `rests` holds for longer, nothing is counted. One
        transaction, by the database's clock: over all processes the calls of a place are as far apart as its pace says.
        """
        ...

    async def rest(self, place: str, span: timedelta, reason: str = "") -> None:
        """Let a place be left alone for so long from now; never shortened. Every process knows of it within a second."""
        ...

    async def rests(self) -> Sequence[Rest]:
        """Return the rests that hold, by place."""
        ...

    async def spend(self, key: str, amount: int, most: int, span: timedelta) -> bool:
        """Add to what was spent under the key within spans of that length; False, and nothing added, past the most.

        The first spending begins a span; after it the next one does. A negative amount gives back.
        """
        ...

    async def spent(self, key: str) -> int:
        """Return what was spent in the span that holds."""
        ...


class Processes(Protocol):
    """The processes that run on the database."""

    async def beat(self, process: ProcessState) -> None:
        """Keep how the process is, as of now by the database's clock."""
        ...

    async def every(self, silent: timedelta = timedelta(minutes=10)) -> Sequence[ProcessState]:
        """Return those that showed that they live within such a time, by their beginnings and ids."""
        ...

    async def remove(self, process: str) -> None:
        """Forget the process of that id: it has ended. Its leases end with it."""
        ...
