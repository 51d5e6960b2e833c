"""Where a sentence may end before its own end: what is left is complete."""

import pytest

from bot.summarise.english.leads import begins_clause
from bot.summarise.english.openings import strip_opening
from bot.summarise.english.shortening import statements


def ends_at(sentence: str, left: str) -> bool:
    """Whether some form of at most 30 words ends with these words."""
    return any(one.text.rstrip(".").endswith(left) for one in statements(sentence, 30))


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        pytest.param(
            "The proposed domain-specific benchmark effectively and comprehensively assesses what models are capable of.",
            "benchmark effectively",
            id="an adverb and its verb",
        ),
        pytest.param(
            "Diagnosing diseases such as sarcopenia, which involve loss of muscle, is commonly based on measurements.",
            "is commonly",
            id="2509.08580",
        ),
        pytest.param(
            "Presents BigSparse, a system that picks up where systems like X-Stream, which only store pages, left off.",
            "like X-Stream",
            id="where, without its verb",
        ),
        pytest.param(
            "Presents a framework for data that have many relations and where the population under study is small.",
            "where the population",
            id="where, inside",
        ),
        pytest.param(
            "Language models are increasingly capable of shapes, yet robust methods to evaluate their fidelity remain rare.",
            "robust methods",
            id="yet and a subject",
        ),
        pytest.param(
            "Models have emerged as policies for control, yet their performance scaling across machines remains unknown.",
            "performance scaling",
            id="yet, without its verb",
        ),
        pytest.param(
            "The observation indicates that although large models improve tasks, the distillation fails to bring a gain.",
            "improve tasks",
            id="although, without what it leads to",
        ),
        pytest.param(
            "The problem cannot be approximated within a factor greater than 1-1/e, unless P=NP, and, under "
            "the stronger gap-ETH hypothesis, the problem cannot be approximated within a factor better than "
            "1/n.",
            "gap-ETH hypothesis",
            id="1811.04331",
        ),
        pytest.param(
            "On YpathR, YpathRAG attains Recall@5 of 98.64%, a gain of 23 percentage points over the "
            "baseline; on YpathQA-M, a set of the 300 most challenging questions, it increases the accuracies "
            "of both general and medical LLMs by 9.0% on average and up to 15.6%.",
            "on YpathQA-M",
            id="2510.08603",
        ),
        pytest.param(
            "A smaller cache outperforms the larger one on every task; (b) ACL, especially CL-ACL, surpasses the baselines.",
            "(b) ACL",
            id="a second point without its verb",
        ),
        pytest.param(
            "An increase in walking speed, in the time that was spent, and in unsafe crossings resulted in shorter waiting.",
            "unsafe crossings",
            id="resulted",
        ),
        pytest.param(
            "Trains two models on the same pages, and leverages answering as a diverse testbed for vision encoders.",
            "a diverse",
            id="a noun in -ed",
        ),
        pytest.param(
            "Providers offer caching to reduce cost, and its benefits for workloads remain underexplored in the literature.",
            "workloads remain",
            id="remain",
        ),
        pytest.param(
            "The framework integrates retrieval of evidence, reasoning via models, and a prediction of what is true.",
            "evidence, reasoning",
            id="one of three",
        ),
        pytest.param(
            "The study quantifies the effect of data quantity, model size and compute on the downstream tasks of a house.",
            "model size",
            id="two of three",
        ),
        pytest.param(
            "The approach employs a multi-agent architecture: a VLM-based director that formulates prompts to "
            "guide image synthesis, a generator that synthesizes new image views, and a VLM-backed two-step "
            "verifier that evaluates generated frames.",
            "image synthesis",
            id="2603.19708",
        ),
        pytest.param(
            "Current algorithms that were trained on pages perform well on synthetic data but struggle on real ones.",
            "perform well",
            id="but fail",
        ),
        pytest.param(
            "The tool enables more precise control of motion while maintaining, or even surpassing, the quality of others.",
            "even surpassing",
            id="or even",
        ),
        pytest.param(
            "Proposes a criterion for evaluating secure compilation, expressing guarantees for software "
            "components that may become compromised after encountering undefined behavior—for example, by "
            "accessing an array out of bounds.",
            "for example",
            id="1802.00588",
        ),
        pytest.param(
            "The evidence is essential for telling whether a rule is in fact required to protect the Wi-Fi of a house.",
            "in fact",
            id="in fact",
        ),
        pytest.param(
            "Hard bins reduce the error while maintaining the segmentation, albeit with a weaker calibration than the soft.",
            "albeit",
            id="albeit",
        ),
        pytest.param(
            "Shows that the algorithms run in O(|V | + |E|) time to create an initial cover before using "
            "modularity maximization to get the final cover.",
            "cover before",
            id="1707.04459",
        ),
        pytest.param(
            "The answer to a query on the aggregated database coincides with the aggregation of the answers to all queries.",
            "coincides",
            id="coincides",
        ),
        pytest.param(
            "The result indicates that the probability of success of generating free sample points around the "
            "surface of the n dimensional configuration space obstacle is directly proportional to the "
            "surface area of the obstacles.",
            "directly proportional",
            id="1906.00136",
        ),
        pytest.param(
            "Crops are defined as the smallest spatial regions sufficient for a reliable recognition by people of a house.",
            "sufficient",
            id="sufficient",
        ),
        pytest.param(
            "NuSA-CL employs low-rank adaptation and constrains task-specific weight updates to lie within an "
            "approximate null space of the model's current parameters.",
            "to lie",
            id="2510.21175",
        ),
        pytest.param(
            "The method outperforms others with zero to twelve inliers and zero to 0.16 area under the curve on hard data.",
            "0.16 area",
            id="area under the curve",
        ),
        pytest.param(
            "In chronic pain physical rehabilitation, physiotherapists adapt movement to current performance "
            "of patients especially based on the expression of protective behavior, gradually exposing them "
            "to feared but harmless movements.",
            "exposing them",
            id="1902.08990",
        ),
        pytest.param(
            "The goal in a metric space of facilities is to assign agents to facilities as well as to choose their places.",
            "assign agents",
            id="assigned to",
        ),
        pytest.param(
            "Introduces a reasoning paradigm that transforms language models from passive solvers into active ones of use.",
            "language models",
            id="transformed from and into",
        ),
        pytest.param(
            "It is critical for the safety of every user to align models with pluralistic human values beyond the average.",
            "align models",
            id="aligned with",
        ),
        pytest.param(
            "Proposes a method for finding a policy that minimises the time per lap while keeping the vehicle "
            "on the track using a Bayesian optimisation (BO) approach over a reproducing kernel Hilbert "
            "space.",
            "the vehicle",
            id="1802.06179",
        ),
        pytest.param(
            "On the challenging Mixed Noise test set, the proposed model reduces the WER from a baseline of "
            "31.10% (Raw Whisper) to 24.84%, significantly surpassing the text-only baseline of 30.79%.",
            "(Raw Whisper)",
            id="2512.17247",
        ),
        pytest.param(
            "Current agents reason in ways that people understand, apply in their houses every day, and later learn from.",
            "later learn",
            id="a preposition at the end",
        ),
        pytest.param(
            "The authors recommend that similar assessments of LLM use in applications are conducted before any deployment.",
            "LLM use",
            id="2507.14238",
        ),
        pytest.param(
            "The proposed metric significantly outperforms prompting baselines at distinguishing between "
            "correct and incorrect context, guarding against inaccuracies introduced by polluted context.",
            "context, guarding",
            id="2510.04013",
        ),
        pytest.param(
            "The approach significantly improves both detection and topology reasoning metrics, achieving "
            "+3.1 in DET, +5.3 in TOP, +4.9 in LT, and an overall +4.4 in OLS, setting a new "
            "state-of-the-art.",
            "+5.3",
            id="2506.13553",
        ),
        pytest.param(
            "The authors propose that combining visual information and proprioception with binary, "
            "low-resolution tactile contact measurements from across the interior surface of an articulated "
            "hand mitigates this issue.",
            "contact measurements",
            id="2503.19893",
        ),
        pytest.param(
            "Introduces LayerLock, a simple yet effective approach for self-supervised visual representation "
            "learning, that gradually transitions from pixel to latent prediction through progressive layer "
            "freezing.",
            "gradually transitions",
            id="transitions from",
        ),
        pytest.param(
            "Presents Budget EAGLE, the first cross-attention-based decoder model that achieves performance on par with "
            "leading self-attention models.",
            "achieves performance",
            id="on par with",
        ),
        pytest.param(
            "The model surpasses strong baselines on every benchmark, achieving +3.1 on ImageNet and +2.2 on COCO.",
            "achieving +3.1",
            id="a figure of nothing",
        ),
        pytest.param(
            "Presents SMS, a framework that combines 3D Gaussian Splatting for scene reconstruction, visual foundation "
            "models for segmentation, vision-language models for material properties, and physics simulation.",
            "visual foundation models",
            id="one of four things, each for something",
        ),
        pytest.param(
            "The system improves the gain by up to 52.02%, consistently surpassing the fixed baseline with little to no "
            "human intervention and validating its robustness.",
            "with little",
            id="little to no",
        ),
        pytest.param(
            "Utilizes decomposition for initial unmixing, preserving the endmembers while dedicating the subsequent "
            "network to enhancing the initial abundance map.",
            "subsequent network",
            id="dedicates something to",
        ),
        pytest.param(
            "Current models perform poorly in long videos due to resource limitations that prevent them from "
            "processing all of the frames.",
            "prevent them",
            id="prevents from",
        ),
        pytest.param(
            "The fMRI results obtained through automatic skull stripping using the network closely align with those "
            "from manual skull stripping.",
            "automatic skull stripping",
            id="results obtained through",
        ),
        pytest.param(
            "Introduces ABRA, a method that transfers class-specific detection knowledge from a labeled source domain "
            "to a target domain where no training images are.",
            "source domain",
            id="transfers from",
        ),
        pytest.param(
            "Every graph has a representation in which the vertices are isothetic disjoint rectangles parallel to the "
            "plane, and the edges are visibilities.",
            "parallel",
            id="1708.06196",
        ),
        pytest.param(
            "Reveals two major takeaways: (1) models suffer from dynamics blindness, and (2) reliability in opaque "
            "systems requires grounded world modeling.",
            "reliability",
            id="2601.22130",
        ),
        pytest.param(
            "Identifies three design choices: (1) a lightweight stage, (2) a mix of harmful, harmless, and ambiguous "
            "prompts to prevent shortcuts such as refusals, and (3) a reward model to keep its reasoning.",
            "prevent shortcuts",
            id="two of three points",
        ),
    ],
)
def test_no_sentence_ends_where_a_verb_an_object_or_a_member_of_a_list_would_follow(sentence: str, left: str) -> None:
    assert not ends_at(sentence, left)


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("Tidy reduces the misses of every cache by 31%, but not on pages.", ""),
        ("Tidy reduces the misses by 31% on the pages of a house, while others need a whole day.", "of a house"),
        ("Tidy reduces the wait for a page to half of the time; caches of others need an hour for it.", "the time"),
        ("Proposes Tidy, a cache of pages that is tuned by hand on all of the machines of a large house.", "of pages"),
        ("The proposed cache reduces the misses of a large house by 31% at the cost of a little memory.", "31%"),
    ],
)
def test_what_is_complete_may_end_there(sentence: str, left: str) -> None:
    assert not left or ends_at(sentence, left)


