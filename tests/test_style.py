"""What people read is written in one style: CONTRIBUTING.md, "What people read". Looked for in the source, to miss none."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    "bot/settings/arxiv_categories.py",
    "bot/commands",
    "bot/handlers",
    "bot/delivery",
    "bot/digest",
    "bot/rank",
    "bot/wording.py",
    "adapters",
)
# Where the signs are read, not written: what people type, and what a terminal of few signs is given.
_READERS = {"bot/commands/words.py", "bot/handlers/items.py", "bot/handlers/show.py", "bot/handlers/wording/replies.py"}
_READERS |= {"adapters/text.py", "bot/digest/card.py", "bot/rank/spelling.py"}
_NOT_TOLD = (
    "adapters/cli/",
    "adapters/slack/install/oauth.py",
    "adapters/web/page.py",
)  # of terminals, and of a page's headers
# What is wrong in a sentence of ours, and why.
_WRONG = {
    r"[“”„«»]": 'quotation marks are "straight": what they hold can be typed and copied',
    r"(?<!\w)'\w[^']*\w'(?!\w)": 'quotation marks are "double"',
    r"\w\.\.\.(?!\w)": "what goes on ends in …",
    r"\w\(s\)": "bot.wording.counted says one and several",
    r"[★▲💬] \{": "a sign stands before its count without a space",
}
# Words of a label that keep their capital.
_NAMES = {"BibTeX", "GitHub", "README"}
# What a button is called by what it does here, whatever its command: it takes back what was just done, or leafs.
_BY_PLACE = {"Undo", "Take back", "Back", "Next", "From the beginning", "Newest"}
# One command has one label; of these the place tells them apart.
_TOLD_APART = {
    "ShowTopic(.)": {"Show", "Show the topic"},  # in a list of topics; elsewhere
    "Help()": {"Help", "What you can ask"},  # the latter on a page of the help, by its title
    "Help(., 'all')": {"All"},
    "More(.)": {"More like this", "More"},  # the latter on a card, whose buttons stand in one row
    "Show(.)": {"Details", "Look on GitHub"},  # the latter of what is not known yet
    "Filter(., FilterAction.TEST)": {"Try the filter", "Try it"},  # the latter on the filter's own page
}


@cache
def _sources() -> list[tuple[str, ast.Module]]:
    files = [[ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py")) for room in ROOMS]
    return [(str(file.relative_to(ROOT)), ast.parse(file.read_text(encoding="utf-8"))) for some in files for file in some]


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield what may be read by people: texts with a blank or a sign, without docstrings and patterns."""
    docs = {id(node.body[0].value) for node in ast.walk(tree) if _is_documented(node)}  # type: ignore[attr-defined]
    patterns = {id(each) for node in ast.walk(tree) if _is_pattern(node) for each in ast.walk(node)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    left_out = docs | patterns
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def _is_documented(node: ast.AST) -> bool:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
    return isinstance(node, kinds) and ast.get_docstring(node) is not None


def _is_pattern(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")


def test_every_sentence_keeps_to_the_style() -> None:
    found = [
        f"{file}:{line}: {text!r}: {why}"
        for file, tree in _sources()
        if file not in _READERS and not file.startswith(_NOT_TOLD)
        for line, text in _texts(tree)
        for pattern, why in _WRONG.items()
        if re.search(pattern, text)
    ]
    assert found == []


def test_what_is_told_in_chats_has_no_backticks_which_they_show_as_signs() -> None:
    found = [
        f"{file}:{line}: {text!r}"
        for file, tree in _sources()
        if file.startswith("bot/") and file not in _READERS
        for line, text in _texts(tree)
        if re.search(r"(?<![=(])`\w[^`]*`", text)
    ]
    assert found == []


@cache
def _labels() -> list[tuple[str, str, str]]:
    """Return each label of a button that is written out, with the command that it gives, and where it stands."""
    found = []
    for file, tree in _sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("button", "Button") and len(node.args) > 1:
                label, command = node.args[:2]
                said = [label.body, label.orelse] if isinstance(label, ast.IfExp) else [label]
                for each in said:
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        found.append((each.value, _shape(command), f"{file}:{node.lineno}"))
    return found


def _shape(command: ast.expr) -> str:
    """Return a command by its name and which options it is given; one of an item or a topic alone as "Show(.)"."""
    if isinstance(command, ast.Call) and ast.unparse(command.func) == "write":
        command = command.args[0]
    if not isinstance(command, ast.Call):
        return ""
    options = [f"{each.arg}={ast.unparse(each.value)}" for each in command.keywords]
    written = [text for each in command.args if (text := ast.unparse(each)).rpartition(".")[2].isupper() or text[0] in "'\""]
    about = ["."] if command.args else []
    return f"{ast.unparse(command.func)}({', '.join([*about, *written, *options])})"


def test_labels_begin_with_a_capital_and_go_on_without() -> None:
    assert len(_labels()) > 60
    words = [(*label.split(), where) for label, _, where in _labels()]
    assert [each for each in words if not each[0][0].isupper()] == []
    assert [each for each in words if any(word != word.lower() for word in set(each[1:-1]) - _NAMES)] == []


def test_a_command_has_one_label_everywhere() -> None:
    labels: dict[str, set[str]] = defaultdict(set)
    for label, shape, _ in _labels():
        if shape and label not in _BY_PLACE:
            labels[shape].add(label)
    assert {
        shape: said for shape, said in labels.items() if len(said) > 1 and not said <= _TOLD_APART.get(shape, set())
    } == {}
