"""What a measured number is."""

import pytest

from bot.summarise.choice.headline import measures


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
