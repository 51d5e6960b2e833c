"""An OpenAI-compatible embeddings endpoint that may misbehave in every way."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from bot.embed.remote import AT_ONCE, RemoteEmbedder
from bot.errors import EmbeddingUnavailable
from bot.http.client import Http
from tests.fakes.web import Answer, Asked, Web

KEY = "sk-not-a-real-key-123456"
PATH = "/v1/embeddings"


@pytest.fixture
async def remote(web: Web) -> AsyncIterator[RemoteEmbedder]:
    http = Http(user_agent="Broadsheet/test", timeout=60, sleep=no_sleep)
    yield RemoteEmbedder(http, base_url=f"{web.url}/v1/", model="embed-test", dimensions=3, api_key=KEY)
    await http.close()


async def no_sleep(seconds: float) -> None:
    """Retries wait for nobody here."""


def rows(*vectors: list[Any]) -> str:
    return json.dumps({"data": [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]})


def by_length(asked: Asked) -> Answer:
    texts = json.loads(asked.body)["input"]
    data = [{"index": at, "embedding": [len(text), 1, 0]} for at, text in enumerate(texts)]
    return Answer(json.dumps({"data": data[::-1]}))  # a server may answer in any order


async def test_texts_go_in_batches_and_come_back_in_their_order(web: Web, remote: RemoteEmbedder) -> None:
    web.rule(by_length)
    texts = ["x" * at for at in range(1, AT_ONCE + 6)]
    made = await remote.embed(texts)
    np.testing.assert_allclose(made[:, 0] / made[:, 1], range(1, AT_ONCE + 6), rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, rtol=1e-5)
    assert [len(json.loads(asked.body)["input"]) for asked in web.asked] == [AT_ONCE, 5]
    assert {(asked.path, asked.headers["authorization"]) for asked in web.asked} == {(PATH, f"Bearer {KEY}")}
    assert json.loads(web.asked[0].body)["model"] == "embed-test"


class Counting(ThreadPoolExecutor):
    """Threads, and how often one of them was asked to work."""

    jobs = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self.jobs += 1
        return super().submit(fn, *args, **kwargs)


async def test_answers_are_read_in_a_thread_so_that_the_loop_stays_free(web: Web, remote: RemoteEmbedder) -> None:
    web.rule(by_length)
    await remote.embed(["once, so that all is connected"])
    threads = Counting(1)
    asyncio.get_running_loop().set_default_executor(threads)
    await remote.embed(["x"] * (2 * AT_ONCE))
    assert threads.jobs == 2  # one for each answer


async def test_an_empty_text_is_not_asked_for(web: Web, remote: RemoteEmbedder) -> None:
    web.rule(by_length)
    np.testing.assert_array_equal(await remote.embed(["", " \n"]), np.zeros((2, 3)))
    assert not web.asked


async def test_half_a_character_is_sent_as_something_that_can_be(web: Web, remote: RemoteEmbedder) -> None:
    web.rule(by_length)
    assert (await remote.embed(["\ud800 gpu"])).shape == (1, 3)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Answer(status=401, body=f"bad key {KEY}"), "answered 401"),
        (Answer(status=429, headers={"retry-after": "900"}), "answered 429"),
        (Answer(reset=True), "gave no vectors"),
        (Answer("<html>"), "unknown shape"),
        (Answer("[" * 5_000), "unknown shape"),
        (Answer('{"data": [{"index": 0, "embedding": "AAAA"}]}'), "unknown shape"),
        (Answer(rows([1, 2])), '2 numbers, but the setting "embeddings.dimensions" says 3'),
        (Answer(rows([1, 2, 3], [1, 2, 3])), "2 vectors for 1 texts"),
        (Answer(rows()), "0 vectors for 1 texts"),
        (Answer('{"data": [{"index": 7, "embedding": [1, 2, 3]}]}'), "1 vectors for 1 texts"),
        (Answer('{"data": [{"index": 0, "embedding": [1, NaN, 3]}]}'), "numbers that are none"),
    ],
)
async def test_what_cannot_be_had_is_one_sentence_without_the_key(
    web: Web, remote: RemoteEmbedder, answer: Answer, sentence: str
) -> None:
    web.answer(PATH, answer)
    with pytest.raises(EmbeddingUnavailable) as caught:
        await remote.embed(["gpu"])
    assert sentence in str(caught.value)
    assert KEY not in str(caught.value) + repr(caught.value.__cause__)
    assert "\n" not in str(caught.value)


async def test_how_long_the_endpoint_wants_rest_is_passed_on(web: Web, remote: RemoteEmbedder) -> None:
    web.answer(PATH, Answer(status=429, headers={"retry-after": "900"}))
    with pytest.raises(EmbeddingUnavailable) as caught:
        await remote.embed(["gpu"])
    assert caught.value.retry_after is not None
    assert caught.value.retry_after.total_seconds() == 900


async def test_numbers_beyond_a_float_still_have_a_direction(web: Web, remote: RemoteEmbedder) -> None:
    web.answer(PATH, Answer(rows([3e200, 4e200, 0])))
    np.testing.assert_allclose(await remote.embed(["gpu"]), [[0.6, 0.8, 0]], rtol=1e-6)
