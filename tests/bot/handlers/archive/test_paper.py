"""One item with its history, as its reader may know it."""

from dataclasses import replace
from datetime import timedelta

from bot.handlers.archive.paper import paper_history
from bot.handlers.archive.reading import viewer_of
from bot.models import Item, Kind, PaperHistory, Reading, Release, Viewer
from tests.bot.handlers.archive.test_reading import knowing, posted
from tests.bot.handlers.askers import PAPERS, Asker
from tests.conftest import NOW

DAY = timedelta(days=1)
STRANGER = Viewer(workspace="slack:T1", channels=("C2",))
KEY = PAPERS[0].key


async def told(ada: Asker, viewer: Viewer, key: str = KEY) -> PaperHistory:
    found = await paper_history(ada.context, viewer, key, NOW)
    assert found is not None
    return found


async def test_an_item_is_shown_as_it_was_posted_last_with_where_the_reader_may_know_of_it(ada: Asker) -> None:
    first, last = await posted(ada, "C1", days=3), await posted(ada, "C2", days=1)
    await posted(ada, "C3")
    await posted(ada, "C1", workspace="slack:T2")
    found = await told(ada, await viewer_of(knowing(ada, "C2").context, ada.actor))
    assert [(each.channel, each.day) for each in found.postings] == [("C2", last.day), ("C1", first.day)]
    assert found.entry == next(each for each in last.entries if each.ranked.item.key == KEY)
    assert found.summary == found.entry.summary


async def test_a_member_sees_what_was_never_posted_and_a_stranger_does_not(ada: Asker) -> None:
    member = await viewer_of(ada.context, ada.actor)
    found = await told(ada, member)
    assert (found.postings, found.entry, found.saved) == ((), None, False)
    assert [part.name for part in found.summary.parts] == ["Problem", "Method", "Evidence", "Why it matters"]
    assert await paper_history(ada.context, STRANGER, KEY, NOW) is None
    await posted(ada, "C1")
    assert await paper_history(ada.context, STRANGER, KEY, NOW) is None
    assert await paper_history(ada.context, member, "arxiv:9999.99999", NOW) is None


async def test_a_stranger_is_shown_close_items_of_the_public_channels_alone_and_nobodys_list(ada: Asker) -> None:
    made = await posted(ada, "C1")
    lead, other, *_ = made.entries
    await ada.context.store.digests.save("slack:T1", "C2", replace(made, entries=(lead, other)), NOW)
    await ada.ask(f"save {lead.ranked.item.key}")
    mine = await told(ada, await viewer_of(ada.context, ada.actor), lead.ranked.item.key)
    theirs = await told(ada, STRANGER, lead.ranked.item.key)
    assert (mine.saved, theirs.saved) == (True, False)
    assert {each.key for each in theirs.similar} <= {other.ranked.item.key} < {each.key for each in mine.similar}


async def test_versions_and_readings_are_those_that_are_known_by_day(ada: Asker) -> None:
    code = Item(
        key="github:a/b", kind=Kind.REPO, title="a/b", stars=61, release=Release(tag="v1.2", published=NOW), paper=KEY
    )
    work = replace(PAPERS[0], version=3, published=NOW - 9 * DAY, updated=NOW - DAY, repo=code.key, upvotes=5)
    await ada.context.store.items.add([work, code], NOW)
    await ada.context.store.items.add([replace(code, stars=70)], NOW + DAY)
    viewer = await viewer_of(ada.context, ada.actor)
    found = await told(ada, viewer)
    assert found.versions == (("v1", NOW - 9 * DAY), ("v3", NOW - DAY))
    assert found.readings == (Reading(NOW.date(), 61, None, 5), Reading((NOW + DAY).date(), 70, None, None))
    assert (await told(ada, viewer, code.key)).versions == (("v1.2", NOW),)
