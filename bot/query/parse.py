r"""Text to tree: a recursive descent over the grammar of docs/query-language.md.

    query = or ;  or = and { "OR" and } ;  and = not { [ "AND" ] not } ;  not = [ "-" | "NOT" ] atom
    atom  = "(" query ")" | field ":" value | "\"" phrase "\"" | word | word "*"

No text raises anything but UsageError. Words without a letter or digit (`&`, a dash alone) say nothing and are passed over,
so that a pasted title is a query too; so is a colon that ends a word which is no field or a capital one (`Score: …`).
"""

import difflib
import re
from dataclasses import dataclass, field

from bot.errors import UsageError
from bot.models import And, Label, Not, Or, Query, Term, Tree
from bot.query.fields import BY_NAME, FIELDS, QueryField, Takes, label_value
from bot.query.fold import says_something
from bot.query.values import parse_number, parse_when

LONGEST = 2000  # characters of a query
MOST_CLAUSES = 64
MOST_WORDS = 200  # in all phrases; each costs up to 6 ms among 54,002 papers, as often as it is said
# Different word beginnings of one or two letters, `m*`: each stands for thousands of words. To find what has one of them
# takes up to 0.25 s among 54,002 papers.
MOST_SHORT, SHORT = 6, 2
DEEPEST = 20  # parentheses and negations within one another: far beyond use, far below Python's own limit

OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT"})  # arXiv's ANDNOT is AND NOT

_QUOTES = "“”„‟«»＂″"
_DASHES = "–—−‐‑－"
# One character for one character, so that a position in an error is a position in what was typed.
TYPED = str.maketrans(
    {**dict.fromkeys(_QUOTES, '"'), **dict.fromkeys(_DASHES, "-"), "：": ":", "（": "(", "）": ")", "＊": "*"}
)

WORD = re.compile(r'[^\s()"]+')
NAMED = re.compile(r"([A-Za-z][A-Za-z_-]*):(?!:)", re.ASCII)  # not C++'s std::vector
TOPIC = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")  # a topic's name
_KEYED = re.compile(r"(?:arxiv|github|doi|url|https?):\S+", re.IGNORECASE)
_ARXIV_ID = re.compile(r"\d{4}\.\d{4,5}(?:v\d{1,3})?", re.ASCII)
_WORDS = re.compile(r"\w+")
_ANYWHERE = frozenset({"all", "any"})  # arXiv's `all:word` is the word
_LISTED = frozenset({"category", "source", "kind", "has", "language"})  # a comma in these is a list, not part of a name
_PREFIXED = frozenset({"category", "source", "language", "license", "id"})


def parse(text: str) -> Query:
    """Return the query that the text says; an empty one matches everything.

    Raises UsageError with the position of the fault, and the nearest field or value as its hint.
    """
    if len(text) > LONGEST:
        raise UsageError(f"A query may be {LONGEST:,} characters long; this one has {len(text):,}.", position=LONGEST)
    parser = _Parser(text.translate(TYPED))
    tree = parser.query()
    if tree is None and parser.rest.strip() and not parser.directives:
        raise UsageError("There is no letter or digit to search for.", position=0)
    return parser.result(tree, text)


