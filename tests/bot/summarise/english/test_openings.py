"""What stands in front of a sentence and goes, a test per rule."""

import pytest

from bot.summarise.english.openings import strip_opening


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- The cost is high.", "The cost is high."),
        ("2) The cost is high.", "The cost is high."),
        ("✅ The cost is high.", "The cost is high."),
        ("(iv) The cost is high.", "The cost is high."),
        ("Methods: The cost is high.", "The cost is high."),
        ("Materials and Methods: The cost is high.", "The cost is high."),
        ("BACKGROUND The cost is high.", "The cost is high."),
        ("However, the cost is high.", "The cost is high."),
        ("In contrast, the cost is high.", "The cost is high."),
        ("Specifically, the cost is high.", "The cost is high."),
        ("For example, the cost is high.", "The cost is high."),
        ("To this end, vLLM pages memory.", "vLLM pages memory."),
        ("To address these challenges, Maestro predicts lengths.", "Maestro predicts lengths."),
        ("To overcome this data scarcity, Maestro predicts lengths.", "Maestro predicts lengths."),
        ("Building on these insights, the cost is cut.", "The cost is cut."),
        ("Despite this progress, the cost is high.", "The cost is high."),
        ("In this paper, the cost is cut.", "The cost is cut."),
        ("In order to address this gap, we cut it.", "We cut it."),
        ("Thus we cut it.", "We cut it."),
        (
            "In the large and in the small of all of it, the cost, however, is high.",
            "In the large and in the small of all of it, the cost is high.",
        ),
        ("In this paper we cut it.", "We cut it."),
        ("Here we cut it.", "We cut it."),
        ("Finally, to this end, in this work, we cut it.", "We cut it."),
        ("But we cut it.", "We cut it."),
        ("But caches are slow.", "Caches are slow."),
        ("Then we cut it.", "We cut it."),
        ("(ii) caches are slow.", "Caches are slow."),
        ("To address this gap: (1) we cut it.", "We cut it."),
        ("In light of this, we cut it.", "We cut it."),
        ("To this end we cut it.", "We cut it."),
        ("Despite their key role, caches are slow.", "Caches are slow."),
        ("Alongside this dataset, we cut it.", "We cut it."),
        ("Based on this phenomenon and its cost, we cut it.", "Based on this phenomenon and its cost, we cut it."),
        ("Inspired by this phenomenon and principle, we cut it.", "We cut it."),
        ("Aiming to address these concerns, we cut it.", "We cut it."),
        ("To cope with this problem, we cut it.", "We cut it."),
        ("To better understand the cost of such caches, we cut it.", "We cut it."),
    ],
)
def test_it_goes(before: str, after: str) -> None:
    assert strip_opening(before) == after


@pytest.mark.parametrize(
    "sentence",
    [
        "Results urge caution.",
        "Background noise is high.",
        "Under this assumption, it converges.",
        "In these systems, tasks wait.",
        "In this setting, it converges.",
        "To reduce cost, it sleeps.",
        "First-order methods are slow.",
        "Despite recent progress, the cost is high.",
        "Here lies the cost.",
        "Overall cost is high.",
        "Yet another cache is slow.",
        "But for caches, it is slow.",
        "To understand these caches, one must wait.",
        "To understand the cost, we cut it.",
        "Given that, at night, they sleep, we cut it.",
    ],
)
def test_what_belongs_to_the_sentence_stays(sentence: str) -> None:
    assert strip_opening(sentence) == sentence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The cost, however, is high.", "The cost is high."),
        ("It also reveals a cost.", "It reveals a cost."),
        ("Maestro thus provides a cache.", "Maestro provides a cache."),
        ("It is small and thus provides speed.", "It is small and thus provides speed."),
        ("The tests further confirm it.", "The tests confirm it."),
        ("It is not only cheap but also improves speed.", "It is not only cheap but also improves speed."),
        ("The cost is also a risk.", "The cost is also a risk."),
    ],
)
def test_a_connective_inside_goes(before: str, after: str) -> None:
    assert strip_opening(before) == after
