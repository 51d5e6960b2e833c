import re
import sys
import unicodedata
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.query.fold import BARRIER, found, indexed, normalised, says_something, singular, spellings, tokens


def _finds(typed: str, text: str, *, prefix: bool = False) -> bool:
    padded = f" {indexed(text)} "
    return any(found(way, padded) for way in spellings(typed, prefix=prefix))


@pytest.mark.parametrize(
    ("plural", "single"),
    [
        ("GPUs", "gpu"), ("caches", "cache"), ("batches", "batch"), ("libraries", "library"), ("classes", "class"),
        ("analyses", "analysis"), ("hypotheses", "hypothesis"), ("matrices", "matrix"), ("indices", "index"),
        ("indexes", "index"), ("meshes", "mesh"), ("boxes", "box"), ("sizes", "size"), ("nodes", "node"), ("trees", "tree"),
        ("VAEs", "VAE"), ("MoEs", "MoE"), ("heroes", "hero"), ("movies", "movie"), ("policies", "policy"),
        ("biases", "bias"), ("multigpus", "multigpu"),
        ("viruses", "virus"), ("APIs", "API"), ("LLMs", "LLM"), ("VMs", "VM"), ("H100s", "H100"), ("vGPUs", "vGPU"),
        ("corpora", "corpus"), ("databases", "database"), ("microcaches", "microcache"), ("robots", "robot"),
        ("kernels", "kernel"), ("queries", "query"), ("keys", "key"), ("losses", "loss"), ("lenses", "lens"),
    ],
)  # fmt: skip
def test_a_word_and_its_plural_fold_to_the_same(plural: str, single: str) -> None:
    assert tokens(plural) == tokens(single)


@pytest.mark.parametrize(
    "word",
    [
        "bus",
        "class",
        "analysis",
        "is",
        "us",
        "this",
        "corpus",
        "loss",
        "basis",
        "news",
        "gps",
        "lens",
        "bias",
        "90s",
        "opus",
    ],
)
def test_a_word_in_s_that_is_no_plural_stays(word: str) -> None:
    assert tokens(word) == [word]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("bases", "bus"),
        ("news", "new"),
        ("gps", "gp"),
        ("lens", "len"),
        ("train", "training"),
        ("class", "clas"),
        ("10s", "10"),
    ],
)
def test_words_that_mean_different_things_stay_apart(left: str, right: str) -> None:
    assert tokens(left) != tokens(right)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("pretraining", "pre-training"),
        ("pre-training", "pretraining"),
        ("pre-training", "pre training"),
        ("pre training", "pre-training"),
        ("pre-training", "pre–training"),
        ("PRE-TRAINING", "Pre‑Training"),
        ("multigpu", "Multi-GPUs"),
        ("multi-GPU systems", "a multi-GPU system"),
        ("multi-GPU systems", "a multigpu system"),
        ("gpt4", "GPT-4"),
        ("GPT-4", "gpt4"),
        ("2.5", "Qwen 2.5-VL"),
        ("Muller", "Müller"),
        ("Müller", "MULLER"),
        ("Jorgensen", "Jørgensen"),
        ("strasse", "Straße"),
        ("naive", "naïve"),
        ("fine", "ﬁne"),
        ("Moore's law", "Moores law"),
        ("Moore law", "Moore’s law"),
        ("O'Brien", "Sinéad O’Brien"),
        ("obrien", "O'Brien"),
        ("C++", "written in C++."),
        ("C++", "C++17"),
        ("cpp", "C++"),
        ("C#", "C# and F#"),
        ("模型", "大模型的训练"),
        ("GPU", "使用GPU训练"),
        ("модель", "МОДЕЛЬ"),
        ("ガンダム", "ｶﾞﾝﾀﾞﾑ"),
        ("CUDA", "CUDA™"),
        ("flow", "work­flow flow"),
        ("workflow", "work­flow"),
        ("state-of-the-art", "state of the art"),
        ("unit", "a unit--deliberately"),
    ],
)
def test_what_is_typed_finds(typed: str, text: str) -> None:
    assert _finds(typed, text)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("pretraining", "pre training"),
        ("pre training", "pretraining"),
        ("C", "C++ and C#"),
        ("type", "型模"),
        ("模型", "型模"),
        ("カ", "ガ"),
        ("gpu", "gpus2"),
        ("!!!", "!!!"),
        ("", "anything"),
        ("__", "a b"),
    ],
)
def test_what_is_typed_does_not_find(typed: str, text: str) -> None:
    assert not _finds(typed, text)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("librar", "libraries"),
        ("gpus", "one gpu"),
        ("pre-train", "pretraining"),
        ("pre-train", "pre-trained"),
        ("kv cach", "KV caches"),
    ],
)
def test_a_beginning_finds_the_folded_word(typed: str, text: str) -> None:
    assert _finds(typed, text, prefix=True)


