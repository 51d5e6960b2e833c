"""What the chats are shown, judged: real titles and abstracts, and strings that break things, as whole messages.

    python -m benchmarks.hostile --corpus PAPERS [--limit 20000] [--naughty STRINGS] [slack] [discord]

`--corpus` names papers as benchmarks.corpus reads them, `--naughty` a JSON list of strings, such as the Big List of Naughty
Strings (github.com/minimaxir/big-list-of-naughty-strings, MIT). Digests of seven papers, with extractive summaries, are
rendered for each platform in each of its layouts by turns; each naughty string stands, alone and around a live mention, in
every text of an entry and of an answer. Every message is judged by the rules that the tests judge by: nothing in it may
mention anybody, lead to anything but http(s), or be more than the platform takes. Discord's are also held against its own
OpenAPI description, as the Discord of the tests does with everything that is posted, and against the rules that it lacks.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adapters.discord.render import digests as discord_digests
from adapters.discord.render import messages as discord
from adapters.slack.render import messages as slack
from benchmarks.corpus import papers
from bot.digest import card
from bot.models import (
    Attachment,
    Button,
    Chart,
    ChartKind,
    ChartValue,
    Digest,
    Entry,
    Field,
    Item,
    Layout,
    Link,
    Ranked,
    Reply,
    ReplyEntry,
    ScorePart,
)
from bot.summarise.extractive import extract
from tests.adapters.discord import hostile as by_discord
from tests.adapters.slack import hostile as by_slack
from tests.fakes.digests import DAY, GPU
from tests.fakes.discord.description import official
from tests.fakes.discord.message_rules import message_flaws

_ENTRIES = 7
_MENTIONS = ("<!channel>", "<@U0123456>", "<!here|x>", "@everyone", "<@123456789012345678>", "<#1234567890>", "<t:0:R>")
_SHAPES = ("{}", "{0} {1} {0}", "<{0}|{1}>", "[{0}](https://evil.example/{1})", "`{0}` {1} *{0}*")
_EXAMPLES = 5

Messages = Iterator[list[str]]  # of each message, what is wrong with it


@dataclass
class Tally:
    """What was seen."""

    messages: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)

    def add(self, found: Sequence[str], shown: object) -> None:
        """Count one message."""
        self.messages += 1
        self.wrong.update(each.split(":")[0] for each in found)
        if found and len(self.examples) < _EXAMPLES:
            self.examples.append(f"{found[0]} in {shown!r}"[:300])


def _layout(number: int) -> Layout:
    return tuple(Layout)[number % 3]


def _slack(made: Digest | Reply, number: int) -> Messages:
    if isinstance(made, Reply):
        postings = slack.reply(made, DAY)
    else:
        postings = slack.digest(made, layout=_layout(number), late=number % 6 >= 3)
    return (by_slack.wrong(each) for each in postings)


def _discord(made: Digest | Reply, number: int) -> Messages:
    if isinstance(made, Reply):
        return (_faults(each.body(), each.plain_body()) for each in discord.reply_messages(made, DAY))
    found = map(json.loads, discord_digests.payloads(made, layout=_layout(number), late=number % 6 >= 3))
    return (_faults(each["body"], each["plain"]) for each in found)


def _faults(body: dict[str, Any], plain: dict[str, Any]) -> list[str]:
    """Judge a message, and the one that is posted where Discord does not take it."""
    faults = by_discord.faults(body) + [f"live: {each}" for each in by_discord.live(plain["content"])]
    for each in (body, plain):
        flaws = official().request_flaws("POST", "/channels/{channel_id}/messages", each) or message_flaws(each)
        faults += [f"refused: {what} ({'.'.join(map(str, where))})" for where, what in flaws]
    return faults


PLATFORMS: dict[str, Callable[[Digest | Reply, int], Messages]] = {"slack": _slack, "discord": _discord}


def digests(items: Sequence[Item]) -> Iterator[Digest]:
    """Yield the papers as digests, seven in each."""
    for start in range(0, len(items), _ENTRIES):
        here = items[start : start + _ENTRIES]
        reason = ScorePart("phrases", 0.5, f"matches *{here[0].title[:40]}* ×2")
        entries = tuple(card.entry(Ranked(item, 0.5, (reason,)), extract(item)) for item in here)
        yield replace(GPU, entries=entries)


def shapes(strings: Iterable[str]) -> Iterator[str]:
    """Yield each string alone and in shapes with a live mention, the mentions by turns."""
    for number, text in enumerate(strings):
        mention = _MENTIONS[number % len(_MENTIONS)]
        yield from (shape.format(mention, text) for shape in _SHAPES[1:])
        yield text


def everywhere(text: str) -> tuple[Digest, Reply]:
    """Return a digest and an answer in which the string stands wherever somebody's text can."""
    item = replace(
        GPU.entries[0].ranked.item,
        key=f"url:{text}",
        title=text,
        authors=(text, text),
        org=text,
        categories=(text,),
        sources=(f"feed:{text}",),
        links=(Link("abstract", text), Link("code", f"https://ok.example/{text}"), Link("page", "https://ok.example/")),
    )
    summary = GPU.entries[0].summary
    parts = tuple(replace(part, text=text) for part in summary.parts)
    told = ScorePart("phrases", 0.5, f"matches *{text}*")
    made, other = replace(summary, parts=parts, made_by=text), replace(item, title=text)
    entry = Entry(Ranked(item, 0.5, (told,)), made, other, gist=text, card=parts, why_here=text)
    digest = replace(GPU, title=text, topic=text or "x", entries=(entry,), coverage=replace(GPU.coverage, notes=(text,)))
    button = Button(text, f"search {text}")
    reply = Reply(
        title=text,
        text=(text, f"*search {text}* finds it"),
        entries=(ReplyEntry(item, gist=text, lines=(text,), buttons=(button,)), ReplyEntry(title=text, lines=(text,))),
        fields=(Field(text, text),),
        charts=tuple(
            Chart(name="x", kind=kind, title=text, values=(ChartValue(text, 1.0, text),), source=text, alt=text)
            for kind in ChartKind
        ),
        attachment=Attachment(f"{text}.bib", "text/plain", text),
        next_steps=(f"*save {text}*",),
        cards=(entry,),
        buttons=(button,),
    )
    return digest, reply


