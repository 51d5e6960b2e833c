"""How much a short statement tells who has read the title and reads no further."""

import numpy as np
import pytest

from bot.summarise.choice.telling import FEATURES, SHIPPED, how_much, read_weights
from bot.summarise.short_gist import statements_of

TITLE = "Tidy: a cache for long prompts"
ABSTRACT = (
    "Caches of long prompts are crucial for language models and have recently attracted much attention. "
    "We propose Tidy, a cache for long prompts. Tidy sizes its own pages by what is read next. "
    "An encoder then takes each page and is used to compute its table. Tidy reduces latency by 31% on five machines. "
    "Our results demonstrate the effectiveness and robustness of our method."
)


def worth() -> dict[str, float]:
    told = statements_of(TITLE, ABSTRACT)
    return dict(zip([one.text for one in told], how_much([one.features for one in told]).tolist(), strict=True))


def test_a_headline_tells_more_than_what_the_work_does_and_that_more_than_the_title_again() -> None:
    told = worth()
    assert max(told, key=lambda text: told[text]) == "Tidy reduces latency by 31% on five machines."
    assert told["Tidy sizes its own pages by what is read next."] > told["Proposes Tidy, a cache for long prompts."]


@pytest.mark.parametrize("little", ["An encoder", "Caches of", "The results"])
def test_background_a_step_and_praise_tell_less_than_what_the_work_does(little: str) -> None:
    told = worth()
    assert all(
        one < told["Tidy sizes its own pages by what is read next."] for text, one in told.items() if text.startswith(little)
    )


def test_each_feature_has_a_weight_and_a_place() -> None:
    weights = read_weights(SHIPPED)
    assert len(weights.rows) == len(FEATURES) == len(set(FEATURES))
    assert all(
        len(one.features) == len(FEATURES) and np.isfinite(one.features).all() for one in statements_of(TITLE, ABSTRACT)
    )


def test_of_nothing_nothing_is_told() -> None:
    assert how_much([]).shape == (0,)
