"""Random queries and items over one small vocabulary, so that they often meet: for hypothesis.

`trees()` gives trees as the parser makes them (no nested And in And, no Or of one part), at most twelve clauses, so that
`parse(unparse_tree(tree)).tree == tree`. `items()` gives items that lack now this, now that. NOW is when they are asked.
Whoever evaluates trees in another way (SQL, an index) holds it against `bot.query.matches(tree, item, NOW)` with these.
"""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from bot.models import And, Item, Kind, Label, Link, Not, Number, Or, Query, Term, Tree, When
from bot.query.fields import DATE, TEXT
from bot.query.parse import TYPED

NOW = datetime(2026, 6, 14, 9, 30, tzinfo=UTC)

# Each row holds words that fold to each other, or nearly: the mistakes lie between them.
_FAMILIES = (
    ("GPU", "GPUs", "gpu", "multi-GPU", "multigpu", "Multi-GPUs", "GPU-based"),
    ("cache", "caches", "KV-cache", "kvcache", "KV"),
    ("pre-training", "pretraining", "pre", "training", "trained", "pre‑training", "pre–training"),
    ("batch", "batches", "batching", "class", "classes", "bus", "buses", "analysis", "analyses", "matrices", "matrix"),
    ("library", "libraries", "API", "APIs", "is", "us", "s", "2.5", "GPT-4", "gpt4", "4", "10s"),
    ("C++", "C#", "C", "cpp", "C++17", ".NET", "O(n)", "don't", "Moore's", "moores", "O'Brien"),
    ("Müller", "Muller", "Mueller", "Jørgensen", "naïve", "ﬁne", "Straße", "İstanbul"),
    ("模型", "模", "训练GPU", "модель", "МОДЕЛИ", "αβ", "α-divergence", "가나다", "ก็", "ガ", "カ", "😀"),
    ("the", "of", "attention", "sparse", "state-of-the-art", "x_y", "__", "_", "a--b", "'quoted'", "e.g."),
)
_WORDS = tuple(word for family in _FAMILIES for word in family)
_CATEGORIES = ("cs.LG", "cs.DC", "cs.CL", "stat.ML", "hep-th", "math.GT")
_SOURCES = ("arxiv", "huggingface", "github", "feed:Lab Notes", "feed:b")
_LANGUAGES = ("Python", "C++", "Jupyter Notebook", "C", "Café")
_LICENSES = ("Apache-2.0", "MIT", "http://creativecommons.org/licenses/by/4.0/")
_KEYS = ("arxiv:2606.01234", "arxiv:math/0309136", "github:owner/name", "doi:10.1145/1234.5678", "url:https://lab.example/a")
_AUTHORS = ("Tri Dao", "Dao Minh", "Sinéad O'Brien", "Li Wei", "Jürgen Müller", "李伟")
_ORGS = ("NVIDIA", "Advanced Micro Devices", "Lab-Notes")
_TOPICS = ("kv-cache", "cuda", "large language models", "c-plus-plus", "模型")
_NUMBERS = (0.0, 1.0, 10.0, 99.0, 100.0, 500.0, 1500.0)

_words = st.sampled_from(_WORDS)
_texts = st.lists(_words, max_size=9).map(" ".join)


# --- queries -------------------------------------------------------------------------------------------------------


def words() -> st.SearchStrategy[Term]:
    """Give bare words, some of them a word's beginning, in any text field or in all of them."""
    bare = st.sampled_from([word for word in _WORDS if word.isalnum() and not word.startswith("😀")])
    prefixes = st.builds(lambda word, cut: word[: max(1, cut)], bare, st.integers(1, 6))
    fields = st.sampled_from(("", "", "", *TEXT))
    return st.one_of(
        st.builds(Term, bare, fields),
        st.builds(
            Term, st.sampled_from(("multi-GPU", "pre-training", "GPT-4", "C++", "C#", "state-of-the-art", "2.5")), fields
        ),
        st.builds(Term, prefixes, fields, st.just(True)),
    )


def phrases() -> st.SearchStrategy[Term]:
    """Give quoted phrases of one to three words, some with the last word open."""
    said = st.lists(st.sampled_from([word for word in _WORDS if any(map(str.isalnum, word))]), min_size=1, max_size=3)
    known = st.sampled_from((*_AUTHORS, *_ORGS, *_TOPICS, "Dao, Tri", "kv cache", "sparse attention"))
    return st.builds(
        Term,
        # Typed signs are read as their plain ones, so a parsed phrase holds no other dash than the hyphen.
        st.one_of(said.map(" ".join), known).map(lambda text: text.translate(TYPED)),
        st.sampled_from(("", *TEXT)),
        prefix=st.booleans(),
        quoted=st.just(True),
    )


