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


# How models wrap, break and spoil what they were asked for: the model's text, given the one that was asked for.
WRAPPED: Mapping[str, Callable[[str], str]] = {
    "prose before": lambda good: f"Sure! Here is the summary of the paper:\n\n{good}",
    "prose after": lambda good: f"{good}\n\nLet me know if I should shorten it.",
    "a fence within prose": lambda good: f"Here is the JSON:\n```json\n{good}\n```\nEach value is within 45 words.",
    "a fence without a language": lambda good: f"```\n{good}\n```",
    "reasoning before prose": lambda good: f"<think>The user wants {{JSON}}.</think>The summary:\n{good}",
    "the question repeated": lambda good: f'{{"title": "A", "text": "B"}}\n{good}',
    "the shape repeated": lambda good: f"{summary('...', '...', '...', '...')}\n{good}",
}
BROKEN: Mapping[str, Callable[[str], str]] = {
    "a refusal in prose": lambda good: "I'm sorry, but I can't help with summarizing this document.",
    "prose alone": lambda good: "The paper presents a scheduler. It reduces memory by two thirds.",
    "cut short": lambda good: good[: len(good) // 2],
    "cut short in a fence": lambda good: f"Here it is:\n```json\n{good[: len(good) // 3]}",
    "other keys": lambda good: good.replace('"problem"', '"challenge"').replace('"evidence"', '"results"'),
    "Markdown": lambda good: "**Problem:** It is slow.\n**Method:** A cache.\n**Evidence:** 2x.\n**Why it matters:** Speed.",
    "single quotes": lambda good: str(json.loads(good)),
}


def refusing(web: Web, is_refused: Callable[[Mapping[str, Any]], bool], otherwise: Answer) -> None:
    """Answer 400 to each question that is refused."""

    def rule(asked: Asked) -> Answer | None:
        if asked.path != PATH:
            return None
        body = json.loads(asked.body)
        return Answer('{"error": {"message": "unsupported"}}', status=400) if is_refused(body) else otherwise

    web.rule(rule)
