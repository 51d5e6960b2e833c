"""What a model wrote is held against the text that it is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.english.sentences import split
from bot.summarise.llm.grounding import MOST_WORDS, clean, faults, nearest_sentences

SOURCE = (
    "MSA reduces per-token compute by 28.4x at 1M context on a 109B-parameter model. "
    "It visits 14-47% fewer nodes for 1,000 users, and 5 percent of two kernels run on H800 GPUs. "
    "vLLM and Node.js by MiniMax serve the rest, with p < 0.05."
)


@pytest.mark.parametrize(
    "part",
    [
        "MSA cuts per-token compute 28.4× at 1M context.",
        "MSA cuts per-token compute 28.40-fold at 1 million context.",
        "A 109 billion parameter model visits 14% to 47% fewer nodes.",
        "It serves 1000 users on the H800 GPU with 5% of 2 kernels.",
        "MiniMax's vLLM serves the rest.",
        "Reducing compute per token at 1M context helps users.",
        "With Node.js the rest is served at p < 0.05.",
    ],
)
def test_a_part_in_other_words_is_grounded(part: str) -> None:
    assert faults(part, SOURCE) == []


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("MSA cuts per-token compute 28.5× at 1M context.", "the number 28.5x"),
        ("MSA cuts per-token compute by 28.4% at 1M context.", "the number 28.4%"),
        ("A 109M model visits fewer nodes.", "the number 109m"),
        ("It serves 10,000 users on kernels.", "the number 10000"),
        ("It serves three kernels for users.", "the number 3"),
        ("OpenAI serves users with fewer nodes.", "the name OpenAI"),
        ("Google reduces compute per token.", "the name Google"),
        ("It reduces compute on NVIDIA kernels.", "the name NVIDIA"),
        ("It visits fewer nodes at evil.com for context.", "the name evil.com"),
        ("Buying cheap pills makes everybody happy and healthy.", "words that the text does not have"),
        ("fewer nodes fewer nodes fewer nodes fewer nodes fewer nodes fewer nodes fewer nodes", "a repetition"),
        ("compute context kernels und die der das ist nicht mehr so wie es war als er kam und ging", "another language"),
    ],
)
def test_what_the_text_does_not_bear_out_is_found(part: str, fault: str) -> None:
    assert fault in faults(part, SOURCE)


def test_links_mentions_and_markup_are_stripped() -> None:
    text = "See [this](http://evil.example/x) @everyone <!here> <@U123> **bold** `code` https://a.b/c now: p < 0.05."
    assert clean(text) == "See this everyone bold code now: p < 0.05."


def test_at_most_two_sentences_and_sixty_words_are_kept() -> None:
    assert clean("One is here. Two is here. Three is here.") == "One is here. Two is here."
    assert len(clean("word " * 500).split()) == MOST_WORDS + 1


def test_an_address_inside_a_word_mentions_nobody() -> None:
    assert "@" not in clean("Ask a@everyone and @here.")
    assert clean("It gains 3 points mAP@50.") == "It gains 3 points mAP@50."


def test_hidden_characters_are_stripped() -> None:
    assert clean("It \u202eworks\u202c well\u200b.") == "It works well."


def test_quotes_are_the_nearest_sentences_of_the_source() -> None:
    sentences = split(SOURCE)
    assert nearest_sentences("Only 5% of two kernels run on the H800.", sentences) == (sentences[1],)
    assert nearest_sentences("It serves the rest. It reduces per-token compute.", sentences) == (sentences[0], sentences[2])
    assert nearest_sentences("Nothing alike.", ["Other words entirely"]) == ()


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_makes_it_fail(part: str, source: str) -> None:
    faults(part, source)
    nearest_sentences(part, split(source))
    assert len(clean(part).split()) <= MOST_WORDS + 1


@given(st.lists(st.sampled_from(split(SOURCE)), min_size=1, max_size=2, unique=True))
def test_the_source_bears_itself_out(sentences: list[str]) -> None:
    assert faults(" ".join(sentences), SOURCE) == []


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("Tidy cuts misses by thirty-one percent.", False),
        ("Tidy cuts misses by forty percent.", True),
        ("Tidy cuts misses by eighty-five percent.", True),
        ("Tidy cuts the misses of fifteen caches.", True),
    ],
)
def test_a_number_in_words_is_held_against_the_figures(said: str, wrong: bool) -> None:
    assert bool(faults(said, "Tidy cuts the misses of 16 caches by 31%.")) is wrong


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("RL trains the policy.", False),  # usual, and its words stand in the source
        ("RLHF trains the policy.", True),
        ("An HMM explains the policy.", False),  # three letters of words that follow one another
        ("An HM explains the policy.", True),  # two letters fit the words of almost any text
        ("The policy runs on TP hardware.", True),
        ("QA trains the policy.", True),
    ],
)
def test_initials_are_a_name_of_the_text_only_where_they_say_enough(said: str, wrong: bool) -> None:
    source = "Reinforcement learning trains the policy, which a hidden Markov model explains on plain hardware."
    assert bool(faults(said, source)) is wrong


@pytest.mark.parametrize("word", ["Instead", "Fifteen", "Requests", "Far", "Users"])
def test_an_ordinary_word_that_begins_a_sentence_is_no_name(word: str) -> None:
    assert not [fault for fault in faults(f"{word} of per-token compute.", SOURCE) if "name" in fault]


def test_an_escaped_percent_sign_and_both_are_read() -> None:
    source = "Both caches cut the misses by 31\\%."
    assert faults("The two caches cut the misses by 31%.", source) == []
