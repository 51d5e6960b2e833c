"""What is said to us in a message, and what buttons of its answer carry."""

import pytest

from adapters.chat.spoken import PassingWords, words_to_us
from bot.models import Button, Reply, ReplyEntry


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


def test_a_button_that_would_carry_words_carries_a_name_for_them() -> None:
    words = PassingWords()
    long = f"similar {'x' * 80}"
    given = Reply(
        title="Found",
        entries=(ReplyEntry(title="One", buttons=(Button("Save", "save 2606.01234"), Button("Similar", long))),),
        buttons=(Button("Newest first", "search zyxomma sort:new"), Button("Follow", "follow zyxomma")),
    )

    named = words.named("slack:T1", given)

    (kept, hidden), both = named.entries[0].buttons, named.buttons
    assert kept.command == "save 2606.01234"
    assert "zyxomma" not in str(named)
    assert [words.command("slack:T1", each.command) for each in (hidden, *both)] == [
        long,
        "search zyxomma sort:new",
        "follow zyxomma",
    ]
    assert all(words.is_name(each.command) and len(each.command) == 23 for each in (hidden, *both))


def test_a_name_of_another_workspace_or_of_nothing_is_unknown() -> None:
    words = PassingWords()
    (button,) = words.named("slack:T1", Reply(title="Found", buttons=(Button("Next", "search gpu"),))).buttons

    assert words.command("slack:T2", button.command) is None
    assert words.command("slack:T1", "search gpu") is None
    assert not words.is_name("search gpu")


def test_the_latest_five_thousand_are_held() -> None:
    words = PassingWords()
    first = words.named("slack:T1", Reply(title="", buttons=(Button("Next", "search gpu"),))).buttons[0].command
    for number in range(5_000):
        last = words.named("slack:T1", Reply(title="", buttons=(Button("Next", f"search {number}"),))).buttons[0].command

    assert words.command("slack:T1", first) is None
    assert words.command("slack:T1", last) == "search 4999"
