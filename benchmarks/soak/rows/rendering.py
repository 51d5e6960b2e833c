"""R11: titles and abstracts as messages of both platforms, judged by the rules that the tests judge by.

With a corpus so many of its papers are shown; without one the tests' own, over and over with strings written to do harm
put into their texts, so that no two are alike.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice

from benchmarks import corpus
from benchmarks.hostile import PLATFORMS, Tally, digests, everywhere, judged, shapes
from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import Ask
from bot.models import Digest, Item, Reply
from tests.bot.commands.lines import World, lines
from tests.fakes import edition

_ATTACKS = 400
_WORLD = World(("gpu-systems",), ("arxiv:2606.01234",), ("A title",))
_PAGE = 700  # papers at a time


async def rendered(ask: Ask) -> Row:
    """Render and judge them all, on each platform."""
    return await asyncio.to_thread(_rendered, ask)


def _rendered(ask: Ask) -> Row:
    attacks = _attacks(ask)
    items = corpus.papers(ask.corpus, ask.size) if ask.corpus else list(_spoilt(ask, attacks))
    found = {platform: Tally() for platform in PLATFORMS}
    for at in range(0, len(items), _PAGE):
        _judge(found, list(digests(items[at : at + _PAGE])))
    _judge(found, [each for text in shapes(attacks) for each in everywhere(text)])
    told = "; ".join(
        f"{platform} {each.messages:,} messages, {sum(each.wrong.values())} faults" for platform, each in found.items()
    )
    faults = "".join(f"; {each.examples[0]}" for each in found.values() if each.examples)
    what = "real" if ask.corpus else "spoilt"
    sizes = f"{len(items):,} {what} titles and abstracts, {len(attacks)} hostile strings × {len(PLATFORMS)}"
    kept = not any(each.wrong for each in found.values())
    return Row("rendering", sizes, "0 live mentions, 0 messages over limits", told + faults, kept)


def _judge(found: dict[str, Tally], made: Sequence[Digest | Reply]) -> None:
    for platform, total in found.items():
        tally = judged(platform, made)
        total.messages += tally.messages
        total.wrong += tally.wrong
        total.examples += tally.examples


def _attacks(ask: Ask) -> list[str]:
    number = min(_ATTACKS, max(20, ask.size // 50))
    return [line.text[:400] for line in islice(lines(number, _WORLD, ask.seed), number)]


def _spoilt(ask: Ask, attacks: Sequence[str]) -> Iterator[Item]:
    chance = random.Random(ask.seed)
    for number, item in enumerate(islice(cycle(edition.items()), ask.size)):
        attack, place = chance.choice(attacks), chance.randrange(len(item.title) + 1)
        said = f"{item.title[:place]} {attack} {item.title[place:]}"
        yield replace(item, key=f"arxiv:2606.{number:05}", title=said[:500], abstract=f"{item.abstract} {attack}")
