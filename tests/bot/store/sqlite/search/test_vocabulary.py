"""What it takes to look up words."""

import sqlite3

from bot.store.sqlite.key_values import set_fact
from bot.store.sqlite.search.full_text import make_index
from bot.store.sqlite.search.vocabulary import STANDING_SQL, use_of
from tests.bot.query.generate import NOW
from tests.contract.indexed import indexed
from tests.contract.records import paper


def test_what_a_text_stands_for_is_looked_up_and_not_searched_for_among_all_that_texts_stand_for() -> None:
    db = sqlite3.connect(":memory:")
    make_index(db)

    plan = [row[3] for row in db.execute(f"explain query plan {STANDING_SQL}", ["spelt", "rag=", "rag>", 3])]

    assert plan[0].endswith("USING PRIMARY KEY (field=? AND value>? AND value<?)")
    db.close()


def test_of_very_many_items_a_word_that_one_has_is_no_correction() -> None:
    db = indexed([paper(1, title="Attention"), paper(2, title="Attention"), paper(3, title="Attentron")], NOW)
    assert use_of(db, "attentiron").near == ("attention", "attentron")
    set_fact(db, "last id", "800000")
    assert use_of(db, "attentiron").near == ()
    set_fact(db, "last id", "400000")
    assert use_of(db, "attentiron").near == ("attention",)
    db.close()
