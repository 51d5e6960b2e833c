"""Channels that organisations share: what is done there belongs to the workspace whose app it was done with, to no other."""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from adapters.chat.forms import FORM_LABEL, FormKind, FormRequest
from adapters.slack.forms.fields import form_row
from tests.e2e.shared_desk import GUEST, HOST, Installed, SharedDesk, sharing
from tests.e2e.stage import NEW, about
from tests.fakes.patience import PATIENCE
from tests.fakes.slack import Failure, Message, Person


def faultless(shared: SharedDesk) -> None:
    """Every call was made with the token of the workspace that it was about, and nothing was left unanswered."""
    assert [(each.method, each.error) for each in shared.fake.requests if each.error] == []
    assert shared.fake.answers.refused == []
    assert shared.fake.missed == []


async def a_message_with_a_form(shared: SharedDesk, team: str) -> Message:
    """The app of a workspace posts something from which a search opens."""
    client = await shared.desk.platform.clients.client(f"slack:{team}")
    row = list(form_row(FormRequest(FormKind.SEARCH)))
    await client.chat_postMessage(channel=shared.channel.id, text="Search.", blocks=row)
    return shared.fake.messages(shared.channel)[-1]


async def found_by_form(shared: SharedDesk, posted: Message, person: Person) -> Message:
    """Somebody searches in the form that a message opens; return what they are told."""
    seen = len(shared.fake.seen_by(person))
    form = await (await shared.fake.click(posted, FORM_LABEL, user=person)).view()
    await shared.fake.submit(form, {"query": "gpu"}, user=person)
    [listed, *_] = await shared.fake.until(lambda: shared.fake.seen_by(person)[seen:])
    assert listed.text.startswith("Found for: gpu")
    return listed


async def a_digest(shared: SharedDesk, team: str, topic: str = "gpu-systems") -> Message:
    """Somebody subscribes the channel with a workspace's app; return what is posted there at nine."""
    asked = await shared.fake.command(f"subscribe {topic} at 09:00 in UTC", user=shared.member(team), channel=shared.channel)
    assert (await asked.answer_with("Subscribed")).team == team  # on a busy machine it is said first that it takes a while
    desk, seen = shared.desk, shared.desk.now + timedelta(hours=1)
    await desk.round()
    await desk.app.store.items.add(about(11, NEW, seen), seen)
    desk.now += timedelta(hours=2, seconds=5)

    def posted() -> list[Message]:
        every = shared.fake.messages(shared.channel)
        return [each for each in every if each.team == team and (each.metadata or {}).get("event_type")]

    while not posted():
        await desk.round(desk.now + timedelta(seconds=5))
    return posted()[-1]


async def everything_is_done(shared: SharedDesk, team: str, installed: Installed) -> None:
    """People of all three organisations do what they can with the app of one workspace."""
    fake, channel, member = shared.fake, shared.channel, shared.member(team)
    digest = await a_digest(shared, team)
    told = next(each for each in fake.messages(channel) if each.text.startswith("Subscribed"))
    await fake.shortcut("search_papers", user=member)
    found = await fake.shortcut("find_similar", user=member, message=fake.say(channel, "https://arxiv.org/abs/2603.00001"))
    assert "Close to Paging the KV cache" in (await found.answer()).text
    changing = await (await fake.click(told, "Change in a form", user=member)).view()
    assert await fake.options(changing, "Topic", "gpu", user=member)
    posted = await a_message_with_a_form(shared, team)
    for person in (member, shared.dora, shared.egon):
        listed = await found_by_form(shared, posted, person)
        assert (listed.team, listed.shown_to) == (team, person.id)
        for label in ("Details", "Save", "More like this", "Similar"):
            answered = await (await fake.click(digest, label, user=person)).answer()
            assert (answered.team, answered.shown_to) == (team, person.id)
            assert "not installed" not in answered.words
        if person is member or not installed.is_org_wide:
            await (await fake.click(listed, "Next 5", user=person)).answer_with("6. ")
    await fake.open_home(member)
    home = await fake.until(lambda: fake.home(member))
    assert "gpu-systems" in home.words or "GPU systems" in home.words
    await (await fake.click(home, "Search papers", user=member)).view()


@pytest.mark.parametrize("installed", Installed)
async def test_what_is_done_with_a_workspaces_app_touches_its_rows_alone_and_is_answered_with_its_token(
    tmp_path: Path, installed: Installed
) -> None:
    for team in installed.teams:
        async with sharing(tmp_path / team, installed) as shared:
            await everything_is_done(shared, team, installed)
            assert await shared.workspaces() == {f"slack:{team}"}
            assert shared.asked_as() == {team}
            faultless(shared)


@pytest.mark.parametrize(
    "installed", [Installed.BOTH, Installed.HOST, Installed.ORGANISATION_AND_GUEST, Installed.ORGANISATIONS]
)
async def test_a_form_that_another_organisations_member_sends_acts_where_the_app_is_installed(
    tmp_path: Path, installed: Installed
) -> None:
    async with sharing(tmp_path, installed) as shared:
        await (await shared.fake.command("help", user=shared.fake.ben, channel=shared.channel)).answer()
        posted = await a_message_with_a_form(shared, HOST)
        listed = await found_by_form(shared, posted, shared.carl)

        assert listed.team == HOST
        assert await shared.workspaces() <= {f"slack:{HOST}"}
        faultless(shared)
    assert GUEST not in shared.asked_as()


