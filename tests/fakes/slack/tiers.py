"""Rate limits: docs.slack.dev/apis/web-api/rate-limits, each per method and workspace.

The tiers say what is always allowed and that bursts may pass; here a tier's number in any minute is the most, but for
tier 1, where ten may come at once as when an app starts again and again. chat.postMessage takes one message a second in each
channel, a burst of five, and 300 a minute in a workspace ("several hundred").
"""

import json
from collections import deque
from collections.abc import Mapping
from pathlib import Path

_FILE = Path(__file__).parents[2] / "payloads" / "slack" / "tiers.json"
_TIERS: Mapping[str, str] = json.loads(_FILE.read_text(encoding="utf-8"))
_A_MINUTE = {"Tier1": 10, "Tier2": 20, "Tier3": 50, "Tier4": 100, "SpecialTier_chat_postMessage": 300}
_MANY = 600  # a minute: of what has a special tier without a number
_BURST = 5
_MINUTE = 60.0


class Tiers:
    """Who has asked how often; times are seconds of any clock."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, str], deque[float]] = {}
        self._room: dict[str, tuple[float, float]] = {}  # by channel: how many more at once, and when that was

    def wait(self, method: str, team: str, channel: str, now: float) -> float:
        """Return how many seconds a call comes too early, 0 when it may be made, which then counts."""
        window = self._asked.setdefault((method, team), deque())
        while window and window[0] <= now - _MINUTE:
            window.popleft()
        if len(window) >= _A_MINUTE.get(_TIERS.get(method, "Tier3"), _MANY):
            return window[0] + _MINUTE - now
        if method == "chat.postMessage" and (wait := self._in_channel(channel, now)) > 0:
            return wait
        window.append(now)
        return 0.0

    def _in_channel(self, channel: str, now: float) -> float:
        room, at = self._room.get(channel, (float(_BURST), now))
        room = min(float(_BURST), room + now - at)
        if room < 1:
            return 1 - room
        self._room[channel] = room - 1, now
        return 0.0
