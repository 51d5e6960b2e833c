from datetime import timedelta

import pytest
import rispy
from bibtexparser.entrypoint import parse_string

from bot.errors import UsageError
from bot.handlers.saved import PAGE
from bot.models import Reply, Saved
from tests.bot.handlers.askers import Asker, about, button, said
from tests.fakes.works import paper


def keys(reply: Reply) -> list[str]:
    return [entry.item.key if entry.item else entry.title for entry in reply.entries]


async def test_an_item_is_saved_once_and_the_latest_is_listed_first(ada: Asker) -> None:
    assert (await ada.ask("save 2603.00004")).title == "Saved"
    assert (await ada.at(ada.now + timedelta(hours=1)).ask("save paging the kv cache")).title == "Saved"
    assert (await ada.ask("save https://arxiv.org/abs/2603.00004v3")).title == "Saved already"

    reply = await ada.ask("saved")

    assert reply.title == "2 saved items"
    assert keys(reply) == ["arxiv:2603.00001", "arxiv:2603.00004"]
    assert reply.entries[0].lines == ("saved on Wednesday 1 April",)
    assert reply.private


async def test_a_saved_item_is_shown_with_what_it_says(ada: Asker) -> None:
    await ada.context.store.items.add(
        [paper("2603.00020", title="Tides", abstract="We weigh the moon by its tides.")], ada.now
    )
    await ada.ask("save 2603.00020")
    await ada.ask("save 2603.00004")
    await ada.context.store.people.save_item(ada.actor.workspace, ada.actor.person, Saved("doi:10.1000/gone", ada.now))

    reply = await ada.ask("saved")
    told = {key: entry.gist for key, entry in zip(keys(reply), reply.entries, strict=True)}

    assert told["arxiv:2603.00020"] == "The authors weigh the moon by its tides."
    assert told["arxiv:2603.00004"]
    assert told["doi:10.1000/gone"] == ""


async def test_what_is_saved_is_the_persons_own(ada: Asker) -> None:
    await ada.ask("save 2603.00004")

    for other in (ada.by(person="U-bob"), ada.by(workspace="slack:T2")):
        assert (await other.ask("saved")).title == "Nothing is saved yet"
        assert (await other.ask("unsave 2603.00004")).title == "It was not saved"
    assert keys(await ada.by(channel="C9").ask("saved")) == ["arxiv:2603.00004"]


async def test_saving_is_undone_and_undoing_too(ada: Asker) -> None:
    first = await ada.ask("save 2603.00004")

    gone = await ada.ask(button(first, "Undo"))
    assert (gone.title, gone.text) == ("Not saved any more", ("Cooking with gas",))
    assert (await ada.ask("saved")).next_steps

    await ada.ask(button(gone, "Undo"))
    assert keys(await ada.ask("saved")) == ["arxiv:2603.00004"]


async def test_an_item_saved_under_an_older_key_is_saved(ada: Asker) -> None:
    await ada.context.store.people.save_item(ada.actor.workspace, ada.actor.person, Saved("doi:10.1000/kv", ada.now))
    await ada.context.store.items.add([paper("2603.00020", title="Old key", aliases=("doi:10.1000/kv",))], ada.now)

    assert (await ada.ask("save 2603.00020")).title == "Saved already"
    assert keys(await ada.ask("saved")) == ["arxiv:2603.00020"]
    assert (await ada.ask("unsave 2603.00020")).title == "Not saved any more"
    assert (await ada.ask("saved")).title == "Nothing is saved yet"


async def test_a_long_list_has_pages(ada: Asker) -> None:
    many = [about(100 + number, f"Tokamak {number}") for number in range(PAGE + 2)]
    await ada.context.store.items.add(many, ada.now)
    for number, item in enumerate(many):
        moment = ada.now + timedelta(minutes=number)
        await ada.context.store.people.save_item(ada.actor.workspace, ada.actor.person, Saved(item.key, moment))

    first = await ada.ask("saved")
    second = await ada.ask(button(first, "Next"))

    assert (len(first.entries), second.first) == (PAGE, PAGE + 1)
    assert keys(second) == ["arxiv:2603.00101", "arxiv:2603.00100"]
    assert keys(await ada.ask(button(second, "Back"))) == keys(first)
    with pytest.raises(UsageError, match="fills 2 pages"):
        await ada.ask("saved page 3")


async def test_everything_saved_is_handed_over_as_a_file(ada: Asker) -> None:
    await ada.ask("save 2603.00001")
    await ada.ask("save 2603.00004")

    files = {form: (await ada.ask(f"saved {form}")).attachment for form in ("bibtex", "ris", "markdown")}

    assert {form: file.name for form, file in files.items() if file} == {
        "bibtex": "saved.bib",
        "ris": "saved.ris",
        "markdown": "saved.md",
    }
    bib, ris, markdown = (file.text if file else "" for file in files.values())
    assert {entry["eprint"] for entry in parse_string(bib).entries} == {"2603.00001", "2603.00004"}
    assert {entry["title"] for entry in rispy.loads(ris)} == {"Paging the KV cache", "Cooking with gas"}
    assert "- [Cooking with gas](<https://arxiv.org/abs/2603.00004>) — Ada Lovelace, Alan Turing (2026)" in markdown


async def test_an_item_that_is_not_kept_any_more_is_listed_by_its_key(ada: Asker) -> None:
    await ada.ask("save 2603.00004")
    await ada.context.store.people.save_item(ada.actor.workspace, ada.actor.person, Saved("arxiv:2401.00001", ada.now))

    listed = await ada.ask("saved")
    assert "arxiv:2401.00001" in keys(listed)
    assert "It is not kept here any more.\nhttps://arxiv.org/abs/2401.00001" in said(listed)

    exported = await ada.ask("saved bibtex")
    assert exported.text == ("Of 1 item only the key is left: arxiv:2401.00001.",)
    assert exported.attachment is not None
    assert {entry["eprint"] for entry in parse_string(exported.attachment.text).entries} == {"2401.00001", "2603.00004"}

    assert (await ada.ask("unsave arxiv:2401.00001")).title == "Not saved any more"
    assert keys(await ada.ask("saved")) == ["arxiv:2603.00004"]
