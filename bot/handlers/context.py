"""What every handler works with."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.digest.request import RequestBuilder
from bot.models import Actor, Item, Limits, Topic
from bot.ports.ledger import Ledger
from bot.ports.store import Previewer, Store
from bot.ports.vectors import Embedder

# Returns those of the channels that the person may know of: all but the private ones that they are not in.
VisibleChannels = Callable[[Actor, Collection[str]], Awaitable[Collection[str]]]

# Returns what each of the items says in a sentence, in their order; "" where it has no text.
Gists = Callable[[Sequence[Item]], Awaitable[Sequence[str]]]


async def all_channels(_actor: Actor, channels: Collection[str]) -> Collection[str]:
    """Return all of them, as where nothing is private."""
    return channels


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """The parts of the service that answer commands, and the operator's settings for them."""

    store: Store
    previewer: Previewer
    packs: Mapping[str, Topic]  # the topics that come with Broadsheet or from the operator's folder
    source_titles: Mapping[str, str]  # every source's name for people by its name
    ledger: Ledger  # what was due and what was posted; the store's own
    gists: Gists  # for lists; no language model is asked
    limits: Limits = Limits()
    manage: str = "anyone"  # who may change subscriptions, topics and filters: anyone, admins
    window_hours: int = 48
    visible_channels: VisibleChannels = all_channels  # a platform's own, where it has private channels
    embedder: Embedder | None = None  # without one, words alone decide what is found and close

    @property
    def requests(self) -> RequestBuilder:
        """What digests are asked for, here as for those that are posted."""
        return RequestBuilder(self.store, self.packs, self.limits, timedelta(hours=self.window_hours))
