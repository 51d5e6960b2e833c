"""The steps of Slack's workflows: each execution is answered once, and nothing else comes of it.

A step is done for the workspace, as for somebody who is in none of its channels: the event names nobody
(docs.slack.dev/reference/events/function_executed). What is found is handed back; the workflow does with it what it likes.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from weakref import WeakValueDictionary

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client.errors import error_code
from adapters.slack.install.steps import DIGEST_STEP, EVENT, SEARCH_STEP
from adapters.slack.listeners.answers import called
from adapters.slack.listeners.context import Body, SlackContext
from adapters.slack.render.steps import outputs, sentence_of
from adapters.slack.workspaces import PLATFORM, workspace_of
from bot.errors import DeliveryError, Refused, StoreError, UsageError
from bot.handlers.handle import failed
from bot.handlers.surfaces.steps import USUAL, USUAL_DAYS, digest_for_workflow, found_for_workflow
from bot.models import Actor, Pace, Reply

A_MINUTE = 45  # answers in a workspace; Slack takes 50 (tier 3)
LONGEST = 300.0  # seconds that an execution waits for its turn; later ones are told to come again
_SPAN = 29 * 60.0  # seconds for which an answer is tried
_MINUTE = 60.0
_UNSURE = 5  # times that an answer is sent again of which nobody knows whether it was taken
_TOGETHER, _BURST = 38, 8  # answers of several processes in a minute, and those that may be made up for: 46 in any minute
_AT_ONCE = 3  # that are worked on, each of another workspace; people who ask go before
# Slack's words for an execution that has ended already, or whose workflow was taken away.
_ENDED = frozenset({"execution_not_in_running_state", "function_execution_not_found"})
_NOT_TAKEN = "Slack did not take what Broadsheet found; its log says why."
_TOO_MANY = (
    f"Broadsheet answers {A_MINUTE} steps a minute in a workspace, and more are waiting; run the workflow again later."
)
_UNKNOWN = "This version of Broadsheet does not know the step; give the app the manifest of this version."

log = logging.getLogger(__name__)


class StepPace:
    """Gives each workspace's executions their turns, so many in any minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._turns: dict[str, deque[float]] = {}

    def wait(self, workspace: str, longest: float) -> float | None:
        """Take the next turn, and return in how many seconds it is; None, and no turn, where that is more than `longest`."""
        turns, now = self._turns.setdefault(workspace, deque(maxlen=A_MINUTE)), self._clock()
        at = max(now, turns[0] + _MINUTE) if len(turns) == A_MINUTE else now
        if at - now > longest:
            return None
        turns.append(at)
        return at - now


class StepTurns:
    """Lets so many executions be worked on at once, one of a workspace: a slow one holds up those of its own alone."""

    def __init__(self) -> None:
        self._any = asyncio.Semaphore(_AT_ONCE)
        self._own: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # of workspaces of which one waits

    @asynccontextmanager
    async def of(self, workspace: str) -> AsyncIterator[None]:
        """Wait for the turn of an execution of the workspace, and hold it."""
        # One of a workspace at most waits for the turns of all, and they are given in order: so each workspace has its own.
        async with self._own.setdefault(workspace, asyncio.Lock()), self._any:
            yield


@dataclass(frozen=True, slots=True)
class _Execution:
    """One run of a step."""

    workspace: str
    identifier: str
    token: str  # good for this execution alone, for a quarter of an hour; "" where Slack gave none
    callback: str
    inputs: Mapping[str, Any]


def listen(app: AsyncApp, context: SlackContext) -> None:
    """Hear the steps that are executed, whatever the settings say: one that is not answered holds its workflow up."""
    app.event(EVENT)(_Steps(context).executed)


