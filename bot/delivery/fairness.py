"""Whose turn it is: how many turns each workspace has had, so that none waits for more than one of each other."""


class FairOrder:
    """The turns of one round.

    The ledger gives what waits by its turn: the oldest of each workspace has the one after those that its workspace has had.
    Who comes late has one turn at once, and then goes on beside the others: what was missed is not made up for.
    """

    def __init__(self) -> None:
        self.had: dict[str, int] = {}  # by workspace
        self._latest = 0

    def take(self, workspace: str) -> None:
        """Count the workspace's next turn as had."""
        turn = self.had.get(workspace, 0) + 1
        self._latest = max(self._latest, turn)
        self.had[workspace] = self._latest
