"""What is said to us in a message, and what buttons of its answer carry."""

import base64
from typing import cast

import pytest

from adapters.chat.spoken import PassingWords, SpokenState, words_to_us
from bot.errors import StoreError
from bot.handlers.surfaces.spoken import Turn
from bot.models import Button, Reply, ReplyEntry
from bot.ports.chats import Chats
from bot.service.platforms import Cluster
from tests.conftest import NOW
from tests.stores.memory import MemoryStore


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<@U1> kv cache", "kv cache"),
        ("hey <@U1|broadsheet>, kv cache <@U2>", ", kv cache <@U2>"),
        ("kv cache <@U1>!", "kv cache"),
        ("<@!U1>", ""),
        ("a <@U1> b <@U1> c", "b   c"),
        ("kv cache", None),
        ("kv <@U11> cache", None),
        ("kv &lt;@U1&gt; cache", None),
        ("", None),
    ],
)
def test_what_stands_behind_the_mention_is_said_to_us_else_what_stands_before_it(text: str, said: str | None) -> None:
    found = words_to_us(text, "U1")

    assert (found if found is None else found.strip()) == said


async def test_a_button_that_would_carry_words_carries_a_name_for_them() -> None:
    words = PassingWords()
    long = f"similar {'x' * 80}"
    given = Reply(
        title="Found",
        entries=(ReplyEntry(title="One", buttons=(Button("Save", "save 2606.01234"), Button("Similar", long))),),
        buttons=(Button("Newest first", "search zyxomma sort:new"), Button("Follow", "follow zyxomma")),
    )

    named = await words.named("slack:T1", given)

    (kept, hidden), both = named.entries[0].buttons, named.buttons
    assert kept.command == "save 2606.01234"
    assert "zyxomma" not in str(named)
    assert [await words.command("slack:T1", each.command) for each in (hidden, *both)] == [
        long,
        "search zyxomma sort:new",
        "follow zyxomma",
    ]
    assert all(words.is_name(each.command) and len(each.command) == 23 for each in (hidden, *both))


async def test_a_name_of_another_workspace_or_of_nothing_is_unknown() -> None:
    words = PassingWords()
    (button,) = (await words.named("slack:T1", Reply(title="Found", buttons=(Button("Next", "search gpu"),)))).buttons

    assert await words.command("slack:T2", button.command) is None
    assert await words.command("slack:T1", "search gpu") is None
    assert not words.is_name("search gpu")


async def test_the_latest_five_thousand_are_held() -> None:
    words = PassingWords()

    async def name(command: str) -> str:
        return (await words.named("slack:T1", Reply(title="", buttons=(Button("Next", command),)))).buttons[0].command

    first = await name("search gpu")
    for number in range(5_000):
        last = await name(f"search {number}")

    assert await words.command("slack:T1", first) is None
    assert await words.command("slack:T1", last) == "search 4999"


async def test_another_process_finds_words_that_the_database_by_itself_does_not_tell() -> None:
    chats = MemoryStore().chats
    here, there = PassingWords(chats, lambda: NOW), PassingWords(chats, lambda: NOW)
    given = Reply(title="Found", buttons=(Button("Newest first", "search zyxomma sort:new"), Button("Follow", "follow é")))

    first, other = [each.command for each in (await here.named("slack:T1", given)).buttons]

    assert [await there.command("slack:T1", each) for each in (first, other)] == ["search zyxomma sort:new", "follow é"]
    assert there.is_name(first)
    assert len(first) == 45
    assert await there.command("slack:T2", first) is None
    kept = await chats.kept_text("slack:T1", first[1:23])
    assert kept is not None
    assert "zyxomma" not in str(base64.urlsafe_b64decode(kept))
    assert await there.command("slack:T1", first[:23] + other[23:]) is None, "with another's key"


async def test_without_the_database_words_are_held_by_the_process_that_heard_them() -> None:
    class Away:
        async def keep_texts(self, *_: object) -> None:
            raise StoreError("The database does not answer.")

    words = PassingWords(cast("Chats", Away()), lambda: NOW)
    (button,) = (await words.named("slack:T1", Reply(title="", buttons=(Button("Next", "search gpu"),)))).buttons
    assert await words.command("slack:T1", button.command) == "search gpu"


async def test_what_one_person_writes_to_several_processes_counts_together() -> None:
    store = MemoryStore()
    cluster = Cluster("a", store.leases, store.budgets, store.processes)
    here, there = [SpokenState(store.chats, lambda: NOW, cluster) for _ in range(2)]
    turns = [await each.turn("slack", "slack:T1 U1", NOW) for _ in range(6) for each in (here, there)]
    assert turns == [Turn.ANSWERED] * 10 + [Turn.TOLD, Turn.LEFT]
    assert await here.turn("slack", "slack:T1 U2", NOW) is Turn.ANSWERED
