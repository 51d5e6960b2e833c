"""R17 and R18: what the tests show by themselves, run once more, and all that they wrote looked through.

R17 runs the tests in which every command of one workspace is aimed at what is another's. R18 runs the tests whole, or a
part of them, with everything kept that was logged, printed or said in an error, and looks for the secrets that the tests
use.
"""

import asyncio
import os
import re
import sys
import tempfile
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import ROOT, Ask

_ISOLATION = (
    "tests/bot/handlers/test_workspaces.py",
    "tests/bot/handlers/test_any_command.py",
    "tests/contract/test_workspaces.py",
    "tests/contract/test_workspace_states.py",
    "tests/e2e/test_private.py",
)
_PART = ("tests/e2e/test_slack_connect.py", "tests/e2e/test_discord_connection.py", "tests/bot/http")
# What the tests give as secrets, wherever it comes up again; what stands for one hidden is no secret.
_SECRETS = re.compile(
    r"xox[abposr]-[\w-]*(?:s3cret|aaaa|wrong)[\w-]*|xapp-[\w-]*(?:s3cret|aaaa|wrong)[\w-]*"
    r"|secret-of-the-bot|8f742231b10e8888abcd99yyyzzz85a5|c{32}|hunter22|MTIzNDU2Nzg5MDEyMzQ1Njc4\.[\w.-]+"
)
_SUMMARY = re.compile(r"(\d+) passed")


async def isolated(_: Ask) -> Row:
    """Run the tests of R17."""
    ended, passed, said = await _tests(*_ISOLATION, profile="full")
    measured = f"{passed} tests passed" + ("" if ended == 0 else f"; {said[-300:]}")
    return Row(
        "every command × another workspace's names", f"{passed} tests", "0 leaks", measured, ended == 0 and passed > 0
    )


async def secrets(ask: Ask) -> Row:
    """Run all tests, or with a size of 1 some of them, and look through what they wrote."""
    some = _PART if ask.size == 1 else ("tests",)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "written.txt"
        options = ("-p", "benchmarks.soak.rows.listening", "-m", "not long")
        ended, passed, said = await _tests(*some, options=options, SOAK_WRITTEN=str(written))
        text = await asyncio.to_thread(written.read_text, encoding="utf-8", errors="replace")
    found = sorted({each[0] for each in _SECRETS.finditer(text)})
    lines = text.count("\n")
    measured = f"{len(found)} in {lines:,} lines of {passed:,} tests" + "".join(f"; {each[:12]}…" for each in found[:5])
    measured += "" if ended == 0 else f"; the tests ended with {ended}: {said[-200:]}"
    sizes = f"{passed:,} tests"
    return Row("secrets in logs, output and errors", sizes, "0", measured, not found and bool(passed) and lines > 100)


async def _tests(
    *paths: str, options: tuple[str, ...] = (), profile: str = "quick", **variables: str
) -> tuple[int, int, str]:
    """Return what the tests ended with, how many passed, and what they said last."""
    command = (sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", f"--hypothesis-profile={profile}")
    process = await asyncio.create_subprocess_exec(
        *command, *options, *paths, cwd=ROOT, stdout=PIPE, stderr=STDOUT, env={**os.environ, **variables}
    )
    said = (await process.communicate())[0].decode(errors="replace")
    passed = _SUMMARY.search(said)
    return process.returncode or 0, int(passed[1]) if passed else 0, " ".join(said.split())
