import contextlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import BY_NAME, TABLE, Command, Group, Usage, help_for, parse, write
from bot.commands.syntax import FAMILIES
from bot.errors import UsageError


def test_every_command_has_exactly_one_row() -> None:
    classes = (each for family in FAMILIES for each in vars(family).values() if isinstance(each, type))
    declared = {each for each in classes if issubclass(each, Command)}

    assert {usage.command for usage in TABLE} == declared - {Command}
    assert len(declared) - 1 == len(TABLE)


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: str(usage.words))
def test_every_example_is_that_command_in_its_canonical_form(usage: Usage) -> None:
    command = parse(usage.example)

    assert type(command) is usage.command
    assert write(command) == usage.example
    assert help_for(usage.example) is usage


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: str(usage.words))
def test_every_row_can_be_shown_in_a_menu_and_told_in_a_line(usage: Usage) -> None:
    names = usage.words.split(" ")

    assert len(names) <= 2
    assert all(re.fullmatch("[a-z]{1,32}", name) for name in names)
    assert all(form.startswith(f"{usage.words}") for form in usage.syntax.split(" | "))
    assert usage.example.startswith(usage.words)
    assert re.fullmatch(r"[A-Z][^.]+\.", usage.help)
    assert len(usage.help) <= 110  # what one line of a help takes


def test_a_group_of_sub_commands_is_no_command_itself() -> None:
    groups = {usage.words.split(" ")[0] for usage in TABLE if " " in usage.words}

    assert groups == {"topic"}
    assert not groups & {usage.words for usage in TABLE}


def test_no_name_means_two_commands() -> None:
    names = [name for usage in TABLE for name in (usage.words, *usage.aliases)]

    assert len(names) == len(set(names)) == len(BY_NAME)


@pytest.mark.parametrize("name", BY_NAME)
def test_every_name_and_alias_leads_to_its_row_whatever_its_case(name: str) -> None:
    assert help_for(name.upper()) is BY_NAME[name]
    assert help_for(f"/digest {name}") is BY_NAME[name]


def test_every_group_holds_commands_that_stand_together() -> None:
    groups = [usage.group for usage in TABLE]

    assert list(dict.fromkeys(groups)) == list(Group)
    assert groups == sorted(groups, key=list(Group).index)


_JUNK = st.none() | st.text(max_size=20) | st.integers() | st.floats() | st.booleans() | st.lists(st.text(max_size=3))


@given(data=st.data())
def test_whatever_is_chosen_it_is_a_command_or_an_error_that_says_what_to_do(data: st.DataObject) -> None:
    usage = data.draw(st.sampled_from(TABLE))
    values = {each.name: data.draw(_JUNK) for each in usage.options}
    with contextlib.suppress(UsageError):
        assert isinstance(usage.command.chosen(values), usage.command)


@pytest.mark.parametrize(
    ("words", "values", "said"),
    [
        ("saved", {"format": "nonsense"}, '*format* cannot be "nonsense": choose one of *bibtex*, *ris*, *markdown*.'),
        ("saved", {"page": 0}, "*page* takes a number from 1 to 10000."),
        ("saved", {"page": "many"}, "*page* takes a number from 1 to 10000."),
        (
            "subscribe",
            {"topic": "x", "layout": "wide"},
            '*layout* cannot be "wide": choose one of *brief*, *thread*, *full*.',
        ),
        ("subscribe", {"topic": "x", "as_usual": "all"}, '*as_usual* cannot be "all": choose one of *entries*, *min_score*'),
        ("subscribe", {"topic": "x", "min_score": float("nan")}, "*min_score* takes a number from 0 to 1."),
    ],
)
def test_a_choice_that_there_is_not_is_named_with_those_that_there_are(
    words: str, values: dict[str, Any], said: str
) -> None:
    usage = next(each for each in TABLE if each.words == words)
    with pytest.raises(UsageError) as raised:
        usage.command.chosen(values)
    assert str(raised.value).startswith(said)
