"""Learns the customs of medicine for a network that was taught by abstracts of computing: its last layer and its chain for
them, and how to tell a text of medicine. The rest of the network stays as it is, so what it says of computing does too.

Both are convex: the last layer and the chain make the labels likely under the chain, and a logistic regression tells the
field, in which both fields count alike, whatever their numbers; each with a penalty on squared distances.
"""

from collections.abc import Sequence

import numpy as np

from bot.summarise.choice.roles import Encoding, Matrix, Network, encode
from training.lbfgs import Vector, minimise
from training.network import Batch, Text, expected

_PENALTY = 10.0  # on distances from the last layer of computing
_PENALTY_FIELD = 3.0
_ROOM = 0.02  # added to the spread of each number of what a text is about, so that one which hardly varies is not blown up
_STEPS, _STEPS_FIELD = 60, 200
# The logarithm of the odds before a text is read: of what Broadsheet reads, about one in twenty is of medicine, if any.
_SELDOM = -3.0


def with_medicine(network: Network, texts: Sequence[Text], others: Sequence[Text]) -> Network:
    """Return `network` with what it learned from `texts` of medicine, and how to tell them from `others`."""
    read, rest = ([encode(one.indices, one.lengths, one.positions, network) for one in each] for each in (texts, others))
    return _with_last_layer(network, texts, np.concatenate([one.last for one in read]).astype(np.float64))._replace(
        medical=_field_weights(read, rest).astype(np.float32)
    )


def _with_last_layer(network: Network, texts: Sequence[Text], last: Matrix) -> Network:
    """The network with the last layer and the chain by which the labels of `texts` are likeliest."""
    batch, size = Batch(texts), network.out.shape
    start = np.concatenate([network.out, network.out_bias[None], network.transitions]).astype(np.float64)
    rows = np.concatenate([last, np.ones((len(last), 1))], axis=1)

    def loss(point: Vector) -> tuple[float, Vector]:
        weights = point.reshape(start.shape)
        layer, chain = weights[: size[0] + 1], weights[size[0] + 1 :]
        found = rows @ layer
        likely, pairs, total = expected(found[batch.rows], chain, batch.there)
        off = np.empty(found.shape)
        off[batch.rows[batch.there]] = likely[batch.there]
        value = total - float((batch.targets * found).sum()) - float((batch.pairs * chain).sum())
        slope = np.concatenate([rows.T @ (off - batch.targets), pairs - batch.pairs])
        moved = weights - start
        return value + _PENALTY * float((moved**2).sum()), (slope + 2 * _PENALTY * moved).ravel()

    found = minimise(loss, start.ravel(), _STEPS).reshape(start.shape).astype(np.float32)
    return network._replace(
        medical_out=found[: size[0]], medical_bias=found[size[0]], medical_transitions=found[size[0] + 1 :]
    )


def _field_weights(texts: Sequence[Encoding], others: Sequence[Encoding]) -> Vector:
    """What tells `texts` from `others`: a weight for each number of what a text is about, and one more."""
    abouts = np.array([one.about for one in (*texts, *others)], dtype=np.float64)
    fields = np.repeat([1.0, 0.0], [len(texts), len(others)])
    counts = np.repeat([1 / len(texts), 1 / len(others)], [len(texts), len(others)]) * len(abouts) / 2
    spread = abouts.std(axis=0) + _ROOM
    rows = abouts / spread

    def loss(point: Vector) -> tuple[float, Vector]:
        weights = rows @ point[:-1] + point[-1]
        value = float((counts * (np.logaddexp(0, weights) - fields * weights)).sum())
        off = counts * (np.exp(-np.logaddexp(0, -weights)) - fields)
        slope = np.append(rows.T @ off + 2 * _PENALTY_FIELD * point[:-1], off.sum())
        return value + _PENALTY_FIELD * float((point[:-1] ** 2).sum()), slope

    point = minimise(loss, np.zeros(rows.shape[1] + 1), _STEPS_FIELD)
    return np.append(point[:-1] / spread, point[-1] + _SELDOM)
