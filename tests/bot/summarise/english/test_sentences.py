"""Sentence splitting, a test per rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.english.sentences import lower_case_names, split
from tests.effort import effort
from tests.fakes.edition import items


@pytest.mark.parametrize(
    ("rule", "text", "sentences"),
    [
        ("a full stop and a capital", "We use GPUs. We win.", ["We use GPUs.", "We win."]),
        ("a decimal", "It gains 2.5 points. Good.", ["It gains 2.5 points.", "Good."]),
        ("a decimal cut in two", "It reaches 77. 7% on two sets. Good.", ["It reaches 77. 7% on two sets.", "Good."]),
        ("a leading decimal", "It costs .5 cents more. Good.", ["It costs .5 cents more.", "Good."]),
        ("e.g.", "Some, e.g. X, win. Others do not.", ["Some, e.g. X, win.", "Others do not."]),
        ("i.e.", "The best, i.e. Adam, wins.", ["The best, i.e. Adam, wins."]),
        ("vs.", "We test A vs. B here.", ["We test A vs. B here."]),
        ("et al. with a year", "As in Smith et al. (2020) we act.", ["As in Smith et al. (2020) we act."]),
        ("et al. at the end", "It follows Smith et al. We extend it.", ["It follows Smith et al.", "We extend it."]),
        ("a figure", "See Fig. 2 and Figs. 3. Then stop.", ["See Fig. 2 and Figs. 3.", "Then stop."]),
        ("an equation", "Use Eq. (3) and Eqs. 4-5 here.", ["Use Eq. (3) and Eqs. 4-5 here."]),
        ("a section in Roman numbers", "Sec. IV shows it.", ["Sec. IV shows it."]),
        ("No. before a number", "Task No. 5 is hard.", ["Task No. 5 is hard."]),
        ("no. at the end", "Is it? No. We tried.", ["Is it?", "No.", "We tried."]),
        ("etc. inside", "Apples, pears, etc. are fruit.", ["Apples, pears, etc. are fruit."]),
        ("etc. at the end", "Apples, pears, etc. We like them.", ["Apples, pears, etc.", "We like them."]),
        ("a title", "Dr. Smith agrees.", ["Dr. Smith agrees."]),
        ("the U.S.", "In the U.S. Senate it failed. It is over.", ["In the U.S. Senate it failed.", "It is over."]),
        ("initials", "By J. Smith and R. A. Fisher alone.", ["By J. Smith and R. A. Fisher alone."]),
        ("a letter that is no initial", "It is of class C. We know.", ["It is of class C.", "We know."]),
        ("a version", "Use v1.2.3 or Python 3. Then go.", ["Use v1.2.3 or Python 3.", "Then go."]),
        ("a URL", "See https://a.b/c.d?e=1. We end.", ["See https://a.b/c.d?e=1.", "We end."]),
        ("an ellipsis inside", "From A ... to B it goes.", ["From A ... to B it goes."]),
        ("an ellipsis at the end", "It stopped... We went on.", ["It stopped...", "We went on."]),
        (
            "a lower-case word after an unknown abbreviation",
            "Use approx. ten, incl. spares.",
            ["Use approx. ten, incl. spares."],
        ),
        ("a mixed-case name first", "It serves. vLLM is fast.", ["It serves.", "vLLM is fast."]),
        ("a lower-case name first", "We propose nomp: a tool. nomp is fast.", ["We propose nomp: a tool.", "nomp is fast."]),
        ("a bracket", "It is (see Table 1. Note this.) so.", ["It is (see Table 1. Note this.) so."]),
        ("a bracket around the whole", "It works. (See below.) Fine.", ["It works.", "(See below.)", "Fine."]),
        ("a quotation", "He said “stop.” We stopped.", ["He said “stop.”", "We stopped."]),
        ("a citation after the stop", "It is known.[3] We use it.", ["It is known.[3]", "We use it."]),
        ("a formula", "With $a. B$ it is so. Done it is.", ["With $a. B$ it is so.", "Done it is."]),
        ("TeX's hard space", "See Fig.~2 and Eq.\\ (3) now.", ["See Fig.~2 and Eq.\\ (3) now."]),
        ("no space after the stop", "It gains much.We show it.", ["It gains much.", "We show it."]),
        ("no space, but an identifier", "Call torch.nn.We is no word.", ["Call torch.nn.We is no word."]),
        ("bullets", "- one two\n- three four", ["- one two", "- three four"]),
        ("numbered points", "1. We do. 2. We win.", ["1. We do.", "2. We win."]),
        ("a blank line", "A heading\n\nThe text", ["A heading", "The text"]),
        ("a line break alone", "One long\nsentence here.", ["One long\nsentence here."]),
        ("Chinese", "这是第一句。这是第二句！", ["这是第一句。", "这是第二句！"]),
        ("an exclamation in a name", "On Yahoo! Answers it works.", ["On Yahoo! Answers it works."]),
        ("a digit first", "It is old. 3D models help.", ["It is old.", "3D models help."]),
        ("a dash goes on", "Is it so? — yes, it is.", ["Is it so? — yes, it is."]),
        ("all capitals", "WE PROPOSE IT. IT WORKS.", ["WE PROPOSE IT.", "IT WORKS."]),
        ("points in brackets", "It is good. (ii) We go. (b) Can it?", ["It is good.", "(ii) We go.", "(b) Can it?"]),
        ("an arXiv id", "See arXiv:2401.01234. We win.", ["See arXiv:2401.01234.", "We win."]),
        ("a model's version", "Use Llama 3.1 405B. We win.", ["Use Llama 3.1 405B.", "We win."]),
        ("a name with a stop", "Node.js is slow. .NET is fast.", ["Node.js is slow.", ".NET is fast."]),
        ("et al. with a possessive", "See Smith et al.'s work. We win.", ["See Smith et al.'s work.", "We win."]),
        ("a degree", "He has a Ph.D. and wins.", ["He has a Ph.D. and wins."]),
        ("theorems", "Use Alg. 1, Def. 2 and Lem. A.1. We win.", ["Use Alg. 1, Def. 2 and Lem. A.1.", "We win."]),
        ("i.i.d.", "It takes i.i.d. data. We win.", ["It takes i.i.d. data.", "We win."]),
        ("w.r.t.", "It wins w.r.t. cost. We win.", ["It wins w.r.t. cost.", "We win."]),
        ("a percentage at the end", "It reaches 95.2%. We win.", ["It reaches 95.2%.", "We win."]),
        ("a letter before a formula", "Take A and B. $O(n)$ is best.", ["Take A and B.", "$O(n)$ is best."]),
        ("citations before the stop", "It is known [1, 2]. We win.", ["It is known [1, 2].", "We win."]),
        ("a quotation mark after the stop", 'It is "good." We win.', ['It is "good."', "We win."]),
        ("two marks", "Was it so?! We win.", ["Was it so?!", "We win."]),
        ("no white space and a comma", "We add data.However, it costs.", ["We add data.", "However, it costs."]),
        ("no white space before the code", "It is competitive.Code is ours.", ["It is competitive.", "Code is ours."]),
        ("a path with a capital", "Use torch.Tensor, then go.", ["Use torch.Tensor, then go."]),
        ("milliseconds at the end", "It takes 146 ms. The rest waits.", ["It takes 146 ms.", "The rest waits."]),
        ("a title", "We thank Ms. Smith and Dr. Jones.", ["We thank Ms. Smith and Dr. Jones."]),
        ("an abbreviation in a bracket", "It does (cf. Sec. 2). We win.", ["It does (cf. Sec. 2).", "We win."]),
        ("nothing", "  \n ", []),
    ],
)
def test_the_rule(rule: str, text: str, sentences: list[str]) -> None:
    assert split(text) == sentences, rule


def test_the_names_in_lower_case_are_those_that_the_text_introduces() -> None:
    assert lower_case_names("We present nomp: a tool, and a library called jaxline.") == {"nomp", "jaxline"}
    assert lower_case_names("We present detailed models.") == frozenset()


def test_every_abstract_of_the_edition_falls_into_whole_sentences() -> None:
    for item in items():
        sentences = split(item.abstract)
        assert all(len(sentence.split()) >= 4 for sentence in sentences)
        assert " ".join(sentences) == item.abstract


@given(st.text(alphabet=st.sampled_from('aAbB1 .!?()[]$\n\t"“”…。,-*vé'), max_size=200))
def test_no_character_is_lost_and_none_is_made_up(text: str) -> None:
    sentences = split(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    at = 0
    for sentence in sentences:
        at = text.index(sentence, at) + len(sentence)


@pytest.mark.parametrize("piece", ["(", "$", "a. ", ".", "[1] ", "A.", "\n- ", "“", "1.", "(a. b) ", "a" * 50 + ".We "])
def test_a_hostile_text_takes_not_much_longer_than_a_plain_one_of_its_length(piece: str) -> None:
    plain = "We propose a cache. However, it costs 31% of memory. " * 1000
    hostile = piece * (40_000 // len(piece))
    assert effort(lambda: split(hostile)) < 200 * effort(lambda: split(plain[:40_000]))


def test_an_address_at_the_end_stands_by_itself() -> None:
    text = "It suffices for synthesis. https://github.com/Lab/Fast."

    assert split(text) == ["It suffices for synthesis.", "https://github.com/Lab/Fast."]


@pytest.mark.parametrize(
    "line",
    [
        "Keywords: Grounded theory; Vector embeddings; Multi agent systems",
        "KEYWORDS: method development, reuse, software components .",
        "Key words and phrases: matching, caliper.",
        "Index Terms—caches, memory",
        "Index Terms: WaveNet, vocoder, voice conversion",
        "Keywords- Adaptive Filtering, LMS Algorithm",
        "Categories and Subject Descriptors: C.4 [Performance]",
        "CCS Concepts: Software and its engineering",
    ],
)
def test_a_line_of_keywords_is_no_sentence(line: str) -> None:
    assert split(f"We keep pages. They are small. {line}") == ["We keep pages.", "They are small."]
    assert split(f"We keep small pages {line}") == ["We keep small pages"]


@pytest.mark.parametrize(
    "text",
    [
        "We define 6G with four keywords: intelligent, deep, holographic and ubiquitous connectivity.",
        "Keywords are what people search for.",
        "It sorts by index terms: the rarer first.",
        "Keywords-based search is slow.",
    ],
)
def test_a_sentence_about_keywords_stays(text: str) -> None:
    assert split(text) == [text]
