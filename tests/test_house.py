"""The floor plan: how many modules a room has, how long they are, and that its one-page picture is the checked one."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from bot.settings.topic_packs import load_packs

ROOT = Path(__file__).parents[1]
MODULES = sorted(path.relative_to(ROOT) for package in ("bot", "adapters") for path in (ROOT / package).rglob("*.py"))
PICTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_no_room_has_more_modules_than_one_looks_over() -> None:
    rooms = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    assert rooms[Path("bot")] <= 10
    assert {str(room): many for room, many in rooms.items() if many > 15} == {}


def test_no_module_is_longer_than_one_reads() -> None:
    lengths = {str(path): (ROOT / path).read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert {path: lines for path, lines in lengths.items() if lines > 600} == {}


def test_both_chats_have_the_same_rooms() -> None:
    rooms = {
        chat: {path.parts[2] for path in MODULES if path.parts[:2] == ("adapters", chat)} for chat in ("slack", "discord")
    }
    assert rooms["slack"] == rooms["discord"]


def test_the_picture_of_the_layers_is_the_one_that_is_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    checked = [re.findall(r"[\w.]+", layer) for layer in contracts[0]["layers"]]
    picture = PICTURE.split("```")[1].strip().splitlines()
    drawn = [re.findall(r"\bbot\.\w+|\badapters\b", line) for line in picture]
    assert drawn[:-1] == checked[:-1]
    assert re.findall(r"[\w.]+", picture[-1]) == [
        name.removeprefix("bot.") if at else name for at, name in enumerate(checked[-1])
    ]


def test_every_file_that_the_architecture_names_is_there() -> None:
    named = re.findall(r"`((?:bot|adapters|docs|config)/[\w./]+)`", PICTURE)
    assert len(named) > 12
    assert [name for name in named if not (ROOT / name).exists()] == []


DECISIONS = sorted(path for path in (ROOT / "docs" / "decisions").glob("0*.md"))


def test_every_decision_is_a_page_at_most_and_listed_with_its_status() -> None:
    listed = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    for path in DECISIONS:
        text = path.read_text(encoding="utf-8")
        number, title = path.name[:4], text.partition("\n")[0]
        status = "superseded in part" if "*Superseded in part by" in text else "in force"
        assert text.count("\n") <= 62, path.name
        assert title.startswith(f"# {number}: "), path.name
        assert f"| [{number}]({path.name}) | {title.removeprefix(f'# {number}: ')} | {status} |" in listed


def test_no_two_decisions_have_one_number() -> None:
    numbers = [path.name[:4] for path in DECISIONS]
    assert [number for number in numbers if numbers.count(number) > 1] == []


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = {
    title: re.findall(r"^\d\. `([^`]+)`", body, re.MULTILINE)
    for title, body in re.findall(r"^## Add an? ([\w ]+)\n(.*?)(?=^## )", CONTRIBUTING, re.MULTILINE | re.DOTALL)
}
MOST = {
    "command": 2,
    "source": 4,
    "setting": 2,
    "topic pack": 1,
    "migration": 1,
    "step of the PostgreSQL tables": 1,
    "field of a subscription": 4,
    "platform": 8,
}


def test_a_recipe_names_no_more_files_than_it_may() -> None:
    assert {title: len(files) for title, files in RECIPES.items()} == MOST


@pytest.mark.parametrize(("title", "file"), [(title, file) for title, files in RECIPES.items() for file in files])
def test_every_file_of_a_recipe_is_there_or_has_others_like_it(title: str, file: str) -> None:
    pattern = re.sub(r"<\w+>", "*", file)
    assert list(ROOT.glob(pattern)), title


def test_every_other_file_that_contributing_names_is_there() -> None:
    named = re.findall(r"`((?:bot|adapters|docs|config|tests)/[\w./]+)`", CONTRIBUTING)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_a_topic_pack_is_one_file(tmp_path: Path) -> None:
    pack = tmp_path / "tidal-energy.toml"
    pack.write_text(
        'name = "tidal-energy"\ntitle = "Tidal energy"\nquery = "tidal OR \\"wave energy\\""\n', encoding="utf-8"
    )
    assert load_packs(tmp_path)["tidal-energy"].title == "Tidal energy"


def test_what_checks_a_push_is_what_everybody_can_run() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    checked = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ncheck:")[1].split("\n\n")[0]
    assert "run: bash .ci/run" in workflow
    for tool in re.findall(r"\$\(BIN\)/(\S+ ?\w*)", checked):
        assert f"entry: .venv/bin/{tool.strip()}" in hooks, tool
