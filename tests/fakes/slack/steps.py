"""Steps that workflows execute: docs.slack.dev/reference/events/function_executed, and the methods that answer one.

A step has a token of its own, good for a quarter of an hour and until the step ends (slackapi/bolt-python#1075). The app's
own token may answer as well; that of another workspace may not.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.slack.call import Call
from tests.fakes.slack.payloads import APP
from tests.fakes.slack.state import Grant, Json, Team
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong

_TOKEN_LIVES = 900.0  # seconds
_LONGEST = 40_000  # characters of a text: nothing says how many Slack takes, and no message takes more
_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


@dataclass(slots=True, eq=False)
class Execution:
    """One run of a step, and how it ended."""

    id: str
    team: str
    token: str
    declared: Json
    outputs: Json | None = None
    error: str = ""
    answers: list[str] = field(default_factory=list)  # the methods that ended it: one at most

    @property
    def has_ended(self) -> bool:
        return bool(self.answers)


class Steps:
    """The executions."""

    def __init__(self) -> None:
        self.all: dict[str, Execution] = {}

    def begun(
        self, world: World, team: Team, callback: str, step: Json, inputs: Json, scopes: Collection[str]
    ) -> tuple[Execution, Json]:
        """Begin an execution, and return it with the event; raises AssertionError for what no workflow would give."""
        _demand_inputs(step["input_parameters"], inputs)
        number = len(self.all)
        made = Execution(f"Fx{number:04d}", team.id, f"xwfp-{team.id}-{number}", step)
        self.all[made.id] = made
        world.grants[made.token] = Grant(
            token=made.token, kind="bot", teams=(team.id,), scopes=frozenset(scopes), expires=world.now + _TOKEN_LIVES
        )
        about: Json = {"id": f"Fn{callback}", "callback_id": callback, "title": step["title"], "type": "app", "app_id": APP}
        about |= {name: list(step[name].values()) for name in ("input_parameters", "output_parameters")}
        what: Json = {"type": "function_executed", "function": about, "inputs": inputs}
        what |= {"function_execution_id": made.id, "workflow_execution_id": f"Wx{number:04d}"}
        return made, what | {"event_ts": world.times.ts(), "bot_access_token": made.token}

    def succeed(self, world: World, call: Call) -> Json:
        """End an execution with what it gives on."""
        made = self._running(world, call)
        told = [*_wrong_outputs(made.declared["output_parameters"], call.args["outputs"])]
        if told:
            raise Wrong("parameter_validation_failed", told=told)
        made.outputs = call.args["outputs"]
        return self._ended(world, made, call)

    def fail(self, world: World, call: Call) -> Json:
        """End an execution with why it failed, which is shown to people."""
        made = self._running(world, call)
        made.error = call.args["error"]
        return self._ended(world, made, call)

    def _running(self, world: World, call: Call) -> Execution:
        made = self.all.get(call.args["function_execution_id"])
        if made is None:
            raise Wrong("function_execution_not_found")
        others = {each.token for each in self.all.values()} - {made.token}
        teams = {each.id for each in world.reachable(call.grant)}
        if call.grant.token in others or made.team not in teams:
            raise Wrong("access_denied")
        if made.has_ended:
            raise Wrong("execution_not_in_running_state")
        return made

    def _ended(self, world: World, made: Execution, call: Call) -> Json:
        made.answers.append(call.method)
        world.grants[made.token].trouble = "token_revoked"
        world.changed()
        return {}


def _demand_inputs(declared: Json, inputs: Json) -> None:
    """Raise AssertionError for what Workflow Builder would not let anybody give."""
    missing = [name for name, each in declared.items() if each["is_required"] and name not in inputs]
    wrong = [name for name, value in inputs.items() if name not in declared or not _is(declared[name]["type"], value)]
    if missing or wrong:
        raise AssertionError(f"no workflow executes a step without {missing} and with {wrong}")


def _wrong_outputs(declared: Json, given: Any) -> list[str]:
    if not isinstance(given, dict):
        return ["outputs must be an object"]
    missing = [f"missing {name}" for name, each in declared.items() if each["is_required"] and given.get(name) in (None, "")]
    unknown = [f"unknown {name}" for name in given if name not in declared]
    wrong = [
        f"{name} is no {declared[name]['type']}"
        for name in given
        if name in declared and not _is(declared[name]["type"], given[name])
    ]
    long = [f"{name} is too long" for name, value in given.items() if isinstance(value, str) and len(value) > _LONGEST]
    return [*missing, *unknown, *wrong, *long]


def _is(kind: str, value: Any) -> bool:
    """Say whether a value is of one of Slack's primitive types; a flag is no number."""
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
