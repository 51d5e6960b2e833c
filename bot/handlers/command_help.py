"""The help: what can be asked, and how one command goes. All of it comes from what commands and query fields declare."""

from datetime import datetime

from bot.commands import BY_NAME, TABLE, Group, Help, Permission, Usage, help_for
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.wording.replies import button, excerpt
from bot.models import Actor, Field, Reply, ReplyEntry
from bot.query import FIELDS

_GROUPS = {
    Group.FINDING: "Finding",
    Group.SUBSCRIPTIONS: "Subscriptions",
    Group.TOPICS: "Topics and filters",
    Group.FEEDBACK: "Taste",
    Group.SAVED: "Saved items",
    Group.SERVICE: "The service",
}
_PERMISSIONS = {
    Permission.ANYONE: "",
    Permission.MANAGE: "Who may manage topics and subscriptions here; *settings* says who that is.",
    Permission.SOME: "Anyone may look; who may manage topics and subscriptions here may change.",
}
_ASKS_QUERIES = frozenset({"search", "filter", "topic create", "topic edit", "follow"})
_ABOUT_QUERIES = frozenset({"query", "queries", "fields", "language", "syntax"})
_ITEMS = "An ITEM is an arXiv number, a link, owner/name, its number in the last digest here, or a title."


@handles(Help)
async def show_help(context: HandlerContext, command: Help, actor: Actor, now: datetime) -> Reply:
    """Say what can be asked, or how one command goes."""
    asked = " ".join(command.command.lower().split())
    if not asked:
        return _overview()
    if asked in _ABOUT_QUERIES:
        return Reply(title="What a query can say", text=_QUERIES, entries=(_fields(),))
    if usage := BY_NAME.get(asked):
        return _one(usage)
    rows = [usage for usage in TABLE if usage.words.startswith(f"{asked} ")]
    if rows:
        return Reply(title=asked.capitalize(), entries=tuple(ReplyEntry(title=row.words, lines=_lines(row)) for row in rows))
    near = help_for(asked)
    if near is None:
        raise UsageError(f'There is no command "{excerpt(asked)}".', hint="*help* lists all there is.")
    return _one(near, f'There is no command "{excerpt(asked)}"; the nearest is this.')


def _overview() -> Reply:
    entries = []
    for group, title in _GROUPS.items():
        rows = [usage for usage in TABLE if usage.group is group]
        entries.append(ReplyEntry(title=title, lines=tuple(f"*{row.words}*: {row.help}" for row in rows)))
    return Reply(
        title="What you can ask",
        text=("*help COMMAND* says how one goes, *help query* what a search and a filter can say.", _ITEMS),
        entries=tuple(entries),
        buttons=tuple(button(f"Help on {words}", Help(words)) for words in ("search", "subscribe", "topic", "filter")),
    )


def _one(usage: Usage, before: str = "") -> Reply:
    fields = [Field("Usage", usage.syntax), Field("Example", usage.example)]
    if usage.aliases:
        fields.append(Field("Also", ", ".join(usage.aliases)))
    if may := _PERMISSIONS[usage.permission]:
        fields.append(Field("Who may", may))
    queries = usage.words in _ASKS_QUERIES
    item = (_ITEMS,) if "ITEM" in usage.syntax else ()
    return Reply(
        title=usage.words,
        text=tuple(filter(None, (before, usage.help, *item, *(_QUERIES if queries else ())))),
        entries=(_fields(),) if queries else (),
        fields=tuple(fields),
        buttons=(button("All commands", Help()),),
    )


def _lines(usage: Usage) -> tuple[str, ...]:
    return (usage.help, usage.syntax, f"For example: *{usage.example}*")


_QUERIES = ('Words and "phrases" are looked for everywhere; *-word* leaves out, *a OR b* takes either, parentheses group.',)


def _fields() -> ReplyEntry:
    lines = []
    for field in FIELDS:
        short = f" (or {', '.join(field.short)})" if field.short else ""
        values = f": {', '.join(field.values)}" if field.values else ""
        lines.append(f"*{field.name}*{short}: {field.help}{values}; as in {field.example}")
    return ReplyEntry(title="Fields", lines=tuple(lines))
