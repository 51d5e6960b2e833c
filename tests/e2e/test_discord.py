"""What people do in Discord, from the invitation to a lost permission: the whole service and discord.py, over real sockets.

BROADSHEET_TRANSCRIPT names a file to which what was said is written.
"""

from datetime import timedelta
from pathlib import Path

from adapters.discord.install.invite import invite
from tests.e2e.discord_desk import DiscordDesk, Transcript, restarted, sitting
from tests.fakes.discord import Answer, Kind, Message, Permission


async def test_a_team_from_the_invitation_to_a_lost_permission(tmp_path: Path) -> None:
    said = Transcript()
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        said.lines += [f"invitation: {invite('1234567890')}", ""]
        await subscribe_by_form(desk, said)
        message = await digest(desk, said)

        card = await opened_card(desk, said, message)
        asked = await fake.click(card, "More like this", user=desk.ben)
        said.asked("Ben", "More like this", asked)
        assert "More like this in GPU systems" in asked.text
        asked = await fake.click(card, "More like this", user=desk.ben)
        assert "Take back" in [each["label"] for each in asked.messages[0].buttons], "pressed twice, it says what holds"
        asked = await fake.slash("digest why", item="2604.30001", topic="gpu-systems", user=desk.ben, channel=desk.papers)
        said.asked("Ben", "/digest why item:2604.30001 topic:gpu-systems", asked)
        assert "posted" in asked.text.lower()
        asked = await fake.click(card, "Why", user=desk.ben)
        said.asked("Ben", "Why", asked)
        assert "Why: " in asked.text
        for left_out in ("score 0.", "Its summary is from the abstract"):
            assert left_out in asked.text, "what the card leaves out stands here"
        await search_with_pages(desk, said)

        fake.gateway.drop()
        await fake.gateway.heard()
        asked = await fake.slash("digest status", user=desk.anna, channel=desk.papers)
        said.asked("Anna", "(the gateway dropped and was resumed) /digest status", asked)
        assert asked.text

        async with restarted(desk) as again:
            card = await opened_card(again, said, message, "Take back more")
            asked = await fake.click(card, "Save", user=again.ben)
            said.asked("Ben", "(after a restart, from the same message) Save", asked)
            assert "saved" in asked.text.lower()
            await exported_and_mistyped(again)
            await lost_permission(again, said)
        assert (fake.wrong, fake.mentions) == ([], [])
    said.write()


