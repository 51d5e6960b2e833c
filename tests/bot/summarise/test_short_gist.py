"""The statement under a title in a digest's list: short, whole, and the one a reader who stops there is glad of."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item, Kind
from bot.summarise.short_gist import LONGEST, ShortGist, short_gist
from tests.conftest import tries
from tests.fakes.edition import items
from tests.fakes.works import paper, repo

ABSTRACT = (
    "Caches of long prompts outgrow the memory of one device. "
    "We propose Tidy, a cache that predicts its own size and lets go of what nobody reads again in the night. "
    "Extensive experiments on five machines show that Tidy reduces misses by 31%, which matters to all who pay for memory."
)


def of(abstract: str, *asked: str, title: str = "Tidy: a cache that predicts its own size", **given: object) -> ShortGist:
    return short_gist(replace(paper("2603.00777", title=title, abstract=abstract), **given), asked)  # type: ignore[arg-type]


def test_it_is_the_headline_result_with_its_figure_and_without_what_leads_to_it() -> None:
    told = of(ABSTRACT)
    assert told.text.startswith("Tidy reduces misses by 31%")
    assert told.quote.startswith("Extensive experiments on five machines")


def test_without_a_figure_it_says_what_the_work_is() -> None:
    told = of(ABSTRACT.rpartition("Extensive")[0])
    assert told.text.startswith("Proposes Tidy, a cache that predicts its own size")


def test_of_two_results_it_is_the_one_that_the_topic_asks_about() -> None:
    two = "We present Tidy. On one device, Tidy reduces latency by 12%. On one device, Tidy reduces noise by 12%."
    assert "latency" in of(two, "latency").text
    assert "noise" in of(two, "noise").text


def test_what_is_said_before_the_work_is_announced_is_not_it() -> None:
    others = "Caching of prompts aims to serve long prompts from the memory of one machine in less time."
    told = of(f"{others} We propose to employ a model that tells which prompts are read again.", title="Prompts")
    assert told.text.startswith("Proposes to employ a model")


def test_what_points_at_another_sentence_and_what_hopes_is_never_it() -> None:
    assert of("This reduces misses by 31%. It is fast.").text == ""
    assert of("We hope that Tidy reduces the misses of all caches.").text == ""


OWN = "We propose Tidy, a cache that lets go of what nobody reads again in the night."


@pytest.mark.parametrize(
    "other",
    [
        "Caching is a common technique for the memory of language models and of the machines that serve them.",
        "Caches keep in a small and quick memory what is read again, and language models read all of it again.",
        "However, Tidy exhibited a persistent gap to caches of full precision on machines with little memory.",
        "We evaluate Tidy on eight benchmarks of caches, including those of large language models in the field.",
        "We strongly encourage readers to visit https://tidy.example to try a cache of their own at home.",
    ],
)
def test_what_was_there_before_and_what_the_authors_went_about_give_way_to_what_they_made(other: str) -> None:
    assert of(f"{other} {OWN}", title="On caches").text.startswith("Proposes Tidy")


def test_of_two_statements_without_a_figure_it_is_the_one_that_says_more_than_the_title() -> None:
    title = "Tidy: a cache for long prompts"
    told = of(
        "We propose Tidy, a cache for long prompts. Tidy lets go of what nobody reads again in the night.", title=title
    )
    assert told.text == "Tidy lets go of what nobody reads again in the night."
    assert of("We propose Tidy, a cache for long prompts.", title=title).text == "Proposes Tidy, a cache for long prompts."


def test_a_result_without_a_figure_gives_way_to_what_the_work_is() -> None:
    told = of(f"{OWN} On all benchmarks, Tidy achieves compelling performance and surpasses the others.", title="On caches")
    assert told.text.startswith("Proposes Tidy")


@pytest.mark.parametrize(
    "fragment",
    [
        "Extensive experiments on Wan 2.1 14B, Mochi 1, and few-step distilled models.",
        "Using Tidy, a cache that keeps what is read again and gates all the rest.",
        "Tidy reduces what is paid for memory by up to 78% while staying.",
    ],
)
def test_half_a_sentence_is_none(fragment: str) -> None:
    assert of(fragment).text != fragment


def test_what_leads_to_the_authors_own_words_goes() -> None:
    told = of("To better match streams, we propose Tidy, a cache that is read while it is written.", title="On caches").text
    assert told == "Proposes Tidy, a cache that is read while it is written."
    told = of("Afterwards, we propose Tidy, a cache that is read while it is written.", title="On caches").text
    assert told == "Proposes Tidy, a cache that is read while it is written."


def test_of_a_repository_it_is_the_description_shortened_at_a_border() -> None:
    assert short_gist(repo("ada/tidy", abstract="🚀 A cache that sizes itself")).text == "A cache that sizes itself."
    long = "A cache that sizes itself, with a console for the house, a console for the garden, and none for the street"
    told = short_gist(repo("ada/tidy", abstract=long)).text
    assert long.startswith(told.removesuffix("."))
    assert "…" not in told
    two = "A cache that sizes itself. It has a console for the house, one for the garden, and none for the sea (yet)."
    assert short_gist(repo("ada/tidy", abstract=two)).text == "A cache that sizes itself."
    bracket = (
        "The source of Tidy, a site to help you to manage all of your caches (your own, and those of others) on one page"
    )
    assert short_gist(repo("ada/tidy", abstract=bracket)).text == "The source of Tidy."
    assert short_gist(repo("ada/tidy", abstract="")).text == ""


def test_another_language_and_an_empty_text_have_none() -> None:
    assert of("这是一个缓存库。它的速度提高了三倍。" * 9).text == ""
    assert of("  ").text == ""


def test_of_a_real_edition_every_entry_is_told_in_a_whole_short_statement() -> None:
    for item in items():
        told = short_gist(item).text
        assert 4 <= len(told.split()) <= LONGEST, told
        assert not told.startswith(("This ", "These ", "It ", "We ", "Addresses this"))
        assert told.endswith(".")


@settings(deadline=None, max_examples=tries(60))
@given(st.text(max_size=300), st.text(max_size=3000), st.sampled_from(Kind))
def test_whatever_strangers_wrote_it_is_short_and_of_their_words(title: str, text: str, kind: Kind) -> None:
    told = short_gist(Item(key="url:x", kind=kind, title=title, abstract=text)).text
    assert len(told.split()) <= LONGEST
    assert set(re.findall(r"\d+", told)) <= set(re.findall(r"\d+", text))
