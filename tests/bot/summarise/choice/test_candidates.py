"""What could stand for a part: sentences, and clauses that stand by themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.choice.candidates import AIM, CONSEQUENCE, FINDING, REST, SENTENCE, TURN, candidates
from bot.summarise.english.anaphora import Resolved, resolve
from bot.summarise.english.sentences import split


def clauses(text: str) -> dict[str, str]:
    """The clauses of an abstract's only sentence, by their kind."""
    return {each.kind: each.text for each in candidates([Resolved(text, 0)]) if each.kind != SENTENCE}


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Tidy uses a small model, enabling caches without an operator.", "Tidy enables caches without an operator."),
        ("We propose Tidy, a cache, thereby cutting the cost of memory.", "Tidy cuts the cost of memory."),
        ("Our method reduces the memory, allowing use on phones.", "The method allows use on phones."),
        ("We train it on traces, which allows sizing at night.", "Allows sizing at night."),
        ("We show that caches shrink, making them cheap.", ""),  # which, is not certain
        ("Tidy reduces the memory, making it practical for phones.", "Makes Tidy practical for phones."),
        ("We size caches by day, making it possible to sleep.", "Makes it possible to sleep."),
        ("We train on traces, leading to smaller caches and showing their worth.", "Leads to smaller caches."),
    ],
)
def test_what_comes_of_it_stands_alone(sentence: str, said: str) -> None:
    assert clauses(sentence).get(CONSEQUENCE, "") == said


def test_what_comes_of_the_work_of_others_has_no_verb_without_a_subject() -> None:
    assert clauses("Existing caches rely on traces, leading to high costs of memory.") == {}


def test_the_rest_of_a_sentence_can_be_shown_beside_its_clause() -> None:
    found = clauses("We propose Tidy, a cache of caches, enabling sizing without an operator.")
    assert found[REST] == "We propose Tidy, a cache of caches."


def test_what_is_found_stands_behind_what_was_done() -> None:
    found = clauses("We run caches on five machines and show that they save 31% of memory.")
    assert found == {FINDING: "We show that they save 31% of memory.", REST: "We run caches on five machines."}


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("While caches are fast, existing designs remain costly.", "Existing designs remain costly."),
        ("Caches are fast, but their cost remains high.", "Caches' cost remains high."),
        ("Large caches can be fast, yet they often suffer from noise.", "Large caches often suffer from noise."),
        ("While caches are fast, we propose faster ones.", ""),
        ("Caches are fast, but remain costly and large.", ""),
        (  # 2603.28088
            "Recent generation models have achieved progress, yet continue to struggle with complex instructions.",
            "",
        ),
    ],
)
def test_what_turns_against_it_stands_alone_with_its_subject(sentence: str, said: str) -> None:
    assert clauses(sentence).get(TURN, "") == said


def test_what_the_work_is_for_is_named() -> None:
    found = clauses("To reduce the high cost of large caches, we propose a cache named Tidy.")
    assert found == {AIM: "The high cost of large caches.", REST: "We propose a cache named Tidy."}


PIECES = (
    "We|propose|Tidy,|a cache,|enabling|it|, which allows|thereby|making|and show that|While|,|but|they|To reduce the|cost,|"
    "we|31%|(|)|;|To address|this|their|yet|existing caches|remain|costly.|. |: (1)|“|–|leading to"
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES.split("|")), max_size=50).map(" ".join))
PUT_IN = {"the", "we", "show", "s"}  # and the other form of a verb: `enabling` as `enables`


def stems(text: str) -> set[str]:
    return {word[:3] for word in re.findall(r"\w+", text.lower())}


@given(TEXTS)
def test_every_candidate_has_the_words_of_the_text_and_ends_as_it_or_as_a_sentence_does(text: str) -> None:
    told = resolve(split(text))
    for each in candidates(told):
        assert stems(each.text) <= stems(text) | stems(" ".join(PUT_IN))
        assert each.kind == SENTENCE or each.text.endswith(tuple(".!?")) or each.text[-1:] == told[each.place].text[-1:]
        assert 0 <= each.start < each.end <= len(told[each.place].text)


@given(TEXTS)
def test_candidates_are_the_same_each_time(text: str) -> None:
    told = resolve(split(text))
    assert candidates(told) == candidates(told)
