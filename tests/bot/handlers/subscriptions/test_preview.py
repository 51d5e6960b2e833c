from datetime import timedelta

from adapters.words import coverage_line, others_button
from bot.models import Layout, Reply
from tests.bot.handlers.askers import Asker, about, asker, button
from tests.stores.memory import MemoryStore


def titles(reply: Reply) -> list[list[str]]:
    return [[entry.ranked.item.title for entry in digest.entries] for digest in reply.digests]


async def test_a_topic_is_previewed_whole_and_nothing_is_recorded(ada: Asker) -> None:
    reply = await ada.ask("now kv")

    assert reply.title == "Preview: KV cache"
    assert reply.text == ("KV cache is not subscribed here; this is what its digest would say now.",)
    assert titles(reply)[0][0] == "Paging the KV cache"
    assert button(reply, "Subscribe") == "subscribe kv"
    assert await ada.context.store.digests.posted(ada.actor.workspace, ada.actor.channel) == frozenset()


async def test_a_preview_offers_no_list_of_what_it_left_out_as_only_those_of_posted_digests_are_kept(ada: Asker) -> None:
    await ada.ask("subscribe kv top 1")

    (digest,) = (await ada.ask("now kv")).digests

    assert digest.left_out
    assert "more on topic" in coverage_line(digest)
    assert others_button(digest) == ()


async def test_just_after_subscribing_the_last_days_are_shown(ada: Asker) -> None:
    await ada.ask("subscribe kv daily at 09:30 in Europe/Zurich full")

    reply = await ada.ask("now")

    assert reply.text == (
        (
            "KV cache: the next digest is due Wednesday 1 April at 09:30, in 30 minutes. "
            "Nothing has come in since Wednesday 1 April at 09:00; this is from the last 48 hours."
        ),
    )
    assert len(titles(reply)[0]) == 3
    assert reply.layout is Layout.FULL


async def test_once_something_came_in_the_preview_is_the_next_digest(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.context.store.items.add([about(11, "Evicting the KV cache", appeared=ada.now)], ada.now + timedelta(hours=1))

    reply = await ada.at(ada.now + timedelta(hours=1, minutes=30)).ask("now kv")

    assert titles(reply) == [["Evicting the KV cache"]]
    assert reply.text == ("KV cache: the next digest is due Wednesday 1 April at 09:00, in 30 minutes.",)


async def test_the_subscriptions_filter_and_limit_hold(ada: Asker) -> None:
    await ada.ask("subscribe kv top 1 filter -paging")

    (shown,) = titles(await ada.ask("now kv"))

    assert len(shown) == 1
    assert shown != ["Paging the KV cache"]


async def test_every_topic_subscribed_here_is_previewed_and_none_of_another_channel(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.ask("subscribe gpu-systems full")
    await ada.by(channel="C2").ask("subscribe kv")

    reply = await ada.ask("now")

    assert (reply.title, reply.layout) == ("Preview", Layout.BRIEF)
    assert [digest.topic for digest in reply.digests] == ["gpu-systems", "kv"]
    assert len((await ada.by(channel="C2").ask("now")).digests) == 1


async def test_further_topics_are_a_tap_away(ada: Asker) -> None:
    for name in ("a", "b", "c", "d"):
        await ada.ask(f"topic create {name} cache")
        await ada.ask(f"subscribe {name}")

    reply = await ada.ask("now")

    assert [digest.topic for digest in reply.digests] == ["a", "b", "c"]
    assert [each.command for each in reply.buttons] == ["now d"]


async def test_where_nothing_is_subscribed_it_says_how_to_begin(ada: Asker) -> None:
    reply = await ada.ask("now")

    assert reply.title == "Nothing is subscribed here yet"
    assert reply.next_steps == (
        "*now kv* previews a topic that is not subscribed.",
        "*subscribe kv weekdays at 09:00* posts its digest in this channel.",
    )


async def test_a_digest_of_nothing_says_where_to_look(ada: Asker) -> None:
    empty = MemoryStore()
    await empty.open()

    reply = await asker(empty, ada.now).ask("now kv")

    assert titles(reply) == [[]]
    assert reply.next_steps == ("*topic show kv* shows what it lets in and its bar.",)


async def test_a_paused_subscription_says_so(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.ask("pause kv")

    said = (await ada.ask("now kv")).text[0]
    assert said.startswith("KV cache: Paused until somebody resumes it. This is what its digest would say now.")
