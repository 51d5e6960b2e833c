"""What people are told of their feeds."""

from dataclasses import replace

import pytest

from bot.errors import UsageError
from bot.handlers.feeds.addresses import token_kept
from bot.models import MOST_FEEDS
from tests.adapters.web.feeds.reader import Rooms, addresses, in_rooms, post
from tests.bot.handlers.askers import Asker, said


@pytest.fixture
def team(ada: Asker) -> Asker:
    return in_rooms(ada, Rooms({"U-ada": {"C1"}}))


async def test_without_an_address_on_the_web_there_are_none_and_who_can_mend_it_is_said(ada: Asker) -> None:
    with pytest.raises(UsageError, match="no address of its own on the web") as caught:
        await ada.ask("feeds")
    assert "web.url" in caught.value.hint


async def test_only_who_asks_sees_the_addresses_and_each_has_a_token_of_its_own(team: Asker) -> None:
    await post(team)
    replies = [await team.ask(text) for text in ("feeds", "feeds", "rss", "feeds gpu-systems", 'feed for "GPU systems"')]
    assert all(each.private for each in replies)
    tokens = {address.split("/")[4] for each in replies for address in addresses(each).values()}
    assert len(tokens) == len(replies)
    assert all(len(each) == 32 and int(each, 16) >= 0 for each in tokens)
    held = [await team.context.store.people.feeds_by(token_kept(each)) for each in tokens]
    assert sorted(each.topic for each in held if each) == ["", "", "", "gpu-systems", "gpu-systems"]
    assert [await team.context.store.people.feeds_by(each) for each in tokens] == [None] * 5, "the tokens are not kept"


async def test_what_is_subscribed_here_has_a_feed_before_anything_was_posted(team: Asker) -> None:
    await team.ask("subscribe kv")
    assert "KV cache" in addresses(await team.ask("feeds"))


async def test_of_many_topics_some_are_shown_and_the_list_has_all(team: Asker) -> None:
    for number in range(14):
        await post(team, topic=f"t{number:02}", title=f"Topic {number:02}")
    reply = await team.ask("feeds")
    assert len(addresses(reply)) == 10 + 2
    assert "The list of all of them has 4 topics more." in reply.text


async def test_a_topic_that_is_not_there_has_no_feed(team: Asker) -> None:
    with pytest.raises(UsageError, match='There is no topic "nothing"'):
        await team.ask("feeds nothing")


async def test_who_has_many_ends_them_first(team: Asker) -> None:
    for _ in range(MOST_FEEDS):
        await team.ask("feeds")
    with pytest.raises(UsageError, match="20 times"):
        await team.ask("feeds")
    assert "What you had asked for 20 times" in said(await team.ask("feeds revoke"))
    assert addresses(await team.ask("feeds"))


async def test_revoking_ends_ones_own_alone_also_where_no_pages_are_served_any_more(team: Asker) -> None:
    bob = team.by(person="U-bob")
    his = addresses(await bob.ask("feeds"))
    await team.ask("feeds kv")
    away = replace(team, context=replace(team.context, web_url=""))
    assert (await away.ask('feeds "KV cache" revoke')).title == ("The addresses of your feeds of KV cache alone are ended")
    assert (await away.ask("feeds revoke")).title == "You have no addresses of feeds"
    token = next(iter(his.values())).split("/")[4]
    assert await team.context.store.people.feeds_by(token_kept(token)) is not None


async def test_a_guest_of_another_organisation_gets_none(team: Asker) -> None:
    with pytest.raises(UsageError):
        await team.by(is_external=True).ask("feeds")
