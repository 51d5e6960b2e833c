"""A reaction is to the one entry that a message shows."""

from datetime import date

import pytest

from adapters.chat.events import keys_reacted_to
from bot.models import Delivery
from tests.conftest import NOW


def posted(payload: str) -> Delivery:
    return Delivery(
        id="d1",
        occurrence=("s1", date(2026, 4, 1), 0),
        workspace="slack:T1",
        channel="C1",
        topic="kv",
        payload=payload,
        due=NOW,
        next_at=NOW,
    )


@pytest.mark.parametrize(
    ("payload", "keys"),
    [
        ('{"keys": [["arxiv:1", "github:a/b"]]}', ("arxiv:1", "github:a/b")),
        ('{"keys": [["arxiv:1"], ["arxiv:2"]]}', ()),
        ('{"keys": []}', ()),
        ("{}", ()),
        ("no JSON", ()),
    ],
)
def test_a_reaction_is_to_the_one_entry_that_is_shown(payload: str, keys: tuple[str, ...]) -> None:
    assert keys_reacted_to(posted(payload)) == keys