def judged(platform: str, made: Iterable[Digest | Reply]) -> Tally:
    """Render all of it for one platform, and judge every message."""
    tally = Tally()
    begun = time.perf_counter()
    for number, each in enumerate(made):
        for found in PLATFORMS[platform](each, number):
            tally.add(found, each.title)
    tally.seconds = time.perf_counter() - begun
    return tally


def main() -> None:
    """Judge the corpus and the strings on every platform, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="papers, one JSON object per line")
    parser.add_argument("--limit", type=int, default=20_000, help="papers to show")
    parser.add_argument("--naughty", type=Path, help="a JSON list of strings")
    parser.add_argument("platforms", nargs="*", help=f"only these: {', '.join(PLATFORMS)}")
    given = parser.parse_args()
    made = list(digests(papers(given.corpus, given.limit)))
    strings = json.loads(given.naughty.read_text(encoding="utf-8")) if given.naughty else []
    naughty = [each for text in shapes([*strings, *_MENTIONS]) for each in everywhere(text)]
    for platform in given.platforms or PLATFORMS:
        for what, shown in (("papers", made), ("strings", naughty)):
            tally = judged(platform, shown)
            told = f"{tally.messages:7,} messages, {sum(tally.wrong.values())} faults"
            print(f"{platform:8} {what:8} {told} ({tally.seconds:.0f} s)", dict(tally.wrong) or "", flush=True)
            for example in tally.examples:
                print(f"    {example}")


if __name__ == "__main__":
    main()
