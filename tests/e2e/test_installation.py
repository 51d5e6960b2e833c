"""What a person is told whose copy of Broadsheet is not whole, and how little of it the smallest command reads."""

import asyncio
import os
import sys
from pathlib import Path
from shutil import copytree

from adapters.cli.exits import Exit
from tests.e2e.desk import Desk

ROOT = Path(__file__).parents[2]


async def test_a_model_that_is_missing_or_damaged_is_named_with_what_to_do(desk: Desk, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for name in ("bot", "adapters", "config"):
        copytree(ROOT / name, copy / name, copy_function=os.symlink)
    vectors, roles = copy / "bot/embed/models/minilm.npz", copy / "bot/summarise/models/roles.npz"
    vectors.unlink()
    roles.unlink()
    roles.write_bytes(b"PK\x03\x04")
    told = f"The model file {roles} is missing or damaged: install Broadsheet again."

    demo, ill = await asyncio.gather(
        desk.anew("demo", PYTHONPATH=str(copy)),
        desk.anew("doctor", "--offline", PYTHONPATH=str(copy), BROADSHEET_EMBEDDINGS__USE="on"),
    )
    assert (demo.status, demo.out, demo.err.splitlines()[-1]) == (Exit.UNWELL, "", f"broadsheet: {told}")
    assert ill.status == Exit.UNWELL
    assert "mend  summaries" in ill.out
    assert "mend  embeddings" in ill.out
    assert f"The model file {vectors} is missing or damaged" in " ".join(ill.out.split())


async def test_telling_the_version_reads_no_model_and_nothing_that_computes(tmp_path: Path) -> None:
    code = (
        "import atexit, sys; from adapters.cli.main import main;"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); main(['version'])"
    )
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    ran = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=tmp_path, env=environ, stdout=-1, stderr=-1)
    out, err = await ran.communicate()
    loaded = set(err.decode().split())
    assert (out.decode()[:11], "bot.errors" in loaded) == ("broadsheet ", True)
    heavy = {"numpy", "pydantic", "httpx", "rich", "sqlite_utils", "bot.app", "bot.summarise", "bot.embed"}
    assert not heavy & loaded
