"""What a chat sent and its library could not read: said in the log, counted, and survived.

What is said holds names alone, of the event, of a key, of a place in the library: never a value, which somebody wrote.
"""

import logging
import re
import sys
import traceback
from collections import Counter
from collections.abc import Collection
from itertools import dropwhile
from pathlib import PurePath

log = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z_][A-Za-z_.:]{0,59}")  # of an event, or of a key that an event should have
_KINDS = 1_000  # that are told apart; their names come from outside


class UnreadableEvents:
    """Notes the events of one platform that its library could not read."""

    def __init__(self, platform: str, counts: Counter[str], libraries: Collection[str]) -> None:
        """`counts` is told of each, by the platform's name; `libraries` are the packages that read events."""
        self._platform, self._counts, self._libraries = platform, counts, libraries
        self._met: Counter[str] = Counter()

    def note(self, event: object, error: BaseException) -> None:
        """Count it, and log it: the first of its kind, the tenth, the hundredth."""
        name = event if isinstance(event, str) and _NAME.fullmatch(event) else "an event without a known name"
        what = f"{name} ({failure_place(error, self._libraries)})"
        self._counts[self._platform] += 1
        if len(self._met) >= _KINDS:
            self._met.clear()
        self._met[what] += 1
        if re.fullmatch("10*", str(self._met[what])):
            log.error(
                "%s: %s could not be read and is left out (number %d of its kind)", self._platform, what, self._met[what]
            )

    def is_its_own(self, error: BaseException) -> bool:
        """Say whether a library's own reading raised it: what it called is its own or Python's."""
        packages = [_package(frame.f_globals) for frame, _ in traceback.walk_tb(error.__traceback__)]
        called = set(dropwhile(lambda each: each not in self._libraries, packages))
        return bool(called) and called <= {*self._libraries, *sys.stdlib_module_names}


def failure_place(error: BaseException, libraries: Collection[str]) -> str:
    """Return the last place in a library that the error passed, its type, and the name that was missing, if it was one.

    As in `guild.py:412 KeyError 'roles'`. What an error says otherwise may be content, and is left out.
    """
    steps = list(traceback.walk_tb(error.__traceback__))
    inside = [step for step in steps if _package(step[0].f_globals) in libraries] or steps
    where = f"{PurePath(inside[-1][0].f_code.co_filename).name}:{inside[-1][1]} " if inside else ""
    missing = error.args[0] if isinstance(error, KeyError) and error.args else getattr(error, "name", None)
    named = f" '{missing}'" if isinstance(missing, str) and _NAME.fullmatch(missing) else ""
    return f"{where}{type(error).__name__}{named}"


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
