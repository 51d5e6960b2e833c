"""Topics, and what they make of an item."""

from dataclasses import dataclass

from bot.models.items import Item
from bot.models.queries import Query

LONGEST_TITLE = 80  # characters of a topic's title
MOST_WEIGHT = 10.0  # of an interest, for or against


@dataclass(frozen=True, slots=True)
class Interest:
    """A weighted clause of the query language: `KV cache`, `author:"Tri Dao"`. A negative weight speaks against."""

    clause: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A named interest of a workspace."""

    name: str  # lower case, digits and hyphens
    title: str
    description: str = ""
    query: Query = Query("")  # who enters
    interests: tuple[Interest, ...] = ()
    examples: tuple[str, ...] = ()  # item keys, or texts to be close to
    sources: tuple[str, ...] = ()  # empty: all
    categories: tuple[str, ...] = ()  # of arXiv, that are collected for it where it is subscribed
    min_score: float = 0.0  # the relevance that an entry needs: what orders the relevant lifts nothing over it
    repositories: tuple[str, ...] = ()  # GitHub search terms with qualifiers, as typed
    filter: Query = Query("")  # what an item must satisfy to be posted for it, in every channel
    followed: bool = False  # made by *follow* for what its query names; lists tell it apart
    revision: int = 0  # 0: a pack, as it is shipped; a workspace's own counts its changes from 1


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One named part of a score. `value` is what it adds to the total (parts sum to the score)."""

    name: str  # phrases, labels, description, examples, feedback (each where there is any), community, freshness
    value: float
    why: str  # a clause for a person, "" when there is nothing to say: 'matches *KV cache* ×3'


@dataclass(frozen=True, slots=True)
class Ranked:
    """An item with its score in 0–1 for one topic and the parts that made it."""

    item: Item
    score: float
    parts: tuple[ScorePart, ...] = ()
    relevance: float = 0.0  # of the score, what the topic itself gives: phrases, description, examples, feedback

    @property
    def reasons(self) -> tuple[str, ...]:
        """The parts in words, the largest first."""
        told = sorted((part for part in self.parts if part.why), key=lambda part: -part.value)
        return tuple(part.why for part in told)
