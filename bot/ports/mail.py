"""Who is sent digests by e-mail."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from bot.models import Asked, Confirmed, OptIn, Recipient, Subscription, Suppression

ASKED_KEPT = timedelta(days=2)  # so long it is known that a code was sent


@runtime_checkable
class Mailer(Protocol):
    """Who writes to an address that is no recipient yet, and to one that is."""

    async def write(self, address: str, subject: str, text: str) -> None:
        """Send one message of plain text, once; raises Refused, Rejected, Delayed or Uncertain as a messenger does.

        No error's text has the address in it.
        """
        ...


class Recipients(Protocol):
    """The addresses of each workspace, those that are to be confirmed, and those that are not to be written to.

    Two spellings of an address that differ in upper case are one. Every write is one transaction.
    """

    async def named(self, channel: str) -> Recipient | None:
        """Return the recipient whose subscriptions have this channel, None where there is none (any more)."""
        ...

    async def at(self, workspace: str, address: str) -> Recipient | None:
        """Return the workspace's recipient of that address; raises ValueError for what is none."""
        ...

    async def of(self, workspace: str, *, person: str = "") -> Sequence[Recipient]:
        """Return the workspace's recipients, those of one person where one is named; by channel."""
        ...

    async def everywhere(self, address: str) -> Sequence[Recipient]:
        """Return the recipients of that address in all workspaces, by channel; raises ValueError for what is none."""
        ...

    async def ask(self, opt_in: OptIn) -> None:
        """Keep that a code was asked for; codes of before to the same address for the same person hold no longer."""
        ...

    async def withdraw(self, opt_in: OptIn) -> None:
        """Keep no longer that this code was asked for, as nothing was sent; codes of before stay ended."""
        ...

    async def take_back(self, workspace: str, person: str, address: str) -> bool:
        """Let no code hold that the person asked for there, and say whether any would have, or was asked for in vain.

        What is counted is that they asked; the address is kept no more.
        """
        ...

    async def asked(self, workspace: str, person: str, address: str, since: datetime) -> Asked:
        """Return how many codes were asked for from a time on, at most ASKED_KEPT ago, also of those that hold no longer."""
        ...

    async def confirm(self, workspace: str, person: str, code: str, channel: str, now: datetime) -> Confirmed | None:
        """Make the address a recipient whose code this is, as `code_kept` returns it; None where it is none of them.

        Each code confirms once. A wrong one counts as a try at every code of the person that holds, and none holds after
        MOST_TRIES. A new recipient has this channel; one that is there keeps its own, and is sent to again. What kept this
        workspace from writing there is lifted, and for this one what is remembered for all.
        """
        ...

    async def opt_in(self, workspace: str, person: str, code: str, now: datetime) -> OptIn | None:
        """Return what a code would confirm, without confirming it and without counting a try; None where it holds not."""
        ...

    async def opt_in_by_link(self, code: str, now: datetime) -> OptIn | None:
        """Return the same, whoever asked."""
        ...

    async def bounced(self, channel: str, said: str, now: datetime, *, hard: bool) -> Recipient | None:
        """Note that a message came back, with a sentence that says why; return the recipient after it, None without one."""
        ...

    async def suppress(self, address: str, reason: Suppression, now: datetime, *, workspace: str = "") -> None:
        """Remember by a keyed hash that the workspace, or without one nobody, is to write to the address.

        What is remembered for all stands beside what is remembered for one workspace, and a later reason takes the place of
        an earlier one; that of a complaint only a later complaint does.
        """
        ...

    async def suppression(self, workspace: str, address: str) -> Suppression | None:
        """Return why the workspace is not to write to the address: a complaint first, then what holds for all.

        None where it may. What holds for all does not where the workspace had the address confirmed later, nor where it is
        a list there: one of its readers may have confirmed it as their own elsewhere.
        """
        ...

    async def lift(self, workspace: str, address: str, reason: Suppression) -> None:
        """Let the workspace write to the address again, where it was not to for this reason."""
        ...

    async def allow(self, address: str) -> Sequence[Suppression]:
        """Lift what bounces and complaints keep from the address, in all workspaces; return which it was, by their names.

        What its reader wished by unsubscribing, or by being forgotten, stays. Raises ValueError for what is no address.
        """
        ...

    async def refuse_letters(self, hashed: str, reason: Suppression, now: datetime) -> None:
        """Remember that no codes are to be sent to the address of that `address_hash`, a reason of LETTERS_REFUSED.

        A confirmation lifts it. A complaint is not shortened by what comes back later.
        """
        ...

    async def refuses_letters(self, address: str, now: datetime) -> bool:
        """Say whether no codes are to be sent to the address, which LETTERS_REFUSED bounds."""
        ...

    async def forget(self, workspace: str, address: str, now: datetime) -> Sequence[str]:
        """Erase the address from the workspace, "" for all: recipients, their subscriptions, and what waits to be confirmed.

        It is remembered as FORGOTTEN by its hash. Returns the channels of the recipients that were there.
        """
        ...

    async def reader_of(self, delivery: str) -> Recipient | None:
        """Return to whom the delivery of that id was sent by e-mail, of whatever workspace; None where nobody was."""
        ...

    async def subscription(self, number: str) -> Subscription | None:
        """Return the subscription by e-mail of that id, of whatever workspace; None where there is none."""
        ...

    async def key(self) -> bytes:
        """Return the 32 random bytes by which this database signs links and hashes addresses; made at the first call."""
        ...
