import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rank.trends import SURELY, ratio_at_least, rising_terms, surprise
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
