"""The steps that are offered to Slack's Workflow Builder: one table behind the manifest, the listener and the docs. Pure.

Their shape is Slack's: https://docs.slack.dev/reference/app-manifest and /reference/types.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.handlers.surfaces.steps import LONGEST, MOST, USUAL, USUAL_DAYS

EVENT = "function_executed"
SEARCH_STEP = "search_papers_step"  # callback identifiers
DIGEST_STEP = "topic_digest_step"


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a step is given, or gives."""

    name: str
    type: str  # of Slack's types
    title: str  # the label in Workflow Builder
    description: str
    required: bool = True

    def as_manifest(self) -> dict[str, Any]:
        """Return it as the manifest has it."""
        return {
            "type": self.type,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "is_required": self.required,
        }


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """One step."""

    callback: str
    title: str
    description: str
    inputs: tuple[Parameter, ...]

    def as_manifest(self) -> dict[str, Any]:
        """Return it as the manifest has it."""
        return {
            "title": self.title,
            "description": self.description,
            "input_parameters": {each.name: each.as_manifest() for each in self.inputs},
            "output_parameters": {each.name: each.as_manifest() for each in OUTPUTS},
        }


_LIMIT = Parameter("limit", "integer", "Entries", f"How many at most, 1 to {MOST}; without it {USUAL}", required=False)

OUTPUTS = (
    Parameter("text", "string", "Text", "What was found, for a message: each with its title, its gist and its link"),
    Parameter("count", "integer", "Count", "How many entries the text has; 0 where nothing was found"),
    Parameter("link", "string", "First link", "Where the first entry leads; none where nothing was found", required=False),
)

STEPS = (
    WorkflowStep(
        SEARCH_STEP,
        "Search papers",
        "Search everything that Broadsheet collected: papers and repositories",
        (
            Parameter("query", "string", "Query", 'As behind /digest search: words, "phrases", published:7d, a link'),
            _LIMIT,
        ),
    ),
    WorkflowStep(
        DIGEST_STEP,
        "Digest of a topic",
        "The best of the last days on a topic of this workspace",
        (
            Parameter("topic", "string", "Topic", "Its name, as /digest topics lists it"),
            _LIMIT,
            Parameter("days", "integer", "Days", f"How far back, 1 to {LONGEST}; without it {USUAL_DAYS}", required=False),
        ),
    ),
)


def functions() -> Mapping[str, Any]:
    """Return the steps as the manifest has them, by callback identifier."""
    return {each.callback: each.as_manifest() for each in STEPS}
