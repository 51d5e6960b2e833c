"""The reading list of a channel: what people saved there, counted without names, where the workspace switched it on."""

from dataclasses import replace
from datetime import timedelta

import pytest
from bibtexparser.entrypoint import parse_string

from bot.errors import UsageError
from bot.handlers.saved import PAGE
from bot.models import DeliveryState, OccurrenceState, Reply
from tests.bot.deliveries import occurrence
from tests.bot.handlers.askers import Asker, about, button, said
from tests.bot.handlers.test_elsewhere import elsewhere
from tests.bot.handlers.test_feedback import posted as post_digest
from tests.fakes.transcript import delivery
from tests.fakes.works import paper
from tests.stores.memory import MemoryStore

DAY = timedelta(days=1)


@pytest.fixture
async def here(ada: Asker) -> Asker:
    """Ada, where what is saved counts."""
    await ada.ask("settings activity on")
    return ada


def listed(reply: Reply) -> dict[str, str]:
    return {entry.item.key if entry.item else entry.title: entry.lines[-1] for entry in reply.entries}


async def test_nothing_counts_before_the_workspace_switches_it_on_and_nothing_of_before_ever_does(ada: Asker) -> None:
    told = await ada.ask("save 2603.00004")
    assert "saved here" not in said(told)
    with pytest.raises(UsageError, match="not counted in this workspace") as refused:
        await ada.ask("saved here")
    assert "*settings activity on*" in refused.value.hint

    await ada.ask("settings activity on")

    assert (await ada.ask("saved here")).title == "Nothing was saved in this channel yet"
    again = await ada.ask("save 2603.00004")
    assert again.title == "Saved already"
    assert "counts" in again.text[0], "who saves it is told that it counts"
    assert listed(await ada.ask("saved here")) == {"arxiv:2603.00004": "1 saved, on Wednesday 1 April"}


async def test_it_counts_people_names_none_and_lists_the_latest_first(here: Asker) -> None:
    for person, hours, text in (("U-bob", 0, "2603.00004"), ("U-ada", 25, "2603.00004"), ("U-bob", 2, "2603.00001")):
        asker = here.by(person=person).at(here.now + timedelta(hours=hours))
        await asker.ask(f"save {text}")
        await asker.ask(f"save {text}")

    reply = await here.by(person="U-cy").ask("saved here")

    assert reply.title == "2 items saved in this channel"
    assert list(listed(reply).items()) == [
        ("arxiv:2603.00004", "2 saved, the last on Thursday 2 April"),
        ("arxiv:2603.00001", "1 saved, on Wednesday 1 April"),
    ]
    assert reply.private
    assert reply.people == ()
    assert "U-" not in said(reply)


async def test_one_takes_back_what_counts_and_another_joins_in(here: Asker) -> None:
    bob = here.by(person="U-bob")
    await here.ask("save 2603.00004")

    for asker, labels in ((here, ["Unsave", "Similar"]), (bob, ["Save", "Similar"])):
        (entry,) = (await asker.ask("saved here")).entries
        assert [each.label for each in entry.buttons] == labels
    await bob.ask(entry.buttons[0].command)
    assert listed(await here.ask("saved here"))["arxiv:2603.00004"].startswith("2 saved")
    for asker in (here, bob):
        await asker.ask("unsave 2603.00004")
    assert (await here.ask("saved here")).entries == ()


async def test_each_channel_has_its_own_list_and_a_direct_message_none(here: Asker) -> None:
    other, direct = here.by(channel="C2"), here.by(channel="D1", is_direct=True)
    await other.ask("save 2603.00001")
    told = await direct.ask("save 2603.00004")

    assert "saved here" not in said(told)
    assert (await here.ask("saved here")).entries == ()
    assert [*listed(await other.ask("saved here"))] == ["arxiv:2603.00001"]
    with pytest.raises(UsageError, match="yours alone"):
        await direct.ask("saved here")
    mine = await direct.ask("saved")
    assert {entry.item.key for entry in mine.entries if entry.item} == {"arxiv:2603.00001", "arxiv:2603.00004"}


async def test_what_is_saved_in_an_open_thread_counts_in_its_channel(here: Asker) -> None:
    await here.by(channel="C1-thread", parent="C1").ask("save 2603.00004")
    await here.by(channel="C1-closed").ask("save 2603.00001")

    for asker in (here, here.by(channel="C1-thread", parent="C1")):
        assert [*listed(await asker.ask("saved here"))] == ["arxiv:2603.00004"]


async def test_an_open_thread_with_a_digest_of_its_own_has_its_own_list_also_once_it_is_unsubscribed(here: Asker) -> None:
    thread = here.by(channel="C1-thread", parent="C1")
    await thread.ask("subscribe kv daily")
    await thread.ask("save 2603.00004")
    await post_digest(thread)
    for line in ("list", "unsubscribe kv", "list"):
        await thread.ask(line)
        assert [*listed(await thread.ask("saved here"))] == ["arxiv:2603.00004"], line
        assert (await here.ask("saved here")).entries == (), line


async def test_it_is_asked_for_from_elsewhere_by_who_sees_the_channel_alone(here: Asker) -> None:
    asker = replace(here, context=replace(here.context, elsewhere=elsewhere)).by(is_direct=True, channel="D1")
    await here.by(channel="C-papers").ask("save 2603.00004")
    await here.by(channel="C-board").ask("save 2603.00001")

    reply = await asker.ask("saved in #papers")
    assert (reply.title, [*listed(reply)]) == ("1 item saved in #papers", ["arxiv:2603.00004"])
    assert button(reply, "bibtex") == "saved here bibtex in #C-papers"
    with pytest.raises(UsageError, match="that you can see"):
        await asker.by(person="U-bob").ask("saved in #board")
    nothing = await replace(here, context=asker.context).ask("saved here in #board")
    assert [*listed(nothing)] == ["arxiv:2603.00001"]


