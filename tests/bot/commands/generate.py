"""Random commands of every class, hostile texts included: for hypothesis.

`commands()` gives what can be said at all: texts that a command needs are not blank, numbers lie within their bounds.
"""

from dataclasses import fields
from datetime import time

from hypothesis import strategies as st

from bot.commands import (
    TABLE,
    ChangeSettings,
    Command,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Filter,
    FilterAction,
    Follow,
    Format,
    Help,
    History,
    Less,
    ListSaved,
    ListSubscriptions,
    More,
    Now,
    Part,
    Pause,
    Post,
    Profile,
    ProfileAction,
    Rest,
    Resume,
    Save,
    Scope,
    Search,
    Show,
    ShowTopic,
    Similar,
    Status,
    Subscribe,
    Transfer,
    Trend,
    Trending,
    Trends,
    Unsave,
    Unsubscribe,
    Usual,
    Why,
)
from bot.commands.words import channel_name
from bot.models import Layout, Rhythm

# What the grammar gives a meaning, and what telephones, chat clients and strangers put in.
SCRAPS = (
    *(
        "for",
        "for gpu-systems",
        "from",
        "from other",
        "until",
        "at 9",
        "in",
        "in #papers",
        'in "#Weekly papers"',
        "top",
        "top 7",
        "filter",
        "rev=3",
        "page=x",
        "page 2",
    ),
    *(
        "weight 2.5",
        "remove",
        "here",
        "everywhere",
        "show",
        "test",
        "all",
        "anyway",
        "quiet if empty",
        "undo",
        "list",
        "topic",
    ),
    *(
        "daily",
        "weekly.",
        "at once",
        'author:"Tri Dao"',
        "mon,wed",
        "every",
        "monthly on 15",
        "9am",
        "noon",
        "compact",
        "brief",
        "always",
        "bibtex",
        "digest",
        "/digest",
        "@bot",
    ),
    *(
        '"',
        '""',
        '"kv cache"',
        "'",
        "“",
        "”",
        "`",
        "```",
        "\\",
        '\\"',
        '="',
        '="a"',
        '="%zz"',
        '="%ff"',
        "=",
        "*",
        "**",
        "(",
        ")",
    ),
    *(
        "<",
        ">",
        "<https://arxiv.org/abs/2606.01234|x>",
        "<@U123|ann>",
        "<#C1|general>",
        "</digest:1>",
        "&amp;",
        "&lt;",
        "&amp;lt;",
    ),
    *(
        ".",
        ",",
        ";",
        "!",
        "?",
        "#3",
        "#",
        "-",
        "--",
        "—",
        "–x",
        "+",
        "+1",
        "-1",
        "%20",
        "%",
        "\x00",
        "\n",
        "\r\n",
        "\t",
        "  ",
    ),
    *(
        "\u00a0",
        "\u200b",
        "a\u200bb",
        "\u200d",
        "\u202e",
        "\ufeff",
        "\u00ad",
        "\U000e0041",
        "模型",
        "naïve",
        "👍",
        "ſ",
        "İ",
        "K",
    ),
    *(
        "gpu-systems",
        "kv cache",
        "2606.01234",
        "owner/name",
        "https://arxiv.org/abs/2606.01234v2",
        "stars:<10",
        "-survey",
        "OR",
        "a",
    ),
)


def texts() -> st.SearchStrategy[str]:
    """Give texts of any kind, the empty one among them."""
    scraps = st.lists(st.sampled_from(SCRAPS), max_size=5)
    return st.one_of(
        st.sampled_from(SCRAPS),
        scraps.map(" ".join),
        scraps.map("".join),
        st.text(max_size=12),
    )


def said() -> st.SearchStrategy[str]:
    """Give texts that are not blank."""
    return texts().filter(lambda text: text.strip() != "")


def topics() -> st.SearchStrategy[str]:
    """Give names as they mostly are, and others."""
    return st.one_of(st.sampled_from(("gpu-systems", "kv-cache", "rag")), said())


def _days() -> st.SearchStrategy[dict[str, object]]:
    weekdays = st.sets(st.integers(0, 6), min_size=1).map(lambda days: {"weekdays": tuple(sorted(days))})
    month = st.integers(1, 31).map(lambda day: {"month_day": day})
    return st.one_of(st.just({}), weekdays, month, st.just({"at_once": True}))


