"""Channels that organisations share: what is done there belongs to the workspace whose app it was done with, to no other."""

from datetime import timedelta
from pathlib import Path

import pytest

from adapters.chat.forms import FORM_LABEL, FormKind, FormRequest
from adapters.slack.forms.fields import form_row
from tests.e2e.shared_desk import GUEST, HOST, Installed, SharedDesk, sharing
from tests.e2e.stage import NEW, about
from tests.fakes.slack import Message, Person


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
    assert (await asked.answer()).team == team
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
        for where, label in ((digest, "Save"), (digest, "More like this"), (digest, "Similar")):
            answered = await (await fake.click(where, label, user=person)).answer()
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


@pytest.mark.parametrize("installed", [Installed.BOTH, Installed.HOST, Installed.ORGANISATION_AND_GUEST])
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
