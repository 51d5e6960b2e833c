"""One call of the Web API."""

from dataclasses import dataclass

from tests.fakes.slack.state import Grant, Json


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked, by whom."""

    method: str
    grant: Grant
    args: Json


@dataclass(slots=True, kw_only=True)
class Asked:
    """One request as it came in, and what became of it."""

    method: str
    args: Json
    token: str
    at: float
    error: str = ""  # "" when it went well
    told: tuple[str, ...] = ()