def labels() -> st.SearchStrategy[Label]:
    """Give labels as the parser folds them, whole and by prefix."""
    whole = st.sampled_from(
        [
            *(("category", value) for value in ("cs.lg", "cs.dc", "cs", "stat.ml", "hep-th", "cs.xx")),
            *(("source", value) for value in ("arxiv", "github", "feed", "feed:lab notes", "feed:c")),
            *(("kind", value) for value in ("paper", "repo", "post")),
            *(("language", value) for value in ("python", "c++", "c", "jupyter notebook", "cafe")),
            *(("license", value) for value in ("apache-2.0", "mit", "http://creativecommons.org/licenses/by/4.0/")),
            *(("has", value) for value in ("code", "pdf", "summary")),
            *(
                ("id", value)
                for value in ("2606.01234", "math/0309136", "github:owner/name", "owner/name", "url:https://lab.example/a")
            ),
        ]
    )
    opened = st.sampled_from(
        [
            *(("category", start) for start in ("cs.", "")),
            *(("source", start) for start in ("feed:", "")),
            *(("language", start) for start in ("c", "")),
            *(("license", start) for start in ("apache", "%", "")),
            *(("id", start) for start in ("arxiv:2606.", "url:", "_")),
        ]
    )
    return st.one_of(
        whole.map(lambda pair: Label(*pair)),
        opened.map(lambda pair: Label(*pair, prefix=True)),
    )


def numbers(*, score: bool = True) -> st.SearchStrategy[Number]:
    """Give number clauses in every form that can be typed; without `score` those of an item alone."""
    fields = st.sampled_from(("stars", "forks", "upvotes", *(("score",) if score else ())))
    value = st.sampled_from(_NUMBERS)
    return st.one_of(
        st.builds(Number, fields),
        st.builds(lambda field, at: Number(field, at, at), fields, value),
        st.builds(lambda field, ends: Number(field, min(ends), max(ends)), fields, st.tuples(value, value)),
        st.builds(Number, fields, low=value, above=st.booleans()),
        st.builds(Number, fields, high=value, below=st.booleans()),
    )


def whens() -> st.SearchStrategy[When]:
    """Give date clauses in every form that can be typed."""
    fields = st.sampled_from(DATE)
    day = st.integers(-40, 3).map(lambda days: datetime(2026, 6, 14, tzinfo=UTC) + timedelta(days=days))
    age = st.sampled_from((0.5, 1.0, 2.0, 7.0, 14.0, 30.0, 5 / 24))
    return st.one_of(
        st.builds(When, fields),
        st.builds(When, fields, after=day),
        st.builds(When, fields, before=day),
        st.builds(
            lambda field, first, days: When(field, first, first + timedelta(days=days)), fields, day, st.integers(1, 20)
        ),
        st.builds(When, fields, oldest=age),
        st.builds(When, fields, youngest=age),
        st.builds(lambda field, ends: When(field, youngest=min(ends), oldest=max(ends)), fields, st.tuples(age, age)),
    )


def clauses(*, score: bool = True) -> st.SearchStrategy[Tree]:
    """Give one clause of any kind, and now and then `*`."""
    return st.one_of(words(), words(), phrases(), labels(), numbers(score=score), whens(), st.just(And(())))


def trees(*, score: bool = True) -> st.SearchStrategy[Tree]:
    """Give trees as the parser makes them; without `score` none asks for a topic's score."""

    def grow(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        several = st.lists(part, min_size=2, max_size=4)
        return st.one_of(
            part.map(Not),
            several.map(lambda parts: And(_flat(And, parts))),
            several.map(lambda parts: Or(_flat(Or, parts))),
        )

    return st.recursive(clauses(score=score), grow, max_leaves=12)


def queries() -> st.SearchStrategy[Query]:
    """Give trees with a direction to sort by, and now and then a topic to rank as."""
    return st.builds(
        lambda tree, sort, topic: Query("", tree, sort, topic),
        trees(),
        st.sampled_from(("best", "best", "new", "stars", "upvotes")),
        st.sampled_from(("", "", "gpu-systems")),
    )


def _flat(kind: type[And] | type[Or], parts: list[Tree]) -> tuple[Tree, ...]:
    return tuple(inner for part in parts for inner in (part.parts if isinstance(part, kind) and part.parts else (part,)))


# --- items ---------------------------------------------------------------------------------------------------------


def _some(values: tuple[str, ...], most: int = 3) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=most, unique=True).map(tuple)


def items() -> st.SearchStrategy[Item]:
    """Give items of every kind, each lacking some of what it might have."""
    count = st.none() | st.sampled_from([int(number) for number in _NUMBERS])
    moment = st.none() | st.integers(-60 * 24 * 45, 60).map(lambda minutes: NOW + timedelta(minutes=minutes))
    links = st.lists(
        st.sampled_from(("code", "pdf", "abstract")).map(lambda rel: Link(rel, "https://lab.example/x")), max_size=2
    )
    return st.builds(
        Item,
        key=st.sampled_from(_KEYS),
        kind=st.sampled_from(Kind),
        title=_texts,
        abstract=_texts | st.just(""),
        readme=st.just("") | _texts,
        authors=_some(_AUTHORS),
        org=st.sampled_from(("", *_ORGS)),
        categories=_some(_CATEGORIES),
        keywords=_some(_TOPICS),
        sources=_some(_SOURCES),
        aliases=_some(_KEYS, 2),
        links=links.map(tuple),
        language=st.sampled_from(("", *_LANGUAGES)),
        license=st.sampled_from(("", *_LICENSES)),
        stars=count,
        forks=count,
        upvotes=count,
        published=moment,
        updated=moment,
        appeared=moment,
        repo=st.sampled_from(("", "", "github:owner/name")),
    )
