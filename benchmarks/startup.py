"""Start-up time and memory of whole processes: `broadsheet version`, `demo`, and an idle `run`, beside bare Python.

Figures are of the operating system's own accounting: wall seconds from start to end, and the largest resident set (MiB).
The baseline, in the same run, is `python -c pass` of the same interpreter.

    python -m benchmarks.startup
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENTRY = "from adapters.cli.main import main; main()"
IDLE = 4.0  # seconds that `run` is left alone before its memory is read


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took."""

    wall: float  # seconds
    peak: float  # MiB


def measured(arguments: Sequence[str], folder: Path) -> Cost:
    """Run a command to its end, in a child that counts for itself alone."""
    # getrusage(RUSAGE_CHILDREN) keeps the largest of all children; a fresh process between makes it this one's.
    script = (
        "import resource, subprocess, sys, time; at = time.perf_counter();"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
        "print(time.perf_counter() - at, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, check=True, cwd=folder, env=environment(folder)
    )
    wall, peak = run.stdout.split()
    return Cost(float(wall), float(peak))


def idle_run(folder: Path) -> Cost:
    """Start the service with no source, wait, read what it holds, and stop it; `wall` is how long stopping took."""
    (folder / "broadsheet.toml").write_text(
        "[arxiv]\nenabled=false\n[huggingface]\nenabled=false\n[github]\nenabled=false\n"
    )
    service = subprocess.Popen(
        [sys.executable, "-c", ENTRY, "run"], cwd=folder, env=environment(folder), stderr=subprocess.DEVNULL
    )
    try:
        time.sleep(IDLE)
        status = Path(f"/proc/{service.pid}/status").read_text()
        held = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    finally:
        at = time.perf_counter()
        service.send_signal(signal.SIGTERM)
        service.wait(30)
    return Cost(time.perf_counter() - at, held / 1024)


def environment(folder: Path) -> dict[str, str]:
    """A person's environment with nothing set, and this checkout on the path."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}


def main(runs: int = 5) -> None:
    """Print the table."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "broadsheet version": [sys.executable, "-c", ENTRY, "version"],
        "broadsheet demo": [sys.executable, "-c", ENTRY, "demo", "--json"],
    }
    print(f"start-up, {runs} runs each after one warm-up, medians; ratios to bare Python")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base = Cost(0.0, 0.0)
        for label, arguments in commands.items():
            measured(arguments, folder)
            costs = [measured(arguments, folder) for _ in range(runs)]
            cost = Cost(statistics.median(c.wall for c in costs), statistics.median(c.peak for c in costs))
            base = cost if base.peak == 0 else base
            peak = f"{cost.peak:6.1f} MiB peak ({cost.peak / base.peak:4.1f}×)"
            print(f"  {label:<20} {cost.wall:6.2f} s ({cost.wall / base.wall:5.1f}×)  {peak}")
        idle = idle_run(folder)
        held = f"{idle.peak:6.1f} MiB held ({idle.peak / base.peak:4.1f}×)"
        print(f"  {'broadsheet run, idle':<20} {'':19}{held}, stops in {idle.wall:.2f} s")


if __name__ == "__main__":
    main()