async def subscribe_by_form(desk: DiscordDesk, said: Transcript) -> None:
    asked = await desk.fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers)
    assert asked.first is Answer.FORM
    values = {
        "topic": "gpu-systems",
        "when": "daily at 09:00 in UTC",
        "numbers": "top 3",
        "layout": ["brief quiet"],
        "filter": "-survey",
    }
    sent = await desk.fake.submit(asked, values)
    said.asked("Anna", f"/digest subscribe, and the form: {values}", sent)
    (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
    assert (held.topic, held.entries, held.filter.text, held.made_by) == ("gpu-systems", 3, "-survey", str(desk.anna.id))
    (told,) = await desk.fake.posted(desk.papers)
    said.posted(told)
    assert "gpu-systems" in told.text.casefold().replace(" ", "-"), "the channel is told"


async def digest(desk: DiscordDesk, said: Transcript) -> Message:
    (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
    await desk.app.store.items.add(desk.fresh(), desk.now + timedelta(minutes=5))
    before = len(desk.fake.of_bot(desk.papers))
    await desk.round()  # a tick sees the subscription before it is due
    await desk.round(desk.due(held))
    (message,) = desk.fake.of_bot(desk.papers)[before:]
    said.posted(message)
    assert [each["placeholder"] for each in message.selects] == ["Open a card…"]
    await desk.round()
    assert len(desk.fake.of_bot(desk.papers)) == before + 1, "once"
    return message


async def opened_card(desk: DiscordDesk, said: Transcript, message: Message, first: str = "More like this") -> Message:
    """Choose the digest's second entry, and return its card, which Ben alone sees; its first button says what he said."""
    entry = message.selects[0]["options"][1]["label"]
    before = message.text
    asked = await desk.fake.choose(message, entry, user=desk.ben)
    said.asked("Ben", f"Open a card… {entry}", asked)
    (card,) = asked.messages
    assert asked.first is Answer.DEFERRED
    assert (card.is_private, message.text) == (True, before)
    assert entry.partition(". ")[2] in card.text
    assert [each["label"] for each in card.buttons] == [
        first,
        "Less",
        "Save",
        "Abstract",
        "Why",
        "Similar",
        "BibTeX",
    ]
    return card


async def search_with_pages(desk: DiscordDesk, said: Transcript) -> None:
    asked = await desk.fake.slash("digest search", query="gpu", user=desk.ben, channel=desk.papers)
    said.asked("Ben", "/digest search query:gpu", asked)
    assert asked.first is Answer.DEFERRED
    (first,) = asked.messages
    before = first.text
    later = next(button["label"] for button in first.buttons if "page=" in button["custom_id"])
    turned = await desk.fake.click(first, later, user=desk.ben)
    assert turned.first is Answer.DEFERRED_UPDATE
    assert turned.messages[0] is first, "the page changes in place"
    await turned.until(lambda _: first.text != before)
    said.asked("Ben", later, turned)
    entry = first.selects[0]["options"][0]["label"]
    opened = await desk.fake.choose(first, entry, user=desk.ben)
    said.asked("Ben", f"Open a card… {entry}", opened)
    (card,) = opened.messages
    assert card.is_private
    assert card is not first, "the list stays as it is"
    assert {"More like this", "Less", "Save", "Similar"} <= {each["label"] for each in card.buttons}


async def exported_and_mistyped(desk: DiscordDesk) -> None:
    asked = await desk.fake.slash("digest saved", format="bibtex", user=desk.ben, channel=desk.papers)
    (message,) = asked.messages
    assert [each["filename"] for each in message.attachments] == ["saved.bib"]
    asked = await desk.fake.slash(
        "digest-manage subscribe", topic="gpu-systems", at="25:00", user=desk.anna, channel=desk.papers
    )
    assert "25:00" in asked.text
    assert "such as `at:09:00`" in asked.text, "the option is named as Discord has it"


async def lost_permission(desk: DiscordDesk, said: Transcript) -> None:
    (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
    desk.fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)
    await desk.app.store.items.add(desk.fresh("4"), desk.now + timedelta(hours=1))
    await desk.round()  # a tick sees the subscription before it is due
    await desk.round(desk.due(held))
    (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
    assert held.paused
    assert "I need *Send Messages* in #papers." in held.paused_because
    conversation = next(each for each in desk.fake.channels.values() if each.kind is Kind.PRIVATE)
    (told,) = conversation.messages.values()
    said.lines += [f"to Anna alone: {told.content}"]
    assert "paused" in told.content


async def test_what_did_not_work_in_a_form_is_there_when_one_goes_on(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        asked = await fake.slash("digest-manage topic create", user=desk.anna, channel=desk.papers)
        said = {"name": "serving", "query": "serving ((", "interests": "2.5 batching"}
        refused = await fake.submit(asked, said)
        assert "That did not work" in refused.text
        again = await fake.click(refused.messages[0], "Go on in the form", user=desk.anna)
        assert again.form is not None
        fields = [each["component"] for each in again.form["components"]]
        assert {each["custom_id"]: each.get("value", "") for each in fields} == said | {"examples": "", "min": ""}
        done = await fake.submit(again, {"query": "serving"})
        assert "That did not work" not in done.text
        shown = await fake.slash("digest topic show", topic="serving", user=desk.anna, channel=desk.papers)
        assert "batching" in shown.text
        assert (fake.wrong, fake.mentions) == ([], [])
