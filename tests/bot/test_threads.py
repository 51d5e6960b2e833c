import os
import subprocess
import sys

import pytest

PROGRAM = "import bot, os, numpy; print(os.environ['OPENBLAS_NUM_THREADS'])"


@pytest.mark.parametrize(("set_before", "expected"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_matrices_are_multiplied_by_one_thread_unless_the_operator_says_otherwise(
    set_before: dict[str, str], expected: str
) -> None:
    plain = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=plain | set_before, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected


def test_the_command_line_sets_it_before_numpy_is_imported() -> None:
    program = (
        "import sys, adapters.cli.main, bot.app; names = list(sys.modules); print(names.index('bot') < names.index('numpy'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_a_thread_that_computes_lets_the_event_loop_go_on_after_a_millisecond() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import bot, sys; print(sys.getswitchinterval())"], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == pytest.approx(0.001)
