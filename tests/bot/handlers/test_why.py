from dataclasses import replace
from datetime import timedelta

import pytest

from bot.digest import selection
from bot.models import Change, Coverage, DeliveryState, Digest, LeftOut, OccurrenceState, Reply, ReplyEntry
from tests.bot.deliveries import occurrence
from tests.bot.handlers.askers import Asker, about, button, said
from tests.fakes.transcript import delivery
from tests.fakes.works import paper

LATER, DAY = timedelta(hours=3), timedelta(days=1)


@pytest.fixture
async def later(ada: Asker) -> Asker:
    """Ada, three hours after she subscribed to KV cache, with five papers that came in an hour ago."""
    await ada.ask("subscribe kv weekdays at 09:30 in Europe/Zurich top 1 filter -blockchain")
    fresh = [
        about(11, "Evicting the KV cache", appeared=ada.now, keywords=("paging",)),
        about(12, "A cache of blockchain ledgers", appeared=ada.now),
        about(13, "Evicting the KV cache early", appeared=ada.now),
        about(14, "Baking bread", appeared=ada.now),
        about(15, "Recipes for a cache of apples", appeared=ada.now),
    ]
    await ada.context.store.items.add(fresh, ada.now + LATER / 2)
    return ada.at(ada.now + LATER)


def about_topic(reply: Reply) -> ReplyEntry:
    (entry,) = reply.entries[1:]
    return entry


async def test_the_best_is_told_with_its_score_its_parts_and_when_it_will_be_posted(later: Asker) -> None:
    reply = await later.ask("why 2603.00011")

    assert reply.title == "Why: Evicting the KV cache"
    assert reply.entries[0].lines == (
        "Seen by arXiv, first on Wednesday 1 April.",
        "It appeared on Wednesday 1 April.",
    )
    entry = about_topic(reply)
    assert entry.title == "For KV cache"
    matched, score, verdict, when = entry.lines
    assert matched == "Matches the topic, better than anything else."
    assert score.startswith("Score 0.")
    assert "phrases +0." in score
    assert "matches *KV cache*" in score
    assert verdict == "It is in the next digest, as things stand."
    assert when == (
        "It will be posted Thursday 2 April at 09:30, in 21 hours 30 minutes, unless better ones come in until then."
    )


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (12, 'The filter keeps it out: title has "blockchain".'),
        (13, "It gives way to its near twin Evicting the KV cache (arxiv:2603.00011)."),
        (15, "It would pass, but better ones fill the digest: it holds at most 1 entry."),
        (14, 'It is outside the topic: no text has "cache".'),
        (1, "It came in before the time of the next digest, which begins Wednesday 1 April at 09:00."),
    ],
)
async def test_what_keeps_an_item_out_is_said_in_a_sentence(later: Asker, number: int, sentence: str) -> None:
    assert about_topic(await later.ask(f"why 2603.{number:05}")).lines[-1] == sentence


async def test_the_parts_of_a_score_add_up_to_it(later: Asker) -> None:
    line = about_topic(await later.ask("why 2603.00011")).lines[1]
    whole, _, parts = line.partition(": ")

    values = [float(part.split(" +")[-1].split()[0].strip(".,)")) for part in parts.split(", ") if " +0." in part]

    assert sum(values) == pytest.approx(float(whole.removeprefix("Score ")), abs=0.011)


async def test_what_was_posted_is_told_with_its_day_and_score(later: Asker) -> None:
    digest = (await later.ask("now kv")).digests[0]
    await later.context.store.digests.save(later.actor.workspace, later.actor.channel, digest, later.now)

    reply = await later.at(later.now + timedelta(hours=1)).ask("why 2603.00011")

    assert reply.entries[0].lines[-1].startswith("Posted here on Wednesday 1 April for KV cache, with score 0.")
    assert "Its summary is from the abstract, extracted." in reply.entries[0].lines
    assert "Posted here" not in said(await later.by(channel="C2").ask("why 2603.00011"))


async def test_what_a_daily_and_a_weekly_digest_of_one_hour_posted_is_linked_in_each_of_them(later: Asker) -> None:
    await later.ask("subscribe kv weekly at 09:30 in Europe/Zurich")
    store, shown = later.context.store, {"daily": "2603.00011", "weekly": "2603.00031"}
    await store.items.add([about(31, "A cache of pears", appeared=later.now)], later.now)
    for of in await later.here():
        request = await later.context.request(later.actor, later.context.packs["kv"], of)
        made = await later.context.previewer.preview(request, later.now)
        assert [entry.ranked.item.key for entry in made.entries] == [f"arxiv:{shown[of.rhythm]}"]
        due = occurrence(of, now=later.now)
        await store.ledger.open_occurrences([due], of, later.now + DAY)
        sent = replace(delivery(now=later.now), id=of.rhythm, occurrence=due.key[1:], workspace=of.workspace, channel="C1")
        sent = replace(sent, state=DeliveryState.DONE, link=f"https://chat.example/{of.rhythm}")
        closed = replace(due, state=OccurrenceState.MADE)
        assert await store.ledger.close_occurrence(closed, later.now, digest=made, deliveries=[sent])

    for rhythm, number in shown.items():
        posted = (await later.ask(f"why {number}")).entries[0].lines[-1]
        assert posted.endswith(f" https://chat.example/{rhythm}")


