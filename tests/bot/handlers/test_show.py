"""The card of one item, by whatever names it, as the topic has it for which it was posted."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import Search
from bot.errors import UsageError
from bot.handlers.show import _PAGE, _PARAGRAPH, _pages, neutral_card
from bot.models import Link, Reply
from tests.bot.handlers.askers import Asker, button
from tests.fakes.works import paper, repo

TIDY = paper(
    "2603.00020",
    title="Tidy: a KV cache that predicts its own size",
    abstract="We propose Tidy, a KV cache that predicts its own size. Experiments show that Tidy reduces misses by 31%.",
    repo="github:lab/tidy",
)
CODE = repo("lab/tidy", paper=TIDY.key, links=(Link("code", "https://github.com/lab/tidy"),))


@pytest.fixture
async def eve(ada: Asker) -> Asker:
    """Ada, once a paper and its code have come in."""
    await ada.context.store.items.add([TIDY, CODE], ada.now - timedelta(hours=1))
    return ada


def labels(reply: Reply) -> list[str]:
    return [each.label for each in reply.buttons]


@pytest.mark.parametrize(
    "name", ["2603.00020", "https://arxiv.org/abs/2603.00020v2", "Tidy: a KV cache", "arxiv:2603.00020"]
)
async def test_an_items_card_is_shown_privately_with_what_may_be_done_with_it(eve: Asker, name: str) -> None:
    reply = await eve.ask(f"show {name}")

    (card,) = reply.cards
    assert (card.ranked.item.key, card.partner and card.partner.key) == (TIDY.key, CODE.key)
    assert card.gist == "Experiments show that Tidy reduces misses by 31%.", "the title says the rest"
    assert [part.name for part in card.card] == ["Method"]
    assert reply.private
    assert labels(reply) == ["More like this", "Less", "Save", "Abstract", "Why", "Similar", "BibTeX"]
    assert card.why_here == "", "no topic was named, and nothing was posted"


async def test_for_a_topic_it_says_why_it_is_here(eve: Asker) -> None:
    reply = await eve.ask("show 2603.00020 for kv")
    assert "KV cache" in reply.cards[0].why_here
    assert button(reply, "Less") == "less arxiv:2603.00020 for kv"


async def test_below_it_stands_what_who_asks_may_take_back(eve: Asker) -> None:
    bob = eve.by(person="U-bob")
    await eve.ask("save 2603.00020")
    await eve.ask("more 2603.00020 for kv")
    card = await eve.ask("show 2603.00020 for kv")
    assert labels(card)[:3] == ["Take back more", "Less", "Unsave"]
    assert labels(await bob.ask("show 2603.00020 for kv"))[:3] == ["More like this", "Less", "Save"], "it is nobody else's"
    assert labels(await eve.ask("show 2603.00020"))[:3] == ["More like this", "Less", "Unsave"], "it was said for kv"
    assert labels(await eve.ask("show abstract 2603.00020"))[-1] == "Unsave"

    assert "Not saved any more" in (await eve.ask(button(card, "Unsave"))).title
    await eve.ask(button(card, "Less"))
    card = await eve.ask("show 2603.00020 for kv")
    assert labels(card)[:3] == ["More like this", "Take back less", "Save"]
    await eve.ask(button(card, "Take back less"))
    assert labels(await eve.ask("show 2603.00020 for kv"))[:3] == ["More like this", "Less", "Save"]


async def test_a_number_is_that_of_the_last_digest_and_its_topic_the_cards(eve: Asker) -> None:
    await eve.ask("subscribe kv")
    digest = (await eve.ask("now kv")).digests[0]
    await eve.context.store.digests.save(eve.actor.workspace, eve.actor.channel, digest, eve.now)
    number = [entry.ranked.item.key for entry in digest.entries].index(TIDY.key) + 1

    reply = await eve.ask(f"show {number}")

    assert reply.cards[0] == digest.entries[number - 1]
    assert button(reply, "More like this") == "more arxiv:2603.00020 for kv"


async def test_of_a_repository_the_paper_is_the_other_half(eve: Asker) -> None:
    (card,) = (await eve.ask("details lab/tidy")).cards
    assert (card.ranked.item.key, card.partner and card.partner.key) == (CODE.key, TIDY.key)


async def test_what_is_no_topics_has_a_card_without_reasons_and_what_nobody_knows_none(eve: Asker) -> None:
    (card,) = (await eve.ask("show 2603.00004 for gpu-systems")).cards
    assert card.why_here == ""
    with pytest.raises(UsageError):
        await eve.ask("show 2603.99999")
    with pytest.raises(UsageError, match="There is no topic"):
        await eve.ask("show 2603.00004 for nothing-of-the-kind")


async def test_a_card_for_no_topic_has_its_partner_and_no_reasons(eve: Asker) -> None:
    card = await neutral_card(eve.context, TIDY, eve.now)
    assert (card.gist, card.why_here) == ("Experiments show that Tidy reduces misses by 31%.", "")
    assert card.partner is not None
    assert card.partner.key == CODE.key
    assert card.card == (await eve.ask("show 2603.00020")).cards[0].card


async def test_the_whole_abstract_is_a_tap_away(eve: Asker) -> None:
    reply = await eve.ask(button(await eve.ask("show 2603.00020"), "Abstract"))
    assert (reply.title, reply.text, reply.quoted, reply.private) == (TIDY.title, ("Abstract",), (TIDY.abstract,), True)
    assert (await eve.ask(button(reply, "Details"))).cards


async def test_of_a_repository_it_is_the_description_and_the_readme(eve: Asker) -> None:
    await eve.context.store.items.add([replace(CODE, abstract="A tidy cache.", readme="# Tidy\nHow to use it.")], eve.now)
    reply = await eve.ask(button(await eve.ask("show lab/tidy"), "README"))
    assert reply.quoted == ("A tidy cache.", "# Tidy", "How to use it.")


async def test_a_long_text_has_pages(eve: Asker) -> None:
    sentences = [f"Sentence {number} says something about the cache." for number in range(200)]
    await eve.context.store.items.add([replace(TIDY, abstract=" ".join(sentences))], eve.now)
    reply, pages = await eve.ask("show abstract 2603.00020"), []
    while True:
        pages.append(reply)
        if "Next" not in labels(reply):
            break
        reply = await eve.ask(button(reply, "Next"))
    assert " ".join(part for page in pages for part in page.quoted) == " ".join(sentences)
    assert pages[1].text == (f"Abstract, page 2 of {len(pages)}",)
    assert all(part.endswith(".") for page in pages for part in page.quoted), "parted between sentences"
    assert await eve.ask(button(pages[1], "Back")) == pages[0]
    with pytest.raises(UsageError, match=f"It has {len(pages)} pages"):
        await eve.ask(f"show abstract page {len(pages) + 1} 2603.00020")


@given(st.text(max_size=9000) | st.lists(st.sampled_from(["a. ", "word ", "x" * 1500, "\n", "“Yes!” "])).map("".join))
def test_pages_say_all_of_a_text_and_none_is_too_long(text: str) -> None:
    made = _pages(text)
    assert "".join("".join(part.split()) for page in made for part in page) == "".join(text.split())
    assert all(0 < len(part) <= _PARAGRAPH for page in made for part in page)
    assert all(sum(map(len, page)) <= _PAGE for page in made)


async def test_where_there_is_none_that_is_said_and_no_button_leads_there(eve: Asker) -> None:
    await eve.context.store.items.add([replace(TIDY, abstract="")], eve.now)
    assert "Abstract" not in labels(await eve.ask("show 2603.00020"))
    assert "No abstract of it came" in (await eve.ask("show abstract 2603.00020")).text[0]


async def test_its_bibtex_is_handed_over(eve: Asker) -> None:
    reply = await eve.ask(button(await eve.ask("show 2603.00020"), "BibTeX"))
    assert reply.attachment is not None
    assert "eprint = {2603.00020}" in reply.attachment.text


@pytest.mark.parametrize(
    "text", ["2603.00020", "arxiv.org/pdf/2603.00020v2", "<https://hf.co/papers/2603.00020>", "arxiv:2603.00020"]
)
async def test_a_search_for_nothing_but_a_link_or_an_identifier_is_answered_with_the_card(eve: Asker, text: str) -> None:
    (card,) = (await eve.give(Search(text))).cards
    assert card.ranked.item == (await eve.ask("show 2603.00020")).cards[0].ranked.item


async def test_a_search_for_a_repositorys_name_is_its_card_where_it_is_known_and_a_search_where_not(eve: Asker) -> None:
    assert (await eve.give(Search("lab/tidy"))).cards[0].ranked.item.key == CODE.key
    assert (await eve.give(Search("cache/paging"))).cards == ()
