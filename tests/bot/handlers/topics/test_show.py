from dataclasses import replace

import pytest

from bot.errors import UsageError
from bot.settings.sources import ArxivSettings
from tests.bot.handlers.askers import Asker, button


async def test_the_list_begins_with_the_workspaces_own_and_says_what_is_subscribed_where(ada: Asker) -> None:
    await ada.ask("topic create zz-last GPU")
    await ada.ask("subscribe kv")
    for channel in ("C2", "C3"):
        await ada.by(channel=channel).ask("subscribe kv")

    reply = await ada.ask("topics")

    assert reply.title == "3 topics"
    assert [each.title for each in reply.entries] == ["Zz last (zz-last)", "KV cache (kv)", "GPU systems (gpu-systems)"]
    assert "subscribed in this channel and 2 other channels" in reply.entries[1].lines
    assert [[each.label for each in entry.buttons] for entry in reply.entries[:2]] == [
        ["Show", "Subscribe"],
        ["Show", "Preview"],
    ]


async def test_showing_a_topic_tells_all_that_it_is_made_of(ada: Asker) -> None:
    await ada.ask("topic edit kv sources arxiv, feed")
    await ada.ask("topic edit kv min 0.25")
    await ada.ask("topic edit kv repositories topic:kv-cache stars:>50")
    await ada.ask("filter kv everywhere set -cooking")
    await ada.ask("more 2603.00001 for kv")
    await ada.by(channel="C9").ask("subscribe kv")

    reply = await ada.ask("topic show kv")

    assert {field.name: field.value for field in reply.fields} == {
        "Query": "cache",
        "Filter": "-cooking",
        "Sources": "arxiv, feed",
        "arXiv categories": "none",
        "Bar": "0.25 of relevance",
        "Feedback": "1 answer",
        "Revision": "4, changed from what comes with Broadsheet",
        "Used": "subscribed in 1 channel",
    }
    assert [(entry.title, entry.lines) for entry in reply.entries] == [
        ("Interests", ('1. "KV cache" × 2', "2. paging × 1")),
        ("Examples", ("1. Paging the KV cache", "2. Keys and values in blocks that need not lie side by side.")),
        ("Repositories", ("1. topic:kv-cache stars:>50",)),
    ]
    assert [each.label for each in reply.buttons] == ["Preview", "Subscribe", "What it learned"]


async def test_a_copy_of_a_pack_says_what_newer_packs_have_and_how_to_take_it(ada: Asker) -> None:
    await ada.ask("topic edit kv title Caches")
    packs = ada.context.packs
    newer = replace(packs["kv"], min_score=0.2, examples=(*packs["kv"].examples, "A cache."), categories=("cs.AR", "cs.DC"))
    upgraded = Asker(replace(ada.context, packs={**packs, "kv": newer}), ada.actor, ada.now)

    said = "kv comes with a bar of 0.2, 3 examples (here 2) and 2 categories of arXiv now, which this copy lacks."
    assert any(said in each for each in (await upgraded.ask("topic show kv")).text)
    assert not any("lacks" in each for each in (await ada.ask("topic show kv")).text)  # nothing came since
    await upgraded.ask("topic delete kv")
    assert not any("lacks" in each for each in (await upgraded.ask("topic show kv")).text)


async def test_a_bar_and_words_of_ones_own_are_a_choice_that_nobody_is_told_of(ada: Asker) -> None:
    await ada.ask("topic edit kv min 0.1")
    await ada.ask("topic edit kv query tea")
    packs = ada.context.packs
    upgraded = Asker(replace(ada.context, packs={**packs, "kv": replace(packs["kv"], min_score=0.2)}), ada.actor, ada.now)
    assert not any("lacks" in each for each in (await upgraded.ask("topic show kv")).text)


async def test_a_topic_says_which_of_its_categories_are_not_collected(ada: Asker) -> None:
    forbidden = Asker(replace(ada.context, arxiv=ArxivSettings(follow_topics=False)), ada.actor, ada.now)
    for who, said in (
        (ada, "is collected while a channel subscribes to it"),
        (forbidden, "is not collected, so that papers are missed"),
    ):
        edited = await who.ask("topic edit kv categories cs.RO cs.ai")
        shown = await who.ask("topic show kv")
        assert {field.name: field.value for field in shown.fields}["arXiv categories"] == "cs.RO, cs.AI"
        assert f"arXiv's cs.RO {said}" in " ".join(shown.text)
        assert ("follow_topics" in " ".join(edited.text)) is (who is forbidden)


async def test_an_unknown_topic_is_answered_with_the_nearest_one(ada: Asker) -> None:
    with pytest.raises(UsageError, match='There is no topic "KV caches"') as raised:
        await ada.ask('topic show "KV caches"')
    assert raised.value.hint == "Did you mean kv?"
    with pytest.raises(UsageError) as raised:
        await ada.ask("subscribe gpu")
    assert raised.value.hint == "Did you mean gpu-systems?"
    with pytest.raises(UsageError) as raised:
        await ada.ask(f"topic show {'x' * 3000}")
    assert len(str(raised.value)) < 120
    assert raised.value.hint == "*topics* lists those there are."


async def test_of_a_long_topic_the_beginning_is_shown_and_all_of_it_on_demand(ada: Asker) -> None:
    await ada.ask(f"topic create long {' OR '.join(f'word{number:03}' for number in range(60))}")
    for number in range(9):
        await ada.ask(f"topic edit long interest word{number:03}")
    few = await ada.ask("topic show long")
    (interests,) = (each for each in few.entries if each.title == "Interests")
    assert interests.lines[5:] == ("6. word005 × 1", "and 3 more")
    assert few.fields[0].value.endswith("…")

    await ada.ask("topic edit long remove interest 9")
    await ada.ask("topic edit long remove interest 8")
    (interests,) = (each for each in (await ada.ask("topic show long")).entries if each.title == "Interests")
    assert interests.lines[6:] == ("7. word006 × 1",), "one more is shown rather than counted"
    for number in (7, 8):
        await ada.ask(f"topic edit long interest word{number:03}")

    everything = await ada.ask(button(few, "Show all"))
    (interests,) = (each for each in everything.entries if each.title == "Interests")
    assert interests.lines[-1] == "9. word008 × 1"
    assert "word059" in everything.fields[0].value
    assert "Show all" not in {each.label for each in everything.buttons}
    assert "Show all" not in {each.label for each in (await ada.ask("topic show kv")).buttons}
