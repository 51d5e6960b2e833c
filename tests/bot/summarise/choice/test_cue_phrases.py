"""Which wordings of a sentence are told apart."""

import pytest

from bot.summarise.choice.cue_phrases import CUES

# Per kind a sentence that shows it, and one that is near it and does not.
TOLD = {
    "praise": ("caches have achieved remarkable progress.", "caches have achieved 31% less energy."),
    "matters": ("caches are essential for large systems.", "caches are full in large systems."),
    "promise": ("caches have emerged as a new paradigm.", "caches have misses."),
    "wanted": ("it is desirable that a cache is small.", "it is seen that a cache is small."),
    "goes wrong": ("such sizes are brittle.", "such sizes are even."),
    "open": ("how large they are remains largely unknown.", "how large they are is said by the operator."),
    "others fail": ("existing methods for caches fail under load.", "the methods for caches fail under load."),
    "tests": ("experiments are conducted on traces of a bank.", "experiments on traces of a bank show fewer misses."),
    "results are given": ("the results are then presented.", "the results are good."),
    "yields": ("tidy achieves the state of the art.", "tidy asks a small model."),
    "compares": ("misses fall compared to fixed sizes.", "misses fall by night."),
    "proves": ("we prove a lower bound.", "we show a lower price."),
    "quantity": ("it reads three traces.", "it reads traces."),
    "bears out": ("these findings highlight what caches need.", "these findings are of caches."),
    "somebody": ("it helps practitioners.", "it helps caches."),
    "needs no": ("it requires no operator.", "it requires an operator."),
    "saves": ("it is cheap to run.", "it is there to run."),
    "elsewhere": ("it generalises to other domains.", "it stays with its domain."),
    "future": ("future research may ask for more.", "what was asked is more."),
    "modal": ("caches could need no operator.", "caches need no operator."),
    "the first": ("tidy is the first of its kind.", "tidy first reads a trace."),
    "owns up": ("a limitation is that traces are needed.", "a limit is that of a trace."),
    "by doing": ("by asking a model, it is small.", "by day, it is small."),
    "in particular": ("specifically, a model is asked.", "a model is asked specifically."),
    "to do so": ("to address this gap, a model is asked.", "a model is asked to address a gap."),
}


@pytest.mark.parametrize("kind", TOLD)
def test_a_wording_is_told_from_one_that_is_near_it(kind: str) -> None:
    shown, near = TOLD[kind]
    assert CUES[kind].search(shown)
    assert not CUES[kind].search(near)


def test_what_is_important_is_not_yet_a_challenge() -> None:
    assert not CUES["challenge"].search("caches are crucial for large systems.")
    assert CUES["challenge"].search("the size of caches remains a challenge.")
