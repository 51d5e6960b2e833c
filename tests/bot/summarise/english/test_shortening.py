"""Shorter statements of a sentence: complete, and made of its words alone."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.summarise.english.shortening import fullest, statements, within
from tests.conftest import tries
from tests.effort import effort


def told(sentence: str, most: int = 18) -> list[str]:
    return [each.text for each in sorted(statements(sentence, most), key=lambda each: each.cost)]


def best(sentence: str, most: int = 18) -> str:
    return next(iter(told(sentence, most)), "")


@pytest.mark.parametrize(
    ("sentence", "short"),
    [
        ("Tidy halves the misses of caches.", "Tidy halves the misses of caches."),
        (
            "By counting what is read again, the authors propose a cache that knows its own size.",
            "Proposes a cache that knows its own size.",
        ),
        (
            "Tidy reduces the misses by 31%, which makes it possible to serve twice as many people from one machine.",
            "Tidy reduces the misses by 31%.",
        ),
        ("Tidy, a cache of caches, reduces the misses by 31%.", "Tidy reduces the misses by 31%."),
        ("Tidy (a cache of caches) reduces the misses by 31%.", "Tidy reduces the misses by 31%."),
    ],
)
def test_what_leads_to_it_what_stands_beside_it_and_what_follows_goes(sentence: str, short: str) -> None:
    assert short in told(sentence)


def test_the_cheapest_form_of_a_finding_is_the_finding() -> None:
    assert (
        best("Experiments on five machines show that Tidy reduces the misses by 31%.") == "Tidy reduces the misses by 31%."
    )


@pytest.mark.parametrize(
    "lost",
    [
        "Tidy reduces the misses by 31%, but it needs twice the memory of the caches that were known before it.",
        "Tidy reduces the misses by 31% if the prompt is short enough to be held by one of the many machines of the house.",
    ],
)
def test_what_limits_or_turns_against_the_sentence_is_not_cut_off(lost: str) -> None:
    for short in told(lost):
        assert {"but", "if"} & set(short.split()) or "31%" not in short


def test_of_not_only_a_but_also_b_either_both_are_told_or_a_alone() -> None:
    both = "Tidy not only reduces the misses of all of the many machines of the house by 31%, but also saves memory."
    assert "Tidy reduces the misses of all of the many machines of the house by 31%." in told(both)
    assert not any("not only" in short and "but" not in short for short in told(both))


@pytest.mark.parametrize(
    ("sentence", "lost"),
    [
        (
            "Tidy sizes its pages in conjunction with a table of all prompts that were read by the many readers.",
            "conjunction.",
        ),
        ("Tidy was written in response to the growing number of machines that share one memory in the house.", "response."),
        ("Tidy runs on par with the best caches that were written by hand for the many machines of the house.", "par."),
        ("Tidy learns the size of its pages purely through the prompts that were read on the machines before.", "purely."),
        (
            "Tidy is for most of its readers an alternative to all of the caches that were written by hand before.",
            "alternative.",
        ),
        (
            "Tidy beats all caches of the house on the long prompts - even those of readers - in speed at night.",
            "readers -.",
        ),
        ("Tidy shows on the prompts of the house gains of 3% in speed, 4% in memory, and 5% in the use of power.", "3%."),
    ],
)
def test_no_statement_ends_where_its_last_words_ask_for_more(sentence: str, lost: str) -> None:
    assert not any(short.endswith(lost) for short in told(sentence))


@pytest.mark.parametrize(
    ("sentence", "short"),
    [
        (
            "Proposes Tidy, a cache for long prompts that serves all of the many machines of the house by its pages.",
            "Proposes Tidy, a cache for long prompts.",
        ),
        (
            "Tidy reduces the misses of long prompts by 31% and improves the use of memory on all machines at night.",
            "Tidy reduces the misses of long prompts by 31%.",
        ),
        (
            "Presents Tidy: a new cache for the long prompts of many readers, which sizes its pages by what is read.",
            "Presents Tidy: a new cache for the long prompts of many readers.",
        ),
        (
            "Presents Tidy, a cache tailored for long prompts, centered on the pages that many readers read at night.",
            "Presents Tidy, a cache tailored for long prompts.",
        ),
    ],
)
def test_what_is_said_second_or_of_what_is_proposed_can_go(sentence: str, short: str) -> None:
    assert short in told(sentence)


def test_a_list_a_pair_and_a_bracket_stay_whole() -> None:
    listed = "Tidy serves prompts, pictures, and long videos of people who sing in the many rooms of the house at night."
    assert not any(short.endswith(("prompts.", "pictures.")) for short in told(listed))
    ranged = "Tidy raises the score on all of the benchmarks of the house from 31% of the prompts to 75% of them at night."
    assert not any("from" in short and "75" not in short for short in told(ranged))
    quoted = 'Tidy answers "who reads this, and when" in all of the many rooms of the house, and nobody waits for it.'
    assert all(short.count('"') in (0, 2) for short in told(quoted))


def test_a_verb_keeps_its_object_and_a_person_what_he_is_allowed_to_do() -> None:
    told_of = told("Proposes Tidy, a framework that allows users to adjust the size of each cache with numbers.")
    assert not any(short.endswith("users.") for short in told_of)
    shown = told("The hybrid framework that has been proposed has demonstrated through testing that it is good.")
    assert not any(short.endswith("demonstrated.") for short in shown)


@pytest.mark.parametrize(
    "sentence",
    [
        "The results indicate that while old models keep the gender of those who speak, newer models lose it at once.",
        "The authors posit that they can find more heuristics if they augment the known ones with the words of a model.",
        "The design provides a way to inject edges, soften noise through a loss of many terms, and write it at night.",
        "Introduces a new task, which requires an agent to predict the place and the time of each of the many events there.",
        "Demonstrates that Tidy makes maps from videos that are infeasible for other programs on one machine of that size.",
        "Presents a framework built on three tightly coupled components: evolving cognition, decisions, and memory.",
        "Enterprise data reveals a gap: while 75% plan agentic AI deployment within two years, deployment has surged.",
        "Finds a hard ceiling: standard RAG accuracy peaks at 60%, far surpassing all else yet well below the bound.",
        "Posits that reversing the paths – the planning, reasoning, and debugging steps – behind them provides a signal.",
        "The authors compare a cache that is built on counting what is read again against the known ones of three houses.",
    ],
)
def test_what_would_be_half_a_clause_is_no_statement(sentence: str) -> None:
    halves = ("newer models", "augment the known ones", "soften noise", "to predict", "infeasible", "those who speak")
    for half in (*halves, "evolving cognition", "deployment", "peaks", "debugging steps", "counting what is read again"):
        assert not any(short.removesuffix(".").endswith(half) for short in told(sentence, 19))


def test_what_is_endless_has_no_shorter_form_and_takes_no_longer_for_it() -> None:
    plain = "Tidy reduces the misses of the caches by 31%, which helps all of the others; " * 15
    once = effort(lambda: told(plain), tries=1)
    for hostile in ("a, " * 390, "that show " * 110, "(" * 1190, "by doing it, " * 90, "x" * 1190, "of the, a " * 115):
        assert effort(lambda text=hostile: told(text), tries=1) < 20 * once  # type: ignore[misc]
    assert told("(" * 1_000_000) == []


_WORDS = st.sampled_from(
    [
        "the",
        "Tidy",
        "cache",
        "which",
        "by",
        "reduces",
        ",",
        ";",
        "(",
        ")",
        "and",
        "that",
        "show",
        "experiments",
        "31%",
        "on",
        "with",
        "to",
        "not",
        "only",
        "but",
        "is",
        "a",
        "—",
        "results",
        "from",
    ]
)


@settings(deadline=None, max_examples=tries(300))
@given(st.lists(_WORDS, max_size=60), st.integers(3, 40))
def test_every_form_is_short_and_of_the_words_of_its_sentence(words: list[str], most: int) -> None:
    sentence = " ".join(words)
    own = set(re.findall(r"\w+", sentence.lower()))
    for short in told(sentence, most):
        assert len(short.split()) <= most
        assert {word[:4] for word in re.findall(r"\w+", short.lower())} <= {word[:4] for word in own}


@pytest.mark.parametrize(
    ("sentence", "first"),
    [
        (
            "Most existing models face two major limitations: they rely on the Big Five framework, and they ignore years.",
            "rely on",
        ),
        (
            "SAGE has three key components: a Trigger module that detects failures in real time, a Planner, and a Judge.",
            "Trigger",
        ),
        (
            "The study reveals two key findings: caches need sleep; tables run at noon, which nobody had seen before.",
            "need sleep",
        ),
        (
            "The cache needs three parts: a clock that runs, orders and stops; a table that grows, which helps; a lock.",
            "clock",
        ),
        (
            "The method rests on several ideas: a cache that sizes itself by counting, a table that grows, and a clock.",
            "sizes itself",
        ),
    ],
)
def test_of_an_announced_list_no_half_is_shown(sentence: str, first: str) -> None:
    assert [text for text in told(sentence, 25) if first in text and not re.search(r", and|; a lock|; tab", text)] == []


def test_what_stands_behind_a_whole_list_may_go() -> None:
    sentence = "The study reveals two key findings: caches need sleep; tables run at noon, which nobody had seen before."
    assert "The study reveals two key findings: caches need sleep; tables run at noon." in told(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Caches of long prompts offer a way to much faster answers for users, but their worth remains unclear.",
        "Caches have shown remarkable speed on prompts; however, their worth in systems remains insufficiently studied.",
        "Applied to 20 widely used libraries, including engines, our system finds 88% of the faults.",
    ],
)
def test_what_is_left_of_a_sentence_keeps_its_turn_and_its_main_clause(sentence: str) -> None:
    assert [one.text for one in statements(sentence, 14) if one.text[:20] == sentence[:20]] == []


def test_what_would_lose_too_much_may_be_a_little_longer() -> None:
    said = (
        "Results show that Tidy halves the misses of caches in banks, shops, schools and many other homes of large machines."
    )
    assert within(said, 8, 8) == ""
    assert len(within(said, 8, 20).split()) <= 20


def test_no_shorter_form_points_at_a_sentence_that_is_not_shown_and_none_ends_with_unnamed_limitations() -> None:
    pointing = (
        "While caches are fast at night, they often require a whole day of sizing by hand on every machine of a house."
    )
    unnamed = (
        "Current caches of long prompts suffer from limitations in the sizes that they can reach on machines of a house."
    )
    assert not any(text.startswith("They") for text in told(pointing, 25))
    assert not any(text.endswith("limitations.") for text in told(unnamed, 25))


def test_what_comes_of_it_is_no_main_clause() -> None:
    sentence = (  # 2603.28342
        "On the training side, the authors convert long-horizon evolution trajectories into step-centric supervision and "
        "reinforcement learning signals by retaining correctness-preserving, high-gain revisions, so that the model is "
        "optimized as a strong local improver inside the evolutionary loop rather than as a one-shot generator."
    )
    assert not within(sentence, 25, 32).startswith("So that")


@pytest.mark.parametrize(
    ("sentence", "fragment"),
    [
        pytest.param(
            "Further analysis reveals that integrating translation training improves cross-lingual question "
            "alignment by over 10 percentage points and enhances translation quality for both mathematical "
            "questions and general-domain text, with gains up to 8.4 COMET points on FLORES-200.",
            r"^With gains",
            id="2602.05940",
        ),
        pytest.param(
            "Extensive experiments on ImageNet 256x256 and 512x512 demonstrate that our DiverseDiT yields "
            "consistent performance gains and convergence acceleration when applied to different backbones with "
            "various sizes, even when tested on the challenging one-step generation setting.",
            r"^Even when",
            id="2603.04239",
        ),
        pytest.param(
            "Methods which operate by using pairwise comparisons between machine-generated text perform well but "
            "often lack the ability to assign absolute scores to individual summaries, an ability crucial for use"
            " cases that require thresholding.",
            r"^An ability",
            id="2509.05440",
        ),
        pytest.param(
            "Existing approaches to improving reasoning typically treat it as a general and monolithic skill, "
            "applying broad training which is inefficient and unable to target specific reasoning errors.",
            r"^Applying",
            id="2603.06923",
        ),
        pytest.param(
            "In the age of large models, where energy efficiency, computational scalability and environmental "
            "sustainability are paramount, the development of lightweight and high-performance models is critical"
            " for real-world applications.",
            r"^Computational",
            id="2509.08715",
        ),
        pytest.param(
            "When drawing conclusions from a QBAF and updating the QBAF to then again draw conclusions (and so "
            "on), our approach traces changes – which we call strength inconsistencies – in the partial order "
            "over argument strengths that a semantics establishes on some arguments of interest, called topic "
            "arguments.",
            r"conclusions called",
            id="2509.18215",
        ),
        pytest.param(
            "The results demonstrate that CRB-based analysis provides a tractable and informative benchmark for "
            "evaluating activity detection across architectures, and further reveal that FASs can deliver strong "
            "spatial-diversity gains.",
            r"^CRB-based.*and further reveal",
            id="2602.11901",
        ),
        pytest.param(
            "Large language models (LLMs) have shown remarkable capabilities across various software engineering "
            "tasks; however, their effectiveness in code migration, adapting code to run in different "
            "environments, remains insufficiently studied.",
            r"migration, adapting code\.$",
            id="2506.00894",
        ),
        pytest.param(
            "Dense point trajectories are a compact, expressive motion representation, but modeling their future "
            "evolution from observed video remains challenging.",
            r"evolution\.$",
            id="2603.22606",
        ),
        pytest.param(
            "The paper clarifies the conceptual differences between digital twins and world models and highlights"
            " the shift from physics-based, centralized, and system-centric replicas to data-driven, "
            "decentralized internal models.",
            r"replicas\.$",
            id="2603.17420",
        ),
        pytest.param(
            "We introduce GAPO, a novel framework that combines GAN-based training dynamics with an encoder-only "
            "reward model to progressively learn and adapt to increasingly complex constraints.",
            r"dynamics\.$",
            id="2503.20194",
        ),
        pytest.param(
            "The approach with proprietary LLMs outperforms existing baselines while enabling small open-source "
            "LLMs (such as 3B and 8B parameters) to achieve competitive results without fine-tuning LLMs.",
            r"(?:open-source LLMs|parameters\))\.$",
            id="2510.01257",
        ),
        pytest.param(
            "Recent research leverages large language models to enhance KGQA reasoning, but faces limitations: "
            "retrieval-based methods are constrained by the quality of retrieved information, while agent-based "
            "methods rely on proprietary LLMs.",
            r"information\.$",
            id="2510.01257-limitations",
        ),
        pytest.param(
            "The method performs comparably to pairwise evaluators on the SummEval meta-evaluation benchmarks, "
            "and we release the synthetic in-context summaries as data to facilitate future work.",
            r"synthetic\.$",
            id="2509.05440-synthetic",
        ),
        pytest.param(
            "The experimental results demonstrate that the proposed solution can provide reliable feature matches"
            " for aerial and ground images with an obvious increase in the number of initial and refined matches.",
            r"increase\.$",
            id="2509.19898",
        ),
        pytest.param(
            "SCORE is an interpretation-agnostic framework that integrates (i) adjusted edit distance for robust "
            "content fidelity, (ii) token-level diagnostics to distinguish hallucinations from omissions, and "
            "(iii) table evaluation.",
            r"hallucinations\.$",
            id="2509.19345",
        ),
        pytest.param(
            "In practical scenarios, T2I systems are often run in a “generate–then–select” mode: many seeds are "
            "sampled and only a few images are kept for use.",
            r"run\.$",
            id="2603.02829",
        ),
        pytest.param(
            "The authors found that commonly used navigation metrics, such as success rate and path length, fail "
            "to tell robots.",
            r"metrics\.$",
            id="navigation metrics",
        ),
        pytest.param(
            "Resistance was lowest among carbapenems (3.2%), approached 10% in cephalosporins of the third kind, "
            "and was highest among the old penicillins that are given in hospitals.",
            r"10%\.$",
            id="resistance",
        ),
    ],
)
def test_no_form_of_a_sentence_is_a_fragment(sentence: str, fragment: str) -> None:
    assert [text for text in told(sentence, 32) if re.search(fragment, text)] == []


@pytest.mark.parametrize(
    ("sentence", "half"),
    [
        (
            (
                "On long documents, Tidies outperform standard ones across all of the scales; on the chat task, they get "
                "accuracy improvements of 10% to 20% over standard caches."
            ),
            r"10%\W*$",
        ),
        (
            "Tidy gains 35.2% over the base architecture and 26.4% over the best baseline under the same budget.",
            r"26\.4%\W*$",
        ),
        (
            "Large caches struggle to find misses, and that performance on kept traces does not predict them.",
            r"performance\W*$",
        ),
        (
            "Probes are biased by one property: the closer two words are in a sentence, the more they are linked.",
            r"sentence\W*$",
        ),
        (
            (
                "Traditional divergence tends to be dominated by the next tokens with the highest probabilities, i.e., the "
                "teacher's modes, thereby diminishing the influence of others."
            ),
            r"i\.e\W*$",
        ),
        (
            "One major limitation of previous works, stemming from the structure of language, is the lack of caches.",
            r"works\W*$",
        ),
    ],
)
def test_no_half_of_a_range_a_pair_or_a_clause_is_left(sentence: str, half: str) -> None:
    for most in range(6, 26):
        for short in told(sentence, most):
            assert not re.search(half, short)


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@settings(deadline=None, max_examples=tries(200))
@given(st.lists(_WORDS, max_size=60), st.integers(3, 40), st.sampled_from([bool, lambda text: "31%" in text]))
def test_the_fullest_form_is_the_first_of_all_that_keeps_most(
    words: list[str], most: int, wanted: Callable[[str], bool]
) -> None:
    sentence = " ".join(words)
    numbers = len(_NUMBER.findall(sentence))
    kept = [
        (len(one.text.split()) - 8 * one.cost - 6 * (numbers - len(_NUMBER.findall(one.text))), one.text)
        for one in statements(sentence, most)
        if wanted(one.text)
    ]
    assert fullest(sentence, most, wanted) == next((text for worth, text in kept if worth == max(kept)[0]), "")


_SUBJECT = st.sampled_from(
    ["Tidy", "The cache (of caches)", "Experiments on ten machines show that Tidy", "By sleeping, Tidy"]
)
_DOES = st.sampled_from(
    ["reduces the misses", "combines a cache with a table", "allows users of it to sleep", "shifts loads"]
)
_MORE = st.lists(
    st.sampled_from(
        [
            ", with gains up to 8 points on Flores",
            ", even when tested on a small machine",
            " from old to new machines",
            ", a thing crucial for use cases of banks",
            ", which (as is known) need sleep",
            ", and further reveal that tables can gain",
            "; however, its use in banks, houses of money, remains unknown",
            ", but sizing it by hand remains costly",
            " by reading (i) tables, (ii) locks and (iii) logs",
        ]
    ),
    max_size=3,
    unique=True,
)
_IN_THE_AIR = r"\b(?:of|to|for|in|on|with|by|from|at|and|or|but|which|that|than|as|the|an?|is|are|even|however)\.$"


@settings(deadline=None, max_examples=tries(200))
@given(_SUBJECT, _DOES, _MORE)
def test_every_form_of_a_sentence_is_a_sentence(subject: str, does: str, more: list[str]) -> None:
    for short in told(f"{subject} {does}{''.join(more)}.", 25):
        assert short[0].isupper()
        assert short.endswith(".")
        assert not re.search(_IN_THE_AIR, short)
        assert not re.match(r"(?:With|Even|From|A thing|Sizing|Which|And|But)\b", short)
        assert short.count("(") == short.count(")")
        assert not re.search(r"\b(\w+) \1\b", short)
        assert re.search(r"\b(?:reduces|combines|allows|shifts|remains|need|can)\b", short)
