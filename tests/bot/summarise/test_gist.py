"""The one sentence for lists: the best that can stand alone, edited and short; else a description, or an opening."""

import asyncio
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item, Kind
from bot.summarise.choice.scoring import UNUSABLE, whole_scores
from bot.summarise.english.sentences import split
from bot.summarise.gist import LONGEST, gist, gists
from tests.conftest import tries
from tests.effort import effort
from tests.fakes.edition import items
from tests.fakes.works import paper, repo

ABSTRACT = (
    "Caches of long prompts outgrow the memory of one device. "
    "In this paper, we propose Tidy, a cache that predicts its own size and lets go of what is not read again. "
    "Experiments show that Tidy reduces misses by 31% over the best baseline."
)
STEPS = " ".join(f"({number}) it reads the prompt of each request once more in another order;" for number in range(1, 7))


def of(abstract: str, title: str = "Tidy: a cache that predicts its own size", **given: object) -> str:
    return gist(replace(paper("2603.00777", title=title, abstract=abstract), **given))  # type: ignore[arg-type]


def test_it_is_the_sentence_that_says_what_the_work_is_in_the_third_person() -> None:
    assert of(ABSTRACT) == "Proposes Tidy, a cache that predicts its own size and lets go of what is not read again."


def test_a_sentence_that_points_at_another_gives_way_to_the_next_best() -> None:
    dangling = "A cache is small. These are what Tidy, a cache that predicts its own size, is made of."
    assert of(dangling) == "A cache is small."
    alone = "These are what Tidy is made of."
    assert of(alone) == alone, "without another sentence the text's opening says more than nothing"


def test_a_hope_is_passed_over() -> None:
    hope = "We hope Tidy, a cache that predicts its own size, inspires caches that predict their own size."
    assert of(f"Caches grow every day. {hope}") == "Caches grow every day."


def test_a_repository_is_told_by_its_description_and_a_bare_one_by_nothing() -> None:
    assert gist(repo("ada/tidy", abstract="🚀 A cache that sizes itself")) == "A cache that sizes itself."
    assert gist(repo("ada/tidy", abstract="", readme="Tidy is a cache that sizes itself. " * 9)) == ""
    assert of("  ") == ""


def test_a_sentence_that_counts_its_steps_ends_before_them() -> None:
    told = of(f"We propose Tidy, a cache that predicts its own size in steps that need no second machine: {STEPS[:-1]}.")
    assert told == "Proposes Tidy, a cache that predicts its own size in steps that need no second machine …"


def test_a_count_of_steps_that_are_not_shown_goes_too() -> None:
    told = of(f"We propose Tidy, a cache that predicts its own size and lets go through two key steps: {STEPS[:-1]}.")
    assert told == "Proposes Tidy, a cache that predicts its own size and lets go …"


def test_a_sentence_is_never_broken_off_in_a_bracket() -> None:
    points = "1) a cache (for one of the many rooms), 2) a door (" + "for the rooms of the house and for more doors " * 4
    told = of(f"Considering a house of many rooms and more doors, in which it is cold at night, we propose {points}).")
    assert told.endswith("the authors propose 1) a cache (for one of the many rooms), 2) a door …")


def test_a_sentence_that_ends_nowhere_is_broken_off_between_words() -> None:
    endless = "To make caches small, " + "in a house of many rooms and of many more doors than rooms " * 9 + "we sing."
    told = of(endless)
    assert told.endswith(" …")
    assert endless.startswith(told.removesuffix(" …"))
    assert len(told.split()) <= LONGEST + 1


def test_another_language_a_fragment_and_a_notice_are_told_by_their_beginning() -> None:
    chinese, notice = (
        "这是一个缓存库。它的速度提高了三倍。" * 50,
        "This paper has been withdrawn by the author due to an error.",
    )
    assert of(chinese) == f"{chinese[:200]}…"
    german = "Der Speicher ist zu klein für die Anfragen, die wir heute stellen und morgen haben werden. " * 9
    assert of(german).endswith(" Der Speicher ist…")
    assert of(notice, withdrawn=True) == notice
    assert of("Short note.") == "Short note."


def test_stars_and_readers_make_no_other_sentence_of_it() -> None:
    assert of(ABSTRACT, upvotes=3, comment="9 pages") == of(ABSTRACT)
    assert of(ABSTRACT, kind=Kind.POST) == of(ABSTRACT)


def test_a_hostile_text_takes_not_much_longer_than_a_plain_one_of_its_length() -> None:
    plain = (ABSTRACT + " ") * 100
    once = effort(lambda: of(plain), tries=1)  # what was read before is known
    for hostile in (
        "This is it. They do so too. " * 900,
        "a " * 10_000,
        "(1) it, " * 3_000,
        "x" * 20_000,
        "The a, " * 3_000,
    ):
        assert effort(lambda text=hostile: of(text), tries=1) < 20 * once  # type: ignore[misc]


async def test_many_are_told_in_their_order_also_from_several_tasks() -> None:
    some = list(items())[:6]
    told = await asyncio.gather(gists(some), gists(some[::-1]))
    assert told[0] == told[1][::-1] == [gist(item) for item in some]
    assert await gists([]) == []


def test_of_a_real_edition_every_paper_is_told_in_one_short_sentence() -> None:
    for item in items():
        told = gist(item)
        assert 4 <= len(told.split()) <= 40, told
        assert len(split(told)) == 1
        assert not told.startswith(("This ", "These ", "It ", "We "))


def test_what_says_most_of_the_whole_scores_highest_and_what_says_nothing_is_unusable() -> None:
    sentences = [*split(ABSTRACT), "Copyright 2026.", "This paper has been withdrawn by the author."]
    assert whole_scores(sentences).argmax() == 1
    assert list(whole_scores(sentences) == UNUSABLE) == [False, False, False, True, True]
    assert whole_scores([]).shape == (0,)
    assert whole_scores(["It is cold."] * 70)[60:].max() == UNUSABLE, "nobody reads so far"


def test_a_sentence_that_points_at_another_from_inside_gives_way_to_one_as_fit() -> None:
    first = "We propose Tidy, a cache of long prompts."
    assert of(f"Caches grow. {first} We propose Tidy, a cache of long prompts for these machines.", "Tidy").endswith(
        "prompts."
    )


@settings(deadline=None, max_examples=tries(60))
@given(st.text(max_size=300), st.text(max_size=3000), st.sampled_from(Kind))
def test_whatever_strangers_wrote_it_is_short_and_there_if_they_wrote_anything(title: str, text: str, kind: Kind) -> None:
    item = Item(key="url:x", kind=kind, title=title, abstract=text)
    assert len(gist(item).split()) <= 40
    assert bool(gist(item)) == bool(text.strip())