def test_neither_whose_nor_a_participle_nor_a_count_makes_a_clause() -> None:
    assert not begins_clause("whose target-language equivalent requires a gender, the model must infer it.")  # 2507.18338
    assert not begins_clause("the quality of models trained on significantly larger datasets.")  # 2512.20000
    assert not begins_clause(
        "100+ test cases per problem, and temporal splits, the dataset enables evaluation."
    )  # 2504.14655
    assert begins_clause("models trained on pages are fast.")


@pytest.mark.parametrize(
    ("sentence", "bare"),
    [
        ("And, we introduce new labellings.", "We introduce new labellings."),
        ("In this paper,we introduce new labellings.", "We introduce new labellings."),
    ],
)
def test_what_connects_goes_with_its_comma(sentence: str, bare: str) -> None:
    assert strip_opening(sentence) == bare


def test_only_what_stands_beside_a_name_goes() -> None:
    led = (
        "Driven by the recent advancements of vision models, a novel method termed DFM-MVS, is proposed to leverage the "
        "depth model to generate a prior."
    )
    assert not any("models is proposed" in one.text for one in statements(led, 30))
    part = "RL-CMSA consistently finds (near-)best solutions and outperforms a state-of-the-art hybrid algorithm."
    assert not any("findsbest" in one.text for one in statements(part, 30))


def test_what_experiments_show_is_no_lead_and_a_second_finding_needs_no_that() -> None:
    shown = (
        "Experiments on the BioASQ set show BLEU gains of 0.09, ROUGE gains of 0.05, and accuracy gains of 0.12, with a "
        "peak accuracy of 0.89."
    )
    assert not any(one.text.startswith("ROUGE") for one in statements(shown, 30))
    found = "Demonstrates that modelling is of no added benefit, but that decoding with a lexicon can be beneficial."
    assert [one.text for one in statements(found, 30)][1:] == [
        "Modelling is of no added benefit, but decoding with a lexicon can be beneficial."
    ]
