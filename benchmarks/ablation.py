"""What each rule of the summaries is worth: how many summaries change without it, and which faults of the audit.

    python -m benchmarks.ablation [--corpus FILE] [--count 2000] [--seed 7] [RULE …]

reads the abstracts of the day that the demo has recorded, or `--count` papers of the file by lot, switches each rule off in
turn, and prints how many summaries and how many gists differ, and every share of `benchmarks.audit` (per cent of the parts
that were found) that is another one without the rule. A rule that changes few of them and betters no figure earns nothing.
"""

import argparse
import gzip
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.audit import COLUMNS, draw, shares
from bot.models import PARTS, Item, Summary
from bot.sources.arxiv import announcement_feed
from bot.summarise import extractive, gist
from bot.summarise.choice import parts
from bot.summarise.english import anaphora, editing, third_person

RECORDED = Path(__file__).parents[1] / "adapters" / "cli" / "demo" / "recordings" / "arxiv.atom.gz"

Switch = tuple[ModuleType, str, Any]  # a module, the name of what it calls, and what is called without the rule


def _as_it_stands(text: str, *_: object, **__: object) -> str:
    return " ".join(text.split())


def _nothing(*_: object, **__: object) -> None:
    return None


def _no(*_: object) -> bool:
    return False


RULES: Mapping[str, tuple[Switch, ...]] = {
    "openings": ((editing, "strip_opening", _as_it_stands), (anaphora, "strip_opening", _as_it_stands)),
    "first words explained": ((anaphora, "_resolved", _nothing),),
    "first words: these results": ((anaphora, "_results", _nothing),),
    "first words: this framework": ((anaphora, "_thing", _nothing),),
    "first words: it": ((anaphora, "_it", _nothing),),
    "first words: they": ((anaphora, "_they", _nothing),),
    "first words: this enables": ((anaphora, "_doing", _nothing),),
    "what points out of its sentence from inside": ((parts, "points_inside", _no), (gist, "points_inside", _no)),
    "third person": ((editing, "to_third_person", _as_it_stands),),
    "a single author": ((third_person, "_by_one_author", _as_it_stands),),
    "whom it helps": ((editing, "drop_us", _as_it_stands),),
    "addresses": ((editing, "_without_address", _as_it_stands),),
    "half a list": ((editing, "mend_list", _as_it_stands),),
    "shortening": ((editing, "shorten", _as_it_stands),),
}


class Made(NamedTuple):
    """What is made of each item."""

    summaries: Sequence[Summary]
    gists: Sequence[str]


def made_of(items: Sequence[Item], rule: str = "") -> Made:
    """Return what is made of the items, without the rule that is named."""
    with _without(rule):
        return Made([extractive.extract(item) for item in items], [gist.gist(item) for item in items])


@contextmanager
def _without(rule: str) -> Iterator[None]:
    kept = [(module, name, getattr(module, name)) for module, name, _ in RULES.get(rule, ())]
    try:
        for module, name, instead in RULES.get(rule, ()):
            setattr(module, name, instead)
        _forget()
        yield
    finally:
        for module, name, own in kept:
            setattr(module, name, own)
        _forget()


def _forget() -> None:
    """Empty every memo of the summaries: what was made with a rule would be told again without it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("bot.summarise."):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


def compared(items: Sequence[Item], whole: Made, rule: str) -> str:
    """Return a line that says what changes without the rule."""
    less = made_of(items, rule)
    summaries = sum(_texts(one) != _texts(other) for one, other in zip(whole.summaries, less.summaries, strict=True))
    gists = sum(one != other for one, other in zip(whole.gists, less.gists, strict=True))
    told = f"{rule}: {summaries} summaries ({summaries / len(items):.2%}), {gists} gists ({gists / len(items):.2%})"
    return "; ".join([told, *_shares_that_differ(items, whole, less)])


def _texts(summary: Summary) -> list[str]:
    return [part.text for part in summary.parts]


def _shares_that_differ(items: Sequence[Item], whole: Made, less: Made) -> Iterator[str]:
    for at, part in enumerate(PARTS):
        tables = [shares(list(zip(items, made.summaries, strict=True)), at) for made in (whole, less)]
        for name, one, other in zip(COLUMNS, *tables, strict=True):
            if f"{one:.2f}" != f"{other:.2f}":
                yield f"{part} {name} {one:.2f} → {other:.2f}"


def recorded() -> list[Item]:
    """Return the papers that the demo has recorded."""
    return list(announcement_feed.parse(gzip.decompress(RECORDED.read_bytes())).items)


def main() -> None:
    """Print a line per rule."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ablation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("rules", nargs="*", metavar="RULE", help=", ".join(RULES))
    given = parser.parse_args()
    if unknown := set(given.rules) - set(RULES):
        parser.error(f"there is no rule {', '.join(sorted(unknown))}")
    items = draw(given.corpus, given.count, given.seed) if given.corpus else recorded()
    whole = made_of(items)
    print(f"{len(items)} abstracts", flush=True)
    for rule in given.rules or RULES:
        print(compared(items, whole, rule), flush=True)


if __name__ == "__main__":
    main()
