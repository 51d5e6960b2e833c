"""An entry as it is shown: what the gist says is not said again, at most 90 words, and two bare reasons."""

import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.digest.card import MOST_WORDS, asked_phrases, entry, why_here
from bot.models import PARTS, Entry, Item, Kind, Ranked, ScorePart, Summary, SummaryPart
from bot.summarise.extractive import extract
from tests.conftest import tries
from tests.fakes.edition import items
from tests.fakes.works import paper, repo

ABSTRACT = (
    "Caches of long prompts outgrow the memory of one device, which makes serving expensive. "
    "We propose Tidy, a cache that predicts its own size by counting what is read again. "
    "Experiments on five machines show that Tidy reduces misses by 31%. "
    "On the largest machine, Tidy also serves 2.4 times as many prompts as the best earlier cache. "
    "Tidy makes it possible to serve long prompts from cheap machines. "
    "Our code is available at https://github.com/lab/tidy."
)
TIDY = paper(title="Tidy: a cache that predicts its own size", abstract=ABSTRACT)


def shown(item: Item = TIDY, *parts: ScorePart) -> Entry:
    return entry(Ranked(item, 0.5, parts), extract(item))


def words_of(made: Entry) -> int:
    parts = sum(len(part.name.split()) + len(part.text.split()) for part in made.card)
    return len(made.gist.split()) + parts + (len(made.why_here.split()) + 2 if made.why_here else 0)


def test_what_the_gist_says_is_said_by_no_part() -> None:
    made = shown()
    assert made.gist == "On the largest machine, Tidy also serves 2.4 times as many prompts as the best earlier cache."
    assert "2.4 times" not in " ".join(part.text for part in made.card)
    assert "31%" in {part.name: part.text for part in made.card}["Evidence"]


def test_a_part_that_is_not_found_is_left_out_and_available_code_is_no_reason() -> None:
    made = shown(
        replace(TIDY, abstract=ABSTRACT.replace("Tidy makes it possible to serve long prompts from cheap machines. ", ""))
    )
    assert [part.name for part in made.card] == ["Problem", "Method", "Evidence"]
    assert "31%" in made.gist
    assert "2.4 times" in made.card[-1].text  # the evidence that the gist has not said
    assert all(part.found for part in made.card)
    assert all("available" not in part.text for part in made.card)


def test_an_endpoints_parts_lose_what_the_gist_has_said() -> None:
    told = (
        SummaryPart("Problem", "Caches outgrow one device."),
        SummaryPart("Method", "Tidy predicts its own size."),
        SummaryPart("Evidence", "Tidy reduces misses by 31%. It serves 2.4 times as many prompts."),
        SummaryPart("Why it matters", "None is known.", found=False),
    )
    made = entry(Ranked(TIDY, 0.5), Summary(told, "abstract", "small-model"))
    assert [part.text for part in made.card] == [
        "Caches outgrow one device.",
        "Tidy predicts its own size.",
        "Tidy reduces misses by 31%.",
    ]


def test_evidence_that_measures_nothing_is_left_out() -> None:
    vague = "Extensive experiments on five machines demonstrate the effectiveness of Tidy."
    plain = "Experiments demonstrate the effectiveness of Tidy, which outperforms every older cache."
    for said, kept in ((vague, 0), (plain, 1), (f"{vague} {plain}", 1), (vague.replace("five", "5"), 1)):
        summary = Summary((SummaryPart("Evidence", said),), "abstract", "small-model")
        made = entry(Ranked(paper(abstract=""), 0.5), summary)
        assert len(made.card) == kept, said


def test_the_longest_part_is_shortened_first_and_at_a_border() -> None:
    long = (
        "A cache of the house is built from many small caches, which are filled from the street by hand, by people who have "
        "come a long way in order to fill them, and who go home again at night by the very same way on which they had come, "
        "singing of the caches which they have filled and of the many more that are to be filled on the following morning, "
        "before the sun has risen over the roofs of the house and of its neighbours."
    )
    short = "Caches outgrow one device."
    parts = (SummaryPart("Problem", short), SummaryPart("Method", long), SummaryPart("Evidence", "It is fast at night."))
    made = entry(Ranked(TIDY, 0.5), Summary(parts, "abstract", "small-model"))
    told = {part.name: part.text for part in made.card}
    assert told["Problem"] == short
    assert told["Method"].endswith(".")
    assert long.startswith(told["Method"].removesuffix("."))
    assert words_of(made) <= MOST_WORDS