@dataclass(slots=True)
class _Parser:
    """The text, how far it has been read, and what has been found beside the tree."""

    rest: str
    at: int = 0
    clauses: int = 0
    words: int = 0
    short: set[tuple[str, str]] = field(default_factory=set)  # beginnings of words, each with its field
    depth: int = 0
    outside: bool = True  # of parentheses, NOT and OR: where directives may stand
    directives: dict[str, tuple[str, int]] = field(default_factory=dict)
    looked: int = -1  # where `ahead` looked last, and
    seen: str = ""  # what it saw there

    def result(self, tree: Tree | None, text: str) -> Query:
        found = {name: value for name, (value, _) in self.directives.items()}
        return Query(text, And(()) if tree is None else tree, found.get("sort", "best"), found.get("topic-of", ""))

    # --- the grammar; None is "nothing was said here"

    def query(self) -> Tree | None:
        tree = self.alternatives()
        self.ahead()
        if self.at < len(self.rest):
            raise UsageError("This closing parenthesis has no opening one.", position=self.at)
        return tree

    def alternatives(self) -> Tree | None:
        before = len(self.directives)
        parts = [self.sequence()]
        while (start := self.operator("OR")) is not None:
            if len(self.directives) > before:
                raise self.misplaced()
            if not self.starts():
                raise UsageError("`OR` needs something on both sides.", position=start)
            outside, self.outside = self.outside, False
            parts.append(self.sequence())
            self.outside = outside
        return _together(Or, parts)

    def sequence(self) -> Tree | None:
        parts: list[Tree | None] = []
        self.no_operator("AND", "OR", "ANDNOT")
        while self.starts():
            parts.append(self.negation())
            if (start := self.operator("AND")) is not None:
                if not self.starts():
                    raise UsageError("`AND` needs something on both sides.", position=start)
                self.no_operator("AND", "OR")
        return _together(And, parts)

    def negation(self) -> Tree | None:
        self.ahead()
        start = self.at
        if self.operator("NOT") is None and self.operator("ANDNOT") is None:
            if not self.minus():
                return self.atom()
        elif not self.starts():
            raise UsageError("`NOT` needs something behind it.", position=start)
        self.no_operator("AND", "OR")
        outside, self.outside = self.outside, False
        self.deeper(start)
        part = self.negation()
        self.depth -= 1
        self.outside = outside
        return None if part is None else Not(part)

    def atom(self) -> Tree | None:
        start = self.at
        sign = self.rest[start]
        if sign == "(":
            return self.group()
        if sign == '"':
            text = self.phrase()
            return self.term(Term(text, prefix=self.star(), quoted=True, position=start))
        name = NAMED.match(self.rest, start)
        if name and not is_key(self.ahead()):
            known = BY_NAME.get(name[1].lower())
            apart = self.rest[name.end() : name.end() + 1].strip() == ""
            if (known or name[1].lower() in _ANYWHERE) and (name[1].islower() or not apart):
                self.at = name.end()
                return self.clause(known, start)
            if not apart:
                raise _unknown(name[1], start)
        return self.word(start)

    def group(self) -> Tree | None:
        start = self.at
        outside, self.outside = self.outside, False
        self.deeper(start)
        self.at += 1
        tree = self.alternatives()
        self.ahead()
        if self.at >= len(self.rest):
            raise UsageError("This parenthesis is never closed.", position=start)
        self.at += 1
        self.depth -= 1
        self.outside = outside
        return tree

    # --- atoms

    def word(self, start: int) -> Tree | None:
        text = self.run()
        if text == "*":
            return self.counted(And(()), start)
        if is_key(text):
            return self.counted(Label("id", label_value(BY_NAME["id"], text), position=start), start)
        return self.term(_bare(text, "", start))

    def term(self, term: Term) -> Tree | None:
        """Return a term outside any field, None when there is nothing to search for in it."""
        return self.counted(term, term.position) if says_something(term.text) else None

    def clause(self, known: QueryField | None, start: int) -> Tree | None:
        """Read the value behind a field's colon."""
        if not self.starts() or self.rest[self.at] == "(":
            raise _no_value(known, start)
        place = self.at
        quoted = self.rest[place] == '"'
        value = self.phrase() if quoted else self.run()
        prefix = self.star() if quoted else value.endswith("*")
        if known is None:
            return self.term(Term(value, "", prefix, quoted, start) if quoted else _bare(value, "", start))
        match known.takes:
            case Takes.TEXT:
                term = Term(value, known.name, prefix, quoted, start) if quoted else _bare(value, known.name, start)
                if not says_something(term.text):
                    raise _no_value(known, start)
                return self.counted(term, start)
            case Takes.LABEL:
                return self.counted(_label(known, value, quoted=quoted, prefix=prefix, start=start, place=place), start)
            case Takes.NUMBER:
                return self.counted(parse_number(known, value.strip().lower(), place), start)
            case Takes.DATE:
                return self.counted(parse_when(known, value.strip().lower(), place), start)
            case Takes.DIRECTIVE:
                self.directive(known, value, start, place)
                return None

    def directive(self, known: QueryField, value: str, start: int, place: int) -> None:
        if not self.outside:
            raise self.misplaced(known.name, start)
        if known.name in self.directives:
            raise UsageError(f"`{known.name}:` may stand in a query once.", position=start)
        said = label_value(known, value)
        if not TOPIC.fullmatch(said):
            raise _no_value(known, start)
        self.directives[known.name] = (_closed(known, said, place), start)

    # --- characters

    def ahead(self) -> str:
        """Step over blanks and return the word that stands there, "" when a sign does. It is read once."""
        if self.looked != self.at:
            while self.at < len(self.rest) and self.rest[self.at].isspace():
                self.at += 1
            found = WORD.match(self.rest, self.at)
            self.looked, self.seen = self.at, found[0] if found else ""
        return self.seen

    def starts(self) -> bool:
        """Say whether something other than OR and a closing parenthesis follows."""
        word = self.ahead()
        return word != "OR" if word else self.rest[self.at : self.at + 1] not in ("", ")")

    def operator(self, name: str) -> int | None:
        """Step over the operator when it stands here; return where it stood."""
        if self.ahead() != name:
            return None
        start = self.at
        self.at += len(name)
        return start

    def no_operator(self, *names: str) -> None:
        word = self.ahead()
        if word in names:
            raise UsageError(f"`{word}` needs something on both sides; in quotation marks it is a word.", position=self.at)

    def minus(self) -> bool:
        """Step over a sign of negation; a dash that stands alone, or two of them, are none."""
        following = self.rest[self.at + 1 : self.at + 2]
        if self.rest[self.at] not in "-!" or following in ("", ")", "-", "!") or following.isspace():
            return False
        self.at += 1
        return True

    def run(self) -> str:
        text = self.ahead()
        self.at += len(text)
        return text

    def phrase(self) -> str:
        end = self.rest.find('"', self.at + 1)
        if end < 0:
            raise UsageError("This quotation mark is never closed.", position=self.at)
        text = self.rest[self.at + 1 : end]
        self.at = end + 1
        return text

    def star(self) -> bool:
        if self.rest[self.at : self.at + 1] != "*":
            return False
        self.at += 1
        return True

    # --- bounds

    def counted(self, tree: Tree, start: int) -> Tree:
        self.clauses += 1
        if self.clauses > MOST_CLAUSES:
            raise UsageError(f"A query may have {MOST_CLAUSES} clauses; this one has more.", position=start)
        if isinstance(tree, Term):
            self.affordable(tree, start)
        return tree

    def affordable(self, term: Term, start: int) -> None:
        """Refuse what would keep a store busy for seconds."""
        self.words += len(_WORDS.findall(term.text))
        if self.words > MOST_WORDS:
            raise UsageError(f"A query may have {MOST_WORDS} words; this one has more.", position=start)
        if term.prefix and len(term.text.rpartition(" ")[2]) <= SHORT:
            self.short.add((term.text, term.field))
        if len(self.short) > MOST_SHORT:
            raise UsageError(
                f"A query may have {MOST_SHORT} beginnings of one or two letters such as `m*`; this one has more.",
                position=start,
                hint="Longer beginnings, such as `mem*`, may be as many as you like.",
            )

    def deeper(self, start: int) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UsageError(f"Parentheses and negations may be nested {DEEPEST} deep.", position=start)

    def misplaced(self, name: str = "", start: int = 0) -> UsageError:
        if not name:
            name, (_, start) = list(self.directives.items())[-1]
        example = BY_NAME[name].example
        return UsageError(
            f"`{name}:` stands beside the whole query, not within OR, NOT or parentheses: write `(a OR b) {example}`.",
            position=start,
            hint=example,
        )


