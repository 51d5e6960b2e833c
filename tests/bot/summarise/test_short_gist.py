"""The statement under a title in a digest's list: short, whole, and the one a reader who stops there is glad of."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item, Kind
from bot.summarise.short_gist import LONGEST, ShortGist, short_gist, statements_of
from tests.conftest import tries
from tests.fakes.edition import items
from tests.fakes.works import paper, repo

ABSTRACT = (
    "Caches of long prompts outgrow the memory of one device. "
    "We propose Tidy, a cache that predicts its own size and lets go of what nobody reads again in the night. "
    "Extensive experiments on five machines show that Tidy reduces misses by 31%, which matters to all who pay for memory."
)


def of(abstract: str, *asked: str, title: str = "Tidy: a cache that predicts its own size", **given: object) -> ShortGist:
    return short_gist(replace(paper("2603.00777", title=title, abstract=abstract), **given), asked)  # type: ignore[arg-type]


def test_it_is_the_headline_result_with_its_figure_and_without_what_leads_to_it() -> None:
    told = of(ABSTRACT)
    assert told.text.startswith("Tidy reduces misses by 31%")
    assert told.quote.startswith("Extensive experiments on five machines")


def test_without_a_figure_it_says_what_the_work_is() -> None:
    told = of(ABSTRACT.rpartition("Extensive")[0])
    assert told.text.startswith("Proposes Tidy, a cache that predicts its own size")


def test_of_two_results_it_is_the_one_that_the_topic_asks_about() -> None:
    two = "We present Tidy. On one device, Tidy reduces latency by 12%. On one device, Tidy reduces noise by 12%."
    assert "latency" in of(two, "latency").text
    assert "noise" in of(two, "noise").text


def test_what_is_said_before_the_work_is_announced_is_not_it() -> None:
    others = "Caching of prompts aims to serve long prompts from the memory of one machine in less time."
    told = of(f"{others} We propose to employ a model that tells which prompts are read again.", title="Prompts")
    assert told.text.startswith("Proposes to employ a model")


def test_what_points_at_another_sentence_and_what_hopes_is_never_it() -> None:
    assert of("This reduces misses by 31%. It is fast.").text == ""
    assert of("We hope that Tidy reduces the misses of all caches.").text == ""


OWN = "We propose Tidy, a cache that lets go of what nobody reads again in the night."


@pytest.mark.parametrize(
    "other",
    [
        "Caching is a common technique for the memory of language models and of the machines that serve them.",
        "Caches keep in a small and quick memory what is read again, and language models read all of it again.",
        "However, Tidy exhibited a persistent gap to caches of full precision on machines with little memory.",
        "We evaluate Tidy on eight benchmarks of caches, including those of large language models in the field.",
        "We strongly encourage readers to visit https://tidy.example to try a cache of their own at home.",
    ],
)
def test_what_was_there_before_and_what_the_authors_went_about_give_way_to_what_they_made(other: str) -> None:
    assert of(f"{other} {OWN}", title="On caches").text.startswith("Proposes Tidy")


def test_of_two_statements_without_a_figure_it_is_the_one_that_says_more_than_the_title() -> None:
    title = "Tidy: a cache for long prompts"
    told = of(
        "We propose Tidy, a cache for long prompts. Tidy lets go of what nobody reads again in the night.", title=title
    )
    assert told.text == "Tidy lets go of what nobody reads again in the night."
    assert of("We propose Tidy, a cache for long prompts.", title=title).text == ""  # the title says it


def test_a_result_without_a_figure_gives_way_to_what_the_work_is() -> None:
    told = of(f"{OWN} On all benchmarks, Tidy achieves compelling performance and surpasses the others.", title="On caches")
    assert told.text.startswith("Proposes Tidy")


@pytest.mark.parametrize(
    "fragment",
    [
        "Extensive experiments on Wan 2.1 14B, Mochi 1, and few-step distilled models.",
        "Using Tidy, a cache that keeps what is read again and gates all the rest.",
        "Tidy reduces what is paid for memory by up to 78% while staying.",
    ],
)
def test_half_a_sentence_is_none(fragment: str) -> None:
    assert of(fragment).text != fragment


def test_what_leads_to_the_authors_own_words_goes() -> None:
    told = of("To better match streams, we propose Tidy, a cache that is read while it is written.", title="On caches").text
    assert told == "Proposes Tidy, a cache that is read while it is written."
    told = of("Afterwards, we propose Tidy, a cache that is read while it is written.", title="On caches").text
    assert told == "Proposes Tidy, a cache that is read while it is written."


def test_of_a_repository_it_is_the_description_shortened_at_a_border() -> None:
    assert short_gist(repo("ada/tidy", abstract="🚀 A cache that sizes itself")).text == "A cache that sizes itself."
    long = "A cache that sizes itself, with a console for the house, a console for the garden, and none for the street"
    told = short_gist(repo("ada/tidy", abstract=long)).text
    assert long.startswith(told.removesuffix("."))
    assert "…" not in told
    two = "A cache that sizes itself. It has a console for the house, one for the garden, and none for the sea (yet)."
    assert short_gist(repo("ada/tidy", abstract=two)).text == "A cache that sizes itself."
    bracket = (
        "The source of Tidy, a site to help you to manage all of your caches (your own, and those of others) on one page"
    )
    assert short_gist(repo("ada/tidy", abstract=bracket)).text == "The source of Tidy."
    assert short_gist(repo("ada/tidy", abstract="")).text == ""


def test_another_language_and_an_empty_text_have_none() -> None:
    assert of("这是一个缓存库。它的速度提高了三倍。" * 9).text == ""
    assert of("  ").text == ""


def test_a_question_is_no_statement() -> None:
    asked = "Do backbone models that excel in natural image classification consistently outperform others on mammograms?"
    text = f"We explore open questions. {asked} We train four models on 5,000 mammograms and find that larger ones fail."
    assert all(told.text != asked for told in statements_of("Breast cancer", text))


def test_of_a_real_edition_every_entry_is_told_in_a_whole_short_statement() -> None:
    for item in items():
        told = short_gist(item).text
        assert 4 <= len(told.split()) <= LONGEST, told
        assert not told.startswith(("This ", "These ", "It ", "We ", "Addresses this"))
        assert told.endswith(".")


@settings(deadline=None, max_examples=tries(60))
@given(st.text(max_size=300), st.text(max_size=3000), st.sampled_from(Kind))
def test_whatever_strangers_wrote_it_is_short_and_of_their_words(title: str, text: str, kind: Kind) -> None:
    told = short_gist(Item(key="url:x", kind=kind, title=title, abstract=text)).text
    assert len(told.split()) <= LONGEST
    assert set(re.findall(r"\d+", told)) <= set(re.findall(r"\d+", text))


# Real abstracts (arXiv's metadata, CC0 1.0), whose gist was a vague result, the title again, nothing, or another's.
REAL = {
    "2511.21250": (
        "Shift-Equivariant Complex-Valued Convolutional Neural Networks",
        (
            "Convolutional neural networks have shown remarkable performance in recent years on various computer "
            "vision problems. However, the traditional convolutional neural network architecture lacks a critical "
            "property: shift equivariance and invariance, broken by downsampling and upsampling operations. "
            "Although data augmentation techniques can help the model learn the latter property empirically, a "
            "consistent and systematic way to achieve this goal is by designing downsampling and upsampling "
            "layers that theoretically guarantee these properties by construction. Adaptive Polyphase Sampling "
            "(APS) introduced the cornerstone for shift invariance, later extended to shift equivariance with "
            "Learnable Polyphase up/downsampling (LPS) applied to real-valued neural networks. In this paper, we "
            "extend the work on LPS to complex-valued neural networks both from a theoretical perspective and "
            "with a novel building block of a projection layer from $\\mathbb{C}$ to $\\mathbb{R}$ before the "
            "Gumbel Softmax. We finally evaluate this extension on several computer vision problems, specifically "
            "for either the invariance property in classification tasks or the equivariance property in both "
            "reconstruction and semantic segmentation problems, using polarimetric Synthetic Aperture Radar "
            "images."
        ),
        "",
    ),
    "2512.22441": (
        "LECalib: Line-Based Event Camera Calibration",
        (
            "Camera calibration is an essential prerequisite for event-based vision applications. Current event camera "
            "calibration methods typically involve using flashing patterns, reconstructing intensity images, and "
            "utilizing the features extracted from events. Existing methods are generally time-consuming and require "
            "manually placed calibration objects, which cannot meet the needs of rapidly changing scenarios. In this "
            "paper, we propose a line-based event camera calibration framework exploiting the geometric lines of "
            "commonly-encountered objects in man-made environments, e.g., doors, windows, boxes, etc. Different from "
            "previous methods, our method detects lines directly from event streams and leverages an event-line "
            "calibration model to generate the initial guess of camera parameters, which is suitable for both planar "
            "and non-planar lines. Then, a non-linear optimization is adopted to refine camera parameters. Both "
            "simulation and real-world experiments have demonstrated the feasibility and accuracy of our method, with "
            "validation performed on monocular and stereo event cameras. The source code is released at "
            "https://github.com/Zibin6/line_based_event_camera_calib."
        ),
        (
            "Proposes a line-based event camera calibration framework exploiting the geometric "
            "lines of commonly-encountered objects."
        ),
    ),
    "2508.08849": (
        "Adaptive High-Frequency Preprocessing for Video Coding",
        (
            "High-frequency components are crucial for maintaining video clarity and realism, but they also "
            "significantly impact coding bitrate, resulting in increased bandwidth and storage costs. This paper "
            "presents an end-to-end learning-based framework for adaptive high-frequency preprocessing to enhance "
            "subjective quality and save bitrate in video coding. The framework employs the Frequency-attentive "
            "Feature pyramid Prediction Network (FFPN) to predict the optimal high-frequency preprocessing strategy, "
            "guiding subsequent filtering operators to achieve the optimal tradeoff between bitrate and quality after "
            "compression. For training FFPN, we pseudo-label each training video with the optimal strategy, determined "
            "by comparing the rate-distortion (RD) performance across different preprocessing types and strengths. "
            "Distortion is measured using the latest quality assessment metric. Comprehensive evaluations on multiple "
            "datasets demonstrate the visually appealing enhancement capabilities and bitrate savings achieved by our "
            "framework."
        ),
        (
            "Presents an end-to-end learning-based framework for adaptive high-frequency preprocessing to enhance "
            "subjective quality and save bitrate."
        ),
    ),
    "2603.17993": (
        "GMT: Goal-Conditioned Multimodal Transformer for 6-DOF Object Trajectory Synthesis in 3D Scenes",
        (
            "Synthesizing controllable 6-DOF object manipulation trajectories in 3D environments is essential for "
            "enabling robots to interact with complex scenes, yet remains challenging due to the need for accurate "
            "spatial reasoning, physical feasibility, and multimodal scene understanding. Existing approaches often "
            "rely on 2D or partial 3D representations, limiting their ability to capture full scene geometry and "
            "constraining trajectory precision. We present GMT, a multimodal transformer framework that generates "
            "realistic and goal-directed object trajectories by jointly leveraging 3D bounding box geometry, point "
            "cloud context, semantic object categories, and target end poses. The model represents trajectories as "
            "continuous 6-DOF pose sequences and employs a tailored conditioning strategy that fuses geometric, "
            "semantic, contextual, and goaloriented information. Extensive experiments on synthetic and real-world "
            "benchmarks demonstrate that GMT outperforms state-of-the-art human motion and human-object interaction "
            "baselines, such as CHOIS and GIMO, achieving substantial gains in spatial accuracy and orientation "
            "control. Our method establishes a new benchmark for learningbased manipulation planning and shows strong "
            "generalization to diverse objects and cluttered 3D environments. Project page: https://huajian-"
            "zeng.github. io/projects/gmt/."
        ),
        "GMT outperforms state-of-the-art human motion and human-object interaction baselines, such as CHOIS and GIMO.",
    ),
    "2603.02597": (
        "GPUTOK: GPU Accelerated Byte Level BPE Tokenization",
        (
            "As large language models move toward million-token context windows, CPU tokenizers become a major "
            "slowdown because they process text one step at a time while powerful GPUs sit unused. We built a GPU-"
            "based byte-level BPE tokenizer that follows GPT-2's merge rules. It includes a basic BlockBPE-style "
            "kernel and a faster, optimized version that uses cuCollections static map, CUB reductions, and a pybind11 "
            "interface for Python. On WikiText103 sequences up to 131k tokens, the optimized GPU tokenizer produces "
            "the same tokens as a CPU version and, for the longest inputs, is about 1.7x faster than tiktoken and "
            "about 7.6x faster than the HuggingFace GPT-2 tokenizer. Nsight profiling shows that 70-80% of CUDA API "
            "time goes to memory allocation, so adding memory pooling should give the biggest speed boost next. Tests "
            "on generation tasks using WikiText103 prompts show that our GPU tokenizer's outputs stay within about one "
            "percentage point of tiktoken and HuggingFace GPT-2 on similarity and overlap metrics, meaning it keeps "
            "output quality while making long-context inference more practical."
        ),
        "Builds a GPU-based byte-level BPE tokenizer that follows GPT-2's merge rules.",
    ),
    "2504.20179": (
        "Integration Flow Models",
        (
            "Ordinary differential equation (ODE) based generative models have emerged as a powerful approach for "
            "producing high-quality samples in many applications. However, the ODE-based methods either suffer the "
            "discretization error of numerical solvers of ODE, which restricts the quality of samples when only a few "
            "NFEs are used, or struggle with training instability. In this paper, we proposed Integration Flow, which "
            "directly learns the integral of ODE-based trajectory paths without solving the ODE functions. Moreover, "
            "Integration Flow explicitly incorporates the target state $\\mathbf{x}_0$ as the anchor state in guiding "
            "the reverse-time dynamics. We have theoretically proven this can contribute to both stability and "
            "accuracy. To the best of our knowledge, Integration Flow is the first model with a unified structure to "
            "estimate ODE-based generative models and the first to show the exact straightness of 1-Rectified Flow "
            "without reflow. Through theoretical analysis and empirical evaluations, we show that Integration Flows "
            "achieve improved performance when it is applied to existing ODE-based models, such as diffusion models, "
            "Rectified Flows, and PFGM++. Specifically, Integration Flow achieves one-step generation on CIFAR10 with "
            "FIDs of 2.86 for the Variance Exploding (VE) diffusion model, 3.36 for rectified flow without reflow, and "
            "2.91 for PFGM++; and on ImageNet with FIDs of 4.09 for VE diffusion model, 4.35 for rectified flow "
            "without reflow and 4.15 for PFGM++."
        ),
        "Integration Flow achieves one-step generation on CIFAR10 with FIDs of 2.86.",
    ),
    "2510.16701": (
        "An Agentic Framework with LLMs for Solving Complex Vehicle Routing Problems",
        (
            "Complex vehicle routing problems (VRPs) remain a fundamental challenge, demanding substantial expert "
            "effort for intent interpretation and algorithm design. While large language models (LLMs) offer a "
            "promising path toward automation, current approaches still rely on external intervention, which restrict "
            "autonomy and often lead to execution errors and low solution feasibility. To address these challenges, we "
            "propose an Agentic Framework with LLMs (AFL) for solving complex vehicle routing problems, achieving full "
            "automation from problem instance to solution. AFL directly extracts knowledge from raw inputs and enables "
            "self-contained code generation without handcrafted modules or external solvers. To improve "
            "trustworthiness, AFL decomposes the overall pipeline into three manageable subtasks and employs four "
            "specialized agents whose coordinated interactions enforce cross-functional consistency and logical "
            "soundness. Extensive experiments on 60 complex VRPs, ranging from standard benchmarks to practical "
            "variants, validate the effectiveness and generality of our framework, showing comparable performance "
            "against meticulously designed algorithms. Notably, it substantially outperforms existing LLM-based "
            "baselines in both code reliability and solution feasibility, achieving rates close to 100% on the "
            "evaluated benchmarks."
        ),
        (
            "AFL directly extracts knowledge from raw inputs and enables self-contained code generation without "
            "handcrafted modules or external solvers."
        ),
    ),
    "2602.18029": (
        "Towards More Standardized AI Evaluation: From Models to Agents",
        (
            "Evaluation is no longer a final checkpoint in the machine learning lifecycle. As AI systems evolve from "
            "static models to compound, tool-using agents, evaluation becomes a core control function. The question is "
            'no longer "How good is the model?" but "Can we trust the system to behave as intended, under change, '
            'at scale?". Yet most evaluation practices remain anchored in assumptions inherited from the model- '
            "centric era: static benchmarks, aggregate scores, and one-off success criteria. This paper argues that "
            "such approaches are increasingly obscure rather than illuminating system behavior. We examine how "
            "evaluation pipelines themselves introduce silent failure modes, why high benchmark scores routinely "
            "mislead teams, and how agentic systems fundamentally alter the meaning of performance measurement. Rather "
            "than proposing new metrics or harder benchmarks, we aim to clarify the role of evaluation in the AI era, "
            "and especially for agents: not as performance theater, but as a measurement discipline that conditions "
            "trust, iteration, and governance in non-deterministic systems."
        ),
        "",
    ),
    "2603.11421": (
        "ShotVerse: Advancing Cinematic Camera Control for Text-Driven Multi-Shot Video Creation",
        (
            "Text-driven video generation has democratized film creation, but camera control in cinematic multi-shot "
            "scenarios remains a significant block. Implicit textual prompts lack precision, while explicit trajectory "
            "conditioning imposes prohibitive manual overhead and often triggers execution failures in current models. "
            "To overcome this bottleneck, we propose a data-centric paradigm shift, positing that aligned (Caption, "
            "Trajectory, Video) triplets form an inherent joint distribution that can connect automated plotting and "
            'precise execution. Guided by this insight, we present ShotVerse, a "Plan-then-Control" framework that '
            "decouples generation into two collaborative agents: a VLM (Vision-Language Model)-based Planner that "
            "leverages spatial priors to obtain cinematic, globally aligned trajectories from text, and a Controller "
            "that renders these trajectories into multi-shot video content via a camera adapter. Central to our "
            "approach is the construction of a data foundation: we design an automated multi-shot camera calibration "
            "pipeline aligns disjoint single-shot trajectories into a unified global coordinate system. This "
            "facilitates the curation of ShotVerse-Bench, a high-fidelity cinematic dataset with a three-track "
            "evaluation protocol that serves as the bedrock for our framework. Extensive experiments demonstrate that "
            "ShotVerse effectively bridges the gap between unreliable textual control and labor-intensive manual "
            "plotting, achieving superior cinematic aesthetics and generating multi-shot videos that are both camera-"
            "accurate and cross-shot consistent."
        ),
        "",
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_of_a_real_abstract_it_is_what_a_reader_is_told_something_by(name: str) -> None:
    title, abstract, told = REAL[name]
    assert of(abstract, title=title).text == told


def test_what_the_topic_asks_about_makes_no_result_of_what_is_none() -> None:
    text = (
        "Caches of prompts are known to suffer from noise in the memory of the machines that serve them. "
        "We present Tidy. Tidy reduces latency by 12% on one device."
    )
    assert of(text).text == of(text, "noise", "memory").text == "Tidy reduces latency by 12% on one device."


@settings(deadline=None, max_examples=tries(30))
@given(st.sampled_from([*REAL]), st.lists(st.sampled_from(["latency", "GPU", "human", "training", "cache"]), max_size=3))
def test_whatever_a_topic_asks_about_it_is_one_short_statement_of_the_text(name: str, asked: list[str]) -> None:
    title, abstract, _ = REAL[name]
    told = of(abstract, *asked, title=title)
    assert told == of(abstract, *asked, title=title)
    assert len(told.text.split()) <= LONGEST
    assert told.quote in abstract
    own = {word[:4].lower() for word in re.findall(r"\w+", abstract)}
    assert {word[:4].lower() for word in re.findall(r"\w+", told.text)} <= own | {"the", "auth"}


def test_an_abbreviation_in_brackets_is_left_out() -> None:
    told = of(
        "We propose Node Decimation Pooling (NDP), a pooling operator for graphs that generates coarser versions of them."
    )
    assert told.text == (
        "Proposes Node Decimation Pooling, a pooling operator for graphs that generates coarser versions of them."
    )
