"""What the documents say is true today: commands, exit statuses, the sample digest, files that they point to."""

import io
import re
import shlex
from pathlib import Path

import click
import pytest
from rich.console import Console

from adapters.cli.demo import recorded_run
from adapters.cli.exits import Exit
from adapters.cli.main import cli
from adapters.cli.render.digest import DigestView
from adapters.mcp.digests import DigestTold
from adapters.mcp.results import Answer, Part, Quote, Quoted, Told
from adapters.mcp.server import summary_prompt
from adapters.mcp.tools import TOOLS
from bot.commands import BORROWED, TABLE, Permission, parse
from bot.models import Layout
from training.__main__ import MODELS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands(group: click.Command, prefix: str = "") -> list[str]:
    """Every command that can be typed: "collect", "db backup"."""
    if not isinstance(group, click.Group):
        return [prefix]
    inner = [name for key, each in group.commands.items() for name in commands(each, f"{prefix} {key}".strip())]
    return inner + ([prefix] if prefix and group.invoke_without_command else [])


def typed(text: str) -> list[list[str]]:
    """The `broadsheet …` lines of a document's code, as the shell would cut them."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines += [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose)]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("broadsheet ") and "…" not in line]


TYPED = {" ".join(words): words for path in DOCUMENTS for words in typed(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("words", TYPED.values(), ids=TYPED)
def test_every_command_in_the_documents_is_one(words: list[str]) -> None:
    command: click.Command = cli
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    options = {name for parameter in command.params for name in parameter.opts + parameter.secondary_opts} | {"--help"}

    assert {word for word in words if word.startswith("--")} <= options
    assert not isinstance(command, click.Group) or command.invoke_without_command or words in ([], ["--help"])


def test_every_command_is_told_of_somewhere_and_has_a_help_text() -> None:
    told = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    for name in commands(cli):
        assert name.split()[-1] in told, name
    for command in cli.commands.values():
        assert command.help, command.name


def test_the_exit_statuses_of_the_readme_are_those_of_the_command() -> None:
    told = {int(number) for number in re.findall(r"(\d) [a-z]", README.split("Exit status:")[1].split("\n\n")[0])}

    assert told == {status.value for status in Exit} - {Exit.INTERRUPTED.value}


def test_the_brief_and_the_card_in_the_readme_are_the_demos() -> None:
    digest = recorded_run.run_demo(shown=False)[0]
    for block, layout in enumerate((Layout.BRIEF, Layout.FULL), start=1):
        console = Console(width=80, record=True, file=io.StringIO(), color_system=None, highlight=False)
        console.print(DigestView(digest, layout))
        shown = [line.rstrip() for line in console.export_text().splitlines()]
        sample = README.split("```text\n")[block].split("```")[0].splitlines()
        sample = [line for line in sample if line.strip() not in ("", "…")]

        assert len(sample) > 12
        at = 0
        for line in sample:
            at = shown.index(line, at) + 1


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_a_document_points_to_is_there(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    for target in targets:
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_every_target_of_make_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    told = {name for path in DOCUMENTS for name in re.findall(r"\bmake ([a-z-]+)\b`", path.read_text(encoding="utf-8"))}

    assert told <= targets


_PERMISSIONS = {
    Permission.ANYONE: "anyone",
    Permission.MANAGE: "who may manage",
    Permission.SOME: "look: anyone; change: who may manage",
}


def _rows(document: str, head: str) -> list[list[str]]:
    """The cells of every table of a document that has this head."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    tables = re.findall(rf"^\| {re.escape(head)} \|\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        for row in "".join(tables).splitlines()
    ]


def test_the_commands_of_the_document_are_those_of_the_table() -> None:
    told = _rows("commands.md", "command | what it does | for example | who may")

    assert told == [[f"`{row.syntax}`", row.help, f"`{row.example}`", _PERMISSIONS[row.permission]] for row in TABLE]


def test_the_other_names_in_the_document_are_those_of_the_table() -> None:
    told = _rows("commands.md", "instead of | people also write")

    assert told == [[f"`{row.words}`", ", ".join(f"`{name}`" for name in row.aliases)] for row in TABLE if row.aliases]


def test_every_verb_of_another_tool_is_in_the_document() -> None:
    told = [form for row in _rows("commands.md", "people write | and get") for form in re.findall(r"`([a-z]+)", row[0])]

    assert told == list(BORROWED)


def test_every_command_in_the_document_is_understood() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    options = [form for row in _rows("commands.md", "option | is") for form in re.findall(r"`([^`]+)`", row[0])]

    assert len(lines) > 10
    assert len(options) > 20
    for line in [*lines, *(f"subscribe gpu-systems {option}" for option in options)]:
        parse(line)


def test_every_model_in_the_package_says_what_it_was_made_from() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    models = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("bot/*/models/*.*")) if path.suffix != ".py"]
    assert models
    assert [path for path in models if path not in notice] == []
    assert "NOTICE" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_notice_names_every_data_set_that_a_model_in_the_package_learned_from() -> None:
    told = (ROOT / "NOTICE").read_text(encoding="utf-8").split("\n\n")
    used = {name: _data_sets(ROOT / "training" / f"{name}.py") for name in MODELS}
    used["roles"] |= used["words"]
    assert set().union(*used.values()) == {"csabstruct", "pubmedqa", "scitldr"}
    for name, path in MODELS.items():
        entries = [entry.lower() for entry in told if entry.startswith(path)]
        assert len(entries) == path.startswith("bot/"), path
        assert [each for entry in entries for each in used[name] if each not in entry] == [], path


def _data_sets(module: Path) -> set[str]:
    """What a module of the training asks its sources for: "scitldr" for the files "scitldr_a.train" and "scitldr_a.dev"."""
    asked = re.findall(r'"([a-z]+)(?:_\w)?\.(?:train|dev)"|quality\("([a-z]+)', module.read_text(encoding="utf-8"))
    return {parts or whole for parts, whole in asked}


def test_the_prompt_in_the_document_is_the_one_that_the_server_offers() -> None:
    document = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert f"```text\n{summary_prompt({})}\n```" in document


def test_every_tool_of_an_assistant_and_every_field_of_an_answer_is_in_the_document() -> None:
    document = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    fields = {
        *DigestTold.model_fields,
        *Answer.model_fields,
        *Told.model_fields,
        *Quoted.model_fields,
        *Part.model_fields,
        *Quote.model_fields,
    } - {"name"}
    assert [name for name in (*TOOLS, *fields) if f"`{name}`" not in document] == []
