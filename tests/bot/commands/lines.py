"""Seeded command lines by the thousand, from nonsense to what a person means: the same ones for tests and benchmarks.

Each line is of one of these sorts. How many there are of each stands in SHARES, so that a figure over all of them can be
judged.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.commands import TABLE
from tests.bot.commands.generate import SCRAPS

LONGEST = 4000  # characters: what Slack takes in a message
_VERBS = tuple(name for usage in TABLE for name in (usage.words, *usage.aliases))

# What was written to do harm: to FTS5, to SQL, to a terminal, to a chat, to whatever counts brackets.
_HOSTILE = (
    *('NEAR("kv" "cache", 5)', "title:^gpu", "{title abstract} : gpu", '"unclosed', "a AND OR NOT b", "-(-(-x))", "words:*"),
    *(
        "'; drop table items; --",
        '" or 1=1 --',
        "%_%",
        "1) union select data from records --",
        "\\'; pragma writable_schema=1",
    ),
    *("<@U12345678>", "<!channel>", "@everyone", "<@&99>", "<#C1|general>", "[x](javascript:alert(1))", "*_~`|>"),
    *("\x00", "\x07\x1b[31mred\x1b[0m", "\x7f\x85\x9b", "\r\n.\r\n", "\v\f\x1c\x1d", "\ud800", "a\udfff"),
    *("\u202egnp.exe\u202c", "\u2066\u2067\u2068x\u2069", "\u200f\u200e\u061c", "\u0301" * 40, "\ufdfa" * 20, "ß" * 30),
    *(
        "cat:cs.* OR cat:stat.*",
        "stars:>99999999999999999999",
        "published:99999d",
        "upvotes:-1..1e9",
        "topic-of:gpu-systems",
    ),
    *(
        "../../etc/passwd",
        "file:///etc/passwd",
        "https://[::1]:99999/",
        "arxiv:9999.99999",
        "http://xn--/",
        "github:a/b/../c",
    ),
)
# What is said so often that it fills a message.
_REPEATED = (
    "a",
    "a ",
    "gpu OR ",
    "-gpu ",
    "m* ",
    "(",
    ")",
    '"',
    "*",
    "\u202e",
    "👍",
    "the model ",
    "cat:cs.* ",
    "title:a* ",
    "1..",
)


@dataclass(frozen=True, slots=True)
class World:
    """What a line may name: topics, items and titles that there are."""

    topics: Sequence[str]
    items: Sequence[str]  # keys
    titles: Sequence[str]


@dataclass(frozen=True, slots=True)
class Line:
    """A text, and of which sort it is."""

    sort: str
    text: str


def lines(number: int, world: World, seed: int = 3) -> Iterator[Line]:
    """Give so many lines, always the same ones for the same world and seed, none longer than LONGEST characters."""
    chance = random.Random(seed)
    for sort in chance.choices(list(SHARES), list(SHARES.values()), k=number):
        yield Line(sort, _MADE[sort](chance, world)[:LONGEST])


# --- the sorts


def _characters(chance: random.Random, _world: World) -> str:
    """Any characters of Unicode, halves of characters too; most short, some filling a message."""
    highest = chance.choice((0x7F, 0x7F, 0xFF, 0x2FFF, 0xFFFF, 0x10FFFF))
    return "".join(chr(chance.randint(0, highest)) for _ in range(_length(chance)))


def _scraps(chance: random.Random, _world: World) -> str:
    """Signs, options and attacks without a verb."""
    return chance.choice(("", " ")).join(chance.choices((*SCRAPS, *_HOSTILE), k=chance.randint(1, 8)))


def _half_typed(chance: random.Random, world: World) -> str:
    """A command that is only begun."""
    whole = chance.choice((chance.choice(TABLE).example, chance.choice(_VERBS), _meant(chance, world)))
    return whole[: chance.randint(0, len(whole))]


def _mutated(chance: random.Random, _world: World) -> str:
    """An example of the help with one to four accidents."""
    text = chance.choice(TABLE).example
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(_ACCIDENTS)(chance, text)
    return text


def _hostile(chance: random.Random, world: World) -> str:
    """A real command with what was written to do harm in a place where something else belongs."""
    verb, attack = chance.choice(_VERBS), _attack(chance)
    topic, item = chance.choice(world.topics), chance.choice(world.items)
    return chance.choice(
        (
            f"{verb} {attack}",
            f"{verb} {attack}",
            f"{verb} {topic} {attack}",
            f"{verb} {item} {attack}",
            f"{verb} {attack} for {topic}",
            f"search {chance.choice(world.titles)} {attack}",
            f"filter {topic} {chance.choice(('set', 'add', 'remove', 'test'))} {attack}",
            f"topic edit {topic} {chance.choice(('title', 'query', 'interest', 'example', 'min', 'sources'))} {attack}",
            f"topic create {attack} {attack}",
            f"subscribe {topic} in {attack} filter {attack}",
        )
    )


def _meant(chance: random.Random, world: World) -> str:
    """A command as a person means it, about topics and items that there are."""
    topic, item, title = chance.choice(world.topics), chance.choice(world.items), chance.choice(world.titles)
    words = " ".join(title.split()[: chance.randint(1, 4)])
    item = chance.choice((item, item, title, f"https://arxiv.org/abs/{item.partition(':')[2]}", str(chance.randint(1, 9))))
    return chance.choice(
        (
            *(f"search {words}", f"search {words} cat:cs.LG", f'search "{words}" sort:best', f"search {words} published:1y"),
            *(f"search {words} topic-of:{topic}", f"similar {item}", f"why {item} for {topic}", f"now {topic}"),
            *(f"more {item} for {topic}", f"less {item} for {topic}", f"save {item}", f"unsave {item}"),
            *(
                "saved",
                "saved bibtex",
                "status",
                "topics",
                "list all",
                "history",
                "settings",
                "help",
                f"help {chance.choice(_VERBS)}",
            ),
            *(
                f"subscribe {topic} daily at 8:30 in Europe/Zurich",
                f"follow {chance.choice((topic, words, 'owner/name', 'org:lab weekly'))}",
                f"unsubscribe {topic}",
                f"pause {topic}",
                f"resume {topic}",
            ),
            *(f"filter {topic}", f"filter {topic} test {words}", f"filter {topic} add -{words}", f"filter {topic} clear"),
            *(
                f"topic show {topic}",
                f"topic create own-{chance.randint(1, 9)} {words}",
                f"topic edit {topic} interest {words}",
            ),
            *(f"profile {topic}", f"profile {topic} undo", f"topic delete own-{chance.randint(1, 9)} anyway"),
        )
    )


SHARES: Mapping[str, int] = {
    "characters": 15,
    "scraps": 15,
    "half-typed": 15,
    "mutated": 20,
    "hostile": 25,
    "meant": 10,
}
_MADE: Mapping[str, Callable[[random.Random, World], str]] = {
    "characters": _characters,
    "scraps": _scraps,
    "half-typed": _half_typed,
    "mutated": _mutated,
    "hostile": _hostile,
    "meant": _meant,
}


# --- their parts


def _length(chance: random.Random) -> int:
    return chance.choice((chance.randint(0, 20), chance.randint(0, 200), chance.randint(0, LONGEST)))


def _attack(chance: random.Random) -> str:
    if chance.random() < 0.2:
        scrap = chance.choice(_REPEATED)
        return scrap * (_length(chance) // len(scrap) + 1)
    return " ".join(chance.choices((*_HOSTILE, *SCRAPS), k=chance.choice((1, 1, 2, 4))))


def _dropped(chance: random.Random, text: str) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + text[at + chance.randint(1, 3) :]


def _doubled(chance: random.Random, text: str) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + text[max(0, at - chance.randint(1, 8)) :]


def _put_in(chance: random.Random, text: str) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice((*SCRAPS, *_HOSTILE)) + text[at:]


def _shuffled(chance: random.Random, text: str) -> str:
    words = text.split(" ")
    return " ".join(chance.sample(words, len(words)))


def _as_telephones_write(chance: random.Random, text: str) -> str:
    blank, dash, quote = chance.choice(" \u00a0\u2009\u3000"), chance.choice("–—−"), chance.choice("“”„«")
    return text.replace(" ", blank).replace("-", dash).replace('"', quote).capitalize()


_ACCIDENTS: Sequence[Callable[[random.Random, str], str]] = (_dropped, _doubled, _put_in, _shuffled, _as_telephones_write)