class _Steps:
    def __init__(self, context: SlackContext) -> None:
        self._context = context
        patience = context.answers.patience
        # Slack counts each method for itself, so that who is told to come again keeps nobody else waiting.
        self._done, self._refused = StepPace(patience.clock), StepPace(patience.clock)
        self._turns = StepTurns()

    async def executed(self, body: Body) -> None:
        """Begin what an execution asks for."""
        event = body["event"]
        if not event.get("function_execution_id"):
            log.warning("a workflow's step came without its execution, and cannot be answered")
            return
        execution = _Execution(
            workspace_of(self._context.clients.team_of_request(body)),
            str(event["function_execution_id"]),
            str(event.get("bot_access_token") or ""),
            str((event.get("function") or {}).get("callback_id") or ""),
            event.get("inputs") or {},
        )
        self._context.tasks.start(self._answer(execution), "answering a workflow's step")

    async def _wait(self, pace: StepPace, verb: str, workspace: str) -> float | None:
        """Return in how many seconds it is the turn of an execution, over all processes; None where that is too long."""
        wait, cluster = pace.wait(workspace, LONGEST), self._context.platform.cluster
        if wait is None or cluster is None:
            return wait
        interval = timedelta(seconds=_MINUTE / _TOGETHER)
        place = Pace(f"slack steps {verb} {workspace}", interval, slack=_BURST * interval)
        try:
            shared = await cluster.budgets.reserve([place], patience=timedelta(seconds=LONGEST))
        except StoreError as error:
            log.warning("the steps of other processes are not known: %s", error)
            return wait
        return None if shared.total_seconds() > LONGEST else max(wait, shared.total_seconds())

    async def _answer(self, execution: _Execution) -> None:
        wait = await self._wait(self._done, "done", execution.workspace)
        if wait is None:
            await self._fail(execution, _TOO_MANY)
            return
        await self._context.answers.patience.sleep(wait)
        try:
            async with self._turns.of(execution.workspace):
                found = outputs(await self._asked(execution), self._context.now.date())
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            await self._fail(execution, sentence_of(failed(error, "")))
            return
        await self._complete(execution, found)

    async def _asked(self, execution: _Execution) -> Reply:
        """Return what the step asks for. Raises BotError."""
        context, given, now = self._context.platform.handler_context, execution.inputs, self._context.now
        actor = Actor(platform=PLATFORM, workspace=execution.workspace, channel="", person="", may_write=False)
        most = _number(given, "limit", USUAL)
        if execution.callback == SEARCH_STEP:
            return await found_for_workflow(context, str(given.get("query") or ""), most, actor, now)
        if execution.callback == DIGEST_STEP:
            days = _number(given, "days", USUAL_DAYS)
            return await digest_for_workflow(context, str(given.get("topic") or ""), most, days, actor, now)
        raise UsageError(_UNKNOWN)

    async def _complete(self, execution: _Execution, found: dict[str, Any]) -> None:
        said: dict[str, Any] = {"function_execution_id": execution.identifier, "outputs": found}
        if (
            await self._tell(execution, lambda client: client.functions_completeSuccess(**said))
            == "parameter_validation_failed"
        ):
            await self._fail(execution, _NOT_TAKEN)

    async def _fail(self, execution: _Execution, why: str) -> None:
        wait = await self._wait(self._refused, "refused", execution.workspace)
        if wait is None:
            log.warning("a step of %s is not answered: too many are", execution.workspace)
            return
        await self._context.answers.patience.sleep(wait)
        said = {"function_execution_id": execution.identifier, "error": why}
        await self._tell(execution, lambda client: client.functions_completeError(**said))

    async def _tell(self, execution: _Execution, ask: Callable[[AsyncWebClient], Any]) -> str:
        """Answer the execution, by its own token or else the app's; return Slack's word for why not, "" where it took it."""
        try:
            try:
                await self._tried(execution, execution.token, ask)
            except Refused:
                if not execution.token:
                    raise
                await self._tried(execution, "", ask)
        except DeliveryError as error:
            code = error_code(error.__cause__ or error)
            level = logging.INFO if code in _ENDED else logging.WARNING
            log.log(level, "a step of %s could not be answered: %s", execution.workspace, error)
            return code
        return ""

    async def _tried(self, execution: _Execution, token: str, ask: Callable[[AsyncWebClient], Any]) -> None:
        """Answer it; again where Slack asks for a pause, or does not say whether it took it: a second one it refuses."""
        answers = self._context.answers
        client = self._context.clients.new_client(token) if token else await answers.client(execution.workspace)
        patience = answers.patience
        await patience.keep_trying(lambda: called(ask(client)), patience.after(_SPAN), repeats=_UNSURE)


def _number(given: Mapping[str, Any], name: str, usual: int) -> int:
    """Return a whole number that the step was given, the usual one where it was given none. Raises UsageError."""
    value = given.get(name)
    if value in (None, ""):
        return usual
    try:
        return int(str(value).strip().removesuffix(".0"))
    except ValueError as error:
        raise UsageError(f"The step's input {name} is a whole number.") from error
