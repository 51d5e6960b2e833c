"""Who may read what of the archive, and what its pages are made of."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

from bot.errors import DeliveryError
from bot.handlers.archive.reading import archived_days, archived_topics, digests_of_day, front, viewer_of
from bot.models import Actor, Digest, OptIn, Viewer, code_kept
from tests.bot.handlers.askers import PAPERS, Asker
from tests.conftest import NOW

DAY = timedelta(days=1)


async def posted(ada: Asker, channel: str, topic: str = "kv", days: int = 0, workspace: str = "") -> Digest:
    """A digest that was posted so many days ago."""
    context, at = ada.context, NOW - days * DAY
    nowhere = replace(ada.actor, channel="C-new")  # where nothing was posted before
    request = await context.request(nowhere, (await context.topics(ada.actor.workspace))[topic])
    made = replace(await context.previewer.preview(request, NOW), day=at.date())
    await context.store.digests.save(workspace or ada.actor.workspace, channel, made, at)
    return made


def knowing(ada: Asker, *channels: str) -> Asker:
    """Her, who may know of these channels."""

    async def visible(actor: Actor, asked: Collection[str]) -> Collection[str]:
        return {actor.channel, *channels} & set(asked)

    return replace(ada, context=replace(ada.context, visible_channels=visible))


async def test_a_person_reads_the_channels_that_they_may_know_of(ada: Asker) -> None:
    for channel in ("C1", "C2", "C3", "mail:a@x.example"):
        await posted(ada, channel)
    await posted(ada, "C4", workspace="slack:T2")
    viewer = await viewer_of(knowing(ada, "C2", "C4").context, replace(ada.actor, channel="C9"))
    assert viewer == Viewer(workspace="slack:T1", person="U-ada", channel="C9", channels=("C2",))


async def posted_to_mailboxes(ada: Asker) -> None:
    """A digest that was sent to an address of hers, and to one of his."""
    recipients = ada.context.store.recipients
    for person in ("U-ada", "U-bob"):
        asked = {"workspace": "slack:T1", "person": person, "address": f"{person}@lab.example"}
        code = code_kept("slack:T1", person, "7-K")
        await recipients.ask(OptIn(code=code, asked_at=NOW, until=NOW + DAY, command="", **asked))  # type: ignore[arg-type]
        await recipients.confirm("slack:T1", person, code, f"mail:{person}", NOW)
        await posted(ada, f"mail:{person}")


async def test_a_person_reads_what_is_sent_to_their_own_address_and_to_no_other(ada: Asker) -> None:
    await posted_to_mailboxes(ada)
    viewer = await viewer_of(knowing(ada).context, ada.actor)
    assert viewer.channels == ("mail:U-ada",)


async def test_where_nobody_can_tell_only_what_is_surely_theirs_is_read_and_the_viewer_says_so(ada: Asker) -> None:
    async def silent(_actor: Actor, _channels: Collection[str]) -> Collection[str]:
        raise DeliveryError("The platform does not answer.")

    for channel in ("C1", "C2"):
        await posted(ada, channel)
    never_asked = await viewer_of(ada.context, ada.actor)
    refused = await viewer_of(replace(ada.context, visible_channels=silent), ada.actor)
    assert never_asked == refused
    assert (refused.channels, refused.is_partial) == (("C1",), True)


async def test_in_the_terminal_nothing_is_private(ada: Asker) -> None:
    await posted(ada, "local", workspace="local")
    terminal = replace(ada.actor, workspace="local", channel="local", platform="terminal")
    viewer = await viewer_of(ada.context, terminal)
    assert (viewer.channels, viewer.is_partial) == (("local",), False)


async def test_the_front_is_the_newest_digest_of_each_topic_of_the_last_week(ada: Asker) -> None:
    for days in (9, 8, 2, 1):
        await posted(ada, "C1", days=days)
    await posted(ada, "C1", "gpu-systems", days=7)
    viewer = await viewer_of(ada.context, ada.actor)
    found = await front(ada.context, viewer, NOW)
    assert [(each.digest.topic, each.digest.day) for each in found] == [("kv", (NOW - DAY).date())]
    assert [each.name for each in await archived_topics(ada.context, viewer)] == ["kv", "gpu-systems"]


async def test_the_front_shows_what_there_is_when_nothing_is_of_the_last_week(ada: Asker) -> None:
    await posted(ada, "C1", days=30)
    viewer = await viewer_of(ada.context, ada.actor)
    (found,) = await front(ada.context, viewer, NOW)
    assert found.digest.day == (NOW - 30 * DAY).date()
    assert await front(ada.context, replace(viewer, channels=("C7",)), NOW) == []


async def test_a_digest_is_read_in_its_order_with_its_numbers_and_its_cards_as_they_were_posted(ada: Asker) -> None:
    made = await posted(ada, "C1")
    assert len(made.entries) > 1
    viewer = await viewer_of(ada.context, ada.actor)
    (found,) = await digests_of_day(ada.context, viewer, "kv", NOW.date())
    assert found.digest == made
    (day,) = await archived_days(ada.context, viewer, "kv")
    assert (day.digests, day.entries) == (1, len(made.entries))
    assert any(entry.card for entry in found.digest.entries)
    assert {entry.ranked.item.title for entry in found.digest.entries} <= {each.title for each in PAPERS}
