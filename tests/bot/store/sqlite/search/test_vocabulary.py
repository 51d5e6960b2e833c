"""What it takes to look up words."""

import sqlite3

from bot.store.sqlite.search.full_text import make_index
from bot.store.sqlite.search.vocabulary import STANDING_SQL


def test_what_a_text_stands_for_is_looked_up_and_not_searched_for_among_all_that_texts_stand_for() -> None:
    db = sqlite3.connect(":memory:")
    make_index(db)

    plan = [row[3] for row in db.execute(f"explain query plan {STANDING_SQL}", ["spelt", "rag=", "rag>", 3])]

    assert plan[0].endswith("USING PRIMARY KEY (field=? AND value>? AND value<?)")
    db.close()
