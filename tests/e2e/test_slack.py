"""What people do in Slack, from the command to the answer, over real sockets."""

import asyncio
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.models import Layout
from tests.conftest import NOW
from tests.e2e.slack_desk import SlackDesk, sitting
from tests.e2e.slack_transcript import Transcript
from tests.e2e.stage import NEW, about
from tests.fakes.patience import PATIENCE
from tests.fakes.slack import Channel, Message, Person, View, inputs
from tests.fakes.slack.exchange import Exchange

TRANSCRIPT = os.environ.get("BROADSHEET_TRANSCRIPT", "")  # read before every test, which has no settings from outside
KEY = "aGVyZSBhcmUgdGhpcnR5LXR3byBieXRlcyBvZiBrZXk="


def faultless(desk: SlackDesk) -> None:
    """Nothing was sent that Slack would not take, and nobody was notified by what strangers wrote."""
    assert [(each.method, each.error) for each in desk.fake.rejected] == []
    assert desk.fake.answers.refused == []
    assert desk.fake.mentions == []
    assert desk.fake.missed == []


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated")  # slack_sdk's own use of aiohttp
async def test_from_the_installation_to_the_owner_who_is_told(tmp_path: Path, unused_tcp_port: int) -> None:
    told = Transcript()
    address = f"http://127.0.0.1:{unused_tcp_port}"
    oauth: dict[str, Any] = {"client_id": "1111.2222", "client_secret": "c" * 32, "encryption_keys": KEY}
    async with sitting(tmp_path, bot_token="", port=unused_tcp_port, public_url=address, **oauth) as desk:
        fake, ben, general = desk.fake, desk.fake.ben, desk.fake.general
        await _installed(desk, address, told)
        await _subscribed(desk, told)

        await desk.round()

        told.happens("three papers on GPUs are collected; then it is 09:00 in New York")
        await desk.app.store.items.add(about(11, NEW, NOW + timedelta(hours=2)), NOW + timedelta(hours=2))
        await desk.round(datetime.fromisoformat("2026-04-01T13:00:05+00:00"))
        (digest,) = [each for each in fake.messages(general) if (each.metadata or {}).get("event_type")]
        assert "Fused attention on GPUs" in digest.words
        told.shown(digest, "#general")

        told.does(ben, "chooses Details in the menu of the first entry")
        card = await (await fake.click(digest, "Details", user=ben)).answer()
        assert (card.shown_to, digest.is_edited) == (ben.id, False)
        assert "Why here" in card.words
        told.shown(card, "ben alone")

        told.does(ben, "chooses More like this in the same menu")
        asked = await fake.click(digest, "More like this", user=ben)
        liked = await asked.answer()
        assert (liked.shown_to, digest.is_edited) == (ben.id, False)
        told.shown(liked, "ben alone")

        told.does(ben, "types /digest why 1 in #general")
        why = await (await fake.command("why 1", user=ben, channel=general)).answer()
        assert "was posted here" in why.words
        told.shown(why, "ben alone")

        told.does(ben, "types /digest search gpu in #random")
        found = await (await fake.command("search gpu", user=ben, channel=fake.random)).answer()
        told.shown(found, "ben alone")
        told.does(ben, "presses [Next 5]")
        asked = await fake.click(found, "Next 5", user=ben)
        await asked.answer_with("6. ")
        assert found.is_edited
        told.shown(found, "ben alone, in place of the first page")

        told.happens("anna archives #general")
        await fake.archive(general)
        notice = await _noticed(desk, fake.direct(ben))
        assert "archived" in notice.text
        told.shown(notice, "ben, as a direct message")
        faultless(desk)
    if TRANSCRIPT:
        Path(TRANSCRIPT).write_text(str(told), encoding="utf-8")  # noqa: ASYNC240


async def _noticed(desk: SlackDesk, direct: Channel) -> Message:
    """The one message that the service says there by itself."""
    async with asyncio.timeout(PATIENCE):
        while not (found := desk.fake.messages(direct)):
            await desk.round(desk.now + timedelta(seconds=15))
            await asyncio.sleep(0.02)
    (notice,) = found
    return notice


