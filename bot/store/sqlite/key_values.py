"""Rows that are found by their keys alone: facts, the states of sources, and the summaries that a model made."""

from datetime import date, datetime

from sqlite_utils import Database

from bot.models import SourceState, Summary
from bot.store.records import micros, state_from_text, state_to_text, summary_from_text, summary_to_text
from bot.store.sqlite.connections import Tables, reading, writing
from bot.store.sqlite.recovery.wal import number_of


def fact(db: Database, name: str) -> str:
    """Return a small remembered text, "" when there is none."""
    row = db.execute("select value from facts where name = ?", [name]).fetchone()
    return str(row[0]) if row else ""


def set_fact(db: Database, name: str, value: str) -> None:
    """Remember a small text."""
    db.execute("insert or replace into facts (name, value) values (?, ?)", [name, value])


def save_state(db: Database, state: SourceState) -> None:
    """Remember how a source is."""
    sql = "insert or replace into source_states (name, data) values (?, ?)"
    db.execute(sql, [state.name, state_to_text(state)])


class SqliteFacts(Tables):
    """bot.ports.facts.Facts."""

    @reading
    def get(self, db: Database, name: str) -> str:
        return fact(db, name)

    @writing
    def set(self, db: Database, name: str, value: str) -> None:
        set_fact(db, name, value)

    @reading
    def version(self, db: Database) -> int:
        return number_of(db)


class SqliteSourceStates(Tables):
    """bot.ports.source.SourceStates."""

    @reading
    def get(self, db: Database, name: str) -> SourceState:
        row = db.execute("select data from source_states where name = ?", [name]).fetchone()
        return state_from_text(row[0]) if row else SourceState(name=name)

    @writing
    def save(self, db: Database, state: SourceState) -> None:
        save_state(db, state)


class SqliteSummaries(Tables):
    """bot.ports.summaries.Summaries."""

    @reading
    def find(self, db: Database, key: str, made_by: str, digest_of_text: str) -> Summary | None:
        sql = "select data from summaries where key = ? and made_by = ? and read = ?"
        row = db.execute(sql, [key, made_by, digest_of_text]).fetchone()
        return summary_from_text(row[0]) if row else None

    @writing
    def save(self, db: Database, key: str, made_by: str, digest_of_text: str, summary: Summary, now: datetime) -> None:
        sql = "insert or replace into summaries (key, made_by, read, saved, data) values (?, ?, ?, ?, ?)"
        db.execute(sql, [key, made_by, digest_of_text, micros(now), summary_to_text(summary)])

    @reading
    def spent(self, db: Database, day: date) -> int:
        row = db.execute("select tokens from spending where day = ?", [day.isoformat()]).fetchone()
        return int(row[0]) if row else 0

    @writing
    def spend(self, db: Database, day: date, tokens: int, *, most: int | None = None) -> bool:
        row = db.execute("select tokens from spending where day = ?", [day.isoformat()]).fetchone()
        spent = (int(row[0]) if row else 0) + tokens
        if most is not None and tokens > 0 and spent > most:
            return False
        db.execute("insert or replace into spending (day, tokens) values (?, ?)", [day.isoformat(), max(spent, 0)])
        return True
