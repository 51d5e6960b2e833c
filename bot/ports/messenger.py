"""The platforms that post."""

from collections.abc import Collection, Sequence
from typing import Protocol, runtime_checkable

from bot.models import Abilities, Delivery, Digest, Layout, Look, Presses


class Messenger(Protocol):
    """One chat platform, as the ledger sees it."""

    @property
    def platform(self) -> str:
        """The word before the colon of its workspaces' names: slack, discord; "local" for the terminal."""
        ...

    @property
    def abilities(self) -> Abilities:
        """What it offers."""
        ...

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        """Return the digest as the payloads of one or more messages, each within the platform's limits; pure.

        For a channel of a chat the digest's `subscription` and `window` are left out, and who has the same digest in the
        same layout has the same payloads. By e-mail each is rendered for itself.

        A payload may be a JSON object whose `keys` are the items that the message shows, those of one entry together; where
        cards of their own show them too, `listed` are those that it lists.
        """
        ...

    async def send(self, delivery: Delivery) -> str:
        """Post the payload once, with the delivery's id as nonce or marker, and return the platform's message identifier.

        Never tries again by itself. Raises Refused, Rejected, Delayed, or Uncertain.
        """
        ...

    async def publish(self, posted: Delivery) -> None:
        """Publish the posted message to who follows its channel; done again, it does nothing more.

        So too for a message that is gone, and for one that does not stand in the channel itself but in a thread of it.
        Never tries again by itself. Raises Rejected where it cannot be published, else as `send`.
        """
        ...

    async def find(self, delivery: Delivery) -> Look:
        """Look in the channel's history for the delivery's message, among our own from the first try to the last one.

        A minute is added at both ends; without a last try it looks up to now. One look asks for a page or a few; where
        there is more, the next one goes on from the `cursor` that is returned, which is given back in the delivery. That
        a limit was reached is never ABSENT. Raises Refused where the history may not be read, Rejected, Delayed or Uncertain
        when it could not be read now.
        """
        ...

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        """Let the posted message say its payload again, marked as before, and at its end what was pressed, if anything was.

        `number` counts the edits of the message from 1, for platforms that tell its states apart by it. Nothing is ever
        posted. Never tries again by itself. Raises Rejected where the message is gone or may not be changed any more, else
        as `send`; an edit of which the answer was lost may be made again.
        """
        ...

    def link(self, delivery: Delivery) -> str:
        """Return the address at which a reader finds the posted delivery by its `message`, "" where there is none; pure."""
        ...

    async def tell(self, workspace: str, person: str, text: str) -> None:
        """Tell one person something in private; raises as `send`."""
        ...

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        """Say one thing in a channel, such as that of the administrators; raises as `send`."""
        ...

    async def obstacle(self, workspace: str, channel: str) -> str:
        """Return in a sentence what keeps us from posting in a channel, "" where nothing does that can be seen.

        With the channel "" it is what keeps us from posting anywhere in the workspace. The platform is asked each time, in a
        request or a few. Raises Delayed, Uncertain or another DeliveryError where that cannot be known now.
        """
        ...


@runtime_checkable
class Visibility(Protocol):
    """What a platform tells of who is there and may see which channel, whoever asks and wherever. Asked anew each time."""

    async def visible_to(self, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that the person may read there. Raises DeliveryError where it cannot be told now."""
        ...

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that everybody in the workspace may read. Raises DeliveryError as `visible_to`."""
        ...

    async def is_member(self, workspace: str, person: str) -> bool:
        """Return whether the person is there, with an account in use; guests are. Raises DeliveryError as `visible_to`."""
        ...
