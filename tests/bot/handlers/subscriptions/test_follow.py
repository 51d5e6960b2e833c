from dataclasses import replace
from datetime import timedelta

import pytest

from bot.commands import Follow, parse
from bot.errors import Unclear, UsageError
from bot.handlers.context import ForumTags
from bot.models import Actor, Item, Rhythm, Topic
from tests.bot.handlers.askers import Asker, about, button, changes, said
from tests.fakes.works import repo


async def topics(ada: Asker) -> dict[str, Topic]:
    return dict(await ada.context.store.workspaces.topics(ada.actor.workspace))


async def add(ada: Asker, *items: Item) -> None:
    await ada.context.store.items.add(items, ada.now - timedelta(hours=1))


def by(number: int, *authors: str, days: int = 1, ada: Asker) -> Item:
    """A paper of these authors that came out so many days ago."""
    return replace(
        about(number, f"Paper {number}"), authors=authors, published=ada.now - timedelta(days=days), appeared=None
    )


async def test_an_author_is_followed_by_a_topic_that_is_made_without_a_word(ada: Asker) -> None:
    await add(ada, *(by(20 + days, "Rui Mao", "Lin Ying", days=days, ada=ada) for days in (1, 3, 5, 7, 40)))

    reply = await ada.ask('follow author:"Mao, Rui"')

    assert reply.title == "Author: Rui Mao is followed here now"
    assert (
        reply.text[0] == "What is new is posted here every day at 09:00 (UTC); next Wednesday 1 April at 09:00, in 2 hours."
    )
    assert "In the last 30 days it would have found 4; the newest 3:" in reply.text
    assert [entry.item.title for entry in reply.entries if entry.item] == ["Paper 21", "Paper 23", "Paper 25"]
    assert "It is found in what is collected: arXiv's cs.AI, " in said(reply)
    assert [each.label for each in reply.buttons] == ["Undo"]
    assert not reply.private
    (here,) = await ada.here()
    (topic,) = (await topics(ada)).values()
    assert (topic.name, topic.title, topic.query.text) == ("author-rui-mao", "Author: Rui Mao", 'author:"Rui Mao"')
    assert topic.followed
    assert (here.topic, here.rhythm, here.baseline) == ("author-rui-mao", Rhythm.DAILY, ada.now)
    assert [each.what for each in await changes(ada)] == ["subscription C1 author-rui-mao daily", "topic author-rui-mao"]


async def test_undo_takes_the_subscription_back_and_the_topic(ada: Asker) -> None:
    reply = await ada.ask('follow "sparse attention" weekly')
    assert (await ada.here())[0].rhythm is Rhythm.WEEKLY

    undone = await ada.ask(button(reply, "Undo"))

    assert undone.title == "sparse attention is not followed here any more"
    assert not await ada.here()
    assert not await topics(ada)
    await ada.ask(button(undone, "Undo"))
    assert [each.rhythm for each in await ada.here()] == [Rhythm.WEEKLY]
    assert list(await topics(ada)) == ["sparse-attention"]


async def test_what_is_taken_back_and_followed_again_goes_on_where_it_was(ada: Asker) -> None:
    await ada.ask('follow "sparse attention"')
    later = ada.at(ada.now + timedelta(days=2))
    undone = await later.ask('unfollow "sparse attention"')
    await ada.at(ada.now + timedelta(days=3)).ask(button(undone, "Undo"))
    assert [each.baseline for each in await ada.here()] == [ada.now]


async def test_following_twice_says_so_and_changes_nothing(ada: Asker) -> None:
    await ada.ask('follow author:"Rui Mao"')
    before = await changes(ada)

    reply = await ada.ask('follow au:"mao, rui"')

    assert reply.title == "Author: Rui Mao is followed here already"
    assert reply.private
    assert await changes(ada) == before
    assert (await ada.ask("follow author:mao")).title == "Author: mao is followed here now"


async def test_two_channels_share_the_topic_and_the_last_one_takes_it_along(ada: Asker) -> None:
    there = ada.by(channel="C2")
    await ada.ask("follow org:nvidia")
    await there.ask("follow org:NVIDIA")
    assert list(await topics(ada)) == ["org-nvidia"]

    await ada.ask("unfollow org:nvidia")
    assert list(await topics(ada)) == ["org-nvidia"]
    await there.ask("unfollow org:nvidia")
    assert not await topics(ada)


async def test_what_was_changed_or_taught_stays_when_it_is_followed_no_more(ada: Asker) -> None:
    await ada.ask("follow org:nvidia")
    await ada.ask("topic edit org-nvidia interest CUDA")
    assert (await ada.ask("unfollow org:nvidia")).text[0].endswith("The topic stays, and what it has learned.")
    await ada.ask('follow "KV caches"')
    await ada.ask("more 2603.00001 for kv-caches")
    await ada.ask('unfollow "KV caches"')
    await ada.ask("follow org:meta")
    await ada.ask("subscribe org-meta at 17:00")
    undone = await ada.ask("unfollow org:meta")
    assert list(await topics(ada)) == ["kv-caches", "org-meta", "org-nvidia"]
    assert "at 17:00" in button(undone, "Undo")


@pytest.mark.parametrize("command", ["follow kv", "follow KV-Cache", 'follow "KV cache"', "follow KV cache"])
async def test_a_topics_name_subscribes_to_it(ada: Asker, command: str) -> None:
    assert (await ada.ask(command)).title == "Subscribed to KV cache"
    assert [each.topic for each in await ada.here()] == ["kv"]
    assert not await topics(ada)


async def test_days_and_times_may_stand_behind_a_topics_name(ada: Asker) -> None:
    await ada.ask("follow kv weekdays at 8:30 in Zurich")
    (here,) = await ada.here()
    assert (here.topic, here.schedule.weekdays, here.schedule.zone) == ("kv", (0, 1, 2, 3, 4), "Europe/Zurich")
    await ada.ask("follow kv weekly")
    assert {each.rhythm for each in await ada.here()} == {Rhythm.DAILY, Rhythm.WEEKLY}


async def test_a_name_alone_is_an_author_where_papers_of_that_name_are_here(ada: Asker) -> None:
    await add(ada, by(21, "Rui Mao", ada=ada))
    assert (await ada.ask("follow Rui Mao")).title == "Author: Rui Mao is followed here now"
    assert (await ada.ask("follow Paged Attention")).title == "Paged Attention is followed here now"


async def test_a_link_with_one_letter_is_the_one_author_of_whom_papers_are_here(ada: Asker) -> None:
    with pytest.raises(UsageError, match=r"The link names R\. Mao, and no paper of that name is here yet"):
        await ada.ask("follow https://arxiv.org/a/mao_r_1")
    await add(ada, by(21, "Rui Mao", ada=ada), by(22, "Lin Mao", "Rui Mao", ada=ada))
    assert (await ada.ask("follow https://arxiv.org/a/mao_r_1")).title == "Author: Rui Mao is followed here now"
    await add(ada, by(23, "Rita Mao", ada=ada))
    with pytest.raises(Unclear) as caught:
        await ada.ask("follow https://arxiv.org/a/mao_r_1")
    assert sorted(caught.value.choices) == [("Rita Mao", 'author:"Rita Mao"'), ("Rui Mao", 'author:"Rui Mao"')]


async def test_an_organisations_handle_is_its_name_as_it_stands_on_papers(ada: Asker) -> None:
    await add(ada, replace(about(21, "A model"), org="DeepSeek"))
    assert (
        await ada.ask("follow https://huggingface.co/deepseek-ai")
    ).title == "Organisation: deepseek is followed here now"
    reply = await ada.ask("follow https://huggingface.co/nobody-yet")
    assert "Nothing of the last 30 days would have been in it." in reply.text


async def test_a_repository_is_followed_by_what_happens_to_it(ada: Asker) -> None:
    reply = await ada.ask("follow Owner/Name")
    assert reply.title == "Repository: owner/name is followed here now"
    assert "Nothing of it is known yet: GitHub is asked for it in the next collection." in reply.text
    assert "Each release is posted once in a channel; nothing else brings a repository back." in said(reply)
    assert (await topics(ada))["repo-owner-name"].repositories == ("repo:owner/name",)

    await add(ada, repo("lab/tool"))
    reply = await ada.ask("follow github.com/lab/tool")
    assert [entry.item.key for entry in reply.entries if entry.item] == ["github:lab/tool"]


