"""What becomes of summaries when the models that come with Broadsheet cannot be read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.errors import SummaryUnavailable
from bot.summarise.choice import roles, scoring, telling, why_readers
from bot.summarise.choice.model_file import read_model

MODELS = pytest.mark.parametrize(
    ("shipped", "read"),
    [
        (roles.SHIPPED, roles.role_model),
        (scoring.SHIPPED, scoring.read_weights),
        (telling.SHIPPED, telling.read_weights),
        (why_readers.SHIPPED, why_readers.read_weights),
    ],
    ids=["roles", "parts", "gist", "why_readers"],
)


@MODELS
@pytest.mark.parametrize("kept", [None, 0, 9, 1000], ids=["missing", "empty", "first-bytes", "cut-short"])
def test_a_missing_or_damaged_model_is_named_with_what_to_do(
    shipped: Path, read: Callable[[Path], object], kept: int | None, tmp_path: Path
) -> None:
    path = tmp_path / shipped.name
    if kept is not None:
        path.write_bytes(shipped.read_bytes()[:kept])
    with pytest.raises(SummaryUnavailable) as caught:
        read_model(path, read)
    assert str(caught.value) == f"The model file {path} is missing or damaged: install Broadsheet again."


def test_a_file_with_a_changed_byte_is_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "roles.npz"
    size = roles.SHIPPED.stat().st_size
    for at in (2, size // 2, size - 22):  # in a member's head, within one, where the table of members is told
        written = bytearray(roles.SHIPPED.read_bytes())
        written[at] ^= 255
        path.write_bytes(written)
        with pytest.raises(SummaryUnavailable, match="damaged"):
            read_model(path, roles.role_model)


def arrays_of(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path) as file:
        return dict(file)


@pytest.mark.parametrize("name", sorted(arrays_of(roles.SHIPPED)))
def test_a_network_whose_layers_do_not_fit_one_another_is_a_damaged_one(name: str, tmp_path: Path) -> None:
    whole = arrays_of(roles.SHIPPED)
    path = tmp_path / "roles.npz"
    for other in (whole[name][: len(whole[name]) // 2], whole[name][:1], whole[name][:0], np.array(1.0)):
        np.savez(path, allow_pickle=False, **{**whole, name: other})
        with pytest.raises(SummaryUnavailable, match="damaged"):
            read_model(path, roles.role_model)


def test_a_network_of_other_roles_is_a_damaged_one(tmp_path: Path) -> None:
    whole = arrays_of(roles.SHIPPED)
    four = {name: whole[name][..., :4] for name in ("out", "medical_out", "out_bias", "medical_bias")}
    chains = {name: whole[name][:4, :4] for name in ("transitions", "medical_transitions")}
    np.savez(tmp_path / "roles.npz", allow_pickle=False, **{**whole, **four, **chains})
    with pytest.raises(SummaryUnavailable, match="damaged"):
        read_model(tmp_path / "roles.npz", roles.role_model)


def test_a_table_of_another_version_is_a_damaged_one(tmp_path: Path) -> None:
    whole = json.loads(scoring.SHIPPED.read_text(encoding="ascii"))
    others = [
        {"signs": {}, "start": []},
        [],
        {"signs": [], "start": []},
        {**whole, "start": whole["start"][:1]},
        {**whole, "start": ["a"] * 4},
        {**whole, "start": 1},
        {**whole, "signs": {sign: weights[:3] for sign, weights in whole["signs"].items()}},
        {**whole, "signs": {sign: weights[0] for sign, weights in whole["signs"].items()}},
        {**whole, "signs": dict.fromkeys(whole["signs"])},
    ]
    path = tmp_path / "parts.json"
    for other in others:
        path.write_text(json.dumps(other), encoding="ascii")
        with pytest.raises(SummaryUnavailable, match="damaged"):
            read_model(path, scoring.read_weights)
