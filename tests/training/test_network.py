"""How the role model's network is taught: the way down that it takes, and what is shipped of it."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bot.summarise.choice.roles import Floats, Network, chain_weights, read_network, write_network
from training.medicine import with_medicine
from training.network import Batch, Text, expected, initial_weights, loss_and_gradients, text_of, train

WORDS = {word: place for place, word in enumerate(["<between>", "<unknown>", "we", "see", "results", "it", "rains", "."])}
VECTORS: Floats = np.random.default_rng(1).normal(size=(len(WORDS), 6)).astype(np.float32)
TEXTS = [
    text_of(["We see results.", "It rains.", "See results?"], [0, 1, 0], WORDS, 2),
    text_of(["It rains."], [1], WORDS, 2),
    text_of(["", "We see it."], [1, 0], WORDS, 2),
]


@pytest.mark.parametrize(
    "name", ["vectors", "windows", "windows_bias", "hidden", "hidden_bias", "out", "out_bias", "transitions"]
)
def test_the_way_up_is_the_one_on_which_the_loss_grows(name: str) -> None:
    random = np.random.default_rng(2)
    weights = {key: one.astype(np.float64) for key, one in initial_weights(VECTORS, 2, random).items()}
    weights["transitions"] += random.normal(size=(2, 2))
    batch, way = Batch(TEXTS), random.normal(size=weights[name].shape)

    def loss(step: float) -> float:
        return loss_and_gradients({**weights, name: weights[name] + step * way}, batch, np.random.default_rng(3))[0]  # type: ignore[dict-item]

    _, gradients = loss_and_gradients(weights, batch, np.random.default_rng(3))  # type: ignore[arg-type]
    found = gradients[name]
    slope = float((found[1] * way[found[0]]).sum() if isinstance(found, tuple) else (found * way).sum())
    assert slope == pytest.approx((loss(1e-5) - loss(-1e-5)) / 2e-5, rel=1e-3, abs=1e-6)


def test_the_chains_of_all_texts_at_once_are_those_of_each_alone() -> None:
    random = np.random.default_rng(4)
    found, chain = random.normal(size=(2, 3, 2)), random.normal(size=(2, 2))
    there = np.array([[True, True, True], [True, False, False]])
    likely, pairs, total = expected(found, chain, there)
    chains = {
        kinds: sum(found[0, at, kind] for at, kind in enumerate(kinds))
        + chain[kinds[0], kinds[1]]
        + chain[kinds[1], kinds[2]]
        for kinds in itertools.product(range(2), repeat=3)
    }
    sums = np.log(sum(np.exp(list(chains.values())))), np.log(np.exp(found[1, 0]).sum())
    assert total == pytest.approx(sum(sums))
    assert likely[0, 1, 0] == pytest.approx(sum(np.exp(one - sums[0]) for kinds, one in chains.items() if kinds[1] == 0))
    assert likely[1, 0] == pytest.approx(np.exp(found[1, 0] - sums[1]))
    assert pairs.sum() == pytest.approx(2)  # the three sentences of the first text meet twice


SEEN, WET = ["We see results.", "It rains."], ["It rains.", "We see it."]


def many() -> list[Text]:
    return [text_of(*((SEEN, [0, 1]) if at % 2 else (WET, [1, 0])), WORDS, 2) for at in range(300)]


def kinds(sentences: Sequence[str], network: Network) -> list[int]:
    return [int(kind) for kind in chain_weights(sentences, network).emissions.argmax(axis=1)]


def test_it_learns_what_the_words_say_and_reads_the_same_back(tmp_path: Path) -> None:
    network = train(many(), WORDS, VECTORS)
    write_network(network, tmp_path / "network.npz")
    shipped = read_network(tmp_path / "network.npz")
    assert shipped.words == WORDS
    for sentences, right in ((SEEN, [0, 1]), (WET, [1, 0])):
        assert np.allclose(
            chain_weights(sentences, shipped).emissions, chain_weights(sentences, network).emissions, atol=0.3
        )
        assert kinds(sentences, shipped) == right


def test_medicine_is_read_by_its_own_customs_and_the_rest_as_before() -> None:
    computing = [text_of(SEEN, [0, 1], WORDS, 2) for _ in range(300)]
    medicine = [text_of(WET, [0, 1], WORDS, 2) for _ in range(300)]
    plain = train([*computing, *many()], WORDS, VECTORS)
    assert kinds(WET, plain) == [1, 0]
    network = with_medicine(plain, medicine, computing)
    assert kinds(WET, network) == [0, 1]
    assert np.allclose(chain_weights(SEEN, network).emissions, chain_weights(SEEN, plain).emissions, atol=0.3)


def test_the_same_texts_teach_the_same_to_the_last_digit() -> None:
    one, other = (train(many()[:40], WORDS, VECTORS) for _ in range(2))
    assert np.array_equal(one.hidden, other.hidden)
    assert np.array_equal(one.vectors, other.vectors)
