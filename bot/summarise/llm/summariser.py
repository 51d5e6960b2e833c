"""Summaries by a language model, each sentence held against the text; the extractive one stands in wherever that fails."""

import asyncio
import hashlib
import logging
from dataclasses import replace
from datetime import datetime, timedelta

from bot.errors import SummaryUnavailable
from bot.http.client import Http
from bot.models import PARTS, Item, Kind, Summary, SummaryPart
from bot.ports.summaries import Summaries, Summariser
from bot.summarise.english.sentences import split
from bot.summarise.llm.claims import Source
from bot.summarise.llm.endpoint import LONGEST_ANSWER, Answer, Endpoint, estimate_tokens
from bot.summarise.llm.grounding import clean, faults, nearest_sentences
from bot.summarise.llm.prompt import LONGEST_TEXT, PROMPT_VERSION, Messages, ModelAnswer, messages, parse
from bot.summarise.repositories.releases import latest_release

log = logging.getLogger(__name__)

FAILURES_IN_A_ROW = 3
REST = timedelta(minutes=15)  # after so many failures in a row nobody is asked


class LlmSummariser:
    """Asks an OpenAI-compatible endpoint; `fallback` answers when it cannot, and part by part when it is not grounded.

    `daily_tokens` caps what is spent in a day (UTC); with 0 what was made before is told, and nobody is asked. `timeout` is
    in seconds. `http` should not retry for long: a digest waits for it.
    """

    def __init__(
        self,
        http: Http,
        summaries: Summaries,
        fallback: Summariser,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        daily_tokens: int = 200_000,
        timeout: float = 60.0,
    ) -> None:
        self._endpoint = Endpoint(http, base_url=base_url, model=model, api_key=api_key, timeout=timeout)
        self._summaries = summaries
        self._fallback = fallback
        self._model = model
        self._maker = f"{model} prompt {PROMPT_VERSION}"
        self._daily_tokens = daily_tokens
        self._failures = 0
        self._rest_until: datetime | None = None

    async def summarise(self, item: Item, now: datetime) -> Summary:
        """Return the model's summary, or the fallback's with a note that says why; raises what the store raises."""
        text = source_text(item)
        plain = await self._fallback.summarise(item, now)
        if item.withdrawn or not text.strip():
            return plain
        digest = hashlib.sha256(f"{item.title}\n{text}".encode("utf-8", "replace")).hexdigest()
        kept = await self._summaries.find(item.key, self._maker, digest)
        if kept is not None:
            return kept
        try:
            if not self._daily_tokens:
                raise SummaryUnavailable("no model is asked here")
            reply = await self._ask(messages(item.title, text), now)
        except SummaryUnavailable as error:
            return _noted(plain, f"Extractive, as {error}.")
        summary = await asyncio.to_thread(_grounded, reply, item, text, plain, self._model)
        await self._summaries.save(item.key, self._maker, digest, summary, now)
        return summary

    async def check(self, now: datetime) -> str:
        """Put one small question to the model and say that it answers; raises SummaryUnavailable with what went wrong."""
        answer = await self._endpoint.ask(messages("A test", "This is a test. Nothing was measured."))
        await self._summaries.spend(now.date(), answer.tokens)
        if answer.fault:
            raise SummaryUnavailable(answer.detail or answer.fault)
        parse(answer.text)
        return f"{self._model} answers; {answer.tokens:,} tokens for one question"

    async def _ask(self, question: Messages, now: datetime) -> ModelAnswer:
        if self._rest_until is not None and now < self._rest_until:
            raise SummaryUnavailable("the model failed several times and is left alone for a while")
        answer = await self._within_budget(question, now)
        try:
            if answer.fault:
                raise SummaryUnavailable(answer.fault)
            reply = parse(answer.text)
        except SummaryUnavailable as error:
            self._note_failure(answer, now)
            log.warning("no summary by %s: %s", self._model, answer.detail or error)
            raise
        self._failures, self._rest_until = 0, None
        return reply

    async def _within_budget(self, question: Messages, now: datetime) -> Answer:
        """Ask where the most that it may cost is left of the day, and count what it cost.

        The most is counted first, so that who asks at the same time, in any process, cannot spend the same. It stays counted
        where nobody knows what was spent: when this is cancelled, or the process ends.
        """
        day, cost = now.date(), estimate_tokens(question) + LONGEST_ANSWER
        if not await self._summaries.spend(day, cost, most=self._daily_tokens):
            raise SummaryUnavailable("the day's budget for the model is used up")
        answer = await self._endpoint.ask(question)
        await self._summaries.spend(day, answer.tokens - cost)
        return answer

    def _note_failure(self, answer: Answer, now: datetime) -> None:
        """Rest after several failures in a row, or when the server asked for it."""
        self._failures += 1
        if answer.rest is not None or self._failures >= FAILURES_IN_A_ROW:
            self._rest_until = now + (answer.rest or REST)


def source_text(item: Item) -> str:
    """Return all that the model may know of an item beside its title."""
    if item.kind is not Kind.REPO:
        return item.abstract[:LONGEST_TEXT]
    facts = [
        f"Topics: {', '.join(item.keywords)}." if item.keywords else "",
        f"Language: {item.language}." if item.language else "",
        latest_release(item)[0] if item.release else "",
    ]
    return "\n".join(part for part in (item.abstract, *facts, item.readme) if part.strip())[:LONGEST_TEXT]


def _grounded(reply: ModelAnswer, item: Item, text: str, plain: Summary, model: str) -> Summary:
    """The model's parts where the text bears them out; the fallback's where it does not or the model is silent."""
    sentences = split(text)
    source = f"{item.title}\n{text}"
    held = Source(source)
    parts, refused = [], []
    for name, said, own in zip(PARTS, reply.parts().values(), plain.parts, strict=True):
        told = clean(said)
        if told and (faults(told, source) or not held.bears_out(told)):
            refused.append(name)
        grounded = told and name not in refused
        parts.append(SummaryPart(name, told, quotes=nearest_sentences(told, sentences)) if grounded else own)
    if all(part is own for part, own in zip(parts, plain.parts, strict=True)):
        return _noted(plain, "Extractive, as the text did not bear the model out.")
    summary = Summary(tuple(parts), plain.read, model, plain.note)
    return (
        _noted(summary, f"Extractive where the text did not bear the model out: {', '.join(refused)}.")
        if refused
        else summary
    )


def _noted(summary: Summary, note: str) -> Summary:
    return replace(summary, note=f"{summary.note} {note}".strip())
