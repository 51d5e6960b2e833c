"""The chain over the sentences of a text: what each is likely to be, given all of them (a linear-chain conditional random
field: Lafferty, McCallum and Pereira, 2001).
"""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def marginals(emissions: Matrix, transitions: Matrix) -> Matrix:
    """Return how likely each sentence is of each kind: rows as in `emissions`, each of sum 1.

    `emissions` has a row per sentence and a column per kind, `transitions` a row per kind of a sentence and a column per
    kind of the next; both are logarithms of weights.
    """
    here = np.exp(emissions - emissions.max(axis=1, keepdims=True))
    follows = np.exp(transitions)
    ahead, behind = np.empty_like(here), np.ones_like(here)
    ahead[0] = here[0] / here[0].sum()
    for at in range(1, len(here)):
        ahead[at] = (ahead[at - 1] @ follows) * here[at]
        ahead[at] /= ahead[at].sum()
    for at in range(len(here) - 2, -1, -1):
        behind[at] = follows @ (here[at + 1] * behind[at + 1])
        behind[at] /= behind[at].sum()
    likely: Matrix = ahead * behind
    normalised: Matrix = likely / likely.sum(axis=1, keepdims=True)
    return normalised
