"""What the cards of real papers say and leave unsaid, counted, and some of them printed for reading.

    python -m benchmarks.cards --corpus FILE [--count 2000] [--show 60] [--seed 17] [--json FILE]

takes `--count` papers of the file by lot, without those that were marked by reading, makes the card of each as for a digest
whose topic asks for nothing in particular (`bot.digest.card`), and prints a table in Markdown:

    silent, denied   the part is not found, and the summary says nothing of it, or says that the text does not; of all
    on the card      the part stands on the card; of all. What the gist has said is not said again
    why: a class     of the whys on cards, by the words of WHY_CLASSES, the first rule that holds
    with a figure    of the abstracts that have a figure: a gist, or a card, that has one. FIGURE says what counts
    dangling starts  a statement begins with a This, They or It that points outside it (`benchmarks.quality.dangling`)
    joins            what edits can leave behind, by the rules of JOINS; of all statements
    words            of gists, parts and cards: median, nineteen in twenty, most; parts and gists over their limits
    time             of a processor for the summary and the gist of an abstract, over that of reading the same texts into
                     words (`bot.query.fold.tokens`), the best of three rounds; and in milliseconds

What a rule of JOINS counts is not always wrong (a statement may do without a verb that the rule knows), so the figures are
to be held against those of another version, not against nought. How often what is shown is right, `benchmarks.quality` says.
"""

import argparse
import json
import random
import re
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import papers
from benchmarks.quality.dangling import dangles
from benchmarks.quality.inputs import HALVES
from bot.digest.card import entry
from bot.models import PARTS, Entry, Item, Ranked, Summary, SummaryPart
from bot.query.fold import tokens
from bot.sources.markup.tex import readable
from bot.summarise.choice.scoring import WHY
from bot.summarise.english.anaphora_patterns import words
from bot.summarise.english.sentences import lower_case_names, split
from bot.summarise.english.third_person import FINITE
from bot.summarise.extractive import extract
from bot.summarise.short_gist import short_gist

