"""What a measured number is."""

import pytest

from bot.summarise.choice.headline import measures, only_does


@pytest.mark.parametrize(
    "text", ["It saves 31%.", "2.4 times as many", "An F1 of 85.3 is reached.", "a 32-point higher score", "It takes half."]
)
def test_a_measured_number_is_one(text: str) -> None:
    assert measures(text)


@pytest.mark.parametrize(
    "text",
    [
        "GPT-4 on 5 machines",
        "Claude 4.5 and GPT-5.1 and Python 3.11",
        "It was so (p = 0.006).",
        "It was so (p $<$ 0.0001).",
        "in 2024",
        "Caches are slow.",
        "the half-sine and a double-oracle framework",
        "a Spatial Map (3S-Map)",
        "a 106-point detector",
    ],
)
def test_a_name_a_count_a_year_and_the_p_of_a_test_are_none(text: str) -> None:
    assert not measures(text)


@pytest.mark.parametrize(
    "text",
    [
        "Examines the use of caches in posts about machines.",
        "The authors apply the method to weather data and discuss its use.",
        "The results of a case study with pages are presented.",
        "Evaluates the effectiveness of Tidy on both sets of pages.",
        "The research aims to improve the use of caches.",
        "The experiments include testing on a set of real pages.",
    ],
)
def test_what_was_done_or_is_aimed_at_is_no_result(text: str) -> None:
    assert only_does(text)


@pytest.mark.parametrize(
    "text",
    [
        "Examines five caches, of which Tidy saves most.",
        "Evaluates 20 caches, and misses 31% of the pages.",
        "Concludes that caches are slow.",
        "The authors apply Tidy to pages and find fewer misses.",
        "It is shown that Tidy is used.",
        "Tidy misses the same pages as a cache of twice its size.",
        "Users are served twice as fast.",
    ],
)
def test_what_came_of_it_is_one(text: str) -> None:
    assert not only_does(text)
