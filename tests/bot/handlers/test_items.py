"""Links in messages, and what is known behind them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import parse
from bot.digest.selection import CAP
from bot.errors import Unclear, UsageError
from bot.handlers.handle import answer
from bot.handlers.items import item_named, linked_item, links_in
from bot.models import Coverage, Digest, Entry, Item, Kind, LeftOut, Ranked, Summary
from tests.bot.handlers.askers import Asker, about
from tests.fakes.works import paper, post, repo

DAY = timedelta(days=1)
CODE = repo("vLLM-project/vllm", aliases=("github:vllm/vllm",))
OLD = paper("math/0309136", key="arxiv:math/0309136", title="Entropy of flows", aliases=("doi:10.1000/flow",))
NEWS = post("news")


@pytest.fixture
async def asker(ada: Asker) -> Asker:
    numbered = about(8, "Three rules for flow 3")
    more = (CODE, OLD, NEWS, about(6, "Sharding a cache in Triton"), about(7, "Cache"), numbered)
    await ada.context.store.items.add(more, ada.now - timedelta(hours=1))
    return ada


async def named(asker: Asker, text: str) -> Item:
    return await item_named(asker.context, asker.actor, text)


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("2603.00001", "arxiv:2603.00001"),
        ("2603.00001v2", "arxiv:2603.00001"),
        ("arXiv:2603.00001", "arxiv:2603.00001"),
        ("ARXIV:2603.00001V3", "arxiv:2603.00001"),
        ("https://arxiv.org/pdf/2603.00001v1.pdf", "arxiv:2603.00001"),
        ("arxiv.org/abs/2603.00001", "arxiv:2603.00001"),
        ("https://huggingface.co/papers/2603.00001", "arxiv:2603.00001"),
        ("math.GT/0309136", "arxiv:math/0309136"),
        ("10.1000/flow", "arxiv:math/0309136"),
        ("https://doi.org/10.1000/FLOW", "arxiv:math/0309136"),
        ("vllm-project/vllm", "github:vllm-project/vllm"),
        ("VLLM/vllm", "github:vllm-project/vllm"),
        ("https://github.com/vllm-project/vllm/blob/main/README.md#top", "github:vllm-project/vllm"),
        ("github:vllm-project/vllm", "github:vllm-project/vllm"),
        ("https://lab.example/news?utm_source=chat", "url:https://lab.example/news"),
        ("url:https://lab.example/news", "url:https://lab.example/news"),
        ("gas", "arxiv:2603.00004"),
        ("“Cooking with gas”", "arxiv:2603.00004"),
        ("cooking WITH gás", "arxiv:2603.00004"),
        ("gas cooking", "arxiv:2603.00004"),
        ("cache", "arxiv:2603.00007"),
    ],
)
async def test_an_item_is_known_by_whatever_people_call_it(asker: Asker, typed: str, key: str) -> None:
    assert (await named(asker, typed)).key == key


async def test_several_titles_are_offered_with_their_numbers(asker: Asker) -> None:
    with pytest.raises(Unclear, match=r'"sharding a cache" may be .*; .*: which one\?') as caught:
        await named(asker, "sharding a cache")

    assert {value for _, value in caught.value.choices} == {"arxiv:2603.00003", "arxiv:2603.00006"}
    assert caught.value.field == "item"


async def test_a_number_is_that_of_an_entry_of_the_last_digest_here(asker: Asker) -> None:
    with pytest.raises(UsageError, match="No digest was posted here yet"):
        await named(asker, "1")
    digest = (await asker.ask("now kv")).digests[0]
    await asker.context.store.digests.save(asker.actor.workspace, asker.actor.channel, digest, asker.now)

    keys = [(await named(asker, f"{sign}{number}")).key for number, sign in enumerate(("", "#", "no. "), 1)]

    assert keys == [entry.ranked.item.key for entry in digest.entries[:3]]
    with pytest.raises(UsageError, match=f"has {len(digest.entries)} entries.*; there is no number 50"):
        await named(asker, "50")
    with pytest.raises(UsageError, match="No digest was posted here yet"):
        await named(asker.by(channel="C2"), "1")


async def posted(
    asker: Asker, topic: str, *numbers: int, days: int = 0, left_out: tuple[int, ...] = (), rhythm: str = ""
) -> None:
    """Let the channel have had a digest of the topic with these papers, and with others left out."""
    at = asker.now + days * DAY
    entries = tuple(Entry(Ranked(paper(key_of(number)), 0.5), Summary((), "", "")) for number in numbers)
    over = tuple(LeftOut(f"arxiv:{key_of(number)}", CAP, place, 0.2) for place, number in enumerate(left_out, len(numbers)))
    coverage = Coverage((), len(numbers) + len(left_out), len(numbers))
    digest = Digest(topic, topic.upper(), at.date(), at - DAY, at, entries, coverage, left_out=over, rhythm=rhythm)
    await asker.context.store.digests.save(asker.actor.workspace, asker.actor.channel, digest, at)


def key_of(number: int) -> str:
    return f"2603.{number:05}"


async def keys_of(asker: Asker, *lines: str) -> list[str]:
    return [(await named(asker, line)).key.removeprefix("arxiv:2603.0000") for line in lines]


async def test_a_number_for_a_topic_is_that_of_the_topics_last_digest_whatever_came_after_it(asker: Asker) -> None:
    await posted(asker, "kv", 1, 2)
    await posted(asker, "gpu-systems", 3, 4)

    assert await keys_of(asker, "1 for kv", "2 for kv", "1 for gpu-systems", "#2 for GPU systems") == ["1", "2", "3", "4"]
    for line, title in (("save 2 for kv", "A blockchain of cache lines"), ("save 2 for gpu-systems", "Cooking with gas")):
        (entry,) = (await asker.ask(line)).entries
        assert entry.item is not None
        assert entry.item.title == title
    await asker.ask("more 2 for kv")
    (told,) = await asker.context.store.people.feedback(asker.actor.workspace, "kv")
    assert told.key == "arxiv:2603.00002"


async def test_a_number_that_two_digests_of_a_day_have_is_asked_about(asker: Asker) -> None:
    await posted(asker, "kv", 1, 2)
    await posted(asker, "gpu-systems", 3, 2, 5)

    reply = await answer(asker.context, parse("more 1"), asker.actor, asker.now)

    assert reply.title == "Which one?"
    assert [each.label for each in reply.buttons] == ["GPU-SYSTEMS: Sharding a cache in CUDA", "KV: Paging the KV cache"]
    assert "*1 for gpu-systems* names one too" in reply.text[0]
    await asker.ask(reply.buttons[1].command)
    (told,) = await asker.context.store.people.feedback(asker.actor.workspace, "kv")
    assert told.key == "arxiv:2603.00001"
    assert await keys_of(asker, "2", "3") == ["2", "5"]  # the same item; the only one


async def test_a_number_alone_is_of_the_last_day_though_another_topic_had_a_digest_before(asker: Asker) -> None:
    await posted(asker, "gpu-systems", 3, 4, days=-1)
    await posted(asker, "kv", 1, 2)
    await posted(asker, "gpu-systems", days=1)

    assert await keys_of(asker, "1", "2", "1 for gpu-systems") == ["1", "2", "3"]


async def test_every_digest_of_a_day_has_its_numbers_however_many_there_are(asker: Asker) -> None:
    await posted(asker, "gpu-systems", 3, 4)
    for _ in range(9):
        await posted(asker, "kv", 1)
    assert await keys_of(asker, "2", "1 for gpu-systems") == ["4", "3"]


async def test_a_number_that_the_daily_and_the_weekly_digest_of_a_topic_have_is_asked_about(asker: Asker) -> None:
    await posted(asker, "kv", 1, 2, rhythm="daily", left_out=(5,))
    await posted(asker, "kv", 3, rhythm="weekly", left_out=(4,))

    for line in ("more 1", "more 1 for kv"):
        reply = await answer(asker.context, parse(line), asker.actor, asker.now)
        assert [each.label for each in reply.buttons] == [
            "KV, weekly: Sharding a cache in CUDA",
            "KV, daily: Paging the KV cache",
        ]
    rests = [await asker.ask(f"rest kv {which} on 2026-04-01") for which in ("daily", "weekly")]
    assert [[each.item.key[-1] for each in rest.entries if each.item] for rest in rests] == [["5"], ["4"]]
    assert [(await asker.ask(f"rest kv {which}")).entries for which in ("daily", "weekly")] == [
        each.entries for each in rests
    ]


async def test_numbers_go_on_with_what_the_digest_left_out(asker: Asker) -> None:
    await posted(asker, "kv", 1, 2, left_out=(3, 4))

    assert await keys_of(asker, "3", "4 for kv") == ["3", "4"]
    with pytest.raises(UsageError, match="has 2 entries and lists 2 more on topic; there is no number 5"):
        await named(asker, "5")
    with pytest.raises(UsageError, match="No digest of GPU systems was posted here yet"):
        await named(asker, "1 for gpu-systems")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Which item"),
        ("  “” ", "Which item"),
        ("2401.99999", "not among the items collected"),
        ("nobody/nothing", "not among the items collected"),
        ("https://nowhere.example/x", "not among the items collected"),
        ("zebras", "No item has"),
        ("–", "No item has"),
        ("-3", "No item has"),
        ("3 for", "No item has"),
        ("x" * 600, "longer than any title"),
        ("word " * 1000, "longer than any title"),
    ],
)
async def test_what_is_unknown_is_said_with_what_to_do(asker: Asker, typed: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        await named(asker, typed)

    assert caught.value.hint


ARXIV = "https://arxiv.org/abs/2603.00001"
REPOSITORY = "https://github.com/owner/name"


@pytest.mark.parametrize(
    ("text", "links"),
    [
        (ARXIV, (ARXIV,)),
        (f"Look: {ARXIV}.", (ARXIV,)),
        (f"({ARXIV}), *{REPOSITORY}*!", (ARXIV, REPOSITORY)),
        (f"<{ARXIV}|a paper> and <{REPOSITORY}>", (ARXIV, REPOSITORY)),
        (f"<{ARXIV}?a=1&amp;b=2|a paper>", (f"{ARXIV}?a=1&b=2",)),
        (f"[a paper]({ARXIV}) [code]({REPOSITORY}/tree/main)", (ARXIV, f"{REPOSITORY}/tree/main")),
        ("https://huggingface.co/papers/2603.00001", ("https://huggingface.co/papers/2603.00001",)),
        ("https://doi.org/10.1145/3600006.3613165", ("https://doi.org/10.1145/3600006.3613165",)),
        (f"{REPOSITORY}/issues/3 {REPOSITORY}", (f"{REPOSITORY}/issues/3",)),  # the same repository
        (f"{ARXIV}v2 https://arxiv.org/pdf/2603.00001", (f"{ARXIV}v2",)),
        ("https://example.org/a https://github.com/features https://huggingface.co/owner/model", ()),
        ("http:// https://[ https://user:pass@arxiv.org/abs/2603.00001", ()),
        ("javascript:alert(1) arxiv.org/abs/2603.00001", ()),
        ("", ()),
    ],
)
def test_the_links_of_a_message_that_name_an_item_are_found(text: str, links: tuple[str, ...]) -> None:
    assert links_in(text) == links


@given(
    st.text() | st.lists(st.sampled_from([ARXIV, REPOSITORY, "<", ">", "|", "(", ")", "](", " ", "*", "&amp;"])).map("".join)
)
def test_any_text_has_links_or_none(text: str) -> None:
    assert all(link.lower().startswith("http") for link in links_in(text))


async def test_what_is_known_behind_a_link_is_the_item(ada: Asker) -> None:
    for link in (f"{ARXIV}v3", "https://huggingface.co/papers/2603.00001", "https://doi.org/10.48550/arXiv.2603.00001"):
        found = await linked_item(ada.context, link)
        assert found is not None
        assert found.key == "arxiv:2603.00001"


async def test_a_repository_is_known_by_its_front_page_alone(ada: Asker) -> None:
    await ada.context.store.items.add(
        [Item(key="github:owner/name", kind=Kind.REPO, title="owner/name", readme="A cache.")], ada.now
    )
    found = await linked_item(ada.context, f"{REPOSITORY}/")
    assert found is not None
    assert found.key == "github:owner/name"
    assert await linked_item(ada.context, f"{REPOSITORY}/issues/3") is None


async def test_what_nobody_collected_and_what_is_no_item_is_not_known(ada: Asker) -> None:
    for link in ("https://arxiv.org/abs/2603.99999", "https://example.org/a", "no link", ""):
        assert await linked_item(ada.context, link) is None
