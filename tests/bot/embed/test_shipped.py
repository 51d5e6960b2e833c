"""The model and the table that ship: what they say, and that they keep out of the way."""

import asyncio
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from bot.embed import shipped
from bot.embed.minilm import BATCH, Floats
from bot.embed.shipped import LocalEmbedder
from bot.errors import EmbeddingUnavailable

ROOT = Path(__file__).parents[3]
# The first numbers of what sentence-transformers 6.2 (float32) makes of these with all-MiniLM-L6-v2.
GOLDEN = json.loads((ROOT / "tests" / "payloads" / "minilm.json").read_text(encoding="utf-8"))
TEXTS = [
    "Speculative decoding for mixture-of-experts models",
    "We serve large language models from a pool of spot instances and hide every preemption from the user.",
    "kv cache",
    "Bees communicate the direction of flowers by dancing.",
    "",
    "…",
]


@pytest.fixture
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def cosines(left: Floats, right: Floats) -> Floats:
    made: Floats = np.einsum("ij,ij->i", left, right)
    return made


@pytest.mark.parametrize("name", ["minilm.npz", "static.npz"])
def test_the_shipped_file_is_the_one_that_was_built(name: str) -> None:
    hashes = json.loads((ROOT / "training" / "hashes.json").read_text(encoding="utf-8"))
    assert hashes[f"bot/embed/models/{name}"] == sha256((shipped.FOLDER / name).read_bytes()).hexdigest()


def test_the_model_says_what_the_original_says() -> None:
    made = shipped.minilm().encode([each["text"] for each in GOLDEN])
    wanted = np.array([each["vector"] for each in GOLDEN], np.float32)
    assert cosines(made, wanted).min() > 0.994  # a lone exclamation mark; of a sentence .9988
    assert np.abs(made[:, :8] - wanted[:, :8]).max() < 0.02


def test_the_table_lands_near_the_model() -> None:
    texts = [each["text"] for each in GOLDEN]
    near = cosines(shipped.table().encode(texts), shipped.minilm().encode(texts))
    assert near.mean() > 0.65


@pytest.mark.parametrize("quick", [False, True])
async def test_many_texts_get_what_each_gets_alone(embedder: LocalEmbedder, quick: bool) -> None:
    together = await embedder.embed(TEXTS * 3, quick=quick)
    alone = np.concatenate([await embedder.embed([text], quick=quick) for text in TEXTS])
    assert together.shape == (3 * len(TEXTS), embedder.size)
    assert together.dtype == np.float32
    np.testing.assert_allclose(together, np.tile(alone, (3, 1)), atol=2e-6)


@pytest.mark.parametrize("quick", [False, True])
async def test_rows_have_length_one_and_an_empty_text_none(embedder: LocalEmbedder, quick: bool) -> None:
    lengths = np.linalg.norm(await embedder.embed(TEXTS, quick=quick), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 1, 1, 0, 1], atol=1e-5)
    assert (await embedder.embed([])).shape == (0, embedder.size)


@pytest.mark.parametrize("quick", [False, True])
async def test_what_means_alike_is_close(embedder: LocalEmbedder, quick: bool) -> None:
    asked, near, far = await embedder.embed(
        ["memory of the attention of a language model", "KV cache compression for LLM inference", "a survey of bird songs"],
        quick=quick,
    )
    assert asked @ near > asked @ far + 0.1


@pytest.mark.parametrize("text", ["\x00\ufffd\ud800", "a" * 1_000_000, "中文 " * 300_000, "𝕏" * 5_000, "\u0301" * 1_000])
async def test_odd_and_huge_texts_are_read_like_others(embedder: LocalEmbedder, text: str) -> None:
    row = (await embedder.embed([text, "gpu"]))[0]
    assert np.isfinite(row).all()


def test_texts_of_several_batches_keep_their_places() -> None:
    texts = [f"paper {at} " + "of words " * (at % 40) for at in range(60)]
    model = shipped.minilm()
    assert sum(len(model.words.numbers(text)) for text in texts) > 2 * BATCH
    made = model.encode(texts)
    for at in (0, 17, 39, 59):
        np.testing.assert_allclose(made[at], model.encode([texts[at]])[0], atol=2e-6)


async def test_a_query_does_not_wait_for_many_texts(embedder: LocalEmbedder) -> None:
    many = asyncio.create_task(embedder.embed([f"{text} {at}" for at in range(40) for text in TEXTS]))
    await asyncio.sleep(0)
    await embedder.embed(["gpu kernels"])
    assert not many.done()
    assert len(await many) == 40 * len(TEXTS)


async def test_the_loop_turns_while_texts_are_read(embedder: LocalEmbedder) -> None:
    reading = asyncio.create_task(embedder.embed([f"{text} {at}" for at in range(20) for text in TEXTS]))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 3


async def test_a_remembered_vector_is_not_changed_by_who_got_it(embedder: LocalEmbedder) -> None:
    first = await embedder.embed(["kv cache"])
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(await embedder.embed(["kv cache"]), kept)


async def test_the_table_alone_is_a_space_of_its_own() -> None:
    fast = LocalEmbedder(table_only=True)
    assert fast.space != LocalEmbedder().space
    quick = await LocalEmbedder().embed(TEXTS, quick=True)
    np.testing.assert_array_equal(await fast.embed(TEXTS), quick)


@pytest.mark.parametrize("kept", [None, 0, 9, 3_000_000], ids=["missing", "empty", "no-archive", "cut-short"])
def test_a_missing_or_damaged_file_is_no_more_than_no_vectors(tmp_path: Path, kept: int | None) -> None:
    path = tmp_path / "static.npz"
    if kept is not None:
        path.write_bytes((shipped.FOLDER / "static.npz").read_bytes()[:kept])
    with pytest.raises(EmbeddingUnavailable, match=r"static\.npz is missing or damaged: install Broadsheet again"):
        shipped.read_from(path, shipped.table_of)


@pytest.mark.parametrize(("name", "made"), [("minilm", shipped.minilm_of), ("static", shipped.table_of)])
def test_arrays_that_do_not_fit_one_another_are_damage(name: str, made: Callable[[shipped.Arrays], object]) -> None:
    with np.load(shipped.FOLDER / f"{name}.npz") as file:
        whole = dict(file)
    for one in (each for each in whole if each[-1] not in "12345"):  # of the layers the first
        with pytest.raises((ValueError, LookupError)):
            made({**whole, one: whole[one][:1]})


def test_a_file_with_a_changed_byte_is_no_more_than_no_vectors(tmp_path: Path) -> None:
    path = tmp_path / "static.npz"
    written = bytearray((shipped.FOLDER / "static.npz").read_bytes())
    written[len(written) // 2] ^= 255
    path.write_bytes(written)
    with pytest.raises(EmbeddingUnavailable, match="damaged"):
        shipped.read_from(path, shipped.table_of)
