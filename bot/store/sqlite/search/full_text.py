"""The search index: a table of FTS5, how many items have each value of a label, and the words that there are."""

import sqlite3

from bot.query.fields import TEXT

TITLE_WEIGHT = 2.0  # a word of the title counts twice; measured, see docs/decisions/0004-search-stemming.md

# The columns of the search index: the folded texts; of their words that are not their own stem the stems, of the title and
# of all others; and the labels. A stem is spelt as a word is, so that one term finds a word and all that have it for a stem,
# and bm25 weighs them as one. Labels are tokens that no text can contain. A label weighs nothing.
COLUMNS = (*TEXT, "title_stem", "text_stem", "label")
_WEIGHTS = (TITLE_WEIGHT, 1.0, 1.0, 1.0, 1.0, TITLE_WEIGHT, 1.0, 0.0)


def make_index(conn: sqlite3.Connection) -> None:
    """Make the search index, empty.

    It is contentless: it keeps no copy of the text, which can be folded again from the item at any time. The tokens are
    ASCII and already folded, so the plainest tokeniser does.
    """
    conn.execute("drop table if exists words")
    conn.execute(
        f"create virtual table words using fts5({', '.join(COLUMNS)}, content='', tokenize=\"ascii tokenchars '_'\")"
    )
    # Larger runs in memory and fewer merges: an index of 54,000 papers is made in two thirds of the time.
    conn.execute("insert into words (words, rank) values ('hashsize', ?)", [16 << 20])
    conn.execute("insert into words (words, rank) values ('automerge', 8)")
    # How many items have each value of a label, for what is suggested while a person types: the index would have to count
    # through its lists for every question. Kept in step with the index, and made anew with it.
    conn.execute("drop table if exists labels")
    conn.execute(
        "create table labels (field text, value text, items integer not null, primary key (field, value)) without rowid"
    )
    conn.execute("create index labels_items on labels (field, items desc, value)")
    # The words of all texts, for what is near to one that nothing has; in how many items each stands, and in the names of
    # how many items' authors.
    conn.execute("drop table if exists vocabulary")
    conn.execute(
        "create table vocabulary (word text primary key, items integer not null, names integer not null) without rowid"
    )
    conn.execute("insert into words (words, rank) values ('rank', ?)", [f"bm25({', '.join(map(str, _WEIGHTS))})"])
