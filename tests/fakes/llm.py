"""An OpenAI-compatible chat endpoint that answers as it is told; it stands on tests.fakes.web."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.web import Answer, Asked, Web

PATH = "/v1/chat/completions"


def completion(content: str | None, *, tokens: int | None = 500, finish: str = "stop", refusal: str | None = None) -> Answer:
    """One whole reply with `content` as the model's text."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, "refusal": refusal}, "finish_reason": finish}
        ],
    }
    if tokens is not None:
        body["usage"] = {"prompt_tokens": tokens - 100, "completion_tokens": 100, "total_tokens": tokens}
    return Answer(json.dumps(body), headers={"content-type": "application/json"})


def summary(problem: str = "", method: str = "", evidence: str = "", why: str = "") -> str:
    """The model's text when it does what it was asked."""
    return json.dumps({"problem": problem, "method": method, "evidence": evidence, "why_it_matters": why})


def refusing(web: Web, is_refused: Callable[[Mapping[str, Any]], bool], otherwise: Answer) -> None:
    """Answer 400 to each question that is refused."""

    def rule(asked: Asked) -> Answer | None:
        if asked.path != PATH:
            return None
        body = json.loads(asked.body)
        return Answer('{"error": {"message": "unsupported"}}', status=400) if is_refused(body) else otherwise

    web.rule(rule)
