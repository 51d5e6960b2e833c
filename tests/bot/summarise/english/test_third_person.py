"""The third person, a test per rule."""

import pytest

from bot.summarise.english.third_person import begins_with_verb, drop_us, to_third_person


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We propose X.", "Proposes X."),
        ("I propose X.", "Proposes X."),
        ("We also show that X wins.", "Shows that X wins."),
        ("We classify it.", "Classifies it."),
        ("We deploy it.", "Deploys it."),
        ("We discuss it.", "Discusses it."),
        ("We establish it.", "Establishes it."),
        ("We empirically study drift.", "Empirically studies drift."),
        ("We propose X and evaluate it on two machines.", "Proposes X and evaluates it on two machines."),
        ("We introduce our system.", "Introduces the authors' system."),
        ("We test our system.", "Tests the system."),
        ("I also argue that it wins.", "Argues that it wins."),
        ("This paper proposes a method.", "Proposes a method."),
        ("This paper shows that our method wins.", "Shows that the method wins."),
    ],
)
def test_the_verb_of_the_authors_comes_first(before: str, after: str) -> None:
    assert to_third_person(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We propose to train X and test it.", "The authors propose to train X and test it."),
        ("We propose X, which can see and evaluate it.", "The authors propose X, which can see and evaluate it."),
        ("We design, train and open-source a model.", "The authors design, train and open-source a model."),
        ("We present and openly contribute a set.", "The authors present and openly contribute a set."),
        ("We show that we can do it.", "The authors show that they can do it."),
        ("We introduce our own system.", "The authors introduce their own system."),
        ("We do not propose it.", "The authors do not propose it."),
        ("We evaluated it.", "The authors evaluated it."),
        ("It leads us to win.", "It leads the authors to win."),
        ("Data collected by us are scarce.", "Data collected by the authors are scarce."),
        ("We (i) test it and (ii) win.", "The authors (i) test it and (ii) win."),
        (
            "We theoretically and empirically show that we win.",
            "The authors theoretically and empirically show that they win.",
        ),
        ("We were able to win.", "The authors were able to win."),
        ("This paper has two parts: (1) We test it.", "This paper has two parts: (1) the authors test it."),
        ("Our results show that we lack it.", "The results show that we lack it."),
        ("We rely on the old system.", "The authors rely on the old system."),
        ("We ask: can we trust it?", "The authors ask: can we trust it?"),
        ("With X, we apply it.", "With X, the authors apply it."),
        ("Our world model wins.", "The world model wins."),
        ("We show it, as we move on.", "The authors show it, as we move on."),
        ("We hope it helps.", "The authors hope it helps."),
        ("Using X, we find Y.", "Using X, the authors find Y."),
        ("With X we see that it lets us win.", "With X we see that it lets us win."),
        ("Using X, we find that it lets us win.", "Using X, the authors find that it lets them win."),
        ("We approach this task from two sides.", "The authors approach this task from two sides."),
    ],
)
def test_the_authors_are_named_where_their_verb_cannot_come_first(before: str, after: str) -> None:
    assert to_third_person(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Our method wins.", "The method wins."),
        ("It shows that our method wins.", "It shows that the method wins."),
        ("To our knowledge, it is new.", "To the authors' knowledge, it is new."),
        ("Our previous work lost.", "The authors' previous work lost."),
        ("This report describes our approach to it.", "Describes the authors' approach to it."),
        ("Our planet warms.", "Our planet warms."),
        ("The four hours of our daily lives.", "The four hours of our daily lives."),
    ],
)
def test_what_is_theirs_is_said_so_where_it_matters(before: str, after: str) -> None:
    assert to_third_person(before) == after


@pytest.mark.parametrize(
    "sentence",
    [
        "This paper presents a method and shows that it works.",
        "We live in a world of data.",
        "We must act.",
        "It is hard, even if we were to start anew.",
        "Without it, we risk a fall.",
        "It changes the way we think.",
        "As we age, it slows.",
        "US hospitals use it.",
        "How can we trust it?",
        "We increasingly rely on it.",
        "It fails, yet we lack evidence.",
        "It brings us closer to it.",
        "Type I errors fall.",
        "It answers “I don't know”.",
        "It knows what my friend says.",
    ],
)
def test_what_speaks_of_everybody_or_of_the_paper_stays(sentence: str) -> None:
    assert to_third_person(sentence) == sentence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Using X, I argue that it wins.", "Using X, the author argues that it wins."),
        ("I have tested it.", "The author has tested it."),
        ("With X, I study it and I can see it.", "With X, the author studies it and the author can see it."),
        ("I study how it can be seen, and show the cost.", "The author studies how it can be seen, and shows the cost."),
        ("I find it and I show it.", "The author finds it and the author shows it."),
        ("I show that I tested it.", "The author shows that the author tested it."),
        ("My results are clear.", "The results are clear."),
    ],
)
def test_one_author_is_spoken_of_as_one(before: str, after: str) -> None:
    assert to_third_person(before) == after


def test_they_are_named_where_that_is_wished() -> None:
    assert to_third_person("We propose X.", by_name=True) == "The authors propose X."


def test_a_sentence_that_their_verb_begins_is_known() -> None:
    assert begins_with_verb("Proposes X.")
    assert begins_with_verb("Empirically studies drift.")
    assert not begins_with_verb("The authors propose X.")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It allows us to win.", "It makes it possible to win."),
        ("Enables us to win.", "Makes it possible to win."),
        ("It is fast, enabling us to win.", "It is fast, making it possible to win."),
        ("Caches let us win.", "Caches make it possible to win."),
        ("It helped us to win.", "It helped to win."),
        ("It provides us with a cache.", "It provides a cache."),
        ("It gives us new insights.", "It gives new insights."),
        ("It brings us closer to it.", "It brings us closer to it."),
        ("It gives us hope.", "It gives hope."),
    ],
)
def test_whom_it_helps_need_not_be_known(before: str, after: str) -> None:
    assert drop_us(before) == after


def test_a_second_verb_of_the_authors_keeps_its_subject() -> None:
    said = to_third_person("We evaluate our design on OSWorld, and retain up to 57% of the performance.")  # 2601.09923
    assert said == "The authors evaluate the design on OSWorld, and retain up to 57% of the performance."
