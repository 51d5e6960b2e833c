"""Which of several changes of a view is the latest: what an earlier one comes to is not shown any more."""

from dataclasses import dataclass

_MOST = 1000  # views remembered


class Latest:
    """The turns of the views that somebody changes."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}

    def begin(self, view: str) -> "Turn":
        """Begin the view's next turn; those before it are the latest no longer."""
        number = self._turns.pop(view, 0) + 1
        self._turns[view] = number
        if len(self._turns) > _MOST:
            del self._turns[next(iter(self._turns))]
        return Turn(self, view, number)

    def is_at(self, view: str, number: int) -> bool:
        """Say whether the view's latest turn is the one of this number."""
        return self._turns.get(view) == number


@dataclass(frozen=True, slots=True)
class Turn:
    """One change of a view."""

    _latest: Latest
    _view: str
    _number: int

    @property
    def is_latest(self) -> bool:
        """Whether no other has begun since."""
        return self._latest.is_at(self._view, self._number)
