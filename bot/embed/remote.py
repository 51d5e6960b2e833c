"""An OpenAI-compatible embeddings endpoint: texts in, vectors out, nothing of the key in any error."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from datetime import timedelta

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from bot.embed.minilm import Floats, unit
from bot.errors import EmbeddingUnavailable, SourceUnavailable
from bot.http.client import Http, Request

AT_ONCE = 32  # texts of one request; servers take between 32 and 2,048
LARGEST = 16 * 2**20  # bytes of one answer: 32 vectors of 8,192 numbers in 20 characters each are 5 MB
LONGEST = 8_000  # characters of a text: about 2,000 tokens, a quarter of what the usual models read


class _Row(BaseModel):
    index: int = Field(ge=0)
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Row]


class RemoteEmbedder:
    """`base_url` ends before `/embeddings`; `dimensions` is how many numbers the model's vectors have, and is checked."""

    enough = math.inf  # how near unrelated texts are differs from model to model, and nobody measured this one

    def __init__(self, http: Http, *, base_url: str, model: str, dimensions: int, api_key: str = "") -> None:
        self.space = f"{model}-{dimensions}"
        self.size = dimensions
        self._http = http
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}

    async def embed(self, texts: Sequence[str], *, quick: bool = False) -> Floats:
        """Return one row of length 1 per text, in their order; `quick` changes nothing. Raises EmbeddingUnavailable."""
        made = np.zeros((len(texts), self.size), np.float32)
        said = [at for at, text in enumerate(texts) if text.strip()]  # servers refuse empty texts
        for start in range(0, len(said), AT_ONCE):
            part = said[start : start + AT_ONCE]
            made[part] = await self._ask([texts[at][:LONGEST] for at in part])
        return made

    async def _ask(self, texts: Sequence[str]) -> Floats:
        clean = [text.encode(errors="replace").decode() for text in texts]
        body: Mapping[str, object] = {"model": self._model, "input": clean, "encoding_format": "float"}
        request = Request(url=self._url, method="POST", headers=self._headers, json=body)
        try:
            response = await self._http.fetch(request, max_bytes=LARGEST)
        except SourceUnavailable as error:
            wait: timedelta | None = error.retry_after
            raise EmbeddingUnavailable(f"The embeddings endpoint gave no vectors: {error}.", retry_after=wait) from error
        # In a thread: 32 vectors of 3,072 numbers are two megabytes of JSON.
        return await asyncio.to_thread(self._read, response.body, len(texts))

    def _read(self, body: bytes, count: int) -> Floats:
        try:
            answer = _Answer.model_validate(json.loads(body))
        except (ValidationError, ValueError, RecursionError):
            raise EmbeddingUnavailable("The embeddings endpoint answered in an unknown shape.") from None
        by_place = {row.index: row.embedding for row in answer.data}
        if sorted(by_place) != list(range(count)) or len(answer.data) != count:
            raise EmbeddingUnavailable(f"The embeddings endpoint gave {len(answer.data)} vectors for {count} texts.")
        wrong = next((len(row) for row in by_place.values() if len(row) != self.size), None)
        if wrong is not None:
            text = f'{wrong} numbers, but the setting "embeddings.dimensions" says {self.size}'
            raise EmbeddingUnavailable(f"The vectors of the embeddings endpoint have {text}.")
        rows = np.array([by_place[at] for at in range(count)], np.float64)
        if not np.isfinite(rows).all():
            raise EmbeddingUnavailable("The embeddings endpoint gave numbers that are none.")
        return unit((rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-30)).astype(np.float32))
