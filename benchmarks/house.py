"""How the house is built: modules, imports, and which files of ours a request enters.

    python -m benchmarks.house [--files] [--without-runs]

The first table is read from the sources of `bot/` and `adapters/`: modules, lines, nodes of the syntax tree, modules of the
largest folder, arrows between folders, and import edges a module (distinct modules of ours that one imports; all of them,
and those other than to models, errors and wording). The second is traced as it runs, by the interpreter's profile hook, on
the service in a simulated Slack: in how many files of ours a function is called between a person's request and its answer,
in a publishing round with one digest, and by `broadsheet demo`. What runs beside them in an idle second counts in none.
`--files` lists the files.
"""

import argparse
import ast
import asyncio
import contextlib
import io
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bot", "adapters")
# What nearly every module may import without being entangled: values, errors, and the words of sentences.
_PLAIN = ("bot.models", "bot.errors", "bot.wording", "adapters.words")
_IDLE = 1.5  # seconds


class Entered:
    """Which files of ours are entered: names relative to the root, gathered while somebody listens."""

    def __init__(self) -> None:
        self._listening: set[str] | None = None
        self._names: dict[str, str] = {}

    def hook(self, frame: FrameType, event: str, _: Any) -> None:
        """Note the file of a call; for sys.setprofile."""
        if event != "call" or self._listening is None:
            return
        code = frame.f_code
        name = self._names.get(code.co_filename)
        if name is None:
            path = Path(code.co_filename)
            ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES
            name = self._names[code.co_filename] = str(path.relative_to(ROOT)) if ours else ""
        if name and code.co_name != "<module>":
            self._listening.add(name)

    @contextmanager
    def listening(self) -> Iterator[set[str]]:
        """Gather into the set that is yielded."""
        found: set[str] = set()
        self._listening = found
        try:
            yield found
        finally:
            self._listening = None


def modules() -> dict[str, Path]:
    """Return every module of ours by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str, tree: ast.AST, known: dict[str, Path]) -> set[str]:
    """Return the modules of ours that one imports: `from package import module` counts as the module."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name in known}
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for each in node.names:
                inside = f"{node.module}.{each.name}"
                found.add(inside if inside in known else str(node.module))
    return found - {name}


def built() -> dict[str, str]:
    """Return the figures of the sources."""
    known = modules()
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in known.items()}
    edges = {(name, other) for name, tree in trees.items() for other in imported(name, tree, known)}
    entangled = [pair for pair in edges if not any(pair[1] == each or pair[1].startswith(f"{each}.") for each in _PLAIN)]
    folders = Counter(path.parent for path in known.values() if path.name != "__init__.py")
    folder, most = folders.most_common(1)[0]
    arrows = {(known[a].parent, known[b].parent) for a, b in edges if known[a].parent != known[b].parent}
    rooms = {(_room(a), _room(b)) for a, b in arrows if _room(a) != _room(b)}
    count = len(known)
    return {
        "modules (with __init__)": f"{count}",
        "modules without __init__": f"{sum(folders.values())}",
        "lines": f"{sum(path.read_text(encoding='utf-8').count(chr(10)) for path in known.values()):,}",
        "nodes of the syntax tree": f"{sum(1 for tree in trees.values() for _ in ast.walk(tree)):,}",
        "modules in the largest folder": f"{most} ({folder.relative_to(ROOT)})",
        "modules at the root of bot/": f"{folders[ROOT / 'bot']}",
        "folders with modules": f"{len(folders)}",
        "arrows between folders": f"{len(arrows)}",
        "arrows between rooms (bot/digest and the like)": f"{len(rooms)}",
        "import edges, all": f"{len(edges):,}",
        "import edges, other than to models, errors, wording": f"{len(entangled):,}",
        "import edges a module, all": f"{len(edges) / count:.2f}",
        "import edges a module, other than to models, errors, wording": f"{len(entangled) / count:.2f}",
        "the same, a module that is no __init__": f"{len(entangled) / sum(folders.values()):.2f}",
        "longest module, lines": f"{max(path.read_text(encoding='utf-8').count(chr(10)) for path in known.values())}",
    }


def _room(folder: Path) -> Path:
    """Return the room of a folder: two names of its path, or the one there is."""
    return Path(*folder.relative_to(ROOT).parts[:2])


@asynccontextmanager
async def _slack(folder: Path) -> AsyncIterator[Any]:
    from tests.e2e.slack_desk import sitting

    async with sitting(folder) as desk:
        yield desk


async def requests(entered: Entered, folder: Path) -> dict[str, set[str]]:
    """Return the files that each request in a simulated Slack enters."""
    from tests.conftest import NOW
    from tests.e2e.stage import NEW, about

    found: dict[str, set[str]] = {}
    async with _slack(folder) as desk:
        fake = desk.fake
        ben, general = fake.ben, fake.general
        await (await fake.command("subscribe gpu-systems daily at 09:00 in UTC", user=ben, channel=general)).answer()
        await desk.round()
        with entered.listening() as idle:
            await asyncio.sleep(_IDLE)
        for line in ("topics", "search gpu"):
            await (await fake.command(line, user=ben, channel=general)).answer()  # what is read once is read
            with entered.listening() as found[f"/digest {line}"]:
                answer = await (await fake.command(line, user=ben, channel=general)).answer()
            await asyncio.sleep(0.2)
        await desk.app.store.items.add(about(11, NEW, NOW + timedelta(hours=2)), NOW + timedelta(hours=2))
        with entered.listening() as found["a publishing round"]:
            await desk.round(datetime.fromisoformat("2026-04-02T09:00:05+00:00"))
        (digest,) = [each for each in fake.messages(general) if (each.metadata or {}).get("event_type")]
        await asyncio.sleep(0.2)
        with entered.listening() as found["a button (More like this)"]:
            answer = await (await fake.click(digest, "More like this", user=ben)).answer()
        assert answer.words
    return {name: files - idle for name, files in found.items()}


def demo(entered: Entered) -> set[str]:
    """Return the files that `broadsheet demo` enters."""
    from adapters.cli.main import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), entered.listening() as found:
        kept, sys.argv = sys.argv, ["broadsheet", "demo"]
        with contextlib.suppress(SystemExit):
            main()
        sys.argv = kept
    assert "seen" in said.getvalue()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="list the files that are entered")
    parser.add_argument("--without-runs", action="store_true", help="read the sources only")
    asked = parser.parse_args()
    for name, figure in built().items():
        print(f"{name:62}{figure:>12}")
    if asked.without_runs:
        return
    entered = Entered()
    threading.setprofile(entered.hook)
    sys.setprofile(entered.hook)
    with tempfile.TemporaryDirectory() as folder:
        runs = asyncio.run(requests(entered, Path(folder)))
    runs["broadsheet demo"] = demo(entered)
    sys.setprofile(None)
    print("\nfiles of ours that are entered")
    for name, files in runs.items():
        print(f"{name:62}{len(files):>12}")
        if asked.files:
            print("".join(f"    {each}\n" for each in sorted(files)), end="")


if __name__ == "__main__":
    main()
