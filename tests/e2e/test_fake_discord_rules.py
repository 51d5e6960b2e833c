"""What the fake Discord refuses, and that it refuses nothing else."""

from typing import Any

import pytest

from tests.fakes.discord.command_rules import choice_flaws, command_flaws, commands_flaws
from tests.fakes.discord.description import official
from tests.fakes.discord.message_rules import form_flaws, is_empty, merged, message_flaws
from tests.fakes.discord.things import V2

MESSAGES = "/channels/{channel_id}/messages"
COMMANDS = "/applications/{application_id}/commands"
SAVE = {"type": 2, "style": 2, "label": "Save", "custom_id": "save"}
OPTION = {"type": 3, "name": "query", "description": "What to look for"}


def row(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(parts)}


def texts(*some: str) -> list[dict[str, Any]]:
    return [{"type": 10, "content": each} for each in some]


def buttons(many: int) -> list[dict[str, Any]]:
    return [{**SAVE, "custom_id": f"save {number}"} for number in range(many)]


def select(many: int, **more: Any) -> dict[str, Any]:
    options = [{"label": f"Topic {number}", "value": f"t{number}"} for number in range(many)]
    return row({"type": 3, "custom_id": "pick", "options": options, **more})


def flaws(body: dict[str, Any]) -> list[tuple[str, str]]:
    found = official().request_flaws("POST", MESSAGES, body) + message_flaws(body)
    return [(".".join(map(str, where)), what) for where, what in found]


@pytest.mark.parametrize(
    "body",
    [
        {"content": "x" * 2000, "allowed_mentions": {"parse": []}, "nonce": "d" * 25, "enforce_nonce": True, "flags": 4},
        {"embeds": [{"description": "x" * 4096}, {"description": "x" * 1904, "url": "https://arxiv.org/abs/2606.01234"}]},
        {"content": "x", "components": [row(*buttons(5)), select(25, min_values=0, max_values=25)]},
        {"flags": V2, "components": [{"type": 17, "components": [*texts("x" * 4000), row(*buttons(5))]}]},
        {"flags": V2, "components": [row(*buttons(5)), *texts(*"x" * 34)]},
        {"flags": V2, "components": [{"type": 9, "components": texts("x"), "accessory": SAVE}]},
        {"content": "x", "components": [row({"type": 2, "style": 5, "label": "Open", "url": "https://arxiv.org"})]},
    ],
)
def test_what_just_fits_is_taken(body: dict[str, Any]) -> None:
    assert flaws(body) == []


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"content": "x" * 2001}, "content"),
        ({"content": "x", "nonce": "d" * 26}, "nonce"),
        ({"content": "x", "colour": 3}, ""),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0"),
        ({"embeds": [{"title": "x" * 257}]}, "embeds.0.title"),
        ({"embeds": [{"description": "x" * 4096}, {"description": "x" * 1905}]}, "embeds"),
        ({"embeds": [{"title": "x"}] * 11}, "embeds"),
        ({"embeds": [{"title": "x", "fields": [{"name": " ", "value": "y"}]}]}, "embeds.0.fields.0.name"),
        ({"embeds": [{"title": "x", "url": "javascript:alert(1)"}]}, "embeds.0.url"),
        ({"content": "x", "components": texts("x")}, "components.0"),
        ({"content": "x", "flags": V2, "components": texts("x")}, "content"),
        ({"flags": V2, "embeds": [{"title": "x"}], "components": texts("x")}, "embeds"),
        ({"flags": V2, "components": texts("x" * 2000, "x" * 2001)}, "components"),
        ({"flags": V2, "components": [row(*buttons(5)), *texts(*"x" * 35)]}, "components"),
        ({"flags": V2, "components": texts(" ")}, "components"),
        ({"components": [row(SAVE), row(SAVE)]}, "components"),
        ({"components": [row({**SAVE, "label": "x" * 81})]}, "components.0.components.0.label"),
        ({"components": [row({**SAVE, "custom_id": "x" * 101})]}, "components.0.components.0.custom_id"),
        ({"components": [row({**SAVE, "url": "https://arxiv.org"})]}, "components"),
        ({"components": [row({"type": 2, "style": 5, "label": "Open", "custom_id": "open"})]}, "components"),
        ({"components": [row({**SAVE, "label": " "})]}, "components"),
        ({"components": [row(*buttons(6))]}, "components.0.components"),
        ({"components": [row(*buttons(1))] * 6}, "components"),
        ({"components": [row(SAVE, *select(2)["components"])]}, "components"),
        ({"components": [select(26)]}, "components.0.components.0.options"),
        ({"components": [select(2, max_values=3)]}, "components"),
    ],
)
def test_a_message_that_breaks_a_rule_is_refused_where_it_does(body: dict[str, Any], where: str) -> None:
    assert where in [place for place, _ in flaws(body)]


