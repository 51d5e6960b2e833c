"""What a sentence's first words point at, a test per rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.english.anaphora import Resolved, dangles, points_inside, resolve


@pytest.mark.parametrize(
    ("before", "sentence", "after"),
    [
        ("It gains 3%.", "These results show promise.", "The results show promise."),
        ("It gains 3%.", "This key finding holds.", "The key finding holds."),
        ("We train two agents.", "This approach halves the cost.", "The approach halves the cost."),
        ("We train a new classifier.", "This classifier is small.", "The classifier is small."),
        ("We use two tricks.", "These tricks halve the cost.", "The tricks halve the cost."),
        ("We propose STG, a framework.", "This framework is fast.", "STG is fast."),
        ("We propose STG, a framework.", "This new framework is fast.", "The new framework is fast."),
        ("We propose STG, a framework.", "This design is fast.", "The design is fast."),
        ("We propose STG, a framework.", "It is fast.", "STG is fast."),
        ("We propose a Sparse Thing (STG).", "However, it is slow.", "STG is slow."),
        ("Our system, Cut2Next, is fast.", "It uses less.", "Cut2Next uses less."),
        ("We model a cache.", "This enables speed.", "Enables speed."),
        ("We propose STG, a framework.", "This is the first one.", "STG is the first one."),
        ("We train sparse codes.", "These codes are small.", "The codes are small."),
        ("We train a sparse network.", "This network is small.", "The network is small."),
        ("We show robust cross-model guidance.", "This cross-model gain is high.", "The cross-model gain is high."),
        ("We train a sparse code.", "This code table is small.", "The code table is small."),
        ("We train a sparse code.", "This code has a table.", "The code has a table."),
        ("We train a sparse code.", "This code halves the cost.", "The code halves the cost."),
        ("We train sparse codes.", "These codes halve the cost.", "The codes halve the cost."),
        ("We train a sparse code.", "These code tables are small.", "The code tables are small."),
        ("We model a cache.", "This also saves time.", "Saves time."),
        ("But reading is not writing.", "It is a process.", "Reading is a process."),
        ("We add a cache.", "This further makes it easy to save.", "Further makes it easy to save."),
        ("Maestro uses caches.", "On ImageNet, it gains 3%.", "On ImageNet, Maestro gains 3%."),
        ("We add a cache.", "On ImageNet, this approach gains 3%.", "On ImageNet, the approach gains 3%."),
        ("Maestro uses caches.", "Its cost is low.", "Maestro's cost is low."),
        ("Federated learning (FL) has spread.", "However, it suffers.", "Federated learning suffers."),
        ("Large language models (LLMs) have grown.", "However, they fail.", "Large language models fail."),
        ("Large language models have grown.", "These models fail.", "Large language models fail."),
        ("LLMs have grown.", "These models fail.", "LLMs fail."),
        ("Existing methods use caches.", "Their cost is high.", "Existing methods' cost is high."),
    ],
)
def test_it_is_put_in_their_place(before: str, sentence: str, after: str) -> None:
    assert resolve([before, sentence])[1].text == after
    assert not dangles(after)


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("Prior work reports gains.", "These results do not hold."),
        ("Existing caches are slow.", "This approach is dear."),
        ("As Maestro Cache is easy to use, it also adds risks.", "Its design is hard to check."),
        ("Others use a cache.", "This enables speed."),
        ("We find a bias.", "This limits its use."),
        ("We find a bias.", "This makes it worse."),
        ("We use a cache.", "This can model it."),
        ("Others model a cache.", "This enables a framework."),
        ("The cost of caches is high.", "It grows."),
        ("Advances in models have helped.", "They fail."),
        ("Existing benchmarks test facts.", "These models fail."),
        ("Existing methods use models.", "These models fail."),
        ("ByDeWay uses a trick called LDP.", "Such tricks are cheap."),
        ("", "They fail."),
        ("We use a cache.", "While this helps, it costs."),
        ("We use caches.", "While efficient, these caches fail."),
        ("We use caches.", "To save time, it sleeps."),
        ("LLMs have grown.", "For caches, they fail."),
        ("We use a cache.", "With more of it, this enables speed."),
        ("We use caches.", "While they help, it is unclear why they do."),
        ("We use caches.", "As these caches grow, it is important to clean them."),
        ("Others use caches.", "This supports the proposal that caches help."),
        ("Climate adaptation requires the use of caches.", "Their cost is unknown."),
        ("We use caches.", "This issue remains."),
        ("We use two stages.", "In the second stage, caches grow."),
        ("We use two caches.", "The first one is small."),
        ("We use a first cache.", "This is the first one."),
        ("We use two stages.", "Stage 2 is slow."),
        ("We use two caches.", "First is a small one."),
        ("We use caches.", "It's slow."),
        ("We use caches.", "One such cache is slow."),
        ("Maestro uses caches.", "When used at night, it is slow."),
    ],
)
def test_what_is_not_certain_dangles(before: str, sentence: str) -> None:
    told = resolve([before, sentence])[1]
    assert told == Resolved(sentence, 1)
    assert dangles(told.text)


@pytest.mark.parametrize(
    "sentence",
    [
        "This paper proposes X.",
        "This position paper argues.",
        "It is well known that caches help.",
        "It remains unclear whether caches help.",
        "It has long been shown that caches help.",
        "Both speed and cost matter.",
        "Those who cache win.",
        "While it is known that caches help, they cost.",
        "To save time, it is best to cache.",
        "On ImageNet, this work gains 3%.",
        "Instead of caches, it uses sleep.",
        "It's unclear whether caches help.",
        "The first step towards caches is sleep.",
        "The first stage of Maestro is slow.",
        "The second-order terms vanish.",
        "When a cache sleeps, it is slow.",
        "Theses are long.",
        "Item sets are long.",
    ],
)
def test_what_only_looks_so_does_not_dangle(sentence: str) -> None:
    assert not dangles(sentence)


def test_a_name_is_handed_on_from_sentence_to_sentence() -> None:
    told = resolve(["We propose STG, a tool.", "It uses caches.", "It halves the cost."])
    assert [each.text for each in told[1:]] == ["STG uses caches.", "STG halves the cost."]
    assert [each.source for each in told] == [0, 0, 0]


def test_the_name_in_front_goes_before_one_that_is_mentioned() -> None:
    assert resolve(["ByDeWay uses a trick called LDP.", "It is cheap."])[1].text == "ByDeWay is cheap."


WORDS = st.sampled_from(
    [
        "We",
        "propose",
        "STG",
        ",",
        "a",
        "tool",
        ".",
        "It",
        "This",
        "These",
        "models",
        "They",
        "is",
        "are",
        "LLMs",
        "(LLMs)",
        "we",
    ]
)


@given(st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=5))
def test_every_word_that_is_put_in_stands_in_a_sentence_before(sentences: list[str]) -> None:
    for at, told in enumerate(resolve(sentences)):
        words = " ".join(sentences[: at + 1]).split()
        known = {"The", *words, *(word[:1].upper() + word[1:] for word in words)}
        for word in told.text.split():
            assert {word, word.removesuffix("'s"), word.removesuffix("'")} & known


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("Search agents answer questions.", "Training these agents is dear."),
        ("It builds night caches.", "We test whether these caches fail."),
        ("They rely on night caches.", "Making such caches is dear."),
        ("Others use night models.", "Training these models is dear."),
        ("We use night models.", "Training these models is dear."),
        ("We propose a night protocol.", "Using this protocol, it wins."),
        ("LLM caches are slow.", "Making these caches is dear."),
        ("It needs several night caches.", "Two such caches fail."),
        ("We build 10 key night caches.", "Making these caches is dear."),
        ("It serves as main night cache.", "Using this cache, it wins."),
        ("It has two large night caches.", "Making these caches fail."),
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
def test_words_inside_a_sentence_stay_as_they_are(before: str, sentence: str) -> None:
    behind_the_first = sentence.partition(" ")[2]
    assert resolve([before, sentence])[-1].text.endswith(behind_the_first)


def test_a_sentence_that_borrows_nothing_is_told_by_itself() -> None:
    told = resolve(["It builds night caches.", "However, making these caches is dear."])
    assert told[1] == Resolved("Making these caches is dear.", 1)


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
BESIDE = st.lists(
    st.sampled_from(["night", "Maestro", "LLM", "large", "the", "two", "and", ",", "trains", "long-term", "3"]), max_size=4
)


@given(st.sampled_from(["It builds", "They rely on", "We use", ""]), BESIDE, BESIDE, NOUN, POINTING)
def test_no_word_comes_in_from_the_sentence_before(
    begun: str, which: list[str], rest: list[str], noun: str, pointing: str
) -> None:
    text = f"Making {pointing} {noun} sleep is dear."
    assert resolve([" ".join([*begun.split(), *which, noun, *rest]) + ".", text])[1].text == text


@given(st.lists(st.sampled_from(["night", "deep", "LLM", "long-term"]), min_size=1, max_size=4, unique=True), NOUN, POINTING)
def test_whatever_says_which_they_are_stays_where_it_stands(which: list[str], noun: str, pointing: str) -> None:
    text = f"Making {pointing} {noun} is dear."
    assert resolve([f"It builds {' '.join(which)} {noun}.", text])[1] == Resolved(text, 1)


def test_these_methods_are_existing_ones_where_the_sentence_before_says_so_of_others() -> None:
    told = resolve(["Recent studies prune large networks by hand.", "However, these methods suffer from noise."])
    assert told[1] == Resolved("Recent methods suffer from noise.", 0)
    own = resolve(["We compare them with existing tools.", "These methods suffer from noise."])
    assert dangles(own[1].text)


def test_an_adjective_that_ends_as_a_plural_does_is_not_what_they_are() -> None:
    told = resolve(["Numerous cache policies can save misses.", "They may lose what is read again."])
    assert told[1].text != "Numerous may lose what is read again."
    assert dangles(told[1].text) or told[1].text.startswith("Numerous cache policies ")