def test_of_a_text_without_a_statement_the_card_has_the_title_alone() -> None:
    made = shown(paper(abstract=""))
    assert (made.gist, made.card, made.why_here) == ("", (), "")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((ScorePart("phrases", 0.3, "matches *KV cache* ×3, *GPU*, *video*, has code"),), "KV cache, GPU"),
        ((ScorePart("phrases", 0.3, "by Tri Dao, matches *GPU*, against *survey*"),), "by Tri Dao, GPU"),
        ((ScorePart("phrases", 0.3, "matches *GPU*, *multi-GPU*, *TPU*"),), "GPU, TPU"),
        ((ScorePart("examples", 0.3, 'close to "Pack: Short Video Training" and 1 more'),), 'close to "Pack"'),
        ((ScorePart("description", 0.2, "close to the topic's description"),), "close to the topic's description"),
        ((ScorePart("feedback", 0.1, 'close to "Fast Caches" you liked'),), 'close to "Fast Caches" you liked'),
        (
            (ScorePart("feedback", 0.1, "shares *video*, *motion* with what you liked"),),
            "shares video, motion with what you liked",
        ),
        ((ScorePart("freshness", 0.1, "new today"), ScorePart("community", 0.1, "9 upvotes on Hugging Face")), ""),
        ((ScorePart("phrases", 0.2, "against *survey*"), ScorePart("feedback", -0.1, "shares *video* with …")), ""),
        (
            (ScorePart("phrases", 0.1, "matches *GPU*"), ScorePart("examples", 0.3, 'close to "Pack"')),
            'close to "Pack", GPU',
        ),
    ],
)
def test_why_it_is_here_is_told_in_two_bare_reasons(parts: tuple[ScorePart, ...], said: str) -> None:
    assert why_here(Ranked(paper(), 0.5, parts)) == said


def test_a_repository_is_here_by_its_event_first() -> None:
    parts = (ScorePart("phrases", 0.3, "matches *GPU*, *TPU*"), ScorePart("community", 0.1, "1,412 stars in 3 days"))
    assert why_here(Ranked(repo(), 0.5, parts)) == "★ +1,412 in 3 days, GPU"
    assert why_here(Ranked(paper(), 0.5, parts)) == "GPU, TPU"


@pytest.mark.parametrize(
    ("happened", "said"),
    [
        ("released v0.9 yesterday, ★ +1,200 in 3 days", "released v0.9 yesterday, GPU"),
        ("code of “Tidy: a cache that predicts its own size”, ★ +60 in 3 days", 'code of "Tidy", GPU'),
        ('code of "Tidy: a "smart" cache that predicts its own size", ★ +60 in 3 days', 'code of "Tidy", GPU'),
        ("created 3 days ago, ★61", "created 3 days ago, GPU"),
    ],
)
def test_a_repositorys_event_is_told_before_the_topics_reason(happened: str, said: str) -> None:
    phrases, fresh = ScorePart("phrases", 0.3, "matches *GPU*, *TPU*"), ScorePart("freshness", 0.1, happened)
    assert why_here(Ranked(repo(), 0.5, (phrases, fresh))) == said
    assert why_here(Ranked(repo(), 0.5, (fresh,))).startswith(said.partition(",")[0])


def test_the_phrases_that_the_item_has_are_what_the_topic_asks_about() -> None:
    phrases = ScorePart("phrases", 0.3, "by Tri Dao, matches *KV cache* ×3, *GPU*, against *survey*")
    assert asked_phrases(Ranked(paper(), 0.5, (phrases,))) == ("KV cache", "GPU")


# What the summaries' rules add to the words of a text.
_ADDED = frozenset(
    [
        "the",
        "authors",
        "author",
        "their",
        "they",
        "them",
        "first",
        "among",
        "of",
        "on",
        "github",
        "it",
        "is",
        "are",
        "a",
        "s",
        "make",
        "makes",
        "made",
        "making",
        "possible",
        "to",
        "paper",
        "written",
        "mainly",
        "in",
        "known",
        "has",
    ]
)


def stems(text: str) -> set[str]:
    return {word[:4] for word in re.findall(r"[^\W_]+", text.casefold()) if word not in _ADDED}


@pytest.mark.parametrize("item", [each for each in items() if each.kind is Kind.PAPER], ids=lambda item: item.key)
def test_every_word_of_a_real_card_stands_in_the_abstract(item: Item) -> None:
    made = shown(item, ScorePart("phrases", 0.3, "matches *KV cache* ×3, *GPU*"))
    assert words_of(made) <= MOST_WORDS
    assert stems(" ".join([made.gist, *(part.text for part in made.card)])) <= stems(item.abstract)
    assert made.card


