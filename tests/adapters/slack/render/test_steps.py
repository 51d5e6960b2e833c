"""What a workflow's step gives on: texts in which nothing is live, whatever titles say."""

import re
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.install.steps import OUTPUTS
from adapters.slack.render.steps import outputs, sentence_of
from bot.models import Item, Kind, Link, Reply, ReplyEntry

TODAY = date(2026, 6, 15)
URL = "https://arxiv.org/abs/2606.01234"
# What Slack makes a mention, a link, an emoji or an emphasis of, in a place where it parses a variable whole.
LIVE = re.compile(
    r"<[@#!h]|&(?:amp|lt|gt);|(?<!\w)[*_~`](?=\w)|[@#]\w|\w://|\w\.[^\W\d_]{2}|:[\w+'-]+:",
)
HOSTILE = (
    *(
        "<!channel> *now*",
        "<https://evil.example|Nature>",
        "&lt;@U1&gt;",
        "_a_ `b` ~c~",
        "@here @channel",
        "#general :smile:",
    ),
    *(
        "read example.com",
        "https://evil.example/x",
        "mail me@evil.example",
        "пример.рф",
        ":+1::tada:",
        "@\u200bhere",
        "a.b.co",
    ),
)


def item(title: str, url: str = URL) -> Item:
    return Item(key="arxiv:2606.01234", kind=Kind.PAPER, title=title, links=(Link("abstract", url),), sources=("arxiv",))


@given(st.text() | st.sampled_from(HOSTILE) | st.text(alphabet="@#.:/<>&;*_~`ab1 -+\u200c\u2060\n"))
def test_no_title_or_gist_becomes_a_link_a_mention_or_an_emphasis(said: str) -> None:
    reply = Reply(title=said, text=(said,), entries=(ReplyEntry(item(said), gist=said),))
    given_on = outputs(reply, TODAY)
    assert set(given_on) == {each.name for each in OUTPUTS}
    lines = given_on["text"].split("\n")
    assert lines[-1] == URL, "the address alone leads somewhere"
    assert not [line for line in lines[:-1] if LIVE.search(line)]
    assert (given_on["count"], given_on["link"]) == (1, URL)


def test_what_is_dead_reads_as_it_was_written() -> None:
    given_on = outputs(Reply(title="Node.js at 09:30:00, v2.1, F#, by @ada:"), TODAY)
    assert given_on["text"].replace("\u2060", "") == "Node.js at 09:30:00, v2.1, F#, by @ada:"
    assert "v2.1, F#, by" in given_on["text"]


def test_an_answer_without_entries_counts_none_and_leads_nowhere() -> None:
    given_on = outputs(Reply(title="Nothing found for: cache", text=("Try *search kv*.",)), TODAY)
    assert given_on == {"text": "Nothing found for: cache\nTry /digest search kv.", "count": 0}


def test_why_a_step_failed_is_one_line_with_commands_as_one_types_them() -> None:
    reply = Reply(title="That did not work", text=('There is no topic "kv".', "*topics* lists those there are."))
    assert sentence_of(reply) == 'There is no topic "kv". /digest topics lists those there are.'
