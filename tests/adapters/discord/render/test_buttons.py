"""What Discord's buttons carry."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.render.buttons import Pressed, button, custom_id, marked, pressed
from adapters.discord.render.limits import CUSTOM_ID, LABEL, length
from bot.models import text_key

DELIVERY = "k3x9" * 6


@given(st.text(min_size=1, max_size=200))
def test_what_a_button_carries_is_read_back_with_and_without_a_marker(command: str) -> None:
    carried, kept = custom_id(command)
    plain = Pressed("", command, "") if not kept else Pressed("", "", text_key(command))

    assert kept in ("", command)
    assert pressed(carried) == plain
    assert pressed(marked(carried, DELIVERY)) == Pressed(DELIVERY, plain.command, plain.key)
    assert length(marked(carried, DELIVERY)) <= CUSTOM_ID


@given(st.text(max_size=300), st.text(min_size=1, max_size=100))
def test_a_label_is_there_and_fits(label: str, command: str) -> None:
    made, _ = button(label, command)
    assert 1 <= length(made["label"]) <= LABEL


def test_what_others_wrote_on_a_button_is_none_of_ours() -> None:
    assert [pressed(each) for each in ("", "x", "k:short", "d:only", "d:UPPER:c:x", "delete everything")] == [None] * 6
