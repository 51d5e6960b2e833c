import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS
from bot.rank.trends import SURELY, answer, question, ratio_at_least, rising_terms, surprise, terms_in
from tests.conftest import tries

FILLER = ("We measure it", "A benchmark of tools", "Kernels on machines", "Papers about parsers")


def texts(count: int, *said: str) -> list[tuple[str, str]]:
    return [(f"{FILLER[at % len(FILLER)]}.", said[at % len(said)] if said else "") for at in range(count)]


def test_the_log_likelihood_ratio_is_dunnings() -> None:
    # Rayson's calculator of log-likelihood, ucrel.lancs.ac.uk/llwizard.html, tells it from the first two cells alone.
    of_two_cells = 2 * (30 * math.log(30 / 20) + 10 * math.log(10 / 20))
    assert surprise(30, 100_000, 10, 100_000) == pytest.approx(of_two_cells, abs=0.01)
    assert surprise(10, 100, 10, 100) == surprise(5, 100, 9, 100) == 0.0
    assert surprise(40, 5000, 0, 5000) > SURELY


def test_the_ratio_is_the_lower_end_of_an_interval() -> None:
    now, then = 40.5 / 400.5, 10.5 / 400.5
    error = math.sqrt(1 / 40.5 + 1 / 10.5 - 2 / 400.5)
    assert ratio_at_least(40, 400, 10, 400) == pytest.approx(now / then / math.exp(1.96 * error))
    assert ratio_at_least(5, 100, 5, 100) < 1


def test_what_rose_is_told_as_people_write_it_with_counts_on_both_sides() -> None:
    lately = texts(100) + [("Serving", "We use Speculative Decoding for LLMs.")] * 20
    before = texts(400) + [("Serving", "Decoding is slow.")] * 5

    found, *others = rising_terms(lately, before)

    assert (found.term, found.lately, found.before) == ("Speculative Decoding", 20, 0)
    assert found.least > 2
    assert not any("ecoding" in each.term for each in others)


def test_no_phrase_reaches_over_a_sign_and_no_number_is_a_term() -> None:
    lately = texts(100) + [("Quantised experts", "Okapis: routers, 2026 gates.")] * 20

    found = {each.term for each in rising_terms(lately, texts(400))}

    assert found == {"Quantised experts", "Okapis", "routers", "gates"}


def test_a_word_that_mostly_stands_without_the_phrase_is_told_beside_it() -> None:
    lately = texts(100) + [("Paged attention", "")] * 20 + [("Attentive", "A paged heap.")] * 20

    found = [(each.term.lower(), each.lately) for each in rising_terms(lately, texts(400))]

    assert ("paged", 40) in found
    assert ("paged attention", 20) not in found


def test_a_text_counts_once_however_often_it_says_a_term() -> None:
    lately = [*texts(100), ("Zebrafish", "zebrafish " * 500)]

    assert rising_terms(lately, texts(400)) == []


def test_hardly_anything_rises_where_nothing_did() -> None:
    chance = random.Random(5)
    words = [f"subject{number}x" for number in range(2000)]
    made = [("Title", " ".join(chance.choices(words, k=80))) for _ in range(1200)]

    assert len(rising_terms(made[:400], made[400:], 99)) <= 2


@settings(deadline=None, max_examples=tries(100))
@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=60)), max_size=12), st.integers(1, 9))
def test_any_text_is_read(some: list[tuple[str, str]], most: int) -> None:
    found = rising_terms(some * 6, [*texts(40), *some[:1]], most)

    assert len(found) <= most
    assert all(each.lately > 0 and each.before >= 0 and each.term.strip() for each in found)


def counted_one_by_one(some: Sequence[tuple[str, str]], words: Sequence[str]) -> int:
    """In how many texts the words follow one another, looked for in each."""
    return sum(
        any(tokens(f"{title} 0 {text}")[at : at + len(words)] == [*words] for at in range(len(tokens(text)) + len(title)))
        for title, text in some
    )


@pytest.mark.parametrize("seed", range(2))
def test_terms_are_counted_as_who_looks_for_each_of_them_in_each_text_counts_them(seed: int) -> None:
    chance = random.Random(seed)
    words = [f"subject{number}x" for number in range(60)]

    def made(count: int, share: float) -> list[tuple[str, str]]:
        said = [chance.choices(words, k=40) for _ in range(count)]
        for each in said:
            if chance.random() < share:
                each[10:13] = chance.choice((["paged", "gate", "cache"], ["paged", "gate"], ["gate", "cache", "paged"]))
        return [(" ".join(each[:5]), " ".join(each[5:])) for each in said]

    lately, before = made(90, 0.6), made(200, 0.1)

    found = rising_terms(lately, before, 99)

    assert len(found) > 1
    for each in found:
        spelt = each.term.split()
        assert (each.lately, each.before) == (counted_one_by_one(lately, spelt), counted_one_by_one(before, spelt)), (
            each.term
        )


def test_everything_that_rose_by_the_counts_of_words_and_pairs_is_found() -> None:
    chance = random.Random(9)
    names = [f"subject{number}x" for number in range(300)]
    sides = [
        [("Title", " ".join(chance.choices(names[low:], k=30))) for _ in range(count)]
        for low, count in ((250, 60), (0, 200))
    ]
    counts = []
    for side in sides:
        having = Counter[str]()
        for _, text in side:
            said = tokens(text)
            having.update({*said, *(" ".join(each) for each in pairwise(said))} - STOPWORDS)
        counts.append(having)
    rose = {term for term, count in counts[0].items() if count >= 5 and surprise(count, 60, counts[1][term], 200) >= SURELY}

    assert {each.term for each in rising_terms(sides[0], sides[1], 999)} == rose
    assert len(rose) > 20


@settings(deadline=None, max_examples=tries(60))
@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=60)), max_size=12), st.integers(1, 9))
def test_as_a_program_it_tells_the_same(some: list[tuple[str, str]], most: int) -> None:
    lately, before = [*some * 6, *[("Paged", "gates of \ud83d")] * 9], [*texts(40), *some[:1]]
    asked = b"".join(question(lately, before, most))

    assert terms_in(answer(asked.splitlines(keepends=True))) == rising_terms(lately, before, most)
