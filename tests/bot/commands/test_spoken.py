"""What a message asks for: a command, words in somebody's own way of speaking, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import (
    Command,
    Follow,
    Help,
    ListTopics,
    Now,
    Pause,
    Save,
    Search,
    Show,
    Similar,
    SmallTalk,
    Subscribe,
    Unreadable,
    Why,
    heard,
)
from bot.commands.syntax import TABLE


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("kv cache papers", Search("kv cache papers")),
        ("Can you find anything about paged attention, please?", Search("paged attention")),
        ("show me papers on kv cache", Search("kv cache")),
        ("hey, is there work on kv cache?", Search("kv cache")),
        ("help me find papers on mixture of experts", Search("mixture of experts")),
        ("search kv cache", Search("kv cache")),
        ("search for papers on kv cache", Search("kv cache")),
        ('author:dao "flash attention" -survey', Search('author:dao "flash attention" -survey')),
        ("serach kv cache", Search("kv cache")),
        ("why does attention work", Search("why does attention work")),
        ("status of speculative decoding", Search("status of speculative decoding")),
        ("rest in peace", Search("rest in peace")),
        ("topics in reinforcement learning", Search("topics in reinforcement learning")),
        ("TCP/IP offloading", Search("TCP/IP offloading")),
        ("good regularisation for transformers", Search("good regularisation for transformers")),
        ("hello world models", Search("world models")),
        ("2606.01234", Show("2606.01234")),
        ("? https://arxiv.org/abs/2606.01234", Show("https://arxiv.org/abs/2606.01234")),
        ("look at arxiv.org/pdf/2606.01234v2 please", Show("arxiv.org/pdf/2606.01234v2")),
        ("owner/name", Show("owner/name")),
        ("similar papers to 2606.01234", Similar("2606.01234")),
        ("show 3", Show("3")),
        ("why 3 for gpu-systems", Why("3", "gpu-systems")),
        ("save 2", Save("2")),
        ("now", Now()),
        ("topics", ListTopics()),
        ("help", Help()),
        ("help subscribe", Help("subscribe")),
        ('follow author:"Tri Dao"', Follow('author:"Tri Dao"')),
        ("pause gpu-systems", Pause("gpu-systems")),
    ],
)
def test_words_are_a_search_a_link_its_card_and_a_command_itself(text: str, asked: Command) -> None:
    assert heard(text).asked == asked
    assert heard(f"<@U0123|broadsheet> {text}").asked == asked, "a mention that is left changes nothing"


@pytest.mark.parametrize(
    "text", ["thanks", "Thanks a lot!", "thank you so much 🙏", "good bot", "👍", ":+1:", "ok", "nice paper"]
)
def test_thanks_ask_for_nothing(text: str) -> None:
    assert heard(text).asked is SmallTalk.THANKS


@pytest.mark.parametrize(
    "text", ["", " ", "hi", "Hello there!", "good morning", "what can you do?", "who are you", "?", "test"]
)
def test_who_greets_or_asks_what_one_may_ask_is_greeted(text: str) -> None:
    assert heard(text).asked is SmallTalk.GREETING


@pytest.mark.parametrize(
    "text", ["subscribe gpu-systems at 25:00", "subscribe", "filter attention heads", "unsubscribe", "similar"]
)
def test_a_slip_in_what_sets_something_up_and_a_verb_alone_are_told_and_never_searched_for(text: str) -> None:
    assert isinstance(heard(text).asked, Unreadable)


def test_what_may_be_a_slip_in_a_verb_is_searched_for_and_told_where_that_finds_nothing() -> None:
    found = heard("subscibe gpu-systems")

    assert found.asked == Search("subscibe gpu-systems")
    assert found.otherwise is not None
    assert "subscribe gpu-systems" in found.otherwise.error.hint
    assert heard("paged attention").otherwise is None


def test_every_example_of_a_command_can_be_said() -> None:
    for usage in TABLE:
        assert isinstance(heard(usage.example).asked, usage.command), usage.example
    assert isinstance(heard("subscribe gpu-systems weekdays at 09:00").asked, Subscribe)


@given(
    st.text()
    | st.lists(st.sampled_from(["show", "me", "papers", "?", "hi", "2606.01234", "topic", "thanks", "“", "-"])).map(" ".join)
)
def test_nothing_that_is_said_raises(text: str) -> None:
    assert heard(text).asked is not None


def test_a_long_message_takes_no_time_to_speak_of_and_is_told_to_be_too_long() -> None:
    assert isinstance(heard("a/b " * 10_000).asked, Unreadable)
    assert isinstance(heard("what about a/b " * 1_000).asked, Search)
