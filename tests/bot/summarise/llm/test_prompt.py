"""The answer is found in what a model says around it, and nothing else is taken for one."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import SummaryUnavailable
from bot.summarise.llm.prompt import parse
from tests.fakes.llm import summary

GOOD = summary(problem="Caches are slow.", method="A cache predicts.", evidence="It saves 31%.", why="Users wait less.")
EMPTY = summary()
EXAMPLE = summary("...", "...", "...", "...")

AROUND = {
    "prose before": "Here is the summary that you asked for:\n\n{}",
    "prose after": "{}\n\nLet me know if you want it shorter!",
    "prose on both sides": "Sure.\n{}\nI hope that it helps {{as \\mathbb{{R}}}}.",
    "a fence": "```json\n{}\n```",
    "a fence within prose": "Here you go:\n```json\n{}\n```\nThe figures stand as in the text.",
    "a fence without end": "```json\n{}",
    "reasoning": '<think>A {{"problem": "?"}} is wanted.</think>\n{}',
    "reasoning, then prose": "<think>Let me see.</think>\nThe summary:\n{}",
    "a list": "[{}]",
    "another object": '{{"summary": {}}}',
    "a repeated question": '{{"title": "Caches", "text": "Caches are slow."}}\n{}',
    "the shape, repeated": "The shape is " + EXAMPLE.replace("{", "{{").replace("}", "}}") + "\n{}",
    "an empty one before it": EMPTY.replace("{", "{{").replace("}", "}}") + "\n{}",
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND.keys())
def test_the_answer_is_read_wherever_it_stands(around: str) -> None:
    assert parse(around.format(GOOD)).parts() == dict(
        zip(("Problem", "Method", "Evidence", "Why it matters"), json.loads(GOOD).values(), strict=True)
    )


def test_line_breaks_inside_a_text_are_read() -> None:
    assert parse(GOOD.replace("are slow", "are\nslow")).problem == "Caches are\nslow."


SHAPE = "the model's answer was not of the shape that was asked for"
HOSTILE = {
    "nothing": ("", SHAPE),
    "a refusal": ("I'm sorry, but I can't help with that.", SHAPE),
    "cut short": (GOOD[:-20], SHAPE),
    "cut short within a fence": (f"Here:\n```json\n{GOOD[:60]}\n```", SHAPE),
    "other keys": ('{"challenge": "x", "approach": "y", "outcome": "z"}', SHAPE),
    "a key too few": (GOOD.replace('"method"', '"how"'), SHAPE),
    "numbers": ('{"problem": 1, "method": 2, "evidence": 3, "why_it_matters": 4}', SHAPE),
    "reasoning without end": (f"<think>{GOOD}", SHAPE),
    "braces": ("{" * 19_000, SHAPE),
    "nested objects": ('{"a":' * 3_900, SHAPE),
    "a number of many digits": ('{"problem": ' + "9" * 10_000 + "}", SHAPE),
    "too long": ("x" * 20_001, "the model's answer did not end"),
    "nothing said": (f"Here: {EMPTY}", "the model's answer was empty"),
    "only the shape": (EXAMPLE, "the model's answer was empty"),
}


@pytest.mark.parametrize(("content", "fault"), HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_no_answer_is_refused_with_its_reason(content: str, fault: str) -> None:
    with pytest.raises(SummaryUnavailable, match=f"^{fault}$"):
        parse(content)


@given(st.text(max_size=200), st.text(alphabet='{}[]":,\\ n`', max_size=200))
def test_no_text_breaks_it(one: str, other: str) -> None:
    for content in (one + other, other + one, GOOD[: len(one)] + other):
        with suppress(SummaryUnavailable):
            parse(content)