def is_key(word: str) -> bool:
    """Say whether a bare word names one item: `2606.01234`, `arxiv:2606.01234`, `github:owner/name`, an address."""
    return bool(_KEYED.fullmatch(word) or _ARXIV_ID.fullmatch(word))


def trimmed(word: str) -> str:
    """Return a bare word without a star at its end and the punctuation around it, which say nothing."""
    return word.rstrip("*").strip(",;.!?:'`…-*")


def stands_bare(text: str, field: str) -> bool:
    """Say whether a term's text reads back as the same term without quotation marks, behind `field:` when there is one."""
    if text != trimmed(text) or not WORD.fullmatch(text) or text.translate(TYPED) != text:
        return False
    if field:
        return text != "OR"
    return text not in OPERATORS and not is_key(text) and not NAMED.match(text)


def _together(kind: type[And] | type[Or], parts: list[Tree | None]) -> Tree | None:
    """Join what was said; one part stands for itself, and a tree of the same kind is taken apart."""
    said: list[Tree] = []
    for part in parts:
        if isinstance(part, kind) and part.parts:
            said += part.parts
        elif part is not None:
            said.append(part)
    return kind(tuple(said)) if len(said) > 1 else (said[0] if said else None)


def _bare(word: str, name: str, start: int) -> Term:
    """Return the term of a bare word; one that could not stand so by itself (`--OR`) counts as quoted."""
    text = trimmed(word)
    return Term(text, name, word.endswith("*"), not stands_bare(text, name), start)


def _label(known: QueryField, value: str, *, quoted: bool, prefix: bool, start: int, place: int) -> Label:
    name = known.name
    folded = label_value(known, value if quoted else value.removesuffix("*"))
    if "*" in folded or (prefix and folded and name not in _PREFIXED):
        raise UsageError(
            f"`*` may stand only at the end of a value, and not in `{name}:`.", position=place, hint=known.example
        )
    if name in _LISTED and "," in folded:
        first, _, second = folded.partition(",")
        raise UsageError(f"One value at a time: write `{name}:{first} OR {name}:{second.strip()}`.", position=place)
    if not folded and not prefix:
        raise _no_value(known, start)
    return Label(name, _closed(known, folded, place) if not prefix else folded, prefix, start)


def _closed(known: QueryField, folded: str, place: int) -> str:
    """Return the value when the field has it; raises UsageError with the nearest one."""
    if known.values and folded not in known.values:
        near = difflib.get_close_matches(folded, known.values, 1, 0.5)
        hint = f"{known.name}:{near[0]}" if near else known.example
        raise UsageError(f"`{known.name}:` takes {', '.join(known.values)}.", position=place, hint=hint)
    return folded


def _unknown(name: str, start: int) -> UsageError:
    near = difflib.get_close_matches(name.lower(), BY_NAME, 1, 0.65)
    canonical = BY_NAME[near[0]] if near else None
    said = (
        f"did you mean `{canonical.name}:`?" if canonical else f"the fields are {', '.join(each.name for each in FIELDS)}."
    )
    return UsageError(
        f"There is no field `{name}:`; {said} To search for the words, put them in quotation marks.",
        position=start,
        hint=f"{canonical.name}:" if canonical else "",
    )


def _no_value(known: QueryField | None, start: int) -> UsageError:
    example = known.example if known else "all:gpu"
    name = known.name if known else "all"
    return UsageError(f"`{name}:` needs a value: write for example `{example}`.", position=start, hint=example)