async def test_a_work_that_goes_by_another_key_says_so(ada: Asker) -> None:
    await ada.context.store.items.add([paper("2603.00020", aliases=("doi:10.1000/kv",))], ada.now)

    reply = await ada.ask("why 10.1000/kv for kv")

    assert "One work with doi:10.1000/kv, known as arxiv:2603.00020." in reply.entries[0].lines


async def test_where_nothing_is_subscribed_it_can_be_tried_on_a_topic(ada: Asker) -> None:
    reply = await ada.ask("why 2603.00001")
    assert len(reply.entries) == 1
    assert reply.next_steps == (
        "Nothing is subscribed here, so no digest could hold it; *why ITEM for TOPIC* tries it on a topic.",
    )

    entry = about_topic(await ada.ask("why 2603.00001 for kv"))
    assert entry.lines[-2:] == ("It would be in a digest that is made now.", "The topic is not subscribed here.")
    assert [each.command for each in entry.buttons] == ["subscribe kv"]


async def test_a_paused_subscription_says_when_it_goes_on(later: Asker) -> None:
    await later.ask("pause kv")

    lines = about_topic(await later.ask("why 2603.00011")).lines
    assert lines[-2:] == ("It would be in a digest that is made now.", "Paused until somebody resumes it.")


async def test_what_a_pause_leaves_out_is_not_said_to_be_in_the_next_digest(later: Asker) -> None:
    await later.ask("pause kv until 2026-04-06")
    verdict, paused = about_topic(await later.ask("why 2603.00011")).lines[-2:]
    assert verdict == "It would be in a digest that is made now."
    assert paused.startswith("Paused until Monday 6 April at 00:00")

    await later.ask("pause kv until 2026-04-02")
    assert about_topic(await later.ask("why 2603.00011")).lines[-2] == "It is in the next digest, as things stand."


async def test_what_was_posted_or_came_too_early_is_not_compared_with_what_comes_next(later: Asker) -> None:
    assert about_topic(await later.ask("why 2603.00001")).lines[0] == "Matches the topic."

    digest = (await later.ask("now kv")).digests[0]
    await later.context.store.digests.save(later.actor.workspace, later.actor.channel, digest, later.now)
    lines = about_topic(await later.ask("why 2603.00011")).lines
    assert (lines[0], lines[-1]) == (
        "Matches the topic.",
        "It was posted here already, and nothing is posted twice.",
    )


async def test_a_zone_that_is_gone_hides_nothing_else(later: Asker) -> None:
    (subscription,) = await later.here()
    gone = replace(subscription, schedule=replace(subscription.schedule, zone="Atlantis/Capital"))
    await later.context.store.workspaces.save_subscription(gone, _change(later), replaces=subscription.revision)

    lines = about_topic(await later.ask("why 2603.00011")).lines

    assert lines[0] == "Matches the topic, better than anything else."
    assert 'The time zone "Atlantis/Capital" is not known.' in lines[-1]


def _change(asker: Asker) -> Change:
    return Change(workspace=asker.actor.workspace, at=asker.now, person="U", what="subscription C1 kv")


async def test_of_several_topics_each_is_told(later: Asker) -> None:
    await later.ask("subscribe gpu-systems")

    reply = await later.ask("why 2603.00011")

    assert [entry.title for entry in reply.entries[1:]] == ["For GPU systems", "For KV cache"]
    assert button(reply, "More like this") == "more arxiv:2603.00011"
    assert button(await later.ask("why 2603.00011 for kv"), "More like this") == "more arxiv:2603.00011 for kv"


async def test_what_fits_several_topics_is_said_to_be_posted_once(ada: Asker) -> None:
    for text in ("subscribe kv", "topic create caches cache", "subscribe caches daily at 09:30"):
        await ada.ask(text)
    await ada.context.store.items.add([about(11, "Evicting the KV cache", appeared=ada.now)], ada.now + LATER / 2)
    later = ada.at(ada.now + LATER)
    once = "What fits several topics is posted once, in the digest that comes first."

    assert (await later.ask("why 2603.00011")).text == (once,)
    assert (await later.ask("now")).text[-1] == once
    assert (await later.ask("why 2603.00011 for kv")).text == ()
    assert once not in (await later.ask("now kv")).text


async def test_what_came_too_early_and_would_be_kept_out_anyway_is_told_both(later: Asker) -> None:
    await later.ask("filter kv here set title:zebra")

    last = about_topic(await later.ask("why 2603.00001")).lines[-1]

    assert last.startswith("It came in before the time of the next digest")
    assert "And the filter keeps it out: " in last


# --- what was carried on, and what earlier digests noted