async def test_it_is_not_shown_while_it_is_switched_off_and_nothing_counts_then(here: Asker) -> None:
    await here.ask("save 2603.00004")
    await here.ask("settings activity off")
    with pytest.raises(UsageError, match="not counted"):
        await here.ask("saved here")
    await here.ask("save 2603.00001")
    await here.ask("settings activity on")
    assert [*listed(await here.ask("saved here"))] == ["arxiv:2603.00004"]


async def test_of_a_reader_from_another_organisation_it_counts_and_they_see_it_too(here: Asker) -> None:
    guest = here.by(person="U-guest", is_external=True)
    await guest.ask("save 2603.00004")
    assert [*listed(await guest.ask("saved here"))] == ["arxiv:2603.00004"]


async def test_an_item_that_was_renamed_since_is_listed_once(here: Asker) -> None:
    await here.ask("save 2603.00004")
    renamed = paper("2603.00020", title="New key", aliases=("arxiv:2603.00004",))
    await here.context.store.items.add([renamed], here.now, retired=["arxiv:2603.00004"])
    await here.by(person="U-bob").ask("save 2603.00020")

    (entry,) = (await here.ask("saved here")).entries
    assert entry.item is not None
    assert (entry.item.key, entry.lines[-1][:7]) == ("arxiv:2603.00020", "2 saved")
    assert entry.buttons[0].label == "Unsave"
    assert len((await here.ask("saved")).entries) == 1
    await here.ask(entry.buttons[0].command)
    assert listed(await here.ask("saved here"))["arxiv:2603.00020"].startswith("1 saved")


async def test_a_long_list_has_pages_and_goes_into_a_file_whole(here: Asker) -> None:
    many = [about(100 + number, f"Tokamak {number}") for number in range(PAGE + 1)]
    await here.context.store.items.add(many, here.now)
    for number, item in enumerate(many):
        await here.at(here.now + timedelta(minutes=number)).ask(f"save {item.key}")

    first = await here.ask("saved here")
    second = await here.ask(button(first, "Next"))
    assert (len(first.entries), second.first, [*listed(second)]) == (PAGE, PAGE + 1, ["arxiv:2603.00100"])
    assert listed(await here.ask(button(second, "Back"))) == listed(first)
    with pytest.raises(UsageError, match="What was saved in this channel fills 2 pages"):
        await here.ask("saved here page 3")

    written = {form: (await here.ask(button(first, form))).attachment for form in ("bibtex", "markdown")}
    bib, markdown = (file.text if file else "" for file in written.values())
    assert len(parse_string(bib).entries) == PAGE + 1
    assert markdown.startswith("# Saved in a channel")
    assert markdown.count("\n- ") == PAGE + 1


async def test_what_is_not_kept_any_more_is_listed_by_its_key(here: Asker) -> None:
    await here.ask("save 2603.00004")
    await here.context.store.items.add([], here.now, retired=["arxiv:2603.00004"])
    assert "It is not kept here any more." in said(await here.ask("saved here"))


# --- where it was posted


async def posted(here: Asker, layout: str) -> None:
    """Post a digest of the channel's topic: a message for all, and where it is a thread one for each entry."""
    await here.ask(f"subscribe kv daily at 09:30 {layout}")
    (subscription,) = await here.here()
    store = here.context.store
    request = await here.context.request(here.actor, here.context.packs["kv"], subscription)
    made = await here.context.previewer.preview(replace(request, baseline=None, baseline_arrival=None), here.now)
    due = occurrence(subscription, now=here.now)
    await store.ledger.open_occurrences([due], subscription, here.now + DAY)
    sent = replace(delivery(now=here.now), occurrence=due.key[1:], workspace=due.workspace, channel="C1", made_at=here.now)
    sent = replace(sent, state=DeliveryState.DONE)
    shown = ((), *(((entry.ranked.item.key,) for entry in made.entries) if layout == "thread" else ()))
    parts = [
        replace(sent, id=f"part{part}", part=part, parts=len(shown), shows=keys, link=f"https://chat.example/{part}")
        for part, keys in enumerate(shown, start=1)
    ]
    assert await store.ledger.close_occurrence(
        replace(due, state=OccurrenceState.MADE), here.now, digest=made, deliveries=parts
    )
    assert made.entries


async def test_each_leads_to_the_message_in_which_it_was_posted(here: Asker) -> None:
    await here.ask("save 2603.00003")
    await posted(here, "brief")
    await here.ask("save 2603.00001")
    await here.ask("save 2603.00004")

    links = {entry.item.key: entry.post for entry in (await here.ask("saved here")).entries if entry.item}

    assert links == {
        "arxiv:2603.00001": "https://chat.example/1",
        "arxiv:2603.00003": "https://chat.example/1",  # it was saved before it was posted
        "arxiv:2603.00004": "",  # it never was
    }


async def test_in_a_thread_it_leads_to_the_card_and_still_does_when_the_ledger_has_forgotten_it(here: Asker) -> None:
    await posted(here, "thread")
    await here.ask("save 1")
    (entry,) = (await here.ask("saved here")).entries
    assert entry.post == "https://chat.example/2"

    later = here.now + 50 * DAY
    store = here.context.store
    assert isinstance(store, MemoryStore)
    await store.maintenance.prune(items_before=here.now - DAY, readings_before=here.now.date(), now=later)
    assert await store.ledger.deliveries(here.actor.workspace) == []
    (entry,) = (await here.at(later).ask("saved here")).entries
    assert entry.post == "https://chat.example/2"
