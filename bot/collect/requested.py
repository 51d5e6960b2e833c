"""What the topics that are subscribed somewhere ask of the sources, beyond what the settings name."""

from collections.abc import Mapping

from bot.keys import arxiv_id
from bot.models import Topic
from bot.ports.items import Items
from bot.ports.ledger import Ledger
from bot.ports.workspaces import Workspaces
from bot.settings.arxiv_categories import needed_categories


class TopicRequests:
    """Reads the topics anew each time that it is asked: what was subscribed or edited since counts at once."""

    def __init__(self, items: Items, workspaces: Workspaces, ledger: Ledger, packs: Mapping[str, Topic]) -> None:
        self._items = items
        self._workspaces = workspaces
        self._ledger = ledger
        self._packs = packs

    async def searches(self) -> tuple[str, ...]:
        """Return the repository searches of these topics, as they were written, each once."""
        return tuple(dict.fromkeys(text for topic in await self._topics() for text in topic.repositories))

    async def categories(self) -> tuple[str, ...]:
        """Return the arXiv categories that these topics need, each once."""
        return tuple(dict.fromkeys(each for topic in await self._topics() for each in needed_categories(topic)))

    async def papers(self) -> tuple[str, ...]:
        """Return the arXiv identifiers of example papers that are not known yet, each once."""
        found = (arxiv_id(each) for topic in await self._topics() for each in topic.examples if each.startswith("arxiv:"))
        keys = {f"arxiv:{number}": number for number in found if number is not None}
        known = await self._items.find(list(keys))
        return tuple(number for key, number in keys.items() if key not in known)

    async def _topics(self) -> list[Topic]:
        """Return every topic that a channel has subscribed, the workspace's own before a pack of the same name."""
        places = dict.fromkeys((each.workspace, each.topic) for each in await self._ledger.every_subscription())
        own: dict[str, Mapping[str, Topic]] = {}
        found = []
        for workspace, name in places:
            if workspace not in own:
                own[workspace] = await self._workspaces.topics(workspace)
            topic = own[workspace].get(name) or self._packs.get(name)
            if topic is not None:
                found.append(topic)
        return found