def test_no_phrase_reaches_from_one_text_to_the_next() -> None:
    assert indexed("Tri Dao", "Li Wei") == "tri dao __ li wei"
    assert indexed("pre-training", "", "GPU pre-training") == "pre training __ gpu pre training __ pretraining"


def test_a_phrase_with_many_hyphens_has_few_spellings() -> None:
    assert len(spellings(" ".join(["a-b"] * 50))) <= 8


def test_a_word_is_cut_at_the_same_place_everywhere() -> None:
    assert len(max(tokens("x" * 5000 + "-y"), key=len)) == 64
    assert _finds("x" * 5000, "x" * 4000)


@given(st.text() | st.text(alphabet="aZ9 s-_'’.+#ß½中·\u0301*"))
def test_a_text_says_something_exactly_when_it_has_a_token(text: str) -> None:
    assert says_something(text) == bool(tokens(text))


@given(st.text())
def test_every_token_is_plain_and_none_is_the_barrier(text: str) -> None:
    for token in indexed(text).split(f" {BARRIER} "):
        for word in token.split():
            assert re.fullmatch(r"[a-z0-9_]+", word)
            assert word != BARRIER


@given(st.text())
def test_folding_does_not_depend_on_how_a_character_is_composed(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(("text", "once"), [("ŉ", "'n"), ("10⁻⁶", "10-6"), ("x₋₁", "x-1"), ("a︲b", "a-b")])
def test_what_decomposes_into_a_dash_or_an_apostrophe_is_one(text: str, once: str) -> None:
    assert normalised(text) == once
    assert normalised(once) == once


BLOCK = 0x1000


@cache
def characters_that_folding_changes() -> list[str]:
    return [character for character in map(chr, range(sys.maxunicode + 1)) if normalised(character) != character]


@pytest.mark.no_cover
def test_every_character_stays_as_it_is_when_normalised_again() -> None:
    for start in range(0, sys.maxunicode + 1, BLOCK):
        text = normalised("\n".join(map(chr, range(start, start + BLOCK))))
        assert normalised(text) == text


@pytest.mark.no_cover
@pytest.mark.parametrize("around", ["a{}b", "e{}\u0301", "か{}\u3099", "\u1100{}\u1161", "Α{}Σ", "I{}\u0307", "-{}'"])
def test_beside_others_too_every_character_stays_as_it_is_when_normalised_again(around: str) -> None:
    text = normalised("\n".join(map(around.format, characters_that_folding_changes())))
    assert normalised(text) == text


@given(st.text())
def test_normalised_text_stays_as_it_is_when_normalised_again(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(st.text(alphabet="abceghinopstuxyz sue-'.", max_size=60))
def test_tokens_of_tokens_are_the_same_tokens(text: str) -> None:
    assert tokens(" ".join(tokens(text))) == tokens(text)


@given(st.from_regex(r"[a-z]{1,12}(s|es|ies|ses)?", fullmatch=True))
def test_a_singular_has_no_other_singular(word: str) -> None:
    assert singular(singular(word)) == singular(word)


@given(st.text(), st.text())
def test_a_text_is_found_in_itself_and_in_a_longer_one(text: str, more: str) -> None:
    if tokens(text):
        assert _finds(text, text)
        assert _finds(text, f"{more} {text} {more}") or "#" in text or "+" in text


@given(st.text(), st.text())
def test_an_index_of_two_texts_holds_the_tokens_of_both(one: str, other: str) -> None:
    held = set(indexed(one, other).split())
    assert held >= set(tokens(one)) | set(tokens(other))
