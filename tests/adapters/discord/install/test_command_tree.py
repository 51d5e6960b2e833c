"""The commands as Discord lists them, and what a person's choices make of them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from discord import Permissions
from hypothesis import assume, given

from adapters.chat.forms import FormKind, FormRequest, form_asked_for
from adapters.discord.install.command_tree import (
    CHAT,
    PLACES,
    STRING,
    USAGES,
    Offered,
    chosen,
    fingerprint,
    focused,
    kind_of,
    path,
    tree,
)
from adapters.discord.install.invite import REASONS, invite, permissions
from bot.commands import TABLE, Command, CreateTopic, EditTopic, Permission, Search, Subscribe, Unreadable, Usage, parse
from bot.errors import Incomplete, UsageError
from bot.handlers.surfaces.suggestions import KINDS
from tests.adapters.discord.asked import data_of
from tests.bot.commands.generate import commands

_NAME = re.compile(r"[-_a-z0-9]{1,32}")


def command_of(words: str, values: dict[str, Any]) -> Command:
    return USAGES[words].command.chosen(values)


def listed(options: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in options:
        yield each
        yield from listed(each.get("options", []))


def test_every_row_of_the_table_is_a_subcommand_and_nothing_else_is() -> None:
    (*roots, on_message) = tree()
    names = [
        f"{each['name']} {inner['name']}" if each["type"] == 2 else each["name"]
        for root in roots
        for each in root["options"]
        for inner in (each["options"] if each["type"] == 2 else [each])
    ]
    assert sorted(names) == sorted(PLACES.get(usage.words, usage.words) for usage in TABLE)
    assert set(USAGES) == set(names)
    assert on_message["type"] == 3


def test_what_manages_stands_under_a_command_that_is_offered_to_those_who_manage_channels() -> None:
    managing = {path(usage) for usage in TABLE if usage.permission is Permission.MANAGE}

    assert all(each.startswith("digest-manage ") for each in managing)
    assert {path(usage) for usage in TABLE if path(usage).startswith("digest-manage ")} == managing
    assert [each["default_member_permissions"] for each in tree()] == [
        None,
        Permissions(manage_channels=True).value,
        None,
    ]
    assert [each["default_member_permissions"] for each in tree(Offered(everybody_manages=True))] == [None, None, None]
    assert fingerprint() != fingerprint(Offered(everybody_manages=True))


def test_the_command_of_an_old_list_is_understood_under_its_former_name() -> None:
    usage, values = chosen(data_of(Subscribe(topic="kv")) | {"name": "digest"})

    assert usage.command.chosen(values) == Subscribe(topic="kv")


def test_there_is_room_for_more_commands() -> None:
    slots = {each["name"]: len(each["options"]) for each in tree() if each["type"] == CHAT}

    assert all(count <= 24 for count in slots.values()), "Discord takes 25: move what manages under its own command"
    told = Path("docs/discord.md").read_text(encoding="utf-8")
    for name, count in slots.items():
        assert f"| `/{name}` | {count} of 25 |" in told


@pytest.mark.parametrize("root", [each for each in tree() if each["type"] == CHAT], ids=lambda each: each["name"])
def test_the_commands_are_within_discords_limits(root: dict[str, Any]) -> None:
    assert len(root["options"]) <= 25
    everything = list(listed(root["options"]))
    assert all(_NAME.fullmatch(each["name"]) for each in everything)
    assert all(1 <= len(each["description"]) <= 100 for each in everything)
    assert all(len(each.get("options", [])) <= 25 and len(each.get("choices", [])) <= 25 for each in everything)
    assert not any(each.get("choices") and each.get("autocomplete") for each in everything)
    for each in everything:
        required = [one["required"] for one in each.get("options", []) if "required" in one]
        assert required == sorted(required, reverse=True), "what is required stands first"
    said = sum(
        len(each["name"])
        + len(each["description"])
        + sum(len(str(one["value"])) + len(one["name"]) for one in each.get("choices", []))
        for each in everything
    )
    assert said <= 8000


def test_every_text_that_can_be_known_is_completed() -> None:
    typed = {
        (path(usage), option.name)
        for usage in TABLE
        for option in usage.options
        if kind_of(option) == STRING and not (option.choices or option.suggests or option.offers)
    }
    new = {("digest-manage topic create", "name"), ("digest-manage confirm", "code")}
    lists = {(f"digest-manage {name}", "list") for name in ("subscribe", "follow")}
    assert typed == {("digest search", "page"), *new, *lists}, "a place in a list, and what nobody knows yet"
    assert {option.suggests for usage in TABLE for option in usage.options} <= {"", "channel", "person", *KINDS}


def test_every_command_says_where_it_can_be_used() -> None:
    for each in tree():
        assert each["contexts"] == [0, 1]
        assert each["integration_types"] == [0]


def test_the_fingerprint_is_the_same_while_the_commands_are() -> None:
    assert fingerprint() == fingerprint()
    assert len(fingerprint()) == 16


def is_for_buttons(command: Command) -> bool:
    """Whether the command says what only our own buttons do: a revision, the moment of a transfer."""
    return (isinstance(command, EditTopic) and command.revision is not None) or bool(getattr(command, "back", ""))


@given(commands())
def test_what_a_person_chooses_is_the_command_that_is_meant(command: Command) -> None:
    assume(not is_for_buttons(command))
    usage, values = chosen(data_of(command))
    assert usage.command.chosen(values) == command


@given(commands())
def test_what_is_filled_in_for_a_command_means_the_command(command: Command) -> None:
    assume(not is_for_buttons(command))
    assert type(command).chosen(command.by_option()) == command


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: usage.words)
def test_the_example_of_every_command_can_be_chosen(usage: Usage) -> None:
    command = parse(usage.example)
    found, values = chosen(data_of(command))
    assert found.command.chosen(values) == command


@pytest.mark.parametrize("days", [value for _, value in USAGES["subscribe"].options[1].offers])
def test_the_days_that_are_offered_can_be_read(days: str) -> None:
    said = command_of("subscribe", {"topic": "gpu-systems", "days": days})
    assert isinstance(said, Subscribe)
    assert said.weekdays is not None or said.month_day is not None or said.at_once


@pytest.mark.parametrize(
    ("words", "values", "form"),
    [
        ("subscribe", {}, FormRequest(FormKind.SUBSCRIPTION)),
        ("topic create", {}, FormRequest(FormKind.TOPIC)),
        ("topic edit", {"topic": "kv-cache"}, FormRequest(FormKind.TOPIC, "kv-cache")),
        ("filter", {"topic": "kv-cache", "action": "set"}, FormRequest(FormKind.FILTER, "kv-cache")),
    ],
)
def test_without_its_first_words_a_long_command_opens_a_form(words: str, values: dict[str, Any], form: FormRequest) -> None:
    with pytest.raises(Incomplete) as caught:
        command_of(words, values)
    assert form_asked_for(Unreadable(words, caught.value)) == form


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("subscribe", {"topic": "gpu-systems", "days": "someday"}),
        ("subscribe", {"topic": "gpu-systems", "at": "25:00"}),
        ("topic create", {"name": "x", "query": "a", "from": "b"}),
        ("topic create", {"name": "x"}),
    ],
)
def test_what_cannot_be_read_is_said(words: str, values: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        command_of(words, values)
    assert not isinstance(caught.value, Incomplete)


def test_a_command_that_is_no_more_is_said() -> None:
    with pytest.raises(UsageError, match="no longer"):
        chosen({"options": [{"type": 1, "name": "gone", "options": []}]})


def test_what_is_being_typed_is_found() -> None:
    data = {
        "options": [{"type": 1, "name": "search", "options": [{"type": 3, "name": "query", "value": "kv", "focused": True}]}]
    }
    option, typed = focused(data)
    assert (option in USAGES["search"].options, option and option.name, typed) == (True, "query", "kv")
    assert focused({}) == (None, "")


def test_the_page_of_a_search_is_carried() -> None:
    assert command_of("search", {"query": "kv", "page": "k3x.2"}) == Search("kv", "k3x.2")
    assert command_of("topic create", {"name": "a", "from": "b"}) == CreateTopic("a", "", "b")


def test_the_invitation_asks_for_what_it_gives_a_reason_for() -> None:
    assert invite("1234567890").startswith(
        "https://discord.com/oauth2/authorize?client_id=1234567890&scope=bot+applications.commands&"
    )
    assert permissions() == Permissions(**dict.fromkeys(REASONS, True))
    assert len(REASONS) == permissions().value.bit_count()
    assert not permissions().administrator


def test_the_documentation_gives_the_reason_of_every_permission() -> None:
    told = Path("docs/discord.md").read_text(encoding="utf-8")
    for name, reason in REASONS.items():
        shown = name.replace("_", " ").title().replace(" In ", " in ")
        assert f"| {shown} | {reason} |" in told


def test_what_a_person_installs_is_search_and_show_and_the_command_on_messages() -> None:
    (root, manages, on_message, own) = tree(Offered(personal=True))

    assert [root, manages] == tree()[:2]
    assert [each["name"] for each in own["options"]] == ["search", "show"]
    assert (own["integration_types"], own["contexts"]) == ([1], [0, 1, 2])
    assert (on_message["integration_types"], on_message["contexts"]) == ([0, 1], [0, 1, 2])
    assert fingerprint(Offered(personal=True)) != fingerprint()
    assert own["options"] == [each for name in ("search", "show") for each in root["options"] if each["name"] == name]
