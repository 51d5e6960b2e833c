"""The sentences that were written by hand, true and false, are whole and of different abstracts in each half."""

import pytest

from benchmarks.quality.claims import paraphrases

KINDS = {
    "subjects swapped",
    "denial added or dropped",
    "number in words",
    "bound dropped or changed",
    "direction reversed",
    "detail of another subject",
}


@pytest.mark.parametrize("half", ["development", "aside"])
def test_a_half_has_true_sentences_and_every_kind_of_falsehood(half: str) -> None:
    found = paraphrases(half)
    assert found.keys() == KINDS | {""}
    assert len(found[""]) == 62
    assert sum(len(claims) for kind, claims in found.items() if kind) > 80
    said = [claim.said for claims in found.values() for claim in claims]
    assert len(said) == len(set(said))


def test_no_abstract_is_in_both_halves() -> None:
    one, other = (
        {claim.source for claims in paraphrases(half).values() for claim in claims} for half in ("development", "aside")
    )
    assert len(one) == len(other) == 31
    assert not one & other
