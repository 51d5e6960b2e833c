"""Every hint that stands in the source: what our sentences set between asterisks."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from adapters.text import emphasised

ROOT = Path(__file__).parents[1]
# Where sentences for people are written; elsewhere an asterisk is a regular expression's.
ROOMS = (
    "bot/commands",
    "bot/delivery",
    "bot/handlers",
    "adapters/chat",
    "adapters/discord/client",
    "adapters/discord/listeners",
    "adapters/slack/listeners",
)

# What a sentence fills in, by the end of the expression that says it.
_FILLED = {"key": "arxiv:2606.01234", "revision": "3", "first": "1", "number": "1", "last": "Dao", "action": "set"}
_FILLED |= {"part": "title", "near": "show", "taken_back": "usual", "word": "resume", "strip()": "kv"}


class Hint(NamedTuple):
    """What stands between asterisks, with what is filled in, and where."""

    text: str
    where: str


def hints() -> Iterator[Hint]:
    """Yield every hint in the source but those that are made as a whole by an expression, such as `write(command)`."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            for line, text in texts(ast.parse(file.read_text(encoding="utf-8"))):
                if "(?" in text or "[^" in text or text.startswith("^"):  # a pattern
                    continue
                for piece, marked in emphasised(text):
                    if marked and not _is_whole(piece) and not piece.startswith("*"):
                        yield Hint(_filled(piece), f"{file.relative_to(ROOT)}:{line}")


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module, with \0expression\0 where something is filled in; docstrings are none."""
    skipped = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    skipped |= {id(node.body[0].value) for node in ast.walk(tree) if _has_docstring(node)}  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(_part(each) for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


_DOCUMENTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


def _has_docstring(node: ast.AST) -> bool:
    return isinstance(node, _DOCUMENTED) and bool(ast.get_docstring(node))


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    said = ast.unparse(node.value) if isinstance(node, ast.FormattedValue) else ""
    return f"\0{said.replace('*', '')}\0"


def _is_whole(piece: str) -> bool:
    return piece.startswith("\0") and piece.endswith("\0") and piece.count("\0") == 2


def _filled(piece: str) -> str:
    parts = piece.split("\0")
    return "".join(part if at % 2 == 0 else _sample(part) for at, part in enumerate(parts))


def _sample(expression: str) -> str:
    return next((value for end, value in _FILLED.items() if expression.endswith(end)), "gpu-systems")