def test_empty_messages_and_embeds_that_merge_are_noticed() -> None:
    assert is_empty({"content": " \n", "embeds": []})
    assert not is_empty({"content": "", "embeds": [{"title": "x"}]})
    url = {"url": "https://arxiv.org/abs/2606.01234"}
    assert [where for where, _ in merged([url, {}, {}, url])] == [("embeds", 3, "url")]


COMMAND = {"name": "digest", "description": "Your paper of papers", "options": [OPTION]}


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ({**COMMAND, "name": "Digest"}, "name"),
        ({**COMMAND, "name": "di gest"}, "name"),
        ({**COMMAND, "description": ""}, "description"),
        ({"name": "digest"}, "description"),
        ({**COMMAND, "description": "x" * 101}, "description"),
        ({**COMMAND, "options": [OPTION, {**OPTION, "name": "day", "required": True}]}, "options"),
        ({**COMMAND, "options": [OPTION, OPTION]}, "options"),
        ({**COMMAND, "options": [{**OPTION, "name": f"o{number}"} for number in range(26)]}, "options"),
        (
            {**COMMAND, "options": [{**OPTION, "autocomplete": True, "choices": [{"name": "x", "value": "x"}]}]},
            "options.0.autocomplete",
        ),
        ({**COMMAND, "options": [{**OPTION, "choices": [{"name": "x", "value": 3}]}]}, "options.0.choices.0.value"),
        ({**COMMAND, "options": [OPTION, {"type": 1, "name": "search", "description": "Find"}]}, "options"),
        ({**COMMAND, "options": [{"type": 2, "name": "topic", "description": "Topics", "options": [OPTION]}]}, "options.0"),
        ({**COMMAND, "colour": 3}, ""),
    ],
)
def test_a_command_that_breaks_a_rule_is_refused_where_it_does(command: dict[str, Any], where: str) -> None:
    described = official().request_flaws("PUT", COMMANDS, [command])
    found = [".".join(map(str, place)).removeprefix("0.").removeprefix("0") for place, _ in described]
    assert where in found + [".".join(map(str, place)) for place, _ in command_flaws(command)]


def sized(kind: int, number: int, options: list[dict[str, Any]] | None = None, more: int = 0) -> dict[str, Any]:
    """Return an option of a hundred characters, and so many more."""
    return {"type": kind, "name": f"o{number:02}", "description": "x" * (97 + more), "options": options or []}


@pytest.mark.parametrize("more", [0, 1])
def test_a_command_has_at_most_8000_characters(more: int) -> None:
    many = [sized(3, number) for number in range(25)]
    few = [sized(3, number) for number in range(3)] + [sized(3, 3, more=more)]
    inner = [sized(1, 0, many), sized(1, 1, many), sized(1, 2, few), *(sized(1, number) for number in range(3, 25))]
    found = command_flaws({"name": "digest", "description": "x" * 94, "options": inner})
    assert [what for _, what in found] == (["Command exceeds maximum size (8000)"] if more else [])


def test_commands_have_names_of_their_own_and_menus_are_few() -> None:
    assert commands_flaws([COMMAND, {**COMMAND, "type": 3, "description": "", "options": []}]) == []
    assert commands_flaws([COMMAND, COMMAND]) != []
    assert commands_flaws([{"name": f"m{number}", "type": 3} for number in range(6)]) != []
    assert list(choice_flaws([{"name": "x", "value": f"{number}"} for number in range(26)], 3)) != []


def test_a_form_has_a_title_and_few_parts() -> None:
    text = row({"type": 4, "custom_id": "name", "style": 1, "label": "Name"})
    assert form_flaws({"custom_id": "topic", "title": "Topic", "components": [text]}) == []
    assert form_flaws({"custom_id": "topic", "title": " ", "components": [text]}) != []
    assert form_flaws({"custom_id": "topic", "title": "Topic", "components": []}) != []
    assert form_flaws({"custom_id": "topic", "title": "Topic", "components": [text, text]}) != []
    assert form_flaws({"custom_id": "topic", "title": "Topic", "components": [row(SAVE), *texts("x")] * 3}) != []


def test_a_reply_of_the_fake_is_held_to_the_description_too() -> None:
    assert official().reply_flaws("GET", "/gateway", 200, {"url": "wss://gateway.discord.gg"}) == []
    assert official().reply_flaws("GET", "/gateway", 200, {}) != []
    assert official().reply_flaws("GET", "/users/@me", 200, {"id": 3}) != []
    assert official().reply_flaws("GET", "/users/@me", 403, {"code": 50001, "message": "Missing Access"}) == []
    assert official().reply_flaws("GET", "/users/@me", 302, None) != []
