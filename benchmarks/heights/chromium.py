"""Pages drawn by headless Chromium: how tall they are, and their pictures."""

import html
import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 120
_MEASURE = """
<script>
addEventListener("load", () => {
  const heights = [...document.querySelectorAll(".column")].map(each => Math.ceil(each.getBoundingClientRect().height));
  document.body.innerHTML = "<pre id=heights>" + JSON.stringify(heights) + "</pre>";
});
</script>
"""
_HEIGHTS = re.compile(r'<pre id="heights">(.*?)</pre>', re.DOTALL)
PHONE = 390  # CSS pixels; up to `NARROW` a column is drawn as a phone does
DESKTOP = 700
_NARROW = 500
_FRAME = 90  # pixels at the end of a picture of which Chromium draws nothing


@dataclass(frozen=True, slots=True)
class Column:
    """What stands in one column of so many CSS pixels: HTML. Up to 500 of them it is drawn as a phone does (`.phone`)."""

    body: str
    width: int = DESKTOP

    def drawn(self) -> str:
        """Return it as HTML."""
        kind = "column phone" if self.width <= _NARROW else "column"
        return f'<div class="{kind}" style="width: {self.width}px">{self.body}</div>'


def heights(style: str, columns: Sequence[Column]) -> list[int]:
    """Return how tall each column is, in CSS pixels; all are drawn in one run. Raises RuntimeError where Chromium fails."""
    dom = _run(_document(style, columns) + _MEASURE, "--dump-dom")
    found = _HEIGHTS.search(dom)
    measured = json.loads(html.unescape(found[1])) if found else []
    if len(measured) != len(columns):
        raise RuntimeError(f"Chromium measured {len(measured)} of {len(columns)} columns")
    return [int(each) for each in measured]


def picture(style: str, column: Column, path: Path, *, scale: int = 1) -> None:
    """Write a picture of the column as PNG, `scale` pixels to a CSS pixel."""
    (tall,) = heights(style, [column])
    size = f"--window-size={column.width},{max(tall, 1) + _FRAME}"  # what it keeps for a window's frame stays white
    options = (f"--screenshot={path.resolve()}", size, "--hide-scrollbars", f"--force-device-scale-factor={scale}")
    _run(_document(style, [column]), *options)


def _document(style: str, columns: Sequence[Column]) -> str:
    shown = "".join(each.drawn() for each in columns)
    head = f'<!doctype html><meta charset="utf-8"><style>html, body {{ margin: 0 }}\n{style}</style>'
    return f"{head}<body>{shown}</body>"


def _run(document: str, *options: str) -> str:
    with tempfile.TemporaryDirectory(prefix="heights-") as folder:
        page = Path(folder) / "page.html"
        page.write_text(document, encoding="utf-8")
        quiet = ("--disable-gpu", "--no-first-run", f"--user-data-dir={folder}/profile")
        command = ("chromium", "--headless", "--no-sandbox", *quiet, *options, page.as_uri())
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"Chromium ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout
