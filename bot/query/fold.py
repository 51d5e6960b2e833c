"""One folding of text for the matcher, the search index and ranking: what is written differently and means the same.

What equals what
    case        CUDA = cuda
    accents     Müller = Muller, Jørgensen = Jorgensen, ﬁ = fi, Ａ = A (Unicode's NFKD, marks dropped, case folded; the Latin
                letters that have no decomposition as in CLDR's Latin-ASCII transform: ø o, ł l, đ d, æ ae, ß ss …)
    plurals     GPUs = gpu, caches = cache, batches = batch, libraries = library, classes = class, analyses = analysis
    possessives Moore's = Moore
    hyphens     in a text: `pre-training` is the words pre and training, and beside them the joined word pretraining.
                Typed:     `pre-training` finds pre-training, pre training and pretraining;
                           `pretraining` finds pretraining and pre-training, not pre training;
                           `"pre training"` finds pre-training and pre training, not pretraining.
                The apostrophe inside a word is such a hyphen: O'Brien = OBrien. A dash is one too when nothing but a
                letter or digit stands on either side: Navier–Stokes.
    C++, C#, F# are the words cpp, csharp and fsharp; C++17 is cpp and 17. `.NET` is the word net.
    2.5, GPT-4  every other sign separates: `2.5` is 2 followed by 5, `GPT-4` is gpt followed by 4 (and gpt4).

A token is written in [a-z0-9_] alone, so that no other tokeniser can split or change it. A character outside ASCII is
written as `_<hex>_`; scripts that put no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan)
give one token per character. An underscore in a text separates, so nobody can write such a token by hand.
"""

import itertools
import re
import unicodedata
from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

# Raise the first number when any rule here changes: an index made by another folding must be made anew.
VERSION = f"2/{unicodedata.unidata_version}"

BARRIER = "__"  # stands between two texts; no word folds to it, so no phrase reaches across

_LONGEST = 64  # characters of a word that count: longer runs are data, not words
_MOST_WORDS = 200_000  # in each memo below, about 20 MB; then it starts afresh
_VARIED = 3  # hyphenated words of one phrase that are tried both ways; further ones as separate words

# Text is cut at every sign but these two, which the memo then looks at once per word: twice as fast as a pattern.
_SEPARATED = str.maketrans({code: chr(code) if chr(code).isalnum() or chr(code) in "-'" else " " for code in range(128)})
_COMPOUNDS = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*").findall
_TELLING = re.compile("[A-Za-z0-9]").search  # folds to something, whatever stands around it
_LANGUAGE = re.compile(r"(?<![a-z0-9])(?:c\+\+|[cf]#(?![a-z0-9]))")
_LANGUAGES = {"c++": " cpp ", "c#": " csharp ", "f#": " fsharp "}

# Spaceless scripts by Unicode block: CJK and its extensions, kana, bopomofo, Thai, Lao, Tibetan, Myanmar, Khmer.
_SPACELESS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_MARKS = frozenset({"Mn", "Mc", "Me", "Cf"})  # Unicode's categories of combining marks and of invisible signs
_VOICING = "\u3099\u309a"  # kana's marks make another letter, not an accent

_SIGNS = {**dict.fromkeys("’‘ʼ＇‛", "'"), **dict.fromkeys("‐‑‒–−﹣－", "-")}
_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t", "ŋ": "n"}
_BEFORE = str.maketrans({**_SIGNS, **dict.fromkeys("™®©℠\u200b", " "), "\u00ad": None})
_AFTER = str.maketrans({**_SIGNS, **_LETTERS})  # the signs again: a raised minus becomes one only when it is decomposed


class Spelling(NamedTuple):
    """Tokens that must follow one another; with `prefix` the last one is only a word's beginning."""

    tokens: tuple[str, ...]
    prefix: bool = False


class _Memo(dict[str, str]):
    """What a word folds to, worked out once: the same few words make up most of every text."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__()
        self._fold = fold

    def __missing__(self, chunk: str) -> str:
        if len(self) >= _MOST_WORDS:
            self.clear()
        folded = self[chunk] = self._fold(chunk)
        return folded


def tokens(text: str) -> list[str]:
    """Return the tokens of a text in their order, without the joined forms."""
    return _fold_all(_chunks(normalised(text))).split()


def says_something(text: str) -> bool:
    """Say whether a text has any token."""
    return _TELLING(text) is not None or tokens(text) != []


def indexed(*texts: str) -> str:
    """Return what an index holds of these texts: tokens and barriers, with single spaces between.

    The texts come one after another, a barrier between each two; then the joined forms of their hyphenated words, each
    once and each behind a barrier of its own. A phrase is in the texts when its tokens, in their order, are in here.
    """
    segments: list[str] = []
    joined: dict[str, None] = {}
    for text in map(normalised, texts):
        chunks = _chunks(text)
        folded = _fold_all(chunks)
        if folded:
            segments.append(folded)
        for sign in "-'":
            if sign in text:
                joined.update(dict.fromkeys(form for chunk in chunks if sign in chunk for form in _joined[chunk].split()))
    return f" {BARRIER} ".join([*segments, *joined])


def spellings(text: str, *, prefix: bool = False) -> tuple[Spelling, ...]:
    """Return the token sequences that a typed word or phrase stands for: a text has it when it has any of them.

    A text without a letter or digit has none, and matches nothing. A `prefix` is held against folded words: `librar*`
    finds libraries, and `gpus*` also finds gpu.
    """
    chunks = [word for chunk in _chunks(normalised(text)) for word in _COMPOUNDS(chunk)]
    varied = itertools.count()
    ways = [_ways(chunk, last=prefix and at == len(chunks) - 1, varied=varied) for at, chunk in enumerate(chunks)]
    found = dict.fromkeys(_glue(choice) for choice in itertools.product(*ways)) if chunks else {}
    return tuple(found)


def found(spelling: Spelling, padded: str) -> bool:
    """Say whether the spelling occurs in an indexed text that has a space put before and behind it."""
    return f" {' '.join(spelling.tokens)}{'' if spelling.prefix else ' '}" in padded


def normalised(text: str) -> str:
    """Return the text without case, accents and compatibility forms; signs stay as they are (dashes become `-`)."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", text.translate(_BEFORE)).casefold()
    text = unicodedata.normalize("NFKD", text)
    if not text.isascii():
        kept = (char for char in text if char.isascii() or char in _VOICING or unicodedata.category(char) not in _MARKS)
        text = unicodedata.normalize("NFC", "".join(kept).translate(_AFTER))
    return text


def _chunks(text: str) -> list[str]:
    """Cut normalised text at everything that is no letter, digit, hyphen or apostrophe."""
    if "#" in text or "++" in text:
        text = _LANGUAGE.sub(lambda match: _LANGUAGES[match[0]], text)
    return text.translate(_SEPARATED).split() if text.isascii() else _COMPOUNDS(text)


def _fold_all(chunks: list[str]) -> str:
    """Return the chunks' tokens, with single spaces between."""
    if len(chunks) < 2:
        return " ".join(filter(None, map(_folded.__getitem__, chunks)))
    folded = " ".join(itemgetter(*chunks)(_folded))
    return " ".join(folded.split()) if "  " in folded else folded.strip()


def _fold(chunk: str) -> str:
    """Fold one chunk: usually a word, rarely several (`unit--time`) or none (`-`)."""
    if chunk.isascii() and chunk.isalnum():
        return singular(chunk[:_LONGEST])
    return " ".join(token for compound in _COMPOUNDS(chunk) for part in _split(compound) for token in _tokens_of_word(part))


def _split(compound: str) -> list[str]:
    return re.split("[-']", compound.removesuffix("'s"))


def _tokens_of_word(word: str, *, whole: bool = True) -> list[str]:
    """Fold one run of letters and digits; without `whole` a plural stays, as the word may go on."""
    if word.isascii():
        return [singular(word[:_LONGEST]) if whole else word[:_LONGEST]]
    pieces = _SPACELESS.sub(lambda match: f" {match[0]} ", word).split()
    return [_written(piece[:_LONGEST], whole=whole) for piece in pieces]


def _written(piece: str, *, whole: bool) -> str:
    if piece.isascii():
        return singular(piece) if whole else piece
    return "".join(char if char.isascii() else f"_{ord(char):x}_" for char in piece)


def _join(chunk: str) -> str:
    """Return the joined forms of the chunk's hyphenated words, with spaces between."""
    return " ".join(filter(None, map(_as_one, _COMPOUNDS(chunk))))


def _as_one(compound: str, *, whole: bool = True) -> str:
    """Return a hyphenated word's parts written as one word, "" when that is no word of its own."""
    parts = _split(compound)
    word = "".join(parts)
    folded = _tokens_of_word(word, whole=whole)
    return folded[0] if len(parts) > 1 and len(folded) == 1 and not word.isdigit() else ""


def _ways(chunk: str, *, last: bool, varied: "itertools.count[int]") -> list[Spelling]:
    """Return how one word of a phrase may be written; `last`: it is the beginning of a word."""
    ways = [Spelling(tuple(_folded[chunk].split()))]
    joined = _as_one(chunk)
    if joined and next(varied) < _VARIED:
        ways.append(Spelling((joined,)))
    if last:
        *before, word = _split(chunk)
        head = tuple(token for part in before for token in _tokens_of_word(part))
        ways.append(Spelling((*head, *_tokens_of_word(word, whole=False)), prefix=True))
        open_joined = _as_one(chunk, whole=False)
        if open_joined:
            ways.append(Spelling((open_joined,), prefix=True))
    return [way for way in ways if way.tokens and not _covered(way, ways)]


def _covered(way: Spelling, ways: list[Spelling]) -> bool:
    """Say whether a prefix among the ways finds everything that this exact one finds."""
    return not way.prefix and any(
        other.prefix
        and len(other.tokens) == len(way.tokens)
        and other.tokens[:-1] == way.tokens[:-1]
        and way.tokens[-1].startswith(other.tokens[-1])
        for other in ways
    )


def _glue(choice: tuple[Spelling, ...]) -> Spelling:
    return Spelling(tuple(itertools.chain.from_iterable(way.tokens for way in choice)), choice[-1].prefix)


_folded = _Memo(_fold)
_joined = _Memo(_join)


# --- plurals -----------------------------------------------------------------------------------------------------------
# The singular of an English word, or at least one form for its singular and its plural.
#
# The rule is the "S stemmer" of D. Harman, "How effective is suffixing?", JASIS 42(1), 1991: -ies to -y, -es to -e, -s
# dropped, with exceptions. It was chosen over Porter's because it leaves other endings alone: a filter for *training* must
# not let *train* in. Changed here:
#
# - words in -is stay (analysis, this) beside Harman's -us and -ss; and words of one or two letters (us, os, js);
# - -sses, -shes, -xes and -ches lose the whole -es, so that class, mesh, box and batch meet their plurals (her rule leaves
#   batche); -caches keeps its e. -oes becomes -o from six letters on (heroes; moes, the plural of MoE, is moe);
# - -yses and -theses become -ysis and -thesis (analyses, hypotheses);
# - a number with an s stays (90s, 10s), a name with one does not (H100s);
# - the plurals of initialisms in -U and -I that her -us rule or our -is rule would keep: GPUs, CPUs, ReLUs, APIs;
# - the short lists below: irregular plurals of this field, and words in -s that are no plurals and whose stump would be
#   another word (news, gps, lens).
#
# What it cannot tell apart: the verb's -s from the plural's (uses = use), and initialisms from plurals (LMS = LMs).

_IRREGULAR = {
    "aliases": "alias", "appendices": "appendix", "atlases": "atlas", "automata": "automaton", "axes": "axis",
    "biases": "bias", "bonuses": "bonus", "buses": "bus", "campuses": "campus", "canvases": "canvas", "children": "child",
    "corpora": "corpus", "corpuses": "corpus", "cortices": "cortex", "crises": "crisis", "criteria": "criterion",
    "focuses": "focus", "formulae": "formula", "gases": "gas", "helices": "helix", "indices": "index", "lenses": "lens",
    "matrices": "matrix", "minibuses": "minibus", "oases": "oasis", "omnibuses": "omnibus", "phenomena": "phenomenon",
    "quizzes": "quiz", "simplices": "simplex", "spectra": "spectrum", "statuses": "status", "submatrices": "submatrix",
    "subindices": "subindex", "vertices": "vertex", "viruses": "virus", "vortices": "vortex",
    # singulars in -che and -ie
    "avalanches": "avalanche", "caches": "cache", "calories": "calorie", "cliches": "cliche", "cookies": "cookie",
    "hoodies": "hoodie", "movies": "movie", "niches": "niche", "rookies": "rookie", "selfies": "selfie", "zombies": "zombie",
    # initialisms and words in -u and -i
    "ais": "ai", "agis": "agi", "alus": "alu", "apis": "api", "bcis": "bci", "clis": "cli", "dois": "doi", "ecus": "ecu",
    "emojis": "emoji", "gelus": "gelu", "grus": "gru", "guis": "gui", "kpis": "kpi", "mcus": "mcu", "menus": "menu",
    "mpis": "mpi", "mris": "mri", "pdus": "pdu", "pois": "poi", "relus": "relu", "rois": "roi", "skus": "sku",
    "uis": "ui", "wikis": "wiki",
}  # fmt: skip

_NO_PLURALS = frozenset({
    "aes", "alias", "als", "always", "atlas", "aws", "bias", "bios", "cas", "canvas", "chaos", "cms", "cosmos", "css",
    "des", "dns", "eps", "fps", "gas", "gps", "has", "its", "kubernetes", "lens", "naas", "nas", "news", "paas", "pos",
    "ras", "redis", "rls", "rms", "saas", "sas", "series", "sms", "species", "tls", "tps", "tts", "was", "windows", "yes",
})  # fmt: skip

_UNIT = re.compile(r"[cdfgntvx]pus$").search  # gpus, cpus, vgpus, multigpus; not opus, corpus or campus


def singular(word: str) -> str:
    """Return the form under which a word and its plural meet; `word` is in lower-case ASCII letters and digits."""
    if len(word) < 3 or not word.endswith(("s", "a", "ae", "en")):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if not word.endswith("s") or word in _NO_PLURALS or word[:-1].isdigit():
        return word
    stump = _without_s(word)
    return _IRREGULAR.get(stump, stump)


def _without_s(word: str) -> str:
    if word.endswith(("us", "ss", "is")):
        return word[:-1] if _UNIT(word) else word
    if word.endswith(("yses", "theses")):
        return word[:-2] + "is"
    if word.endswith("ies") and len(word) > 4 and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "xes")) or (word.endswith("ches") and not word.endswith("caches")):
        return word[:-2]
    if word.endswith("oes") and len(word) > 5:
        return word[:-2]
    return word[:-1]
