"""What is asked for by its meaning, and where the vectors are that it is held against."""

from dataclasses import dataclass

from sqlite_utils import Database

from bot.models import Near
from bot.models.vectors import Floats
from bot.store.rules.nearest import NOTHING, Close, Ids
from bot.store.sqlite.vectors import Copy


@dataclass(frozen=True, slots=True)
class Meaning:
    """A vector, and the copy of those of the items."""

    copy: Copy
    near: Near

    @property
    def finds(self) -> bool:
        """Whether anything can be near enough; otherwise it only says how close something is."""
        return self.near.enough <= 1

    def closest(self, db: Database, number: int, among: Ids | None = None) -> Close:
        """Return so many of the closest items, of these ids alone where they are given, as far as they are near enough."""
        if not self.finds:
            return NOTHING
        found = self.copy.closest(db, self.near, number, among)
        near = found.cosines >= self.near.enough
        return Close(found.ids[near], found.cosines[near])

    def all_near(self, db: Database) -> tuple[Close, bool]:
        """Return the items that are near enough, the closest first, and whether these are all of them."""
        return self.copy.near(db, self.near)

    def cosines(self, db: Database, ids: Ids) -> Floats:
        """Return how close each of the items is, nan for one without a vector."""
        return self.copy.cosines(db, self.near, ids)

    def alike(self, db: Database, first: Ids, ids: Ids) -> Floats:
        """Return how close each of the items is to what the first ones mean together, nan for one without a vector."""
        return self.copy.alike(db, self.near, first, ids)
