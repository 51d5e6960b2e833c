"""Compare with a golden file; `UPDATE_GOLDEN=1` writes it anew."""

import os
from pathlib import Path


def check(path: Path, text: str) -> None:
    """Fail where the text is not what stands in the file."""
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; look at it, then UPDATE_GOLDEN=1"