@pytest.mark.parametrize(
    ("what", "many"),
    [("github.com/NVIDIA", True), ("lab/tool", True), ('"sparse attention"', False), ('author:"Rui Mao"', False)],
)
async def test_where_repositories_are_followed_as_many_are_shown_as_there_is_room_for(
    ada: Asker, what: str, many: bool
) -> None:
    await ada.ask(f"follow {what} at once")
    (topic,) = (await topics(ada)).values()
    limits = (await ada.context.request(ada.actor, topic)).limits
    assert limits.repositories == (limits.entries if many else ada.context.limits.repositories)


async def test_who_may_not_manage_may_not_follow(ada: Asker) -> None:
    await ada.by(may_administer=True).ask("settings manage admins")
    with pytest.raises(UsageError, match="Only administrators"):
        await ada.ask("follow org:nvidia")
    assert not await topics(ada)


async def test_nothing_is_made_where_nothing_can_be_posted(ada: Asker) -> None:
    async def closed(_actor: Actor) -> str:
        return "Invite me first."

    shut = replace(ada, context=replace(ada.context, obstacle=closed))
    reply = await shut.ask("follow org:nvidia weekly")
    assert reply.title == "Organisation: nvidia is not followed yet"
    assert button(reply, "Follow") == "follow org:nvidia weekly"
    assert not await topics(ada)


async def test_in_a_forum_that_wants_a_tag_it_is_asked_for(ada: Asker) -> None:
    async def forum(_actor: Actor) -> ForumTags:
        return ForumTags(("papers", "code"), required=True)

    there = replace(ada, context=replace(ada.context, forum_tags=forum))
    reply = await there.ask("follow org:nvidia")
    assert reply.title == "Which one?"
    assert (await there.ask(button(reply, "code"))).title == "Subscribed to Organisation: nvidia"


async def test_where_there_is_no_such_topic_following_is_offered(ada: Asker) -> None:
    reply = await ada.ask('subscribe "sparse attention"')
    assert reply.title == 'There is no topic "sparse attention"'
    assert button(reply, "Follow") == 'follow "sparse attention"'
    assert reply.private
    assert not await topics(ada)
    assert button(await ada.ask("subscribe mamba weekly"), "Follow") == "follow mamba"


async def test_lists_tell_what_is_followed_apart_and_last(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.ask("topic create zoo animals")
    await ada.ask('follow author:"Ann Ada"')
    await ada.ask("subscribe zoo")
    listed = await ada.ask("topics")
    assert listed.title == "3 topics"
    assert listed.text == ("1 of your own, 2 that come with Broadsheet. Besides, 1 author or query is followed.",)
    assert listed.entries[-1].title == "Author: Ann Ada (author-ann-ada)"
    assert 'followed in this workspace: author:"Ann Ada"' in listed.entries[-1].lines
    titles = [entry.title for entry in (await ada.ask("list")).entries]
    assert titles == ["KV cache (kv)", "Zoo (zoo)", "Author: Ann Ada (author-ann-ada), followed"]


async def test_what_is_followed_can_be_paused_and_resumed_by_its_name_and_its_words(ada: Asker) -> None:
    await ada.ask('follow author:"Ann Ada"')
    await ada.ask("pause author-ann-ada")
    await ada.ask('resume "author:Ann Ada"')
    assert not (await ada.here())[0].paused
    assert (await ada.ask('unfollow author:"Ada, Ann"')).title == "Author: Ann Ada is not followed here any more"


async def test_a_copy_of_what_is_followed_is_a_topic_of_the_workspaces_own(ada: Asker) -> None:
    await ada.ask("follow org:nvidia")
    await ada.ask("topic create green from org-nvidia")
    assert not (await topics(ada))["green"].followed
    assert (await topics(ada))["org-nvidia"].followed


async def test_its_digest_has_what_fits(ada: Asker) -> None:
    await ada.ask('follow author:"Rui Mao"')
    await ada.context.store.items.add(
        [by(21, "Rui Mao", ada=ada), by(22, "Lin Ying", ada=ada)], ada.now + timedelta(minutes=5)
    )
    (digest,) = (await ada.at(ada.now + timedelta(minutes=10)).ask("now author-rui-mao")).digests
    assert [entry.ranked.item.title for entry in digest.entries] == ["Paper 21"]


def test_the_words_of_the_command_are_read_to_their_end() -> None:
    assert parse('follow author:"Tri Dao" weekly') == Follow('author:"Tri Dao"', Rhythm.WEEKLY)
    assert parse("watch the daily news daily.") == Follow("the daily news", Rhythm.DAILY)
    assert parse('follow "weekly"') == Follow('"weekly"')
