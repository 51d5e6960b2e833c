"""The help: what can be asked, and how one command goes. All of it comes from what commands and query fields declare."""

from datetime import datetime

from bot.commands import BORROWED, BY_NAME, TABLE, Group, Help, Permission, Search, Usage, help_for, parse, read
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.wording.replies import button, excerpt
from bot.models import Actor, Field, Reply, ReplyEntry
from bot.query import FIELDS
from bot.wording import listed

_GROUPS = {
    Group.FINDING: "Finding",
    Group.SUBSCRIPTIONS: "Subscriptions",
    Group.TOPICS: "Topics and filters",
    Group.FEEDBACK: "Taste",
    Group.SAVED: "Saved items",
    Group.SERVICE: "The service",
}
_NAMED = {title.casefold(): group for group, title in _GROUPS.items()} | {group.value: group for group in _GROUPS}
# What people need first, each with how it is given; the rest stands by group.
_FIRST = (
    ("search kv cache", "finds papers and repositories, the best first"),
    ("show 2606.01234", "the card of any paper or repository, also by its link"),
    ("now gpu-systems", "previews the digest of a topic, for you alone"),
    ("subscribe gpu-systems weekdays at 09:00", "posts it in this channel"),
    ('follow author:"Tri Dao"', "posts what is new of an author, a lab or words"),
    ("list", "what is posted here, and when"),
    ("more 3", "more like the third entry; *less 3* the opposite"),
    ("save 2606.01234", "puts it aside; *saved* lists what you saved"),
)
_PERMISSIONS = {
    Permission.ANYONE: "",
    Permission.MANAGE: "Who may manage topics and subscriptions here; *settings* says who that is.",
    Permission.SOME: "Anyone may look; who may manage topics and subscriptions here may change.",
}
_ASKS_QUERIES = frozenset({"search", "filter", "topic create", "topic edit", "follow"})
_EVERYTHING = frozenset({"all", "everything", "commands"})
_WORDS = frozenset(usage.words for usage in TABLE)
_ABOUT_QUERIES = frozenset({"query", "queries", "fields", "language", "syntax"})
_ITEMS = "An ITEM is an arXiv number, a link, owner/name, its number in the last digest here, or a title."


@handles(Help)
async def show_help(context: HandlerContext, command: Help, actor: Actor, now: datetime) -> Reply:
    """Say what can be asked, or how one command goes."""
    asked = " ".join(command.command.lower().split())
    if not asked:
        return _overview()
    if asked in _EVERYTHING:
        return _everything()
    if asked in _ABOUT_QUERIES:
        return Reply(title="What a query can say", text=_QUERIES, entries=(_fields(),))
    if asked in _NAMED and asked not in _WORDS:
        return _group(_NAMED[asked])
    return _named(asked)


def _named(asked: str) -> Reply:
    if usage := BY_NAME.get(asked):
        return _one(usage)
    if other := BORROWED.get(asked):
        parse(other.example)  # what only leads to another command says so
        return _one(other.usage, f"*{other.example}* asks for the same.")
    rows = [usage for usage in TABLE if usage.words.startswith(f"{asked} ")]
    if rows:
        return Reply(title=asked.capitalize(), text=tuple(f"*{row.syntax}*: {row.help}" for row in rows), next_steps=(_HOW,))
    near = help_for(asked)
    if near is None or isinstance(read(asked), Search):
        raise UsageError(f'There is no command "{excerpt(asked)}".', hint="*help all* lists all there is.")
    return _one(near, f'There is no command "{excerpt(asked)}"; the nearest is this.')


def _overview() -> Reply:
    """Return the commands that people need first, and the groups of the others: what fits a screen."""
    return Reply(
        title="What you can ask",
        text=tuple(f"*{typed}*: {does}" for typed, does in _FIRST),
        next_steps=(f"{_HOW.rstrip('.')}, *help all* lists every one.",),
        buttons=(
            *(button(title, Help(title.casefold())) for title in _GROUPS.values()),
            button("Queries", Help("query")),
            button("All", Help("all")),
        ),
    )


def _everything() -> Reply:
    return Reply(
        title="Everything you can ask",
        text=("*help search* says how one goes, *help query* what a search and a filter can say.", _ITEMS),
        entries=tuple(ReplyEntry(title=title, lines=_listed(group), is_section=True) for group, title in _GROUPS.items()),
    )


def _group(group: Group) -> Reply:
    others = (each for each in _GROUPS if each is not group)
    return Reply(
        title=_GROUPS[group],
        text=_listed(group),
        next_steps=(_HOW,),
        buttons=tuple(button(_GROUPS[each], Help(_GROUPS[each].casefold())) for each in others),
    )


def _listed(group: Group) -> tuple[str, ...]:
    return tuple(f"*{row.words}*: {row.help}" for row in TABLE if row.group is group)


def _one(usage: Usage, before: str = "") -> Reply:
    fields = [Field("Usage", f"*{usage.syntax}*"), Field("Example", f"*{usage.example}*")]
    if usage.aliases:
        fields.append(Field("Also", ", ".join(usage.aliases)))
    if may := _PERMISSIONS[usage.permission]:
        fields.append(Field("Who may", may))
    queries = usage.words in _ASKS_QUERIES
    item = (_ITEMS,) if "ITEM" in usage.syntax else ()
    return Reply(
        title=usage.words,
        text=tuple(filter(None, (before, usage.help, *item, *(_QUERIES if queries else ())))),
        fields=tuple(fields),
        next_steps=(_FIELDS_TOLD,) if queries else (),
        buttons=(*((button("Queries", Help("query")),) if queries else ()), button("What you can ask", Help())),
    )


_HOW = "*help search* says how one goes."
_SOME_FIELDS = [each.example for each in FIELDS if each.name in ("author", "stars", "published")]
_FIELDS_TOLD = f"A field narrows it, as in {listed(_SOME_FIELDS)}; *help query* lists all of them."
_QUERIES = ('Words and "phrases" are looked for everywhere; *-word* leaves out, *a OR b* takes either, parentheses group.',)


def _fields() -> ReplyEntry:
    lines = []
    for field in FIELDS:
        short = f" (or {', '.join(field.short)})" if field.short else ""
        values = f": {', '.join(field.values)}" if field.values else ""
        lines.append(f"*{field.name}*{short}: {field.help}{values}; as in {field.example}")
    return ReplyEntry(title="Fields", lines=tuple(lines), is_section=True)
