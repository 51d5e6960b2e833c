"""An error of the Web API."""

from collections.abc import Sequence


class Wrong(Exception):  # noqa: N818 - the name says what happened
    """What is answered with ok: false; `told` stands in response_metadata.messages."""

    def __init__(self, error: str, *, told: Sequence[str] = (), needed: str = "", provided: str = "") -> None:
        super().__init__(error)
        self.error = error
        self.told = tuple(told)
        self.needed = needed
        self.provided = provided
