"""The menus of a digest in Slack: each choice is answered to who chose it, where it was chosen, and changes no digest."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.models import Coverage, Digest
from tests.conftest import NOW
from tests.e2e.slack_desk import SlackDesk, sitting
from tests.e2e.stage import NEW, about
from tests.fakes.slack import FakeSlack
from tests.fakes.slack.state import Message, Person, View

TITLES = (*NEW, "Batching on GPUs", "CUDA memory pools")
DUE = NOW.replace(hour=9)
CHOICES = {
    "Details": "Why here",
    "More like this": "More like this in GPU systems",
    "Less": "Less like this in GPU systems",
    "Save": "Saved",
    "Similar": "Close to",
}


async def posted(desk: SlackDesk, layout: str, titles: Sequence[str] = TITLES) -> list[Message]:
    """Return the messages of the next digest, in their order."""
    line = f"subscribe gpu-systems daily at 09:00 in UTC top 3 {layout}"
    await (await desk.fake.command(line, channel=desk.fake.general)).answer()
    await desk.round()
    await desk.app.store.items.add(about(11, titles, NOW + timedelta(hours=1)), NOW + timedelta(hours=1))
    await desk.round(DUE)
    for minutes in range(1, 6):
        await desk.round(DUE + timedelta(minutes=minutes))
    return [each for each in desk.fake.messages(desk.fake.general) if (each.metadata or {}).get("event_type")]


async def test_each_choice_under_an_entry_is_answered_to_one_person_and_the_digest_stays_as_it_is(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        (digest,) = await posted(desk, "brief")
        before = digest.blocks

        for label, words in CHOICES.items():
            answer = await (await fake.click(digest, label, user=ben)).answer()
            assert words in answer.words, label
            assert answer.shown_to == ben.id

        for label in ("Save", "More like this"):
            again = await (await fake.click(digest, label, user=ben)).answer()
            assert ("already" in again.words) == (label == "Save"), "less took back what more had said"
        assert (digest.blocks, digest.is_edited) == (before, False)
        assert ([(each.method, each.error) for each in fake.rejected], fake.mentions) == ([], [])


async def test_details_are_the_card_with_all_that_may_be_done_with_it(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        (digest,) = await posted(desk, "brief")
        card = await (await fake.click(digest, "Details", user=ben)).answer()

        assert card.labels == ["More like this", "Less", "Save", "Abstract", "Why", "Similar", "BibTeX"]
        for label, words in (("Why", "was posted here"), ("Similar", "Close to"), ("BibTeX", "@"), ("Save", "Saved")):
            answer = await (await fake.click(card, label, user=ben)).answer()
            assert words in answer.words, label
            assert answer is not card, "the card stays"
        led = await fake.click(card, "Abstract", user=ben)
        assert led.answers == []
        assert [(each.method, each.error) for each in fake.rejected] == []


async def test_in_a_thread_each_card_is_answered_in_the_thread(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        head, *cards = await posted(desk, "thread")

        assert [each.thread for each in (head, *cards)] == ["", head.ts, head.ts, head.ts]
        for label, words in (("Why", "was posted here"), ("More", "More like this"), ("Similar", "Close to")):
            answer = await (await fake.click(cards[0], label, user=ben)).answer()
            assert words in answer.words, label
            assert (answer.shown_to, answer.thread) == (ben.id, head.ts)


@pytest.mark.parametrize("layout", ["brief", "full"])
async def test_what_else_is_on_topic_is_listed_to_one_person(tmp_path: Path, layout: str) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        (digest,) = await posted(desk, layout)
        (label,) = [each for each in digest.labels if "more on topic" in each]

        listed = await (await fake.click(digest, label, user=ben)).answer()
        assert listed.shown_to == ben.id
        assert "4." in listed.words


async def test_in_a_window_the_card_stands_upon_the_preview_and_its_menu_works_too(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        await posted(desk, "brief")
        await fake.open_home(ben)
        home = await fake.until(lambda: fake.home(ben))
        await desk.app.store.items.add(about(21, ("Streaming GPU kernels",), desk.now), desk.now)
        await fake.click(home, "Preview", user=ben)
        preview = await window(desk, "Streaming GPU kernels")
        await fake.click(preview, "Details", user=ben)
        card = await window(desk, "Why here")
        assert card is not preview
        await fake.click(card, "Similar", user=ben)
        await window(desk, "Close to")
        assert [(each.method, each.error) for each in fake.rejected] == []


async def window(desk: SlackDesk, words: str) -> View:
    """Return the view in which these words can be read."""

    def found() -> View | None:
        return next((each for each in desk.fake.world.views.values() if words in each.words), None)

    shown = await desk.fake.until(found)
    assert shown is not None
    return shown


async def test_in_the_thread_of_a_digest_numbers_are_those_of_that_digest(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        (first,) = await posted(desk, "brief")
        later = DUE + timedelta(hours=1)
        await desk.app.store.items.add(about(31, ("Later caches on GPUs", "Later GPU kernels"), later), later)
        for minutes in range(3):
            await desk.round(DUE + timedelta(days=1, minutes=minutes))
        last = fake.messages(fake.general)[-1]
        assert "Later" in last.words
        workspace, store = f"slack:{fake.general.team}", desk.app.store
        for days in range(60):  # more than are looked at for the numbers of a channel
            at = desk.now + timedelta(days=days)
            none = Digest("gpu-systems", "GPUs", at.date(), at, at, (), Coverage((), 0, 0))
            await store.digests.save(workspace, fake.general.id, none, at)

        for thread, is_later in (("", True), (first.ts, False)):
            await fake.write(fake.general, "@Broadsheet show 1", user=ben, thread=thread)
            number = 1 if is_later else 2
            shown = await fake.until(partial(_seen, fake, ben, number))
            assert ("Later" in shown.words) is is_later


async def test_in_the_thread_of_a_digest_what_it_left_out_is_leafed_through(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben, store = desk.fake, desk.fake.ben, desk.app.store
        (first,) = await posted(desk, "brief", [f"First GPU kernel {number}" for number in range(30)])
        later = DUE + timedelta(hours=1)
        await store.items.add(about(81, [f"Later GPU kernel {number}" for number in range(40)], later), later)
        for minutes in range(3):
            await desk.round(DUE + timedelta(days=1, minutes=minutes))
        assert "Later" in fake.messages(fake.general)[-1].words

        await fake.write(fake.general, "@Broadsheet rest gpu-systems", user=ben, thread=first.ts)
        page = await fake.until(partial(_seen, fake, ben, 1))
        for label, number in (("Next", "19. "), ("Back", "4. ")):
            page = await (await fake.click(page, label, user=ben)).answer()
            assert (number in page.words, "Later" in page.words) == (True, False), label


def _seen(fake: FakeSlack, person: Person, number: int) -> Message | None:
    found = fake.seen_by(person)
    return found[number - 1] if len(found) >= number else None
