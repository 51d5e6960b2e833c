"""What is owed to people, in SQL. Nothing reads more than it returns, but for rows that are damaged."""

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import Notice, Refusal
from bot.ports.outbox import NOBODY
from bot.store.records import notice_from_text, owed_to_text, refusal_from_text
from bot.store.sqlite.connections import Tables, reading, writing_shared

log = logging.getLogger(__name__)

_WORKSPACES = (
    "with recursive owed (workspace) as (select min(workspace) from notices union all"
    " select (select min(workspace) from notices where workspace > owed.workspace) from owed where workspace is not null)"
    " select workspace from owed where workspace is not null"
)
_NEXT = "select min(recipient) from notices where workspace = :workspace and recipient >"
_RECIPIENTS = (
    f"with recursive owed (recipient) as ({_NEXT} :after union all"
    f" select ({_NEXT} owed.recipient) from owed where recipient is not null limit :most)"
    " select recipient from owed where recipient is not null"
)


class SqliteOutbox(Tables):
    """bot.ports.outbox.Outbox."""

    @reading
    def notices(self, db: Database, after: Mapping[str, str] = NOBODY, *, limit: int = 10) -> Mapping[str, Sequence[Notice]]:
        workspaces = [workspace for (workspace,) in db.execute(_WORKSPACES).fetchall()]
        found = {workspace: _notices(db, workspace, after.get(workspace, ""), limit) for workspace in workspaces}
        return {workspace: notices for workspace, notices in found.items() if notices}

    @writing_shared
    def add_notices(self, db: Database, notices: Sequence[Notice]) -> None:
        _add(db, notices)

    @writing_shared
    def remove_notice(self, db: Database, notice: Notice) -> None:
        for number, found in _readable(db, notice.workspace, notice.recipient):
            if found == notice:  # the oldest, as a rule
                db.execute("delete from notices where number = ?", [number])
                break

    @reading
    def refusals(self, db: Database, *, limit: int = 100) -> Sequence[Refusal]:
        return [refusal for _, refusal in itertools.islice(_readable_refusals(db), limit)]

    @writing_shared
    def add_refusal(self, db: Database, refusal: Refusal) -> None:
        row = [refusal.workspace, owed_to_text(refusal)]
        db.execute("insert or ignore into refusals (workspace, data) values (?, ?)", row)

    @writing_shared
    def replace_refusal(self, db: Database, refusal: Refusal, notices: Sequence[Notice]) -> None:
        for number, found in _readable_refusals(db):
            if found == refusal:
                db.execute("delete from refusals where number = ?", [number])
                _add(db, notices)
                break


def _add(db: Database, notices: Sequence[Notice]) -> None:
    sql = "insert or ignore into notices (workspace, recipient, data) values (?, ?, ?)"
    for each in notices:
        db.execute(sql, [each.workspace, each.recipient, owed_to_text(each)])


def _readable_refusals(db: Database) -> Iterator[tuple[int, Refusal]]:
    """Yield the refusals that can be read, with their numbers, the oldest first; there are seldom more than a few."""
    for number, workspace, data in db.execute("select number, workspace, data from refusals order by number"):
        try:
            yield number, refusal_from_text(workspace, data)
        except StoreError:
            log.error("a refusal in %s cannot be read and is passed over; `db check` counts them", workspace)  # noqa: TRY400


def _notices(db: Database, workspace: str, after: str, limit: int) -> list[Notice]:
    def recipients(begin: str, most: int) -> list[str]:
        return [
            name for (name,) in db.execute(_RECIPIENTS, {"workspace": workspace, "after": begin, "most": most}).fetchall()
        ]

    names = recipients(after, limit)
    if after and len(names) < limit:
        names += [name for name in recipients("", limit - len(names)) if name <= after]
    return [notice for name in names for _, notice in itertools.islice(_readable(db, workspace, name), 1)]


def _readable(db: Database, workspace: str, recipient: str) -> Iterator[tuple[int, Notice]]:
    """Yield the notices for the recipient that can be read, with their numbers, the oldest first."""
    sql = "select number, data from notices where workspace = ? and recipient = ? order by number"
    for number, data in db.execute(sql, [workspace, recipient]):
        try:
            yield number, notice_from_text(workspace, data)
        except StoreError:
            log.error("a notice in %s cannot be read and is passed over; `db check` counts them", workspace)  # noqa: TRY400
