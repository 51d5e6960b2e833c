"""`make bench`: every measurement in turn. Those whose data was not named are left out, and say so."""

import argparse
import importlib
import sys
from collections.abc import Iterator, Sequence

# What to run: the module, its arguments, and the option that must have been given for them.
PLAN: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("house", (), ""),
    ("startup", (), ""),
    ("embeddings", ("--corpus", "{corpus}"), "corpus"),
    ("parse", (), ""),
    ("ingest", ("--corpus", "{corpus}"), "corpus"),
    ("search", ("--corpus", "{corpus}", "--corpus2", "{corpus2}"), "corpus2"),
    ("growth", ("--corpus", "{corpus}", "--sizes", "{sizes}", "--folder", "{folder}", "{docs}"), "corpus"),
    ("suggestions", ("--corpus", "{corpus}", "--corpus2", "{corpus2}"), "corpus2"),
    ("rank", ("--corpus", "{corpus}"), "corpus"),
    ("publishing", ("--corpus", "{corpus}"), "corpus"),
    ("fan_out", ("--corpus", "{corpus}"), "corpus"),
    ("commands", ("--corpus", "{corpus}"), "corpus"),
    ("event_loop", ("--corpus", "{corpus}"), "corpus"),
    ("feedback", ("--folder", "{quality}", "--hf", "{hf}"), "hf"),
    ("summaries", ("--corpus", "{corpus}"), "corpus"),
    ("audit", ("--corpus", "{corpus}"), "corpus"),
    ("cards", ("--corpus", "{corpus}"), "corpus"),
    ("ablation", (), ""),
    ("quality", ("--data", "{quality}", "--hf", "{hf}", "--corpus", "{corpus}"), "quality"),
    ("rendering", (), ""),
    ("heights", (), ""),
    ("hostile", ("--corpus", "{corpus}"), "corpus"),
)
_PACKAGES = ("growth", "heights", "quality")


def filled(options: Sequence[str], given: argparse.Namespace) -> Iterator[str]:
    """Give the options with what was given in their places."""
    for option in options:
        if option == "{sizes}":
            yield from map(str, given.sizes)
        elif option == "{docs}":
            yield from ["--docs"] * given.docs
        else:
            yield option.format(**vars(given))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the plan, or the parts of it that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--corpus", default="", help="papers, one JSON object per line, .xz")
    parser.add_argument("--corpus2", default="", help="more papers, to search a larger collection")
    parser.add_argument("--quality", default="", help="a folder with judged data sets")
    parser.add_argument("--hf", default="", help="a folder with days of Hugging Face Daily Papers")
    parser.add_argument("--sizes", type=int, nargs="+", default=(54_002, 151_002), help="numbers of papers, for growth")
    parser.add_argument("--folder", default="", help="where the databases of growth are kept for the next time")
    parser.add_argument("--docs", action="store_true", help="write what grows into the documents")
    parser.add_argument("names", nargs="*", help=f"only these: {', '.join(name for name, _, _ in PLAN)}")
    given = parser.parse_args(arguments)
    for name, options, needed in PLAN:
        if given.names and name not in given.names:
            continue
        print(f"\n== {name}", flush=True)
        if needed and not getattr(given, needed):
            print(f"left out: --{needed} was not given")
            continue
        sys.argv = [f"benchmarks.{name}", *filled(options, given)]
        importlib.import_module(f"benchmarks.{name}.__main__" if name in _PACKAGES else f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
