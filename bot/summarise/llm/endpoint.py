"""An OpenAI-compatible chat endpoint: one question, one answer, and what it cost."""

import asyncio
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from pydantic import BaseModel, Field, ValidationError

from bot.errors import SourceUnavailable
from bot.http.client import Http, Request, Response
from bot.summarise.llm.prompt import SCHEMA, Messages

LONGEST_ANSWER = 800  # tokens asked for; four parts take about 200
LARGEST_REPLY = 256 * 1024  # bytes

_CHARACTERS_PER_TOKEN = 3  # low for English (about 4), so that an estimate errs on the dear side

_STRUCTURED = {"type": "json_schema", "json_schema": {"name": "summary", "strict": True, "schema": SCHEMA}}
# Servers differ in what they know; each refusal (400, 422) leads to the next way of asking, and the way that worked is kept.
_WAYS: tuple[Mapping[str, object], ...] = (
    {"response_format": _STRUCTURED, "temperature": 0, "max_tokens": LONGEST_ANSWER},
    {"response_format": _STRUCTURED, "max_completion_tokens": LONGEST_ANSWER},
    {"response_format": {"type": "json_object"}, "temperature": 0, "max_tokens": LONGEST_ANSWER},
    {"temperature": 0, "max_tokens": LONGEST_ANSWER},
    {},
)
_REFUSALS = frozenset({HTTPStatus.BAD_REQUEST.value, HTTPStatus.UNPROCESSABLE_ENTITY.value})


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's text, or (`fault`) why there is none.

    `tokens` is what it cost, `detail` what the log should know beside the fault, `rest` how long the server wants rest.
    """

    text: str = ""
    tokens: int = 0
    fault: str = ""
    detail: str = ""
    rest: timedelta | None = None


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    total_tokens: int = Field(default=0, ge=0, le=10_000_000)


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class Endpoint:
    """`base_url` ends before `/chat/completions`; `timeout` is in seconds and counts for the whole answer."""

    def __init__(self, http: Http, *, base_url: str, model: str, api_key: str, timeout: float) -> None:
        self._http = http
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._model = model
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout = timeout
        self._way = 0

    async def ask(self, messages: Messages) -> Answer:
        """Return the answer; never raises."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._ask_each_way(messages)
        except TimeoutError:
            return Answer(fault="the model did not answer in time", tokens=estimate_tokens(messages))
        except SourceUnavailable as error:
            return Answer(fault="the model could not be reached", detail=str(error), rest=error.retry_after)

    async def _ask_each_way(self, messages: Messages) -> Answer:
        for way in range(self._way, len(_WAYS)):
            response = await self._post({"model": self._model, "messages": list(messages), **_WAYS[way]})
            if response.status == HTTPStatus.OK:
                self._way = way
                return _read(response.body, messages)
        return Answer(fault="the model's server refused the request")

    async def _post(self, body: Mapping[str, object]) -> Response:
        request = Request(url=self._url, method="POST", headers=self._headers, json=body)
        return await self._http.fetch(request, accept=_REFUSALS | {HTTPStatus.OK.value}, max_bytes=LARGEST_REPLY)


def estimate_tokens(messages: Messages, answer: str = "") -> int:
    """Return about how many tokens a conversation takes, for servers that do not say."""
    characters = sum(len(message["content"]) for message in messages) + len(answer)
    return math.ceil(characters / _CHARACTERS_PER_TOKEN)


def _read(body: bytes, messages: Messages) -> Answer:
    try:
        completion = _Completion.model_validate(json.loads(body))
    except (ValidationError, ValueError, RecursionError):
        return Answer(fault="the model's server answered in an unknown shape", tokens=estimate_tokens(messages))
    choice = completion.choices[0]
    text = choice.message.content or ""
    told = completion.usage.total_tokens if completion.usage else 0
    return Answer(text, told or estimate_tokens(messages, text), _fault(choice, text))


def _fault(choice: _Choice, text: str) -> str:
    if choice.message.refusal or choice.finish_reason == "content_filter":
        return "the model refused"
    if choice.finish_reason == "length":
        return "the model's answer did not end"
    return "" if text.strip() else "the model's answer was empty"
