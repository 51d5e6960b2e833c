"""The rules are switched off one by one, and on again."""

import pytest

from benchmarks.ablation import RULES, Made, compared, made_of, recorded
from tests.fakes.edition import items

FEW = items()[:3]


@pytest.fixture(scope="module")
def whole() -> Made:
    """What is made of them with every rule."""
    return made_of(FEW)


@pytest.mark.no_cover
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_was_switched_off_is_on_again(whole: Made, rule: str) -> None:
    assert compared(FEW, whole, rule).startswith(f"{rule}: ")
    assert made_of(FEW) == whole


def test_the_authors_speak_for_themselves_without_the_rule_for_that() -> None:
    without, whole = ([summary.parts[1].text for summary in made_of(FEW, rule).summaries] for rule in ("third person", ""))
    assert any(text.startswith("We ") for text in without)
    assert not any(text.startswith("We ") for text in whole)


def test_the_recorded_day_is_read() -> None:
    assert len(recorded()) == 483
