"""What a model claims is held against what the text says of the same subjects."""

import json
import sys
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import SummaryUnavailable
from bot.models import Kind
from bot.summarise.choice.model_file import read_model
from bot.summarise.english.sentences import split
from bot.summarise.extractive import extract
from bot.summarise.llm.claims import SHIPPED, Source, read_judge
from bot.summarise.llm.grounding import faults
from tests.fakes.edition import items

ROOT = Path(__file__).parents[4]
TEXT = (
    "Serving long contexts with large language models is slow, as every layer keeps the keys and values of all tokens. "
    "We present Sieve, a cache that keeps only the tokens that later layers attend to, and does not require any training. "
    "On three of five benchmarks, Sieve matches the accuracy of the full cache. "
    "It reduces the memory of the cache by 71% and increases the throughput of decoding by up to 2.4x on a single GPU, "
    "while the accuracy on long documents decreases by 0.6 points."
)
HELD = Source(f"Sieve: a cache for long contexts\n{TEXT}")


@pytest.mark.parametrize(
    "claim",
    [
        "Sieve keeps only the tokens that later layers attend to.",
        "Sieve needs no training and keeps only those tokens in the cache that later layers attend to.",
        "The cache takes 71% less memory, and decoding is up to 2.4x faster on a single GPU.",
        "Accuracy on long documents decreases by 0.6 points, while memory is reduced by 71%.",
        "Serving long contexts is slow because every layer keeps keys and values of all tokens.",
        "It matches the full cache's accuracy on three of five benchmarks.",
        "Presents Sieve, a cache that does not require any training.",
        "Decoding throughput grows by as much as 2.4x on one GPU.",
        "Sieve is a cache that is training-free.",
    ],
)
def test_a_sound_paraphrase_is_borne_out(claim: str) -> None:
    assert HELD.bears_out(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "It reduces the memory of the cache by 0.6% and increases the throughput of decoding by up to 2.4x.",
        "It reduces the memory of the cache by 71%, while the accuracy on long documents decreases by 2.4 points.",
        "Presents Sieve, a cache that keeps only the tokens that later layers attend to, and requires training.",
        "On three of five benchmarks, Sieve does not match the accuracy of the full cache.",
        "It increases the memory of the cache by 71%.",
        "It reduces the memory of the cache by 71% and decreases the throughput of decoding by up to 2.4x on a single GPU.",
        "Serving long contexts with large language models is fast, as every layer keeps the keys and values of all tokens.",
        "Sieve matches the accuracy of the full cache, which lets hospitals diagnose rare diseases earlier.",
        "It increases the throughput of decoding by 2.4x on a single GPU.",
        "It reduces the memory of the cache by half, and increases decoding's throughput by up to 2.4x.",
        "It reduces the memory of the cache by 71%, paving the way for autonomous vehicles in crowded cities.",
    ],
)
def test_a_claim_that_was_turned_around_is_refused(claim: str) -> None:
    assert not HELD.bears_out(claim)


COMPARED = Source(
    "Sieve: a cache for long contexts\nSieve outperforms existing caches on five tasks. Sampling from tables is slower than "
    "sampling from lists. Latency falls by 12% to 30% on average."
)


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("Existing caches outperform Sieve on five tasks.", True),
        ("On five tasks, Sieve beats existing caches.", False),
        ("Sampling from lists is slower than sampling from tables.", True),
    ],
)
def test_who_is_ahead_of_whom_is_held_against_the_text(claim: str, wrong: bool) -> None:
    assert COMPARED.bears_out(claim) is not wrong


def test_a_text_in_another_language_is_not_judged() -> None:
    german = (
        "Das Verfahren senkt den Speicherbedarf um 71 Prozent und kommt ohne weiteres Training aus, wie Versuche zeigen."
    )
    assert Source(german).bears_out("Das Verfahren erhöht den Speicherbedarf.")


@given(st.sampled_from([item for item in items() if item.kind is Kind.PAPER]), st.data())
def test_what_the_text_says_itself_is_borne_out(item: Any, data: st.DataObject) -> None:
    source = f"{item.title}\n{item.abstract}"
    shown = [part.text for part in extract(item).parts if part.found]
    said = data.draw(st.sampled_from([*shown, *split(item.abstract)]))
    assert Source(source).bears_out(said)
    assert faults(said, source) == []


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_makes_it_fail(claim: str, text: str) -> None:
    Source(text).bears_out(claim)
    Source(f"{TEXT} {text}").bears_out(f"It reduces {claim} by 71%.")


HOSTILE = {
    "one word": "increases ",
    "numbers": "by 71% and 2.4x of 5 ",
    "denials": "not never without any memory ",
    "letters": "a",
    "sentences": "Not so. It is. ",
    "brackets": "(((( 1 ",
    "hyphens": "high-low-",
    "comparisons": "A is faster than B, and outperforms ",
    "clauses": "every cache, all 5-7 of it, ",
    "ratios": "half from 2 to 4 twice ",
}


@pytest.mark.parametrize("repeated", HOSTILE.values(), ids=HOSTILE.keys())
def test_reading_twice_as_much_takes_about_twice_the_steps(repeated: str) -> None:
    claim = (repeated * 300)[:400]

    def steps(length: int) -> int:
        return calls_of(lambda: Source(f"{TEXT} {repeated * length}"[:length]).bears_out(claim))

    assert steps(8_000) < 3 * steps(4_000)


def calls_of(do: Any) -> int:
    """How many Python and C functions are called."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(before)
    return count


def test_what_is_shipped_is_what_was_learned() -> None:
    hashes = json.loads((ROOT / "training" / "hashes.json").read_text(encoding="utf-8"))
    assert sha256(SHIPPED.read_bytes()).hexdigest() == hashes["bot/summarise/models/claims.json"]


@pytest.mark.parametrize("text", ["", "{}", '{"features": {}, "hidden_bias": [1], "out": [1], "bar": 0}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims.json").write_text(text, encoding="ascii")
    with pytest.raises(SummaryUnavailable, match=r"claims\.json is missing or damaged"):
        read_model(tmp_path / "claims.json", read_judge)