def _subscriptions() -> st.SearchStrategy[Command]:
    return st.builds(
        lambda days, **rest: Subscribe(**days, **rest),
        _days(),
        topic=topics(),
        at=st.none() | st.builds(time, st.integers(0, 23), st.integers(0, 59)),
        zone=st.one_of(st.just(""), st.sampled_from(("Europe/Zurich", "New York", "UTC+2")), said()),
        entries=st.none() | st.integers(1, 50) | st.just(Usual.USUAL),
        min_score=st.none() | st.floats(0, 1) | st.just(Usual.USUAL),
        layout=st.none() | st.sampled_from(Layout) | st.just(Usual.USUAL),
        always=st.none() | st.booleans(),
        tag=st.just("") | said(),
        filter=st.just("") | said(),
    )


def _edits() -> st.SearchStrategy[Command]:
    revision = st.none() | st.integers(0, 999)
    added = st.sampled_from((Part.INTEREST, Part.EXAMPLE, Part.REPOSITORIES))
    return st.one_of(
        st.builds(EditTopic, name=topics(), part=st.sampled_from(Part), value=said(), revision=revision),
        st.builds(EditTopic, name=topics(), part=added, value=said(), remove=st.just(True), revision=revision),
        st.builds(
            EditTopic, name=topics(), part=st.just(Part.INTEREST), value=said(), weight=st.none() | st.floats(-10, 10)
        ),
        st.builds(EditTopic, name=topics(), part=st.just(Part.DESCRIPTION), value=texts()),
    )


RHYTHMS = st.none() | st.sampled_from(Rhythm)


def _filters() -> st.SearchStrategy[Command]:
    scope = st.none() | st.sampled_from(Scope)
    silent = st.sampled_from((FilterAction.SHOW, FilterAction.CLEAR, FilterAction.TEST))
    telling = st.sampled_from((FilterAction.SET, FilterAction.ADD, FilterAction.REMOVE, FilterAction.TEST))
    return st.one_of(
        st.builds(Filter, topics(), silent, scope=scope, rhythm=RHYTHMS),
        st.builds(Filter, topics(), telling, said(), scope, RHYTHMS),
    )


def channels() -> st.SearchStrategy[str]:
    """Give names and identifiers of channels, and texts that a client might send as one."""
    return st.one_of(
        st.sampled_from(("papers", "123456789012345678", "Weekly papers")), said().map(channel_name).filter(bool)
    )


def addresses() -> st.SearchStrategy[str]:
    """Give addresses as places, and texts that somebody may write as one."""
    odd = st.builds("{}@{}".format, said(), said()).map(str.strip)  # as every option is read
    named = st.builds("{}:{}".format, st.sampled_from(("email", "list")), st.just("me@lab.example") | odd)
    return st.just("mail:0123456789abcdef.012345") | named


def commands() -> st.SearchStrategy[Command]:
    """Give every command, those that take a place with one and without."""

    def placed(command: Command, channel: str, address: str) -> Command:
        return command.placed(command.usage.placed(address) if address and command.usage.takes_mail else channel)

    return st.builds(placed, _of_this_channel(), st.just("") | channels(), st.just("") | addresses())


def _of_this_channel() -> st.SearchStrategy[Command]:
    maybe = st.just("") | said()
    of_item = st.one_of(*(st.builds(kind, said(), maybe) for kind in (Why, More, Less)))
    return st.one_of(
        st.builds(Search, said(), maybe),
        *(st.builds(kind, said()) for kind in (Similar, Save, Unsave)),
        st.builds(Trending, st.none() | st.sampled_from(Trend), st.integers(1, 99)),
        of_item,
        *(st.builds(kind, topics(), RHYTHMS) for kind in (Unsubscribe, Resume, Post)),
        st.builds(ShowTopic, topics()),
        *(st.builds(kind, maybe) for kind in (Now, History, Help, Trends)),
        *(st.just(usage.command()) for usage in TABLE if not fields(usage.command)),
        st.just(ChangeSettings()),
        st.just(Status()),
        _subscriptions(),
        st.builds(Follow, said(), RHYTHMS),
        st.builds(ListSubscriptions, st.booleans()),
        st.builds(Transfer, maybe, maybe, maybe, maybe),
        st.builds(Pause, topics(), RHYTHMS, maybe),
        st.builds(CreateTopic, topics(), said()),
        st.builds(CreateTopic, topics(), origin=said()),
        _edits(),
        st.builds(DeleteTopic, topics(), st.booleans()),
        _filters(),
        st.builds(Profile, topics(), st.sampled_from(ProfileAction)),
        st.builds(Profile, topics(), st.just(ProfileAction.UNDO), said()),
        st.builds(Show, said(), maybe, st.booleans()),
        st.builds(Rest, said(), maybe, st.integers(1, 10_000), st.none() | st.sampled_from(Rhythm)),
        st.builds(ListSaved, st.none() | st.sampled_from(Format), st.integers(1, 10_000), st.booleans()),
        st.builds(ChangeSettings, said(), maybe),
    )
