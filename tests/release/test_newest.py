"""What the chats' libraries release is tried every week, in a job that may fail, and by whoever wants to know."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
JOBS: dict[str, str] = dict(re.findall(r"^  (\w+):\n((?:(?:    .*)?\n)+)", WORKFLOW.partition("\njobs:\n")[2], re.MULTILINE))
RECIPE = re.search(r"^test-newest:(.*)\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)


def test_a_job_that_may_fail_tries_the_newest_libraries_every_week_and_with_every_push() -> None:
    assert re.search(r'^  schedule:\n    - cron: "\d+ \d+ \* \* [0-6]"', WORKFLOW, re.MULTILINE)
    assert {"run", "newest"} == set(JOBS)
    assert "    continue-on-error: true\n" in JOBS["newest"]
    assert "      - run: make test-newest\n" in JOBS["newest"]
    assert "\n    if:" not in f"\n{JOBS['newest']}"


def test_what_must_pass_may_not_fail() -> None:
    assert "continue-on-error" not in JOBS["run"]
    assert "bash .ci/run" in JOBS["run"]
    assert "test-newest" not in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_newest_libraries_go_into_a_folder_of_their_own() -> None:
    assert RECIPE is not None
    needs, lines = RECIPE.group(1).partition("##")[0], RECIPE.group(2)
    assert needs.strip() == ""
    assert "$(VENV)" not in lines
    assert "$(BIN)" not in lines
    assert re.search(r"^NEWEST := \.venv-newest$", MAKEFILE, re.MULTILINE)
    assert ".venv-newest/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "--upgrade --pre $(NEWEST_LIBRARIES)" in lines
    assert "tests/adapters tests/e2e $(ARGS)" in lines