_WORDS = [
    "the",
    "cache",
    "Tidy",
    "reduces",
    "misses",
    "by",
    "31%",
    "which",
    "we",
    "show",
    "that",
    ";",
    ",",
    "on",
    "five",
    "machines",
    "and",
    "is",
    "not",
    "a",
    "new",
    "way",
    "to",
]
_SENTENCE = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=70).map(lambda words: f"{' '.join(words).capitalize()}. ")


@settings(deadline=None, max_examples=tries(60))
@example("The. The. ", Kind.REPO)
@given(st.lists(_SENTENCE, max_size=12).map("".join), st.sampled_from(Kind))
def test_a_card_has_at_most_90_words_and_no_part_repeats_its_gist(text: str, kind: Kind) -> None:
    made = shown(
        Item(key="url:x", kind=kind, title="Tidy", abstract=text), ScorePart("phrases", 0.3, "matches *KV cache*, *GPU*")
    )
    assert words_of(made) <= MOST_WORDS
    assert not made.gist or all(made.gist not in part.text for part in made.card)
    assert stems(" ".join([made.gist, *(part.text for part in made.card)])) <= stems(text) | {"pyth"}


@settings(deadline=None, max_examples=tries(60))
@given(st.lists(st.text(max_size=900), min_size=4, max_size=4), st.text(max_size=900))
def test_whatever_an_endpoint_says_the_card_is_short(told: list[str], text: str) -> None:
    parts = tuple(SummaryPart(name, said) for name, said in zip(PARTS, told, strict=True))
    made = entry(Ranked(paper(abstract=text), 0.5), Summary(parts, "abstract", "small-model"))
    assert words_of(made) <= MOST_WORDS


def test_evidence_keeps_its_figures_where_another_part_can_be_shortened() -> None:
    long = (
        "A cache of the house is built from many small caches, which are filled from the street by hand, by people who have "
        "come a long way in order to fill them, and who go home again at night by the very same way on which they had come, "
        "singing of the caches which they have filled and of the many more that are to be filled on the following morning."
    )
    evidence = (
        "On all of the machines of the house and of the neighbours, over days and nights and over the weeks of the summer, "
        "the many small caches become far quieter than before, and they lose fewer prompts (31% of long ones) than any."
    )
    parts = (SummaryPart("Method", long), SummaryPart("Evidence", evidence))
    made = entry(Ranked(TIDY, 0.5), Summary(parts, "abstract", "small-model"))
    assert "31%" in {part.name: part.text for part in made.card}["Evidence"]
    assert words_of(made) <= MOST_WORDS


def test_all_figures_stay_and_of_a_problem_behind_what_is_well_the_problem() -> None:
    told = (
        (
            "Multimodal Large Language Models achieve stronger visual understanding by scaling input fidelity, yet "
            "the resulting visual token growth makes jointly sustaining high spatial resolution and long temporal "
            "context prohibitive."
        ),
        (
            "ResAdapt couples a lightweight Allocator with an unchanged MLLM backbone, so the backbone retains its native "
            "visual-token interface while receiving an operator-transformed input."
        ),
        "ResAdapt supports up to 16x more frames at the same visual budget while delivering over 15% performance gain.",
        (
            "We argue that the bottleneck lies not in how post-encoding representations are compressed but in the volume of "
            "pixels the encoder receives."
        ),
    )
    parts = tuple(SummaryPart(name, text) for name, text in zip(PARTS, told, strict=True))
    made = entry(Ranked(paper(abstract=""), 0.5), Summary(parts, "abstract", "small-model"))
    shown = {part.name: part.text for part in made.card}
    assert "16x" in shown["Evidence"]
    assert "15%" in shown["Evidence"]
    assert shown["Problem"].startswith("The resulting visual token growth")
    assert shown["Problem"].endswith("prohibitive.")


def test_the_same_of_another_figure_is_another_result() -> None:
    gist = "On the largest machine, Tidy also serves 2.4 times as many prompts as the best earlier cache."
    said = SummaryPart("Evidence", "On the smallest machine, Tidy serves 31% as many prompts as the best earlier cache.")
    made = entry(Ranked(TIDY, 0.5), Summary((said,), "abstract", "small-model"))
    assert made.gist == gist
    assert made.card == (said,)


def test_where_the_gist_has_no_figure_the_evidence_keeps_the_one_of_the_same_sentence() -> None:
    result = (  # 2602.05434
        "Experimental results demonstrate that the proposed method improves both fringe quality and 3-D reconstruction "
        "accuracy over state-of-the-art methods, reducing the average root-mean-squared error from 1.8176 mm to 0.9619 mm."
    )
    made = shown(paper(title="Latent diffusion structured light", abstract=f"Glossy objects are hard to measure. {result}"))
    assert made.gist == (
        "The proposed method improves both fringe quality and 3-D reconstruction accuracy over state-of-the-art methods."
    )
    assert {part.name: part.text for part in made.card}["Evidence"] == (
        "The proposed method reduces the average root-mean-squared error from 1.8176 mm to 0.9619 mm."
    )


