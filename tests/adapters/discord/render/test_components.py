"""What Discord's buttons carry."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.render.components import ButtonValue, button, custom_id, read_button, with_delivery
from adapters.discord.render.limits import CUSTOM_ID, LABEL, length
from bot.models import text_key

DELIVERY = "k3x9" * 6


@given(st.text(min_size=1, max_size=200))
def test_what_a_button_carries_is_read_back_with_and_without_a_marker(command: str) -> None:
    carried, kept = custom_id(command)
    plain = ButtonValue("", command, "") if not kept else ButtonValue("", "", text_key(command))

    assert kept in ("", command)
    assert read_button(carried) == plain
    assert read_button(with_delivery(carried, DELIVERY)) == ButtonValue(DELIVERY, plain.command, plain.key)
    assert length(with_delivery(carried, DELIVERY)) <= CUSTOM_ID


@given(st.text(max_size=300), st.text(min_size=1, max_size=100))
def test_a_label_is_there_and_fits(label: str, command: str) -> None:
    made, _ = button(label, command)
    assert 1 <= length(made["label"]) <= LABEL


def test_what_others_wrote_on_a_button_is_none_of_ours() -> None:
    assert [read_button(each) for each in ("", "x", "k:short", "d:only", "d:UPPER:c:x", "delete everything")] == [None] * 6
