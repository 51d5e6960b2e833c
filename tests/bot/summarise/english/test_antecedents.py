"""What `these models` are, in the middle of a sentence, a test per rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.english.anaphora import Told, explained
from bot.summarise.english.antecedents import named_inside, points_inside


@pytest.mark.parametrize(
    ("before", "sentence", "after"),
    [
        ("Search agents answer questions.", "Training these agents is dear.", "Training search agents is dear."),
        ("It builds night caches.", "We test whether these caches fail.", "We test whether the night caches fail."),
        ("They rely on night caches.", "Making such caches is dear.", "Making night caches is dear."),
        ("Others use night models.", "Training these models is dear.", "Training night models is dear."),
        ("We use night models.", "Training these models is dear.", "Training the night models is dear."),
        ("We propose a night protocol.", "Using this protocol, it wins.", "Using the night protocol, it wins."),
        ("LLM caches are slow.", "Making these caches is dear.", "Making LLM caches is dear."),
        ("It needs several night caches.", "Two such caches fail.", "Two night caches fail."),
        ("We build 10 key night caches.", "Making these caches is dear.", "Making the night caches is dear."),
        ("It serves as main night cache.", "Using this cache, it wins.", "Using the night cache, it wins."),
        ("It has two large night caches.", "Making these caches fail.", "Making the large night caches fail."),
    ],
)
def test_they_are_called_what_the_sentence_before_calls_them(before: str, sentence: str, after: str) -> None:
    assert named_inside(sentence, before) == after


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("It builds caches.", "Making these caches is dear."),
        ("It builds night caches and day caches.", "Making these caches is dear."),
        ("It builds small and night caches.", "Making these caches is dear."),
        ("It builds large caches.", "Making these caches is dear."),
        ("It obtains caches.", "Making these caches is dear."),
        ("Night caches are slow.", "Making these caches is dear."),
        ("It builds night caches.", "Caches are dear, and these caches more so."),
        ("It builds night caches.", "Making these is dear."),
        ("It is a dense night space.", "Within this dense place, it wins."),
        ("It builds a night cache.", "Making these caches is dear."),
        ("It builds LLM caches.", "On ImageNet, making these caches is dear."),
        ("It goes through night.", "It achieves this through sleep."),
        ("", "Making these caches is dear."),
        ("They can violate safety constraints.", "We read such constraints."),
        ("It processes 2 million clips.", "We cut these clips."),
        ("They often violate safety constraints.", "We read such constraints."),
        ("They fail to violate safety constraints.", "We read such constraints."),
        ("Models that violate safety constraints fail.", "We read such constraints."),
        ("Since models are large, they may inherit cognitive biases.", "It shows when LLMs exhibit such biases."),
        ("Recent advances formalize network sheaves.", "It is an instance of such sheaves."),
        ("Recent methods retrieve code snippets.", "We read these snippets."),
        ("LLMs retrieve code snippets.", "We read these snippets."),
        ("Such communities retrieve code snippets.", "We read these snippets."),
        ("Nets (ViTs) - especially feature foundation models like DINO - win.", "It leads to these models failing."),
        ("Nets, such as the night models, win.", "It leads to these models failing."),
        ("Nets, including night models, win.", "It leads to these models failing."),
        ("Nets like night models win.", "It leads to these models failing."),
        ("Nets (in some of the night models) win.", "It leads to these models failing."),
    ],
)
def test_what_is_not_certain_stays(before: str, sentence: str) -> None:
    assert named_inside(sentence, before) is None


def test_the_sentence_that_names_them_is_told() -> None:
    told = explained(["It builds night caches.", "However, making these caches is dear."])
    assert told[1] == Told("Making the night caches is dear.", 0)


@pytest.mark.parametrize(
    "sentence",
    [
        "Making these caches is dear.",
        "Others address this by sleeping.",
        "Realizing its full potential is hard.",
        "Due to their cost, caches are rare.",
        "Sleep mitigates such problems.",
    ],
)
def test_what_points_out_of_its_sentence_from_inside_is_known(sentence: str) -> None:
    assert points_inside(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Caches are slow, and making these caches is dear.",
        "Cached models such as night models are slow.",
        "It wins in this paper.",
        "Those who sleep win.",
        "Caches lose their data.",
        "It is slow this year.",
    ],
)
def test_what_points_at_its_own_words_or_at_nothing_does_not(sentence: str) -> None:
    assert not points_inside(sentence)


NOUN = st.sampled_from(["caches", "models", "agents", "papers"])
POINTING = st.sampled_from(["these", "such"])
WORDS = st.lists(
    st.sampled_from(["night", "Maestro", "LLM", "large", "the", "two", "and", ",", "trains", "long-term", "3"]), max_size=4
)


@given(st.sampled_from(["It builds", "They rely on", "We use", ""]), WORDS, WORDS, NOUN, POINTING)
def test_no_word_comes_in_that_stands_nowhere(
    begun: str, which: list[str], rest: list[str], noun: str, pointing: str
) -> None:
    before = " ".join([*begun.split(), *which, noun, *rest]) + "."
    text = f"Making {pointing} {noun} sleep is dear."
    named = named_inside(text, before) or text
    assert set(named.split()) <= {"the", *text.split(), *before.split(), *before.lower().split()}
    assert (named[:7], named[-len(f" {noun} sleep is dear.") :]) == ("Making ", f" {noun} sleep is dear.")


@given(st.lists(st.sampled_from(["night", "deep", "LLM", "long-term"]), min_size=1, max_size=4, unique=True), NOUN, POINTING)
def test_whatever_says_which_they_are_is_put_in_whole(which: list[str], noun: str, pointing: str) -> None:
    named = named_inside(f"Making {pointing} {noun} is dear.", f"It builds {' '.join(which)} {noun}.") or ""
    assert named.replace(" the ", " ") == f"Making {' '.join(which)} {noun} is dear."
