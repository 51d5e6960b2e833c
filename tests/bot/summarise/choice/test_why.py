"""Which words of an abstract are shown as why it matters: a consequence or an importance, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import Item, Kind
from bot.summarise.choice.candidates import MOST_WORDS, candidates
from bot.summarise.choice.scoring import WHY
from bot.summarise.choice.why import (
    KINDS,
    SHIPPED,
    Why,
    features,
    find_why,
    forms_of,
    kinds,
    may_be_shown,
    read_weights,
    sentences_asked,
    signs,
)
from bot.summarise.english.anaphora import Resolved, resolve
from bot.summarise.extractive import extract
from tests.effort import effort

BODY = (
    "Existing caches remain expensive and difficult to size.",
    "We propose Tidy, a cache that predicts its own size.",
    "It uses a small model that is trained on access traces.",
    "Experiments show that Tidy reduces misses by 31% over the best baseline.",
)


def why(*sentences: str) -> Why | None:
    told = resolve(sentences)
    return find_why(told, candidates(told))


@pytest.mark.parametrize(
    ("last", "shown"),
    [
        pytest.param(
            "Our results reveal security vulnerabilities of caches that could enable attackers to steal sensitive data from "
            "hospitals.",
            "The results reveal security vulnerabilities of caches that could enable attackers to steal sensitive data from "
            "hospitals.",
            id="whole",
        ),
        pytest.param(
            "Our results enable hospitals to run large caches without an operator, reducing costs and energy consumption.",
            "The results enable hospitals to run large caches without an operator, reducing costs and energy consumption.",
            id="what it lets somebody do",
        ),
        pytest.param(
            "These findings highlight a potential vulnerability in urban vision-based pedestrian surveillance systems of "
            "all large cities and could enable attackers to hide from cameras that protect public places.",
            "The findings could enable attackers to hide from cameras that protect public places.",
            id="second of its subject",
        ),
    ],
)
def test_a_consequence_is_shown(last: str, shown: str) -> None:
    found = why(*BODY, last)
    assert found is not None
    assert (found.text, found.candidate.place) == (shown, 4)


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(
            "Monitoring aerial objects is crucial for security, wildlife conservation, and environmental studies.",
            id="2506.04048",
        ),
        pytest.param(
            "Software Quality Assurance (SQA) is critical for delivering reliable, secure, and efficient software products.",
            id="2505.13766",
        ),
    ],
)
def test_the_importance_of_the_subject_is_shown_where_no_consequence_is(first: str) -> None:
    found = why(first, *BODY)
    assert found is not None
    assert found.text == first


@pytest.mark.parametrize(
    "last",
    [
        pytest.param("Code and models are available at github.com/lpiccinelli-eth/unik3d.", id="availability-2503.16591"),
        pytest.param(
            "To facilitate further research and industrial adoption, we release all intermediate datasets, models, "
            "and code to "
            "the community.",
            id="availability-2507.18100",
        ),
        pytest.param(
            "We hope this work will encourage researchers to reconsider the role of RAG and inspire the development of "
            "next-generation RAG systems.",
            id="future-2510.09106",
        ),
        pytest.param(
            "Our empirical findings indicate that, although these systems exhibit a certain degree of reliability, they "
            "remain vulnerable to specific attacks, emphasizing the need for further research in this area.",
            id="future-2505.00380",
        ),
        pytest.param(
            "More research is needed for understanding learner motivation and how instructional design can help increase "
            "their engagement and participation.",
            id="future-1608.05668",
        ),
        pytest.param(
            "Its drawbacks are that it sometimes failed to detect object under bad weather conditions like snow "
            "and failed to distinguish speed limits signs with different limit values.",
            id="limitation-1911.05626",
        ),
        pytest.param(
            "Ablation studies confirm the effectiveness of each component.",
            id="result-2603.09367",
        ),
        pytest.param(
            "Experimental results showed that M-Solomon not only surpassed the baseline without augmentation by a "
            "large margin "
            "but also outperformed the baseline that always used augmentation, providing much faster embedding latency.",
            id="result-2511.02358",
        ),
        pytest.param(
            "In particular, we design the global-local mixed attention, which captures diverse information through two "
            "perspectives and introduces a Fourier-space merging strategy to obviate deviations for efficient fusion.",
            id="method-2506.21866",
        ),
        pytest.param(
            "In addition to superior results, our approach establishes a more scalable framework for feed-forward 3D "
            "reconstruction with denser and more robust representations, paving the way for further research in wider "
            "communities.",
            id="future-2509.19297",
        ),
        pytest.param("The clinical implications of our finding need further exploration.", id="future-pubmed"),
        pytest.param(
            "With caches being increasingly used in safety-critical applications, how can an adversary cause harm?",
            id="question",
        ),
        pytest.param(
            "Although an accurate image quality metric can benefit photograph capturing, which is vital in some domains.",
            id="half a sentence",
        ),
        pytest.param(
            "Our findings underscore the urgent need for model developers to prioritize defenses against prefill attacks in "
            "open-weight LLMs.",
            id="need-2602.14689",
        ),
        pytest.param(
            "These results highlight the effectiveness of the proposed approach and its potential for real-world use.",
            id="praise",
        ),
        pytest.param("Under consideration in Theory and Practice of Logic Programming (TPLP).", id="notice-2507.16454"),
        pytest.param("Keywords: caches, memory, critical applications, safety.", id="keywords"),
    ],
)
def test_what_is_neither_is_not_shown(last: str) -> None:
    assert why(*BODY, last) is None


def test_the_other_parts_leave_its_words_alone_and_may_have_the_rest_of_its_sentence() -> None:
    text = " ".join(
        (*BODY, "Our study reveals a flaw of caches, enabling attackers to steal sensitive patient data from hospitals.")
    )
    parts = {part.name: part for part in extract(Item(key="url:a", kind=Kind.PAPER, title="Tidy", abstract=text)).parts}
    assert "steal sensitive patient data from hospitals" in parts[WHY].text
    assert all("steal" not in part.text for name, part in parts.items() if name != WHY)


def test_no_sentence_that_another_place_shows_is_taken() -> None:
    told = resolve([*BODY, "Our results enable hospitals to run large caches without an operator, reducing costs."])
    found = candidates(told)
    assert find_why(told, found) is not None
    assert find_why(told, found, without=[4]) is None


_AVAILABLE = st.builds(
    "{} {} {} {}.".format,
    st.sampled_from(["Our code", "The source code", "All data", "The dataset", "Our models", "The implementation"]),
    st.sampled_from(["is", "will be", "has been made", "is now"]),
    st.sampled_from(
        ["publicly available", "freely available", "openly released", "available online", "available upon request"]
    ),
    st.sampled_from(["for practitioners", "to help clinicians", "to enable safer systems", "for real-world use"]),
)
_LATER = st.builds(
    "{} {} {}.".format,
    st.sampled_from(
        ["We hope to", "We plan to", "In future work, we will", "Future research should", "We believe this can"]
    ),
    st.sampled_from(["enable", "help", "support", "reduce the cost of", "highlight the need for"]),
    st.sampled_from(["safer systems in practice", "clinicians and patients", "critical real-world applications"]),
)
_LISTED = st.builds(
    "{}: {}.".format,
    st.sampled_from(["Keywords", "Index terms", "Key words", "Keyword"]),
    st.lists(st.sampled_from(["safety", "critical systems", "real-time", "healthcare", "practical use"]), min_size=3).map(
        ", ".join
    ),
)


@given(st.one_of(_AVAILABLE, _LATER, _LISTED))
def test_what_is_to_be_had_what_is_to_come_and_keywords_are_never_shown(last: str) -> None:
    found = why(*BODY, last)
    assert found is None or found.candidate.place != len(BODY)


_FORMS = 3  # letters that two forms of a word have in common: `paving`, `paves`
_SUBJECTS = st.sampled_from(["These results", "Our findings", "This framework", "The study"])
_FIRST = st.sampled_from(["highlight critical limits of caches", "reveal a risk for banks", "show how caches fail"])
_THEN = st.sampled_from([" and underscore the need for", ", emphasizing the need for", ", enabling", ", paving the way for"])
_WHAT = st.sampled_from(
    ["safer caches in hospitals", "real-time use on phones", "robust defenses", "fairer decisions of banks"]
)


@given(st.builds("{} {}{} {}.".format, _SUBJECTS, _FIRST, _THEN, _WHAT))
def test_what_is_shown_is_short_and_of_the_texts_own_words(last: str) -> None:
    found = why(*BODY, last)
    if found is not None:
        own = {word.strip(".,")[:_FORMS].lower() for word in " ".join((*BODY, last)).split()}
        said = {word.strip(".,")[:_FORMS].lower() for word in found.text.split()}
        assert said <= own | {"the"}
        assert len(found.text.split()) <= MOST_WORDS


def test_what_no_word_speaks_for_is_not_looked_at() -> None:
    assert not may_be_shown("Caches are big.")
    assert find_why([], []) is None


def test_every_candidate_has_a_share_of_each_kind_and_the_shipped_weights_fit() -> None:
    told = resolve(BODY)
    found = candidates(told)
    assert kinds(told, found).shape == (len(found), len(KINDS))
    assert kinds(told, found).sum(axis=1) == pytest.approx(1)
    assert features(told, found).shape[1] == len(read_weights(SHIPPED).rows)


def test_each_form_of_a_sentence_is_told_by_as_many_signs_as_are_weighed() -> None:
    told = resolve(
        [*BODY, "These results reveal a flaw of caches and underscore the urgent need for robust defenses in banks."]
    )
    found = candidates(told)
    asked = sentences_asked(found)
    forms = forms_of(asked, found, frozenset())
    assert len({(form.sentence, form.why.text) for form in forms}) == len(forms)
    table = signs(told, asked, forms, kinds(told, asked), kinds(told, [form.why.shown for form in forms]))
    assert table.shape == (len(forms), len(read_weights(SHIPPED).signs))


def test_a_long_run_of_digits_is_told_in_time_that_grows_with_its_length() -> None:
    def work(count: int) -> float:
        told = [Resolved(f"We show that caches enable {'1' * count}.", 0)]
        return effort(lambda: features(told, candidates(told)))

    assert work(16_000) < 8 * work(4_000) + 0.01