async def _installed(desk: SlackDesk, address: str, told: Transcript) -> None:
    told.does(desk.fake.anna, "opens the installation's page and allows what it asks for")
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        async with browser.get(f"{address}/slack/install") as page:
            text = await page.text()
    assert "Broadsheet is in T0BROAD team" in text
    told.lines.append("  | Installed. Broadsheet is in T0BROAD team.")


async def _subscribed(desk: SlackDesk, told: Transcript) -> None:
    fake, ben, general = desk.fake, desk.fake.ben, desk.fake.general
    told.does(ben, "types /digest subscribe in #general")
    view = await (await fake.command("subscribe", user=ben, channel=general)).view()
    (option,) = await fake.options(view, "Topic", "gpu")
    view = await (await fake.choose(view, "Topic", option)).view()
    assert view.values["zone|C0GENERAL:gpu-systems"]["zone"]["selected_option"]["value"] == "America/New_York"
    told.form(view)
    weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    told.does(ben, "ticks the weekdays and presses [Subscribe]")
    asked = await fake.submit(view, {"Days": weekdays, "Entries at most": "5"})
    assert not view.is_open
    (subscribed,) = await fake.until(lambda: fake.messages(general))
    assert subscribed.text.startswith("Subscribed to GPU systems")
    assert asked.acknowledged < subscribed.changed, "nothing is waited for that may take longer than Slack's three seconds"
    told.shown(subscribed, "#general")