def test_a_gist_with_a_figure_takes_the_place_of_one_that_tells_hardly_more_where_no_part_has_any() -> None:
    made = shown(
        paper(
            title="Kling-MotionControl Technical Report",  # 2603.03160
            abstract="Character animation aims to generate lifelike videos by transferring motion dynamics from a driving "
            "video to a reference image. In this work, we present Kling-MotionControl, a unified DiT-based framework "
            "engineered specifically for robust, precise, and expressive holistic character animation. To ensure "
            "utility, we implement an advanced acceleration framework utilizing multi-stage distillation, "
            "boosting inference speed by over 10x. Human preference evaluations demonstrate that Kling-MotionControl "
            "delivers superior performance compared to leading commercial and open-source solutions.",
        )
    )
    assert made.gist.endswith("boosting inference speed by over 10x.")


def test_an_opening_is_no_method_where_the_gist_says_what_the_work_is() -> None:
    made = shown(
        paper(
            title="Concise thinking: a survey",
            abstract="Large reasoning models like OpenAI o1 have demonstrated impressive performance on complex tasks with "
            "long chains of thought. However, these models often generate unnecessarily lengthy and redundant reasoning "
            "chains for trivial questions. This survey provides a comprehensive overview of recent progress in concise and "
            "adaptive thinking for efficient reasoning.",
        )
    )
    assert made.gist.startswith("Provides a comprehensive overview of recent progress")
    assert "Method" not in {part.name for part in made.card}


def card_of(*told: str) -> dict[str, str]:
    parts = tuple(SummaryPart(name, text) for name, text in zip(PARTS, told, strict=False))
    made = entry(Ranked(paper(abstract=""), 0.5), Summary(parts, "abstract", "small-model"))
    return {part.name: part.text for part in made.card}


# Each of 31 words, none of which may be its last one but that.
_LONG = (
    (
        "The caches of the house and of the street and of the town and of the hills and of the sea and of the lakes above "
        "the sea are quite small."
    ),
    (
        "The readers who come from villages and who come from farms and who come from mills and who come from bakeries and "
        "who sing songs at noon wait long at night."
    ),
    (
        "The prompts that tell stories and that tell jokes and that tell secrets and that tell recipes and that tell dreams "
        "and that tell nothing at all win very large prizes."
    ),
)
_REASON = "Tidy is a useful and practical tool for whoever serves novels on cheap machines at night."


def test_why_it_matters_is_left_out_before_anything_is_broken_off() -> None:
    without = (" and of the sea", " and who come from mills", " and that tell jokes")
    shorter = [text.replace(less, "") for text, less in zip(_LONG, without, strict=True)]
    assert card_of(*shorter, _REASON) == dict(zip(PARTS[:3], shorter, strict=False))
    assert card_of(*shorter[:2], "", _REASON)[PARTS[3]] == _REASON


def test_one_part_alone_is_broken_off_and_ends_in_no_word_that_asks_for_more() -> None:
    told = card_of(*_LONG)
    assert [text.endswith(" …") for text in told.values()] == [True, False, False]
    assert not re.search(r" (?:and|of|the) …$", told["Problem"])


def test_a_reason_is_not_shortened_to_less_than_what_for() -> None:
    told = card_of("Caches of long prompts outgrow one device.", *_LONG[1:], _REASON)
    assert "Why it matters" not in told  # `Tidy is a useful and practical tool.`
    assert len(told) == 3


def test_an_entry_is_made_once_for_all_who_have_it_and_anew_where_anything_differs() -> None:
    first = shown(TIDY)
    assert shown(replace(TIDY, title=TIDY.title)) is first
    others = {
        "score": entry(replace(first.ranked, score=0.6), first.summary),
        "summary": entry(first.ranked, replace(first.summary, made_by="endpoint")),
        "partner": entry(first.ranked, first.summary, repo("a/b")),
        "item": shown(replace(TIDY, upvotes=7)),
        "reason": shown(TIDY, ScorePart("phrases", 0.3, "matches *cache*")),
    }
    assert len(set(others.values()) - {first}) == len(others)
    assert others["score"].ranked.score == 0.6
    assert others["item"].ranked.item.upvotes == 7
    assert (first.why_here, others["reason"].why_here) == ("", "cache")