async def test_members_of_another_organisation_read_and_change_nothing_and_are_told_so(tmp_path: Path) -> None:
    """Anybody may manage here, and carl and dora are members and administrator of another organisation."""
    async with sharing(tmp_path, Installed.HOST) as shared:
        fake = shared.fake
        digest = await a_digest(shared, HOST)
        told = next(each for each in fake.messages(shared.channel) if each.text.startswith("Subscribed"))
        before = await shared.desk.app.store.workspaces.subscriptions(f"slack:{HOST}")
        for person in (shared.carl, shared.dora, shared.egon):
            for label in {*told.labels} - {"Preview"}:
                asked = await fake.click(told, label, user=person)
                if label == "Change in a form":
                    assert "for members of the workspace" in (await asked.view()).words
                else:
                    assert "for members of the workspace" in (await asked.answer()).words, label
            kept = await (await fake.click(digest, "Save", user=person)).answer()
            assert "Saved" in kept.words
            await fake.open_home(person, team=fake.team)
            home = await fake.until(partial(fake.home, person, team=fake.team))
            assert "GPU systems" not in home.words
            assert "New topic" not in home.labels

        assert await shared.desk.app.store.workspaces.subscriptions(f"slack:{HOST}") == before
        changed = await (await fake.click(told, "Pause", user=fake.ben)).answer()
        assert "for members" not in changed.words
        assert await shared.workspaces() == {f"slack:{HOST}"}
        faultless(shared)


async def test_an_outage_makes_no_member_of_somebody_of_another_organisation(tmp_path: Path) -> None:
    async with sharing(tmp_path, Installed.HOST) as shared:
        await a_digest(shared, HOST)
        told = next(each for each in shared.fake.messages(shared.channel) if each.text.startswith("Subscribed"))
        shared.fake.fail("users.info", Failure(error="user_not_found"))
        refused = await (await shared.fake.click(told, "Pause", user=shared.carl)).answer()
        assert "for members of the workspace" in refused.words
        [subscription] = await shared.desk.app.store.workspaces.subscriptions(f"slack:{HOST}")
        assert not subscription.paused


@pytest.mark.parametrize("joined_last", [HOST, GUEST])
async def test_a_reaction_counts_once_for_the_workspace_that_posted_whichever_the_event_names(
    tmp_path: Path, joined_last: str
) -> None:
    async with sharing(tmp_path, Installed.BOTH, reactions=True, layout="thread") as shared:
        fake, store = shared.fake, shared.desk.app.store.people
        if joined_last == HOST:
            shared.channel.team, shared.channel.shared_with = GUEST, ["T0THIRD", HOST]
        await a_digest(shared, HOST)
        while not (entries := [each for each in fake.messages(shared.channel) if each.thread]):
            await shared.desk.round(shared.desk.now + timedelta(seconds=5))

        async def counted(team: str) -> list[tuple[str, bool]]:
            return [(each.person, each.more) for each in await store.feedback(f"slack:{team}", "gpu-systems")]

        async with asyncio.timeout(PATIENCE):
            await fake.react(entries[0], "+1", user=shared.carl)
            while not await counted(HOST):  # noqa: ASYNC110 - the store sets no event
                await asyncio.sleep(0.02)
            assert (await counted(HOST), await counted(GUEST)) == ([(shared.carl.id, True)], [])
            await fake.unreact(entries[0], "+1", user=shared.carl)
            while await counted(HOST):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert await shared.workspaces() == {f"slack:{HOST}"}
        faultless(shared)


async def test_a_link_is_previewed_once_in_a_shared_channel_whichever_workspace_hears_of_it(tmp_path: Path) -> None:
    link = "https://arxiv.org/abs/2603.00001"
    async with sharing(tmp_path, Installed.BOTH, link_previews=True) as shared:
        fake = shared.fake
        first = await fake.share(shared.channel, f"see {link}", user=fake.ben)
        await fake.until(lambda: first.unfurls)
        shared.channel.team, shared.channel.shared_with = GUEST, [HOST]  # from now on the host's installation is named
        second = await fake.share(shared.channel, f"again {link}", user=shared.carl)
        elsewhere = await fake.share(fake.random, f"here {link}", user=fake.ben)
        await fake.until(lambda: elsewhere.unfurls)
        assert not second.unfurls


async def test_an_app_that_leaves_a_shared_channel_takes_no_other_workspaces_with_it(tmp_path: Path) -> None:
    async with sharing(tmp_path, Installed.BOTH, join_channels=False) as shared:
        for team in (HOST, GUEST):
            asked = await shared.fake.command("subscribe gpu-systems", user=shared.member(team), channel=shared.channel)
            await asked.answer()
        await shared.fake.kick(shared.channel, team=shared.guest)

        async def paused(team: str) -> list[bool]:
            return [each.paused for each in await shared.desk.app.store.workspaces.subscriptions(f"slack:{team}")]

        async with asyncio.timeout(PATIENCE):
            while await paused(GUEST) != [True]:  # noqa: ASYNC110 - the store sets no event
                await asyncio.sleep(0.02)
        assert await paused(HOST) == [False]