LONGEST_PART, LONGEST_GIST = 25, 18  # words
_ROUNDS = 3
_MARKED = (
    Path(__file__).parents[1] / "training" / "marked.jsonl",
    *(Path(__file__).parent / "quality" / "marked" / f"{half}.jsonl" for half in (*HALVES, "denied", "whys")),
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# --- a figure: a number that measures, not a year, a name (GPT-4, 3D), a version or a count of steps

FIGURE = re.compile(
    r"(?<![\w.-])(?!(?:1[89]|20)\d0s\b)[~<>≥≤≈$€+-]{0,2}\d+(?:[.,]\d+)*(?:\s?[±–-]\s?\d+(?:[.,]\d+)*)?\s?-?"
    r"(?:\\?%|×|x\b(?! ?\d)|percent|per cent|percentage|(?:fold|times|points?|pp|dB|[kmμµn]?s|fps|[KMGT]i?B|[km]?W|hours?|"
    r"minutes?|(?:milli)?seconds?|days?|orders?|[MG]Hz|FLOPS?)\b|°)|\borders? of magnitude\b|"
    r"(?P<named>\b(?:version|python|v|[A-Z]\w*)[ -])?(?<![\w./])\d+\.\d+(?![\w.-])"
)

# --- what a why says, the first rule that holds

WHY_CLASSES: Mapping[str, re.Pattern[str]] = {
    "keywords": _any(r"^(?:key ?words|index terms|ccs|categories and subject|general terms)\b"),
    "availability": _any(
        r"\b(?:codes?|models?|weights|data|data ?sets?|corpus|software|tool(?:kit)?|library|benchmark|framework|"
        r"demo|scripts|implementation|resources?|package)\b.{0,80}\b(?:available|released|open[- ]sourced?|accessible)\b",
        r"\b(?:releas\w+|open[- ]sourc\w+|publish\w*)\b.{0,60}\b(?:codes?|models?|weights|data|data ?sets?|benchmark|"
        r"framework|toolkit|library)\b",
    ),
    "future": _any(
        r"\b(?:future (?:work|research|stud|direction|development|investigation|improvement|extension)\w*|hopes?\b|hoped|"
        r"plans? to|further (?:research|stud|work|investigation|exploration)\w*|open (?:questions|problems)|"
        r"(?:next|subsequent) generation of research|new (?:research )?(?:directions?|avenues?))\b",
    ),
    "limitation": _any(
        r"\b(?:limitations?|limited (?:by|to)|shortcomings?|caveats?|threats to validity|only (?:works|applies|holds)|"
        r"generali[sz]ability is|small sample)\b",
    ),
    "consequence": _any(
        r"\b(?:enabl\w+|allow(?:s|ing|ed)?\b|mak(?:es|ing) (?:it|them|this|\w+ )|opens?\b|paves?|paving|empower\w*|"
        r"facilitat\w+|implications?|suggest(?:s|ing)?\b|should\b|(?:can|could|may|might|will) (?:be (?:used|applied|"
        r"deployed|extended|adopted)|help|serve|guide|inform|improve|support|reduce|lead|assist|benefit|save|inspire)|help(?:s|ing)?\b|"
        r"guid(?:es?|ance|elines?|ing)\b|inform(?:s|ing)?\b|practical|practitioners|clinicians|foundation for|"
        r"(?:lay|provid)\w* (?:a|the) (?:\w+ )?(?:foundation|basis|groundwork|blueprint|roadmap|pathway|path|step)|"
        r"promising|potential|contribut\w+ to|advanc\w+|bridg\w+|without (?:the need|requiring|retraining)|real-world)",
    ),
    "importance": _any(
        r"\b(?:crucial|critical\w*|important\w*|importance|essential|vital|fundamental|central|key (?:to|for|role|component|"
        r"factor)|increasing\w*|growing|rapid\w*|widely|widespread|ubiquitous|leading cause|millions?|billions?|"
        r"cost(?:s|ly)|demand|urgent|necessary|necessity|plays? an?|one of the most|major|serious|threats?|risks?|"
        r"concerns?|needs?\b|pressing|prevalent|popular|significant challenge)\b",
    ),
    "result": _any(
        r"\b(?:outperform\w*|surpass\w*|achiev\w+|improv\w+|show\w*|demonstrat\w+|results?|significant\w*|reduc\w+|accuracy|"
        r"reveal\w*|find(?:s|ings?)?|found|confirm\w*|highlight\w*|state-of-the-art|superior\w*|effective\w*|exceed\w*|"
        r"yield\w*|robust\w*)\b",
        r"\d%",
    ),
    "method detail": _any(
        r"^(?:the authors )?(?:\w+ly )?(?:us|propos|introduc|present|develop|design|evaluat|appl|analy[sz]|construct|combin|"
        r"integrat|train|compar|provid|deriv|formulat|employ|leverag|conduct|build|built|creat|discuss|explor|examin|"
        r"investigat|stud|describ|identif|extend|implement|validat|address|offer)\w*\b",
        r"\b(?:method|model|approach|framework|algorithm|module|network|architecture|system|pipeline|procedure|technique|"
        r"dataset|loss|layer|stage)s?\b",
    ),
}
OTHER = "other"

# --- what edits can leave behind

_LAST = words(
    """of to for in on with by from at into and or but that which than as the a an via using through between among is are was
    were be been has have its their our such both either not whose where while"""
)
_CAPITAL_INSIDE = re.compile(
    r"[a-z,;] (?:The|These|This|We|It|In|An|Our|They|However|To|By|With|For|And|But|Proposes|Introduces|Presents|Shows|"
    r"Demonstrates|Uses)(?= [a-z])"
)
_DOUBLED = re.compile(r"\b([a-z]{2,}) \1\b")
_DOUBLED_RIGHT = frozenset({"that", "had", "very", "blah"})
_FINITE = re.compile(rf"\b{FINITE}\b", re.IGNORECASE)
# A verb that the list does not know: it ends like one, and stands in front or before what can be its object.
_LIKE_A_VERB = re.compile(
    r"^(?:\w+ly )?[A-Z][a-z]+[^\Ws]s (?!of\b)|\b[a-z]+ed\b|\b[a-z]{2,}[^\Wsu]s (?:the|an?|that|its|their|only|both|how|"
    r"whether|what|to|not|no|\w+ly|more|less|from|with)\b|\b(?:led|saw|fell|rose|grew|got|came|went|lay|lies|let|cut|put|met|held|"
    r"kept|took|gave|drew|sought|underwent|became|began|arose|stem|lack|face|remain|depend|tend|fail|struggle|suffer|exist|"
    r"occur|vary|differ|play|lead|want|know|think|see|pay|drive|hinder|limit|impede|prevent|emerge|ignore|overlook|neglect|"
    r"assume|behave|agree|exhibits?|paves?|involves?|features|faces|enhances|operates|connects|perform|work|come|go|incur|arise|say|live|[a-z]+i[sz]e|n't)\b"
)


class _Said(NamedTuple):
    """A statement of a card, and the names that its text writes in lower case."""

    text: str
    names: frozenset[str]


def _begins_in_lower_case(said: _Said) -> bool:
    first = said.text.split()[0].strip("“\"'(,:;")
    return first.isalpha() and first.islower() and first not in said.names


def _doubles(said: _Said) -> bool:
    return any(found[1] not in _DOUBLED_RIGHT for found in _DOUBLED.finditer(said.text))


def _is_unbalanced(said: _Said) -> bool:
    bare = re.sub(r"(?<![\w.–-])\(?(?:[0-9]{1,2}|[ivx]{1,4}|[a-h])\)", "", said.text)  # the mark of a point closes nothing
    return any(bare.count(opened) != bare.count(closed) for opened, closed in ("()", "[]", "{}"))


JOINS: Mapping[str, Callable[[_Said], bool]] = {
    "no verb": lambda said: not _FINITE.search(said.text) and not _LIKE_A_VERB.search(said.text),
    "a capital inside": lambda said: _CAPITAL_INSIDE.search(said.text) is not None,
    "ends in the air": lambda said: said.text.rstrip(".!?… ").rpartition(" ")[2].lower() in _LAST,
    "a word twice": _doubles,
    "an open bracket": _is_unbalanced,
    "begins in lower case": _begins_in_lower_case,
    "broken off": lambda said: said.text.endswith(("…", "...")),
}


# --- one card


class Made(NamedTuple):
    """A paper, its summary, and its entry in a digest whose topic asks for nothing in particular."""

    item: Item
    summary: Summary
    entry: Entry

    @property
    def statements(self) -> list[_Said]:
        """The gist and every sentence of the parts."""
        names = lower_case_names(self.item.abstract)
        told = [self.entry.gist, *(sentence for part in self.entry.card for sentence in split(part.text))]
        return [_Said(each, names) for each in told if each]

    @property
    def words(self) -> int:
        """How many the card has, the names of its parts counted, as its limit counts them."""
        return sum(len(each.split()) for part in self.entry.card for each in (part.name, part.text)) + len(
            self.entry.gist.split()
        )

    def part(self, name: str) -> SummaryPart | None:
        """Return the part as it stands on the card."""
        return next((part for part in self.entry.card if part.name == name), None)


def make(item: Item) -> Made:
    """Return the card of a paper, for no topic."""
    summary = extract(item)
    return Made(item, summary, entry(Ranked(item, 0.0), summary))


def why_class(text: str) -> str:
    """Return what a why says, by the first rule of WHY_CLASSES that holds."""
    return next((name for name, words in WHY_CLASSES.items() if words.search(text)), OTHER)


def has_figure(text: str) -> bool:
    """Say whether a number that measures stands in the text."""
    return any(not found["named"] for found in FIGURE.finditer(text))


def draw(path: Path, count: int, seed: int, marked_in: Sequence[Path] = _MARKED) -> list[Item]:
    """Return so many papers of the file by lot, read as the arXiv source reads them, none of which was marked by reading."""
    marked = {
        str(json.loads(line)["id"]).removeprefix("arxiv:")
        for file in marked_in
        if file.exists()
        for line in file.read_text(encoding="utf-8").splitlines()
    }
    found = [item for item in papers(path) if item.key.removeprefix("arxiv:") not in marked]
    chosen = random.Random(seed).sample(found, min(count, len(found)))
    return [replace(item, title=readable(item.title), abstract=readable(item.abstract)) for item in chosen]


# --- the table

_DENIES = re.compile(r"\b(?:does not|reports? no|names? no)\b")  # not `No abstract was available.`

Row = tuple[str, str, float]  # what, of what, and per cent or what the name says


def rows(made: Sequence[Made]) -> Iterator[Row]:
    """Yield what can be counted of the cards."""
    yield from _parts(made)
    yield from _whys(made)
    told = [each for each in made if has_figure(each.item.abstract)]
    measured = f"{len(told):,} abstracts with a figure"
    yield "gists with a figure", measured, _share(has_figure(each.entry.gist) for each in told)
    yield "cards with a figure", measured, _share(any(has_figure(said.text) for said in each.statements) for each in told)
    yield from _statements(made)
    yield from _lengths(made)


def _share(held: Iterator[bool]) -> float:
    each = list(held)
    return 100 * sum(each) / max(1, len(each))


def _parts(made: Sequence[Made]) -> Iterator[Row]:
    everything = f"{len(made):,} abstracts"
    for at, name in enumerate(PARTS):
        missing = [each.summary.parts[at].text for each in made if not each.summary.parts[at].found]
        denied = sum(_DENIES.search(text) is not None for text in missing)
        yield f"{name.lower()}: silent", everything, 100 * (len(missing) - denied) / len(made)
        yield f"{name.lower()}: denied", everything, 100 * denied / len(made)
        yield f"{name.lower()}: on the card", everything, _share(each.part(name) is not None for each in made)
    yield "no gist", everything, _share(not each.entry.gist for each in made)


def _whys(made: Sequence[Made]) -> Iterator[Row]:
    whys = [part.text for each in made if (part := each.part(WHY)) is not None]
    counts = Counter(map(why_class, whys))
    for name in (*WHY_CLASSES, OTHER):
        yield f"why: {name}", f"{len(whys):,} whys on cards", 100 * counts[name] / max(1, len(whys))


def _statements(made: Sequence[Made]) -> Iterator[Row]:
    told = [said for each in made for said in each.statements]
    everything = f"{len(told):,} statements"
    yield "dangling starts", everything, _share(dangles(said.text) for said in told)
    for name, rule in JOINS.items():
        yield f"joins: {name}", everything, _share(rule(said) for said in told)
    yield "joins: any of these", everything, _share(any(rule(said) for rule in JOINS.values()) for said in told)


def _lengths(made: Sequence[Made]) -> Iterator[Row]:
    parts = [len(part.text.split()) for each in made for part in each.entry.card]
    gists = [len(each.entry.gist.split()) for each in made if each.entry.gist]
    for name, counts in (("gist", gists), ("part", parts), ("card", [each.words for each in made])):
        ordered = sorted(counts) or [0]
        for kind, at in (("median", 0.5), ("nineteen in twenty", 0.95), ("most", 1.0)):
            yield f"words, {name}: {kind}", f"{len(counts):,}", ordered[round(at * (len(ordered) - 1))]
    yield f"parts over {LONGEST_PART} words", f"{len(parts):,}", _share(count > LONGEST_PART for count in parts)
    yield f"gists over {LONGEST_GIST} words", f"{len(gists):,}", _share(count > LONGEST_GIST for count in gists)


def timed(items: Sequence[Item]) -> Iterator[Row]:
    """Yield what summary and gist take, over reading the same texts into words, and in milliseconds of a processor."""
    # A paper that was never seen: neither keeps what it made of it. The gist's text is without the white space behind it.
    rounds = [[replace(item, title=f"{item.title}{' ' * (at + 1)}") for item in items] for at in range(_ROUNDS)]
    ours = [_timed_once(each) for each in rounds]
    made, shown = min(one for one, _ in ours), min(other for _, other in ours)
    words = min(_milliseconds(lambda item: tokens(item.abstract), each) for each in rounds)
    yield "time over that of reading into words", f"{len(items):,} abstracts", made / words
    yield "time, ms of a processor", f"{len(items):,} abstracts", made
    yield "time of the entry over that of reading into words", f"{len(items):,} abstracts", shown / words
    yield "time of the entry, ms of a processor", f"{len(items):,} abstracts", shown


def _timed_once(items: Sequence[Item]) -> tuple[float, float]:
    """What summary and gist of each take, and then its entry while they are kept, in milliseconds."""
    made = shown = 0.0
    for item in items:
        made += _milliseconds(lambda one: (extract(one), short_gist(one)), [item])
        shown += _milliseconds(lambda one: entry(Ranked(one, 0.0), extract(one)), [item])
    return made / len(items), shown / len(items)


def _milliseconds(each: Callable[[Item], object], over: Sequence[Item]) -> float:
    began = time.process_time()
    for item in over:
        each(item)
    return 1000 * (time.process_time() - began) / len(over)


def _shown(made: Made) -> str:
    def filled(name: str, text: str) -> str:
        told = [said for said in made.statements if said.text in text]
        signs = [f"<{rule}>" for rule, held in JOINS.items() if any(map(held, told))]
        signs += [f"<{why_class(text)}>"] if name == WHY else []
        return textwrap.fill(
            f"{name}: {text}  {' '.join(signs)}".rstrip(), 118, initial_indent="  ", subsequent_indent="    "
        )

    parts = [filled(part.name, part.text) for part in made.entry.card]
    return "\n".join((f"\n# {made.item.title} [{made.item.key}]", filled("**", made.entry.gist or "(no gist)"), *parts))


def main() -> None:
    """Print the table, then the cards to read."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cards", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    given = parser.parse_args()
    items = draw(given.corpus, given.count, given.seed)
    found = [*rows(made := [make(item) for item in items]), *timed(items[:300])]
    print("| what | of | |\n|---|---|---|")
    print("\n".join(f"| {what} | {of} | {value:.1f} |" for what, of, value in found))
    print("\n".join(map(_shown, made[: given.show])))
    if given.json:
        given.json.write_text(json.dumps({what: value for what, _, value in found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