async def post(asker: Asker) -> None:
    """Let the next digest of KV cache be posted now."""
    digest = (await asker.ask("now kv")).digests[0]
    await asker.context.store.digests.save(asker.actor.workspace, asker.actor.channel, digest, asker.now)


async def test_what_fell_to_the_cap_is_told_with_its_days_and_what_the_digests_of_before_noted(later: Asker) -> None:
    await post(later)
    tomorrow, after = later.at(later.now + DAY), later.at(later.now + 2 * DAY)
    better = about(21, "A page of the KV cache", appeared=later.now + DAY)
    await later.context.store.items.add([better], later.now + DAY / 2)

    lines = about_topic(await tomorrow.ask("why 2603.00015")).lines
    assert lines[-3:] == (
        "Carried on from 1 April, until 4 April: it was over the cap then.",
        "It would pass, but better ones fill the digest: it holds at most 1 entry.",
        "1 April: above the bar, 3rd of 3, the cap is 1.",
    )

    await post(tomorrow)
    lines = about_topic(await after.ask("why 2603.00015")).lines
    assert "It would be in a digest that is made now." in lines, "the next one is due on Monday"
    assert lines[-3].startswith("When the next digest is due, Monday 6 April at 09:30, ")
    assert lines[-2:] == (
        "2 April: above the bar, 2nd of 2, the cap is 1.",
        "1 April: above the bar, 3rd of 3, the cap is 1.",
    )


async def test_what_stayed_below_the_bar_or_gave_way_is_told_too_the_latest_five(later: Asker) -> None:
    key = "arxiv:2603.00015"
    noted = [
        LeftOut(key, selection.SCORE, 3, 0.4, 0.21),
        LeftOut(key, selection.TWIN, 2, 0.4),
        LeftOut("github:a/b", selection.CAP, 1, 0.4, other=key),
        LeftOut(key, selection.SCORE, 4, 0.6, 0.1),
    ]
    for days, left in enumerate([noted[0], noted[0], *noted]):
        at = later.now + days * DAY
        entries = Coverage((), 1, 0)
        past = Digest("kv", "KV", at.date(), at, at, (), entries, left_out=(left,), above=2, cap=3, min_score=0.3)
        await later.context.store.digests.save(later.actor.workspace, later.actor.channel, past, at)

    lines = about_topic(await later.at(later.now + 6 * DAY).ask("why 2603.00015")).lines

    assert lines[-5:] == (
        "6 April: below the bar (0.10 of 0.30).",
        "5 April: above the bar, 1st of 2, over the cap of repositories.",
        "4 April: above the bar, 2nd of 2, a near twin of one that is in it.",
        "3 April: below the bar (0.21 of 0.30).",
        "2 April: below the bar (0.21 of 0.30).",
    )
    assert not any(line.startswith("1 April") for line in lines)


async def test_what_no_weekly_digest_will_look_at_any_more_is_not_promised(later: Asker) -> None:
    await later.ask("unsubscribe kv")
    await later.ask("subscribe kv weekly top 1")
    titles = ("A page of the KV cache", "Zebra rotations, or a KV cache of tables", "Bees prefetch: KV cache swarms at dusk")
    more = [
        replace(about(number, title), abstract=f"{title}. {' '.join(f'{each}{number}' for each in 'bcdfg')}")
        for number, title in enumerate(titles, start=21)
    ]
    await later.context.store.items.add(more, later.now + DAY / 2)
    tomorrow = later.at(later.now + DAY)
    (made,) = (await tomorrow.ask("now kv")).digests
    await later.context.store.digests.save(later.actor.workspace, later.actor.channel, made, tomorrow.now)
    left = next(each for each in made.left_out if each.reason == selection.CAP)

    lines = about_topic(await later.at(later.now + 2 * DAY).ask(f"why {left.key} for kv")).lines

    assert "Carried on from 2 April, until 5 April: it was over the cap then." in lines
    assert "It would be in a digest that is made now." in lines
    assert any(line.endswith("it is no candidate any more.") for line in lines)
    assert not any("It will be posted" in line or "It is in the next digest" in line for line in lines)


async def test_what_daily_and_weekly_digests_noted_stands_with_each_of_them(later: Asker) -> None:
    await later.ask("subscribe kv weekly top 2")
    for made, place in zip((await later.ask("now kv")).digests, (5, 9), strict=True):
        left = LeftOut("arxiv:2603.00015", selection.CAP, place, 0.4, since=later.now)
        noted = replace(made, entries=(), left_out=(left,), above=12, cap=3)
        await later.context.store.digests.save(later.actor.workspace, later.actor.channel, noted, later.now)

    _, *told = (await later.at(later.now + DAY).ask("why 2603.00015")).entries

    assert [[line for line in entry.lines if "above the bar" in line] for entry in told] == [
        ["1 April: above the bar, 5th of 12, the cap is 3."],
        ["1 April: above the bar, 9th of 12, the cap is 3."],
    ]