async def test_commands_are_answered_in_private_wherever_they_are_given(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        for channel in (fake.general, fake.random, fake.secret, fake.direct(ben)):  # the app is in the first alone
            asked = await fake.command("", user=ben, channel=channel)
            answer = await asked.answer()
            assert answer.text.startswith("What you can ask")
            assert (answer.shown_to, answer.channel) == (ben.id, channel.id)

        wrong = await (await fake.command("serch gpu", user=ben)).answer()
        assert "Did you mean /digest search gpu" in wrong.words
        assert "Usage" not in wrong.words

        asked = await fake.command("subscribe gpu-systems at 09:00", user=ben, channel=fake.random)
        told = await asked.answer()
        assert (told.shown_to, told.channel) == ("", "C0RANDOM")
        assert "America/New_York" in told.words
        assert "Change in a form" in told.labels

        refused = await (await fake.command("settings manage admins", user=ben)).answer()
        assert refused.text.startswith("That did not work")
        settled = await (await fake.command("settings manage admins", user=fake.anna)).answer()
        assert not settled.text.startswith("That did not work")
        assert sum(each.method == "users.info" for each in fake.requests) == 2
        faultless(desk)


async def test_a_button_of_an_answer_changes_it_in_place_and_one_of_an_entry_does_not(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        found = await (await fake.command("search gpu", user=ben, channel=fake.random)).answer()
        saved = await (await fake.click(found, "Save", user=ben)).answer()
        assert saved.text.startswith("Saved")
        assert (saved is found, found.is_edited, saved.shown_to) == (False, False, ben.id)

        await (await fake.click(saved, "Undo", user=ben)).answer_with("Not saved any more")
        assert saved.is_edited
        await (await fake.click(found, "Newest first", user=ben)).answer_with("newest first")
        assert found.is_edited

        for button in (each for block in found.blocks for each in block.get("elements", []) if "value" in each):
            button["value"] = "k:AAAAAAAAAAAAAAAAAAAAAA"  # of a text that nobody keeps
        old = await (await fake.click(found, "Similar", user=ben)).answer()
        assert old.text.startswith("That button does nothing now")

        told = await (await fake.command("subscribe gpu-systems", user=ben, channel=fake.general)).answer()
        preview = await (await fake.click(told, "Preview", user=fake.anna)).answer()
        assert (preview.shown_to, told.is_edited) == (fake.anna.id, False)
        await (await fake.click(told, "Unsubscribe", user=fake.anna)).answer_with("Unsubscribed from GPU systems")
        assert [each.text.split("\n")[0] for each in fake.messages(fake.general)] == [
            "Subscribed to GPU systems",
            "Unsubscribed from GPU systems",
        ]
        faultless(desk)


async def test_a_topic_is_made_tried_and_edited_in_forms(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        view = await (await fake.command("topic create", user=ben)).view()
        await fake.choose(view, "query", "gpu")
        await fake.choose(view, "query", "gpu AND (")
        await fake.until(lambda: "closing" in view.words or "parenthes" in view.words)
        await fake.choose(view, "query", "training -survey")
        await fake.until(lambda: "1 of the 8 items of the last 7 days enters it." in view.words)

        filled = {"Name": "gpu-systems", "Interests: what ranks high": '2.5 "training"\n-1 survey', "Examples": "2603.00001"}
        await fake.submit(view, filled)
        assert (view.is_open, list(view.errors)) == (True, ["name|"])
        await fake.submit(view, {"Name": "kernels"})
        assert not view.is_open
        (made,) = await fake.until(lambda: fake.messages(fake.general))
        assert made.text.startswith("Made the topic")

        shown = await (await fake.command("topic show kernels", user=ben)).answer()
        assert "training" in shown.words, shown.words
        assert "× 2.5" in shown.words, shown.words
        first, second = [await (await fake.click(shown, "Change in a form", user=ben)).view() for _ in range(2)]
        await fake.submit(first, {"Title": "Kernels", "Interests: what ranks high": '2.5 "training"'})
        await fake.until(lambda: [each for each in fake.messages(fake.general) if "Kernels" in each.text])
        await fake.submit(second, {"Bar": "0.3"})
        (error,) = second.errors.values()
        assert "kernels is in revision" in error
        assert "/digest topic show kernels" in error
        assert "*" not in error
        faultless(desk)


async def test_a_channel_is_subscribed_changed_and_filtered_in_forms(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben, general = desk.fake, desk.fake.ben, desk.fake.general
        view = await (await fake.command("subscribe", user=ben, channel=general)).view()
        options = await fake.options(view, "Topic", "")
        systems = next(each for each in options if each["value"] == "gpu-systems")
        view = await (await fake.choose(view, "Topic", systems)).view()
        await fake.submit(view, {"Filter": "has:nonsense:("})
        assert list(view.errors) == ["filter|C0GENERAL:gpu-systems"]
        await fake.choose(view, "Channel", fake.secret.id)
        await fake.until(lambda: "filter|C0SECRET:gpu-systems" in {each["block_id"] for each in view.blocks})
        await fake.submit(view)
        assert view.errors == {
            "channel|": "Slack knows no such channel, or it is private and Broadsheet is not in it. "
            "Invite the app to the channel with /invite @Broadsheet."
        }
        zones = await fake.options(view, "Time zone", "zuri")
        await fake.choose(view, "Channel", fake.random.id)
        await fake.until(lambda: "zone|C0RANDOM:gpu-systems" in {each["block_id"] for each in view.blocks})
        await fake.submit(view, {"Time zone": zones[0], "At": "07:30", "Filter": "-survey", "Layout": "full"})
        (told,) = await fake.until(lambda: fake.messages(fake.random))
        assert "at 07:30 (Europe/Zurich)" in told.text

        view = await (await fake.click(told, "Change in a form", user=ben)).view()
        assert view.values["filter|C0RANDOM:gpu-systems"]["filter"]["value"] == "-survey"
        await fake.submit(view, {"At": "10:15", "Filter": ""})
        changed = await fake.until(lambda: fake.messages(fake.random)[1:])
        assert len(changed) == 1
        (now,) = await desk.app.store.workspaces.subscriptions("slack:T0BROAD")
        assert (f"{now.schedule.at:%H:%M}", now.filter.text, now.layout) == ("10:15", "", Layout.FULL)

        shown = await (await fake.command("filter gpu-systems", user=ben, channel=fake.random)).answer()
        view = await (await fake.click(shown, "Change in a form", user=ben)).view()
        view.values["query|"]["query"]["value"] = "training"
        await fake.click(view, "Test")
        await fake.until(lambda: "It would have let through" in view.words)
        assert view.values["query|"]["query"]["value"] == "training"
        await fake.submit(view)
        await fake.until(lambda: fake.messages(fake.random)[2:])
        (now,) = await desk.app.store.workspaces.subscriptions("slack:T0BROAD")
        assert now.filter.text == "training"

        view = await (await fake.click(changed[0], "Change in a form", user=ben)).view()
        await fake.submit(view, {"Or once a month, on day": "15"})  # another rhythm is another digest beside it
        await fake.until(lambda: fake.messages(fake.random)[3:])
        both = await desk.app.store.workspaces.subscriptions("slack:T0BROAD")
        assert sorted((each.schedule.month_day, each.layout) for each in both) == [(0, Layout.FULL), (15, Layout.FULL)]
        faultless(desk)


async def test_the_home_tab_shows_what_concerns_one_and_its_buttons_act_in_their_channel(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, anna, ben = desk.fake, desk.fake.anna, desk.fake.ben
        await (await fake.command("subscribe gpu-systems", user=ben, channel=fake.general)).answer()
        await (await fake.command("save 2603.00002", user=ben)).answer()
        fake.secret.members.discard(ben.id)
        await fake.invite(fake.secret)
        await (await fake.command("subscribe llm-inference", user=anna, channel=fake.secret)).answer()

        await fake.open_home(ben)
        home = await fake.until(lambda: fake.home(ben))
        assert "Schedules" in home.words
        assert "GPU systems* in <#C0GENERAL>" in home.words
        assert "Sharding tensors in CUDA" in home.words
        assert "LLM inference" not in home.words
        assert "Status" not in home.labels
        await fake.open_home(anna)
        admins = await fake.until(lambda: fake.home(anna))
        assert "7 papers, 1 repository" in (await _opened(desk, await fake.click(admins, "Status", user=anna))).words

        window = await _opened(desk, await fake.click(home, "Pause", user=ben))
        assert "GPU systems is paused" in window.words
        (now,) = await desk.app.store.workspaces.subscriptions("slack:T0BROAD", channel="C0GENERAL")
        assert now.paused
        home = await _home_with(desk, ben, "Resume")

        view = await _opened(desk, await fake.click(home, "Edit…", user=ben))
        assert view.title == "Subscribe a channel"
        await fake.submit(view, {"At": "08:00"})
        assert view.is_open
        assert "Changed the subscription to GPU systems" in view.words
        home = await _home_with(desk, ben, "08:00")

        await (await fake.command("subscribe gpu-systems weekly at 17:00", user=ben, channel=fake.general)).answer()
        await fake.open_home(ben)
        home = await _home_with(desk, ben, "17:00")  # the other one is paused, and stands last
        view = await _opened(desk, await fake.click(home, "Edit…", user=ben))
        (at, days) = (inputs.found(view.blocks, what)[1] for what in ("At", "Days"))
        assert (at["initial_time"], [each["text"]["text"] for each in days["initial_options"]]) == ("17:00", ["Monday"])

        saved = await _opened(desk, await fake.click(home, "All 1", user=ben))
        await fake.click(saved, "bibtex", user=ben)
        await fake.until(lambda: "@misc{" in saved.words or "@article{" in saved.words)

        view = await _opened(desk, await fake.click(home, "Search papers", user=ben))
        await fake.submit(view, {"Query": "gpu"})
        assert "Found for: gpu" in view.words
        await fake.click(view, "Similar", user=ben)
        await fake.until(lambda: [each for each in fake.world.views.values() if "Close to" in each.words])
        assert "Found for: gpu" in view.words
        await fake.click(view, "Next 5", user=ben)
        await fake.until(lambda: "6. " in view.words)
        faultless(desk)


async def test_the_home_tab_shows_the_best_of_what_was_posted_in_ones_channels(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben, general = desk.fake, desk.fake.ben, desk.fake.general
        await (await fake.command("subscribe gpu-systems at 09:00 in UTC", user=ben, channel=general)).answer()
        await desk.round()
        await desk.app.store.items.add(about(11, NEW, NOW + timedelta(hours=1)), NOW + timedelta(hours=1))
        desk.now = NOW + timedelta(hours=2, seconds=5)
        while len(fake.messages(general)) < 2:
            await desk.round(desk.now + timedelta(seconds=5))
        await fake.open_home(ben)
        home = await fake.until(lambda: fake.home(ben))
        assert "Today in your channels" in home.words
        assert all(title in home.words for title in NEW)
        assert "GPU systems in <#C0GENERAL>" in home.words

        view = await _opened(desk, await fake.click(home, "Save", user=ben))
        assert "Saved" in view.words
        home = await _home_with(desk, ben, "All 1")
        view = await _opened(desk, await fake.click(home, "More like this", user=ben))
        people = desk.app.store.people
        assert [each.topic for each in await people.feedback("slack:T0BROAD", "gpu-systems")] == ["gpu-systems"]
        faultless(desk)


async def test_a_topic_chosen_on_the_home_tab_is_sent_to_oneself_at_one_click_or_shown(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        await fake.open_home(ben)
        home = await fake.until(lambda: fake.home(ben))
        assert "Nothing is subscribed in the channels that you are in" in home.words
        first, *_ = await fake.options(home, "topic:to_me", "gpu")
        view = await _opened(desk, await fake.choose(home, "topic:to_me", first, user=ben))
        assert "Subscribed" in view.words
        (mine,) = await desk.app.store.workspaces.subscriptions("slack:T0BROAD")
        assert (mine.topic, mine.channel) == ("gpu-systems", fake.world.direct(fake.team, ben).id)
        home = await _home_with(desk, ben, "GPU systems* to you")

        window = await _opened(desk, await fake.choose(home, "topic:show", first, user=ben))
        assert "Interests" in window.words
        view = await _opened(desk, await fake.click(window, "Subscribe", user=ben))  # where, the form asks
        assert view.title == "Subscribe a channel"
        assert len(await desk.app.store.workspaces.subscriptions("slack:T0BROAD")) == 1
        faultless(desk)


async def test_what_ends_something_is_asked_about_before_it_is_done_from_a_menu(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben, general = desk.fake, desk.fake.ben, desk.fake.general
        await (await fake.command("subscribe gpu-systems", user=ben, channel=general)).answer()
        await fake.open_home(ben)
        home = await fake.until(lambda: fake.home(ben))
        view = await _opened(desk, await fake.click(home, "Unsubscribe", user=ben))
        assert "unsubscribe gpu-systems" in view.words
        assert len(await desk.app.store.workspaces.subscriptions("slack:T0BROAD")) == 1
        await fake.click(view, "Unsubscribe", user=ben)
        await fake.until(lambda: "Unsubscribed from GPU systems" in view.words)
        assert not await desk.app.store.workspaces.subscriptions("slack:T0BROAD")
        await fake.click(view, "Undo", user=ben)
        await fake.until(lambda: "Subscribed" in view.words)
        (again,) = await desk.app.store.workspaces.subscriptions("slack:T0BROAD")
        assert again.channel == general.id
        faultless(desk)


async def _opened(desk: SlackDesk, asked: Exchange) -> View:
    """The modal that a press opened, whatever else was shown because of it."""

    def found() -> View | None:
        return next((each for each in desk.fake.world.views.values() if each.opened_by == asked.trigger), None)

    view = await desk.fake.until(found)
    assert view is not None
    return view


async def _home_with(desk: SlackDesk, person: Person, words: str) -> View:
    def found() -> View | None:
        home = desk.fake.home(person)
        return home if home is not None and words in home.words else None

    shown = await desk.fake.until(found)
    assert shown is not None
    return shown


async def test_papers_like_the_one_that_a_message_links_are_found(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        linking = fake.say(fake.random, "look: <https://arxiv.org/pdf/2603.00001v2|this one>, it is good")
        found = await (await fake.shortcut("find_similar", user=ben, message=linking)).answer()
        assert found.text.startswith("Close to Paging the KV cache")
        assert (found.shown_to, found.channel) == (ben.id, "C0RANDOM")
        plain = fake.say(fake.random, "nothing here")
        told = await (await fake.shortcut("find_similar", user=ben, message=plain)).answer()
        assert "links nothing that Broadsheet knows" in told.words
        view = await (await fake.shortcut("search_papers", user=ben)).view()
        assert view.title == "Search papers"
        faultless(desk)


@pytest.mark.parametrize(("options", "counts"), [("brief", False), ("brief top 1", True)])
async def test_a_reaction_counts_only_on_a_brief_that_shows_one_entry(tmp_path: Path, options: str, counts: bool) -> None:
    async with sitting(tmp_path, reactions=True) as desk:
        fake, ben, general = desk.fake, desk.fake.ben, desk.fake.general
        await (await fake.command(f"subscribe gpu-systems at 09:00 in UTC {options}", user=ben, channel=general)).answer()
        await desk.round()
        await desk.app.store.items.add(about(11, NEW, NOW + timedelta(hours=1)), NOW + timedelta(hours=1))
        desk.now = NOW + timedelta(hours=2, seconds=5)
        while len(fake.messages(general)) < 2:
            await desk.round(desk.now + timedelta(seconds=5))
        brief = fake.messages(general)[1]
        assert sum(title in brief.words for title in NEW) == (1 if counts else len(NEW))
        await fake.react(brief, "+1")
        await fake.react(brief, "-1", user=fake.anna)
        people = desk.app.store.people
        async with asyncio.timeout(PATIENCE):
            while len(heard := await people.feedback("slack:T0BROAD", "gpu-systems")) < 2 * counts:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert len(heard) == 2 * counts
        faultless(desk)


async def test_reactions_and_links_are_heard_where_they_are_switched_on(tmp_path: Path) -> None:
    async with sitting(tmp_path, reactions=True, link_previews=True) as desk:
        fake, ben, general = desk.fake, desk.fake.ben, desk.fake.general
        await (await fake.command("subscribe gpu-systems at 09:00 in UTC thread", user=ben, channel=general)).answer()
        await desk.round()
        await desk.app.store.items.add(about(11, NEW, NOW + timedelta(hours=1)), NOW + timedelta(hours=1))
        desk.now = NOW + timedelta(hours=2, seconds=5)
        while len(entries := [each for each in fake.messages(general) if each.thread]) < 3:
            await desk.round(desk.now + timedelta(seconds=5))
        head, entry = fake.messages(general)[1], entries[1]

        async def said() -> list[tuple[str, str, bool]]:
            return [(e.person, e.key, e.more) for e in await desk.app.store.people.feedback("slack:T0BROAD", "gpu-systems")]

        async def comes_to(wanted: list[tuple[str, str, bool]]) -> None:
            async with asyncio.timeout(PATIENCE):
                while await said() != wanted:  # noqa: ASYNC110 - the store sets no event
                    await asyncio.sleep(0.02)

        told = await (await fake.click(entry, "Save", user=ben)).answer()
        assert (told.shown_to, told.thread) == (ben.id, entry.thread)

        key = f"arxiv:2603.{11 + NEW.index(next(title for title in NEW if title in entry.words)):05}"
        await fake.react(entry, "+1::skin-tone-4")
        await comes_to([(ben.id, key, True)])
        await fake.react(entry, "-1")
        await comes_to([(ben.id, key, False)])
        await fake.unreact(entry, "+1::skin-tone-4")  # what stands is the other one
        await fake.react(entry, "tada")
        await fake.react(head, "+1")  # it shows several
        await fake.react(entry, "thumbsup", user=fake.team.app_user)
        await fake.unreact(entry, "-1")
        await comes_to([])

        link = "https://arxiv.org/abs/2603.00001"
        shared = await fake.share(fake.random, f"see {link} and https://example.org/x and https://github.com/acme/unknown")
        await fake.until(lambda: shared.unfurls)
        assert list(shared.unfurls) == [link]
        assert "Paging the KV cache" in str(shared.unfurls)
        again = await fake.share(fake.random, f"again <{link}>")
        elsewhere = await fake.share(general, f"here <{link}>")
        await fake.until(lambda: elsewhere.unfurls)
        assert not again.unfurls
        desk.now += timedelta(minutes=31)
        later = await fake.share(fake.random, f"later <{link}>")
        await fake.until(lambda: later.unfurls)
        await fake.share(general, f"our own <{link}>", user=fake.team.app_user)
        faultless(desk)


async def test_reactions_and_links_are_not_heard_unless_they_are_switched_on(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        shared = await fake.share(fake.random, "see https://arxiv.org/abs/2603.00001")
        await (await fake.command("help")).answer()  # what came before it has been heard
        assert not shared.unfurls
        assert not [each for each in fake.requests if each.method == "chat.unfurl"]
        faultless(desk)
