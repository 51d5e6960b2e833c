"""A list of many topics fits a message in Slack: what may be done with each stands in a menu beside it."""

from dataclasses import replace
from datetime import date

import pytest

from adapters.slack.render.messages import reply as slack_messages
from bot.models import Button, Reply, ReplyEntry

TODAY = date(2026, 6, 15)


def topics(count: int, *labels: str) -> Reply:
    """Return a list of so many topics, each with a button of each label."""
    entries = [
        ReplyEntry(
            title=f"Topic <{number}> *here*",
            lines=("What it is about, in a line & a bit.",),
            buttons=tuple(Button(label, f"topic show {label.lower()}-{number}") for label in labels),
        )
        for number in range(count)
    ]
    return Reply(title=f"{count} topics", entries=tuple(entries), buttons=(Button("Help", "help"),))


@pytest.mark.parametrize("count", [6, 16, 25])
def test_a_list_of_topics_is_one_message_in_slack_with_a_menu_beside_each(count: int) -> None:
    (made,) = slack_messages(topics(count, "Show", "Subscribe"), TODAY)
    menus = [each["accessory"] for each in made.blocks if "accessory" in each]
    assert [[each["text"]["text"] for each in menu["options"]] for menu in menus] == [["Show", "Subscribe"]] * count
    texts = [each["text"]["text"] for each in made.blocks if "accessory" in each]
    assert texts[0] == "*1. Topic &lt;0&gt; ∗here∗*\nWhat it is about, in a line &amp; a bit."


def test_one_button_of_an_entry_stands_below_it_and_a_few_entries_have_theirs_as_ever() -> None:
    (made,) = slack_messages(topics(6, "Show"), TODAY)
    assert [each["type"] for each in made.blocks].count("actions") == 7
    assert not [each for each in slack_messages(topics(5, "Show", "Subscribe"), TODAY)[0].blocks if "accessory" in each]


def test_what_takes_something_away_is_a_button_however_long_the_list_is() -> None:
    ending = ReplyEntry(title="Another", buttons=(Button("Unsubscribe", "unsubscribe kv", danger=True),))
    reply = topics(9, "Show", "Preview")
    for made in slack_messages(replace(reply, entries=(*reply.entries, ending)), TODAY):
        assert not [each for each in made.blocks if "accessory" in each]
